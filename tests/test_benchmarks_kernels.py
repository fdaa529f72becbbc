import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

FOLDER = Path(__file__).parents[1] / "benchmarks" / "kernels"


@pytest.fixture(scope="module")
def scripts():
    """The two scripts, imported from their folder as Python does when one of them is run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield importlib.import_module("measure"), importlib.import_module("kernels")


@pytest.fixture
def measure(scripts, tmp_path, monkeypatch):
    """The script with one kernel at one size, short repeats and a history of its own."""
    script, kernels = scripts
    greedy = next(kernel for kernel in kernels.KERNELS if kernel.name == "greedy-tour")
    monkeypatch.setattr(script, "KERNELS", (replace(greedy, sizes=(200,)),))
    monkeypatch.setattr(script, "HISTORY", tmp_path / "history.csv")
    monkeypatch.setattr(script, "SECONDS", 0.01)
    return script


def run(script, *options):
    app = typer.Typer()
    app.command()(script.main)
    return CliRunner().invoke(app, ["--repeats", "2", *options])


def kept(script, rate, **changes):
    """A history of one line."""
    line = script.Line("2020-01-01T00:00Z", "abc", script.processor(), 2, "0.61", "greedy-tour", 200, rate)
    return [line._replace(**changes)]


def test_a_run_shows_its_rate_and_keeps_nothing_unasked(measure):
    result = run(measure, "--only", "greedy-tour")
    assert result.exit_code == 0, result.output
    row = next(line for line in result.output.splitlines() if "greedy-tour" in line)
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[:3] == ["greedy-tour", "200", "nodes"]
    assert float(cells[3].replace(",", "")) > 0
    assert cells[5:] == ["-", ""]
    assert not measure.HISTORY.exists()


def test_kept_lines_come_back_behind_the_older_ones(measure):
    old = kept(measure, 0.1, cpu='a "quoted", listed model')
    measure.write(measure.HISTORY, old)
    assert run(measure, "--keep").exit_code == 0
    first, new = measure.read(measure.HISTORY)
    assert [first] == old
    assert (new.kernel, new.n, new.cpu) == ("greedy-tour", 200, measure.processor())
    assert new.rate > 0
    measure.write(measure.HISTORY, [first, new])
    assert measure.read(measure.HISTORY) == [first, new]


@pytest.mark.parametrize(("rate", "code"), [(1e12, 1), (1e-3, 0)])
def test_only_a_kernel_that_was_faster_fails_the_run(measure, rate, code):
    """The last line counts, not the ones before it."""
    measure.write(measure.HISTORY, [*kept(measure, 1e9 / rate), *kept(measure, rate)])
    result = run(measure)
    assert result.exit_code == code, result.output
    assert ("slower" in result.output) == (code == 1)


def test_the_threshold_lies_at_eight_tenths_of_the_median(measure):
    rates = {("greedy-tour", 200): [1.0, 70.0, 1000.0]}
    assert measure.slower(("greedy-tour", 200), rates, {("greedy-tour", 200): 88.0})
    assert not measure.slower(("greedy-tour", 200), rates, {("greedy-tour", 200): 87.0})


@pytest.mark.parametrize("changes", [{"cpu": "another"}, {"n": 1000}, {"kernel": "descent"}])
def test_other_processors_sizes_and_kernels_are_not_compared(measure, changes):
    measure.write(measure.HISTORY, kept(measure, 1e12, **changes))
    assert run(measure).exit_code == 0


def test_an_unknown_kernel_is_bad_usage(measure):
    result = run(measure, "--only", "simplex")
    assert result.exit_code == 2
    assert "greedy-tour" in result.output


def test_every_kernel_does_the_same_work_at_every_call(scripts, monkeypatch):
    """The table keeps up with the kernels: each set-up still works at its smallest size."""
    kernels = scripts[1]
    monkeypatch.setattr(kernels, "BEFORE", 1)
    for steps in ("KICKS", "ITERATIONS", "WINDOW_ITERATIONS", "STEPS"):
        monkeypatch.setattr(kernels, steps, 20)
    for kernel in kernels.KERNELS:
        bout = kernel.prepare(kernel.sizes[0])
        assert bout() == bout() > 0, kernel.name


def test_a_search_is_set_back_before_every_bout(scripts):
    state = np.zeros(3), np.arange(2)

    def advance():
        state[0][1] += 1
        state[1][0] -= 1

    bout = scripts[1].rewound(state, advance, 7)
    before = scripts[1].BEFORE
    for _ in range(3):
        assert bout() == 7
        assert state[0].tolist() == [0, before + 1, 0]
        assert state[1].tolist() == [-before - 1, 1]


def test_its_readme_names_every_kernel(scripts):
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [kernel.name for kernel in scripts[1].KERNELS if f"`{kernel.name}`" not in text] == []
