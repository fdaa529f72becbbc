import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve.search.metric import tabulated
from ncosolve.search.one_tree import one_tree


def symmetric(rng, n, grid):
    table = rng.integers(0, grid + 1, (n, n)).astype(float)
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, 0)
    return table


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 7), st.integers(0, 10**6), st.sampled_from([1, 3, 100]))
def test_it_is_never_above_the_optimum(n, seed, grid):
    """For any symmetric matrix, metric or not, and whatever the prices."""
    rng = np.random.default_rng(seed)
    table = symmetric(rng, n, grid)
    orders = itertools.permutations(range(1, n))
    optimum = min(sum(table[a, b] for a, b in itertools.pairwise((0, *order, 0))) for order in orders)
    assert one_tree(tabulated(table), rng.normal(0, grid, n), np.empty(n, np.int32)) <= optimum + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_it_is_a_minimum_tree_and_the_longest_second_edge_of_a_leaf(seed):
    """Against the definition, with trees by another library."""
    rng = np.random.default_rng(seed)
    table, price, parent = symmetric(rng, 30, 10**6), rng.normal(0, 10**5, 30), np.empty(30, np.int32)
    costs = table + price[:, None] + price[None]
    full = nx.Graph()
    full.add_weighted_edges_from((i, j, costs[i, j]) for i, j in itertools.combinations(range(30), 2))
    tree = nx.minimum_spanning_tree(full)
    leaves = [u for u in range(1, 30) if tree.degree(u) == 1]
    second = max(sorted(costs[u, v] for v in range(30) if v != u)[1] for u in leaves)
    bound = one_tree(tabulated(table), price, parent)
    assert bound == pytest.approx(tree.size("weight") + second - 2 * price.sum())
    assert {frozenset((u, int(parent[u]))) for u in range(1, 30)} == {frozenset(edge) for edge in tree.edges}
