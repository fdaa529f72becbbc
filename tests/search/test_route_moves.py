"""The local moves of a route search, one by one; the test of ruin and recreate judges them together."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from ncosolve.search.metric import tabulated
from ncosolve.search.neighbours import nearest, reaches
from ncosolve.search.route_books import is_sound, load_solution, unlink, unpack
from ncosolve.search.route_moves import improve
from ncosolve.search.route_repair import repair
from ncosolve.search.route_swaps import swap
from ncosolve.search.routes import COST, ITERATION, LOGGED_SLOTS, Near, Stops, log_slot, make_routes, undo

IMPROVE, SWAP = range(2)


@njit
def descend(metric, stops, near, routes, which):
    """Make moves of one kind until there are none; the change in cost."""
    routes.counts[ITERATION] += 1
    change, gain = 0.0, -1.0
    while gain < 0.0:
        gain = 0.0
        for c in range(1, routes.link.shape[0]):
            saved = (
                improve(metric, stops, near, routes, c) if which == IMPROVE else swap(metric, stops, near, routes, c)[0]
            )
            gain += saved
        change += gain
    return change


@njit
def unload(metric, stops, near, routes):
    """Let `repair` see all routes as changed; what it says."""
    routes.counts[ITERATION] += 1
    for r in range(routes.slot.shape[0]):
        if routes.slot[r, 2] > 0:
            log_slot(routes.slot, routes.load, routes.slot_log, routes.load_log, routes.counts, r)
    return repair(metric, stops, near, routes)


def state(n, seed, timed=False, capacity=20.0, size=3, symmetric=True):
    """A random instance with routes of some customers each, and its distances."""
    rng = np.random.default_rng(seed)
    coords = rng.integers(0, 60, (n, 2)).astype(float)
    table = np.sqrt(((coords[:, None] - coords[None]) ** 2).sum(-1))
    if not symmetric:
        table += rng.integers(0, 9, (n, n))
        np.fill_diagonal(table, 0.0)
    visit = np.zeros((n, 4))
    visit[1:, 0] = rng.integers(1, 6, n - 1)
    visit[:, 2] = np.inf
    order = rng.permutation(np.arange(1, n))
    starts = np.append(np.arange(0, n - 1, size), n - 1).astype(np.int64)
    if timed:  # windows round the times at which these routes serve
        visit[1:, 3] = rng.integers(0, 5, n - 1)
        for route in np.split(order, starts[1:-1]):
            clock, here = 0.0, 0
            for node in route:
                clock += visit[here, 3] * (here > 0) + table[here, node]
                visit[node, 1:3] = max(0.0, clock - rng.integers(0, 40)), clock + rng.integers(0, 40)
                clock, here = max(clock, visit[node, 1]), node
    stops = Stops(visit, capacity, timed, symmetric, 10.0)
    metric = tabulated(table)
    ruin = nearest(metric, n, first=1)
    routes = make_routes(n, n - 1)
    load_solution(metric, stops, routes, order.astype(np.int64), starts)
    return metric, stops, Near(ruin, ruin, reaches(metric, ruin)), routes, table


def length(route, table):
    return table[[0, *route], [*route, 0]].sum()


@settings(max_examples=40, deadline=None)
@given(st.integers(5, 14), st.integers(0, 10**6), st.booleans(), st.sampled_from([IMPROVE, SWAP]), st.booleans())
def test_moves_save_what_they_say_and_can_be_undone(n, seed, timed, which, symmetric):
    metric, stops, near, routes, _ = state(n, seed, timed, symmetric=symmetric)
    before = [array.copy() for array in (routes.link[:, :3], routes.numbers, routes.slot[:, :3], routes.load)]
    cost = routes.costs[COST]
    routes.costs[COST] += descend(metric, stops, near, routes, which)
    assert is_sound(metric, stops, routes)
    assert routes.costs[COST] <= cost
    undo(routes)
    after = routes.link[:, :3], routes.numbers, routes.slot[:, :3], routes.load
    assert all(np.array_equal(*pair) for pair in zip(before, after, strict=True))


@settings(max_examples=30, deadline=None)
@given(st.integers(5, 10), st.integers(0, 10**6))
def test_no_exchange_is_left_after_the_exchanges(n, seed):
    """Every pair of customers of two routes, each put anywhere in the other's route, by brute force."""
    metric, stops, near, routes, table = state(n, seed)
    descend(metric, stops, near, routes, SWAP)
    for one, two in itertools.permutations([list(part) for part in unpack(*unlink(routes, routes.link))], 2):
        for c, x in itertools.product(one, two):
            fewer, others = [v for v in one if v != c], [v for v in two if v != x]
            loads = [stops.visit[[*fewer, x], 0].sum(), stops.visit[[*others, c], 0].sum()]
            if max(loads) > stops.capacity:
                continue
            best = min(length([*fewer[:k], x, *fewer[k:]], table) for k in range(len(fewer) + 1))
            best += min(length([*others[:k], c, *others[k:]], table) for k in range(len(others) + 1))
            assert best >= length(one, table) + length(two, table) - 1e-6


@settings(max_examples=30, deadline=None)
@given(st.integers(5, 12), st.integers(0, 10**6))
def test_no_turn_and_no_swap_of_tails_is_left(n, seed):
    """2-opt in a route and 2-opt* between two, where all four ends are customers, by brute force."""
    metric, stops, near, routes, table = state(n, seed, size=4)
    descend(metric, stops, near, routes, IMPROVE)
    parts = [list(part) for part in unpack(*unlink(routes, routes.link))]
    for part in parts:
        for i, j in itertools.combinations(range(1, len(part)), 2):
            turned = [*part[:i], *part[i:j][::-1], *part[j:]]
            assert length(turned, table) >= length(part, table) - 1e-6
    for one, two in itertools.combinations(parts, 2):
        for i, j in itertools.product(range(1, len(one)), range(1, len(two))):
            for new in (
                ([*one[:i], *two[j:]], [*two[:j], *one[i:]]),
                ([*one[:i], *two[:j][::-1]], [*one[i:][::-1], *two[j:]]),
            ):
                if max(stops.visit[part, 0].sum() for part in new) <= stops.capacity:
                    saved = length(one, table) + length(two, table) - sum(length(part, table) for part in new)
                    assert saved <= 1e-6


@settings(max_examples=60, deadline=None)
@given(st.integers(6, 20), st.integers(0, 10**6), st.booleans(), st.floats(0.5, 1.0))
def test_a_repair_fits_or_says_that_it_does_not(n, seed, timed, share):
    metric, loose, near, routes, _ = state(n, seed, timed, capacity=1000.0)
    stops = loose._replace(capacity=float(np.ceil(share * routes.load.max())))
    change = unload(metric, stops, near, routes)
    routes.costs[COST] += change if np.isfinite(change) else 0.0
    if np.isfinite(change):
        assert routes.counts[LOGGED_SLOTS] > 0
        assert is_sound(metric, stops, routes)
    else:
        assert routes.load.max() > stops.capacity


def test_the_cheapest_relief_is_taken():
    """Two routes on a line, three units in the first of two: the one that hardly lengthens the other goes over."""
    points = np.array([0.0, 10.0, 11.0, 12.0, 13.0])
    metric = tabulated(np.abs(points[:, None] - points[None]))
    visit = np.column_stack([[0, 1, 1, 1, 1], np.zeros(5), np.full(5, np.inf), np.zeros(5)])
    ruin = nearest(metric, 4, first=1)
    routes = make_routes(5, 2)
    load_solution(
        metric, Stops(visit, 9.0, False, True, 1.0), routes, np.array([1, 2, 3, 4]), np.array([0, 3, 4], np.int64)
    )
    change = unload(metric, Stops(visit, 2.0, False, True, 1.0), Near(ruin, ruin, reaches(metric, ruin)), routes)
    assert change == pytest.approx(-2.0)
    assert sorted(map(sorted, map(list, unpack(*unlink(routes, routes.link))))) == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("array", "place"), [("numbers", (2, 0)), ("numbers", (2, 2)), ("load", (0,)), ("costs", (COST,))]
)
def test_unsound_books_are_noticed(array, place):
    metric, stops, _, routes, _ = state(8, 3, timed=True)
    assert is_sound(metric, stops, routes)
    getattr(routes, array)[place] += 1.0
    assert not is_sound(metric, stops, routes)
