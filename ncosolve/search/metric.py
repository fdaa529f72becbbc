"""Distances inside kernels: from coordinates on the fly, or from a matrix."""

import math
from typing import NamedTuple

import numpy as np

from ncosolve.search.jit import tight
from ncosolve.search.types import Floats, Ints

MATRIX, EUCLIDEAN, MANHATTAN, MAXIMUM, ATT = range(5)
EXACT, NINT, CEIL, FLOOR, DIMACS = range(5)
_KINDS = {"euclidean": EUCLIDEAN, "manhattan": MANHATTAN, "maximum": MAXIMUM, "att": ATT}
_ROUNDINGS = {"exact": EXACT, "nint": NINT, "ceil": CEIL, "floor": FLOOR, "dimacs": DIMACS}

COMPUTED = tuple(_KINDS)
"""The metrics that kernels compute from coordinates; others (geo, xray1, xray2) come as a matrix."""


class Metric(NamedTuple):
    """What a kernel needs to know of distances; made by `computed` or `tabulated`.

    Attributes
    ----------
    kind, rounding : int
        One of the constants of this module.
    points : ndarray of float64, shape (n, 3)
        Where each node is entered: coordinates, the third 0 where there is none; without rows for a matrix.
    exits : ndarray of float64, shape (n, 3)
        Where each node is left; the same array but for nodes that stand for several stops in a row.
    matrix : ndarray of float64, shape (n, n)
        Distances, row = from; without entries where they are computed.
    """

    kind: int
    rounding: int
    points: Floats
    exits: Floats
    matrix: Floats


def computed(kind: str, rounding: str, coords: Floats) -> Metric:
    """A Metric that computes from coordinates, float64 (n, 2) or (n, 3); ``kind`` is one of `COMPUTED`."""
    points = np.zeros((len(coords), 3))
    points[:, : coords.shape[1]] = coords
    rule = CEIL if kind == "att" else _ROUNDINGS[rounding]  # TSPLIB's wording of att amounts to rounding up
    return Metric(_KINDS[kind], rule, points, points, np.empty((0, 0)))


def tabulated(matrix: Floats) -> Metric:
    """A Metric that looks distances up in a matrix, float64 (n, n)."""
    nowhere = np.empty((0, 3))
    return Metric(MATRIX, EXACT, nowhere, nowhere, np.array(matrix, np.float64))


def size(metric: Metric) -> int:
    """The number of nodes."""
    return max(len(metric.points), len(metric.matrix))


@tight
def distance(metric: Metric, i: int, j: int) -> float:
    """The distance from the exit of node i to the entry of node j, that of the problems' own check to the last bit.

    It calls nothing and reads the fields one by one, so that it is inlined and no reference is counted: anything else
    costs 20 times as much.
    """
    if metric.kind == MATRIX:
        return metric.matrix[i, j]
    if i == j:
        return 0.0
    dx = abs(metric.exits[i, 0] - metric.points[j, 0])
    dy = abs(metric.exits[i, 1] - metric.points[j, 1])
    dz = abs(metric.exits[i, 2] - metric.points[j, 2])
    if metric.kind == EUCLIDEAN:
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
    elif metric.kind == MANHATTAN:
        length = dx + dy + dz
    elif metric.kind == MAXIMUM:
        length = max(dx, dy, dz)
    else:
        length = math.sqrt((dx * dx + dy * dy) / 10.0)
    if metric.rounding == NINT:
        return math.floor(length + 0.5)
    if metric.rounding == EXACT:
        return length
    if metric.rounding == CEIL:
        return math.ceil(length)
    if metric.rounding == FLOOR:
        return math.floor(length)
    return math.floor(10.0 * length + 1e-9) / 10.0


def subset(metric: Metric, nodes: Ints) -> Metric:
    """The distances among some nodes, numbered anew in the order given."""
    return condensed(metric, nodes, nodes)


def condensed(metric: Metric, entries: Ints, exits: Ints) -> Metric:
    """The distances among runs of nodes that are each visited as one: from the last of a run to the first of another.

    Parameters
    ----------
    metric : Metric
        Distances among n nodes.
    entries, exits : ndarray of int64, shape (m,)
        The first and the last node of each run; a node on its own is both.
    """
    if metric.kind == MATRIX:
        return metric._replace(matrix=np.ascontiguousarray(metric.matrix[np.ix_(exits, entries)]))
    points = metric.points[entries]
    plain = entries is exits and metric.points is metric.exits
    return metric._replace(points=points, exits=points if plain else metric.exits[exits])
