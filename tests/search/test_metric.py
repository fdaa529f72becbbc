import numpy as np
import pytest
from numba import njit

from ncosolve.engines.arrays import metric_of
from ncosolve.errors import EngineError
from ncosolve.problems.distance import Distance
from ncosolve.search.metric import computed, condensed, distance, subset, tabulated


@njit
def table(metric, n):
    result = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            result[i, j] = distance(metric, i, j)
    return result


@pytest.mark.parametrize("kind", ["euclidean", "manhattan", "maximum"])
@pytest.mark.parametrize("rounding", ["exact", "nint", "ceil", "floor", "dimacs"])
@pytest.mark.parametrize("columns", [2, 3])
def test_kernel_distances_equal_those_of_the_check(kind, rounding, columns):
    """Bit for bit, half-way cases and duplicates included."""
    coords = np.random.default_rng(0).integers(0, 40, (60, columns)) / 2.0
    coords[7] = coords[3]
    kernel = table(computed(kind, rounding, coords), 60)
    assert np.array_equal(kernel, Distance(kind, rounding, coords).matrix())


def test_att_is_rounded_up():
    coords = np.random.default_rng(1).integers(0, 5000, (80, 2)).astype(float)
    assert np.array_equal(table(computed("att", "exact", coords), 80), Distance("att", "exact", coords).matrix())


def test_metrics_that_kernels_cannot_compute_come_as_a_matrix():
    coords = np.random.default_rng(2).uniform(0, 60, (30, 2))
    geo = Distance("geo", "exact", coords)
    assert np.array_equal(table(metric_of(geo), 30), geo.matrix())


def test_a_matrix_that_would_be_too_large_is_refused():
    with pytest.raises(EngineError, match="9000 nodes need a matrix"):
        metric_of(Distance("geo", "exact", np.zeros((9000, 2))))


def test_subset_keeps_distances():
    coords = np.random.default_rng(3).uniform(0, 100, (20, 2))
    nodes = np.array([5, 2, 19, 7])
    full = Distance("euclidean", "nint", coords).matrix()
    for metric in (computed("euclidean", "nint", coords), tabulated(full)):
        assert np.array_equal(table(subset(metric, nodes), 4), full[np.ix_(nodes, nodes)])


def test_runs_are_entered_at_their_first_and_left_at_their_last_node():
    coords = np.random.default_rng(4).uniform(0, 100, (20, 2))
    first, last = np.array([0, 5, 2, 19]), np.array([0, 7, 2, 11])
    full = Distance("euclidean", "nint", coords).matrix()
    apart = ~np.eye(4, dtype=bool)
    for metric in (computed("euclidean", "nint", coords), tabulated(full)):
        runs = condensed(metric, first, last)
        assert np.array_equal(table(runs, 4)[apart], full[np.ix_(last, first)][apart])
        turned = condensed(runs, np.array([3, 1]), np.array([1, 3]))  # runs of runs
        assert table(turned, 2)[0, 1] == full[7, 5]
