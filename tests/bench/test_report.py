"""Reports of every kind of folder are written whole, stand alone, and show names as they are, however hostile."""

import dataclasses
import json
import re
import sys
from html.parser import HTMLParser

import plotly.graph_objects
import pytest

from ncosolve.bench import curves, table
from ncosolve.bench.analysis import study
from ncosolve.bench.axes import gap_axis, scaled
from ncosolve.bench.looks import looks
from ncosolve.bench.report import write
from ncosolve.bench.table import Row
from ncosolve.errors import InputError, MissingExtra
from ncosolve.formats import write_solution
from ncosolve.problems import generate
from ncosolve.solution import Solution

HOSTILE = "</script><script>alert(1)</script>&amp;\"'`|*_<b>" + "x" * 300
VOID = {"meta", "link", "img", "br", "input", "hr"}


def row(**changes):
    history = ((0.2, 130.0), (1.0, 120.0), (7.0, 110.0))
    known = {"problem": "tsp", "instance": "a", "n": 9, "solver": "first", "used": "first", "seed": 0, "limit": 10.0}
    known |= {
        "threads": 1,
        "device": "auto",
        "anytime": True,
        "status": "feasible",
        "cost": 110.0,
        "bound": None,
        "maximise": False,
    }
    known |= {"best_known": 100.0, "valid": True, "reason": "", "wall": 10.0, "compiling": 0.0, "cpu": 9.0}
    known |= {
        "memory": 200.0,
        "iterations": 5,
        "history": history,
        "solution": "",
        "source": "{}",
        "parameters": "[]",
        "machine": "m",
    }
    return Row(**{**known, "versions": "v1", "started": "", **changes})


def failed(**changes):
    lost = {"status": "failed", "cost": None, "valid": False, "reason": "killed", "history": (), "used": ""}
    return row(**{**lost, **changes})


def folder_of(place, rows, starts=None):
    with table.opened(place) as opened:
        for each in rows:
            opened.append(each)
    if starts is not None:
        (place / "benchmark.json").write_text(json.dumps(starts))
    return place


class Page(HTMLParser):
    """What a page holds: every attribute, all text by element, and whether elements are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.attributes, self.texts, self.open, self.counts = [], [], [], {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.attributes += [(tag, name, value or "") for name, value in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data.strip()))

    def of(self, *tags):
        return [text for tag, text in self.texts if tag in tags and text]


def written(place, rows, starts=None):
    """The page of these rows as text and parsed."""
    folder_of(place, rows, starts)
    write(place, place / "report.html")
    text = (place / "report.html").read_text(encoding="utf-8")
    return text, Page(text)


def several():
    return [
        row(problem=problem, instance=f"i{k}", n=10 + k, solver=solver, seed=seed, cost=100.0 + k + seed + worse)
        for problem in ("tsp", "cvrp")
        for k in range(7)
        for seed in range(2)
        for solver, worse in (("net", 1), ("net@classical", 2), ("other", 5))
    ]


def loads(page):
    """Whatever makes a browser fetch something."""
    loading = {"src", "srcset", "action", "data", "poster", "background", "xlink:href"}
    found = [value for tag, name, value in page.attributes if name in loading or (name == "href" and tag != "a")]
    found += [value for tag, name, value in page.attributes if name == "href" and tag == "a"]
    return [value for value in found if not value.startswith(("data:", "#"))]


def test_the_page_stands_alone(tmp_path):
    text, page = written(tmp_path, several())
    assert loads(page) == []
    assert not re.search(r"url\(|@import", text[: text.index("</style>")])
    assert text.count("plotly.js v") == 1
    assert "mathjax" not in text.replace(curves.plotly_script(), "").lower()
    assert "default-src 'none'" in text


def test_the_page_shows_tables_figures_and_verdicts(tmp_path):
    start = {"command": "ncosolve bench a -t 10", "solvers": ["net"], "packages": {"numpy": "2"}, "cores": 2, "more": 1}
    _, page = written(tmp_path, several(), [start])
    drawings = [json.loads(data) for tag, data in page.texts if tag == "script" and data.startswith("{")]
    assert len(drawings) == 6
    assert page.counts["table"] == 1 + 1 + 2 * 2 + 1
    assert {"net", "net@classical", "other", "CVRP", "TSP", "reference", "worse", "better"} <= {
        t for _, t in page.texts
    }
    assert "ncosolve bench a -t 10" in page.of("pre")
    assert "numpy 2" in page.of("dd")
    assert "2" in page.of("dd")


def test_figures_are_what_plotly_takes():
    for problem in study([*several(), row(solver="dots", anytime=False), failed(instance="z")]).problems:
        for figure in curves.figures(problem, looks(problem.solvers)):
            plotly.graph_objects.Figure(figure.drawing)
            json.dumps(figure.drawing, allow_nan=False)


def test_curves_end_where_the_table_says():
    (problem,) = study([row(), row(instance="b", cost=104.0, history=((1.0, 120.0), (11.0, 104.0)))]).problems
    middle = curves.anytime(problem, looks(["first"]))["data"][2]
    assert middle["y"][-1] == pytest.approx(float(scaled(0.07)))
    assert middle["customdata"][-1].startswith("7.00 % (quartiles 5.50")
    assert middle["y"][0] == pytest.approx(float(scaled((0.3 + 1.0) / 2)))  # one has no answer yet


def test_solvers_without_earlier_times_are_dots_at_their_marks():
    rows = [row(solver="dots", anytime=False, limit=limit, cost=cost) for limit, cost in ((2.0, 120.0), (10.0, 110.0))]
    (problem,) = study([row(), *rows]).problems
    dots = curves.anytime(problem, looks(problem.solvers))["data"][-1]
    assert (dots["x"], dots["mode"], dots["line"]["dash"]) == ([2.0, 10.0], "lines+markers", "dot")
    assert dots["y"] == pytest.approx(scaled([0.2, 0.1]).tolist())


@pytest.mark.parametrize("gaps", [[], [0.0], [1.0, 1.0], [0.5], [-1.0, 1.0], [0.012, 0.013], [-1e-5], [1e-6, 0.0]])
def test_an_axis_of_gaps_has_room_and_ticks(gaps):
    axis = gap_axis(gaps)
    low, high = axis["range"]
    assert low < high
    assert all(low <= value <= high for value in scaled(gaps))
    assert any(low <= tick <= high for tick in axis["tickvals"])
    assert axis["tickvals"] == sorted(axis["tickvals"])


def test_hostile_names_are_shown_as_they_are(tmp_path):
    names = {"instance": HOSTILE, "solver": HOSTILE, "problem": "<tsp>&", "versions": HOSTILE, "machine": HOSTILE}
    rows = [row(**names), failed(**{**names, "seed": 1, "reason": HOSTILE}), row(**{**names, "solver": "b"})]
    text, page = written(tmp_path, rows, [{"command": HOSTILE, "solvers": [HOSTILE]}])
    assert page.counts["script"] == 3 + 2
    assert "<script>alert" not in text
    assert any(HOSTILE in data for data in page.of("span"))
    assert HOSTILE in page.of("pre")
    for tag, data in page.texts:
        if tag == "script" and data.startswith("{"):
            named = [trace["name"] for trace in json.loads(data)["data"] if "name" in trace]
            assert len(named) == 2
            assert not any("<" in name for name in named)
    write(tmp_path, tmp_path / "r.md")
    markdown = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "<script" not in re.sub(r"(?m)^    .*$", "", markdown)
    tables = [line for line in markdown.splitlines() if line.startswith("|")]
    assert all(re.sub(r"\\.", "", line).count("|") == re.sub(r"\\.", "", tables[0]).count("|") for line in tables[:4])


@pytest.mark.parametrize(
    "rows",
    [
        [row()],
        [failed()],
        [failed(best_known=None), failed(best_known=None, solver="b", seed=3)],
        [row(best_known=None)],
        [row(best_known=0.0), row(best_known=0.0, seed=1, cost=0.0)],
        [row(cost=90.0), row(cost=95.0, solver="b")],
        [row(problem="milp", maximise=True, best_known=None), row(problem="milp", maximise=True, solver="b", cost=1.0)],
        [row(history=()), row(solver="b", anytime=False, cpu=None, memory=None, iterations=None)],
        [row(limit=0.001, wall=0.001, history=((0.0, 110.0),))],
        [row(cost=100.0, history=((0.0, 100.0),)), row(cost=100.0, solver="b", history=((0.0, 100.0),))],
        [row(instance=f"i{k}", cost=100.0 + k) for k in range(60)],
        [row(solver=f"s{k}") for k in range(20)],
    ],
    ids=lambda rows: f"{len(rows)}-{rows[0].status}",
)
def test_a_page_and_markdown_of_any_folder(tmp_path, rows):
    _, page = written(tmp_path, rows)
    assert page.counts["table"] >= 3
    write(tmp_path, tmp_path / "r.md")
    lines = (tmp_path / "r.md").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith(f"| {rows[0].problem.upper()} |") for line in lines)
    assert "nan" not in " ".join(page.of("td", "span")).lower()


def with_answers(place, problem="cvrp", count=3):
    """Runs on instances that can be made again, with answers that lie in the folder; later ones are longer."""
    rows = []
    for k in range(count):
        options = {"n": 9, "seed": k}
        instance = generate(problem, **options)
        for solver, order in (("first", range(1, 9)), ("second", range(8, 0, -1))):
            answer = [[j] for j in order] if problem == "cvrp" else [0, *order]
            solution = Solution.of(instance, answer)
            name = f"{problem}-{k}-{solver}.sol"
            (place / "solutions").mkdir(exist_ok=True)
            write_solution(solution, place / "solutions" / name)
            source = json.dumps({"generate": problem, **options})
            cost = 110.0 + k - 2 * (solver == "second")
            rows.append(row(problem=problem, instance=f"i{k}", solver=solver, source=source, solution=name, cost=cost))
    return rows


def images(page):
    return [value for tag, name, value in page.attributes if tag == "img" and name == "src"]


def test_the_best_and_worst_answers_are_drawn_beside_the_best_of_all(tmp_path):
    _, page = written(tmp_path, with_answers(tmp_path))
    assert len(images(page)) == 4
    assert all(image.startswith("data:image/png;base64,iVBOR") for image in images(page))
    titles = [text for text in page.of("b") if "answer of" in text]
    assert titles == [
        "Best answer of first: i0",
        "Best answer of all: i0",
        "Worst answer of first: i2",
        "Best answer of all: i2",
    ]


def test_no_answer_is_drawn_twice(tmp_path):
    rows = with_answers(tmp_path, count=1)
    rows[1] = dataclasses.replace(rows[1], solver="first", used="first", seed=1)
    _, page = written(tmp_path, rows)
    assert [text for text in page.of("b") if "answer of" in text] == [
        "Best answer of first: i0",
        "Worst answer of first: i0",
    ]


def test_what_cannot_be_drawn_is_said(tmp_path):
    rows = with_answers(tmp_path)
    rows[0] = dataclasses.replace(rows[0], source='{"file": "gone.vrp"}')
    rows[4] = dataclasses.replace(rows[4], solution="gone.sol")
    _, page = written(tmp_path, rows)
    notes = " ".join(page.of("p"))
    assert "The instance cannot be read again: gone.vrp: no such file" in notes
    assert "The answer cannot be drawn: " in notes
    assert "gone.sol: no such file" in notes
    assert len(images(page)) == 1


@pytest.mark.parametrize("source", ["{}", "no json", '{"generate": "tsp", "n": 9, "colour": 1}', "[]", '{"file": 3}'])
def test_sources_that_are_none_do_not_stop_the_report(tmp_path, source):
    _, page = written(tmp_path, [row(source=source, solution="x.sol")])
    assert any("cannot be read again" in text for text in page.of("p"))


def test_a_folder_without_a_finished_run_has_no_report(tmp_path):
    for place in (tmp_path / "nowhere", folder_of(tmp_path / "empty", [])):
        with pytest.raises(InputError, match="holds no finished run"):
            write(place, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_only_pages_and_markdown_are_written(tmp_path):
    folder_of(tmp_path, [row()])
    with pytest.raises(InputError, match=r"has the suffix '\.pdf', expected \.html or \.md"):
        write(tmp_path, tmp_path / "r.pdf")
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path, tmp_path / "nowhere" / "r.md")
    assert {entry.name for entry in tmp_path.iterdir()} == {"runs.csv", "solutions", ".lock"}


@pytest.mark.parametrize("record", ["{", "{}", '[{"solvers": 3}]', '["x"]'])
def test_a_record_that_is_none_is_an_input_error(tmp_path, record):
    folder_of(tmp_path, [row()])
    (tmp_path / "benchmark.json").write_text(record)
    with pytest.raises(InputError, match=r"benchmark\.json"):
        write(tmp_path, tmp_path / "r.md")


def test_a_page_needs_plotly_and_markdown_does_not(tmp_path, monkeypatch):
    folder_of(tmp_path, [row()])
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(MissingExtra, match=r"ncosolve\[plot\]"):
        write(tmp_path, tmp_path / "r.html")
    write(tmp_path, tmp_path / "r.md")


def test_the_order_of_solvers_and_the_marks_are_those_of_the_record(tmp_path):
    folder_of(tmp_path, several(), [{"marks": [2.0]}, {"solvers": ["other", "net"], "marks": [10, 99]}])
    write(tmp_path, tmp_path / "r.md")
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert text.count("After 2 s:") == 2
    assert text.count("After 99 s:") == 0
    names = re.findall(r"(?m)^\|.*\| (other|net|net@classical) \|.*\| (?:reference|better|worse).*\|$", text)
    assert names[:3] == ["other", "net", "net@classical"]


def test_markdown_holds_the_commands_and_every_table(tmp_path):
    folder_of(tmp_path, several(), [{"command": "ncosolve bench a", "machine": "a machine"}])
    write(tmp_path, tmp_path / "r.md")
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "\n    ncosolve bench a\n" in text
    assert "machine a machine" in text
    assert "### With and without" in text
    assert text.count("| Solver | Inst. | Runs |") == 2
    assert text.count("| Solver | Inst. | W / T / L |") == 2
    widths = {line.count("|") for line in text.splitlines() if line.startswith(("| CVRP", "|  |"))}
    assert len(widths) == 2  # those of the headline and of the pairs
