"""Ruin and recreate on one whole solution, annealed; where vehicles count first, first of all with fewer and fewer."""

import math
from typing import Any

import numpy as np

from ncosolve.engines.route_part import RoutePart
from ncosolve.engines.route_plan import Plan, Solution
from ncosolve.search.random import seed_state
from ncosolve.search.route_books import pack, unpack

SAVING_FROM, SAVING_UNTIL = 0.1, 0.65
"""The part of the budget that may go to saving vehicles where they count first; good routes before make it easier."""
EJECTION_PAUSE = 3
"""Iterations between two ejections."""
SAVING_WARMTH = 0.5
"""Vehicles are saved at the temperature of this share of the budget."""


class RouteAnnealing:
    """Ruin and recreate on one solution; see `ncosolve.engines.search_loop.Search`.

    Attributes
    ----------
    part : RoutePart
        The state of all customers.
    saving : bool
        Whether vehicles are being saved.
    """

    def __init__(self, plan: Plan, seed: int) -> None:
        self._plan, self._rng = plan, seed_state(seed)
        self.saving = False
        self._kept: Solution | None = None
        self.cost = math.inf
        self.part = RoutePart(plan, self._rng, plan.start, plan.fleet)
        self.part.step(1, 0.0, 0.0)
        self._note()

    def advance(self, iterations: int, progress: float) -> int:
        """Run that many iterations at the temperature of this point of the budget."""
        plan = self._plan
        saving = plan.vehicles_first and SAVING_FROM <= progress < SAVING_UNTIL and self._vehicles() > plan.fewest
        if saving != self.saving:
            self.saving = saving
            self._restore()
        temperature = plan.temperature(SAVING_WARMTH if self.saving else self.share(progress), self.part.used)
        left = iterations
        while left > 0:
            if self.saving and self.part.complete and self._vehicles() > plan.fewest:
                self._drop_route()
            left -= self.part.step(
                min(left, EJECTION_PAUSE) if self.saving else left, temperature, plan.removals, self.saving
            )
            if self.saving and not self.part.complete:
                self.part.eject()
            self._note()
        return iterations

    def settled(self, progress: float) -> bool:
        """Whether every customer has a place and the number of vehicles is no longer in question."""
        saved = not self._plan.vehicles_first or progress >= SAVING_UNTIL
        return self.part.complete and saved and not self.saving

    def share(self, progress: float) -> float:
        """How much of the annealing is over at this point of the budget."""
        if not self._plan.vehicles_first:
            return progress
        if progress < SAVING_FROM:
            return progress / SAVING_FROM
        return max(0.0, (progress - SAVING_UNTIL) / (1.0 - SAVING_UNTIL))

    def best(self) -> tuple[Any, ...]:
        """The best complete solution; one with a route for each customer without a place where there is none."""
        return unpack(*(self.part.current() if self._kept is None else self._kept))

    def adopt(self, answer: Any) -> None:
        """Go on from the routes of another search."""
        if len(answer) <= self.part.slots and not self.saving:
            self.part = RoutePart(self._plan, self._rng, pack(answer), self.part.slots, price=self.part.price)
            self._note()

    def _vehicles(self) -> int:
        """How many routes the best solution has."""
        return self._plan.n if self._kept is None else len(self._kept[1]) - 1

    def _restore(self) -> None:
        if self._kept is not None:
            self.part = RoutePart(self._plan, self._rng, self._kept, len(self._kept[1]) - 1, price=self.part.price)

    def _drop_route(self) -> None:
        """Allow one vehicle less: the route whose customers were absent least often gives them to the bank."""
        absent = self.part.absent
        parts = unpack(*self.part.current())
        dropped = int(np.argmin([absent[part].sum() for part in parts]))
        fewer = pack([part for r, part in enumerate(parts) if r != dropped])
        self.part = RoutePart(self._plan, self._rng, fewer, max(1, len(parts) - 1), price=self.part.price)
        self.part.absent[:] = absent

    def _note(self) -> None:
        """Keep the best solution of the part where it is better than what is kept."""
        if not math.isfinite(self.part.length):
            return
        used = len(self.part.best()[1]) - 1 if self._plan.vehicles_first else 0
        cost = self._plan.cost(self.part.length, used)
        if cost < self.cost:
            self.cost, self._kept = cost, self.part.best()
