"""LKH, the Lin-Kernighan heuristic of Helsgaun, on symmetric and asymmetric TSP, as the package elkai holds it."""

import math
from typing import Any

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.rivals import Watch, ask, concluded, fitted, left, plane

PROBLEMS = ("tsp",)

MOST_NODES = 5000
"""A matrix goes in as text, 9 s at this size; coordinates have no limit here."""
LARGEST = 10_000_000
"""LKH multiplies distances by 100 and keeps them in 32 bits, with a factor 2 for penalties."""
FIRST = {"RUNS": 1, "MAX_TRIALS": 1, "SUBGRADIENT": "NO"}
"""The first call: one trial without the subgradient ascent, to have a tour at all."""
RUNS = 1000
"""The second call: as many runs as there is time for."""
ASCENT, SHORT_ASCENT = 25.0, 5.0
"""How often the time of the first call the ascent takes, and one that starts with `SHORT_PERIOD` steps."""
SHORT_PERIOD = 100
SHARE = 0.97
"""What it gets of the time that is left."""


def run(task: Task) -> Outcome:
    """Call LKH for a first tour, then with all the time that is left; a call that is late is killed.

    Where iterations are limited there is one call: one run of that many trials.

    Raises
    ------
    EngineError
        Above `MOST_NODES` nodes where the distances are no Euclidean ones, exact or rounded to the nearest.
    """
    if task.over():
        return Outcome()
    if task.max_iterations is not None:
        _call(task, {"RUNS": 1, "MAX_TRIALS": task.max_iterations}, 1.0)
        return concluded(task)
    seconds, share = _call(task, FIRST, 1.0)
    rest = task.deadline.remaining()
    if rest >= ASCENT * seconds:
        _call(task, {"RUNS": RUNS}, share)
    elif rest >= SHORT_ASCENT * seconds:
        _call(task, {"RUNS": RUNS, "INITIAL_PERIOD": SHORT_PERIOD}, share)
    return concluded(task)


def _call(task: Task, settings: dict[str, Any], share: float) -> tuple[float, float]:
    """Offer the tour of one call; the seconds that it took, infinite where it was killed, and its `Watch.share`."""
    seed = 1 + task.seed % (2**31 - 1)  # 0 would mean the time of day
    given = ask(task, _tour, {"SEED": seed, **settings}, share)
    if given is None:
        return math.inf, share
    tour, seconds, share = given
    task.incumbent.offer(tour)
    return seconds, share


def _tour(instance: Any, end: float, settings: dict[str, Any], share: float) -> tuple[list[int], float, float]:
    """A tour, the seconds that LKH took for it, and the share of them that it was let run: that is what it counts.

    elkai's classes set the number of runs only; the function beneath them takes all parameters of LKH.
    """
    from elkai import _elkai

    problem = _problem(instance)
    if math.isfinite(end):
        settings = {**settings, "TOTAL_TIME_LIMIT": max(0.01, SHARE * share * left(end))}
    parameters = "".join(f"{name} = {value}\n" for name, value in settings.items())
    watch = Watch()
    tour = _elkai.solve_problem(f"{parameters}PROBLEM_FILE = :stdin:\n", problem)
    return [node - 1 for node in tour], watch.seconds(), watch.share()


def _problem(instance: Any) -> str:
    """The instance in TSPLIB's form; LKH rounds distances of coordinates to the nearest whole number."""
    kind = "TSP" if instance.distance.symmetric else "ATSP"
    head = f"TYPE : {kind}\nDIMENSION : {instance.n}\nEDGE_WEIGHT_TYPE : "
    places = plane(instance.distance, LARGEST) if instance.distance.rounding in ("exact", "nint") else None
    if places is not None:
        lines = [f"{node} {x:.6f} {y:.6f}\n" for node, (x, y) in enumerate(places[0].tolist(), 1)]
        return f"{head}EUC_2D\nNODE_COORD_SECTION\n{''.join(lines)}"
    table = fitted(instance, MOST_NODES, LARGEST).distance.tolist()
    rows = [" ".join(map(str, row)) + "\n" for row in table]
    return f"{head}EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\nEDGE_WEIGHT_SECTION\n{''.join(rows)}"
