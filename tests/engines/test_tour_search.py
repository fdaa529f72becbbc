import numpy as np
import pytest

import ncosolve
from ncosolve.solving import solve


@pytest.mark.parametrize("layout", ["uniform", "clustered"])
def test_it_comes_close_to_its_own_bound(layout):
    instance = ncosolve.generate("tsp", 300, seed=1, layout=layout)
    solution = solve(instance, "tour-search", max_iterations=40_000)
    assert solution.bound <= solution.cost < 1.12 * solution.bound


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 9])
def test_small_ones_are_optimal(n):
    instance = ncosolve.generate("tsp", n, seed=n)
    assert solve(instance, "tour-search", max_iterations=500).cost == solve(instance, "exact", time_limit=20).cost


def test_all_nodes_at_one_place():
    solution = solve(ncosolve.TSP(coords=np.ones((50, 2))), "tour-search", max_iterations=100)
    assert solution.cost == 0
    assert solution.status == "optimal"


def test_asymmetric_instances_are_taken():
    rng = np.random.default_rng(1)
    instance = ncosolve.TSP(rng.integers(1, 100, (8, 8)).astype(float))
    exact = solve(instance, "exact", time_limit=20)
    assert solve(instance, "tour-search", max_iterations=3000).cost == exact.cost
    larger = ncosolve.TSP(rng.integers(1, 100, (60, 60)).astype(float))
    solution = solve(larger, "tour-search", max_iterations=2000)
    assert solution.bound <= solution.cost < 1.06 * solution.bound


@pytest.mark.parametrize(("name", "optimum", "share"), [("kroA100", 21282, 0.0), ("pcb442", 50778, 0.0005)])
def test_populations_come_to_known_optima(name, optimum, share):
    solution = solve(ncosolve.read(name), "tour-search", max_iterations=20_000)
    assert optimum <= solution.cost <= optimum * (1.0 + share)


def test_kicks_alone_are_a_variant():
    instance = ncosolve.read("pcb442")
    kicks, usual = (solve(instance, name, max_iterations=20_000) for name in ("tour-search@kicks", "tour-search"))
    assert kicks.cost >= usual.cost


def test_a_start_is_never_worsened_also_by_a_population():
    instance = ncosolve.read("kroA100")
    best = solve(instance, "tour-search", max_iterations=20_000)
    again = solve(instance, "tour-search", max_iterations=3_000, seed=5, start=best.tour)
    assert again.cost <= best.cost


def test_a_poor_start_costs_nothing():
    instance = ncosolve.generate("tsp", 400, seed=1)
    assert solve(instance, "tour-search", max_iterations=1, start=range(400)).cost < 1.3 * solve(instance).bound


def test_thousands_at_one_place_do_not_take_long():
    places = np.random.default_rng(1).random((3, 2))
    coords = np.repeat(places, 2000, axis=0)
    solve(ncosolve.TSP(coords=coords[::30]), time_limit=0.1)
    solution = solve(ncosolve.TSP(coords=coords), time_limit=1.0)
    assert solution.time_search < 5.0
    assert solution.cost == pytest.approx(np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1).sum())


def test_two_threads_come_to_an_optimum():
    assert solve(ncosolve.read("kroA100"), "tour-search", time_limit=20, threads=2, target=21282).cost == 21282


@pytest.mark.parametrize("n", [6, 9, 12])
def test_asymmetric_ones_are_optimal(n):
    instance = ncosolve.TSP(np.random.default_rng(n).integers(1, 100, (n, n)).astype(float))
    assert solve(instance, "tour-search", max_iterations=2000).cost == solve(instance, "exact", time_limit=20).cost


def test_equal_seeds_give_equal_tours():
    instance = ncosolve.generate("tsp", 500, seed=3)
    first, again, other = (solve(instance, "tour-search", max_iterations=300, seed=s) for s in (1, 1, 2))
    assert np.array_equal(first.tour, again.tour)
    assert not np.array_equal(first.tour, other.tour)


def test_the_time_is_kept_from_the_descent_to_the_kicks():
    """A look at a node and a kick take very different times; the slice of one must not be that of the other."""
    instance = ncosolve.generate("tsp", 20_000, seed=1)
    solve(ncosolve.generate("tsp", 2000, seed=1), "tour-search", time_limit=0.3)
    solution = solve(instance, "tour-search", time_limit=2.0)
    assert solution.time_search < 2.7
    assert solution.cost < 0.9 * solution.history[0][1]
