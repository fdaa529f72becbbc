"""What the random generators share: seeds, choices among options, points on a grid of which no two are equal."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ncosolve.errors import InputError
from ncosolve.problems.base import IntArray, real, whole

BLOCK = 1024
"""Fewest candidates that are proposed at once."""


def between(value: Any, low: float, high: float, field: str) -> float:
    """A number from ``low`` to ``high``; InputError names the field."""
    number = real(value)
    if number is None or not low <= number <= high:
        raise InputError(f"is {value!r}, expected a number from {low:g} to {high:g}", where=field)
    return number


def generator(seed: int) -> np.random.Generator:
    """A generator from a seed >= 0."""
    return np.random.default_rng(whole(seed, "seed", 0))


def legacy_generator(seed: int) -> np.random.RandomState:
    """NumPy's frozen Mersenne Twister from a seed in 0..2**32 - 1: its stream never changes between versions."""
    if whole(seed, "seed", 0) >= 2**32:
        raise InputError(f"is {seed}, expected a whole number < 2**32", where="seed")
    return np.random.RandomState(seed)


def one_of(value: str, allowed: Sequence[str], field: str) -> str:
    """The value, if it is allowed; InputError names the field."""
    if value not in allowed:
        raise InputError(f"is {value!r}, expected one of {', '.join(allowed)}", where=field)
    return value


def pick(value: str | None, allowed: Sequence[str], field: str, rng: np.random.Generator) -> str:
    """The value, or a random one where it is None."""
    # drawn in either case, so that an option given by hand leaves the rest of the instance as it was
    drawn = allowed[int(rng.integers(len(allowed)))]
    return drawn if value is None else one_of(value, allowed, field)


def distinct_points(count: int, propose: Callable[[int], IntArray], taken: IntArray) -> IntArray:
    """Points of which no two are equal and none is taken.

    Parameters
    ----------
    count : int
        How many.
    propose : callable
        Gives candidates, int64 of shape (any, 2) with entries >= 0, when asked to try a number of times. It must reach
        more than ``count`` different points.
    taken : ndarray of int64, shape (k, 2)
        Points that are not allowed.

    Returns
    -------
    ndarray of int64, shape (count, 2)
        In the order in which they were proposed.
    """
    points = taken
    while len(points) < len(taken) + count:
        candidates = propose(max(BLOCK, 2 * (len(taken) + count - len(points))))
        points = np.concatenate([points, candidates])
        code = points[:, 0] * (1 << 32) + points[:, 1]
        points = points[np.sort(np.unique(code, return_index=True)[1])]
    return points[len(taken) : len(taken) + count]
