"""What all problems share: the protocol, the result of the independent check, validation of arrays."""

import dataclasses
import math
import numbers
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncosolve.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

TIME_TOLERANCE = 1e-6
"""A time window counts as kept up to this much lateness, in the instance's own unit of time."""


def load_slack(amount: float) -> float:
    """How far a load may be over a limit, for sums of demands that add up to ``amount`` round."""
    return 1e-9 * max(1.0, amount)


@dataclass(frozen=True)
class Violation:
    """One kind of broken constraint.

    Attributes
    ----------
    constraint : str
        Its name, for instance ``"capacity"``.
    worst : float
        The largest violation, in the unit of the constraint.
    where : str
        Where the largest one is, for instance ``"route 3"``.
    count : int
        How many places break it.
    """

    constraint: str
    worst: float
    where: str
    count: int = 1

    def __str__(self) -> str:
        places = "" if self.count == 1 else f" ({self.count} places)"
        return f"{self.constraint}: {self.where}, by {self.worst:g}{places}"


@dataclass(frozen=True)
class Check:
    """What the independent check says of an answer: its exact cost and what it violates."""

    cost: float
    violations: tuple[Violation, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether no constraint is violated."""
        return not self.violations


Answer = Any
"""A tour (int64 array, a permutation of 0..n-1 from 0), routes (tuple of int64 arrays of customers 1..n-1, the depot
left out) or values (float64 array, one entry a column), by problem."""


@runtime_checkable
class Problem(Protocol):
    """What every problem class offers; see ``problems/tsp.py`` for the smallest example."""

    problem: ClassVar[str]
    kind: ClassVar[str]
    """The field of a solution that holds the answer: "tour", "routes" or "values"."""
    name: str

    @property
    def n(self) -> int:
        """Nodes including the depot, or columns."""

    def answer(self, raw: Any) -> Answer:
        """Bring an answer of any array-like form into the canonical one; InputError if it has not its form."""

    def order(self, answer: Answer, cost: float) -> tuple[float, ...]:
        """The key by which answers compare; smaller is better."""

    def check(self, answer: Answer) -> Check:
        """Recompute the cost and test every constraint, in plain NumPy."""

    def clash(self) -> str | None:
        """Why no feasible solution can exist, where that is plain from the data; None otherwise."""


def describe(instance: Any) -> str:
    """A short ``repr``: class, name and size, not the arrays."""
    name = f"{instance.name!r}, " if instance.name else ""
    return f"{type(instance).__name__}({name}n={instance.n})"


P = TypeVar("P")


def replace(instance: P, **changes: Any) -> P:
    """A copy of an instance with some fields changed, validated anew."""
    return dataclasses.replace(instance, **changes)  # type: ignore[type-var]


def vector(values: ArrayLike, n: int, field: str, low: float = -np.inf, finite: bool = True) -> FloatArray:
    """A read-only float64 vector of n entries that are finite and at least ``low``; InputError names the field."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("is not an array of numbers", where=field) from None
    if array.shape != (n,):
        raise InputError(f"has shape {array.shape}, expected ({n},)", where=field)
    bad = np.isnan(array) | (array < low) | (~np.isfinite(array) if finite else False)
    if bad.any():
        k = int(np.argmax(bad))
        expected = "a finite number" if low == -np.inf else f"a finite number >= {low:g}"
        raise InputError(f"entry {k} is {array[k]:g}, expected {expected}", where=field)
    array.flags.writeable = False
    return array


def positive(value: float, field: str, zero: bool = False) -> float:
    """A finite number above 0 (or at least 0); InputError names the field."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"is {value!r}, expected a number", where=field) from None
    if not np.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise InputError(f"is {number:g}, expected a finite number {'>= 0' if zero else '> 0'}", where=field)
    return number


def real(value: Any) -> float | None:
    """The value as a finite number, None if it is none."""
    try:
        finite = not isinstance(value, bool) and isinstance(value, numbers.Real) and math.isfinite(value)
    except OverflowError:
        finite = False
    return float(value) if finite else None


def whole(value: Any, field: str, low: int = 1) -> int:
    """A whole number of at least ``low``; InputError names the field."""
    number = real(value)
    if number is None or number != math.floor(number) or number < low:
        raise InputError(f"is {value!r}, expected a whole number >= {low}", where=field)
    return int(value)


def worst(constraint: str, amounts: FloatArray, label: str) -> list[Violation]:
    """A list with one Violation for the entries of ``amounts`` above 0, or an empty one."""
    over = amounts > 0
    if not over.any():
        return []
    k = int(np.argmax(amounts))
    return [Violation(constraint, float(amounts[k]), f"{label} {k}", int(over.sum()))]


def minimises_makespan(instance: Any) -> bool:
    """Whether it is a TSPTW of which the time of the return is to be minimised."""
    return bool(instance.problem == "tsptw" and instance.objective == "makespan")


def as_tour(raw: Any, n: int) -> IntArray:
    """A tour as int64 array from node 0; InputError unless it is a permutation of 0..n-1."""
    tour = _integers(raw, "tour")
    if len(tour) != n or not np.array_equal(np.sort(tour), np.arange(n)):
        raise InputError(_not_once(tour, range(n)), where="tour")
    return np.roll(tour, -int(np.argmax(tour == 0)))


def as_routes(raw: Any, n: int) -> tuple[IntArray, ...]:
    """Routes as a tuple of int64 arrays, empty ones left out; InputError unless each of 1..n-1 is there once."""
    try:
        routes = tuple(route for route in (_integers(entry, "routes") for entry in raw) if len(route))
    except TypeError:
        raise InputError("is not a list of routes", where="routes") from None
    visited = np.concatenate([*routes, np.empty(0, np.int64)])
    if len(visited) != n - 1 or not np.array_equal(np.sort(visited), np.arange(1, n)):
        raise InputError(_not_once(visited, range(1, n)), where="routes")
    return routes


def _integers(raw: Any, field: str) -> IntArray:
    if isinstance(raw, np.ndarray) and raw.ndim == 1 and raw.dtype.kind == "i":
        return raw.astype(np.int64)
    try:
        numbers = np.asarray(raw, dtype=np.float64)
        with np.errstate(invalid="ignore"):  # NaN and the like become some integer, and are refused below
            array = numbers.astype(np.int64)
        same = np.array_equal(array, numbers)
    except (TypeError, ValueError):
        raise InputError("is not a list of node numbers", where=field) from None
    if array.ndim != 1 or not same:
        raise InputError("is not a flat list of whole node numbers", where=field)
    return array


def _not_once(visited: IntArray, expected: range) -> str:
    """Say which node is missing, repeated or unknown."""
    nodes, counts = np.unique(visited, return_counts=True)
    strange = [int(v) for v in nodes if int(v) not in expected]
    if strange:
        return f"node {strange[0]} does not exist, expected {expected.start}..{expected.stop - 1}"
    if (counts > 1).any():
        return f"node {int(nodes[np.argmax(counts > 1)])} is visited more than once"
    missing = sorted(set(expected) - {int(v) for v in nodes})
    return f"node {missing[0]} is not visited ({len(missing)} missing)"
