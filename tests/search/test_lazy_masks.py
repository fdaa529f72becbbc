"""First tours by lazy masks: against brute force, with and without memory, in one search or in slices."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve.search.label_setting import Arcs, tighten
from ncosolve.search.lazy_masks import EXHAUSTED, FOUND, STOPPED, Ground, first_tour, make_ground, make_stack

UNLIMITED = 10**9


def instance(seed, n=7):
    """Arcs with service, ties, broken triangles and narrow windows; about half have a tour."""
    rng = np.random.default_rng(seed)
    time = rng.integers(0, 12, (n, n)).astype(float)
    ready = rng.integers(0, 30, n).astype(float)
    ready[0] = 0.0
    due = ready + rng.integers(0, 25, n)
    due[0] = rng.integers(25, 80)
    return Arcs(time.copy(), time, ready, due)


def clocks(arcs, tour):
    """When visits of a closed tour start; None if one is late."""
    clock, found = arcs.ready[0], [arcs.ready[0]]
    for i, j in itertools.pairwise([*tour, 0]):
        clock = clock + arcs.time[i, j]
        clock = max(clock, arcs.ready[j]) if j else clock
        if clock > arcs.due[j]:
            return None
        found.append(clock)
    return found


def feasible(arcs):
    orders = itertools.permutations(range(1, len(arcs.ready)))
    return [(0, *order) for order in orders if clocks(arcs, (0, *order)) is not None]


def loose_ground(arcs):
    """Without tightening: only the look-ahead's own times."""
    n = len(arcs.ready)
    fastest = arcs.time.copy()
    np.fill_diagonal(fastest, 0.0)
    for k in range(n):
        fastest = np.minimum(fastest, fastest[:, k, None] + fastest[None, k])
    latest = arcs.due[None, :] - fastest
    return Ground(arcs.time, arcs.ready, arcs.due, latest, np.ones((n, n), bool))


def orders(n, seed):
    rng = np.random.default_rng(seed)
    return np.array([1 + rng.permutation(n - 1) for _ in range(n)])


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), memory=st.booleans(), tightened=st.booleans())
def test_a_tour_is_found_exactly_when_there_is_one(seed, memory, tightened):
    arcs = instance(seed)
    tours = feasible(arcs)
    ground = loose_ground(arcs)
    if tightened:
        tight = tighten(arcs)
        if tight is None:
            assert not tours
            return
        ground = make_ground(*tight)
    stack = make_stack(7, 1 << 10 if memory else 1)
    outcome, _ = first_tour(ground, stack, orders(7, seed), UNLIMITED)
    assert outcome == (FOUND if tours else EXHAUSTED)
    if tours:
        assert tuple(stack.tour.tolist()) in tours
        assert stack.clock.tolist() == clocks(arcs, stack.tour.tolist())[:-1]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_memory_changes_no_answer_and_saves_steps(seed):
    arcs = instance(seed, 8)
    ground, order = loose_ground(arcs), orders(8, seed)
    with_memory, without = make_stack(8), make_stack(8, 1)
    outcome, steps = first_tour(ground, with_memory, order, UNLIMITED)
    plain, most = first_tour(ground, without, order, UNLIMITED)
    assert outcome == plain
    assert steps <= most
    if outcome == FOUND:
        assert with_memory.tour.tolist() == without.tour.tolist()
    tours = feasible(arcs)
    for place in np.flatnonzero(with_memory.dead_last >= 0):
        last, late = int(with_memory.dead_last[place]), with_memory.dead_clock[place]
        visited = {node for node in range(8) if int(with_memory.dead_set[place, 0]) >> node & 1}
        for tour in tours:  # no tour passes a dead end that late
            at = tour.index(last)
            assert set(tour[1 : at + 1]) != visited or clocks(arcs, tour)[at] < late


@pytest.mark.parametrize("seed", range(20))
def test_slices_come_to_the_same_end(seed):
    """Restarts with other orders lose nothing, for dead ends are remembered."""
    arcs = instance(seed, 8)
    ground, stack = loose_ground(arcs), make_stack(8)
    for again in range(2000):
        outcome, steps = first_tour(ground, stack, orders(8, again), 3)
        assert steps <= 3
        if outcome != STOPPED:
            break
    assert outcome == (FOUND if feasible(arcs) else EXHAUSTED)


def test_many_words():
    """More nodes than fit into one word of a set: on a line, in order."""
    n = 150
    x = np.arange(n, dtype=float)
    time = np.abs(x[:, None] - x)
    due = np.append(2.0 * n, x[1:])
    ground = loose_ground(Arcs(time, time, np.zeros(n), due))
    stack = make_stack(n)
    outcome, steps = first_tour(ground, stack, orders(n, 0), 10)
    assert (outcome, steps) == (FOUND, 0)
    assert stack.tour.tolist() == list(range(n))
