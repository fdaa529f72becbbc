"""fast-tsp: Or-opt with a Lin-Kernighan step in Rust, on symmetric TSP."""

import math
from typing import Any

import numpy as np

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.rivals import ask, concluded, fitted, left
from ncosolve.errors import EngineError

PROBLEMS = ("tsp",)

MOST_NODES = 20_000
"""Its matrix takes 3.2 GB at this size while it is made, 0.8 GB after."""
LARGEST = 2**16 - 1
"""It takes no larger distance."""


def run(task: Task) -> Outcome:
    """Call fast-tsp with all the time there is; where iterations are limited, until it has converged.

    Raises
    ------
    EngineError
        For asymmetric distances, and above `MOST_NODES` nodes.
    """
    if task.over():
        return Outcome()
    if not task.instance.distance.symmetric:
        raise EngineError("fast-tsp takes symmetric distances only")
    tour = ask(task, _tour, task.threads, task.max_iterations is not None)
    if tour is not None:
        task.incumbent.offer(tour)
    return concluded(task)


def _tour(instance: Any, end: float, threads: int, converge: bool) -> list[int]:
    import fast_tsp

    table = fitted(instance, MOST_NODES, LARGEST).distance.astype(np.uint16)
    seconds = left(end) if math.isfinite(end) else math.inf
    return fast_tsp.find_tour(
        table, duration_seconds=max(0.01, seconds), max_threads=threads, stop_when_converged=converge
    )
