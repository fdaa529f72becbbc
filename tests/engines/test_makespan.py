"""The tour that is back first: against brute force, against its proof, and what cannot minimise it says so."""

import itertools

import numpy as np
import pytest

import ncosolve
from ncosolve import formats
from ncosolve.problems.tsptw import TSPTW
from ncosolve.record import best_known
from ncosolve.solving import solve


def small(seed, n=7, whole=True):
    """An asymmetric instance with service and waiting; many have a tour."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 20, (n, n)) + (0.0 if whole else rng.random((n, n)))
    ready = rng.integers(0, 60, n)
    ready[0] = rng.integers(-5, 5)
    due = ready + rng.integers(30, 90, n)
    due[0] = 300
    return TSPTW(matrix, ready_time=ready, due_date=due, service_time=rng.integers(0, 5, n), objective="makespan")


def brute_force(instance):
    """When the soonest tour is back, by a clock of its own."""
    best = np.inf
    for order in itertools.permutations(range(1, instance.n)):
        clock, here = instance.ready_time[0], 0
        for there in (*order, 0):
            leave = clock + (instance.service_time[here] if here else 0.0)
            clock = leave + instance.distance.matrix()[here, there]
            if there:
                clock = max(clock, instance.ready_time[there])
            if clock > instance.due_date[there]:
                break
            here = there
        else:
            best = min(best, clock)
    return best


@pytest.mark.parametrize("solver", ["auto", "window-search", "window-search@search", "lmask-tsptw50@classical"])
@pytest.mark.parametrize("whole", [True, False])
def test_the_soonest_tour_is_found(solver, whole):
    gaps = []
    for seed in range(12):
        instance = small(seed, whole=whole)
        best = brute_force(instance)
        if best == np.inf:
            continue
        found = solve(instance, solver, max_iterations=5000)
        assert found.cost >= best - 1e-9
        gaps.append(found.cost / best - 1.0)
        assert found.status == ("feasible" if solver == "window-search@search" else "optimal")
    assert len(gaps) > 5
    if solver == "window-search@search":
        assert sorted(gaps)[-2] < 1e-9
        assert max(gaps) < 0.05
    else:
        assert max(gaps) < 1e-9


def test_no_tour_is_proved_for_the_makespan_too():
    matrix = np.ones((4, 4))
    instance = TSPTW(matrix, ready_time=[0, 5, 5, 5], due_date=[99, 5, 6, 6], objective="makespan")
    with pytest.raises(ncosolve.Infeasible, match="no tour visits nodes"):
        solve(instance, time_limit=2)


def test_it_is_another_objective_than_the_distance():
    """Of a larger instance: the search comes to what is proved, and the two optima differ."""
    given = ncosolve.generate("tsptw", 40, seed=3, hardness="medium")
    rest = {"ready_time": given.ready_time, "due_date": given.due_date}
    instance = TSPTW(given.distance, **rest, objective="makespan")
    proved = solve(instance, time_limit=20)
    assert proved.status == "optimal"
    assert solve(instance, "window-search@search", max_iterations=20_000).cost == pytest.approx(proved.cost)
    shortest = solve(given, max_iterations=20_000)
    assert instance.check(shortest.tour).cost >= proved.cost - 1e-9
    assert given.check(proved.tour).cost >= shortest.cost - 1e-9


def test_who_cannot_minimise_it_says_so():
    for solver in ("pyvrp", "ortools"):
        with pytest.raises(ncosolve.InputError, match="does not minimise the makespan"):
            solve(small(0), solver, time_limit=1)


def test_files_keep_it(tmp_path):
    formats.write(small(0), tmp_path / "a.npz")
    assert ncosolve.read(tmp_path / "a.npz").objective == "makespan"
    name = "tsptw-medium-n20-s1"
    assert ncosolve.read(name, objective="makespan").objective == "makespan"
    with pytest.raises(ncosolve.InputError, match="objective: is 'fewest', expected one of distance, makespan"):
        ncosolve.read(name, objective="fewest")


def test_best_known_values_are_of_the_distance():
    for objective, best in (("distance", 10.846569250218824), ("makespan", None)):
        instance = ncosolve.read("tsptw-hard-n20-s1", objective=objective)
        assert best_known(instance, "tsptw-hard-n20-s1.txt") == best
