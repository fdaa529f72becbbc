"""What rivals share: outside solvers that are called as a whole, in a process of their own, and answer at the end.

Such a solver keeps a clock of its own, or none. It is asked to be back at the deadline and killed soon after it.
"""

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ncosolve import child
from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.scaling import Loads, Scaled, Windows, scaled
from ncosolve.problems.base import FloatArray, replace
from ncosolve.problems.distance import Distance

GRACE_SHARE, GRACE = 0.02, 0.2
"""How late an answer may come, as a share of the limit and in seconds; every engine is allowed a little more."""
ROUND = 0.02
"""Seconds that an answer needs to come back and to be checked."""


def ask(task: Task, function: Callable[..., Any], *arguments: Any) -> Any:
    """The value of ``function(instance, end, *arguments)`` in a process of its own, or None once the task is `late`.

    ``end`` is when to be back, by `time.monotonic`, which all processes of a machine share.

    Raises
    ------
    ChildError
        When the function raised or the process died.
    """
    end = time.monotonic() + task.deadline.remaining() - ROUND
    return child.call(function, _light(task.instance), end, *arguments, over=lambda: late(task))


def late(task: Task) -> bool:
    """Whether to give up on a rival: someone cancelled, or it is past the deadline by more than the grace."""
    deadline = task.deadline
    return deadline.cancelled or deadline.elapsed() >= deadline.limit * (1.0 + GRACE_SHARE) + GRACE


def left(end: float) -> float:
    """Seconds until ``end``, never negative."""
    return max(0.0, end - time.monotonic())


class Watch:
    """Seconds since it was made, and how much of them this process was let run."""

    def __init__(self) -> None:
        self._wall, self._processor = time.monotonic(), time.process_time()

    def seconds(self) -> float:
        """Seconds of wall clock."""
        return time.monotonic() - self._wall

    def share(self) -> float:
        """Seconds of processor time for each of wall clock, at most 1.

        A solver that limits its processor time would come too late on a busy machine without it.
        """
        return min(1.0, (time.process_time() - self._processor) / max(1e-9, self.seconds()))


def concluded(task: Task, iterations: int | None = None) -> Outcome:
    """The outcome: the work that was asked for, and what came of it where there is no answer."""
    done = (task.max_iterations or 0) if iterations is None else iterations
    return Outcome(done, note="it was stopped before it gave one" if late(task) else "it gave none")


def in_order(routes: list[list[int]], either_way: bool) -> list[list[int]]:
    """Routes so that equal solutions are equal answers, of a solver that numbers and turns them as chance has it.

    Parameters
    ----------
    routes : list of list of int
        Customers.
    either_way : bool
        Whether a route costs the same backwards.
    """
    turned = [route[::-1] if either_way and route[0] > route[-1] else route for route in routes if route]
    return sorted(turned)


def fitted(instance: Any, most_nodes: int, leg: float, latest: float = math.inf, load: float = math.inf) -> Scaled:
    """An instance in whole numbers, as `scaled` gives it, made smaller where the solver cannot take such large ones.

    Parameters
    ----------
    instance : TSP, CVRP, VRPTW or TSPTW
        What to represent.
    most_nodes : int
        Above this many nodes it is refused.
    leg : float
        The largest distance or duration of a leg that the solver takes.
    latest : float
        The latest time that it takes.
    load : float
        The largest sum of demands that it takes.

    Returns
    -------
    Scaled
        The same numbers where they fit; otherwise rounded anew, distances to the nearest, durations, ready times and
        demands up, due dates and the capacity down. No due date is later than the horizon, and the capacity is at most
        the sum of the demands.

    Raises
    ------
    EngineError
        Above ``most_nodes`` nodes.
    """
    numbers = scaled(instance, most_nodes)
    windows, longest = numbers.windows, float(numbers.distance.max())
    if windows is not None:
        longest = max(longest, float(windows.travel.max()), windows.horizon * leg / latest)
    share = min(1.0, leg / longest) if longest else 1.0
    return Scaled(
        numbers.unit * share,
        _times(numbers.distance, share, np.rint),
        None if windows is None else _shrunk_windows(windows, share),
        None if numbers.loads is None else _shrunk_loads(numbers.loads, load),
    )


def plane(distance: Distance, longest: float) -> tuple[FloatArray, bool] | None:
    """Coordinates for a solver that computes Euclidean distances in the plane itself.

    Parameters
    ----------
    distance : Distance
        The distances of an instance.
    longest : float
        The longest distance that the solver takes.

    Returns
    -------
    tuple or None
        Coordinates from 0 on, shape (n, 2), and whether their distances, rounded to the nearest, are the instance's
        own. Where not, they are scaled so that the diagonal is ``longest``. None for other distances than Euclidean
        ones in the plane.
    """
    spots = distance.coords
    if distance.metric != "euclidean" or spots is None or spots.shape[1] != 2:
        return None
    spots = spots - spots.min(axis=0)
    span = float(np.hypot(*spots.max(axis=0)))
    rounded = distance.rounding == "nint" and span <= longest
    return (spots if rounded or span == 0.0 else spots * (longest / span)), rounded


def _shrunk_windows(windows: Windows, share: float) -> Windows:
    ready = _times(np.minimum(windows.ready, windows.horizon), share, np.ceil)
    due = _times(np.minimum(windows.due, windows.horizon), share, np.floor)
    return Windows(
        _times(windows.travel, share, np.ceil), ready, np.maximum(ready, due), math.ceil(windows.horizon * share)
    )


def _shrunk_loads(loads: Loads, most: float) -> Loads:
    amount = max(1, int(loads.demand.sum()))
    capacity = min(loads.capacity, amount)
    share = min(1.0, 2.0 ** math.floor(math.log2(most / amount)) if math.isfinite(most) else 1.0)  # decimals stay exact
    demand = _times(loads.demand, share, np.ceil)
    return Loads(demand, math.floor(capacity * share) if capacity < amount else max(1, int(demand.sum())))


def _times(numbers: Any, share: float, rounding: Callable[[Any], Any]) -> Any:
    return numbers if share == 1.0 else rounding(numbers * share).astype(np.int64)


def _light(instance: Any) -> Any:
    """The instance without the matrix that it may have computed and kept: that should not go through a pipe."""
    if instance.distance.weights is not None:
        return instance
    return replace(instance, distance=dataclasses.replace(instance.distance))
