"""commiv: ruin and recreate by strings on CVRP, VRPTW and TSPTW, trials of a local search on TSP."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.rivals import ask, concluded, fitted, left
from ncosolve.engines.scaling import Scaled

PROBLEMS = ("tsp", "cvrp", "vrptw", "tsptw")

MOST_NODES = 10_000
"""Its matrix takes 0.4 GB at this size, ours 1.6 GB before; its set-up takes a minute."""
LEG, TOTAL = 2**24, 2**30
"""The longest leg, and the latest time and largest sum of demands (TSP: of as many longest legs as nodes); commiv keeps
all in 32 bits."""
FLEET = 20
"""``objective="vehicles"``: a vehicle costs as much as this many of the longest legs."""
RATES = {"cvrp": 100_000.0, "vrptw": 20_000.0, "tsptw": 20_000.0, "tsp": 20_000.0}
"""Iterations a second to begin with, on the slow side; TSP: trials times nodes."""
PROBE, GROWTH, PROBES = 0.02, 4, 3
"""The first probe takes this share of the time at those rates or less; there are so many more, each so many times as
long as the one before."""
ENOUGH = 0.015
"""The probes end where the last one took this share of the time longer than the first."""
DEAR = 0.15
"""Where the first probe takes this share of the time, its set-up does, and there is no other."""
UNLIMITED = 3600.0
"""Seconds, where there is no limit at all."""
SHARE = 0.92
"""How much of the time that is left is planned for: its pace varies by 5 %."""

Answer = list[Any]
Search = Callable[[int, float], Answer | None]
"""A call of commiv with a number of iterations and, where it can stop by the clock, seconds."""


@dataclass(frozen=True)
class Pace:
    """How long a call takes: seconds of set-up, then iterations a second."""

    setup: float
    rate: float


def run(task: Task) -> Outcome:
    """Measure how fast it is, then call commiv with as many iterations as there is time for.

    Its temperature falls over the iterations that it is asked for, so more than it can do in time would spoil the
    result. One iteration is one of its own, a trial on TSP; where they are limited there is one call.

    Raises
    ------
    EngineError
        Above `MOST_NODES` nodes.
    """
    if task.over():
        return Outcome()
    if task.max_iterations is not None:
        _offer(task, ask(task, _limited, task.seed, task.threads, task.max_iterations))
        return concluded(task)
    probed = ask(task, _probed, task.seed, task.threads)
    if probed is None:
        return concluded(task, 0)
    answer, pace = probed
    _offer(task, answer)
    iterations = 0
    if not task.over():
        answer, iterations = ask(task, _final, task.seed, task.threads, pace) or (None, 0)
        _offer(task, answer)
    return concluded(task, iterations)


def _offer(task: Task, answer: Answer | None) -> None:
    if answer is not None:
        task.incumbent.offer(answer)


def _limited(instance: Any, end: float, seed: int, threads: int, iterations: int) -> Answer | None:
    return _search(instance, seed, threads)(iterations, left(end))


def _probed(instance: Any, end: float, seed: int, threads: int) -> tuple[Answer | None, Pace]:
    """The answer of the longest probe, and the pace: by the difference of two probes, or the cautious one."""
    search, budget = _search(instance, seed, threads), left(end)
    rate = RATES[instance.problem] / (instance.n if instance.problem == "tsp" else 1)
    first = count = math.ceil(rate * PROBE * min(budget, UNLIMITED))
    answer, setup = _timed(search, first, budget)
    pace = Pace(setup, rate)
    for _ in range(PROBES):
        if setup > DEAR * budget:
            break
        count *= GROWTH
        answer, seconds = _timed(search, count, left(end))
        if seconds > setup:
            rate = (count - first) / (seconds - setup)
            pace = Pace(max(0.0, setup - first / rate), rate)
        if seconds - setup >= ENOUGH * budget:
            break
    return answer, pace


def _final(instance: Any, end: float, seed: int, threads: int, pace: Pace) -> tuple[Answer | None, int]:
    """The answer of one call that should be back in time, and its iterations."""
    search = _search(instance, seed, threads)
    seconds = min(left(end), UNLIMITED) - pace.setup
    iterations = int(SHARE * pace.rate * seconds)
    return (search(iterations, seconds), iterations) if iterations > 0 else (None, 0)


def _timed(search: Search, iterations: int, seconds: float) -> tuple[Answer | None, float]:
    began = time.monotonic()
    return search(iterations, seconds), time.monotonic() - began


def _search(instance: Any, seed: int, threads: int) -> Search:
    """What solves the instance: the function of its kind, with the matrix and all else in place."""
    import commiv

    leg = TOTAL / instance.n if instance.problem == "tsp" else LEG
    numbers = fitted(instance, MOST_NODES, leg, TOTAL, TOTAL)
    table = numbers.distance.astype(np.uint32)
    if instance.problem == "tsp":
        return lambda iterations, _: commiv.solve_atsp(table, seed=seed, trials=iterations)[1]
    open_fleet = instance.problem == "cvrp" and instance.max_vehicles is None and instance.objective == "distance"
    if not open_fleet:
        return _with_windows(instance, numbers, seed, threads)
    demand, capacity = numbers.loads.demand, numbers.loads.capacity  # type: ignore[union-attr]
    return lambda iterations, _: (
        commiv.solve_cvrp(table, demand, capacity, seed=seed, iters=iterations, threads=threads).routes
    )


def _with_windows(instance: Any, numbers: Scaled, seed: int, threads: int) -> Search:
    """A call of the only function that limits the fleet; it looks at a clock as well."""
    import commiv

    n, windows, loads = instance.n, numbers.windows, numbers.loads
    legs, service = numbers.distance, np.zeros(n, np.int64)
    ready, due = np.zeros(n, np.int64), np.full(n, 2**32 - 1)
    if windows is not None:
        ready, due, service = windows.ready, windows.due, windows.travel.diagonal()
        legs = windows.travel - service[:, None]
    demand, capacity = (np.zeros(n, np.int64), 1) if loads is None else (loads.demand, loads.capacity)
    most = 1 if loads is None else min(instance.max_vehicles or n - 1, n - 1)
    penalty = FLEET * int(legs.max()) if getattr(instance, "objective", "") == "vehicles" else 0

    def search(iterations: int, seconds: float) -> Answer | None:
        limit = max(1, int(1000 * seconds)) if math.isfinite(seconds) else 0
        options = {"seed": seed, "threads": threads, "veh_penalty": penalty, "max_vehicles": most, "wall_ms": limit}
        try:
            routes = commiv.solve_vrptw(legs, demand, capacity, ready, due, service, iters=iterations, **options).routes
        except commiv.InfeasibleError:  # it found nothing; that proves nothing
            return None
        return [0, *(node for route in routes for node in route)] if instance.kind == "tour" else routes

    return search
