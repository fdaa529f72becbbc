import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routing import check, check_links, parts, problem

from ncosolve.search.metric import distance, tabulated
from ncosolve.search.random import seed_state
from ncosolve.search.route_books import load_solution, total_cost
from ncosolve.search.routes import BANKED, BEST, COST, Stops, make_routes
from ncosolve.search.ruin_recreate import MISMATCH, iterate
from ncosolve.search.savings import savings_routes


@settings(max_examples=60, deadline=None)
@given(
    st.integers(4, 30), st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([2, 100]), st.booleans()
)
def test_the_books_stay_right(n, seed, timed, asymmetric, grid, thrifty):
    """Through hundreds of accepted and undone changes, in any mix of ties, zero demands, windows and asymmetry."""
    metric, stops, near, table = problem(n, seed, timed, asymmetric, grid)
    routes, rng = make_routes(n, n - 1), seed_state(seed)
    load_solution(metric, stops, routes, np.empty(0, np.int64), np.zeros(1, np.int64))
    assert iterate(metric, stops, near, routes, rng, 1, 0.0, 0.0, thrifty, False, True) == 1
    for temperature in (50.0, 5.0, 0.5):
        done = iterate(metric, stops, near, routes, rng, 60, temperature, 6.0, thrifty, False, True)
        assert done == 60
        check_links(routes, stops)
        assert routes.counts[BANKED] == 0
        assert routes.costs[COST] == pytest.approx(total_cost(metric, routes))
        assert routes.costs[BEST] <= routes.costs[COST] + 1e-9
    assert check(routes, stops, table, n - 1) == pytest.approx(routes.costs[BEST])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_a_tight_fleet_is_filled_or_said_to_be_short(seed, timed):
    """With a vehicle limit nobody gets a route too many; who has no place is in the bank."""
    metric, stops, near, table = problem(16, seed, timed)
    fleet = max(1, int(np.ceil(stops.visit[:, 0].sum() / stops.capacity)))
    routes, rng = make_routes(16, fleet), seed_state(seed)
    load_solution(metric, stops, routes, np.empty(0, np.int64), np.zeros(1, np.int64))
    for _ in range(5):
        assert iterate(metric, stops, near, routes, rng, 100, 5.0, 6.0, False, False, True) != MISMATCH
        check_links(routes, stops)
    if np.isfinite(routes.costs[BEST]):
        assert check(routes, stops, table, fleet) == pytest.approx(routes.costs[BEST])


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 40), st.integers(0, 10**6), st.booleans())
def test_savings_routes_are_within_the_capacity(n, seed, asymmetric):
    metric, stops, near, table = problem(n, seed, False, asymmetric)
    visits, starts = savings_routes(metric, stops, near.ruin, make_routes(n, n - 1), not asymmetric)
    assert sorted(visits) == list(range(1, n))
    cost = 0.0
    for route in parts(visits, starts):
        assert stops.visit[route, 0].sum() <= stops.capacity
        cost += table[[0, *route], [*route, 0]].sum()
    alone = table[0, 1:].sum() + table[1:, 0].sum()
    assert cost <= alone + 1e-9


def test_loading_a_solution_banks_what_breaks_a_constraint():
    """Over capacity, too late, or without a slot: each such customer goes to the bank, the rest stays in order."""
    table = np.array([[0, 5, 5, 5, 5], [5, 0, 1, 1, 1], [5, 1, 0, 1, 1], [5, 1, 1, 0, 1], [5, 1, 1, 1, 0]], float)
    visit = np.array([[0, 0, 100, 0], [6, 0, 100, 0], [6, 0, 100, 0], [1, 0, 5.5, 0], [1, 0, 100, 0]], float)
    routes = make_routes(5, 1)
    load_solution(
        tabulated(table),
        Stops(visit, 10.0, True, True, 1.0),
        routes,
        np.array([1, 2, 3, 4]),
        np.array([0, 3, 4], np.int64),
    )
    assert routes.counts[BANKED] == 3
    assert sorted(routes.work[:3, 1]) == [2, 3, 4]
    assert routes.slot[0, :3].tolist() == [1, 1, 1]


def test_equal_seeds_give_equal_routes():
    metric, stops, near, _ = problem(60, 1, True)
    results = []
    for _ in range(2):
        routes, rng = make_routes(60, 59), seed_state(9)
        load_solution(metric, stops, routes, np.empty(0, np.int64), np.zeros(1, np.int64))
        iterate(metric, stops, near, routes, rng, 500, 3.0, 8.0, False, False, False)
        results.append(routes.best.copy())
    assert np.array_equal(*results)


def test_wrong_books_are_noticed():
    """The debug check is no decoration: a cost that is off by one is reported."""
    metric, stops, near, _ = problem(20, 2, False)
    routes = make_routes(20, 19)
    load_solution(metric, stops, routes, np.arange(1, 20), np.arange(20, dtype=np.int64))
    routes.costs[COST] += 1.0
    assert iterate(metric, stops, near, routes, seed_state(0), 50, 10.0, 6.0, False, False, True) == MISMATCH


def test_distance_kernel_matches_the_table():
    metric, _, _, table = problem(5, 3, False, asymmetric=True)
    assert distance(metric, 1, 2) == table[1, 2]
    assert distance(metric, 2, 1) == table[2, 1]
