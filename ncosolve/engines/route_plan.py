"""What all searches of a CVRP or VRPTW task share: the instance as arrays, neighbour lists, a start, temperatures."""

import math

import numpy as np
from numpy.typing import NDArray

from ncosolve.engines.arrays import metric_of
from ncosolve.engines.base import Task
from ncosolve.problems.base import load_slack
from ncosolve.search.metric import Metric
from ncosolve.search.neighbours import mean_distance, nearest, reaches, window_nearest
from ncosolve.search.route_books import pack, unpack
from ncosolve.search.routes import DEMAND, DUE, READY, SERVICE, Near, Stops, make_routes
from ncosolve.search.savings import savings_routes
from ncosolve.search.types import Int32s

Solution = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Visits and starts, as `ncosolve.search.route_books.load_solution` takes them."""
LONG_ROUTES = 60.0
"""The temperature starts at the square of the customers a route by this, where that is more: to exchange half of a
long route is far dearer than to move a customer."""
LOWEST, HIGHEST = 0.05, 0.3
"""It ends at 1.5 such distances by the customers a route, within these limits: short routes freeze earlier."""
SMALLEST_UNIT = 1e-5
"""The distance between neighbours counts as this share of that to the depot at least, for many may be in one place."""
RUIN_NEIGHBOURS = 100
FEWEST_PLACES, MOST_PLACES = 20, 40
"""How many neighbours an insertion looks at: 400 routes a customer, within these limits (long routes need fewer)."""
WAVES = 0.0064, 0.032, 0.16, 1.0
"""The shares of the budget after which the temperature is at its end, so that at any time a run has an answer not much
worse than that of a run made for that time."""


class Plan:
    """The instance as kernels take it, and how to search it.

    Attributes
    ----------
    n : int
        The number of nodes.
    removals : float
        Customers that a ruin removes, in the mean.
    vehicles_first : bool
        Whether fewer vehicles count more than any distance.
    metric, stops, near
        As in `ncosolve.search.routes`.
    price : float
        A first guess of what a unit of load above the capacity costs to take off.
    fleet, fewest : int
        The most vehicles there are, the fewest that can carry all demand.
    start : Solution
        What to start from: the incumbent, the user's start or savings routes; empty for windows.
    """

    def __init__(self, task: Task) -> None:
        instance = task.instance
        n = instance.n
        timed = instance.problem == "vrptw"
        self.removals = float(task.parameters["removals"])
        self._start_temperature = float(task.parameters["start_temperature"])
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
        unit = max(unit, SMALLEST_UNIT * mean_distance(self.metric, np.zeros((n - 1, 1), np.int32), first=1))
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

    def temperature(self, share: float, used: int) -> float:
        """The temperature after a share of the budget, in units of cost, where so many routes are used."""
        wave = next(k for k, end in enumerate(WAVES) if share < end or end == WAVES[-1])
        begin = WAVES[wave - 1] if wave > 0 else 0.0
        customers = self.n / max(1, used)
        first = max(self._start_temperature, customers**2 / LONG_ROUTES)
        last = min(HIGHEST, max(LOWEST, 1.5 / customers), first)
        return float(self.stops.unit * first * (last / first) ** ((share - begin) / (WAVES[wave] - begin)))

    def cost(self, length: float, used: int) -> float:
        """What is to be minimised, for routes of that length in all and of that number."""
        return length + 1e9 * self.stops.unit * used if self.vehicles_first else length

    def _start(self, task: Task, lists: Int32s) -> Solution:
        given = task.incumbent.answer if task.incumbent.answer is not None else task.start
        if given is not None:
            return pack(given)
        if self.stops.timed:
            return pack([])
        merged = savings_routes(self.metric, self.stops, lists, make_routes(self.n, self.n - 1), self.stops.symmetric)
        return pack(sorted(unpack(*merged), key=len, reverse=True))  # so that a limited fleet keeps the longest
