"""Forward dynamic programming over partial tours: exact for few nodes or tight windows, a beam search otherwise.

A label is a path from the depot: the set of visited nodes, the last of them, the start of its visit and the cost so far.
Labels are extended level by level in plain NumPy, so nothing is compiled. Of two labels with one set and one last node,
only those stay that are not dominated in time and cost. A label is dropped when some node it has still to visit could not
be reached in time even by the fastest way (the two-step look-ahead over shortest times), and, where an upper bound is
known, when the assignment bound leaves no room for a better tour (reduced costs; Dumas et al. 1995 give the scheme,
https://doi.org/10.1287/opre.43.2.367).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
SetArray = NDArray[np.uint64]

BITS = 64


@dataclass(frozen=True)
class Labels:
    """All labels of one size.

    Attributes
    ----------
    visited : ndarray of uint64, shape (m, words)
        The visited nodes as bit sets; that of node j is bit ``j % 64`` of word ``j // 64``.
    last, parent : ndarray of int64, shape (m,)
        The last node, and the label of the level before from which it came.
    time, cost : ndarray of float64, shape (m,)
        The start of the last visit, and the cost so far.
    """

    visited: SetArray
    last: IntArray
    parent: IntArray
    time: FloatArray
    cost: FloatArray

    def take(self, index: NDArray[np.integer]) -> "Labels":
        """The labels at some places."""
        return Labels(
            self.visited[index], self.last[index], self.parent[index], self.time[index], self.cost[index]
        )


@dataclass(frozen=True)
class Tour:
    """What a search for one tour found.

    Attributes
    ----------
    nodes : ndarray of int64, or None
        The cheapest tour from node 0, if one was found below the upper bound.
    cost : float
        Its cost.
    complete : bool
        Whether every path was followed or excluded by proof: then ``nodes`` is optimal, or no tour has a cost below
        the upper bound.
    """

    nodes: IntArray | None
    cost: float
    complete: bool


def shortest_tour(
    cost: ArrayLike,
    time: ArrayLike,
    ready: ArrayLike,
    due: ArrayLike,
    *,
    upper: float = np.inf,
    most: int = 1_000_000,
    width: int | None = None,
    over: Callable[[], bool] = lambda: False,
) -> Tour:
    """The cheapest tour from node 0 through all nodes within their windows.

    Parameters
    ----------
    cost, time : array_like, shape (n, n)
        What an arc costs, and the time from the start of the visit at its tail to the arrival at its head, both >= 0.
    ready, due : array_like, shape (n,)
        When a visit may start, any tolerance included; those of node 0 are the departure and the latest return.
    upper : float
        Only tours that cost less are looked for.
    most : int
        The most labels in all; the search gives up above.
    width : int, optional
        The most labels a level, the cheapest kept: a beam search, which proves nothing once it has cut.
    over : callable
        Asked now and then whether to give up.
    """
    costs, times, opens, closes = (np.asarray(array, np.float64) for array in (cost, time, ready, due))
    n = len(opens)
    tight = tighten(times, opens, closes)
    if tight is None:
        return Tour(None, np.inf, True)
    opens, closes, allowed = tight
    reduced, bound = reduced_costs(costs, allowed)
    if bound >= upper:
        return Tour(None, np.inf, True)
    ahead = LookAhead(times, closes)
    slack = 1e-9 * max(1.0, bound)
    level, levels, total, complete = start(n, opens[0]), [], 0, True
    for size in range(1, n):
        levels.append(level)
        # the first level beyond what is allowed is not worth sorting either
        parts = []
        for part in extensions(level, reduced, times, opens, allowed, ahead):
            part = part.take(np.flatnonzero(bound + part.cost < upper + slack)) if np.isfinite(upper) else part
            parts.append(part)
            total += len(part.last)
            if total > most or over():
                return Tour(None, np.inf, False)
        if not parts:
            return Tour(None, np.inf, complete)
        level = undominated(joined(parts))
        if width is not None and len(level.last) > width:
            level = level.take(np.argpartition(level.cost, width)[:width])
            complete = False
        if len(level.last) == 0:
            return Tour(None, np.inf, complete)
    home = level.time + times[level.last, 0] <= closes[0]
    total_cost = np.where(home & allowed[level.last, 0], level.cost + reduced[level.last, 0], np.inf)
    k = int(np.argmin(total_cost)) if n > 1 else 0
    if not np.isfinite(total_cost[k]):
        return Tour(None, np.inf, complete)
    nodes = trace([*levels, level], k)
    exact = float(costs[nodes, np.roll(nodes, -1)].sum())
    return Tour(nodes, exact, complete) if exact < upper else Tour(None, np.inf, complete)
