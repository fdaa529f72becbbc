"""The page works in a real browser: no error, every table and every figure drawn, nothing asked of the network."""

import re
import shutil
import subprocess

import pytest

from ncosolve.bench import table
from ncosolve.bench.report import write
from ncosolve.bench.table import Row

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here")


def runs():
    """Two problems, seven instances, four solvers, two seeds; one solver tells nothing of earlier times, one fails."""
    for problem in ("tsp", "cvrp"):
        for k in range(7):
            for seed in range(2):
                for solver, worse in (("net", 0.5), ("net@classical", 1.0), ("<i>dots</i>", 4.0), ("lost", None)):
                    yield run(problem, k, seed, solver, worse)


def run(problem, k, seed, solver, worse):
    cost = None if worse is None else 100.0 + worse * (k + 1) + seed
    return Row(
        problem=problem,
        instance=f"i{k}",
        n=20 + k,
        solver=solver,
        used=solver,
        seed=seed,
        limit=10.0,
        threads=1,
        device="auto",
        anytime=solver != "<i>dots</i>",
        status="failed" if cost is None else "feasible",
        cost=cost,
        bound=None,
        maximise=False,
        best_known=100.0,
        valid=cost is not None,
        reason="killed" if cost is None else "",
        wall=10.0,
        compiling=0.0,
        cpu=9.5,
        memory=300.0,
        iterations=None,
        history=() if cost is None else ((0.1, 150.0), (1.0 + seed, 120.0), (9.0, cost)),
        solution="",
        source="{}",
        parameters="[]",
        machine="a machine",
        versions="1",
        started="2026-01-01T00:00:00+00:00",
    )


def browse(place, page, *options):
    """What the browser says and prints of a page, on a screen of its own."""
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={place / 'profile'}"]
    command += ["--enable-logging=stderr", "--v=0", "--virtual-time-budget=20000", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    with table.opened(folder) as opened:
        for row in runs():
            opened.append(row)
    write(folder, folder / "report.html")
    return folder / "report.html"


def test_every_table_and_figure_is_drawn_without_an_error(tmp_path, page):
    shown = browse(tmp_path, page, "--dump-dom")
    assert "CONSOLE" not in shown.stderr
    dom = re.sub(r"(?s)<script.*?</script>", "", shown.stdout)
    assert dom.count("<table") == 1 + 1 + 2 * 2 + 2 + 1
    assert dom.count('class="plot js-plotly-plot"') == len(re.findall('class="plot[ "]', dom)) == 6
    assert dom.count('class="trace scatter') >= 6 * 4
    assert dom.count("net@classical</text>") == 6
    assert "&lt;i&gt;dots&lt;/i&gt;</text>" in dom


def test_errors_of_a_page_would_be_seen(tmp_path, page):
    """The check above can fail: a page that asks for a stranger's script is caught at it."""
    text = page.read_text(encoding="utf-8").replace(
        "</main>", '</main><script src="https://example.org/x.js"></script>'
    )
    broken = tmp_path / "broken.html"
    broken.write_text(text, encoding="utf-8")
    assert "CONSOLE" in browse(tmp_path, broken, "--dump-dom").stderr


def test_a_phone_does_not_scroll_sideways(tmp_path, page):
    measure = "<script>document.title = document.documentElement.scrollWidth + ' of ' + innerWidth</script>"
    narrow = tmp_path / "narrow.html"
    narrow.write_text(page.read_text(encoding="utf-8").replace("</body>", measure + "</body>"), encoding="utf-8")
    shown = browse(tmp_path, narrow, "--window-size=500,900", "--dump-dom")
    width, window = map(int, re.search(r"<title>(\d+) of (\d+)</title>", shown.stdout).groups())
    assert width <= window <= 500
