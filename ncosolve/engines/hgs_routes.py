"""HGS-CVRP, the hybrid genetic search of Vidal, on CVRP, as the package hygese holds it."""

import contextlib
import ctypes
import math
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.rivals import Watch, ask, concluded, left
from ncosolve.errors import EngineError

PROBLEMS = ("cvrp",)

MOST_NODES = 10_000
"""Its matrices take 1.6 GB at this size."""
DISTANCES = 100.0, 50_000.0
"""The largest distance is brought between these: HGS refuses one above 100,000 and takes 0.00001 for nothing."""
DEMANDS = 10.0, 50_000.0
"""The largest demand is brought between these, for the same reason and since a unit of overload has a largest price."""


FIRST = 0.05
"""The share of the time that a first call gets, which shows how much of the processor there is."""
SHARE = 0.97
"""What the second call gets of the time that is left."""
DESCENT = 1e-7
"""A descent, which it does not interrupt, takes up to this many seconds times the square of the nodes."""


def run(task: Task) -> Outcome:
    """Call HGS for a short time, then with all that is left; a call that is late is killed.

    Where iterations are limited there is one call: it ends after that many without an improvement, whatever the time.

    Raises
    ------
    EngineError
        Above `MOST_NODES` nodes, and with its own words where it refuses the instance.
    """
    if task.over():
        return Outcome()
    if task.instance.n > MOST_NODES:
        raise EngineError(f"{task.instance.n} nodes need a full distance matrix here, {MOST_NODES} nodes are the most")
    if task.max_iterations is not None:
        _call(task, {"nbIter": min(task.max_iterations, 2**31 - 1)})
    else:
        share = _call(task, {}, FIRST)
        if not task.over():
            _call(task, {}, SHARE * share)
    return concluded(task)


def _call(task: Task, settings: dict[str, Any], share: float | None = None) -> float:
    """Offer the routes of one call that gets this share of the time; `Watch.share` of it."""
    routes, share = ask(task, _routes, {"seed": task.seed % 2**31, **settings}, share) or (None, 1.0)
    if routes is not None:
        task.incumbent.offer(routes)
    return share


def _routes(
    instance: Any, end: float, settings: dict[str, Any], share: float | None
) -> tuple[list[list[int]] | None, float]:
    """Routes, None where it found none, and the share of the seconds that HGS was let run: that is what it counts."""
    import hygese

    data = _data(instance)
    if share is not None and math.isfinite(end):
        settings = {**settings, "timeLimit": max(0.01, share * (left(end) - DESCENT * instance.n**2))}
    swap_star = instance.distance.coords is not None  # it looks at angles about the depot
    solver = hygese.Solver(hygese.AlgorithmParameters(useSwapStar=swap_star, **settings), verbose=False)
    watch = Watch()
    with _heard() as words:
        try:
            return solver.solve_cvrp(data).routes, watch.share()
        except TypeError:  # a null pointer
            if words():
                raise EngineError(f"it refuses: {words()}") from None
            return None, watch.share()


def _data(instance: Any) -> dict[str, Any]:
    """The instance with distances and loads at scales that HGS likes; powers of two, so that nothing is rounded."""
    table = instance.distance.matrix()
    load = _scale(float(instance.demand.max()), *DEMANDS)
    spots = instance.distance.coords
    spots = np.zeros((instance.n, 2)) if spots is None else spots[:, :2] - spots[:, :2].min(axis=0)
    data = {
        "distance_matrix": table * _scale(float(table.max()), *DISTANCES),
        "x_coordinates": spots[:, 0],
        "y_coordinates": spots[:, 1],
        "demands": instance.demand * load,
        "vehicle_capacity": instance.capacity * load,
    }
    if instance.max_vehicles is not None:
        data["num_vehicles"] = min(instance.max_vehicles, instance.n - 1)
    return data


def _scale(value: float, low: float, high: float) -> float:
    """The power of two that brings a number between two others, 1 where it is there already or 0."""
    if value == 0.0 or low <= value <= high:
        return 1.0
    return 2.0 ** (math.ceil(math.log2(low / value)) if value < low else math.floor(math.log2(high / value)))


@contextlib.contextmanager
def _heard() -> Iterator[Any]:
    """Keep what a library prints to the standard output; the value is a function that gives the last line."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)

        def words() -> str:
            ctypes.CDLL(None).fflush(None)
            file.seek(0)
            lines = file.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else ""

        try:
            yield words
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
