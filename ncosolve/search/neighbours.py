"""Nearest neighbours of every node, by k-d tree where there are coordinates, by row of the matrix otherwise."""

import numpy as np

from ncosolve.search.jit import kernel, tight
from ncosolve.search.metric import MANHATTAN, MATRIX, MAXIMUM, Metric, distance, size
from ncosolve.search.types import Floats, Int32s

ALL_PAIRS_LIMIT = 1500
"""Up to this many nodes neighbours in time and space are chosen among all."""
HEAP = 100
"""More nodes than this at one place are moved apart a little, all together by a billionth of the extent."""
ROWS = 256
"""So many rows of a matrix are sorted at a time."""
WAITING_WEIGHT = 0.2
"""How much unavoidable waiting counts against distance when nearness includes time."""


def nearest(metric: Metric, k: int, first: int = 0) -> Int32s:
    """The nearest nodes to go to from each node, itself left out.

    Parameters
    ----------
    metric : Metric
        Distances among n nodes.
    k : int
        How many; fewer where there are fewer nodes.
    first : int
        Nodes below this number are no one's neighbour (1 leaves out a depot).

    Returns
    -------
    ndarray of int32, shape (n, min(k, n - first - 1))
        Sorted by distance, ties by number.
    """
    n = size(metric)
    k = min(k, n - first - 1)
    if k <= 0:
        return np.empty((n, 0), np.int32)
    if metric.kind == MATRIX:
        return _by_row(metric.matrix, k, first)
    from scipy.spatial import cKDTree  # takes a quarter of a second to import, and a matrix needs none

    columns = 3 if metric.points[:, 2].any() or metric.exits[:, 2].any() else 2
    points, exits = metric.points[:, :columns], metric.exits[:, :columns]
    _, count = np.unique(points[:, 0] + 1j * points[:, 1], return_counts=True)
    if count.max() > HEAP:  # no tree can part equal points
        slightly = 1e-9 * max(1e-9, float(np.ptp(points, axis=0).max())) / n
        points, exits = (np.column_stack([ends, slightly * np.arange(n)]) for ends in (points, exits))
    norm = {MANHATTAN: 1.0, MAXIMUM: np.inf}.get(metric.kind, 2.0)
    found = cKDTree(points[first:]).query(exits, k + 1, p=norm)[1] + first
    own = found == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True  # far duplicates or a depot that is no one's neighbour: drop the farthest
    lists = found[~own].reshape(n, k).astype(np.int32)
    _sort_rows(metric, lists)
    return lists


def _by_row(matrix: Floats, k: int, first: int) -> Int32s:
    lists = np.empty((len(matrix), k), np.int32)
    for top in range(0, len(matrix), ROWS):
        keys = matrix[top : top + ROWS, first:].copy()
        own = np.arange(max(top, first), top + len(keys))
        keys[own - top, own - first] = np.inf
        closest = np.argpartition(keys, k - 1, axis=1)[:, :k] if k < keys.shape[1] else np.argsort(keys, axis=1)[:, :k]
        order = np.lexsort((closest, np.take_along_axis(keys, closest, axis=1)), axis=1)
        lists[top : top + ROWS] = np.take_along_axis(closest, order, axis=1) + first
    return lists


def window_nearest(
    metric: Metric,
    ready: Floats,
    due: Floats,
    service: Floats,
    near: Int32s,
) -> Int32s:
    """The customers that are nearest in time and space, as many as ``near`` holds a node.

    Nearness is the distance, plus `WAITING_WEIGHT` times the waiting and once the lateness that a direct trip cannot
    avoid, in the better of the two directions (Vidal et al. 2013). Above `ALL_PAIRS_LIMIT` nodes the lists of ``near``
    are only sorted anew.
    """
    n, k = near.shape
    others = np.tile(np.arange(1, n, dtype=np.int32), (n, 1)) if n <= ALL_PAIRS_LIMIT else near
    order = np.argsort(_proximity(metric, ready, due, service, others), axis=1, kind="stable")[:, :k]
    return np.take_along_axis(others, order, axis=1)


def mean_distance(metric: Metric, lists: Int32s, first: int = 0) -> float:
    """The mean distance from nodes ``first``, ``first`` + 1, ... to the nodes in their rows of ``lists``."""
    return float(_mean(metric, lists, first)) if lists.size else 0.0


@tight
def _mean(metric: Metric, lists: Int32s, first: int) -> float:
    total = 0.0
    for i in range(lists.shape[0]):
        for k in range(lists.shape[1]):
            total += distance(metric, first + i, lists[i, k])
    return total / lists.size


@kernel
def reaches(metric: Metric, lists: Int32s) -> Floats:
    """The distance of each node to those in its row of ``lists``, in the shorter direction; the shape of ``lists``."""
    lengths = np.empty(lists.shape)
    for i in range(lists.shape[0]):
        for k in range(lists.shape[1]):
            j = lists[i, k]
            lengths[i, k] = min(distance(metric, i, j), distance(metric, j, i))
    return lengths


@kernel
def _proximity(metric: Metric, ready: Floats, due: Floats, service: Floats, lists: Int32s) -> Floats:
    keys = np.empty(lists.shape)
    for i in range(lists.shape[0]):
        for k in range(lists.shape[1]):
            j = lists[i, k]
            if i == j:
                keys[i, k] = np.inf
                continue
            there, back = distance(metric, i, j), distance(metric, j, i)
            waiting = max(0.0, ready[j] - service[i] - there - due[i])
            late = max(0.0, ready[i] + service[i] + there - due[j])
            forward = there + WAITING_WEIGHT * waiting + late
            waiting = max(0.0, ready[i] - service[j] - back - due[j])
            late = max(0.0, ready[j] + service[j] + back - due[i])
            keys[i, k] = min(forward, back + WAITING_WEIGHT * waiting + late)
    return keys


@tight
def _sort_rows(metric: Metric, lists: Int32s) -> None:
    """Insertion sort of each row by the rounded distance, ties by number."""
    for i in range(lists.shape[0]):
        row = lists[i]
        for a in range(1, row.shape[0]):
            node = row[a]
            length = distance(metric, i, node)
            b = a - 1
            while b >= 0:
                other = distance(metric, i, row[b])
                if other < length or (other == length and row[b] < node):
                    break
                row[b + 1] = row[b]
                b -= 1
            row[b + 1] = node
