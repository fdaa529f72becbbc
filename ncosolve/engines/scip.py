"""SCIP on mixed-integer and plain linear programs, by its Python interface."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ncosolve.engines import mip_model
from ncosolve.engines.base import Outcome, Task
from ncosolve.errors import InputError
from ncosolve.problems.base import FloatArray
from ncosolve.problems.milp import MILP

if TYPE_CHECKING:
    from pyscipopt import Model, Variable

PROBLEMS = ("milp",)

BLOCK = 500
"""Rows that are handed over between two looks at the clock."""


def run(task: Task) -> Outcome:
    """Solve until optimality, infeasibility or unboundedness is proved, or the task is over.

    Runs on one thread whatever ``task.threads`` says. One iteration is a node of the tree.

    Raises
    ------
    InputError
        When the objective is unbounded.
    """
    if task.over():
        return Outcome()
    if task.instance.n == 0:
        return mip_model.without_columns(task)
    candidates = mip_model.Candidates()
    built = _build(task, task.instance.objective)
    if built is None:
        return Outcome()
    model, columns = built
    _listen(model, columns, candidates)
    _put_start(task, model, columns)
    if not mip_model.watch(task, model.optimizeNogil, model.interruptSolve, candidates):
        return Outcome()
    nodes, status = int(model.getNTotalNodes()), model.getStatus()
    if status in ("inforunbd", "unbounded"):
        status = _told_apart(task)
    if status == "unbounded":
        raise InputError("is unbounded: it can be improved without limit", where="objective")
    if status == "infeasible":
        return Outcome(nodes, infeasible=mip_model.refute(task.instance, "SCIP"))
    if model.getNSols() > 0:
        mip_model.offer(task, _values(model, columns), nodes)
    proved = status == "optimal" and mip_model.closed(task, model.getObjVal())
    return Outcome(nodes, mip_model.bound_of(task, model.getDualbound()), proved)


def _build(task: Task, objective: FloatArray) -> "tuple[Model, list[Variable]] | None":
    """The instance as a SCIP model with another objective, or None when time is up before it is complete."""
    from pyscipopt import Expr, ExprCons, Model

    instance: MILP = task.instance
    model = Model()
    model.hideOutput()
    model.setParam("misc/catchctrlc", False)
    model.setParam("randomization/randomseedshift", task.seed % 2**31)
    model.setParam("limits/time", min(1e20, task.deadline.remaining()))
    if task.max_iterations is not None:
        model.setParam("limits/totalnodes", task.max_iterations)
    columns = [
        model.addVar(vtype="I" if whole else "C", lb=_finite(low), ub=_finite(high), obj=float(cost))
        for whole, low, high, cost in zip(instance.integer, instance.lower, instance.upper, objective, strict=True)
    ]
    if instance.maximise:
        model.setMaximize()
    model.addObjoffset(instance.offset)
    starts, where, entries = instance.rows.indptr, instance.rows.indices, instance.rows.data
    for k, (low, high) in enumerate(zip(instance.row_lower, instance.row_upper, strict=True)):
        if k % BLOCK == 0 and task.over():
            return None
        if math.isinf(low) and math.isinf(high):
            continue
        row = model.addCons(ExprCons(Expr(), _finite(low), _finite(high)))
        for entry in range(starts[k], starts[k + 1]):
            model.addCoefLinear(row, columns[where[entry]], float(entries[entry]))
    return model, columns


def _finite(bound: float) -> float | None:
    return float(bound) if math.isfinite(bound) else None


def _listen(model: "Model", columns: "list[Variable]", candidates: mip_model.Candidates) -> None:
    """Put each new best solution into the queue."""
    from pyscipopt import SCIP_EVENTTYPE, Eventhdlr

    class Listener(Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            self.model.catchEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

        def eventexit(self) -> None:
            self.model.dropEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

        def eventexec(self, _: Any) -> None:
            candidates.put((_values(self.model, columns), int(self.model.getNTotalNodes())))

    model.includeEventhdlr(Listener(), "incumbents", "streams incumbents")


def _values(model: "Model", columns: "list[Variable]") -> FloatArray:
    best = model.getBestSol()
    return np.array([model.getSolVal(best, column) for column in columns], np.float64)


def _put_start(task: Task, model: "Model", columns: "list[Variable]") -> None:
    if task.incumbent.answer is None:
        return
    solution = model.createSol()
    for column, value in zip(columns, task.incumbent.answer, strict=True):
        model.setSolVal(solution, column, float(value))
    model.addSol(solution)


def _told_apart(task: Task) -> str:
    """Unbounded or infeasible: any feasible point decides; SCIP's own status where time is too short to find out."""
    built = _build(task, np.zeros(task.instance.n))
    if built is None:
        return "timelimit"
    model, _ = built
    mip_model.watch(task, model.optimizeNogil, model.interruptSolve, mip_model.Candidates())
    status = model.getStatus()
    return "unbounded" if status == "optimal" else str(status)
