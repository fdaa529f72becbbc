"""Everything that is registered keeps the public contract."""

import pytest

from ncosolve import catalog, testing
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


def test_a_wrong_engine_is_caught(tmp_path, monkeypatch):
    """An engine that ignores its start and its seed does not pass."""
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "solver.toml").write_text('engine = "broken_engine.code"\nproblems = ["tsp"]\nsummary = "Broken."\n')
    package = tmp_path / "broken_engine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "code.py").write_text(
        "import random\n"
        "from ncosolve.engines.base import Outcome\n"
        "PROBLEMS = ('tsp',)\n"
        "def run(task):\n"
        "    tour = list(range(task.instance.n))\n"
        "    random.shuffle(tour)\n"
        "    task.incumbent.offer(tour)\n"
        "    return Outcome()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(catalog.USER_FOLDERS, str(tmp_path))
    catalog.solvers.cache_clear()
    try:
        with pytest.raises(AssertionError, match="equal seeds gave different answers"):
            testing.check_engine("broken", sizes=(30,))
    finally:
        catalog.solvers.cache_clear()
