import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncosolve
from ncosolve.engines import highs
from ncosolve.engines.mip_dive import dive
from ncosolve.engines.mip_model import pass_model
from ncosolve.formats.mps import quiet_highs


def never():
    return False


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_what_it_returns_is_feasible(seed):
    """Random set-partitioning rows with a planted solution, some columns general integers."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    planted = rng.integers(0, 3, n)
    rows = rng.integers(0, 3, (m, n))
    activity = rows @ planted
    instance = ncosolve.MILP(
        rng.integers(-5, 10, n),
        rows,
        activity - rng.integers(0, 2, m),
        activity,
        upper=np.full(n, 4),
        integer=np.ones(n),
    )
    values = dive(instance, 5.0, never)
    if values is not None:
        assert instance.check(np.round(values)).feasible


@pytest.mark.parametrize("family", ["setcover", "auction", "indset", "facility"])
def test_it_finds_something_in_the_usual_families(family):
    instance = ncosolve.generate("milp", 8 if family == "facility" else 60, seed=1, family=family)
    values = dive(instance, 10.0, never)
    assert values is not None
    assert np.abs(values - np.round(values))[instance.integer].max() <= 1e-6


def test_a_dead_end_is_turned_around():
    """2 x + 3 y = 7 has the relaxation y = 7/3; raising y to 3 is infeasible, so y <= 2 must follow."""
    instance = ncosolve.MILP([1, 0], [[2, 3]], [7], [7], integer=[True, True])
    values = dive(instance, 5.0, never)
    assert values is not None
    assert instance.check(np.round(values)).feasible


def test_no_answer_where_there_is_none():
    infeasible = ncosolve.MILP([1, 1], [[2, 2]], [3], [3], integer=[True, True])
    assert dive(infeasible, 5.0, never) is None
    assert dive(ncosolve.generate("milp", 60, seed=1), 0.0, never) is None
    assert dive(ncosolve.generate("milp", 60, seed=1), 5.0, lambda: True) is None


@pytest.mark.parametrize("seed", range(4))
def test_a_dive_does_not_change_what_highs_proves(seed, monkeypatch):
    """With the rescue at once instead of after a tenth of the time, the optimum is the same."""
    instance = ncosolve.generate("milp", 80, seed=seed, family="setcover")
    plain = ncosolve.solve(instance, "highs", time_limit=20)
    monkeypatch.setattr(highs, "RESCUE", 0.0)
    rescued = ncosolve.solve(instance, "highs", time_limit=20)
    assert plain.status == rescued.status == "optimal"
    assert plain.cost == pytest.approx(rescued.cost)


def test_it_does_not_mind_what_ran_before_in_its_thread():
    """HiGHS keeps one scheduler a thread and refuses another number of workers; a dive takes what is there."""
    instance = ncosolve.generate("milp", 60, seed=1)
    solver = quiet_highs()
    solver.setOptionValue("threads", 2)
    pass_model(solver, instance)
    solver.run()
    assert dive(instance, 10.0, never) is not None
    solver.resetThreadScheduler(True)
