import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncosolve
from ncosolve.engines.arrays import metric_of
from ncosolve.search import lin_kernighan as lk
from ncosolve.search.k_opt import make_tour
from ncosolve.search.metric import computed, tabulated
from ncosolve.search.neighbours import nearest
from ncosolve.search.random import seed_state


def start(metric, n, seed=0):
    lists = nearest(metric, 5)
    order = np.random.default_rng(seed).permutation(n).astype(np.int32)
    return lists, lk.lengths_of(metric, lists), make_tour(order, lk.tour_length(metric, order))


def points(n, seed, grid=1000):
    return computed("euclidean", "nint", np.random.default_rng(seed).integers(0, grid, (n, 2)).astype(float))


@settings(max_examples=60, deadline=None)
@given(st.integers(8, 60), st.integers(0, 10**6), st.sampled_from([2, 10, 1000]))
def test_gains_are_what_they_say(n, seed, grid):
    """Ties, duplicates and zero distances included; order and position stay inverse to each other."""
    metric = points(n, seed, grid)
    lists, near, tour = start(metric, n, seed)
    before = tour.length[0]
    lk.push_all(tour, tour.order)
    gain = lk.descend(metric, lists, near, lk.FREE, tour)
    assert tour.length[0] == before - gain == lk.tour_length(metric, tour.order)
    assert np.array_equal(tour.order[tour.position], np.arange(n))
    for k in range(5):
        kept = lk.iterate(metric, lists, near, lk.FREE, tour, seed_state(k), 20, float(5 - k), True)
        assert kept != lk.MISMATCH


@settings(max_examples=40, deadline=None)
@given(st.integers(8, 60), st.integers(0, 10**6))
def test_what_is_not_kept_leaves_no_trace(n, seed):
    """At temperature 0 the tour never gets longer, and one that is as long may be another."""
    metric = points(n, seed)
    lists, near, tour = start(metric, n, seed)
    lk.push_all(tour, tour.order)
    lk.descend(metric, lists, near, lk.FREE, tour)
    for k in range(30):
        order, length = tour.order.copy(), tour.length[0]
        kept = lk.iterate(metric, lists, near, lk.FREE, tour, seed_state(k), 1, 0.0, True)
        assert kept or np.array_equal(tour.order, order)
        assert tour.length[0] <= length + 1e-9


@settings(max_examples=40, deadline=None)
@given(st.integers(5, 30), st.integers(0, 10**6))
def test_fixed_edges_stay(half, seed):
    n = 2 * half
    metric = points(n, seed)
    lists, near, tour = start(metric, n, seed)
    mates = np.empty(n, np.int32)
    mates[tour.order] = tour.order[np.arange(n) ^ 1]
    lk.push_all(tour, tour.order)
    lk.descend(metric, lists, near, mates, tour)
    assert lk.iterate(metric, lists, near, mates, tour, seed_state(1), 200, 10.0, True) > 0
    beside = {int(v): {int(tour.order[k - 1]), int(tour.order[(k + 1) % n])} for k, v in enumerate(tour.order)}
    assert all(int(mates[v]) in beside[v] for v in range(n))


def test_no_exchange_of_two_edges_is_left():
    """Brute force over all 2-opt moves within the candidates."""
    coords = np.random.default_rng(2).integers(0, 1000, (25, 2)).astype(float)
    metric = computed("euclidean", "exact", coords)
    lists = nearest(metric, 24)[:, :5]
    tour = make_tour(np.arange(25, dtype=np.int32), lk.tour_length(metric, np.arange(25, dtype=np.int32)))
    lk.push_all(tour, tour.order)
    lk.descend(metric, lists, lk.lengths_of(metric, lists), lk.FREE, tour)
    for i in range(24):
        for j in range(i + 1, 25):
            other = tour.order.copy()
            other[i : j + 1] = other[i : j + 1][::-1]
            joined = int(other[i - 1]), int(other[i])
            if joined[1] in lists[joined[0]] or joined[0] in lists[joined[1]]:
                assert lk.tour_length(metric, other) >= tour.length[0] - 1e-6


@pytest.mark.parametrize(
    ("name", "optimum"), [("berlin52", 7542), ("att48", 10628), ("kroA100", 21282), ("gr24", 1272)]
)
def test_known_optima_are_found(name, optimum):
    instance = ncosolve.read(name)
    metric = metric_of(instance.distance)
    lists, near, tour = start(metric, instance.n)
    lk.push_all(tour, tour.order)
    lk.descend(metric, lists, near, lk.FREE, tour)
    best, rng = tour.length[0], seed_state(0)
    for k in range(60):
        lk.iterate(metric, lists, near, lk.FREE, tour, rng, 500, 0.5 * tour.length[0] / instance.n * (1 - k / 60), True)
        best = min(best, tour.length[0])
    assert best == optimum


def test_a_matrix_and_its_points_give_the_same_tours():
    coords = np.random.default_rng(3).integers(0, 1000, (60, 2)).astype(float)
    by_points = computed("euclidean", "nint", coords)
    table = np.floor(np.hypot(*(coords[:, None] - coords[None]).transpose(2, 0, 1)) + 0.5)
    tours = []
    for metric in (by_points, tabulated(table)):
        lists, near, tour = start(by_points, 60)
        lk.push_all(tour, tour.order)
        lk.descend(metric, lists, near, lk.FREE, tour)
        lk.iterate(metric, lists, near, lk.FREE, tour, seed_state(4), 300, 5.0, True)
        tours.append(tour.order.copy())
    assert np.array_equal(*tours)
