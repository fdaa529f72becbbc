"""Real numbers to whole ones, for outside routing solvers that take nothing else.

Where every number of an instance is a decimal of at most `DECIMALS` places, the whole numbers are exact multiples of
it. Otherwise the unit is the smallest power of two for which no sum overflows: distances are rounded to the nearest,
durations, ready times and demands up, due dates and capacities down after adding 90 % of the tolerance of the
independent check. So an answer that is feasible in whole numbers is feasible for the check, and windows or loads that
fit to the last bit still fit as long as the roundings of one route stay below that allowance.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncosolve.errors import EngineError
from ncosolve.problems.base import TIME_TOLERANCE, FloatArray, IntArray, load_slack

DECIMALS = 6
"""Up to this many places numbers count as decimals and are represented exactly."""
ROOM = 2.0**50
"""No sum of distances, times or loads exceeds this; what is left of 63 bits is for penalties."""
CAPACITY = 2.0**40
"""The capacity in whole numbers, where it is not exact in decimals: as large as a long distance then is."""
FOREVER = int(np.iinfo(np.int64).max)
"""The due date of a window that does not close."""

_SLACK = 0.9


@dataclass(frozen=True)
class Windows:
    """Time windows in whole numbers, counted from the ready time of the depot.

    Attributes
    ----------
    travel : ndarray of int64, shape (n, n)
        Duration from the start of service at a node to the arrival at the next: service and travel.
    ready, due : ndarray of int64, shape (n,)
        When service may start; `FOREVER` where a window does not close.
    horizon : int
        No useful schedule lasts longer.
    """

    travel: IntArray
    ready: IntArray
    due: IntArray
    horizon: int


@dataclass(frozen=True)
class Loads:
    """Demands, shape (n,), and the capacity in whole numbers."""

    demand: IntArray
    capacity: int


@dataclass(frozen=True)
class Scaled:
    """An instance in whole numbers.

    Attributes
    ----------
    unit : float
        How many whole-number steps make one unit of distance and time.
    distance : ndarray of int64, shape (n, n)
        Distances, rounded to the nearest.
    windows, loads : optional
        Where the problem has them.
    """

    unit: float
    distance: IntArray
    windows: Windows | None
    loads: Loads | None


def scaled(instance: Any, most_nodes: int) -> Scaled:
    """A TSP, CVRP, VRPTW or TSPTW in whole numbers.

    Raises
    ------
    EngineError
        When the instance has more than ``most_nodes`` nodes: its full matrix would be too large.
    """
    if instance.n > most_nodes:
        raise EngineError(f"{instance.n} nodes need a full distance matrix here, {most_nodes} nodes are the most")
    table = instance.distance.matrix()
    timed, loaded = hasattr(instance, "due_date"), hasattr(instance, "capacity")
    times = [instance.ready_time, instance.due_date, instance.service_time] if timed else []
    amounts = [instance.demand, np.array([instance.capacity])] if loaded else []
    span = (_span(instance, table) if timed else 2.0 * instance.n * float(table.max())) or 1.0
    total = max(float(amount.sum()) for amount in amounts) if loaded else 1.0
    time_unit, load_unit = _decimal_unit(table, *times), _decimal_unit(*amounts)
    exact = time_unit is not None and load_unit is not None and max(span * time_unit, total * load_unit) <= ROOM
    unit = time_unit if exact and time_unit is not None else _power_of_two(ROOM / span)
    if not exact and loaded:
        largest = min(CAPACITY / instance.capacity, ROOM / total)
        decimal = load_unit or 1.0
        load_unit = decimal * _power_of_two(largest / decimal)
    return Scaled(
        unit,
        np.rint(table * unit).astype(np.int64),
        _windows(instance, table, unit, exact) if timed else None,
        _loads(instance, load_unit or 1.0, exact) if loaded else None,
    )


def _windows(instance: Any, table: FloatArray, unit: float, exact: bool) -> Windows:
    up = np.rint if exact else np.ceil
    start = instance.ready_time[0]
    service = np.where(np.arange(instance.n) == 0, 0.0, instance.service_time)
    closes = np.floor((instance.due_date - start) * unit + _SLACK * TIME_TOLERANCE * unit)
    due = np.where(closes < ROOM, closes, 0.0).astype(np.int64)
    due[closes >= ROOM] = FOREVER
    ready = np.maximum(0, up((instance.ready_time - start) * unit)).astype(np.int64)
    return Windows(
        up((table + service[:, None]) * unit).astype(np.int64),
        ready,
        np.maximum(due, ready),  # a coarse unit must not close a window before it opens
        int(_horizon(instance, table) * unit) + 2 * instance.n + 1,
    )


def _loads(instance: Any, unit: float, exact: bool) -> Loads:
    up = np.rint if exact else np.ceil
    slack = _SLACK * load_slack(instance.capacity)
    return Loads(up(instance.demand * unit).astype(np.int64), math.floor((instance.capacity + slack) * unit))


def _horizon(instance: Any, table: FloatArray) -> float:
    """The latest time that a schedule without needless waiting can reach, from the ready time of the depot."""
    start = instance.ready_time[0]
    longest = max(0.0, float(instance.ready_time.max() - start)) + instance.n * _leg(instance, table)
    if instance.problem == "tsptw":  # engines that look past late visits need all of it
        return longest
    return min(longest, max(0.0, float(instance.due_date[0] - start)))


def _span(instance: Any, table: FloatArray) -> float:
    """No sum of distances, of times or of lateness exceeds this."""
    return 2.0 * instance.n * (_horizon(instance, table) + _leg(instance, table))


def _leg(instance: Any, table: FloatArray) -> float:
    return float(table.max() + instance.service_time.max())


def _power_of_two(largest: float) -> float:
    return 2.0 ** math.floor(math.log2(largest))


def _decimal_unit(*arrays: NDArray[np.float64]) -> float | None:
    """The smallest power of ten that makes all finite entries whole, or None above `DECIMALS` places."""
    finite = [array[np.isfinite(array)] if not np.isfinite(array).all() else array.ravel() for array in arrays]
    for unit in (10.0**places for places in range(DECIMALS + 1)):
        if all(_whole(values[:1000] * unit) for values in finite) and all(_whole(values * unit) for values in finite):
            return unit
    return None


def _whole(values: FloatArray) -> bool:
    """Whether all are whole numbers, but for the error that a decimal has as a binary fraction."""
    return bool(np.all(np.abs(values - np.rint(values)) <= 1e-15 * np.abs(values)))
