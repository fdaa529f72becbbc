import itertools

import numpy as np
import pytest

from ncosolve.search.label_setting import (
    Arcs,
    Labels,
    Limits,
    LookAhead,
    conflict,
    fastest,
    grow,
    reduced_costs,
    shortest_tour,
    tighten,
    undominated,
)

LINE = np.array([0.0, 3, 2, -6, -2, 1])
"""The worked example of the look-ahead: customers on a line."""


def line_arcs():
    distance = np.abs(LINE[:, None] - LINE[None, :])
    return Arcs(distance, distance, np.array([0.0, 3, 3, 8, 0, 3]), np.array([99.0, 9, 10, 13, 16, 10]))


def random_arcs(rng, n, width, metric=False, zeros=False):
    """Integer arcs, asymmetric unless metric, with windows around a hidden tour or anywhere."""
    cost = rng.integers(0, 3 if zeros else 20, (n, n)).astype(float)
    if metric:
        xy = rng.integers(0, 10, (n, 2))
        cost = np.floor(np.hypot(*(xy[:, None] - xy[None, :]).transpose(2, 0, 1)))
    np.fill_diagonal(cost, 0.0)
    ready = rng.integers(0, 8 * n, n).astype(float)
    due = ready + rng.integers(0, width, n)
    ready[0], due[0] = rng.integers(0, 3), 20.0 * n
    return Arcs(cost, cost + rng.integers(0, 3, n)[:, None], ready, due)


def schedule(arcs, tour):
    """Start times along a tour and the return, or None where a window is missed."""
    clock, times = arcs.ready[0], [arcs.ready[0]]
    for i, j in zip(tour, [*tour[1:], 0], strict=True):
        clock = max(clock + arcs.time[i, j], arcs.ready[j])
        if clock > arcs.due[j]:
            return None
        times.append(clock)
    return times


def feasible_tours(arcs):
    for rest in itertools.permutations(range(1, len(arcs.ready))):
        times = schedule(arcs, (0, *rest))
        if times is not None:
            yield (0, *rest), times


def cost_of(arcs, tour):
    return float(arcs.cost[list(tour), [*tour[1:], 0]].sum())


@pytest.mark.parametrize("seed", range(120))
def test_it_agrees_with_brute_force(seed):
    """Feasible if and only if some order is, and then the cheapest of all orders."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    arcs = random_arcs(rng, n, [10, 40, 100][seed % 3], metric=seed % 4 == 0, zeros=seed % 5 == 0)
    best = min((cost_of(arcs, tour) for tour, _ in feasible_tours(arcs)), default=np.inf)
    found = shortest_tour(arcs)
    assert found.complete
    assert found.cost == best
    assert (found.nodes is None) == np.isinf(best)
    if found.nodes is not None:
        assert schedule(arcs, found.nodes.tolist()) is not None
        assert cost_of(arcs, found.nodes.tolist()) == best
        above = shortest_tour(arcs, upper=best + 0.5)
        assert above.cost == best
        below = shortest_tour(arcs, upper=best)
        assert below.complete
        assert below.nodes is None


def test_brute_force_saw_both_kinds():
    """The instances above are a fair mix of feasible and infeasible ones."""
    verdicts = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        arcs = random_arcs(rng, n, [10, 40, 100][seed % 3], metric=seed % 4 == 0, zeros=seed % 5 == 0)
        verdicts.append(shortest_tour(arcs).nodes is not None)
    assert 20 < sum(verdicts) < 100


@pytest.mark.parametrize("seed", range(40))
def test_tightening_loses_no_tour(seed):
    """Every feasible tour uses allowed arcs only and keeps the narrowed windows."""
    rng = np.random.default_rng(seed)
    arcs = random_arcs(rng, int(rng.integers(2, 7)), [15, 40, 80][seed % 3], metric=seed % 2 == 0)
    tours = list(feasible_tours(arcs))
    tight = tighten(arcs)
    if tight is None:
        assert not tours
        return
    narrow, latest = tight
    assert (narrow.ready >= arcs.ready).all()
    assert (narrow.due <= arcs.due).all()
    for tour, times in tours:
        for i, j in zip(tour, [*tour[1:], 0], strict=True):
            assert np.isfinite(narrow.cost[i, j])
        for i, start in zip(tour[1:], times[1:], strict=False):
            assert max(start, narrow.ready[i]) <= narrow.due[i] + 1e-9
        for a, i in enumerate(tour):
            for j in [*tour[a + 1 :], 0]:
                assert times[a] <= latest[i, j] + 1e-9


def test_tightening_finds_the_only_order():
    """On a path whose windows leave one order only, just its arcs remain."""
    n = 6
    place = np.arange(n, dtype=float)
    distance = np.abs(place[:, None] - place[None, :])
    narrow, _ = tighten(Arcs(distance, distance, place, place.copy() + np.array([20.0, 0, 0, 0, 0, 0])))
    assert np.isfinite(narrow.cost).sum() == n


@pytest.mark.parametrize("seed", range(20))
def test_reduced_costs_bound_every_tour(seed):
    """They are not negative, and with the bound they add up to the cost of any tour."""
    rng = np.random.default_rng(seed)
    n = 6
    cost = rng.integers(0, 30, (n, n)).astype(float)
    cost[rng.random((n, n)) < 0.2] = np.inf
    np.fill_diagonal(cost, np.inf)
    reduced, bound = reduced_costs(cost)
    if np.isinf(bound):
        rows = [np.flatnonzero(np.isfinite(row)) for row in cost]
        assert not any(len(set(choice)) == n for choice in itertools.product(*rows))
        return
    assert (reduced >= 0).all()
    for rest in itertools.permutations(range(1, n)):
        tour = (0, *rest)
        exact = cost[list(tour), [*rest, 0]].sum()
        if np.isfinite(exact):
            assert bound + reduced[list(tour), [*rest, 0]].sum() == pytest.approx(exact)
            assert bound <= exact + 1e-9
        else:
            assert np.isinf(reduced[list(tour), [*rest, 0]].sum())


def open_after(arcs, look, path):
    """Which nodes the look-ahead leaves open behind a path."""
    clock = schedule_open(arcs, path)
    options = []
    for j in set(range(1, len(arcs.ready))) - set(path):
        start = max(clock + arcs.time[path[-1], j], arcs.ready[j])
        visited = sum(1 << k for k in {*path[1:], j})
        label = Labels(
            np.array([[visited]], np.uint64), np.array([j]), np.array([0]), np.array([start]), np.array([0.0])
        )
        if start <= arcs.due[j] and look.possible(label)[0]:
            options.append(j)
    return sorted(options)


def schedule_open(arcs, path):
    clock = arcs.ready[0]
    for i, j in itertools.pairwise(path):
        clock = max(clock + arcs.time[i, j], arcs.ready[j])
    return clock


def test_look_ahead_on_the_worked_example():
    """Nearest first runs into two dead ends; the sets on the way are those of the paper by hand."""
    arcs = line_arcs()
    look = LookAhead(arcs.due[None, :] - fastest(arcs.time))
    expected = {
        (0,): [1, 2, 4, 5],
        (0, 5): [2],
        (0, 5, 2): [],
        (0, 2): [1, 5],
        (0, 2, 1): [5],
        (0, 2, 1, 5): [4],
        (0, 2, 1, 5, 4): [3],
    }
    assert {path: open_after(arcs, look, path) for path in expected} == expected
    found = shortest_tour(arcs)
    best = min(cost_of(arcs, tour) for tour, _ in feasible_tours(arcs))
    assert found.cost == best <= 18.0


def test_look_ahead_needs_the_fastest_way():
    """With floored distances the direct arc can be slower than a detour, and the only tour must survive."""
    distance = np.array([[0.0, 1, 5], [1, 0, 1], [5, 1, 0]])
    arcs = Arcs(distance, distance, np.zeros(3), np.array([9.0, 2, 2]))
    assert shortest_tour(arcs).nodes.tolist() == [0, 1, 2]


def test_dominated_labels_are_dropped():
    """Of one set and last node the Pareto front stays, of equal labels one; other sets are not touched."""
    word = np.array([[6], [6], [6], [6], [6], [10]], np.uint64)
    labels = Labels(
        word,
        np.array([1, 1, 1, 1, 2, 1]),
        np.arange(6),
        np.array([5.0, 4, 6, 5, 9, 9]),
        np.array([3.0, 7, 3, 3, 9, 9]),
    )
    kept = undominated(labels)
    rows = sorted(
        zip(kept.visited[:, 0].tolist(), kept.last.tolist(), kept.time.tolist(), kept.cost.tolist(), strict=True)
    )
    assert rows == [(6, 1, 4.0, 7.0), (6, 1, 5.0, 3.0), (6, 2, 9.0, 9.0), (10, 1, 9.0, 9.0)]


def test_more_than_64_nodes():
    """Sets of several words: neighbours on a line whose windows allow swaps only."""
    rng = np.random.default_rng(1)
    n = 150
    place = np.concatenate([[0], np.sort(rng.integers(0, 1000, n - 1))]).astype(float)
    distance = np.abs(place[:, None] - place[None, :])
    order = np.concatenate([[0], 1 + rng.permutation(n - 1)])
    arcs = Arcs(distance[np.ix_(order, order)], distance[np.ix_(order, order)], place[order] - 1.0, place[order] + 30.0)
    arcs.ready[0], arcs.due[0] = 0.0, 5000.0
    found = shortest_tour(arcs)
    assert found.complete
    assert found.cost == 2 * place[-1]
    assert sorted(found.nodes) == list(range(n))
    assert schedule(arcs, found.nodes.tolist()) is not None


def test_limits_end_the_search_without_a_claim():
    """Too many labels, a clock that has run out and a beam that cut leave the question open."""
    rng = np.random.default_rng(2)
    distance = rng.random((12, 12))
    arcs = Arcs(distance, distance, np.zeros(12), np.full(12, np.inf))
    exact = shortest_tour(arcs)
    assert exact.complete
    few = shortest_tour(arcs, limits=Limits(labels=100))
    assert (few.nodes, few.complete) == (None, False)
    late = shortest_tour(arcs, limits=Limits(over=lambda: True))
    assert (late.nodes, late.complete) == (None, False)
    beam = shortest_tour(arcs, limits=Limits(width=3))
    assert not beam.complete
    assert beam.cost >= exact.cost - 1e-12
    assert sorted(beam.nodes) == list(range(12))


def test_grow_counts_levels():
    """Without windows the levels hold one label for each set and last node."""
    rng = np.random.default_rng(4)
    distance = rng.random((6, 6))
    arcs = Arcs(distance, np.zeros((6, 6)), np.zeros(6), np.full(6, np.inf))
    levels, complete = grow(arcs, lambda labels: np.ones(len(labels), bool), Limits())
    assert complete
    assert [len(level) for level in levels] == [1, 5, 20, 30, 20, 5]


@pytest.mark.parametrize("seed", range(25))
def test_a_conflict_is_real_and_smallest(seed):
    """No order visits the named nodes in time, by whatever detours; leaving out any one of them there is one."""
    rng = np.random.default_rng(seed)
    arcs = random_arcs(rng, 7, 15, metric=True)
    nodes = conflict(arcs, Limits())
    if shortest_tour(arcs).nodes is not None:
        assert len(nodes) == 0
        return
    way = fastest(arcs.time)

    def visitable(some):
        return any(
            schedule(Arcs(way, way, arcs.ready, arcs.due), (0, *order)) is not None
            for order in itertools.permutations(some)
        )

    if len(nodes):
        assert not visitable(nodes.tolist())
        for node in nodes.tolist():
            assert visitable([other for other in nodes.tolist() if other != node])
