import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncosolve
from ncosolve.engines.arrays import metric_of
from ncosolve.search import candidates
from ncosolve.search.candidates import (
    WIDE,
    Graph,
    alpha_nearest,
    ascend,
    bounding_graph,
    nearest_around,
    sparse_graph,
)
from ncosolve.search.greedy_tour import GREEDY, greedy_tour
from ncosolve.search.lin_kernighan import tour_length
from ncosolve.search.metric import computed, tabulated
from ncosolve.search.neighbours import nearest
from ncosolve.search.one_tree import one_tree


def complete(coords, price):
    n = len(coords)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    lengths = np.array([np.hypot(*(coords[i] - coords[j])) for i, j in pairs])
    return Graph(np.arange(n + 1) * (n - 1), np.array([j for _, j in pairs], np.int32), lengths)


@pytest.mark.parametrize("seed", range(10))
def test_alpha_is_how_much_longer_a_tree_with_the_edge_is(seed):
    """Against the definition, with trees by another library."""
    rng = np.random.default_rng(seed)
    coords, price = rng.random((9, 2)), 0.2 * rng.random(9)
    lists = alpha_nearest(complete(coords, price), price, 8)
    full = nx.Graph()
    for i, j in itertools.combinations(range(9), 2):
        full.add_edge(i, j, weight=float(np.hypot(*(coords[i] - coords[j])) + price[i] + price[j]))
    tree = nx.minimum_spanning_tree(full)

    def alpha(i, j):
        path = nx.shortest_path(tree, i, j)
        return full[i][j]["weight"] - max(full[u][v]["weight"] for u, v in itertools.pairwise(path))

    for i in range(9):
        alphas = [alpha(i, int(j)) for j in lists[i]]
        assert sorted(lists[i]) == sorted(set(range(9)) - {i})
        assert all(one <= other + 1e-9 for one, other in itertools.pairwise(alphas))


@pytest.mark.parametrize("seed", range(5))
def test_the_ascent_ends_between_a_tree_and_the_shortest_tour(seed):
    coords = np.random.default_rng(seed).random((9, 2))
    graph, price = complete(coords, np.zeros(9)), np.zeros(9)
    first = ascend(graph, price, 1, 0.0)
    price[:] = 0.0
    shortest = ncosolve.solve(ncosolve.TSP(coords=coords), "exact").cost
    bound = ascend(graph, price, 100, shortest)
    assert first <= bound <= shortest + 1e-9
    assert bound > 0.97 * shortest


@settings(max_examples=100, deadline=None)
@given(st.integers(3, 7), st.integers(0, 10**6), st.sampled_from([1, 3, 100]), st.integers(1, 6), st.integers(0, 2))
def test_a_bound_is_never_above_the_optimum(n, seed, grid, width, hubs):
    """For any symmetric matrix, metric or not, however few edges are known, and whatever the prices."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, grid + 1, (n, n)).astype(float)
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, 0)
    orders = itertools.permutations(range(1, n))
    optimum = min(sum(table[a, b] for a, b in itertools.pairwise((0, *order, 0))) for order in orders)
    metric, order = tabulated(table), rng.permutation(n).astype(np.int32)
    lists, price = nearest(metric, width), rng.normal(0, grid, n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "HUBS", hubs)
        graph = bounding_graph(metric, lists, order, price)
    assert ascend(graph, price.copy(), 1, 0.0) <= optimum + 1e-9


def test_a_bounding_graph_costs_little_of_the_bound():
    """Against 1-trees on all edges, for prices from an ascent."""
    metric = metric_of(ncosolve.generate("tsp", 400, seed=1).distance)
    lists, price = nearest(metric, WIDE), np.zeros(400)
    tour = greedy_tour(metric, lists[:, :GREEDY])
    ascend(sparse_graph(metric, lists, tour), price, 100, 0.9 * tour_length(metric, tour))
    full = one_tree(metric, price, np.empty(400, np.int32))
    assert 0.998 * full < ascend(bounding_graph(metric, lists, tour, price), price.copy(), 1, 0.0) <= full + 1e-6


def test_the_nearest_around_a_node_are_on_all_its_sides():
    coords = np.random.default_rng(0).random((2000, 2))
    metric = computed("euclidean", "exact", coords)
    lists = nearest(metric, WIDE)
    around = nearest_around(metric, lists, 5)
    for node in range(0, 2000, 97):
        row = around[node]
        assert list(row) == sorted(row, key=lambda other: metric_distance(coords, node, other))
        assert row[0] == lists[node, 0]
        sides = {tuple(coords[other] >= coords[node]) for other in lists[node]}
        assert sides == {tuple(coords[other] >= coords[node]) for other in row}


def metric_distance(coords, node, other):
    return float(np.hypot(*(coords[node] - coords[other])))


def test_five_candidates_hold_nearly_all_edges_of_a_very_good_tour():
    instance = ncosolve.generate("tsp", 500, seed=1)
    tour = ncosolve.solve(instance, max_iterations=4000).tour
    metric = metric_of(instance.distance)
    graph, price = sparse_graph(metric, nearest(metric, WIDE), tour.astype(np.int32)), np.zeros(500)
    ascend(graph, price, 100, 0.99 * instance.check(tour).cost)
    lists = alpha_nearest(graph, price, 5)
    held = [int(b) in lists[a] or int(a) in lists[b] for a, b in itertools.pairwise(tour)]
    assert np.mean(held) > 0.99


def test_duplicates_and_lines_are_taken():
    for coords in (np.ones((40, 2)), np.stack([np.arange(40.0), np.zeros(40)], axis=1)):
        metric = computed("euclidean", "nint", coords)
        graph, price = sparse_graph(metric, nearest(metric, WIDE), np.arange(40, dtype=np.int32)), np.zeros(40)
        ascend(graph, price, 20, 78.0)
        lists = alpha_nearest(graph, price, 5)
        assert all(i not in row for i, row in enumerate(lists))
