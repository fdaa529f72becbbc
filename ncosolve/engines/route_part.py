"""The kernel's state for all customers or for some: loaded from routes, searched, read."""

import numpy as np

from ncosolve.engines.debug import DEBUG
from ncosolve.engines.route_plan import Plan, Solution
from ncosolve.errors import EngineError
from ncosolve.search.ejection import eject
from ncosolve.search.random import RandomState
from ncosolve.search.route_books import load_solution, unlink
from ncosolve.search.routes import ABSENT, BANKED, BEST, PRICE, ROUTE, USED, make_routes
from ncosolve.search.ruin_recreate import MISMATCH, iterate
from ncosolve.search.types import Ints


class RoutePart:
    """Some routes of a solution in at most ``slots`` routes, to be searched on their own.

    Parameters
    ----------
    plan : Plan
        The instance.
    rng : RandomState
        Drawn from by `step`.
    solution : Solution
        Routes of members only; what breaks a constraint or finds no slot is left without a place.
    slots : int
        How many routes there may be.
    members : ndarray of int64, optional
        The customers to serve; all by default.
    price : float, optional
        What a unit of overload costs to take off, as another part has learned it.
    """

    def __init__(
        self,
        plan: Plan,
        rng: RandomState,
        solution: Solution,
        slots: int,
        members: Ints | None = None,
        price: float | None = None,
    ) -> None:
        self._plan, self._rng, self.slots = plan, rng, slots
        self._routes = make_routes(plan.n, slots, members)
        self._routes.costs[PRICE] = plan.price if price is None else price
        load_solution(plan.metric, plan.stops, self._routes, *solution)

    @property
    def complete(self) -> bool:
        """Whether every member has a place now."""
        return bool(self._routes.counts[BANKED] == 0)

    @property
    def used(self) -> int:
        """How many routes there are now."""
        return int(self._routes.counts[USED])

    @property
    def length(self) -> float:
        """Of the best complete routes so far; infinite where there are none."""
        return float(self._routes.costs[BEST])

    @property
    def price(self) -> float:
        """What a unit of load above the capacity has cost to take off, of late."""
        return float(self._routes.costs[PRICE])

    @property
    def absent(self) -> Ints:
        """How often each customer was left without a place, shape (n,); to be written to."""
        return self._routes.work[:, ABSENT]

    def best(self) -> Solution:
        """The best complete routes so far."""
        return unlink(self._routes, self._routes.best)

    def current(self) -> Solution:
        """The routes as they are now, one for each customer without a place."""
        placed = self._routes.link[:, ROUTE : ROUTE + 1] >= 0
        return unlink(self._routes, np.where(placed, self._routes.link, 0))

    def step(self, iterations: int, temperature: float, removals: float, settle: bool = False) -> int:
        """Ruin and recreate so often, or with ``settle`` until every member has a place; how often it was."""
        plan = self._plan
        done = iterate(
            plan.metric,
            plan.stops,
            plan.near,
            self._routes,
            self._rng,
            iterations,
            temperature,
            removals,
            plan.vehicles_first,
            settle,
            DEBUG,
        )
        if done == MISMATCH:
            raise EngineError("a change's cost is not what the routes' length says")
        return int(done)

    def eject(self) -> None:
        """Give a customer without a place one and take it from others, where that is possible."""
        eject(self._plan.metric, self._plan.stops, self._routes, self._rng)
