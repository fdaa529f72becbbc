"""Foldable pairs: a feasible and an infeasible program that message-passing networks cannot tell apart.

Each row asks two binaries to sum to 1, and each binary is in two rows, so that the rows are the edges of cycles over
the binaries. A solution is a colouring of the cycles with two colours: possible where all are even, impossible where
one is odd. Every node of either graph has degree two, so the Weisfeiler-Leman colours agree (Chen et al. 2023).
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array

from ncosolve.errors import InputError
from ncosolve.problems.base import BoolArray, FloatArray, IntArray, whole
from ncosolve.problems.milp import MILP
from ncosolve.problems.randomness import between, generator

_BOUND = 10.0  # standard deviation of the bounds of free columns


class FoldBatch(NamedTuple):
    """Pairs over n columns and m rows; member 0 of each is feasible, member 1 is not.

    Attributes
    ----------
    ends : ndarray of int64, shape (count, 2, m, 2)
        The two columns of each row.
    factor : ndarray of float64, shape (count, 2, m)
        The coefficient of both columns, which is the right-hand side too.
    lower, upper : ndarray of float64, shape (count, n)
        Bounds of the columns, the same for both members.
    integer : ndarray of bool, shape (count, n)
        Which columns are binaries; the others are in no row.
    """

    ends: IntArray
    factor: FloatArray
    lower: FloatArray
    upper: FloatArray
    integer: BoolArray


def cycles(m: int, feasible: bool, hard: bool = False) -> tuple[int, ...]:
    """The lengths of the cycles over m binaries.

    Feasible: one of length m, or two even ones when ``hard``. Infeasible: two odd ones as equal as can be. So ``hard``
    pairs have equally many components.

    Raises
    ------
    InputError
        Unless m is even and at least 6; at least 8, when ``hard``.
    """
    least = 8 if hard else 6
    if whole(m, "rows") < least or m % 2:
        raise InputError(f"is {m}, expected an even number >= {least}", where="rows")
    if feasible and not hard:
        return (m,)
    half = m // 2
    apart = 0 if (half % 2 == 0) == feasible else 1
    return (half - apart, half + apart)


def fold_batch(
    count: int, n: int, seed: int = 0, *, rows: int = 6, hard: bool = False, shuffle: bool = False
) -> FoldBatch:
    """Random foldable pairs, for training.

    Parameters
    ----------
    count : int
        Pairs.
    n : int
        Columns; n - ``rows`` of them are continuous with random bounds, and in no row.
    seed : int
        Equal seeds give equal batches.
    rows : int
        Rows and binaries, m: even, from 6 to n; see `cycles`. Usual sizes (n, m) are (20, 6), (50, 20), (50, 30),
        (100, 20), (200, 20) and (500, 60).
    hard : bool
        Equally many cycles in both members, rows shuffled, each row multiplied by a factor from 0.5 to 2.
    shuffle : bool
        Put the rows into random order; otherwise they follow the cycles. Columns are in random order always.
    """
    rng = generator(seed)
    count, n = whole(count, "count"), whole(n, "n")
    local = np.stack([_edges(cycles(rows, feasible, hard)) for feasible in (True, False)])
    if n < rows:
        raise InputError(f"is {n}, expected at least as many columns as rows, {rows}", where="n")
    chosen = np.argsort(rng.random((count, n)), axis=1)[:, :rows]
    ends = chosen[:, local]
    if shuffle or hard:
        order = np.argsort(rng.random((count, 2, rows)), axis=2)
        ends = np.take_along_axis(ends, order[..., None], axis=2)
    factor = rng.uniform(0.5, 2.0, (count, 2, rows)) if hard else np.ones((count, 2, rows))
    integer = np.zeros((count, n), np.bool_)
    np.put_along_axis(integer, chosen, True, axis=1)
    bounds = np.sort(rng.normal(0.0, _BOUND, (count, n, 2)), axis=2)
    lower, upper = np.where(integer, 0.0, bounds[..., 0]), np.where(integer, 1.0, bounds[..., 1])
    return FoldBatch(ends, factor, lower, upper, integer)


def _edges(lengths: tuple[int, ...]) -> IntArray:
    """The edges of cycles over consecutive numbers: int64 (m, 2)."""
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    place = np.arange(len(first)) - first
    return np.stack([first + place, first + (place + 1) % np.repeat(lengths, lengths)], axis=1)


def fold_pair(
    n: int = 20, *, seed: int = 0, rows: int = 6, hard: bool = False, shuffle: bool = False, cost: float = 0.01
) -> tuple[MILP, MILP]:
    """A feasible and an infeasible program: the first pair of `fold_batch`, each column costing ``cost``.

    The feasible one has two optimal solutions, of value cost * (m / 2 + the lower bounds of the continuous columns).
    """
    batch = fold_batch(1, n, seed, rows=rows, hard=hard, shuffle=shuffle)
    feasible, infeasible = (
        MILP(
            np.full(n, cost),
            coo_array(
                (np.repeat(batch.factor[0, member], 2), (np.repeat(np.arange(rows), 2), batch.ends[0, member].ravel())),
                shape=(rows, n),
            ),
            batch.factor[0, member],
            batch.factor[0, member],
            lower=batch.lower[0],
            upper=batch.upper[0],
            integer=batch.integer[0],
        )
        for member in (0, 1)
    )
    return feasible, infeasible


def unfoldable(n: int, rng: np.random.Generator, *, rows: int = 6, nonzeros: int | None = None) -> MILP:
    """A program without structure, the control of the foldable pairs; about half are infeasible.

    Parameters
    ----------
    n : int
        Columns, usually 20: continuous or integer by a fair coin, bounds normal with standard deviation 10, costs with
        0.01.
    rng : numpy.random.Generator
        The source of randomness.
    rows : int
        Rows, of a random sense and a standard normal right-hand side.
    nonzeros : int, optional
        Standard normal coefficients at random places; half of all places, 60 for 20 by 6, when not given.
    """
    m = whole(rows, "rows")
    filled = m * n // 2 if nonzeros is None else int(between(whole(nonzeros, "nonzeros", 0), 0, m * n, "nonzeros"))
    place = rng.choice(m * n, filled, replace=False)
    side = rng.normal(size=m)
    sense = rng.integers(3, size=m)
    bounds = np.sort(rng.normal(0.0, _BOUND, (n, 2)), axis=1)
    return MILP(
        0.01 * rng.normal(size=n),
        coo_array((rng.normal(size=filled), (place // n, place % n)), shape=(m, n)),
        np.where(sense == 0, -np.inf, side),
        np.where(sense == 2, np.inf, side),
        lower=bounds[:, 0],
        upper=bounds[:, 1],
        integer=rng.random(n) < 0.5,
    )
