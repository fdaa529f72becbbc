"""The minimum 1-tree of all edges under node prices: the bound of Held and Karp (1970)."""

import numpy as np

from ncosolve.search.jit import kernel
from ncosolve.search.metric import Metric, distance
from ncosolve.search.types import Floats, Int32s


@kernel
def one_tree(metric: Metric, price: Floats, parent: Int32s) -> float:
    """The length of a minimum 1-tree under prices, less twice their sum: a lower bound on every tour.

    A minimum spanning tree by Prim's algorithm, O(n^2), and the edge that is second shortest at one of its leaves, the
    one where it is longest.

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n >= 3 nodes.
    price : ndarray of float64, shape (n,)
        The price added to every edge at a node.
    parent : ndarray of int32, shape (n,)
        Overwritten: the next node on the way to node 0 in the tree; for node 0 the other end of the last edge.
    """
    n = price.shape[0]
    key, degree = np.empty(n), np.zeros(n, np.int32)
    for v in range(n):
        key[v] = np.inf
    total, node = 0.0, 0
    key[0] = -np.inf
    for _ in range(n - 1):
        shortest, following = np.inf, -1
        for v in range(1, n):
            if key[v] == -np.inf:
                continue
            length = distance(metric, node, v) + price[node] + price[v]
            if length < key[v]:
                key[v], parent[v] = length, node
            if key[v] < shortest:
                shortest, following = key[v], v
        total += shortest
        degree[following] += 1
        degree[parent[following]] += 1
        key[following] = -np.inf
        node = following
    longest = -np.inf
    for u in range(1, n):
        if degree[u] != 1:
            continue
        second, other = np.inf, 0
        for v in range(n):
            if v == u or v == parent[u]:
                continue
            length = distance(metric, u, v) + price[u] + price[v]
            if length < second:
                second, other = length, v
                if second <= longest:
                    break
        if second > longest:
            longest, parent[0] = second, other
    for v in range(n):
        total -= 2.0 * price[v]
    return total + longest
