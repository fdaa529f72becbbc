import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve.search import ab_cycles as ab
from ncosolve.search import edge_assembly as ea
from ncosolve.search import sub_tours
from ncosolve.search.lin_kernighan import tour_length
from ncosolve.search.metric import computed
from ncosolve.search.neighbours import nearest
from ncosolve.search.random import seed_state
from ncosolve.search.random_tour import random_tour


def pair(n, seed, grid=1000):
    rng = np.random.default_rng(seed)
    metric = computed("euclidean", "nint", rng.integers(0, grid, (n, 2)).astype(float))
    tours = np.empty((2, n, 2), np.int32)
    for tour in tours:
        ab.links_of(rng.permutation(n).astype(np.int32), tour)
    return metric, nearest(metric, 10), tours[0], tours[1]


def edges(links):
    """The multiset of edges, each once."""
    ends = Counter(tuple(sorted((v, int(w)))) for v, row in enumerate(links) for w in row)
    return Counter({edge: count // 2 for edge, count in ends.items()})


def cycle_edges(s, c, side):
    nodes = s.cycle[s.start[c] : s.start[c + 1]].tolist()
    return Counter(tuple(sorted((nodes[k], nodes[(k + 1) % len(nodes)]))) for k in range(side, len(nodes), 2))


def parts(links):
    """The sizes of the sub-tours, by a flood fill."""
    left, sizes = set(range(len(links))), []
    while left:
        wave, seen = [left.pop()], 1
        while wave:
            wave = [int(w) for v in wave for w in links[v] if int(w) in left and not left.discard(int(w))]
            seen += len(wave)
        sizes.append(seen)
    return sorted(sizes)


@settings(max_examples=150, deadline=None)
@given(st.integers(5, 40), st.integers(0, 10**9))
def test_cycles_are_made_of_what_the_tours_are(n, seed):
    """Even, of at least four edges, alternating, and all of them together with the shared edges that are left over."""
    metric, _, a, b = pair(n, seed)
    s = ab.make_scratch(n)
    found = ab.ab_cycles(metric, a, b, s, seed_state(seed), n)
    of_a, of_b = Counter(), Counter()
    for c in range(found):
        size = s.start[c + 1] - s.start[c]
        assert size >= 4
        assert size % 2 == 0
        of_a += cycle_edges(s, c, 0)
        of_b += cycle_edges(s, c, 1)
    assert edges(a) - of_a == edges(b) - of_b
    assert of_a <= edges(a)
    assert of_b <= edges(b)
    for c in range(found):
        ab.apply_cycle(a, s, c)
    assert edges(a) == edges(b)


@settings(max_examples=150, deadline=None)
@given(st.integers(5, 40), st.integers(0, 10**9), st.floats(0.1, 1.0))
def test_exchanges_are_labelled_joined_and_undone(n, seed, share):
    metric, lists, a, b = pair(n, seed, 30)
    s, rng = ab.make_scratch(n), np.random.default_rng(seed)
    before, length = a.copy(), tour_length(metric, ab.order_of(a))
    found = ab.ab_cycles(metric, a, b, s, seed_state(seed), n)
    ea._walk_down(a, s)
    chosen = [c for c in range(found) if rng.random() < share] or [0][:found]
    s.chosen[: len(chosen)] = chosen
    s.counts[ab.CHOSEN] = len(chosen)
    tours = sub_tours.label_tours(s)
    sizes = sorted(s.tours[:tours, 0].tolist())
    gain = 0.0
    for c in chosen:
        ab.apply_cycle(a, s, c)
        gain += s.gain[c]
    assert sizes == parts(a)
    for v in range(n):
        assert 0 <= sub_tours.tour_at(s, v) < tours
    gain += sub_tours.merge(metric, lists, a, s, tours)
    order = ab.order_of(a)
    assert sorted(order) == list(range(n))
    assert tour_length(metric, order) == pytest.approx(length - gain)
    sub_tours.unmerge(a, s)
    for c in reversed(chosen):
        ab.take_cycle_back(a, s, c)
    assert np.array_equal(np.sort(a), np.sort(before))


def entropy(tours):
    total = sum((edges(tour) for tour in tours), Counter())
    return -sum(count / len(tours) * math.log(count / len(tours)) for count in total.values())


@pytest.mark.parametrize("block", [False, True])
@settings(max_examples=40, deadline=None)
@given(st.integers(8, 60), st.integers(0, 10**9), st.sampled_from([3, 1000]))
def test_books_are_right_after_generations(block, n, seed, grid):
    """Lengths and counts are what a recount says, tours stay tours, and none gets longer."""
    metric, lists, *_ = pair(n, seed, grid)
    rng, members = seed_state(seed), 6
    tours, table = np.empty((members, n, 2), np.int32), ea.make_edges(n)
    for tour in tours:
        ab.links_of(random_tour(metric, lists, rng), tour)
        ea.count_tour(table, tour)
    lengths = np.array([tour_length(metric, ab.order_of(tour)) for tour in tours])
    s = ab.make_scratch(n)
    for _ in range(5):
        before = lengths.copy()
        ea.mate(metric, lists, tours, lengths, np.arange(members), 0, members, table, 10, block, s, rng)
        assert (lengths <= before).all()
    recount = ea.make_edges(n)
    for tour, length in zip(tours, lengths, strict=True):
        order = ab.order_of(tour)
        assert sorted(order) == list(range(n))
        assert tour_length(metric, order) == pytest.approx(length)
        ea.count_tour(recount, tour)
    assert counts(table) == counts(recount)


def counts(table):
    pairs = table.reshape(len(table), -1, 2)
    return {(u, int(v)): int(count) for u, row in enumerate(pairs) for v, count in row if count > 0}


@settings(max_examples=40, deadline=None)
@given(st.integers(8, 40), st.integers(0, 10**9))
def test_the_change_of_entropy_is_that_of_a_recount(n, seed):
    metric, lists, a, b = pair(n, seed)
    s, table = ab.make_scratch(n), ea.make_edges(n)
    for tour in (a, b):
        ea.count_tour(table, tour)
    before = entropy([a, b])
    found = ab.ab_cycles(metric, a, b, s, seed_state(seed), 1)
    if found == 0:
        return  # the tours are the same
    ea._walk_down(a, s)
    s.chosen[0] = 0
    s.counts[ab.CHOSEN] = 1
    tours = sub_tours.label_tours(s)
    ab.apply_cycle(a, s, 0)
    sub_tours.merge(metric, lists, a, s, tours)
    old = table.copy()
    change = ea._count_exchange(table, s, 2)
    assert change == pytest.approx(entropy([a, b]) - before, abs=1e-9)
    ea._uncount(table, s)
    assert counts(table) == counts(old)


def test_equal_tours_have_no_children():
    metric, lists, a, _ = pair(30, 1)
    b, table = a[:, ::-1].copy(), ea.make_edges(30)
    ea.count_tour(table, a)
    ea.count_tour(table, b)
    assert ea.cross(metric, lists, a, b, table, 2, 30, False, ab.make_scratch(30), seed_state(1)) == 0.0


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 60), st.integers(0, 10**9))
def test_random_tours_are_tours(n, seed):
    metric = computed("euclidean", "nint", np.random.default_rng(seed).integers(0, 9, (n, 2)).astype(float))
    lists = nearest(metric, 10)
    one, other = (random_tour(metric, lists, seed_state(k)) for k in (seed, seed))
    assert sorted(one) == list(range(n))
    assert np.array_equal(one, other)
