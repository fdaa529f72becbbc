import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncosolve
from ncosolve.engines import tour_regions, tour_search
from ncosolve.engines.arrays import metric_of
from ncosolve.engines.tour_ground import prepare
from ncosolve.engines.tour_regions import Board, cells, cut, restored
from ncosolve.search.lin_kernighan import MISMATCH, descend, iterate, push_all, tour_length
from ncosolve.search.random import seed_state
from ncosolve.solving import solve

GROUND = prepare(metric_of(ncosolve.generate("tsp", 1600, seed=1).distance))


def path_length(path):
    return tour_length(GROUND.metric, path) - tour_length(GROUND.metric, path[[0, -1]]) / 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 0.6, 1.0]), st.booleans())
def test_a_region_is_put_back_as_it_was_counted(seed, share, compact):
    """A stretch of any tour, any nodes in it: the same nodes between the same ends, shorter by what the region won."""
    rng = np.random.default_rng(seed)
    tour = np.arange(1600) if compact else rng.permutation(1600)
    path = tour[: rng.integers(300, 1201)].astype(np.int32)
    nodes = rng.choice(path, int(share * len(path)), replace=False)
    region = cut(GROUND, path, nodes)
    if region is None:
        return
    assert np.array_equal(restored(region, path), path)
    state = region.state
    push_all(state, state.order)
    descend(region.metric, region.lists, region.near, region.mates, state)
    kept = iterate(
        region.metric, region.lists, region.near, region.mates, state, seed_state(seed), 50, 1000.0, debug=True
    )
    assert kept != MISMATCH
    after = restored(region, path)
    assert sorted(after) == sorted(path)
    assert (after[0], after[-1]) == (path[0], path[-1])
    assert path_length(path) - path_length(after) == pytest.approx(region.before - state.length[0], abs=1e-3)


def test_cells_are_small_and_hold_every_node_once(monkeypatch):
    monkeypatch.setattr(tour_regions, "SIZE", 150)
    rng = seed_state(1)
    first, second = (cells(GROUND.metric.points, np.arange(1600, dtype=np.int32), rng) for _ in range(2))
    for parts in (first, second):
        assert sorted(np.concatenate(parts)) == list(range(1600))
        assert max(map(len, parts)) <= 150
    assert {frozenset(part) for part in first}.isdisjoint({frozenset(part) for part in second})


@pytest.mark.parametrize("searches", [1, 2, 3, 4, 7])
def test_no_two_searches_have_a_node_at_the_same_time(searches):
    board, rng = Board(GROUND, np.arange(1600, dtype=np.int32), searches), seed_state(3)
    held = {}
    for turn in range(600):
        owner = turn % searches if turn < searches else int(rng[0] >> np.uint64(33)) % searches
        held[owner] = set(board.take(owner, rng).tolist())
        assert sum(map(len, held.values())) == len(set.union(*held.values()))


@pytest.mark.parametrize("threads", [1, 2])
def test_long_tours_are_searched_by_regions(threads, monkeypatch):
    monkeypatch.setattr(tour_search, "LARGEST_WHOLE", 1000)
    monkeypatch.setattr(tour_regions, "SIZE", 400)
    instance = ncosolve.generate("tsp", 2000, seed=1)
    whole = solve(instance, max_iterations=1)
    solution = solve(instance, max_iterations=4000, threads=threads)
    assert solution.bound <= solution.cost < 1.06 * solution.bound
    assert solution.cost < whole.cost
    again = solve(instance, max_iterations=200, threads=threads, start=solution.tour)
    assert again.cost <= solution.cost


def test_equal_seeds_give_equal_long_tours(monkeypatch):
    monkeypatch.setattr(tour_search, "LARGEST_WHOLE", 1000)
    instance = ncosolve.generate("tsp", 1800, seed=2)
    first, again, other = (solve(instance, max_iterations=1500, seed=s) for s in (1, 1, 2))
    assert np.array_equal(first.tour, again.tour)
    assert not np.array_equal(first.tour, other.tour)
