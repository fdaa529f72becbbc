"""Distances between nodes: coordinates with a metric and a rounding rule, or a matrix."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncosolve.errors import InputError
from ncosolve.problems.base import FloatArray, IntArray

ROUNDINGS = ("exact", "nint", "ceil", "floor", "dimacs")
"""``nint`` is floor(x + 0.5); ``dimacs`` truncates to one decimal."""

METRICS = ("euclidean", "manhattan", "maximum", "att", "geo", "xray1", "xray2", "matrix")
KEPT = 2000
"""Up to this many nodes (32 MB) a computed matrix is kept."""
_FIXED = ("att", "geo", "xray1", "xray2")  # their TSPLIB definition contains the rounding to integers


def round_lengths(lengths: FloatArray, rounding: str) -> FloatArray:
    """Apply a rounding rule of `ROUNDINGS` to lengths."""
    match rounding:
        case "nint":
            return np.floor(lengths + 0.5)
        case "ceil":
            return np.ceil(lengths)
        case "floor":
            return np.floor(lengths)
        case "dimacs":
            return np.floor(10.0 * lengths + 1e-9) / 10.0
    return lengths


@dataclass(frozen=True, eq=False)
class Distance:
    """Distances from coordinates (computed when asked for) or from a matrix (asymmetric allowed).

    Attributes
    ----------
    metric : str
        One of `METRICS`. The definitions of att, geo, xray1 and xray2 are those of TSPLIB95 (Reinelt 1995).
    rounding : str
        One of `ROUNDINGS`; applied to coordinate distances and to the entries of a matrix alike.
    coords : ndarray of float64, shape (n, 2) or (n, 3), or None
        Positions. With the metric "matrix" they serve for drawing only.
    weights : ndarray of float64, shape (n, n), or None
        The matrix, row = from, rounded already; its diagonal is set to 0, whatever it held.

    Raises
    ------
    InputError
        For a shape, a number or a rule that is not allowed: weights must be finite and >= 0.
    """

    metric: str = "euclidean"
    rounding: str = "exact"
    coords: FloatArray | None = None
    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise InputError(f"is {self.metric!r}, expected one of {', '.join(METRICS)}", where="metric")
        _check_rule(self.rounding)
        if self.metric in _FIXED and self.rounding == "dimacs":
            raise InputError(f"is dimacs, but {self.metric} distances are whole numbers already", where="rounding")
        if self.coords is not None:
            object.__setattr__(self, "coords", _coordinates(self.coords))
        if self.metric == "matrix":
            if self.weights is None:
                raise InputError("is missing", where="distance")
            object.__setattr__(self, "weights", _matrix(self.weights, self.rounding))
            if self.coords is not None and len(self.coords) != len(self.weights):
                raise InputError(f"are of {len(self.coords)} nodes, the matrix has {len(self.weights)}", where="coords")
        elif self.coords is None:
            raise InputError("are missing", where="coords")

    @classmethod
    def of(cls, distance: "Distance | ArrayLike | None", coords: Any, rounding: str) -> "Distance":
        """What a problem's ``distance=`` and ``coords=`` mean: a Distance, a matrix or coordinates."""
        if isinstance(distance, Distance):
            return distance
        if distance is not None:
            return cls(metric="matrix", rounding=rounding, coords=coords, weights=distance)  # type: ignore[arg-type]
        if coords is None:
            raise InputError("give coordinates or a distance matrix", where="distance")
        return cls(rounding=rounding, coords=coords)

    @property
    def n(self) -> int:
        """The number of nodes."""
        array = self.weights if self.weights is not None else self.coords
        return 0 if array is None else len(array)

    @property
    def integral(self) -> bool:
        """Whether every distance is a whole number."""
        if self.weights is not None:
            return bool(np.all(self.weights == np.floor(self.weights)))
        return self.metric in _FIXED or self.rounding in ("nint", "ceil", "floor")

    @property
    def symmetric(self) -> bool:
        """Whether d(i, j) = d(j, i) for all pairs."""
        return self.weights is None or bool(np.array_equal(self.weights, self.weights.T))

    def between(self, tails: ArrayLike, heads: ArrayLike) -> FloatArray:
        """The distances from ``tails[k]`` to ``heads[k]`` (arrays of node numbers that broadcast)."""
        i, j = np.asarray(tails, np.int64), np.asarray(heads, np.int64)
        if self.weights is not None:
            return self.weights[i, j]
        assert self.coords is not None
        lengths = _METRIC[self.metric](self.coords[i], self.coords[j])
        return np.where(i == j, 0.0, round_lengths(lengths, self.rounding))

    def total(self, path: ArrayLike) -> float:
        """The length of a path of nodes, whatever its direction or start to the last bit (decimals add up exactly)."""
        nodes = np.asarray(path, np.int64)
        length = math.fsum(self.between(nodes[:-1], nodes[1:]).tolist())
        return round(length, 1) if self.rounding == "dimacs" else length

    def matrix(self) -> FloatArray:
        """The full matrix, float64 (n, n), read-only; only for instances that can afford it.

        Up to `KEPT` nodes it is computed once, as checks, bounds and engines all ask for it.
        """
        if self.weights is not None:
            return self.weights
        return self._table if self.n <= KEPT else self._computed()

    @cached_property
    def _table(self) -> FloatArray:
        return self._computed()

    def _computed(self) -> FloatArray:
        nodes = np.arange(self.n)
        table = np.empty((self.n, self.n))
        for block in np.array_split(nodes, max(1, self.n // 256)):
            table[block] = self.between(block[:, None], nodes[None, :])
        table.flags.writeable = False
        return table

    def subset(self, nodes: IntArray) -> "Distance":
        """The distances among some nodes, numbered anew in the order given."""
        return Distance(
            self.metric,
            self.rounding,
            None if self.coords is None else self.coords[nodes],
            None if self.weights is None else self.weights[np.ix_(nodes, nodes)],
        )

    def with_rounding(self, rounding: str) -> "Distance":
        """The same distances under another rule; a whole-number metric allows only rules that change nothing."""
        _check_rule(rounding)
        if self.metric in _FIXED:
            if rounding in ("nint", "ceil", "floor"):
                return self
            raise InputError(f"is {rounding}, but {self.metric} distances are whole numbers", where="rounding")
        return Distance(self.metric, rounding, self.coords, self.weights)


def _check_rule(rounding: str) -> None:
    if rounding not in ROUNDINGS:
        raise InputError(f"is {rounding!r}, expected one of {', '.join(ROUNDINGS)}", where="rounding")


def _coordinates(values: ArrayLike) -> FloatArray:
    try:
        coords = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("are not numbers", where="coords") from None
    if coords.ndim != 2 or coords.shape[0] < 1 or coords.shape[1] not in (2, 3):
        raise InputError(f"have shape {coords.shape}, expected (n, 2) or (n, 3)", where="coords")
    if not np.isfinite(coords).all():
        k = int(np.argmin(np.isfinite(coords).all(axis=1)))
        raise InputError(f"of node {k} are {coords[k].tolist()}, expected finite numbers", where="coords")
    if np.abs(coords).max() > 1e150:
        raise InputError("are above 1e150: their distances overflow", where="coords")
    coords.flags.writeable = False
    return coords


def _matrix(values: ArrayLike, rounding: str) -> FloatArray:
    try:
        weights = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("is not a matrix of numbers", where="distance") from None
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or weights.shape[0] < 1:
        raise InputError(f"has shape {weights.shape}, expected (n, n)", where="distance")
    np.fill_diagonal(weights, 0.0)
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(bad)), weights.shape))
        raise InputError(f"from node {i} to {j} is {weights[i, j]:g}, expected a finite number >= 0", where="distance")
    weights = round_lengths(weights, rounding)
    weights.flags.writeable = False
    return weights


def _euclidean(a: FloatArray, b: FloatArray) -> FloatArray:
    # sqrt of a sum of squares and not hypot: kernels compute the same, to the last bit
    difference = a - b
    return np.sqrt(np.sum(difference * difference, axis=-1))


def _manhattan(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.sum(np.abs(a - b), axis=-1)


def _maximum(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.max(np.abs(a - b), axis=-1)


def _att(a: FloatArray, b: FloatArray) -> FloatArray:
    difference = a - b
    length = np.sqrt(np.sum(difference * difference, axis=-1) / 10.0)
    nearest = np.floor(length + 0.5)
    return np.where(nearest < length, nearest + 1.0, nearest)


def radians(degrees_minutes: FloatArray) -> FloatArray:
    """TSPLIB's GEO coordinates (degrees.minutes) in radians, with its pi = 3.141592."""
    degrees = np.trunc(degrees_minutes)
    return 3.141592 * (degrees + 5.0 * (degrees_minutes - degrees) / 3.0) / 180.0


def _geo(a: FloatArray, b: FloatArray) -> FloatArray:
    p, q = radians(a), radians(b)
    q1 = np.cos(p[..., 1] - q[..., 1])
    q2 = np.cos(p[..., 0] - q[..., 0])
    q3 = np.cos(p[..., 0] + q[..., 0])
    cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
    return np.trunc(6378.388 * np.arccos(cosine) + 1.0)


def _crystal(a: FloatArray, b: FloatArray, speeds: NDArray[np.float64]) -> FloatArray:
    difference = np.abs(a - b)
    turn = np.minimum(difference[..., 0], np.abs(difference[..., 0] - 360.0))
    times = np.stack([turn, difference[..., 1], difference[..., 2]], axis=-1) / speeds
    return np.floor(100.0 * np.max(times, axis=-1) + 0.5)


def _xray1(a: FloatArray, b: FloatArray) -> FloatArray:
    return _crystal(a, b, np.array([1.0, 1.0, 1.0]))


def _xray2(a: FloatArray, b: FloatArray) -> FloatArray:
    return _crystal(a, b, np.array([1.25, 1.5, 1.15]))


_METRIC = {
    "euclidean": _euclidean,
    "manhattan": _manhattan,
    "maximum": _maximum,
    "att": _att,
    "geo": _geo,
    "xray1": _xray1,
    "xray2": _xray2,
}
