"""HiGHS on mixed-integer and plain linear programs: branch and cut, and the simplex method."""

import math
from typing import Any

import highspy
import numpy as np

from ncosolve.engines import mip_model
from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.mip_dive import dive
from ncosolve.errors import InputError
from ncosolve.formats.mps import quiet_highs
from ncosolve.problems.base import FloatArray
from ncosolve.problems.milp import MILP

PROBLEMS = ("milp",)

_CALLBACK = highspy.cb.HighsCallbackType
_STATUS = highspy.HighsModelStatus
RESCUE = 0.1
"""The share of the time limit after which, without an answer, the tree search pauses for a dive."""
LONGEST_DIVE = 0.5
"""The share of the time then left that the dive may take."""
_STOPS = (_CALLBACK.kCallbackMipInterrupt, _CALLBACK.kCallbackSimplexInterrupt, _CALLBACK.kCallbackIpmInterrupt)


def run(task: Task) -> Outcome:
    """Solve until optimality, infeasibility or unboundedness is proved, or the task is over.

    The relative gap at which it stops is 0. One iteration is a node of the tree, or a simplex iteration of a program
    without integer columns.

    Raises
    ------
    InputError
        When the objective is unbounded.
    """
    if task.over():
        return Outcome()
    if task.instance.n == 0:
        return mip_model.without_columns(task)
    solve = _Solve(task)
    if not mip_model.watch(task, solve.work, solve.stop, solve.candidates):
        return Outcome(solve.nodes, mip_model.bound_of(task, solve.bound))
    return solve.outcome()


class _Solve:
    """One HiGHS object, made for one solve since its clock adds up over several, and what its callbacks see."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.candidates: mip_model.Candidates = mip_model.Candidates()
        self.stopped = False
        self.dived = False
        self.gift: FloatArray | None = None  # what the dive found, until the tree search takes it
        self.nodes = 0
        self.bound = -math.inf
        self.solver = solver = quiet_highs()
        for name, value in _options(task).items():
            solver.setOptionValue(name, value)
        mip_model.pass_model(solver, task.instance)
        _put_start(task, solver)
        solver.setCallback(self._called, None)
        for kind in (*_STOPS, _CALLBACK.kCallbackMipImprovingSolution, _CALLBACK.kCallbackMipUserSolution):
            solver.startCallback(kind)

    def work(self) -> None:
        """Solve, in a thread of its own: HiGHS keeps a scheduler a thread, whose number of workers cannot change."""
        self.solver.run()
        self.solver.resetThreadScheduler(False)

    def stop(self) -> None:
        """Let the next callback end the solve."""
        self.stopped = True

    def _called(self, kind: Any, _: str, seen: Any, answer: Any, __: Any) -> None:
        if kind == _CALLBACK.kCallbackMipImprovingSolution:
            self.candidates.put((np.array(seen.mip_solution, np.float64), int(seen.mip_node_count)))
        if kind in (_CALLBACK.kCallbackMipImprovingSolution, _CALLBACK.kCallbackMipInterrupt):
            self.nodes, self.bound = int(seen.mip_node_count), float(seen.mip_dual_bound)
        if kind == _CALLBACK.kCallbackMipInterrupt:
            self._rescue()
        if kind == _CALLBACK.kCallbackMipUserSolution and self.gift is not None:
            answer.setSolution(self.gift)
            self.gift = None
        if kind in _STOPS and self.stopped:
            answer.user_interrupt = True

    def _rescue(self) -> None:
        """Dive once where nothing was found in time; the tree search waits meanwhile."""
        task, clock = self.task, self.task.deadline
        found = task.incumbent.answer is not None or not self.candidates.empty()
        if self.dived or found or task.max_iterations is not None or clock.elapsed() < RESCUE * clock.limit:
            return
        self.dived = True
        self.gift = dive(task.instance, LONGEST_DIVE * clock.remaining(), lambda: self.stopped)
        if self.gift is not None:
            self.candidates.put((self.gift, self.nodes))

    def outcome(self) -> Outcome:
        """What the finished solve proves."""
        instance, info, status = self.task.instance, self.solver.getInfo(), self.solver.getModelStatus()
        mixed = bool(instance.integer.any())
        nodes = max(0, int(info.mip_node_count if mixed else info.simplex_iteration_count))
        values = self.solver.getSolution().col_value
        if len(values) == instance.n and info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
            mip_model.offer(self.task, np.array(values, np.float64), nodes)
        if status in (_STATUS.kUnbounded, _STATUS.kUnboundedOrInfeasible):
            status = _told_apart(self.task)
        if status == _STATUS.kUnbounded:
            raise InputError("is unbounded: it can be improved without limit", where="objective")
        if status == _STATUS.kInfeasible:
            return Outcome(nodes, infeasible=mip_model.refute(instance, "HiGHS"))
        optimal = status == _STATUS.kOptimal
        bound = info.mip_dual_bound if mixed else info.objective_function_value if optimal else math.inf
        proved = optimal and mip_model.closed(self.task, info.objective_function_value)
        return Outcome(nodes, mip_model.bound_of(self.task, bound), proved)


def _options(task: Task) -> dict[str, Any]:
    options: dict[str, Any] = {
        "threads": task.threads,
        "parallel": "on" if task.threads > 1 else "off",
        "random_seed": task.seed % 2**31,
        "mip_rel_gap": 0.0,
        "time_limit": task.deadline.remaining(),
    }
    if task.max_iterations is not None:
        unit = "mip_max_nodes" if task.instance.integer.any() else "simplex_iteration_limit"
        options[unit] = min(task.max_iterations, 2**31 - 1)
    return options


def _put_start(task: Task, solver: Any) -> None:
    """Hand over the incumbent, or an infeasible start whose integer columns HiGHS may be able to complete."""
    values = task.start if task.incumbent.answer is None else task.incumbent.answer
    if values is None or not task.instance.integer.any():
        return
    solution = highspy.HighsSolution()
    solution.col_value = values.tolist()
    solver.setSolution(solution)


def _told_apart(task: Task) -> Any:
    """Unbounded or infeasible: any feasible point decides; HiGHS' own status where time is too short to find out."""
    instance: MILP = task.instance
    solver = quiet_highs()
    solver.setOptionValue("time_limit", task.deadline.remaining())
    mip_model.pass_model(solver, instance, np.zeros(instance.n))
    solver.run()
    status = solver.getModelStatus()
    return _STATUS.kUnbounded if status == _STATUS.kOptimal else status
