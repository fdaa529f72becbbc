"""The cheapest split of a few customers into routes: the cheapest route of every subset, then the best partition."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncosolve.search.label_setting import Arcs, Labels, Limits, closing, grow, trace
from ncosolve.search.types import Floats, Ints

MOST_CUSTOMERS = 16
"""Above this, tables over all subsets are not made."""


@dataclass(frozen=True)
class Routes:
    """The cheapest route through each subset of the customers; customer j is bit j - 1 of a subset.

    Attributes
    ----------
    cost : ndarray of float64, shape (2 ** customers,)
        Its cost, from and to the depot; infinite where no route visits just this subset.
    label : ndarray of int64, shape (2 ** customers,)
        Its label, in the level of as many customers.
    levels : list of Labels
        All labels.
    """

    cost: Floats
    label: Ints
    levels: list[Labels]

    def nodes(self, subset: int) -> Ints:
        """The customers of a subset in the order of its cheapest route."""
        return trace(self.levels[: subset.bit_count() + 1], int(self.label[subset]))[1:]


def cheapest_routes(arcs: Arcs, demand: Floats, capacity: float, limits: Limits) -> Routes | None:
    """Find the cheapest route through each subset of at most 16 customers; None if a limit stopped the search.

    Parameters
    ----------
    arcs : Arcs
        Costs, times and windows.
    demand : ndarray of float64, shape (n,)
        What each node takes of the vehicle.
    capacity : float
        Of the vehicle, any tolerance included.
    limits : Limits
        When to give up.
    """
    customers = len(arcs.ready) - 1
    if customers > MOST_CUSTOMERS:
        return None
    load = np.zeros(1)
    for j in range(1, customers + 1):
        load = np.concatenate([load, load + demand[j]])
    fits = load <= capacity
    levels, complete = grow(arcs, lambda labels: fits[labels.visited[:, 0] >> np.uint64(1)], limits)
    if not complete:
        return None
    cost, label = np.full(len(load), np.inf), np.full(len(load), -1)
    for level in levels[1:]:
        subset = (level.visited[:, 0] >> np.uint64(1)).astype(np.int64)
        closed = closing(arcs, level)
        order = np.argsort(-closed, kind="stable")  # the cheapest is written last
        cost[subset[order]], label[subset[order]] = closed[order], order
    return Routes(cost, label, levels)


def best_partition(cost: Floats, most: int, fewest: bool) -> tuple[float, list[int]] | None:
    """Split all customers into at most ``most`` subsets of the least total cost, or first of all into the fewest.

    Returns
    -------
    cost, subsets
        None in place of both if there is no such split.
    """
    everything = len(cost) - 1
    most = min(most, everything.bit_count())
    total = np.full((most + 1, len(cost)), np.inf)  # [k, S]: of S in exactly k subsets
    total[0, 0] = 0.0
    choice = np.zeros((most + 1, len(cost)), np.int64)
    subsets = np.arange(len(cost))
    usable = np.flatnonzero(np.isfinite(cost))
    for subset in usable[np.argsort(-(usable & -usable), kind="stable")]:
        # each part of a split is taken out with its lowest customer, so what remains has higher ones only
        lowest = subset & -subset
        rest = _rests(subsets, int(subset), int(lowest))
        whole = rest | subset
        value = total[:-1, rest] + cost[subset]
        better = value < total[1:, whole]
        total[1:, whole] = np.where(better, value, total[1:, whole])
        choice[1:, whole] = np.where(better, subset, choice[1:, whole])
    able = np.flatnonzero(np.isfinite(total[:, everything]))
    if len(able) == 0:
        return None
    k = int(able[0]) if fewest else int(np.argmin(total[:, everything]))
    best, parts, left = float(total[k, everything]), [], everything
    for count in range(k, 0, -1):
        parts.append(int(choice[count, left]))
        left ^= parts[-1]
    return best, parts


def _rests(subsets: Ints, subset: int, lowest: int) -> NDArray[np.int64]:
    """All sets of customers that are above ``lowest`` and not in ``subset``."""
    return subsets[(subsets & (subset | (2 * lowest - 1))) == 0]
