import itertools

import numpy as np
import pytest

from ncosolve.search import time_warp as tw
from ncosolve.search import windowed_tour as wt


def random_windows(rng, n, integral=True, tight=False, symmetric=False, service=False):
    """Random matrices with ties and zeros; windows that no tour may be able to keep."""
    cost = rng.integers(0, 20, (n, n)).astype(float) if integral else rng.random((n, n)) * 20
    if symmetric:
        cost = cost + cost.T
    np.fill_diagonal(cost, 0.0)
    time = cost + (rng.integers(0, 5, n)[:, None] if service else 0.0)
    ready = rng.integers(0, 6 * n, n).astype(float)
    due = ready + rng.integers(0, 5 if tight else 40, n)
    ready[0], due[0] = 0.0, 12.0 * n
    if rng.random() < 0.3:
        due[rng.integers(n)] = np.inf
    return tw.make_windows(cost, time, ready, due)


def simulate(windows, path):
    """Cost and time warp of a closed tour, visit by visit."""
    clock, warp, cost = float(windows.ready[0]), 0.0, 0.0
    for i, j in itertools.pairwise(path):
        cost += windows.cost[i, j]
        clock = max(clock + windows.time[i, j], windows.ready[j])
        if clock > windows.due[j]:
            warp += clock - windows.due[j]
            clock = float(windows.due[j])
    return cost, warp


def state_of(windows, order, m):
    """A state whose ``tour`` holds the first m nodes of an order, closed, with all its data up to date."""
    state = tw.make_state(windows, order, 0)
    state.tour[: m + 1] = [*order[:m], 0]
    tw.look_forward(windows, state, 1, m)
    tw.look_backward(windows, state, m, m)
    return state


@pytest.mark.parametrize("seed", range(40))
def test_segment_algebra_is_what_a_simulation_says(seed):
    """Any piece, either way round, at any place of any tour: the O(1) lateness is that of the whole tour."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    windows = random_windows(rng, n, integral=seed % 2 == 0, tight=seed % 3 == 0, service=seed % 5 == 0)
    order = np.concatenate([[0], 1 + rng.permutation(n - 1)])
    m = int(rng.integers(1, n))
    state = state_of(windows, order, m)
    nodes = order[m:].copy()
    late = 0
    for k in range(m):
        for step in (1, -1):
            start, stop = (0, len(nodes)) if step == 1 else (len(nodes) - 1, -1)
            piece = tw.piece_of(windows, nodes, start, stop, step)
            inserted = [*order[: k + 1], *nodes[::step], *order[k + 1 : m], 0]
            warp = simulate(windows, inserted)[1]
            told = tw.lateness_with(windows, state, k, nodes[::step][0], nodes[::step][-1], piece)
            assert told == pytest.approx(warp, abs=1e-9)
            late += warp > 0
    assert seed % 3 or late  # the tight ones are late somewhere


@pytest.mark.parametrize("seed", range(20))
def test_prefix_and_suffix_meet_at_every_position(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    windows = random_windows(rng, n, tight=seed % 2 == 0)
    order = np.concatenate([[0], 1 + rng.permutation(n - 1)])
    state = state_of(windows, order, n)
    warp = simulate(windows, [*order, 0])[1]
    for k in range(n):
        arrival = state.clock[k] + windows.time[state.tour[k], state.tour[k + 1]]
        together = state.warp[k] + max(arrival - state.latest[k + 1], 0.0) + state.behind[k + 1]
        assert together == pytest.approx(warp, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_reversal_tells_the_change_of_cost_and_lateness(seed):
    """Where it promises a gain, cost and warp of the reversed tour are what it says; elsewhere there is none."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    windows = random_windows(rng, n, tight=seed % 2 == 0, symmetric=seed % 3 == 0)
    order = np.concatenate([[0], 1 + rng.permutation(n - 1)])
    state = state_of(windows, order, n)
    wt._index_tour(windows, state)
    weight = state.numbers[tw.WEIGHT]
    cost, warp = simulate(windows, [*order, 0])
    for p in range(n - 1):
        for q in range(p + 1, n):
            turned = [*order[: p + 1], *order[p + 1 : q + 1][::-1], *order[q + 1 :], 0]
            new_cost, new_warp = simulate(windows, turned)
            change, value = wt.reversal(windows, state, p, q)
            exact = new_cost - cost + weight * (new_warp - warp)
            if np.isfinite(value):
                assert change == pytest.approx(new_cost - cost, abs=1e-9)
                assert value == pytest.approx(exact, abs=1e-6)
            else:
                assert exact >= -1e-6


@pytest.mark.parametrize("seed", range(60))
def test_search_keeps_its_books_and_never_worsens(seed):
    """With debug on every accepted tour is evaluated anew; the best one is a tour and not worse than the start."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    windows = random_windows(
        rng, n, integral=seed % 2 == 0, tight=seed % 3 == 0, symmetric=seed % 5 == 0, service=seed % 7 == 0
    )
    order = np.concatenate([[0], 1 + rng.permutation(n - 1)])
    start = simulate(windows, [*order, 0])
    state = tw.make_state(windows, order, seed)
    assert (state.numbers[tw.BEST_COST], state.numbers[tw.BEST_LATE]) == pytest.approx(start)
    for temperature in (20.0, 2.0, 0.1):
        assert wt.improve(windows, state, 300, temperature, True)
        assert sorted(state.best[:-1]) == list(range(n))
        assert state.best[0] == state.best[-1] == 0
        cost, warp = simulate(windows, list(state.best))
        assert warp == pytest.approx(state.numbers[tw.BEST_LATE], abs=1e-9)
        assert cost == pytest.approx(state.numbers[tw.BEST_COST])
        assert (round(warp, 9), round(cost, 9)) <= (round(start[1], 9), round(start[0], 9))
        start = cost, warp


def test_all_costs_equal_or_zero():
    """Nothing to gain anywhere must neither loop nor fail."""
    for cost in (np.zeros((9, 9)), np.ones((9, 9)) - np.eye(9)):
        windows = tw.make_windows(cost, cost, np.zeros(9), np.full(9, np.inf))
        state = tw.make_state(windows, np.arange(9), 1)
        assert tw.cost_scale(windows) > 0
        assert wt.improve(windows, state, 500, 1.0, True)
        assert state.numbers[tw.BEST_COST] == cost[0, 1] * 9


def test_a_hopeless_instance_ends():
    """Where no tour is on time the price of lateness stays finite, and the least late tour is kept."""
    n = 6
    cost = np.full((n, n), 10.0) - 10.0 * np.eye(n)
    windows = tw.make_windows(cost, cost, np.zeros(n), np.full(n, 15.0))
    state = tw.make_state(windows, np.arange(n), 1)
    assert wt.improve(windows, state, 20_000, 1.0, True)
    assert np.isfinite(state.numbers).all()
    assert state.numbers[tw.BEST_LATE] == simulate(windows, list(state.best))[1] > 0


def test_equal_seeds_give_equal_tours():
    windows = random_windows(np.random.default_rng(3), 30)
    tours = []
    for seed in (1, 1, 2):
        state = tw.make_state(windows, np.arange(30), seed)
        wt.improve(windows, state, 50, 3.0, False)
        tours.append(state.current.copy())
    assert np.array_equal(tours[0], tours[1])
    assert not np.array_equal(tours[0], tours[2])


def test_wrong_books_are_noticed():
    windows = random_windows(np.random.default_rng(5), 8)
    state = tw.make_state(windows, np.arange(8), 1)
    cost, late = state.numbers[tw.COST], state.numbers[tw.LATE]
    assert wt._agrees(windows, state, cost, late)
    assert not wt._agrees(windows, state, cost + 1, late)
    assert not wt._agrees(windows, state, cost, late + 1)
    state.tour[3] = state.tour[4]
    assert not wt._agrees(windows, state, tw.tour_cost(windows, state.tour), simulate(windows, list(state.tour))[1])


def test_related_nodes_are_sound():
    """Lists hold no depot, no node itself and no repetition, also for three nodes and for duplicates."""
    rng = np.random.default_rng(7)
    for n in (3, 4, 10, 60):
        near = random_windows(rng, n).near
        assert near.shape == (n, min(tw.NEIGHBOURS, n - 2))
        for i, row in enumerate(near):
            assert len(set(row.tolist())) == len(row)
            assert 0 not in row
            assert i not in row
