"""From an instance's distances to what kernels take."""

from ncosolve.errors import EngineError
from ncosolve.problems.distance import Distance
from ncosolve.search.metric import COMPUTED, Metric, computed, tabulated

TABLE_LIMIT = 1500
"""Up to this many nodes a matrix (18 MB) is faster than computing from coordinates."""
LARGEST_TABLE = 8000
"""Metrics that kernels cannot compute need a matrix; above this many nodes it would take more than 512 MB."""


def metric_of(distance: Distance) -> Metric:
    """The Metric of an instance: a matrix where that is faster or needed, coordinates otherwise.

    Raises
    ------
    EngineError
        For geo, xray1 and xray2 coordinates of more than `LARGEST_TABLE` nodes.
    """
    if distance.n <= TABLE_LIMIT or distance.weights is not None:
        return tabulated(distance.matrix())
    if distance.metric in COMPUTED:
        assert distance.coords is not None
        return computed(distance.metric, distance.rounding, distance.coords)
    if distance.n > LARGEST_TABLE:
        raise EngineError(f"{distance.metric} distances of {distance.n} nodes need a matrix, {LARGEST_TABLE} at most")
    return tabulated(distance.matrix())
