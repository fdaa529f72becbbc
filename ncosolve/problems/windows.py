"""Time windows: what VRPTW and TSPTW share."""

from typing import Any

import numpy as np

from ncosolve.errors import InputError
from ncosolve.problems.base import TIME_TOLERANCE, FloatArray, IntArray, Violation, vector, worst

CLOSURE_LIMIT = 3000
"""Up to this many nodes, reachability is tested over shortest paths; above, it is not tested."""


def put_windows(instance: Any, ready_time: Any, due_date: Any, service_time: Any) -> None:
    """Validate windows and service times and set them on a frozen instance."""
    put, n = object.__setattr__, instance.n
    put(instance, "ready_time", vector(ready_time, n, "ready_time"))
    put(instance, "due_date", vector(due_date, n, "due_date", finite=False))
    put(instance, "service_time", vector(np.zeros(n) if service_time is None else service_time, n, "service_time", 0.0))
    late = instance.ready_time > instance.due_date
    if late.any():
        k = int(np.argmax(late))
        opens, closes = instance.ready_time[k], instance.due_date[k]
        raise InputError(f"of node {k} closes at {closes:g}, before it opens at {opens:g}", where="window")


def lateness(instance: Any, routes: tuple[IntArray, ...]) -> list[Violation]:
    """Visits after the due date, and returns to the depot after its due date."""
    return late_visits(instance, timing(instance, routes)[0])


def late_visits(instance: Any, late: FloatArray) -> list[Violation]:
    """What is violated where nodes are so late, those within the tolerance left out."""
    return worst("time window", np.where(late > time_tolerance(instance.due_date), late, 0.0), "node")


def timing(instance: Any, routes: tuple[IntArray, ...]) -> tuple[FloatArray, FloatArray]:
    """How late each node is visited, and when each route is back.

    Every route leaves the depot at its ready time; service starts at the ready time of a node or on arrival, whichever
    is later, and must start by its due date; lateness is carried on.
    """
    longest = max((len(route) for route in routes), default=0)
    visits = np.zeros((len(routes), longest + 1), np.int64)  # the 0 behind each route is its return
    for r, route in enumerate(routes):
        visits[r, : len(route)] = route
    late = np.zeros(instance.n)
    clock = np.full(len(routes), instance.ready_time[0])
    here = np.zeros(len(routes), np.int64)
    active = np.ones(len(routes), np.bool_)
    for k in range(longest + 1):
        there = visits[:, k]
        leave = clock + np.where(here == 0, 0.0, instance.service_time[here])
        arrival = leave + instance.distance.between(here, there)
        clock = np.where(active, np.maximum(arrival, instance.ready_time[there]), clock)
        excess = np.where(active, clock - instance.due_date[there], 0.0)
        np.maximum.at(late, there, excess)
        active &= there != 0
        here = there
    return late, clock


def time_tolerance(due_date: FloatArray) -> FloatArray:
    """How late is not late; it grows with the due date, as rounding errors do."""
    return TIME_TOLERANCE * np.maximum(1.0, 1e-6 * np.abs(np.where(np.isfinite(due_date), due_date, 0.0)))


def window_clash(instance: Any) -> str | None:
    """A customer that cannot be reached before it closes, or from which the depot cannot be reached in time."""
    if not 1 < instance.n <= CLOSURE_LIMIT:
        return None
    table = instance.distance.matrix()
    opens, closes, service = instance.ready_time, instance.due_date, instance.service_time
    tolerance = 2.0 * time_tolerance(closes)  # twice what the check allows: sums in another order round otherwise
    arrival = np.maximum(opens[0] + _shortest(table, np.concatenate([[0.0], service[1:]])), opens)
    if (arrival > closes + tolerance)[1:].any():
        k = 1 + int(np.argmax((arrival - closes)[1:]))
        return f"node {k} cannot be reached before {arrival[k]:g}, it closes at {closes[k]:g}"
    back = _shortest(table.T, np.concatenate([[0.0], service[1:]]))
    home = arrival + service + back
    if (home > closes[0] + tolerance[0])[1:].any():
        k = 1 + int(np.argmax(home[1:]))
        return f"from node {k} the depot cannot be reached before {home[k]:g}, it closes at {closes[0]:g}"
    return None


def _shortest(table: FloatArray, service: FloatArray) -> FloatArray:
    """Shortest times from node 0 to all (Dijkstra on a dense matrix), the service of passed nodes included."""
    n = len(table)
    best = table[0].copy()
    open_nodes = np.ones(n, np.bool_)
    open_nodes[0] = False
    for _ in range(n - 1):
        k = int(np.argmin(np.where(open_nodes, best, np.inf)))
        open_nodes[k] = False
        best = np.minimum(best, best[k] + service[k] + table[k])
    best[0] = 0.0
    return best
