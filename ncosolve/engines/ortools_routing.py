"""OR-Tools' routing solver: guided local search on TSP, CVRP, VRPTW and TSPTW."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.scaling import Scaled, scaled

PROBLEMS = ("tsp", "cvrp", "vrptw", "tsptw")

MOST_NODES = 8000
"""OR-Tools' Python API takes a matrix as lists of Python integers: 2.6 GB at this size."""
LOOKS = 100
"""One iteration: this many looks of the search at its limit, about one a neighbour."""
COPYING = 0.1
"""The share of the time that may go into copying improved answers out, unless iterations are limited: then all are
copied, so that equal seeds give equal answers."""
LATENESS = 100
"""TSPTW: the cost of one unit of lateness in units of distance; windows are soft, for the solver seldom finds a first
tour with hard ones. What is late is never offered."""
SPARE = 5
"""Vehicles beyond those that greedy routes need: short distances may take more of them."""
LONGEST = 10**9
"""Seconds; stands for no time limit."""

STRATEGIES = {
    "tsp": ("PATH_CHEAPEST_ARC",),
    "cvrp": ("SAVINGS", "PARALLEL_CHEAPEST_INSERTION", "GLOBAL_CHEAPEST_ARC"),
    "vrptw": ("PARALLEL_CHEAPEST_INSERTION", "SAVINGS", "PATH_CHEAPEST_ARC"),
    "tsptw": ("PATH_CHEAPEST_ARC",),
}
"""First-solution strategies, by problem; where one fails, the next is tried."""


def run(task: Task) -> Outcome:
    """Search until the task is over.

    Runs on one thread whatever ``task.threads`` says. One iteration is `LOOKS` looks of the search at its limit.

    Raises
    ------
    EngineError
        Above `MOST_NODES` nodes.
    """
    if task.over():
        return Outcome()
    search = _Search(task, scaled(task.instance, MOST_NODES))
    search.run()
    return Outcome(iterations=search.iterations)


class _Search:
    """A model, and what its callbacks share."""

    def __init__(self, task: Task, numbers: Scaled) -> None:
        self.task = task
        self.vehicles = _vehicles(task)
        self.iterations = 0
        self.best = math.inf
        self.copying = 0.0
        self.failure: BaseException | None = None
        self._build(numbers)

    def run(self) -> None:
        """Try the strategies in turn until one yields a solution that can be improved until the task is over."""
        start = self._start()
        for strategy in STRATEGIES[self.task.instance.problem]:
            parameters = _parameters(self.task, strategy)
            if start is None:
                assignment = self.model.SolveWithParameters(parameters)
            else:
                assignment = self.model.SolveFromAssignmentWithParameters(start, parameters)
            if self.failure is not None:
                raise self.failure
            if assignment is not None:
                self._offer(assignment.Value)
            if assignment is not None or self.task.over(self.iterations):
                return

    def _build(self, numbers: Scaled) -> None:
        from ortools.constraint_solver import pywrapcp

        self.manager = pywrapcp.RoutingIndexManager(self.task.instance.n, self.vehicles, 0)
        self.model = model = pywrapcp.RoutingModel(self.manager)
        lengths = model.RegisterTransitMatrix(numbers.distance.tolist())
        model.SetArcCostEvaluatorOfAllVehicles(lengths)
        self._put_fleet(numbers)
        if numbers.loads is not None:
            demand = model.RegisterUnaryTransitVector(numbers.loads.demand.tolist())
            model.AddDimension(demand, 0, numbers.loads.capacity, True, "load")
        if numbers.windows is not None:
            self._put_windows(numbers, lengths)
        model.CloseModelWithParameters(_parameters(self.task, STRATEGIES[self.task.instance.problem][0]))
        solver = model.solver()
        solver.ReSeed(self.task.seed % 2**31)
        model.AddSearchMonitor(solver.CustomLimit(itertools.chain.from_iterable(self._looks()).__next__))
        model.AddAtSolutionCallback(self._at_solution)

    def _put_fleet(self, numbers: Scaled) -> None:
        """Let one vehicle cost more than any two answers differ in distance, where vehicles are to be saved."""
        instance = self.task.instance
        limit = getattr(instance, "max_vehicles", None) or self.vehicles
        if getattr(instance, "objective", "") == "vehicles" or self.vehicles > limit:
            dearest = 2 * instance.n * int(numbers.distance.max()) + 1
            self.model.SetFixedCostOfAllVehicles(min(dearest, 2**61 // self.vehicles))

    def _put_windows(self, numbers: Scaled, lengths: int) -> None:
        windows = numbers.windows
        assert windows is not None
        same = np.array_equal(windows.travel, numbers.distance)
        travel = lengths if same else self.model.RegisterTransitMatrix(windows.travel.tolist())
        self.model.AddDimension(travel, windows.horizon, windows.horizon, False, "time")
        clock = self.model.GetDimensionOrDie("time")
        soft = self.task.instance.problem == "tsptw"
        due = np.minimum(windows.due, windows.horizon).tolist()
        ready = np.minimum(windows.ready, windows.horizon).tolist()
        visits = [(self.manager.NodeToIndex(node), node) for node in range(1, self.task.instance.n)]
        visits += [(self.model.End(vehicle), 0) for vehicle in range(self.vehicles)]
        for index, node in visits:
            clock.CumulVar(index).SetRange(ready[node], windows.horizon if soft else due[node])
            if soft and due[node] < windows.horizon:
                clock.SetCumulVarSoftUpperBound(index, due[node], LATENESS)
        for vehicle in range(self.vehicles):
            clock.CumulVar(self.model.Start(vehicle)).SetRange(0, 0)

    def _start(self) -> Any:
        """The incumbent, for instance the user's start, as an assignment; TSPTW without one: in order of due dates."""
        instance, answer = self.task.instance, self.task.incumbent.answer
        if answer is None and instance.problem == "tsptw":
            answer = np.concatenate([[0], 1 + np.lexsort((instance.ready_time[1:], instance.due_date[1:]))])
        if answer is None:
            return None
        routes = [answer[1:]] if instance.kind == "tour" else answer
        return self.model.ReadAssignmentFromRoutes([route.tolist() for route in routes], True)

    def _looks(self) -> Iterator[Iterable[bool]]:
        """What the search sees at each look, in runs; only between them does any Python code run.

        A search that calls Python at every look loses a quarter of its speed; without any, it would hear no Ctrl-C
        and let no other thread run.
        """
        while self.failure is None:
            yield itertools.repeat(False, LOOKS - 1)
            try:
                self.iterations += 1
                over = self.task.over(self.iterations)
            except BaseException as error:  # must not unwind through foreign frames
                self.failure = error
                break
            yield (over,)
        yield itertools.repeat(True)

    def _at_solution(self) -> None:
        try:
            cost = self.model.CostVar().Max()
            began = self.task.deadline.elapsed()
            affordable = self.task.max_iterations is not None or self.copying <= COPYING * began
            if cost < self.best and affordable:
                self.best = cost
                self._offer(lambda variable: variable.Value())
                self.copying += self.task.deadline.elapsed() - began
        except BaseException as error:
            self.failure = error

    def _offer(self, value: Callable[[Any], int]) -> None:
        """Read the routes off the variables and offer them."""
        after = [value(self.model.NextVar(index)) for index in range(self.model.Size())]
        routes = []
        for vehicle in range(self.vehicles):
            route = []
            index = after[self.model.Start(vehicle)]
            while not self.model.IsEnd(index):
                route.append(self.manager.IndexToNode(index))
                index = after[index]
            routes.append(route)
        answer = [0, *routes[0]] if self.task.instance.kind == "tour" else routes
        self.task.incumbent.offer(answer, self.iterations)


def _parameters(task: Task, strategy: str) -> Any:
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = getattr(routing_enums_pb2.FirstSolutionStrategy, strategy)
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    milliseconds = 1000.0 * min(LONGEST, task.deadline.remaining())
    parameters.time_limit.FromMilliseconds(max(1, int(milliseconds)))
    return parameters


def _vehicles(task: Task) -> int:
    """Enough vehicles: a tenth and `SPARE` more than greedy routes need.

    Fewer where fewer are allowed, unless greedy routes need more than that: no first solution would be found then, so
    the search starts with too many vehicles and saves them.
    """
    instance = task.instance
    if instance.kind == "tour":
        return 1
    needed = _greedy_routes(instance)
    started = 0 if task.incumbent.answer is None else len(task.incumbent.answer)
    enough = max(started, math.ceil(1.1 * needed) + SPARE)
    if instance.max_vehicles is not None and instance.max_vehicles >= needed:
        enough = min(enough, instance.max_vehicles)
    return max(1, min(enough, instance.n - 1))


def _greedy_routes(instance: Any) -> int:
    """How many routes result from always going on to the customer that fits and is nearest, or served soonest."""
    n, demand, capacity = instance.n, instance.demand, instance.capacity * (1 + 1e-9)
    timed = hasattr(instance, "due_date")
    waiting = np.ones(n, np.bool_)
    waiting[0] = False
    nodes = np.arange(n)
    home = instance.distance.between(nodes, 0)
    start = float(instance.ready_time[0]) if timed else 0.0
    routes, here, load, clock = 1, 0, 0.0, start
    while waiting.any():
        legs = instance.distance.between(here, nodes)
        fits = waiting & (load + demand <= capacity)
        if timed:
            begin = np.maximum(clock + legs, instance.ready_time)
            fits &= (begin <= instance.due_date) & (begin + instance.service_time + home <= instance.due_date[0])
        if not fits.any():
            if here == 0:  # a customer that no vehicle can serve alone
                return n - 1
            routes, here, load, clock = routes + 1, 0, 0.0, start
            continue
        here = int(np.argmin(np.where(fits, begin if timed else legs, np.inf)))
        load += float(demand[here])
        if timed:
            clock = float(begin[here] + instance.service_time[here])
        waiting[here] = False
    return routes
