"""Everything that is registered keeps the public contract."""

import sys

import pytest

from ncosolve import catalog, testing
from ncosolve.errors import NcosolveError
from ncosolve.problems import PROBLEMS


@pytest.mark.parametrize("problem", PROBLEMS)
def test_problem(problem):
    testing.check_problem(problem)


@pytest.mark.parametrize("solver", sorted(catalog.solvers()))
def test_solver(solver):
    if catalog.solvers()[solver].missing():
        pytest.skip(f"{solver} needs {', '.join(catalog.solvers()[solver].missing())}")
    testing.check_engine(solver)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_auto_reaches_every_size(problem):
    for n in (1, 10, 1000, 10**6):
        assert catalog.automatic(problem, n), f"auto has nothing for {problem} with n = {n}"


BROKEN = {
    "equal seeds gave different answers": "    random.shuffle(tour)\n"
    "    task.incumbent.offer(tour)\n    return Outcome()\n",
    "is called optimal": "    task.incumbent.offer(tour)\n    return Outcome(optimal=True)\n",
    "s for a limit of": "    task.incumbent.offer(tour)\n    time.sleep(1.2)\n    return Outcome()\n",
    "returned NoneType, expected an Outcome": "    task.incumbent\n",
    "no feasible solution found": "    task.incumbent.offer(tour[1:])\n    return Outcome()\n",
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_wrong_engine_is_caught(message, tmp_path, monkeypatch):
    """Engines that ignore the seed or the time, claim a false proof, return nothing or leave out a node."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "solver.toml").write_text(
        'engine = "broken_engine"\nproblems = ["tsp"]\nsummary = "Broken."\n'
    )
    (tmp_path / "broken_engine.py").write_text(
        "import random, time\n"
        "from ncosolve.engines.base import Outcome\n"
        "PROBLEMS = ('tsp',)\n"
        "def run(task):\n"
        "    tour = list(range(task.instance.n))\n" + BROKEN[message]
    )
    monkeypatch.delitem(sys.modules, "broken_engine", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(catalog.USER_FOLDERS, str(tmp_path))
    catalog.solvers.cache_clear()
    try:
        with pytest.raises((AssertionError, NcosolveError), match=message):
            testing.check_engine("broken", sizes=(9, 30))
    finally:
        catalog.solvers.cache_clear()
