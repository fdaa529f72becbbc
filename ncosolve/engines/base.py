"""What an engine gets and gives: a task, an incumbent that checks every offer, an outcome."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ncosolve.deadline import Deadline
from ncosolve.errors import InputError
from ncosolve.problems.base import Answer, Check, Problem

log = logging.getLogger("ncosolve")


class Incumbent:
    """The best feasible answer so far; safe to offer to from several threads.

    Every offer passes the independent check of the problem first, so an engine cannot report a wrong cost or an
    infeasible answer.

    Parameters
    ----------
    instance : Problem
        What is solved.
    deadline : Deadline
        The clock of the history; cancelled once the target is reached.
    target : float, optional
        A cost at which to stop.
    on_improvement : callable, optional
        Called as ``on_improvement(incumbent)`` after each improvement.

    Attributes
    ----------
    refused : Check or None
        Of the least violating answer among those that were not feasible.
    bound : float or None
        A proved bound on the objective; once an answer meets it, the deadline is cancelled.
    """

    def __init__(
        self,
        instance: Problem,
        deadline: Deadline,
        target: float | None = None,
        on_improvement: "Callable[[Incumbent], None] | None" = None,
    ) -> None:
        self.instance, self.deadline, self.target = instance, deadline, target
        self.bound: float | None = None
        self.answer: Answer | None = None
        self.cost = float("inf")
        self.key: tuple[float, ...] = (float("inf"),)
        self.history: list[tuple[float, float]] = []
        self.iterations = 0
        self.refused: Check | None = None
        self._on_improvement = on_improvement
        self._lock = threading.Lock()

    def offer(self, raw: Any, iterations: int = 0) -> bool:
        """Take a new answer if it is feasible and better; say whether it was taken."""
        try:
            answer = self.instance.answer(raw)
        except InputError as error:
            log.warning("an answer was refused: %s", error)
            return False
        check = self.instance.check(answer)
        with self._lock:
            self.iterations = max(self.iterations, iterations)
            if not check.feasible:
                if self.refused is None or _violation(check) < _violation(self.refused):
                    self.refused = check
                log.debug("an answer was refused: %s", "; ".join(map(str, check.violations)))
                return False
            key = self.instance.order(answer, check.cost)
            if self.answer is not None and key >= self.key:
                return False
            self.answer, self.cost, self.key = answer, check.cost, key
            self.history.append((self.deadline.elapsed(), check.cost))
            if self._reached(self.target) or (self.proved and len(key) == 1):
                self.deadline.cancel()
            if self._on_improvement is not None:
                self._on_improvement(self)
        return True

    @property
    def proved(self) -> bool:
        """Whether the cost meets the bound."""
        return self._reached(self.bound, 1e-9 * abs(self.cost))

    def _reached(self, value: float | None, tolerance: float = 0.0) -> bool:
        if value is None or self.answer is None:
            return False
        return (
            self.instance.order(self.answer, self.cost)[-1] <= self.instance.order(self.answer, value)[-1] + tolerance
        )


def _violation(check: Check) -> tuple[int, float]:
    """How much is violated: kinds of constraints first, then by how much."""
    return len(check.violations), sum(violation.worst for violation in check.violations)


@dataclass(frozen=True)
class Batch:
    """Instances of one problem and one size for which an engine is asked for proposals; fields as in `Task`.

    Attributes
    ----------
    seconds : float
        The time limit of each, of which proposals are to take a small share.
    """

    instances: Sequence[Any]
    seconds: float
    seed: int
    threads: int
    device: str
    parameters: Mapping[str, Any]
    folder: Path


@dataclass(frozen=True)
class Proposals:
    """Answers that an engine's ``propose`` made for one instance of a batch.

    Attributes
    ----------
    answers : sequence
        Best first.
    seconds : float
        This instance's share of the time that the batch took.
    """

    answers: Sequence[Any]
    seconds: float


@dataclass
class Task:
    """What an engine is asked to do.

    Attributes
    ----------
    instance : Problem
        What to solve; never to be changed.
    deadline : Deadline
        When to be back; cancelled on Ctrl-C and when the target is reached.
    incumbent : Incumbent
        Where to offer answers; it may hold the user's start already.
    seed, threads, device
        As given to `ncosolve.solve`.
    start : Answer, optional
        The user's start in canonical form, feasible or not.
    max_iterations : int, optional
        A limit in the engine's own unit of work.
    parameters : mapping
        The engine's ``PARAMETERS`` with what the solver's folder sets.
    folder : Path
        The solver's, where its weights are.
    proposals : Proposals, optional
        What the engine proposed for a batch that holds this instance.
    """

    instance: Any
    deadline: Deadline
    incumbent: Incumbent
    seed: int = 0
    threads: int = 1
    device: str = "cpu"
    start: Answer | None = None
    max_iterations: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()
    proposals: Proposals | None = None

    def over(self, iterations: int = 0) -> bool:
        """Whether to stop: time is up, someone cancelled, or the iterations are used up."""
        return self.deadline.over() or (self.max_iterations is not None and iterations >= self.max_iterations)

    def progress(self, iterations: int) -> float:
        """The share of the budget that is used, from 0 to 1; iterations alone decide where they are limited."""
        if self.max_iterations is not None:
            return min(1.0, iterations / max(1, self.max_iterations))
        return self.deadline.progress()


@dataclass(frozen=True)
class Outcome:
    """What an engine says at its end; answers have gone to the incumbent.

    Attributes
    ----------
    iterations : int
        Work done, in the engine's own unit.
    bound : float, optional
        A proved bound on the objective.
    optimal : bool
        Whether the incumbent is proved optimal.
    infeasible : str
        Why no feasible answer exists, where that is proved; empty otherwise.
    note : str
        Why it ended before its time without an answer, where it did.
    """

    iterations: int = 0
    bound: float | None = None
    optimal: bool = False
    infeasible: str = ""
    note: str = ""


class Engine(Protocol):
    """An engine: a module of this package, or any module that a solver.toml names by its dotted path."""

    PROBLEMS: tuple[str, ...]
    """The problems it can take. An engine with parameters has a mapping ``PARAMETERS`` of their defaults beside it; a
    solver.toml may then set these and no others. One that can minimise the makespan says ``MAKESPAN = True``. One with
    a network may have a function ``propose``, see `ncosolve.engines.lmask`: `ncosolve.solve_many` calls it once for all
    instances of one problem and one size."""

    def run(self, task: Task) -> Outcome:
        """Search until ``task.over()``, offering answers to ``task.incumbent``."""
