"""A small random generator for kernels (xorshift64*, Vigna 2016, https://arxiv.org/abs/1402.6246).

The state lives in an array, for a ``uint64`` that passes through Python would come back as an ``int`` and make Numba
compile every kernel again.
"""

import numpy as np
from numpy.typing import NDArray

from ncosolve.search.arrays import apart
from ncosolve.search.jit import tight

RandomState = NDArray[np.uint64]
"""The state of one generator, shape (1,), never 0."""

_MASK = (1 << 64) - 1


def seed_state(seed: int) -> RandomState:
    """Make the state for a seed (any integer); neighbouring seeds give unrelated sequences (splitmix64)."""
    mixed = (seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    mixed ^= mixed >> 31
    return apart(np.array([mixed or 1], np.uint64))


@tight
def uniform(state: RandomState) -> float:
    """Draw a float in [0, 1) with 53 random bits."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.float64((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@tight
def below(state: RandomState, n: int) -> int:
    """Draw an integer in [0, n), n >= 1."""
    return int(uniform(state) * n)
