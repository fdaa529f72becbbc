"""What a solve returns: the answer with its exact cost, bound, history and what the independent check says."""

import dataclasses
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ncosolve.problems.base import Answer, Problem, Violation

STATUSES = ("optimal", "feasible", "infeasible", "no_solution")

History = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A solution, and how it came about.

    Attributes
    ----------
    instance : TSP, CVRP, VRPTW, TSPTW, TSPDL or MILP
        What was solved.
    answer : ndarray or tuple of ndarray
        The tour, the routes or the values; see `tour`, `routes` and `values`.
    cost : float
        The objective by the instance's own convention, recomputed by the independent check.
    status : str
        "optimal" only where cost and bound meet by proof, else "feasible".
    bound : float or None
        A proved bound on the objective: lower when minimising, upper when maximising.
    violations : tuple of Violation
        Empty for everything that `ncosolve.solve` returns.
    solver : str
        The name of the solver that found it.
    seed : int
        The seed that was used.
    iterations : int
        Iterations of the engine, in its own unit.
    history : tuple of (seconds, cost)
        Every new incumbent, in order; compilation time is left out.
    time_total, time_search, time_compile : float
        Wall-clock seconds in all, without compilation, and of first-ever kernel compilation.
    """

    instance: Problem
    answer: Answer
    cost: float
    status: str = "feasible"
    bound: float | None = None
    violations: tuple[Violation, ...] = ()
    solver: str = ""
    seed: int = 0
    iterations: int = 0
    history: History = field(default=())
    time_total: float = 0.0
    time_search: float = 0.0
    time_compile: float = 0.0

    @classmethod
    def of(cls, instance: Problem, raw: Any, **fields: Any) -> "Solution":
        """A solution from an answer in any array-like form, with its cost and violations from the check.

        Raises
        ------
        InputError
            When the answer has not the form of the problem, for instance no permutation.
        """
        answer = instance.answer(raw)
        check = instance.check(answer)
        return cls(instance, answer, check.cost, violations=check.violations, **fields)

    def __repr__(self) -> str:
        violated = "".join(f", {violation}" for violation in self.violations)
        return f"Solution({self.instance!r}, cost={self.cost:g}, {self.status}{violated})"

    @property
    def tour(self) -> Answer:
        """The order of visits as int64 array, a permutation of 0..n-1 from 0 (TSP, TSPTW, TSPDL)."""
        return self._only("tour")

    @property
    def routes(self) -> Answer:
        """The routes as a tuple of int64 arrays of customers 1..n-1, depot left out (CVRP, VRPTW)."""
        return self._only("routes")

    @property
    def values(self) -> Answer:
        """The value of each column as float64 array (MILP)."""
        return self._only("values")

    def _only(self, kind: str) -> Answer:
        if self.instance.kind != kind:
            raise AttributeError(f"a solution of {self.instance.problem} has {self.instance.kind}, no {kind}")
        return self.answer

    @property
    def feasible(self) -> bool:
        """Whether no constraint is violated."""
        return not self.violations

    @property
    def gap(self) -> float | None:
        """|cost - bound| / |cost|, or None without a bound; 0 where both are 0."""
        return relative_gap(self.cost, self.bound)

    def replace(self, **changes: Any) -> "Solution":
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def write(self, path: str | Path) -> None:
        """Write the answer to a file: ``.tour``, ``.geojson``, otherwise ``.sol``; whole or not at all.

        Raises
        ------
        InputError
            When the file cannot be written, or its format does not fit the problem.
        """
        from ncosolve.formats import write_solution

        write_solution(self, path)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the solution; write it to ``path`` (any format of matplotlib) if given, and return the figure.

        Raises
        ------
        MissingExtra
            When matplotlib is not installed.
        InputError
            When the instance has nothing to draw, or the file cannot be written.
        """
        from ncosolve.plot import plot_solution

        return plot_solution(self, path)


def relative_gap(cost: float, bound: float | None) -> float | None:
    """|cost - bound| / |cost|, or None where there is no bound."""
    if bound is None or not math.isfinite(bound) or not math.isfinite(cost):
        return None
    if cost == bound:
        return 0.0
    return abs(cost - bound) / abs(cost) if cost else math.inf
