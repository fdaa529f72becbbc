"""What a solve is reported as: one flat record of plain numbers and lists, with the gap to the best-known cost."""

import csv
import math
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from ncosolve import __version__
from ncosolve.errors import Infeasible, NcosolveError
from ncosolve.problems.base import Problem, minimises_makespan
from ncosolve.resources import folder
from ncosolve.solution import Solution

SUFFIXES = (".gz", ".mps", ".lp", ".tsp", ".atsp", ".vrp", ".tsptw", ".tw", ".tspdl", ".txt", ".dat", ".npz")
"""What is taken off a file's name to get that of the instance."""


def stem(file: str | Path) -> str:
    """The name of an instance by its file: ``p0033`` for ``milp/p0033.mps.gz``."""
    name = PurePath(file).name
    while PurePath(name).suffix.lower() in SUFFIXES:
        name = PurePath(name).stem
    return name


def number(value: float | None) -> float | int | None:
    """A number as JSON should show it: whole ones as int, None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else float(value)


@cache
def _table() -> dict[tuple[str, str], list[dict[str, str]]]:
    table: dict[tuple[str, str], list[dict[str, str]]] = {}
    for path in folder("instances").glob("best_known*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                table.setdefault((row["problem"], row["name"].lower()), []).append(row)
    return table


def best_known(instance: Problem, file: str | Path, routes: int | None = None) -> float | None:
    """The best-known cost of a public instance under the very convention in use; None where there is none.

    Parameters
    ----------
    instance : Problem
        As it was read; problem, n, rounding, fleet and objective have to agree with the table.
    file : str or Path
        Where it was read from; its name is looked up.
    routes : int, optional
        With vehicles minimised first, distances compare only between fleets of one size: that of the solution.
    """
    for row in _table().get((instance.problem, stem(file).lower()), []):
        if row["best_known"] and int(row["n"]) == instance.n and _same_convention(row, instance, routes):
            return float(row["best_known"])
    return None


def _same_convention(row: dict[str, str], instance: Any, routes: int | None) -> bool:
    if row["rounding"] != "any" and row["rounding"] != instance.distance.rounding:
        return False
    if instance.kind != "routes":
        return not minimises_makespan(instance)
    vehicles = int(row["vehicles"]) if row["vehicles"] else None
    if vehicles is not None and instance.max_vehicles is not None and vehicles > instance.max_vehicles:
        return False
    return row["objective"] == instance.objective and (instance.objective != "vehicles" or routes in (None, vehicles))


def gap_to(cost: float, best: float | None, maximise: bool = False) -> float | None:
    """(cost - best) / |best|, positive where the cost is worse; None without a best-known cost to divide by."""
    if best is None or not math.isfinite(cost):
        return None
    if math.isclose(cost, best, rel_tol=1e-9):
        return 0.0
    return (best - cost if maximise else cost - best) / abs(best) if best else None


def solved(solution: Solution, file: str) -> dict[str, Any]:
    """The record of a solution; design: one JSON object a file."""
    instance: Any = solution.instance
    routes = len(solution.answer) if instance.kind == "routes" else None
    best = best_known(instance, file, routes)
    return {
        "instance": file,
        "problem": instance.problem,
        "n": instance.n,
        "solver": solution.solver,
        "seed": solution.seed,
        "status": solution.status,
        "cost": number(solution.cost),
        "feasible": solution.feasible,
        "violations": [str(violation) for violation in solution.violations],
        "bound": number(solution.bound),
        "gap": number(solution.gap),
        "best_known": number(best),
        "gap_to_best_known": number(gap_to(solution.cost, best, getattr(instance, "maximise", False))),
        "time": round(solution.time_search, 3),
        "iterations": solution.iterations,
        "history": [[round(seconds, 3), number(cost)] for seconds, cost in solution.history],
        instance.kind: plain(instance, solution.answer),
        "version": __version__,
    }


def unsolved(instance: Problem, error: NcosolveError, file: str, solver: str, seed: int, time: float) -> dict[str, Any]:
    """The record of a solve that ended without a solution, and why."""
    return {
        "instance": file,
        "problem": instance.problem,
        "n": instance.n,
        "solver": solver,
        "seed": seed,
        "status": "infeasible" if isinstance(error, Infeasible) else "no_solution",
        "cost": None,
        "feasible": False,
        "violations": list(getattr(error, "violations", ())),
        "bound": None,
        "gap": None,
        "best_known": number(best_known(instance, file)),
        "gap_to_best_known": None,
        "time": round(time, 3),
        "iterations": None,
        "history": [],
        instance.kind: None,
        "reason": str(error),
        "version": __version__,
    }


def plain(instance: Any, answer: Any) -> Any:
    """An answer in lists of plain numbers: a tour, routes, or the values that are not 0 by their column's name."""
    match instance.kind:
        case "tour":
            return answer.tolist()
        case "routes":
            return [route.tolist() for route in answer]
    return {instance.column_names[k]: number(answer[k]) for k in answer.nonzero()[0]}


def checked(solution: Solution, file: str, solution_file: str) -> dict[str, Any]:
    """The record of a solution that was read from a file and checked."""
    return {
        "instance": file,
        "solution": solution_file,
        "problem": solution.instance.problem,
        "n": solution.instance.n,
        "cost": number(solution.cost),
        "feasible": solution.feasible,
        "violations": [str(violation) for violation in solution.violations],
        "version": __version__,
    }
