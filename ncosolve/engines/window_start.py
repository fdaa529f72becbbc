"""Tours to start from within windows: depth-first searches under lazy masks, each in another order."""

from collections.abc import Callable

import numpy as np

from ncosolve.problems.base import FloatArray, IntArray
from ncosolve.search.label_setting import Arcs, fastest
from ncosolve.search.lazy_masks import EXHAUSTED, FOUND, first_tour, make_ground, make_stack

BUDGET = 2000
"""Steps back of the first searches."""
GROWTH, TRIES = 1.05, 80
"""By how much each later one has more, and how many there are at most."""
URGENCIES = 0.0, 0.1, 0.3
"""The first orders: nearest first, with this share of the due date added to the way."""


class FirstTours:
    """Searches for a tour on time, which remember each other's dead ends.

    Parameters
    ----------
    arcs : Arcs
        The instance, n >= 2.
    seed : int
        Of the orders.

    Attributes
    ----------
    exhausted : bool
        Whether it is proved that there is no tour.
    """

    def __init__(self, arcs: Arcs, seed: int) -> None:
        n = len(arcs.ready)
        still = np.where(np.eye(n, dtype=np.bool_), 0.0, arcs.time)
        latest = arcs.due[None, :] - fastest(still)
        self._arcs, self._random, self._done = arcs, np.random.default_rng(seed), 0
        self._ground = make_ground(arcs, latest)
        self._stack = make_stack(n)
        self.exhausted = False

    def firsts(self) -> list[IntArray]:
        """What the first orders lead to, the cheapest tour first."""
        found = [tour for tour in (self.next() for _ in URGENCIES) if tour is not None]
        return sorted(found, key=self._cost)

    def until(self, over: Callable[[], bool]) -> IntArray | None:
        """Go on until there is a tour, none can be, someone says that it is over, or it has been tried often."""
        tour = None
        while tour is None and self._done < TRIES and not self.exhausted and not over():
            tour = self.next()
        return tour

    def next(self) -> IntArray | None:
        """What one more order leads to, if it is a tour."""
        if self.exhausted:
            return None
        budget = int(BUDGET * GROWTH ** max(0, self._done - len(URGENCIES)))
        outcome, _ = first_tour(self._ground, self._stack, self._order(), budget)
        self._done += 1
        self.exhausted = outcome == EXHAUSTED
        return self._stack.tour.copy() if outcome == FOUND else None

    def _order(self) -> IntArray:
        """All customers for each node, in the next of the first orders or a random one like them."""
        due = np.where(np.isfinite(self._arcs.due), self._arcs.due, 0.0)
        urgency: float | FloatArray = URGENCIES[min(self._done, len(URGENCIES) - 1)]
        way = self._arcs.time
        if self._done >= len(URGENCIES):
            urgency = self._random.uniform(0.0, 1.0) ** 3
            way = way * self._random.uniform(0.5, 1.5, way.shape)
        order = np.argsort((way + urgency * due)[:, 1:], axis=1, kind="stable") + 1
        return np.ascontiguousarray(order)

    def _cost(self, tour: IntArray) -> float:
        return float(self._arcs.cost[tour, np.roll(tour, -1)].sum())
