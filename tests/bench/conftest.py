"""Solvers that are made for these tests, found through the environment as a user's own are."""

import textwrap

import pytest

from ncosolve import catalog

ENGINES = {
    "crashing": """
        import os
        PROBLEMS = ("tsp",)
        def run(task):
            if task.instance.n > 20:  # not while it warms up
                os.abort()
    """,
    "dying": """
        import os
        PROBLEMS = ("tsp",)
        def run(task):
            os._exit(7)
    """,
    "forking": """
        import os, sys, time
        PROBLEMS = ("tsp",)
        def run(task):
            assert not sys.stdin.read()
            if os.fork() == 0:
                time.sleep(30)
            os.abort()
    """,
    "raising": """
        PROBLEMS = ("tsp",)
        def run(task):
            raise ValueError("no idea")
    """,
    "slowed": """
        from ncosolve.engines import tour_search
        import dataclasses, time
        PROBLEMS, PARAMETERS = tour_search.PROBLEMS, tour_search.PARAMETERS
        def run(task):
            outcome = tour_search.run(dataclasses.replace(task, max_iterations=1))
            while task.max_iterations is None and not task.over():  # limited while it warms up
                time.sleep(0.01)
            return outcome
    """,
    "late": """
        import time
        PROBLEMS = ("tsp",)
        def run(task):
            task.incumbent.offer(range(task.instance.n))
            time.sleep(0.6 + (task.deadline.remaining() if task.max_iterations is None else 0))
            from ncosolve.engines.base import Outcome
            return Outcome(iterations=1)
    """,
}


@pytest.fixture
def own_solvers(tmp_path, monkeypatch):
    """A folder with ``same``, a copy of tour-search, and a solver for each of `ENGINES`."""
    folder = tmp_path / "own"
    folder.mkdir()
    for name, code in ENGINES.items():
        (folder / f"{name}_engine.py").write_text(textwrap.dedent(code))
        _solver(folder, name, f"{name}_engine")
    _solver(folder, "same", "tour_search", "[variants.narrow]\npopulation = 0\n")
    monkeypatch.setenv(catalog.USER_FOLDERS, str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(str(folder))
    catalog.solvers.cache_clear()
    yield
    catalog.solvers.cache_clear()


def _solver(folder, name, engine, more=""):
    (folder / name).mkdir()
    text = f'engine = "{engine}"\nproblems = ["tsp"]\nsummary = "For tests."\n{more}'
    (folder / name / "solver.toml").write_text(text)
