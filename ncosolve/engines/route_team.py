"""Several threads on one solution: each searches a part of the routes, and the parts are drawn anew again and again.

Searches of their own that exchange their best find little more than one does; parts of one solution do not touch one
another, so that two threads do nearly twice the work.
"""

import concurrent.futures
import time
from typing import Any, Self

import numpy as np

from ncosolve.engines.route_annealing import RouteAnnealing
from ncosolve.engines.route_part import RoutePart
from ncosolve.engines.route_plan import Plan, Solution
from ncosolve.search.random import below, seed_state
from ncosolve.search.route_books import leanings, pack, together, unpack

LEAST_SHARE = 100
"""Threads with fewer customers each search all routes, on their own."""
LARGE_TURN = 100
"""The parts are drawn anew after two calls, or one for so many nodes where that is more: to draw them takes longer."""


class RouteTeam:
    """A search whose iterations are done side by side; see `ncosolve.engines.search_loop.Search`."""

    def __init__(self, plan: Plan, seed: int, threads: int, clocked: bool) -> None:
        self._plan, self._threads, self._clocked = plan, threads, clocked
        self._rngs = [seed_state(seed * 1_000_003 + k) for k in range(threads + 1)]
        self._alone = RouteAnnealing(plan, seed)
        self._kept: Solution | None = None
        self._parts: list[RoutePart] = []
        self._paces: list[float] = []
        self._turn = 0
        self.cost = self._alone.cost
        self._pool = concurrent.futures.ThreadPoolExecutor(threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def advance(self, iterations: int, progress: float) -> int:
        """Let every thread run that many iterations; one alone as long as customers or vehicles are in question."""
        plan = self._plan
        if not self._parts and not self._alone.settled(progress):
            done = self._alone.advance(iterations, progress)
            self.cost = self._alone.cost
            return done
        if self._turn % max(2, plan.n // LARGE_TURN) == 0:
            self._share_out()
        self._turn += 1
        used = sum(part.used for part in self._parts)
        temperature = plan.temperature(self._alone.share(progress), used)
        counts = [max(1, round(iterations * pace)) for pace in self._paces]
        runs = [
            self._pool.submit(_timed, part, count, temperature, plan.removals)
            for part, count in zip(self._parts, counts, strict=True)
        ]
        seconds = [run.result() for run in runs]
        if self._clocked:  # all are to be ready at the same time
            rates = [count / max(1e-6, second) for count, second in zip(counts, seconds, strict=True)]
            self._paces = [rate * len(rates) / sum(rates) for rate in rates]
        self._note()
        return iterations

    def best(self) -> tuple[Any, ...]:
        """The best solution so far; see `RouteAnnealing.best`."""
        return self._alone.best() if self._kept is None else unpack(*self._kept)

    def adopt(self, answer: Any) -> None:
        """Not asked for: there is one search only."""

    def _share_out(self) -> None:
        """Draw the parts: routes that lean to the one or the other of two random customers."""
        plan, draw = self._plan, self._rngs[-1]
        before = self._parts or [self._alone.part]
        whole = together([part.current() for part in before])
        one, other = 1 + below(draw, plan.n - 1), 1 + below(draw, plan.n - 1)
        routes = unpack(*whole)
        order = np.argsort(leanings(plan.metric, *whole, one, other), kind="stable")
        share = np.cumsum([len(routes[r]) for r in order]) * self._threads / (plan.n - 1)
        groups = [[routes[r] for r in order[np.ceil(share) == k + 1]] for k in range(self._threads)]
        groups = [group for group in groups if group]
        spare = (self._alone.part.slots - len(routes)) // len(groups)
        price = sum(part.price for part in before) / len(before)
        self._parts = []
        self._paces = [1.0] * len(groups)
        for rng, group in zip(self._rngs, groups, strict=False):
            visits, starts = pack(group)
            slots = min(len(visits), len(group) + spare)
            self._parts.append(RoutePart(plan, rng, (visits, starts), slots, visits, price))

    def _note(self) -> None:
        """Keep the best of the parts where they are better than what is kept."""
        plan = self._plan
        used = sum(len(part.best()[1]) - 1 for part in self._parts) if plan.vehicles_first else 0
        cost = plan.cost(sum(part.length for part in self._parts), used)
        if cost < self.cost:
            self.cost, self._kept = cost, together([part.best() for part in self._parts])


def _timed(part: RoutePart, iterations: int, temperature: float, removals: float) -> float:
    """Search a part; the seconds that it took."""
    began = time.perf_counter()
    part.step(iterations, temperature, removals)
    return time.perf_counter() - began
