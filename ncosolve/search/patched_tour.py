"""Start for the asymmetric TSP: the optimal assignment, its cycles patched together (Karp 1979)."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from ncosolve.search.types import Floats, Ints


def patched_tour(matrix: Floats) -> Ints:
    """A tour whose length is close to the assignment bound where distances are far from symmetric.

    Parameters
    ----------
    matrix : ndarray of float64, shape (n, n)
        Distances, row = from; n >= 2. The diagonal is not looked at.

    Returns
    -------
    ndarray of int64, shape (n,)
        A permutation of the nodes from node 0. The longest cycle takes in one other after another, each where the
        exchange of two successors costs least.
    """
    costs = matrix.copy()
    np.fill_diagonal(costs, 1.0 + 2.0 * float(matrix.max()) * len(matrix))
    successor = linear_sum_assignment(costs)[1]
    cycles = sorted(_cycles(successor), key=len)
    joined = cycles.pop()
    while cycles:
        cycle = cycles.pop()
        saved = costs[joined, successor[joined]][:, None] + costs[cycle, successor[cycle]][None, :]
        extra = costs[np.ix_(joined, successor[cycle])] + costs[np.ix_(cycle, successor[joined])].T - saved
        i, j = np.unravel_index(int(np.argmin(extra)), extra.shape)
        a, b = joined[i], cycle[j]
        successor[a], successor[b] = successor[b], successor[a]
        joined = np.concatenate([joined, cycle])
    return _cycle(successor, 0)


def _cycle(successor: Ints, start: int) -> Ints:
    nodes = [start]
    while successor[nodes[-1]] != start:
        nodes.append(int(successor[nodes[-1]]))
    return np.array(nodes, np.int64)


def _cycles(successor: Ints) -> list[Ints]:
    unseen, found = set(range(len(successor))), []
    while unseen:
        found.append(_cycle(successor, min(unseen)))
        unseen -= set(found[-1].tolist())
    return found
