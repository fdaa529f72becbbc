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
from ncosolve.engines.rivals import ask, concluded, left
from ncosolve.errors import EngineError

PROBLEMS = ("cvrp",)

ANYTIME = False
"""One answer at the end: a benchmark runs each time mark separately."""
MOST_NODES = 10_000
"""Its matrices take 1.6 GB at this size."""
DISTANCES = 100.0, 50_000.0
"""The largest distance is brought between these: HGS refuses one above 100,000 and takes 0.00001 for nothing."""
CAPACITIES = 1.0, 1_000_000.0
"""The capacity is brought between these."""


def run(task: Task) -> Outcome:
    """Call HGS with all the time there is.

    Where iterations are limited it ends after that many without an improvement, whatever the time, and is killed at
    the deadline.

    Raises
    ------
    EngineError
        Above `MOST_NODES` nodes, and with its own words where it refuses the instance.
    """
    if task.over():
        return Outcome()
    if task.instance.n > MOST_NODES:
        raise EngineError(f"{task.instance.n} nodes need a full distance matrix here, {MOST_NODES} nodes are the most")
    routes = ask(task, _routes, task.seed % 2**31, task.max_iterations)
    if routes is not None:
        task.incumbent.offer(routes)
    return concluded(task)


def _routes(instance: Any, end: float, seed: int, iterations: int | None) -> list[list[int]]:
    import hygese

    data = _data(instance)
    if iterations is None:
        budget = {"timeLimit": max(0.01, left(end))}
    else:
        budget = {"nbIter": min(iterations, 2**31 - 1)}
    swap_star = instance.distance.coords is not None  # it looks at angles about the depot
    solver = hygese.Solver(hygese.AlgorithmParameters(seed=seed, useSwapStar=swap_star, **budget), verbose=False)
    with _heard() as words:
        try:
            return solver.solve_cvrp(data).routes
        except TypeError as error:
            raise EngineError(f"it refuses: {words() or error}") from None


def _data(instance: Any) -> dict[str, Any]:
    """The instance with distances and loads at scales that HGS likes; powers of two, so that nothing is rounded."""
    table = instance.distance.matrix()
    load = _scale(instance.capacity, *CAPACITIES)
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
