"""The Held-Karp bound: minimum 1-trees under node prices, improved by subgradient steps."""

import numpy as np
from numba import njit

from ncosolve.search.metric import Metric, distance
from ncosolve.search.types import Floats, Ints


@njit(cache=True, nogil=True)
def one_tree(metric: Metric, price: Floats, degree: Ints) -> float:
    """The length of a minimum 1-tree under prices, less twice their sum: a lower bound on every tour.

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n >= 3 nodes.
    price : ndarray of float64, shape (n,)
        The price added to every edge at a node.
    degree : ndarray of int64, shape (n,)
        Overwritten with the degrees of the 1-tree.

    Returns
    -------
    float
        The bound of Held and Karp (1970) for these prices. The tree spans nodes 1..n-1 (Prim, O(n^2)); node 0 is joined
        by its two cheapest edges.
    """
    n = price.shape[0]
    nearest = np.empty(n, np.int64)
    key = np.full(n, np.inf)
    degree[:] = 0
    total = 0.0
    node = 1
    key[0] = key[1] = -np.inf
    for _ in range(n - 2):
        best = np.inf
        following = -1
        for v in range(2, n):
            if key[v] == -np.inf:
                continue
            length = distance(metric, node, v) + price[node] + price[v]
            if length < key[v]:
                key[v] = length
                nearest[v] = node
            if key[v] < best:
                best = key[v]
                following = v
        total += best
        degree[following] += 1
        degree[nearest[following]] += 1
        key[following] = -np.inf
        node = following
    first = second = np.inf
    a = b = 1
    for v in range(1, n):
        length = distance(metric, 0, v) + price[0] + price[v]
        if length < first:
            second, b = first, a
            first, a = length, v
        elif length < second:
            second, b = length, v
    degree[0] = 2
    degree[a] += 1
    degree[b] += 1
    return total + first + second - 2.0 * price.sum()


NEAR = 0.2
"""The first scale of steps from prices that are good already."""


class Ascent:
    """Subgradient ascent on node prices (Held and Karp 1971), in steps that a clock can end.

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n >= 3 nodes.
    tour_length : float
        The length of some tour, which sets the step size.
    price : ndarray of float64, shape (n,), optional
        Good prices to begin with.

    Attributes
    ----------
    bound : float
        The best bound so far; always valid.
    """

    def __init__(self, metric: object, n: int, tour_length: float, price: Floats | None = None) -> None:
        self.bound = -np.inf
        self._metric, self._target = metric, tour_length
        self._price = np.zeros(n) if price is None else price.copy()
        self._degree = np.zeros(n, np.int64)
        self._before: Floats = np.zeros(n)
        self._scale, self._stalled = 2.0 if price is None else NEAR, 0

    def step(self) -> bool:
        """One 1-tree and one change of prices; False once nothing more is to be gained."""
        value = one_tree(self._metric, self._price, self._degree)
        if value > self.bound + 1e-9 * abs(value):
            self.bound, self._stalled = value, 0
        else:
            self._stalled += 1
            if self._stalled >= 5:
                self._scale, self._stalled = 0.7 * self._scale, 0
        direction = self._degree.astype(np.float64) - 2.0
        norm = float(direction @ direction)
        if norm == 0.0 or self._scale < 1e-4:
            return False
        step = self._scale * max(1e-9 * abs(value), self._target - value) / norm
        # part of the last direction damps the zigzag (Camerini, Fratta and Maffioli 1975)
        self._price += step * (0.7 * direction + 0.3 * self._before)
        self._before = direction
        return True
