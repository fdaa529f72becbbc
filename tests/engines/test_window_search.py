from pathlib import Path

import numpy as np
import pytest

import ncosolve
from ncosolve.deadline import Deadline
from ncosolve.engines import window_search
from ncosolve.engines.base import Incumbent, Task
from ncosolve.errors import Infeasible
from ncosolve.problems.tsp import TSP
from ncosolve.problems.tspdl import TSPDL
from ncosolve.problems.tsptw import TSPTW
from ncosolve.solving import solve

DATA = Path(__file__).parents[2].parent / "shared" / "data"

PUBLIC = {
    "tsptw/AFG/rbg010a.tw": 671,
    "tsptw/AFG/rbg152.tw": 10032,
    "tsptw/Dumas/n100w40.001.txt": 770,
    "tsptw/GendreauDumasExtended/n60w200.003.txt": 455,
    "tsptw/SolomonPotvinBengio/rc_206.2.txt": 828.06,
    "tspdl/equal_demand/ulysses22_50_4.dat": 9324,
}


def searched(instance, iterations, seed=0, threads=1, start=None):
    """The search alone, without its proof."""
    deadline = Deadline()
    incumbent = Incumbent(instance, deadline)
    task = Task(
        instance,
        deadline,
        incumbent,
        seed=seed,
        threads=threads,
        start=start,
        max_iterations=iterations,
        parameters={"labels": 0},
    )
    outcome = window_search.run(task)
    assert not outcome.optimal
    return incumbent


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("hardness", ["medium", "hard"])
def test_the_search_finds_what_is_optimal(problem, hardness):
    """Of small instances the optimum, without the help of dynamic programming."""
    for seed in range(6):
        instance = ncosolve.generate(problem, 12, seed=seed, hardness=hardness)
        try:
            best = solve(instance, "exact", time_limit=60)
        except Infeasible:
            assert searched(instance, 2000).answer is None
            continue
        assert searched(instance, 4000).cost == pytest.approx(best.cost, rel=1e-9)


def test_tight_windows_are_solved_with_proof():
    """Fifty nodes around a hidden tour: feasible at once, and proved optimal by labels."""
    for seed in range(3):
        solution = solve(ncosolve.generate("tsptw", 50, seed=seed), "window-search", time_limit=20)
        assert solution.status == "optimal"
        assert solution.bound == solution.cost


def test_what_cannot_be_is_proved():
    """Thirty nodes of which two far apart close at the same time."""
    rng = np.random.default_rng(1)
    coords = rng.random((30, 2))
    coords[4], coords[9] = (5, 0), (-5, 0)
    due = np.full(30, 100.0)
    due[[4, 9]] = 7.0
    with pytest.raises(Infeasible, match="nodes 4 9 in time"):
        solve(TSPTW(coords=coords, ready_time=np.zeros(30), due_date=due), "window-search", time_limit=20)


def test_large_draft_limits_leave_the_first_order_behind():
    """Tight limits at n = 100: the start by limits is feasible and long, the search must at least halve it."""
    incumbent = searched(ncosolve.generate("tspdl", 100, seed=0, hardness="hard"), 20_000)
    assert incumbent.history[0][1] > 45
    assert incumbent.cost < 23


def test_asymmetric_draft_limits_go_the_right_way_round():
    distance = np.array([[0.0, 1, 50], [50, 0, 1], [1, 50, 0]])
    incumbent = searched(TSPDL(distance, demand=[0, 1, 1], draft_limit=[9, 2, 1]), 50)
    assert (incumbent.answer.tolist(), incumbent.cost) == ([0, 1, 2], 3)


def test_a_start_is_never_worsened_and_a_late_one_repaired():
    instance = ncosolve.generate("tsptw", 60, seed=1, hardness="easy")
    good = searched(instance, 5000).answer
    cost = instance.check(good).cost
    assert searched(instance, 1, seed=3, start=good).cost <= cost
    late = good[[0, *range(59, 0, -1)]]
    assert not instance.check(late).feasible
    assert instance.check(searched(instance, 2000, start=late).answer).feasible


def test_equal_seeds_give_equal_tours():
    instance = ncosolve.generate("tsptw", 80, seed=2, hardness="easy")
    first, again, other = (searched(instance, 1500, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.answer, again.answer)
    assert not np.array_equal(first.answer, other.answer)


def test_threads_share_what_they_find():
    instance = ncosolve.generate("tspdl", 40, seed=2, hardness="hard")
    incumbent = searched(instance, 3000, threads=2)
    assert incumbent.cost < 0.7 * incumbent.history[0][1]


def test_without_windows_it_is_a_tour_search():
    """Asymmetric distances of 40 nodes come within a few per cent of the assignment bound."""
    rng = np.random.default_rng(1)
    instance = TSP(rng.integers(1, 1000, (40, 40)).astype(float))
    deadline = Deadline()
    task = Task(instance, deadline, Incumbent(instance, deadline), max_iterations=20_000)
    window_search.run_without_windows(task)
    assert task.incumbent.cost <= 1.15 * ncosolve.engines.bounds.lower_bound(instance, deadline, 10)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_smallest(n):
    instance = TSPTW(coords=np.arange(n)[:, None] * [1.0, 0.0], ready_time=np.zeros(n), due_date=np.full(n, np.inf))
    assert searched(instance, 20).cost == 2 * (n - 1)


def test_a_wrong_kernel_is_noticed(monkeypatch):
    """In debug runs a tour that is not what the kernel takes it for ends the run with an error."""
    monkeypatch.setattr(window_search, "improve", lambda *_: False)
    with pytest.raises(ncosolve.EngineError, match="not what cost and lateness"):
        searched(ncosolve.generate("tsptw", 10, seed=1), 100)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_instances(name):
    if not (DATA / name).exists():
        pytest.skip("the public instances are not there")
    instance = ncosolve.read(DATA / name)
    solution = solve(instance, "window-search", time_limit=6.0, target=PUBLIC[name] + 0.006)
    assert solution.cost <= PUBLIC[name] + 0.006
