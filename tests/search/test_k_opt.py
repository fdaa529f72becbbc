import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve.search import k_opt


def edges(order):
    return {frozenset((int(order[k - 1]), int(order[k]))) for k in range(len(order))}


def exchanged(tour, k, rng):
    """Put a random exchange of k edges into the slots; the edges of the tour after it, as a list."""
    n = len(tour.order)
    cuts = rng.permutation(n)[:k]
    nodes = []
    for m, p in enumerate(cuts):
        ends = [int(tour.order[p]), int(tour.order[(p + 1) % n])]
        turned = int(rng.integers(2))
        tour.slots[k_opt.NEAR, m], tour.slots[k_opt.AT, m] = 2 * m + turned, p
        nodes += ends[::-1] if turned else ends
    tour.slots[k_opt.NODE, : 2 * k] = nodes
    left = [frozenset((int(tour.order[p]), int(tour.order[(p + 1) % n]))) for p in range(n) if p not in cuts]
    return left + [frozenset((nodes[s], nodes[(s + 1) % (2 * k)])) for s in range(1, 2 * k, 2)]


def is_one_tour(links, n):
    """By a flood fill over a list of edges."""
    near = {v: [] for v in range(n)}
    for link in links:
        ends = tuple(link)
        if len(ends) == 1:
            return False
        near[ends[0]].append(ends[1])
        near[ends[1]].append(ends[0])
    seen, wave = {0}, [0]
    while wave:
        wave = [w for v in wave for w in near[v] if w not in seen and not seen.add(w)]
    return len(seen) == n and all(len(each) == 2 for each in near.values())


@settings(max_examples=300, deadline=None)
@given(st.integers(8, 20), st.integers(2, 5), st.integers(0, 10**9))
def test_an_exchange_is_a_tour_exactly_where_its_edges_are_one(n, k, seed):
    rng = np.random.default_rng(seed)
    tour = k_opt.make_tour(rng.permutation(n).astype(np.int32), 0.0)
    after = exchanged(tour, k, rng)
    nodes = tour.slots[k_opt.NODE, : 2 * k]
    proper = all(nodes[s] != nodes[(s + 1) % (2 * k)] for s in range(1, 2 * k, 2))
    if not proper:
        return  # an edge from a node to itself is never looked at
    assert _is_tour(tour, k) == is_one_tour(after, n)


@settings(max_examples=300, deadline=None)
@given(st.integers(8, 30), st.integers(2, 5), st.integers(0, 10**9))
def test_exchanges_are_made_and_undone_to_the_byte(n, k, seed):
    rng = np.random.default_rng(seed)
    tour = k_opt.make_tour(rng.permutation(n).astype(np.int32), 0.0)
    order, position = tour.order.copy(), tour.position.copy()
    made = 0
    for _ in range(20):
        after = exchanged(tour, k, rng)
        if is_one_tour(after, n) and _is_tour(tour, k):
            _exchange(tour, k)
            made += 1
            assert edges(tour.order) == set(after)
            assert np.array_equal(tour.order[tour.position], np.arange(n))
    assert tour.counts[k_opt.WRITES] == made
    k_opt.undo(tour)
    assert np.array_equal(tour.order, order)
    assert np.array_equal(tour.position, position)
    assert tour.counts[k_opt.WRITES] == tour.counts[k_opt.FILLED] == 0


def _is_tour(tour, k):
    return bool(k_opt.is_tour(tour.slots, k))


def _exchange(tour, k):
    tour.counts[k_opt.KEEPS] = 1
    k_opt.exchange(tour, k)
