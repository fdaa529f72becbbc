import itertools

import networkx as nx
import numpy as np
import pytest

import ncosolve
from ncosolve.engines.arrays import metric_of
from ncosolve.search.candidates import WIDE, Graph, alpha_nearest, ascend, sparse_graph
from ncosolve.search.metric import computed
from ncosolve.search.neighbours import nearest


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
