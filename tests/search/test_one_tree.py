import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve.search.metric import computed, tabulated
from ncosolve.search.one_tree import Ascent, one_tree


def shortest_tour(table):
    n = len(table)
    return min(
        sum(table[a, b] for a, b in itertools.pairwise((0, *order, 0))) for order in itertools.permutations(range(1, n))
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 7), st.integers(0, 10**6), st.sampled_from([1, 3, 100]))
def test_the_bound_is_never_above_the_optimum(n, seed, grid):
    """For any symmetric matrix, metric or not, and whatever the prices."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, grid + 1, (n, n)).astype(float)
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, 0)
    optimum = shortest_tour(table)
    assert one_tree(tabulated(table), rng.normal(0, grid, n), np.zeros(n, np.int64)) <= optimum + 1e-9
    ascent = Ascent(tabulated(table), n, 1.2 * optimum + 1)
    for _ in range(50):
        ascent.step()
    assert ascent.bound <= optimum + 1e-9


def test_the_one_tree_is_minimal():
    """Without prices: a minimum spanning tree of all but node 0 by Kruskal's rule, plus the two cheapest edges at 0."""
    rng = np.random.default_rng(0)
    coords = rng.uniform(0, 100, (30, 2))
    table = np.sqrt(((coords[:, None] - coords[None]) ** 2).sum(-1))
    group, total = list(range(30)), np.sort(table[0, 1:])[:2].sum()
    edges = sorted((table[i, j], i, j) for i in range(1, 30) for j in range(i + 1, 30))
    for length, a, b in edges:
        if group[a] != group[b]:
            total += length
            group = [group[a] if g == group[b] else g for g in group]
    degree = np.zeros(30, np.int64)
    assert one_tree(computed("euclidean", "exact", coords), np.zeros(30), degree) == pytest.approx(total)
    assert degree.sum() == 60
    assert degree[0] == 2


def test_the_ascent_comes_close_on_uniform_points():
    """The Held-Karp bound is about 0.708 sqrt(n A) (1 + 0.55 / n) on uniform points (Johnson et al. 1996)."""
    coords = np.random.default_rng(1).uniform(0, 1, (300, 2))
    ascent = Ascent(computed("euclidean", "exact", coords), 300, 0.9 * np.sqrt(300))
    for _ in range(150):
        ascent.step()
    assert 0.97 < ascent.bound / (0.7080 * np.sqrt(300) * (1 + 0.551 / 300)) < 1.12
