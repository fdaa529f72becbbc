"""Candidate edges of a symmetric TSP and a bound on its tours, by an ascent on node prices."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ncosolve.search.candidates import alpha_nearest, ascend, bounding_graph, sparse_graph, with_edges
from ncosolve.search.lin_kernighan import tour_length
from ncosolve.search.metric import Metric
from ncosolve.search.one_tree import one_tree

STEPS, ROUNDS = 100, 4
"""Steps of the first ascent, of further ones half as many; how many of these."""
PROMISE, NEARER = 0.92, 0.05
"""The first ascent aims at this share of a greedy tour's length, further ones so far from the bound towards it."""
DENSE, PAIR = 12_000, 3e-9
"""Up to so many nodes trees of all edges are computed, and the seconds that each edge takes."""


def survey(
    metric: Metric, lists: NDArray[np.int32], k: int, seconds: float, clock: Callable[[], float]
) -> tuple[NDArray[np.int32], float]:
    """Find candidates and a bound, in rounds: a tree of all edges is a bound and shows what the sparse graph lacks.

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n >= 3 nodes, for which 0, 1, ..., n - 1 is a good tour.
    lists : ndarray of int32, shape (n, WIDE)
        The nearest nodes of each node.
    k : int
        Candidates of each node.
    seconds : float
        What it may take, roughly.
    clock : callable
        Seconds from any moment on.

    Returns
    -------
    candidates : ndarray of int32, shape (n, k)
        Those that `ncosolve.search.candidates.alpha_nearest` chooses.
    bound : float
        No tour is shorter.
    """
    n, until = len(lists), clock() + seconds
    order = np.arange(n, dtype=np.int32)
    length, all_edges = tour_length(metric, order), PAIR * n * n
    graph, price = sparse_graph(metric, lists, order), np.zeros(n)
    began = clock()
    ascend(graph, price, 1, PROMISE * length)
    step = clock() - began

    def climb(steps: int, target: float) -> None:
        ascend(graph, price, int(max(0.0, min(steps, (until - clock()) / max(step, 1e-9)))), target)

    price[:] = 0.0
    climb(STEPS, PROMISE * length)
    if n > DENSE or clock() + all_edges > until:
        bound = ascend(bounding_graph(metric, lists, order, price), price.copy(), 1, 0.0)
        return alpha_nearest(graph, price, k), bound
    parent, bound = np.empty(n, np.int32), -np.inf
    for rounds in range(ROUNDS + 1):
        bound = max(bound, one_tree(metric, price, parent))
        if rounds == ROUNDS or clock() + 2.0 * all_edges > until:
            break
        graph = with_edges(graph, metric, parent)
        climb(STEPS // 2, bound + NEARER * (length - bound))
    return alpha_nearest(graph, price, k), bound
