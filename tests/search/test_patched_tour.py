import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from ncosolve.search.patched_tour import patched_tour


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 30), st.integers(0, 10**6), st.sampled_from([1, 5, 1000]))
def test_it_is_a_tour(n, seed, largest):
    """Also with ties, zeros everywhere and a diagonal that would be cheapest."""
    matrix = np.random.default_rng(seed).integers(0, largest, (n, n)).astype(float)
    tour = patched_tour(matrix)
    assert tour[0] == 0
    assert sorted(tour) == list(range(n))


def test_it_is_close_to_the_assignment_on_random_matrices():
    """There the patched tour is within a few per cent of the bound (Karp 1979)."""
    matrix = np.random.default_rng(0).uniform(0, 1, (300, 300))
    tour = patched_tour(matrix)
    np.fill_diagonal(matrix, 1e6)
    rows, columns = linear_sum_assignment(matrix)
    assert matrix[tour, np.roll(tour, -1)].sum() < 1.2 * matrix[rows, columns].sum()
