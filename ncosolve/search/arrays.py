"""Small work on arrays: in place, in loops, for slices and NumPy's methods take Numba far longer to compile."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncosolve.search.jit import inner
from ncosolve.search.types import Floats, Ints

CACHE_LINE = 128
"""Bytes, twice what most processors have, for some fetch lines in pairs."""


def apart(values: NDArray[Any]) -> NDArray[Any]:
    """A copy of a small array that shares no cache line with any other.

    Threads that write to two arrays on one line wait for each other at every access.
    """
    margin = CACHE_LINE // values.itemsize
    padded = np.zeros(len(values) + 2 * margin, values.dtype)
    padded[margin:-margin] = values
    return padded[margin:-margin]


@inner
def copy_to(target: Ints | Floats, source: Ints | Floats) -> None:
    """Make one array equal to another of its length."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@inner
def reverse(nodes: Ints, first: int, last: int) -> None:
    """Turn the part from place ``first`` to place ``last`` around."""
    while first < last:
        nodes[first], nodes[last] = nodes[last], nodes[first]
        first, last = first + 1, last - 1
