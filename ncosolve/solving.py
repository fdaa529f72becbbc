"""solve(): picks the solver, keeps the clock, checks what comes back."""

import contextlib
import logging
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ncosolve import catalog
from ncosolve.deadline import Deadline
from ncosolve.engines.base import Batch, Incumbent, Outcome, Proposals, Task
from ncosolve.engines.bounds import lower_bound
from ncosolve.errors import EngineError, Infeasible, InputError, MissingExtra, NoSolutionFound
from ncosolve.interrupts import first_interrupt
from ncosolve.problems.base import Answer, Problem, minimises_makespan, real, whole
from ncosolve.solution import Solution

log = logging.getLogger("ncosolve")

TIME_LIMIT = 10.0
"""Seconds, where neither a time nor an iteration limit is given."""


def solve(
    instance: Problem,
    solver: str = "auto",
    time_limit: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    device: str = "auto",
    start: Any = None,
    target: float | None = None,
    max_iterations: int | None = None,
    on_improvement: Callable[[Solution], None] | None = None,
    *,
    proposals: Proposals | None = None,
) -> Solution:
    """Solve an instance and return the best feasible solution found by the time limit.

    Parameters
    ----------
    instance : TSP, CVRP, VRPTW, TSPTW, TSPDL or MILP
        What to solve.
    solver : str
        A name of the catalogue (``ncosolve solvers``), or "auto".
    time_limit : float, optional
        Seconds of wall clock, first-ever kernel compilation left out; 10 where no ``max_iterations`` is given either.
    seed : int
        With ``max_iterations`` and one thread, equal seeds give equal answers.
    threads : int, optional
        Independent searches that exchange incumbents; 1 when not given.
    device : str
        "auto", "cpu" or "cuda", for solvers with a network.
    start : optional
        A tour, routes, values or a Solution to start from; it may be infeasible where the engine can repair it.
    target : float, optional
        Stop as soon as the cost is at least as good.
    max_iterations : int, optional
        A limit on the engine's own unit of work.
    on_improvement : callable, optional
        Called with a Solution at each new incumbent.
    proposals : Proposals, optional
        What the solver proposed for a batch that holds this instance; `solve_many` sees to it.

    Returns
    -------
    Solution
        Checked: its cost is recomputed and no constraint is violated.

    Raises
    ------
    InputError
        For an argument that is not allowed.
    Infeasible
        When it is proved that no feasible solution exists.
    NoSolutionFound
        When time was up before one was found.
    MissingExtra
        When the named solver needs a package that is not installed.
    EngineError
        When the named solver failed and nothing feasible was found.
    """
    deadline = Deadline(_seconds(time_limit, max_iterations), 0.0 if proposals is None else proposals.seconds)
    _validate(instance, device, target, on_improvement)
    seed, threads = whole(seed, "seed", 0), _threads(threads)
    max_iterations = None if max_iterations is None else whole(max_iterations, "max_iterations", 0)
    choices = _choices(instance, solver)
    reason = instance.clash()
    if reason:
        raise Infeasible(reason)

    raised: list[BaseException] = []

    def report(incumbent: Incumbent) -> None:
        assert on_improvement is not None
        try:
            on_improvement(_solution(incumbent, Outcome(incumbent.iterations), choices[0].name, seed))
        except BaseException as error:  # the caller's own: end the search and hand it back
            raised.append(error)
            deadline.cancel()

    incumbent = Incumbent(instance, deadline, target, report if on_improvement else None)
    task = Task(
        instance,
        deadline,
        incumbent,
        seed=seed,
        threads=threads,
        device=device,
        start=_start(instance, start),
        max_iterations=max_iterations,
        proposals=proposals,
    )
    with first_interrupt(deadline.cancel):
        incumbent.bound = lower_bound(instance, deadline, max_iterations)
        if task.start is not None:
            incumbent.offer(task.start)
        outcome, used = _run(task, choices)
    if raised:
        raise raised[0]
    if incumbent.answer is None:
        if outcome.infeasible:
            raise Infeasible(outcome.infeasible)
        refused = () if incumbent.refused is None else incumbent.refused.violations
        violations = [str(violation) for violation in refused]
        raise NoSolutionFound(_nothing(incumbent, used, outcome.note, violations), violations)
    return _solution(incumbent, outcome, used, seed)


def prepare(instance: Problem, solver: str = "auto") -> None:
    """Load what a solve needs, compiler included, so that the clock of a following `solve` counts its work alone."""
    for named in _choices(instance, solver):
        named.load()
    if "numba" in sys.modules:
        from ncosolve.compilation import start_compiler

        start_compiler()


def solve_many(instances: Iterable[Problem], solver: str = "auto", **options: Any) -> list[Solution]:
    """Solve several instances with the options of `solve`, one after another.

    A solver with a network runs it once for all instances of one problem and one size; the share of that time that
    falls to an instance counts in its time limit.
    """
    given = list(instances)
    proposals = {} if solver == "auto" else _propose(given, catalog.named(solver), options)
    return [solve(instance, solver, proposals=proposals.get(k), **options) for k, instance in enumerate(given)]


def _propose(
    instances: Sequence[Problem], named: catalog.NamedSolver, options: Mapping[str, Any]
) -> dict[int, Proposals]:
    """What a solver's engine proposes for each instance of a batch, by its place; nothing where it proposes nothing."""
    engine, proposals = named.load(), dict[int, Proposals]()
    propose = getattr(engine, "propose", None)
    if propose is None:
        return proposals
    alike: dict[tuple[str, int], list[int]] = {}
    for k, instance in enumerate(instances):
        if isinstance(instance, Problem) and instance.problem in named.problems:
            alike.setdefault((instance.problem, instance.n), []).append(k)
    for places in alike.values():
        began = time.perf_counter()
        batch = Batch(
            [instances[k] for k in places],
            Deadline(_seconds(options.get("time_limit"), options.get("max_iterations"))).limit,
            seed=whole(options.get("seed", 0), "seed", 0),
            threads=_threads(options.get("threads")),
            device=options.get("device", "auto"),
            parameters=_parameters(named, engine),
            folder=named.path,
        )
        answers = propose(batch)
        seconds = (time.perf_counter() - began) / len(places)
        proposals.update({k: Proposals(made, seconds) for k, made in zip(places, answers, strict=True)})
    return proposals


def _seconds(time_limit: float | None, max_iterations: int | None) -> float:
    if time_limit is None:
        return TIME_LIMIT if max_iterations is None else math.inf
    return time_limit


def _threads(threads: int | None) -> int:
    return 1 if threads is None else whole(threads, "threads")


def _choices(instance: Problem, solver: str) -> list[catalog.NamedSolver]:
    """The named solver, or those that "auto" tries in turn."""
    if solver != "auto":
        return [catalog.find(solver, instance.problem)]
    choices = catalog.automatic(instance.problem, instance.n)
    if not choices:
        raise InputError(f"auto has nothing for {instance.problem} with n = {instance.n}", where="solver")
    return choices


def _run(task: Task, choices: list[catalog.NamedSolver]) -> tuple[Outcome, str]:
    """Run the first solver; where it fails, or ends early without a proof, the next."""
    only = _only_answer(task.instance)
    if only is not None:
        if task.incumbent.offer(only) or task.incumbent.answer is not None:
            return Outcome(optimal=True), choices[0].name
        return Outcome(infeasible="; ".join(map(str, task.instance.check(task.instance.answer(only)).violations))), ""
    outcome, failure = Outcome(), None
    for named in choices:
        engine = _engine(named, task)
        try:
            with _compiling(task.deadline):
                outcome = engine.run(task)
            if not isinstance(outcome, Outcome):
                raise EngineError(f"run returned {type(outcome).__name__}, expected an Outcome")
        except (KeyboardInterrupt, InputError, MissingExtra):
            raise
        except Exception as error:
            outcome = Outcome()
            known = isinstance(error, EngineError)
            failure = EngineError(f"{named.name}: {error if known else f'{type(error).__name__}: {error}'}")
            log.warning("%s", failure, exc_info=not known)
            continue
        if outcome.optimal or outcome.infeasible or task.over(outcome.iterations):
            break
    if task.incumbent.answer is None and failure is not None:
        raise failure
    return outcome, named.name


def _compiling(deadline: Deadline) -> contextlib.AbstractContextManager[None]:
    """Leave the compilation of kernels out of the time, where the engine has loaded a compiler."""
    if "numba" not in sys.modules:
        return contextlib.nullcontext()
    from ncosolve.compilation import left_out

    return left_out(deadline)


def _engine(named: catalog.NamedSolver, task: Task) -> Any:
    """The engine of a solver, if it takes the problem and the solver's parameters; they complete its own."""
    engine = named.load()
    problem = task.instance.problem
    if problem not in engine.PROBLEMS:
        raise InputError(
            f"{named.engine!r} does not solve {problem}, only {', '.join(engine.PROBLEMS)}", where="engine"
        )
    if minimises_makespan(task.instance) and not getattr(engine, "MAKESPAN", False):
        raise InputError(f"{named.name!r} does not minimise the makespan", where="solver")
    task.parameters, task.folder = _parameters(named, engine), named.path
    return engine


def _parameters(named: catalog.NamedSolver, engine: Any) -> Mapping[str, Any]:
    """The parameters of a solver, completed by its engine's."""
    known = getattr(engine, "PARAMETERS", {})
    for key in named.parameters:
        if key not in known:
            allowed = f"expected one of {', '.join(sorted(known))}" if known else "the engine has none"
            raise InputError(f"{key!r} is unknown, {allowed}", str(named.path / "solver.toml"), "parameters")
    return {**known, **named.parameters}


def _solution(incumbent: Incumbent, outcome: Outcome, used: str, seed: int) -> Solution:
    deadline = incumbent.deadline
    bound = outcome.bound if outcome.bound is not None else incumbent.bound
    incumbent.bound = bound
    single = len(incumbent.key) == 1  # with vehicles first, a bound on the distance proves nothing
    proved = outcome.optimal or (incumbent.proved and single)
    return Solution(
        incumbent.instance,
        incumbent.answer,
        incumbent.cost,
        status="optimal" if proved else "feasible",
        bound=incumbent.cost if proved and single else bound,
        solver=used,
        seed=seed,
        iterations=max(outcome.iterations, incumbent.iterations),
        history=tuple(incumbent.history),
        time_total=deadline.total(),
        time_search=deadline.elapsed(),
        time_compile=deadline.compiling,
    )


def _nothing(incumbent: Incumbent, used: str, note: str, violations: Sequence[str]) -> str:
    seconds = incumbent.deadline.elapsed()
    text = f"no feasible solution found by {used} in {seconds:.1f} s"
    if note:
        text += f"; {note}"
    if violations:
        text += f"; the least violating candidate violates {'; '.join(violations)}"
    return text


def _only_answer(instance: Problem) -> Answer | None:
    """The one answer that can exist, where there are no two."""
    if instance.kind == "tour" and instance.n <= 2:
        return list(range(instance.n))
    if instance.kind == "routes" and instance.n <= 2:
        return [[1]] if instance.n == 2 else []
    return None


def _start(instance: Problem, start: Any) -> Answer | None:
    if start is None:
        return None
    try:
        return instance.answer(start.answer if isinstance(start, Solution) else start)
    except InputError as error:
        raise InputError(error.problem, where="start") from None


def _validate(instance: Problem, device: str, target: float | None, on_improvement: Any) -> None:
    if not isinstance(instance, Problem):
        raise InputError(f"is {type(instance).__name__}, expected an instance of a problem", where="instance")
    if target is not None and real(target) is None and target not in (math.inf, -math.inf):
        raise InputError(f"is {target!r}, expected a number", where="target")
    if device not in ("auto", "cpu", "cuda"):
        raise InputError(f"is {device!r}, expected auto, cpu or cuda", where="device")
    if on_improvement is not None and not callable(on_improvement):
        raise InputError(f"is {on_improvement!r}, expected a function", where="on_improvement")
