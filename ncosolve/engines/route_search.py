"""Our own CVRP and VRPTW engine: savings or insertion start, ruin and recreate, annealing by the budget."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncosolve.engines.arrays import metric_of
from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.debug import DEBUG
from ncosolve.engines.search_loop import run_searches
from ncosolve.errors import EngineError
from ncosolve.problems.base import load_slack
from ncosolve.search.metric import Metric
from ncosolve.search.neighbours import mean_distance, nearest, reaches, window_nearest
from ncosolve.search.random import seed_state
from ncosolve.search.routes import (
    ABSENT,
    BANKED,
    BEST,
    DEMAND,
    DUE,
    PRICE,
    READY,
    ROUTE,
    SERVICE,
    USED,
    Near,
    Stops,
    load_solution,
    make_routes,
    pack,
    unlink,
    unpack,
)
from ncosolve.search.ruin_recreate import MISMATCH, iterate
from ncosolve.search.savings import savings_routes
from ncosolve.search.types import Int32s

PROBLEMS = ("cvrp", "vrptw")
PARAMETERS = {"removals": 9.0, "start_temperature": 3.0}
"""Customers that a ruin removes, in the mean; the least temperature at the start, in mean distances to the five nearest
customers."""
LONG_ROUTES = 60.0
"""The temperature starts at the square of the customers a route by this, where that is more: to exchange half of a
long route is far dearer than to move a customer."""
LOWEST, HIGHEST = 0.05, 0.3
"""It ends at 1.5 such distances by the customers a route, within these limits: short routes freeze earlier."""
RUIN_NEIGHBOURS = 100
FEWEST_PLACES, MOST_PLACES = 20, 40
"""How many neighbours an insertion looks at: 400 routes a customer, within these limits (long routes need fewer)."""
WAVES = 0.0064, 0.032, 0.16, 1.0
"""The shares of the budget after which the temperature is at its end, so that at any time a run has an answer not much
worse than that of a run made for that time."""
FLEET_SHARE = 0.5
"""The share of the budget that may go to saving vehicles where they count first."""
CHUNK = 200


def run(task: Task) -> Outcome:
    """Search until the task is over; see `ncosolve.engines.base.Engine`."""
    plan = Plan(task)
    return Outcome(run_searches(task, lambda seed: RouteSearch(plan, seed), CHUNK))


class Plan:
    """What all searches of a task share: arrays of the instance, neighbour lists, the start."""

    def __init__(self, task: Task) -> None:
        instance = task.instance
        n = instance.n
        timed = instance.problem == "vrptw"
        self.removals = float(task.parameters["removals"])
        self.start_temperature = float(task.parameters["start_temperature"])
        self.n, self.vehicles_first = n, instance.objective == "vehicles"
        self.metric: Metric = metric_of(instance.distance)
        visit = np.zeros((n, 4))
        visit[:, DEMAND], visit[:, DUE] = instance.demand, np.inf
        if timed:
            visit[:, READY], visit[:, DUE] = instance.ready_time, instance.due_date
            visit[:, SERVICE] = instance.service_time
        symmetric = bool(instance.distance.symmetric)
        lists = nearest(self.metric, RUIN_NEIGHBOURS, first=1)
        unit = mean_distance(self.metric, lists[1:, :5], first=1)
        capacity = float(instance.capacity) + load_slack(instance.capacity)
        self.stops = Stops(visit, capacity, timed, symmetric, unit)
        self.price = unit / max(1e-9, float(visit[1:, DEMAND].mean()))
        if timed:
            lists = window_nearest(self.metric, visit[:, READY], visit[:, DUE], visit[:, SERVICE], lists)
        self.fleet = min(n - 1, instance.max_vehicles or n - 1)
        self.fewest = max(1, math.ceil(float(instance.demand.sum()) / self.stops.capacity))
        self.start = self._start(task, lists)
        routes = len(self.start[1]) - 1
        places = min(MOST_PLACES, max(FEWEST_PLACES, 400 * routes // n)) if routes else MOST_PLACES
        beside = np.ascontiguousarray(lists[:, :places])
        self.near = Near(lists, beside, reaches(self.metric, beside))

    def _start(self, task: Task, lists: Int32s) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        given = task.incumbent.answer if task.incumbent.answer is not None else task.start
        if given is not None:
            return pack(given)
        if self.stops.timed:
            return pack([])
        merged = savings_routes(self.metric, self.stops, lists, make_routes(self.n, self.n - 1), self.stops.symmetric)
        return pack(sorted(unpack(*merged), key=len, reverse=True))  # so that a limited fleet keeps the longest


class RouteSearch:
    """Ruin and recreate on one solution; see `ncosolve.engines.search_loop.Search`."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self._plan, self._rng = plan, seed_state(seed)
        self._saving = plan.vehicles_first
        self._slots = plan.fleet
        self.cost = math.inf
        self._kept: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        self._load(plan.start)
        self._step(1, 0.0, removals=0.0)

    def advance(self, iterations: int, progress: float) -> int:
        """Run that many iterations at the temperature of this point of the budget."""
        plan = self._plan
        share = progress
        if plan.vehicles_first:
            if self._saving and (progress >= FLEET_SHARE or self._vehicles() <= plan.fewest):
                self._saving = False
                self._restore()
            share = max(0.0, (progress - FLEET_SHARE) / (1.0 - FLEET_SHARE))
        temperature = plan.stops.unit * self._warmth(share)
        left = iterations
        while left > 0:
            if self._saving and self._routes.counts[BANKED] == 0 and self._vehicles() > plan.fewest:
                self._drop_route()
            left -= self._step(left, temperature, removals=plan.removals)
        return iterations

    def best(self) -> tuple[NDArray[np.int64], ...]:
        """The best complete solution; one with a route for each customer without a place where there is none."""
        if self._kept is not None:
            return unpack(*self._kept)
        placed = self._routes.link[:, ROUTE : ROUTE + 1] >= 0
        return unpack(*unlink(np.where(placed, self._routes.link, 0)))

    def adopt(self, answer: Any) -> None:
        """Go on from the routes of another search."""
        if len(answer) <= self._slots and not self._saving:
            self._load(pack(answer))
            self._note()

    def _warmth(self, share: float) -> float:
        """The temperature, in units, after a share of the budget."""
        wave = next(k for k, end in enumerate(WAVES) if share < end or end == WAVES[-1])
        begin = WAVES[wave - 1] if wave > 0 else 0.0
        customers = self._plan.n / max(1, self._routes.counts[USED])
        first = max(self._plan.start_temperature, customers**2 / LONG_ROUTES)
        last = min(HIGHEST, max(LOWEST, 1.5 / customers), first)
        return float(first * (last / first) ** ((share - begin) / (WAVES[wave] - begin)))

    def _vehicles(self) -> int:
        """How many routes the best solution has."""
        return self._plan.n if self._kept is None else len(self._kept[1]) - 1

    def _load(self, solution: tuple[NDArray[np.int64], NDArray[np.int64]]) -> None:
        self._routes = make_routes(self._plan.n, self._slots)
        self._routes.costs[PRICE] = self._plan.price
        load_solution(self._plan.metric, self._plan.stops, self._routes, *solution)

    def _restore(self) -> None:
        if self._kept is not None:
            self._slots = len(self._kept[1]) - 1
            self._load(self._kept)

    def _drop_route(self) -> None:
        """Allow one vehicle less: the route whose customers were absent least often gives them to the bank."""
        absent = self._routes.work[:, ABSENT]
        parts = unpack(*unlink(self._routes.link))
        dropped = int(np.argmin([absent[part].sum() for part in parts]))
        self._slots = max(1, len(parts) - 1)
        self._load(pack([part for r, part in enumerate(parts) if r != dropped]))
        self._routes.work[:, ABSENT] = absent

    def _step(self, iterations: int, temperature: float, removals: float) -> int:
        plan, routes = self._plan, self._routes
        done = iterate(
            plan.metric,
            plan.stops,
            plan.near,
            routes,
            self._rng,
            iterations,
            temperature,
            removals,
            plan.vehicles_first,
            self._saving,
            DEBUG,
        )
        if done == MISMATCH:
            raise EngineError("a change's cost is not what the routes' length says")
        self._note()
        return done

    def _note(self) -> None:
        """Keep the best solution of the kernel where it is better than what is kept."""
        routes = self._routes
        if not math.isfinite(routes.costs[BEST]):
            return
        cost = float(routes.costs[BEST])
        if self._plan.vehicles_first:
            cost += 1e9 * self._plan.stops.unit * (len(unlink(routes.best)[1]) - 1)
        if cost < self.cost:
            self.cost, self._kept = cost, unlink(routes.best)
