"""The command as a process of its own: what it imports, Ctrl-C, a terminal, a closed pipe."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest


def command(*arguments, **options):
    environment = {**os.environ, **options.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, "-m", "ncosolve", *arguments], env=environment, stdout=subprocess.PIPE, text=True, **options
    )


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from ncosolve.cli import main; code = main(['--help']);"
        "print(sorted({'torch', 'numba', 'ortools', 'scipy', 'numpy', 'pyvrp', 'highspy'} & set(sys.modules)), code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] 0"
    for name in ("solve", "check", "generate", "solvers"):
        assert name in done.stdout


ENGINE = """
import os, time
from pathlib import Path
from ncosolve.engines.base import Outcome
PROBLEMS = ("tsp",)
PARAMETERS = {"offers": False}
def run(task):
    if task.parameters["offers"]:
        task.incumbent.offer(range(task.instance.n), 1)
    Path(os.environ["SEARCHING"]).touch()
    while not task.over():
        time.sleep(0.01)
    return Outcome(1)
"""


@pytest.fixture
def waiting(tmp_path):
    """A solver that offers one tour, or none, and then waits; gives its environment and the file that says it waits."""
    package = tmp_path / "waiting"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "engine.py").write_text(ENGINE)
    for name, offers in (("one-tour", "true"), ("no-tour", "false")):
        folder = tmp_path / "solvers" / name
        folder.mkdir(parents=True)
        (folder / "solver.toml").write_text(
            f'engine = "waiting.engine"\nproblems = ["tsp"]\nsummary = "Waits."\n[parameters]\noffers = {offers}\n'
        )
    mark = tmp_path / "searching"
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    environment = {
        "NCOSOLVE_SOLVERS": str(tmp_path / "solvers"),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "SEARCHING": str(mark),
    }
    return environment, mark


def wait_for(path):
    limit = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < limit, "the search did not begin"
        time.sleep(0.02)


@pytest.mark.parametrize(("solver", "code", "status"), [("one-tour", 0, "feasible"), ("no-tour", 1, "no_solution")])
def test_ctrl_c_gives_the_best_so_far(waiting, solver, code, status):
    environment, mark = waiting
    process = command("solve", "att48", "--solver", solver, "-t", "300", "--json", env=environment)
    try:
        wait_for(mark)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == code
    result = json.loads(out)
    assert result["status"] == status
    assert (result["tour"] is None) == (code == 1)


def test_on_a_terminal_there_is_a_live_line_and_the_summary_stays_clean(waiting):
    environment, _ = waiting
    ours, theirs = pty.openpty()
    with command("solve", "att48", "--solver", "one-tour", "-t", "1", stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # how a pseudo-terminal says that its other end is closed
                break
        out = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    assert b"/ 1 s  1 iterations  cost" in seen
    assert "\x1b" not in out
    assert out.startswith("att48\n  problem")


def test_a_closed_pipe_is_no_traceback():
    process = command("solvers", stderr=subprocess.PIPE)
    process.stdout.close()
    err = process.stderr.read()
    process.wait(timeout=60)
    process.stderr.close()
    assert "Traceback" not in err
    assert "Exception" not in err


def test_a_reader_that_hangs_up_loses_no_file(tmp_path):
    """The solution is written before anything is printed."""
    target = tmp_path / "a.sol"
    command = [sys.executable, "-m", "ncosolve", "solve", "burma14", "-t", "1", "--json", "-o", str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.close()
        process.wait(60)
    assert target.read_text()
