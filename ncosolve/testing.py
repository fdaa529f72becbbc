"""The contract that every problem and every solver keeps, as functions that anyone who adds one can call."""

import dataclasses
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ncosolve import catalog, formats, problems
from ncosolve.errors import Infeasible, NoSolutionFound
from ncosolve.problems.base import Problem
from ncosolve.solution import STATUSES, Solution
from ncosolve.solving import solve

SIZES = (1, 2, 3, 4, 6, 12)
"""Sizes of the small instances; every solver must take them all."""
LARGEST_PROVED = 12
"""Up to this many nodes, or columns, answers are compared with a proved optimum."""
OVERRUN_SHARE, OVERRUN_SECONDS = 0.03, 0.3
"""How far a solve may be over its time limit once kernels are compiled."""


def instances(problem: str, sizes: Iterable[int] = SIZES, seed: int = 0) -> list[Any]:
    """Small random instances of a problem that have a feasible solution."""
    options: dict[str, dict[str, Any]] = {"tsptw": {"hardness": "hard"}, "cvrp": {"recipe": "uniform"}}
    smallest = 6 if problem == "milp" else 1
    return [
        problems.generate(problem, max(n, smallest), seed=seed + k, **options.get(problem, {}))
        for k, n in enumerate(sizes)
    ]


def check_problem(problem: str) -> None:
    """Assert that a problem of the registry keeps the contract.

    Equal seeds give equal instances, instances cannot be changed, an answer in canonical form stays as it is, a file
    brings back the same costs, and what can be solved is not called infeasible.

    Parameters
    ----------
    problem : str
        A name of `ncosolve.problems.PROBLEMS`.

    Raises
    ------
    AssertionError
        With a sentence that says what is broken.
    """
    module = problems.module(problem)
    _require(module.INSTANCE.problem == problem, f"INSTANCE.problem is {module.INSTANCE.problem!r}, not {problem!r}")
    for first, again, other in zip(instances(problem), instances(problem), instances(problem, seed=100), strict=True):
        _require(isinstance(first, Problem), f"{type(first).__name__} does not offer what Problem asks for")
        _require(_content(first) == _content(again), f"{problem}: equal seeds gave different instances")
        if first.n > 3:
            _require(_content(first) != _content(other), f"{problem}: different seeds gave equal instances")
        _require(first.clash() is None, f"{problem}: a feasible instance is called infeasible: {first.clash()}")
        _check_frozen(first)
        solution = solve(first, time_limit=1.0)
        _require(
            _equal(first.answer(solution.answer), solution.answer), f"{problem}: answer() changes a canonical answer"
        )
        _check_round_trip(first, solution)


def check_engine(solver: str, sizes: Sequence[int] = SIZES, time_limit: float = 0.5, max_iterations: int = 200) -> None:
    """Assert that a solver of the catalogue keeps the contract on every problem that it claims.

    Answers are valid and their cost is exact, the time limit is kept, also one of 0, equal seeds repeat where
    iterations are limited, a start is never worsened, a target ends the search, Ctrl-C returns the best so far, and the
    instance stays as it was.

    Parameters
    ----------
    solver : str
        A name of the catalogue.
    sizes : sequence of int
        The sizes of the instances.
    time_limit : float
        Seconds for each solve.
    max_iterations : int
        The iterations of those that are repeated.

    Raises
    ------
    AssertionError
        With a sentence that says what is broken.
    """
    for problem in catalog.solvers()[solver].problems:
        for instance in instances(problem, sizes):
            _check_runs(solver, instance, time_limit, max_iterations)


def _check_runs(solver: str, instance: Any, time_limit: float, max_iterations: int) -> None:
    label = f"{solver} on {instance.problem} with n = {instance.n}"
    before = _content(instance)
    solve(instance, solver, time_limit=time_limit)  # compiles
    solution = solve(instance, solver, time_limit=time_limit, seed=1)
    _check_solution(label, instance, solution)
    _check_time(label, solution, time_limit)
    _check_zero(label, solver, instance)

    _check_proof(label, instance, solution)
    repeated = [solve(instance, solver, max_iterations=max_iterations, time_limit=20.0, seed=5) for _ in range(2)]
    _require(_equal(repeated[0].answer, repeated[1].answer), f"{label}: equal seeds gave different answers")

    started = solve(instance, solver, time_limit=time_limit / 5, start=solution)
    _require(
        instance.order(started.answer, started.cost) <= instance.order(solution.answer, solution.cost),
        f"{label}: a start of cost {solution.cost} was worsened to {started.cost}",
    )
    reached = solve(instance, solver, time_limit=60.0, target=solution.cost, start=solution)
    _require(reached.time_search < 30.0, f"{label}: a target that the start meets did not end the search")
    _check_interrupt(label, lambda: solve(instance, solver, time_limit=30.0, start=solution))
    _require(_content(instance) == before, f"{label}: the instance was changed")


def _check_solution(label: str, instance: Any, solution: Solution) -> None:
    check = instance.check(solution.answer)
    _require(check.feasible, f"{label}: {'; '.join(map(str, check.violations))}")
    _require(check.cost == solution.cost, f"{label}: cost {solution.cost}, recomputed {check.cost}")
    _require(solution.status in STATUSES[:2], f"{label}: status {solution.status!r}")
    _require(bool(solution.history), f"{label}: the history is empty")
    costs = [cost for _, cost in solution.history]
    if len(instance.order(solution.answer, solution.cost)) == 1 and not getattr(instance, "maximise", False):
        _require(costs == sorted(costs, reverse=True), f"{label}: the history rises")
    _require(costs[-1] == solution.cost, f"{label}: the history ends at {costs[-1]}, the cost is {solution.cost}")
    if solution.bound is not None:
        slack = 1e-6 * max(1.0, abs(solution.cost))
        sign = -1.0 if getattr(instance, "maximise", False) else 1.0
        _require(
            sign * (solution.cost - solution.bound) >= -slack, f"{label}: bound {solution.bound}, cost {solution.cost}"
        )


def _check_proof(label: str, instance: Any, solution: Solution) -> None:
    """What is small enough is compared with a proved optimum."""
    reference = "highs" if instance.problem == "milp" else "exact"
    if instance.n > LARGEST_PROVED or instance.n < 3:
        return
    best = solve(instance, reference, time_limit=10.0)
    _require(best.status == "optimal", f"{label}: {reference} proves nothing")
    slack = 1e-6 * max(1.0, abs(best.cost))
    key, optimal = instance.order(solution.answer, solution.cost), instance.order(best.answer, best.cost)
    _require(key[-1] >= optimal[-1] - slack, f"{label}: cost {solution.cost}, but the optimum is {best.cost}")
    if solution.status == "optimal":
        _require(key[-1] <= optimal[-1] + slack, f"{label}: {solution.cost} is called optimal, {best.cost} is cheaper")


def _check_time(label: str, solution: Solution, limit: float) -> None:
    allowed = limit * (1.0 + OVERRUN_SHARE) + OVERRUN_SECONDS
    _require(solution.time_search <= allowed, f"{label}: {solution.time_search:.2f} s for a limit of {limit} s")


def _check_zero(label: str, solver: str, instance: Any) -> None:
    try:
        _check_time(label, solve(instance, solver, time_limit=0.0), 0.0)
    except NoSolutionFound:
        pass
    except Infeasible as error:
        raise AssertionError(f"{label}: called infeasible with no time: {error}") from error


def _check_interrupt(label: str, run: Callable[[], Solution]) -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    ended = False
    timer.start()
    try:
        solution = run()
        ended = True
        timer.join()  # a solve that ends by itself must not leave the signal to its caller
    except KeyboardInterrupt:
        _require(ended, f"{label}: Ctrl-C raised KeyboardInterrupt")
    finally:
        timer.cancel()
    _require(solution.time_search < 5.0, f"{label}: Ctrl-C after 0.3 s, back after {solution.time_search:.1f} s")


def _check_frozen(instance: Any) -> None:
    fields = [field.name for field in dataclasses.fields(instance)]
    for field in fields:
        try:
            setattr(instance, field, None)
        except dataclasses.FrozenInstanceError:
            continue
        raise AssertionError(f"{instance.problem}: {field} can be assigned to")
    for field in fields:
        value = getattr(instance, field)
        if isinstance(value, np.ndarray) and value.dtype == np.float64:
            _require(not value.flags.writeable, f"{instance.problem}: the array {field} can be written to")


def _check_round_trip(instance: Any, solution: Solution) -> None:
    """An instance and its solution come back from files."""
    if instance.n < 3:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"instance.{instance.problem}"
        formats.write(instance, file)
        copy = formats.read(file, problem=instance.problem)
        _require(copy.problem == instance.problem and copy.n == instance.n, f"{instance.problem}: {file.name} differs")
        cost = copy.check(solution.answer).cost
        close = abs(cost - solution.cost) <= 1e-6 * max(1.0, abs(solution.cost))
        _require(close, f"{instance.problem}: cost {solution.cost} became {cost} in a file")
        answer = Path(folder) / "answer.sol"
        solution.write(answer)
        again = formats.read_solution(answer, instance)
        _require(
            abs(again.cost - solution.cost) <= 1e-6 * max(1.0, abs(solution.cost)) and again.feasible,
            f"{instance.problem}: cost {solution.cost} became {again.cost} in {answer.name}",
        )


def _content(value: Any) -> Any:
    """Everything that an instance holds, in a form that compares."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(_content(getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if hasattr(value, "toarray"):
        return _content(value.toarray())
    return value


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(np.array_equal, first, second))
    return bool(np.array_equal(first, second))


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)
