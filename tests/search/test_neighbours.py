import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve.problems.distance import Distance
from ncosolve.search.metric import computed, tabulated
from ncosolve.search.neighbours import mean_distance, nearest, window_nearest


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(1, 12), st.integers(0, 1), st.integers(0, 10**6), st.sampled_from([3, 1000]))
def test_lists_hold_the_nearest_nodes(n, k, first, seed, grid):
    """Also with many duplicates: nobody is its own neighbour and nothing nearer is left out."""
    coords = np.random.default_rng(seed).integers(0, grid, (n, 2)).astype(float)
    full = Distance("euclidean", "nint", coords).matrix()
    for metric in (computed("euclidean", "nint", coords), tabulated(full)):
        lists = nearest(metric, k, first)
        assert lists.shape == (n, max(0, min(k, n - first - 1)))
        for i, row in enumerate(lists):
            assert i not in row
            assert len(set(row)) == len(row)
            assert (row >= first).all()
            others = np.sort(np.delete(full[i], [*range(first), i] if i >= first else [*range(first)]))
            assert np.abs(np.sort(full[i, row]) - others[: len(row)]).max(initial=0) <= 1  # a tie before rounding
            assert (np.diff(full[i, row]) >= 0).all()


def test_nearness_in_time_counts_late_and_waiting_trips():
    """Two customers at the same place but hours apart are less near than one down the road at the same hour."""
    coords = np.array([[0, 0], [10, 0], [10, 1], [14, 0]], float)
    ready, due = np.array([0, 0, 500, 0.0]), np.array([1000, 50, 550, 50.0])
    lists = window_nearest(
        computed("euclidean", "exact", coords),
        ready,
        due,
        np.zeros(4),
        np.tile(np.arange(1, 3, dtype=np.int32), (4, 1)),
    )
    assert lists[1].tolist() == [3, 2]


def test_mean_distance():
    metric = computed("euclidean", "exact", np.array([[0, 0], [3, 4], [0, 4.0]]))
    assert mean_distance(metric, np.array([[2], [1]], np.int32), first=1) == pytest.approx(3.0)
