"""What the MILP engines share: a HiGHS object from an instance, watching a foreign solver, whole values, conflicts."""

import contextlib
import logging
import math
import queue
import threading
from collections.abc import Callable
from typing import Any

import highspy
import numpy as np

from ncosolve.engines.base import Outcome, Task
from ncosolve.formats.mps import quiet_highs
from ncosolve.problems.base import FloatArray
from ncosolve.problems.milp import MILP

log = logging.getLogger("ncosolve")

POLL = 0.02
"""Seconds between two looks at the clock while a foreign solver runs."""
GRACE = 0.25
"""Seconds that a foreign solver gets to come back once it was told to stop; then it is left to end by itself."""
REPAIR = 1.0
"""The most seconds that the repair of one rounded answer, or the search for a conflict, may take."""
EXPLAINED = 50_000
"""Up to this many coefficients the rows that clash are looked for."""
NAMED = 4
"""So many rows and columns of a conflict are named."""

Candidates = queue.SimpleQueue[tuple[FloatArray, int]]
"""Answers that a solver found, each with the nodes it had used by then."""


def pass_model(solver: Any, instance: MILP, objective: FloatArray | None = None) -> None:
    """Give a HiGHS object the instance, or the instance with another objective."""
    rows = instance.rows
    m, n = rows.shape
    solver.passModel(
        n,
        m,
        rows.nnz,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMaximize if instance.maximise else highspy.ObjSense.kMinimize),
        instance.offset,
        instance.objective if objective is None else objective,
        instance.lower,
        instance.upper,
        instance.row_lower,
        instance.row_upper,
        rows.indptr.astype(np.int32),
        rows.indices.astype(np.int32),
        rows.data,
        instance.integer.astype(np.int32),
    )


def without_columns(task: Task) -> Outcome:
    """The outcome of an instance without columns, which foreign solvers refuse or treat as empty."""
    nothing = np.empty(0)
    if task.incumbent.offer(nothing) or task.incumbent.answer is not None:
        return Outcome(bound=task.instance.offset, optimal=True)
    return Outcome(infeasible="; ".join(map(str, task.instance.check(nothing).violations)))


def watch(task: Task, work: Callable[[], None], stop: Callable[[], None], candidates: Candidates) -> bool:
    """Run a foreign solver in a thread of its own; offer what it finds; tell it to stop when the task is over.

    So the calling thread stays free for Ctrl-C, and the limit holds even while the solver does not listen.

    Parameters
    ----------
    task : Task
        Supplies the clock and takes the answers.
    work : callable
        Solves; releases the interpreter's lock meanwhile.
    stop : callable
        Asks the solver to stop; called again at every look, from the calling thread.
    candidates : queue
        Where the solver's callbacks put answers.

    Returns
    -------
    bool
        Whether the solver came back; otherwise nothing of it may be touched any more.
    """
    failures: list[BaseException] = []

    def body() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=body, name="foreign solver")
    thread.start()
    told = math.inf
    try:
        while thread.is_alive() and task.deadline.total() < told + GRACE:
            with contextlib.suppress(queue.Empty):
                offer(task, *candidates.get(timeout=POLL))
            if told == math.inf and task.over():
                told = task.deadline.total()
            if told < math.inf:
                stop()
    finally:
        if thread.is_alive():
            stop()
    newest = None
    while not candidates.empty():
        newest = candidates.get()
    if newest is not None:
        offer(task, *newest)
    if failures:
        raise failures[0]
    return not thread.is_alive()


def offer(task: Task, values: FloatArray, nodes: int = 0) -> None:
    """Offer a solver's answer with its integer columns made whole.

    Where that breaks a row, the continuous columns are found anew, and where that fails the answer is offered as it is.
    """
    instance = task.instance
    clipped = np.clip(values, instance.lower, instance.upper)
    whole = np.where(instance.integer, np.round(clipped), clipped) + 0.0
    feasible = instance.check(whole).feasible
    if not feasible and not instance.integer.all():
        repaired = _repair(instance, whole, max(GRACE, min(REPAIR, task.deadline.remaining())))
        feasible, whole = repaired is not None, whole if repaired is None else repaired
    task.incumbent.offer(whole if feasible else values, nodes)


def _repair(instance: MILP, whole: FloatArray, seconds: float) -> FloatArray | None:
    """The best answer with these values in the integer columns, or None."""
    solver = quiet_highs()
    solver.setOptionValue("time_limit", seconds)
    solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
    pass_model(solver, instance)
    fixed = np.flatnonzero(instance.integer).astype(np.int32)
    kinds = np.zeros(instance.n, np.uint8)
    solver.changeColsIntegrality(instance.n, np.arange(instance.n, dtype=np.int32), kinds)
    solver.changeColsBounds(len(fixed), fixed, whole[fixed], whole[fixed])
    solver.run()
    found = solver.getSolution().col_value
    if len(found) != instance.n:
        return None
    values = np.where(instance.integer, whole, found)
    return values if instance.check(values).feasible else None


def closed(task: Task, claimed: float) -> bool:
    """Whether the incumbent is as good as the optimum that a solver claims, to 1e-6."""
    cost = task.incumbent.cost
    return task.incumbent.answer is not None and abs(cost - claimed) <= 1e-6 * max(1.0, abs(claimed))


def bound_of(task: Task, bound: float) -> float | None:
    """A solver's dual bound as ours: None when infinite, never on the wrong side of the incumbent."""
    if not math.isfinite(bound) or abs(bound) >= 1e20:
        return None
    if task.incumbent.answer is None:
        return bound
    cost = task.incumbent.cost
    if not (bound < cost if task.instance.maximise else bound > cost):
        return bound
    if closed(task, bound):
        return cost
    log.warning("the solver's bound %g is refuted by an answer that costs %g", bound, cost)
    return None


def conflict(instance: MILP) -> str:
    """Which rows and columns clash in an instance without a solution; empty where that needs its integrality.

    An irreducible set: without any one of its rows and bounds, the rest has a solution.
    """
    if instance.rows.nnz > EXPLAINED:
        return ""
    solver = quiet_highs()
    solver.setOptionValue("time_limit", REPAIR)
    solver.setOptionValue("iis_strategy", int(highspy.IisStrategy.kIisStrategyIrreducible))
    pass_model(solver, instance)
    status, found = solver.getIis()
    if status != highspy.HighsStatus.kOk or not found.valid_ or not found.row_index_:
        return ""
    names = [f"row {instance.row_names[k]}" for k in found.row_index_]
    free = int(highspy.IisBoundStatus.kIisBoundStatusFree)
    columns = [k for k, bound in zip(found.col_index_, found.col_bound_, strict=True) if bound > free]
    names += [f"the bounds of column {instance.column_names[k]}" for k in columns]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"these clash: {', '.join(names[:NAMED])}{more}"


def refute(instance: MILP, who: str) -> str:
    """Why an instance is infeasible, once a solver has proved that it is."""
    return conflict(instance) or f"{who} proved that no values keep all rows, bounds and integrality"
