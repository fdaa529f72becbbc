import itertools

import numpy as np
import pytest

import ncosolve
from ncosolve.errors import Infeasible, NoSolutionFound
from ncosolve.problems.cvrp import CVRP
from ncosolve.problems.distance import Distance
from ncosolve.problems.tsp import TSP
from ncosolve.problems.tspdl import TSPDL
from ncosolve.problems.tsptw import TSPTW
from ncosolve.problems.vrptw import VRPTW
from ncosolve.solving import solve

BURMA14 = np.array(
    [
        [16.47, 96.10],
        [16.47, 94.44],
        [20.09, 92.54],
        [22.39, 93.37],
        [25.23, 97.24],
        [22.00, 96.05],
        [20.47, 97.02],
        [17.20, 96.29],
        [16.30, 97.38],
        [14.05, 98.12],
        [16.53, 97.38],
        [21.52, 95.59],
        [19.41, 97.13],
        [20.09, 94.55],
    ]
)


def table(rng, n, kind):
    """Integer distances: symmetric, asymmetric, with many ties and zeros, or of points of which some coincide."""
    if kind == "points":
        xy = rng.integers(0, 4, (n, 2))
        return np.floor(10 * np.hypot(*(xy[:, None] - xy[None, :]).transpose(2, 0, 1)))
    distance = rng.integers(0, 3 if kind == "ties" else 30, (n, n)).astype(float)
    distance = distance + distance.T if kind == "symmetric" else distance
    np.fill_diagonal(distance, 0)
    return distance


KINDS = ("symmetric", "asymmetric", "ties", "points")


def best_tour(instance):
    checks = (instance.check(np.array([0, *rest])) for rest in itertools.permutations(range(1, instance.n)))
    return min((check.cost for check in checks if check.feasible), default=np.inf)


def best_routes(instance):
    """The smallest key over all orders of the customers and all ways to cut them into routes."""
    best = (np.inf,)
    for order in itertools.permutations(range(1, instance.n)):
        for cuts in itertools.product([False, True], repeat=instance.n - 2):
            routes, route = [], [order[0]]
            for customer, cut in zip(order[1:], cuts, strict=True):
                if cut:
                    routes.append(route)
                    route = []
                route.append(customer)
            routes.append(route)
            check = instance.check(instance.answer(routes))
            if check.feasible:
                best = min(best, instance.order(instance.answer(routes), check.cost))
    return best


def assert_exact(instance, best):
    if np.isinf(best[-1]):
        with pytest.raises(Infeasible):
            solve(instance, "exact", time_limit=60)
        return
    solution = solve(instance, "exact", time_limit=60)
    assert instance.order(solution.answer, solution.cost) == pytest.approx(best)
    assert solution.status == "optimal"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [3, 5, 7])
def test_tsp_agrees_with_brute_force(kind, n):
    for seed in range(3):
        instance = TSP(table(np.random.default_rng(seed), n, kind))
        assert_exact(instance, (best_tour(instance),))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [3, 5, 6])
def test_tsptw_agrees_with_brute_force(kind, n):
    """Feasible if and only if some order is, and then the optimum; with service times, and a depot that closes."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        ready = rng.integers(0, 10 * n, n)
        instance = TSPTW(
            table(rng, n, kind),
            ready_time=np.where(np.arange(n) == 0, 1, ready),
            due_date=np.where(np.arange(n) == 0, 20 * n, ready + rng.integers(0, 60, n)),
            service_time=rng.integers(0, 4, n),
        )
        assert_exact(instance, (best_tour(instance),))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [3, 5, 7])
def test_tspdl_agrees_with_brute_force(kind, n):
    """With demands of zero and of any size."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        demand = rng.integers(0, 4, n)
        demand[0] = 0
        draft = np.maximum(demand, rng.integers(0, demand.sum() + 2, n))
        instance = TSPDL(table(rng, n, kind), demand=demand, draft_limit=draft)
        assert_exact(instance, (best_tour(instance),))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", ["distance", "vehicles"])
def test_cvrp_agrees_with_brute_force(kind, objective):
    """With and without a limit of vehicles, with zero demands, and where the fleet is too small."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        demand = rng.integers(0, 6, 6)
        demand[0] = 0
        instance = CVRP(
            table(rng, 6, kind),
            demand=demand,
            capacity=7,
            max_vehicles=[None, 1, 2, 3][seed],
            objective=objective,
        )
        assert_exact(instance, best_routes(instance))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", ["distance", "vehicles"])
def test_vrptw_agrees_with_brute_force(kind, objective):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        demand, ready = rng.integers(0, 6, 6), rng.integers(0, 60, 6)
        demand[0] = ready[0] = 0
        instance = VRPTW(
            table(rng, 6, kind),
            demand=demand,
            capacity=9,
            ready_time=ready,
            due_date=np.where(np.arange(6) == 0, 200, ready + rng.integers(0, 40, 6)),
            service_time=rng.integers(0, 5, 6),
            max_vehicles=[None, 1, 2, 3][seed],
            objective=objective,
        )
        assert_exact(instance, best_routes(instance))


def test_burma14():
    """The published optima, with and without draft limits."""
    distance = Distance(metric="geo", coords=BURMA14)
    assert solve(TSP(distance), "exact", time_limit=60).cost == 3323
    draft = np.full(14, 13.0)
    draft[5], draft[12] = 12, 1
    demand = np.ones(14)
    demand[0] = 0
    solution = solve(TSPDL(distance, demand=demand, draft_limit=draft), "exact", time_limit=60)
    assert (solution.cost, solution.status, solution.bound) == (3416, "optimal", 3416)


def test_asymmetric_draft_limits_go_the_right_way_round():
    """A ship that must deliver the shallow port last pays the arcs in the direction it sails."""
    distance = np.array([[0.0, 1, 50], [50, 0, 1], [1, 50, 0]])
    instance = TSPDL(distance, demand=[0, 1, 1], draft_limit=[9, 2, 1])
    solution = solve(instance, "exact", time_limit=60)
    assert (solution.tour.tolist(), solution.cost) == ([0, 1, 2], 3)


def test_the_reason_names_what_clashes():
    """Of five customers two, each reachable in time, cannot be in one tour."""
    place = np.array([0.0, 1, 10, -10, 2, 3])
    instance = TSPTW(
        np.abs(place[:, None] - place[None, :]), ready_time=np.zeros(6), due_date=[100, 90, 12, 12, 90, 90]
    )
    with pytest.raises(Infeasible, match="nodes 2 3 in time"):
        solve(instance, "exact", time_limit=60)


def test_the_reason_names_the_fleet():
    instance = CVRP(np.ones((4, 4)), demand=[0, 2, 2, 2], capacity=3, max_vehicles=2)
    with pytest.raises(Infeasible, match="3 customers into at most 2 routes"):
        solve(instance, "exact", time_limit=60)


def test_a_better_start_is_kept_and_a_worse_one_improved():
    instance = ncosolve.generate("tsp", 9, seed=1)
    best = solve(instance, "exact", time_limit=60)
    again = solve(instance, "exact", time_limit=60, start=best)
    assert (again.cost, again.status) == (best.cost, "optimal")
    assert solve(instance, "exact", time_limit=60, start=list(range(9))).cost == best.cost


def test_it_gives_up_early_where_it_cannot_finish():
    """Sixty nodes without windows: no answer, no claim, and soon back for the next solver."""
    with pytest.raises(NoSolutionFound):
        solve(ncosolve.generate("tsp", 60, seed=1), "exact", time_limit=60)
    assert solve(ncosolve.generate("tspdl", 16, seed=1), "auto", time_limit=5).status == "optimal"


def test_it_says_that_it_gave_up():
    with pytest.raises(ncosolve.NoSolutionFound, match="the exact search was given up"):
        ncosolve.solve(ncosolve.generate("cvrp", 40, seed=1), "exact", time_limit=0.5)
