import numpy as np
import pytest

import ncosolve
from ncosolve.solving import solve

P_N16_K8 = (
    "30 40 37 52 49 49 52 64 31 62 52 33 42 41 52 41 57 58 62 42 42 57 27 68 43 67 58 48 58 27 37 69",
    "0 19 30 16 23 11 31 15 28 8 8 7 14 6 19 11",
)


def p_n16_k8(**options):
    coords = np.array(P_N16_K8[0].split(), float).reshape(-1, 2)
    demand = np.array(P_N16_K8[1].split(), float)
    return ncosolve.CVRP(coords=coords, demand=demand, capacity=35, rounding="nint", **options)


def test_a_known_optimum_is_found():
    """P-n16-k8 has the optimum 450 with 8 vehicles (Augerat et al. 1995)."""
    assert solve(p_n16_k8(), "route-search", max_iterations=20_000).cost == 450


def test_a_tight_fleet_is_kept():
    solution = solve(p_n16_k8(max_vehicles=8), "route-search", max_iterations=20_000)
    assert solution.cost == 450
    assert len(solution.routes) <= 8


def test_a_fleet_that_is_too_small_is_not_called_infeasible_without_proof():
    """Seven vehicles could carry 246 of 245 units, but no packing exists: nothing is found, nothing is claimed."""
    instance = p_n16_k8(max_vehicles=8).__class__(
        coords=np.zeros((5, 2)), demand=[0, 2, 2, 2, 0], capacity=3, max_vehicles=2
    )
    with pytest.raises(ncosolve.NoSolutionFound, match="vehicles"):
        solve(instance, "route-search", max_iterations=500)


def test_vehicles_first_saves_a_vehicle_at_the_price_of_distance():
    """Two pairs far apart: the shortest plan has two routes, the smallest fleet one."""
    options = {"coords": [[0, 0], [-9, 0], [-9, 1], [9, 0], [9, 1]], "demand": [0, 1, 1, 1, 1], "capacity": 4}
    timed = {"ready_time": [0] * 5, "due_date": [100] * 5}
    for make, extra in ((ncosolve.CVRP, {}), (ncosolve.VRPTW, timed)):
        few = solve(make(**options, **extra, objective="vehicles"), "route-search", max_iterations=2000)
        assert len(few.routes) == 1


def test_vehicles_first_reaches_the_fewest_that_can_carry_all():
    """Fifteen unit customers and a capacity of five: three routes, however far apart the customers are."""
    rng = np.random.default_rng(3)
    coords = np.vstack([[0, 0], rng.uniform(-100, 100, (15, 2))])
    instance = ncosolve.CVRP(coords=coords, demand=[0] + [1] * 15, capacity=5, objective="vehicles")
    assert len(solve(instance, "route-search", max_iterations=4000).routes) == 3


@pytest.mark.parametrize("kind", ["R1", "C1", "RC2"])
def test_windows_are_kept_and_routes_get_shorter(kind):
    instance = ncosolve.generate("vrptw", 60, seed=1, kind=kind)
    solution = solve(instance, "route-search", max_iterations=4000)
    assert solution.feasible
    assert solution.cost < solution.history[0][1]


def test_an_infeasible_start_is_repaired():
    instance = ncosolve.generate("cvrp", 30, seed=5)
    solution = solve(instance, "route-search", max_iterations=500, start=[list(range(1, 30))])
    assert solution.feasible


def test_asymmetric_distances():
    rng = np.random.default_rng(0)
    matrix = rng.integers(1, 100, (12, 12)).astype(float)
    instance = ncosolve.CVRP(matrix, demand=[0] + [1] * 11, capacity=4)
    solution = solve(instance, "route-search", max_iterations=5000)
    exact = solve(instance.__class__(matrix[:7, :7], demand=[0] + [1] * 6, capacity=4), "exact", time_limit=20)
    found = solve(
        instance.__class__(matrix[:7, :7], demand=[0] + [1] * 6, capacity=4), "route-search", max_iterations=5000
    )
    assert solution.feasible
    assert exact.status == "optimal"
    assert found.cost == exact.cost


def test_a_large_instance_starts_within_the_time():
    """Nothing quadratic: 20,000 nodes, set up and improved with a limit of three seconds."""
    instance = ncosolve.generate("cvrp", 20_000, seed=1, recipe="uniform")
    solve(ncosolve.generate("cvrp", 2000, seed=1, recipe="uniform"), "route-search", time_limit=0.1)
    solution = solve(instance, "route-search", time_limit=3.0)
    assert solution.feasible
    assert solution.time_search < 6.0


@pytest.mark.parametrize("scale", [1e-7, 1.0, 1e9, 1e12])
def test_the_unit_of_length_changes_nothing(scale):
    """A gain that is a rounding error at one scale is one at any other: the search neither cycles nor idles."""
    given = ncosolve.generate("cvrp", 40, seed=4)
    coords = np.asarray(given.distance.coords)
    found = [
        solve(
            ncosolve.CVRP(coords=coords * by, demand=given.demand, capacity=given.capacity),
            "route-search",
            max_iterations=3000,
        )
        for by in (1.0, scale)
    ]
    assert found[1].cost / scale == pytest.approx(found[0].cost, rel=0.01)


def test_customers_in_one_place_are_served():
    spots = np.repeat([[0.0, 0.0], [3e8, 1e8], [-2e8, 5e8]], 8, axis=0)
    instance = ncosolve.CVRP(coords=spots, demand=np.append(0, np.ones(23)), capacity=6)
    assert solve(instance, "route-search", max_iterations=3000).feasible
