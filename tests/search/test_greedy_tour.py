import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve.search.greedy_tour import greedy_tour
from ncosolve.search.lin_kernighan import tour_length
from ncosolve.search.metric import computed
from ncosolve.search.neighbours import nearest


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 120), st.integers(0, 10**6), st.sampled_from([1, 4, 1000]), st.integers(1, 10))
def test_it_is_a_permutation(n, seed, grid, k):
    """With all nodes at one place, with clusters of duplicates, with short lists."""
    coords = np.random.default_rng(seed).integers(0, grid, (n, 2)).astype(float)
    metric = computed("euclidean", "exact", coords)
    assert sorted(greedy_tour(metric, nearest(metric, k))) == list(range(n))


def test_it_is_far_better_than_random():
    coords = np.random.default_rng(0).uniform(0, 1, (2000, 2))
    metric = computed("euclidean", "exact", coords)
    length = tour_length(metric, greedy_tour(metric, nearest(metric, 10)))
    assert length < 1.25 * 0.7124 * np.sqrt(2000)
