"""One run of a benchmark, measured in a process of its own."""

import contextlib
import hashlib
import json
import logging
import math
import os
import resource
import sys
import time
from dataclasses import dataclass
from typing import Any

import psutil

from ncosolve import catalog, child, record, solving
from ncosolve.bench.machine import machine, now, versions
from ncosolve.bench.runs import Run
from ncosolve.bench.suites import instance_of
from ncosolve.bench.table import Row
from ncosolve.child import Child, ChildError
from ncosolve.errors import Infeasible, NcosolveError, NoSolutionFound
from ncosolve.formats.solutions import dumps
from ncosolve.problems import generate
from ncosolve.solution import Solution

PATIENCE = 2.0, 90.0
"""A run is killed after its limit times the first and the second in seconds; compilation takes some of it."""
WARM_SIZE = {"tsp": 20, "cvrp": 20, "vrptw": 20, "tsptw": 20, "tspdl": 20, "milp": 30}
"""The size of the instance on which a solver warms up."""
WARM_WORK, WARM_SECONDS = 200, 5.0
LONGEST_NAME = 200
"""Bytes of the name of an answer's file."""
LONGEST_REASON = 500
"""Characters."""
STEP = 0.005
"""Of the incumbents within such a stretch of the logarithm of time, a history keeps the last."""


@dataclass(frozen=True)
class Measured:
    """A finished run: its row, and the text of its answer's file, empty without an answer."""

    row: Row
    answer: str = ""


def measured(run: Run, cores: list[int] | None, cancelled: Any = None) -> Measured:
    """Run a solver in a new process and say how it went, whatever happens to that process.

    Parameters
    ----------
    run : Run
        What to do.
    cores : list of int, optional
        The cores that the process is confined to.
    cancelled : callable, optional
        When it says so, the process is killed.
    """
    began, started = time.perf_counter(), now()
    until = began + PATIENCE[0] * run.limit + PATIENCE[1]
    process = Child(_environment(run.threads))
    try:
        done = process.call(
            _measure, run, cores, over=lambda: time.perf_counter() > until or (cancelled is not None and cancelled())
        )
        reason = f"killed after {time.perf_counter() - began:.0f} s"
    except ChildError as error:
        done, reason = None, str(error)
    finally:
        process.kill()
    return done or Measured(_row(run, started, status="failed", reason=reason, wall=time.perf_counter() - began))


def _environment(threads: int) -> dict[str, str]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


def _measure(run: Run, cores: list[int] | None) -> Measured:
    """What happens in the new process."""
    if cores is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    logging.getLogger("ncosolve").addHandler(logging.StreamHandler(sys.stderr))
    started, instance = now(), instance_of(run.case.source)
    try:
        solving.prepare(instance, run.solver)
        warm_up(run)
        before = _processor_seconds()
        began = time.perf_counter()
        solution, status, reason = _solve(instance, run)
        total = time.perf_counter() - began
        child.end_idle()
        spent = _processor_seconds() - before
    except NcosolveError as error:
        return Measured(_row(run, started, status="failed", reason=str(error)))
    compiling = solution.time_compile if solution is not None else 0.0
    routes = len(solution.routes) if solution is not None and instance.kind == "routes" else None
    common = {
        "status": status,
        "reason": reason,
        "maximise": bool(getattr(instance, "maximise", False)),
        "wall": round(total - compiling, 3),
        "compiling": round(compiling, 3),
        "cpu": round(spent, 3),
        "memory": round(_peak_memory(), 1),
        "best_known": record.best_known(instance, json.loads(run.case.source).get("file", ""), routes),
    }
    if solution is None:
        return Measured(_row(run, started, **common))
    check = instance.check(instance.answer(solution.answer))
    row = _row(
        run,
        started,
        **common,
        used=solution.solver,
        cost=solution.cost,
        bound=float(solution.bound) if solution.bound is not None and math.isfinite(solution.bound) else None,
        valid=check.feasible and math.isclose(check.cost, solution.cost, rel_tol=1e-9, abs_tol=1e-9),
        iterations=int(solution.iterations),
        history=_thinned(solution.history),
        solution=_file_name(run.key),
    )
    return Measured(row, dumps(solution))


def _solve(instance: Any, run: Run) -> tuple[Solution | None, str, str]:
    """The solution or None, the status, and the reason for None."""
    try:
        solution = solving.solve(
            instance, run.solver, time_limit=run.limit, seed=run.seed, threads=run.threads, device=run.device
        )
    except Infeasible as error:
        return None, "infeasible", str(error)
    except NoSolutionFound as error:
        return None, "no_solution", str(error)
    except Exception as error:
        return None, "failed", str(error) if isinstance(error, NcosolveError) else f"{type(error).__name__}: {error}"
    return solution, solution.status, ""


def warm_up(run: Run) -> None:
    """Have a small instance solved by all that the run may use, so that kernels and processes are there beforehand."""
    case = run.case
    automatic = [named.name for named in catalog.automatic(case.problem, case.n)]
    small = generate(case.problem, WARM_SIZE[case.problem], seed=1)
    for name in automatic if run.solver == "auto" else [run.solver]:
        with contextlib.suppress(Exception):  # what is wrong with it will show in its runs
            solving.solve(small, name, time_limit=WARM_SECONDS, max_iterations=WARM_WORK, threads=run.threads)


def _row(run: Run, started: str, **found: Any) -> Row:
    needs = () if run.solver == "auto" else catalog.find(run.solver, run.case.problem).needs
    empty: dict[str, Any] = {
        "used": "",
        "cost": None,
        "bound": None,
        "maximise": False,
        "best_known": None,
        "valid": False,
        "wall": 0.0,
        "compiling": 0.0,
        "cpu": None,
        "memory": None,
        "iterations": None,
        "history": (),
        "solution": "",
    }
    reason = " ".join(str(found.pop("reason", "")).split())
    return Row(
        problem=run.case.problem,
        instance=run.case.name,
        n=run.case.n,
        solver=run.solver,
        seed=run.seed,
        limit=run.limit,
        threads=run.threads,
        device=run.device,
        anytime=run.anytime,
        source=run.case.source,
        parameters=run.parameters,
        machine=machine(),
        versions=versions(needs),
        started=started,
        reason=reason[:LONGEST_REASON],
        **{**empty, **found},
    )


def _processor_seconds() -> float:
    """Of this process, of those it has ended, and of those that run for it."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    total = sum(each.ru_utime + each.ru_stime for each in spent)
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def _peak_memory() -> float:
    """The largest resident size that this process or one of those it has ended ever had, in MB."""
    unit = 2.0**20 if sys.platform == "darwin" else 2.0**10
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / unit


def _file_name(key: str) -> str:
    """A name for the answer of a run that any file system takes."""
    name = key.replace("/", "_")
    if len(name.encode()) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME // 4]}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    return f"{name}.sol"


def _thinned(history: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    kept = {int(math.log(max(seconds, 1e-3)) / STEP): (round(seconds, 3), cost) for seconds, cost in history}
    return tuple(kept.values())
