"""Random starts for a population of tours: short edges, but different ones in each tour."""

import numpy as np

from ncosolve.search.jit import inner, kernel
from ncosolve.search.metric import Metric, distance
from ncosolve.search.random import RandomState, below
from ncosolve.search.types import Int32s

CHOICES = 2
"""The next node is one of so many nearest ones that are left."""


@kernel
def random_tour(metric: Metric, lists: Int32s, rng: RandomState) -> Int32s:
    """A tour from a random node on, always to one of the nearest nodes that are left; int32 (n,).

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n nodes.
    lists : ndarray of int32, shape (n, k)
        Nearest nodes of each node. Where all of them are visited, the nearest of a sample of the others is next.
    rng : ndarray of uint64
        The state of the random generator.
    """
    n = lists.shape[0]
    order, left, place = np.empty(n, np.int32), np.arange(n), np.arange(n)
    near = np.empty(CHOICES, np.int32)
    here = below(rng, n)
    for k in range(n):
        order[k] = here
        last = left[n - 1 - k]
        left[place[here]], place[last] = last, place[here]
        place[here] = -1
        if k + 1 == n:
            break
        found = 0
        for c in lists[here]:
            if place[c] >= 0:
                near[found] = c
                found += 1
                if found == CHOICES:
                    break
        here = near[below(rng, found)] if found > 0 else _nearest_left(metric, here, left[: n - 1 - k], rng)
    return order


@inner
def _nearest_left(metric: Metric, here: int, left: Int32s, rng: RandomState) -> int:
    best, length = left[0], np.inf
    for trial in range(min(left.shape[0], 50 if left.shape[0] > 200 else 200)):
        node = left[trial] if left.shape[0] <= 200 else left[below(rng, left.shape[0])]
        there = distance(metric, here, node)
        if there < length:
            best, length = node, there
    return best
