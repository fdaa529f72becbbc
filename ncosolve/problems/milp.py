"""Mixed-integer linear programs: minimise or maximise c'x subject to row and column bounds, some x integer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ncosolve.errors import InputError
from ncosolve.problems.base import BoolArray, Check, FloatArray, describe, replace, vector, whole, worst
from ncosolve.problems.randomness import generator, one_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ROW_TOLERANCE = 1e-6
"""Rows and bounds count as kept up to this, relative to max(1, the largest term of the row)."""
INTEGRALITY_TOLERANCE = 1e-6


@dataclass(frozen=True, init=False, eq=False, repr=False)
class MILP:
    """A mixed-integer linear program.

    Parameters
    ----------
    objective : array_like, shape (n,)
        The cost of each column, c.
    rows : array_like or scipy sparse, shape (m, n)
        The constraint matrix, A.
    row_lower, row_upper : array_like, shape (m,)
        ``row_lower <= A x <= row_upper``; infinite where open.
    lower, upper : array_like, shape (n,), optional
        Bounds of the columns; 0 and infinity when not given.
    integer : array_like of bool, shape (n,), optional
        Which columns must be whole numbers; none when not given.
    maximise : bool
        Whether the objective is to be maximised.
    offset : float
        A constant added to the objective.
    column_names, row_names : sequence of str, optional
        Names; x0, x1, ... and r0, r1, ... when not given.
    name : str
        A name for reports.

    Raises
    ------
    InputError
        When the arrays do not fit together, hold NaN, or a bound is crossed.
    """

    problem: ClassVar[str] = "milp"
    kind: ClassVar[str] = "values"
    objective: FloatArray
    rows: "csr_array"
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    integer: BoolArray
    maximise: bool
    offset: float
    column_names: tuple[str, ...]
    row_names: tuple[str, ...]
    name: str

    __repr__ = describe

    def __init__(
        self,
        objective: ArrayLike,
        rows: Any,
        row_lower: ArrayLike,
        row_upper: ArrayLike,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        integer: ArrayLike | None = None,
        maximise: bool = False,
        offset: float = 0.0,
        column_names: Any = None,
        row_names: Any = None,
        name: str = "",
    ) -> None:
        from scipy.sparse import csr_array

        put = object.__setattr__
        try:
            matrix = csr_array(rows, dtype=np.float64, copy=True)
        except (TypeError, ValueError):
            raise InputError("is not a matrix of numbers", where="rows") from None
        if matrix.ndim != 2:
            raise InputError(f"has shape {matrix.shape}, expected (m, n)", where="rows")
        if not np.isfinite(matrix.data).all():
            raise InputError("holds a coefficient that is not finite", where="rows")
        matrix.sum_duplicates()
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
        m, n = matrix.shape
        put(self, "rows", matrix)
        put(self, "objective", vector(objective, n, "objective"))
        put(self, "row_lower", vector(row_lower, m, "row_lower", finite=False))
        put(self, "row_upper", vector(row_upper, m, "row_upper", finite=False))
        put(self, "lower", vector(np.zeros(n) if lower is None else lower, n, "lower", finite=False))
        put(self, "upper", vector(np.full(n, np.inf) if upper is None else upper, n, "upper", finite=False))
        whole = np.zeros(n, np.bool_) if integer is None else np.array(integer, np.bool_)
        if whole.shape != (n,):
            raise InputError(f"has shape {whole.shape}, expected ({n},)", where="integer")
        whole.flags.writeable = False
        put(self, "integer", whole)
        put(self, "maximise", bool(maximise))
        put(self, "offset", float(vector([offset], 1, "offset")[0]))
        put(self, "column_names", _names(column_names, n, "x", "column_names"))
        put(self, "row_names", _names(row_names, m, "r", "row_names"))
        put(self, "name", name)

    @property
    def n(self) -> int:
        """Columns."""
        return len(self.objective)

    def answer(self, raw: Any) -> FloatArray:
        """Values in canonical form: one float64 a column; a mapping from names to values is taken too."""
        if isinstance(raw, dict):
            known = set(self.column_names)
            unknown = [name for name in raw if name not in known]
            if unknown:
                raise InputError(f"column {unknown[0]!r} does not exist", where="values")
            raw = [raw.get(name, 0.0) for name in self.column_names]
        return vector(raw, self.n, "values")

    def order(self, answer: FloatArray, cost: float) -> tuple[float, ...]:
        """The key by which answers compare; smaller is better."""
        return (-cost if self.maximise else cost,)

    def check(self, answer: FloatArray) -> Check:
        """The objective value; violations: row, bound, integrality."""
        x = self.answer(answer)
        activity = self.rows @ x
        terms = abs(self.rows) * np.abs(x)[None, :]
        largest = np.maximum(1.0, terms.max(axis=1).toarray().ravel()) if self.rows.nnz else np.ones(len(activity))
        rows = _outside(activity, self.row_lower, self.row_upper)
        bounds = _outside(x, self.lower, self.upper)
        fraction = np.where(self.integer, np.abs(x - np.round(x)), 0.0)
        found = worst("row", np.where(rows > ROW_TOLERANCE * largest, rows, 0.0), "row")
        found += worst("bound", np.where(bounds > ROW_TOLERANCE * np.maximum(1.0, np.abs(x)), bounds, 0.0), "column")
        found += worst("integrality", np.where(fraction > INTEGRALITY_TOLERANCE, fraction, 0.0), "column")
        return Check(float(self.objective @ x + self.offset), tuple(found))

    def clash(self) -> str | None:
        """Why no feasible solution can exist, where a bound is crossed."""
        for low, high, names, what in (
            (self.lower, self.upper, self.column_names, "column"),
            (self.row_lower, self.row_upper, self.row_names, "row"),
        ):
            size = np.where(np.isfinite(high), np.maximum(1.0, np.abs(high)), 1.0)
            crossed = low > high + ROW_TOLERANCE * size
            if crossed.any():
                k = int(np.argmax(crossed))
                return f"{what} {names[k]} has the lower bound {low[k]:g} above the upper bound {high[k]:g}"
        return None


INSTANCE = MILP

FAMILIES = ("setcover", "auction", "facility", "indset", "fold", "unfoldable")


def generate(n: int, *, seed: int = 0, family: str = "setcover", **options: Any) -> MILP:
    """A random program of a family.

    Parameters
    ----------
    n : int
        Columns; for ``facility`` the sites.
    seed : int
        Equal seeds give equal instances.
    family : str
        ``setcover``, ``facility``, ``indset``: see ``problems/milp_families.py``; ``auction``: ``milp_auction.py``;
        ``fold`` and ``unfoldable``: ``milp_fold.py``.
    **options
        Those of the family's own function. For ``fold``, those of `fold_pair` and ``feasible``: which member of the
        pair, True when not given.
    """
    from ncosolve.problems import milp_auction, milp_families, milp_fold

    columns, name = whole(n, "n"), f"milp-{family}-n{n}-s{seed}"
    if one_of(family, FAMILIES, "family") == "fold":
        member = 0 if options.pop("feasible", True) else 1
        return replace(milp_fold.fold_pair(columns, seed=seed, **options)[member], name=name)
    make: dict[str, Callable[..., MILP]] = {
        "setcover": milp_families.set_cover,
        "auction": milp_auction.auction,
        "facility": milp_families.facility_location,
        "indset": milp_families.independent_set,
        "unfoldable": milp_fold.unfoldable,
    }
    return replace(make[family](columns, generator(seed), **options), name=name)


def _names(names: Any, count: int, letter: str, field: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{letter}{k}" for k in range(count))
    labels = tuple(str(name) for name in names)
    if len(labels) != count or len(set(labels)) != count:
        raise InputError(f"holds {len(set(labels))} different names, expected {count}", where=field)
    return labels


def _outside(values: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    return np.maximum(0.0, np.maximum(low - values, values - high))
