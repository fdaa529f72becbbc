"""The command: its JSON, exit codes, one line for each kind of bad input, files written whole or not at all."""

import json
import logging
import math
import os
from pathlib import Path

import pytest

from ncosolve import catalog, formats, solving
from ncosolve.cli import main
from ncosolve.compilation import MESSAGE
from ncosolve.errors import EngineError, NoSolutionFound
from ncosolve.solution import Solution

KEYS = [
    "instance",
    "problem",
    "n",
    "solver",
    "seed",
    "status",
    "cost",
    "feasible",
    "violations",
    "bound",
    "gap",
    "best_known",
    "gap_to_best_known",
    "time",
    "iterations",
    "history",
]

SQUARE = """NAME : square
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 10 10
3 0 10
4 10 0
EOF
"""
ROUTES = """NAME : three
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 0 10
3 10 10
4 10 0
DEMAND_SECTION
1 0
2 5
3 5
4 5
DEPOT_SECTION
1
-1
EOF
"""
WINDOWS = "3\n0 1 2\n1 0 1\n2 1 0\n0 100\n0 10\n0 10\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file into an empty folder that is the current one, and return its name."""
    monkeypatch.chdir(tmp_path)

    def put(name, content):
        path = Path(name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return put


@pytest.fixture
def ncosolve(capsys, monkeypatch):
    """Run the command in this process as a user does; give its exit code, stdout and stderr."""
    monkeypatch.delenv("NCOSOLVE_DEBUG", raising=False)

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return run


def one_line(err):
    assert err.startswith("ncosolve: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err


# the JSON of solve


@pytest.mark.parametrize(
    ("name", "problem", "n", "kind", "best"),
    [
        ("burma14", "tsp", 14, "tour", 3323),
        ("X-n101-k25", "cvrp", 101, "routes", 27591),
        ("C101", "vrptw", 101, "routes", None),
        ("burma14_10_1", "tspdl", 14, "tour", 3416),
        ("stein27", "milp", 27, "values", 18),
    ],
)
def test_json_is_one_object_with_the_promised_keys(ncosolve, name, problem, n, kind, best):
    code, out, _ = ncosolve("solve", name, "-t", "1", "--seed", "7", "--json")
    assert code == 0
    assert out.count("\n") == 1
    result = json.loads(out, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert list(result) == [*KEYS, kind, "version"]
    assert (result["instance"], result["problem"], result["n"], result["seed"]) == (name, problem, n, 7)
    assert result["status"] in ("optimal", "feasible")
    assert (result["feasible"], result["violations"], result["best_known"]) == (True, [], best)
    assert result["history"][-1][1] == pytest.approx(result["cost"])
    instance = formats.read(name)
    again = Solution.of(instance, result[kind])
    assert again.feasible
    assert again.cost == pytest.approx(result["cost"])
    if best is not None:
        assert result["cost"] >= best
        assert result["gap_to_best_known"] == pytest.approx(result["cost"] / best - 1)


def test_tour_and_cost_of_a_square_are_exact(ncosolve, write):
    code, out, _ = ncosolve("solve", write("square.tsp", SQUARE), "-t", "1", "--json")
    result = json.loads(out)
    assert (code, result["cost"], result["status"], result["gap"]) == (0, 40, "optimal", 0)
    assert result["tour"] in ([0, 2, 1, 3], [0, 3, 1, 2])


def test_several_files_give_one_line_each_and_the_worst_exit_code(ncosolve, write):
    good, bad = write("a.tsp", SQUARE), write("b.tsp", SQUARE.replace("DIMENSION : 4", "DIMENSION : 5"))
    unsolvable = write("c.txt", WINDOWS.replace("0 10\n0 10", "0 0.5\n0 10"))
    code, out, err = ncosolve("solve", good, bad, unsolvable, good, "-t", "0.2", "--json")
    assert code == 2
    results = [json.loads(line) for line in out.splitlines()]
    assert [(each["instance"], each["status"]) for each in results] == [
        (good, "feasible" if results[0]["status"] == "feasible" else "optimal"),
        (unsolvable, "infeasible"),
        (good, results[0]["status"]),
    ]
    assert [line.split(":")[1].strip() for line in err.splitlines()] == [bad, unsolvable]


def test_proved_infeasible_is_exit_code_1_with_the_reason(ncosolve, write):
    file = write("late.txt", WINDOWS.replace("0 10\n0 10", "0 0.5\n0 10"))
    code, out, err = ncosolve("solve", file, "--json")
    result = json.loads(out)
    assert code == 1
    assert (result["status"], result["cost"], result["feasible"], result["tour"]) == ("infeasible", None, False, None)
    assert "node 1 cannot be reached before 1" in result["reason"]
    assert result["reason"] in one_line(err)
    assert [key for key in result if key not in ("reason", "tour", "version")] == KEYS


@pytest.mark.parametrize(
    "error", [NoSolutionFound("nothing in 0.1 s", ["time window: node 1, by 5"]), EngineError("it broke")]
)
def test_no_solution_is_exit_code_1(ncosolve, write, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(solving, "solve", fail)
    code, out, err = ncosolve("solve", write("a.tsp", SQUARE), "--json", "--seed", "3")
    result = json.loads(out)
    assert (code, result["status"], result["reason"], result["seed"]) == (1, "no_solution", str(error), 3)
    assert result["violations"] == list(getattr(error, "violations", []))
    assert str(error) in one_line(err)


# bad input


BAD_FILES = {
    "empty": b"",
    "blank": b" \n\n\t\n",
    "binary": bytes(range(256)) * 20,
    "unknown type": SQUARE.replace("TYPE : TSP", "TYPE : SUDOKU"),
    "unknown weights": SQUARE.replace("EUC_2D", "EUC_9D"),
    "wrong count": SQUARE.replace("DIMENSION : 4", "DIMENSION : 5"),
    "negative count": SQUARE.replace("DIMENSION : 4", "DIMENSION : -4"),
    "count of no number": SQUARE.replace("DIMENSION : 4", "DIMENSION : four"),
    "duplicate id": SQUARE.replace("\n3 0 10", "\n2 0 10"),
    "missing node": SQUARE.replace("3 0 10\n", ""),
    "coordinate nan": SQUARE.replace("3 0 10", "3 0 nan"),
    "coordinate of no number": SQUARE.replace("3 0 10", "3 0 1o"),
    "truncated matrix": "3\n0 1 2\n1 0 1\n2 1\n",
    "negative weight": WINDOWS.replace("1 0 1", "1 0 -1"),
    "weight nan": WINDOWS.replace("1 0 1", "1 0 nan"),
    "window closed before it opens": WINDOWS.replace("0 10\n0 10", "0 10\n11 10"),
    "negative demand": ROUTES.replace("2 5\n", "2 -5\n"),
    "no capacity": ROUTES.replace("CAPACITY : 10\n", ""),
    "capacity 0": ROUTES.replace("CAPACITY : 10", "CAPACITY : 0"),
    "two depots": ROUTES.replace("1\n-1", "1\n2\n-1"),
    "broken program": "NAME x\nROWS\n N cost\nCOLUMNS\n x1 nowhere 1\nENDATA\n",
}


@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_one_line_that_names_it_and_exit_code_2(ncosolve, write, content):
    file = write("bad.txt", content)
    code, out, err = ncosolve("solve", file, "-t", "0.1", "--json")
    assert (code, out) == (2, "")
    assert file in one_line(err)


def test_missing_file_and_folder(ncosolve, write, tmp_path):
    code, out, err = ncosolve("solve", "no-such-file.vrp", "--json")
    assert (code, out) == (2, "")
    assert "no-such-file.vrp" in one_line(err)
    code, out, err = ncosolve("solve", tmp_path, "--json")
    assert (code, out) == (2, "")
    assert str(tmp_path) in one_line(err)


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        (ROUTES.replace("3 5\n", "3 11\n"), [], "over the capacity"),
        (ROUTES, ["--max-vehicles", "1"], "over 1 vehicles"),
        (WINDOWS.replace("0 100", "0 1"), [], "the depot cannot be reached"),
    ],
)
def test_what_is_proved_infeasible_is_exit_code_1(ncosolve, write, content, options, reason):
    code, _, err = ncosolve("solve", write("clash.txt", content), *options)
    assert code == 1
    assert reason in one_line(err)


@pytest.mark.parametrize(
    "options",
    [
        ["-t", "nan"],
        ["-t", "-1"],
        ["-t", "inf"],
        ["-t", "ten"],
        ["--iterations", "-1"],
        ["--seed", "-1"],
        ["--seed", "1.5"],
        ["--threads", "0"],
        ["--device", "abacus"],
        ["--target", "nan"],
        ["--solver", "no-such-solver"],
        ["--problem", "sudoku"],
        ["--rounding", "up"],
        ["--max-vehicles", "3"],
        ["--objective", "vehicles"],
        ["--start", "nowhere.sol"],
        ["--plot", "drawing.xyz"],
        ["--plot", "nowhere/drawing.png"],
        ["-o", "nowhere/out.sol"],
        ["-o", "square.tsp"],
        ["--no-such-option"],
    ],
    ids=" ".join,
)
def test_a_bad_option_is_one_line_and_exit_code_2(ncosolve, write, options):
    """Limits, names and places that cannot be meant are refused, also a fleet for a problem that has none."""
    code, out, err = ncosolve("solve", write("square.tsp", SQUARE), "--json", *options)
    assert (code, out) == (2, "")
    one_line(err)
    assert Path("square.tsp").read_text() == SQUARE


def test_a_limit_of_zero_still_gives_an_answer(ncosolve, write):
    code, out, _ = ncosolve("solve", write("square.tsp", SQUARE), "-t", "0", "--json")
    assert code == 0
    assert sorted(json.loads(out)["tour"]) == [0, 1, 2, 3]


def test_usage_errors_are_one_line(ncosolve):
    for arguments in (["solve"], ["frobnicate"], ["check", "burma14"], ["generate", "tsp"]):
        code, out, err = ncosolve(*arguments)
        assert (code, out) == (2, "")
        one_line(err)


def test_an_unexpected_error_is_one_line_and_a_traceback_only_on_request(write, monkeypatch, capsys):
    def fail(*_, **__):
        raise RuntimeError("first\nsecond \x1b[31m")

    monkeypatch.setattr(formats, "read", fail)
    file = write("square.tsp", SQUARE)
    monkeypatch.delenv("NCOSOLVE_DEBUG", raising=False)
    assert main(["solve", file]) == 1
    err = one_line(capsys.readouterr().err)
    assert f"{file}: unexpected RuntimeError: first second ?[31m" in err
    monkeypatch.setenv("NCOSOLVE_DEBUG", "1")
    assert main(["solve", file]) == 1
    assert "Traceback" in capsys.readouterr().err


# what is written where


def test_a_solution_file_is_written_and_checks_to_the_same_cost(ncosolve, write):
    file = write("three.vrp", ROUTES)
    code, out, _ = ncosolve("solve", file, "-t", "0.2", "-o", "three.sol", "--json")
    assert code == 0
    code, checked, _ = ncosolve("check", file, "three.sol", "--json")
    assert code == 0
    assert json.loads(checked)["cost"] == json.loads(out)["cost"] == 54
    assert sorted(os.listdir()) == ["three.sol", "three.vrp"]


def test_several_solutions_go_to_a_folder_or_nowhere(ncosolve, write):
    files = [write("a.tsp", SQUARE), write("b.vrp", ROUTES)]
    code, out, err = ncosolve("solve", *files, "-t", "0.1", "-o", "out")
    assert (code, out) == (2, "")
    assert "out: is not a folder" in one_line(err)
    Path("out").mkdir()
    assert ncosolve("solve", *files, "-t", "0.1", "-o", "out", "--plot", "out", "--quiet") == (0, "", "")
    assert sorted(os.listdir("out")) == ["a.png", "a.sol", "b.png", "b.sol"]
    code, out, err = ncosolve("solve", "a.tsp", "./a.tsp", "-t", "0.1", "-o", "out")
    assert (code, out) == (2, "")
    assert "two files of the same name" in one_line(err)


def test_a_failed_write_leaves_nothing_behind_and_the_answer_printed(ncosolve, write, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    file = write("three.vrp", ROUTES)
    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(Path, "replace", full)
    code, out, err = ncosolve("solve", file, "-t", "0.1", "-o", "out.sol", "--json")
    assert code == 2
    assert json.loads(out)["feasible"]
    assert "out.sol" in one_line(err)
    assert os.listdir() == [file]


def test_a_plot_of_what_cannot_be_drawn_is_refused_before_the_search(ncosolve, monkeypatch):
    monkeypatch.setattr(solving, "solve", lambda *_, **__: pytest.fail("searched in vain"))
    code, out, err = ncosolve("solve", "stein27", "--plot", "x.png")
    assert (code, out) == (2, "")
    assert "nothing to draw" in one_line(err)


def test_start_and_target_reach_the_solver(ncosolve, write):
    file = write("square.tsp", SQUARE)
    write("start.tour", "TYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n1\n3\n2\n4\n-1\nEOF\n")
    code, out, _ = ncosolve("solve", file, "--start", "start.tour", "--target", "40", "-t", "60", "--json")
    result = json.loads(out)
    assert (code, result["cost"], result["tour"]) == (0, 40, [0, 2, 1, 3])
    assert result["time"] < 30


def test_start_is_for_one_file(ncosolve, write):
    file = write("square.tsp", SQUARE)
    code, _, err = ncosolve("solve", file, file, "--start", file)
    assert code == 2
    assert "--start: is for a single file" in one_line(err)


# terminal and messages


def test_summary_names_what_a_person_wants_to_know(ncosolve, write):
    code, out, err = ncosolve("solve", write("three.vrp", ROUTES), "-t", "0.2")
    assert code == 0
    lines = dict(line.split(maxsplit=1) for line in out.splitlines()[1:])
    assert out.splitlines()[0] == "three.vrp"
    assert lines["problem"] == "cvrp, n = 4"
    assert lines["cost"] == "54"
    assert lines["routes"] == "2"
    assert lines["violations"] == "none (independent check)"
    assert err in ("", f"ncosolve: {MESSAGE}\n")


def test_best_known_is_in_the_summary(ncosolve):
    _, out, _ = ncosolve("solve", "burma14", "-t", "2")
    assert "best known  3323, gap 0.00 %" in out


@pytest.mark.parametrize(("options", "shown"), [([], True), (["--json"], False), (["--quiet"], False)])
def test_compilation_is_announced_to_people_only(ncosolve, write, monkeypatch, options, shown):
    def compiling(*arguments, **options):
        logging.getLogger("ncosolve").info(MESSAGE)
        return original(*arguments, **{**options, "time_limit": 0.0})

    original = solving.solve
    monkeypatch.setattr(solving, "solve", compiling)
    _, _, err = ncosolve("solve", write("square.tsp", SQUARE), *options)
    assert (MESSAGE in err) == shown


def test_logging_is_left_as_it_was(ncosolve, write):
    log = logging.getLogger("ncosolve")
    before = log.level, list(log.handlers)
    ncosolve("solve", write("square.tsp", SQUARE), "-t", "0")
    assert (log.level, log.handlers) == before


def test_quiet_prints_nothing(ncosolve, write):
    assert ncosolve("solve", write("square.tsp", SQUARE), "-t", "0", "--quiet") == (0, "", "")


# check, generate, solvers


@pytest.mark.parametrize(
    ("solution", "code", "text"),
    [
        ("Route #1: 1 2\nRoute #2: 3\nCost 54\n", 0, "none (independent check)"),
        ("Route #1: 1 2 3\nCost 40\n", 1, "capacity: route 0, by 5"),
    ],
)
def test_check_recomputes_the_cost_and_names_violations(ncosolve, write, solution, code, text):
    file, answer = write("three.vrp", ROUTES), write("three.sol", solution)
    got, out, _ = ncosolve("check", file, answer)
    assert got == code
    assert text in out
    got, out, _ = ncosolve("check", file, answer, "--json")
    result = json.loads(out)
    assert (got, result["feasible"], result["cost"]) == (code, code == 0, 54 if code == 0 else 40)
    assert list(result) == ["instance", "solution", "problem", "n", "cost", "feasible", "violations", "version"]


def test_check_takes_the_conventions_of_solve(ncosolve, write):
    file, answer = write("three.vrp", ROUTES), write("three.sol", "Route #1: 1 2\nRoute #2: 3\n")
    _, out, _ = ncosolve("check", file, answer, "--rounding", "exact", "--json")
    assert json.loads(out)["cost"] == pytest.approx(20 + math.sqrt(200) + 20)
    code, out, _ = ncosolve("check", file, answer, "--max-vehicles", "1")
    assert code == 1
    assert "vehicles" in out


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\x02", b"no routes here", b"Route #1: 1 2\n", b"Route #1: 1 1 2 3\n", b"Route #1: 1 2 9\n"],
)
def test_an_unreadable_solution_is_exit_code_2(ncosolve, write, content):
    code, out, err = ncosolve("check", write("three.vrp", ROUTES), write("bad.sol", content))
    assert (code, out) == (2, "")
    assert "bad.sol" in one_line(err)


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "vrptw", "tsptw", "tspdl"])
def test_generated_files_are_read_back_and_repeat(ncosolve, write, problem, tmp_path):
    for where in ("one", "two"):
        code, out, _ = ncosolve("generate", problem, "-n", "12", "--count", "2", "--seed", "5", "-o", where)
        assert code == 0
        assert [Path(line).name.split(".")[0] for line in out.splitlines()] == [
            f"{problem}-n12-s5",
            f"{problem}-n12-s6",
        ]
    for path in Path("one").iterdir():
        assert path.read_bytes() == (Path("two") / path.name).read_bytes()
        instance = formats.read(path)
        assert (instance.problem, instance.n) == (problem, 12)


def test_options_reach_the_generator(ncosolve, write):
    ncosolve("generate", "tsptw", "-n", "10", "--option", "hardness=easy", "-o", "easy")
    ncosolve("generate", "tsptw", "-n", "10", "--option", "hardness=hard", "-o", "hard")
    easy, hard = Path("easy/tsptw-n10-s0.tsptw").read_text(), Path("hard/tsptw-n10-s0.tsptw").read_text()
    assert easy != hard


@pytest.mark.parametrize(
    "arguments",
    [
        ["sudoku", "-n", "9"],
        ["tsp", "-n", "0"],
        ["tsp", "-n", "-3"],
        ["tsp", "-n", "five"],
        ["tsp", "-n", "5", "--count", "0"],
        ["tsp", "-n", "5", "--seed", "-1"],
        ["tsp", "-n", "5", "--option", "colour=blue"],
        ["tsp", "-n", "5", "--option", "nonsense"],
        ["tsp", "-n", "5", "--option", "seed=3"],
        ["tsptw", "-n", "5", "--option", "hardness=diabolic"],
        ["tsp", "-n", "5", "-o", "square.tsp"],
        ["tsp", "-n", "5", "-o", "square.tsp/below"],
    ],
    ids=" ".join,
)
def test_a_bad_request_to_generate_is_one_line_and_exit_code_2(ncosolve, write, arguments):
    write("square.tsp", SQUARE)
    code, out, err = ncosolve("generate", *arguments)
    assert (code, out) == (2, "")
    one_line(err)
    assert os.listdir() == ["square.tsp"]


def test_solvers_lists_all_of_the_catalogue(ncosolve):
    code, out, _ = ncosolve("solvers")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["name", *catalog.solvers()]


def test_a_solver_has_a_card(ncosolve):
    for name, solver in catalog.solvers().items():
        code, out, _ = ncosolve("solvers", name)
        assert code == 0
        assert solver.summary in out
        assert all(f"parameter {key}" in out for key in solver.parameters)


def test_a_solver_that_does_not_exist_is_one_line(ncosolve):
    code, out, err = ncosolve("solvers", "no-such-solver")
    assert (code, out) == (2, "")
    assert "'no-such-solver' is unknown" in one_line(err)


def test_version_and_bare_command(ncosolve):
    from ncosolve import __version__

    assert ncosolve("--version") == (0, f"ncosolve {__version__}\n", "")
    assert ncosolve()[0] == 0
