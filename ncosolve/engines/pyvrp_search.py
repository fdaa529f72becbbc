"""PyVRP's iterated local search on TSP, CVRP, VRPTW and TSPTW."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.scaling import FOREVER, Scaled, scaled

if TYPE_CHECKING:
    from pyvrp import ProblemData, Solution

PROBLEMS = ("tsp", "cvrp", "vrptw", "tsptw")

MOST_NODES = 10_000
"""Its matrices take 2.4 GB at this size."""
GAP = 0.02
"""Seconds between two incumbents that are copied out while the search runs."""
PENALTY = 100_000.0
"""PyVRP's own largest penalty for a unit of load or lateness, lowered where sums could overflow."""
FLEET = 10
"""``objective="vehicles"``: a vehicle costs as much as this many trips to the farthest customer and back. More would
drown the penalties, and the search would never return from solutions with too few vehicles."""


def run(task: Task) -> Outcome:
    """Search until the task is over; one iteration is one of PyVRP's own.

    Runs on one thread whatever ``task.threads`` says. The clock is looked at after every iteration, for the first
    time after the first descent: about 0.6 s after the start with 1,000 nodes in one tour.

    Raises
    ------
    EngineError
        Above `MOST_NODES` nodes.
    """
    if task.over():
        return Outcome()
    import pyvrp
    from pyvrp.exceptions import PenaltyBoundWarning

    numbers = scaled(task.instance, MOST_NODES)
    data = _data(task.instance, numbers)
    watch = _watch(task)
    parameters = pyvrp.SolveParams(
        ils=pyvrp.IteratedLocalSearchParams(callbacks=watch),
        penalty=pyvrp.PenaltyParams(max_penalty=_largest_penalty(task.instance, numbers)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PenaltyBoundWarning)
        result = pyvrp.solve(
            data,
            stop=watch,
            seed=task.seed % 2**32,
            collect_stats=False,
            display=False,
            params=parameters,
            initial_solution=_start(task, data),
        )
    watch.offer(result.best)
    return Outcome(iterations=watch.iterations)


def _watch(task: Task) -> Any:
    """What PyVRP calls as stopping criterion and at each new best solution."""
    from pyvrp import IteratedLocalSearchCallbacks

    class Watch(IteratedLocalSearchCallbacks):  # type: ignore[misc]
        def __init__(self) -> None:
            self.iterations = -1
            self.waiting: Solution | None = None
            self.offered = -GAP

        def __call__(self, _: float) -> bool:
            self.iterations += 1
            if self.waiting is not None and task.deadline.elapsed() - self.offered >= GAP:
                self.offer(self.waiting)
            return task.over(self.iterations)

        def on_start(self, search: Any) -> None:
            self.waiting = search.initial_solution

        def on_best(self, best: "Solution") -> None:
            self.waiting = best

        def offer(self, solution: "Solution") -> None:
            self.waiting = None
            if solution.is_feasible():
                task.incumbent.offer(_answer(task.instance, solution), max(0, self.iterations))
            self.offered = task.deadline.elapsed()

    return Watch()


def _data(instance: Any, numbers: Scaled) -> "ProblemData":
    """The instance as PyVRP's ProblemData; client i - 1 is node i."""
    import pyvrp

    n, windows, loads = instance.n, numbers.windows, numbers.loads
    ready = np.zeros(n, np.int64) if windows is None else windows.ready
    due = np.full(n, FOREVER) if windows is None else windows.due
    where = instance.distance.coords
    spots = np.zeros((n, 2)) if where is None else where
    clients = [
        pyvrp.Client(
            node,
            delivery=[] if loads is None else [int(loads.demand[node])],
            tw_early=int(ready[node]),
            tw_late=int(due[node]),
        )
        for node in range(1, n)
    ]
    fleet = pyvrp.VehicleType(
        num_available=_vehicles(instance),
        capacity=[] if loads is None else [loads.capacity],
        fixed_cost=_fixed_cost(instance, numbers),
        tw_late=int(due[0]),
    )
    travel = np.zeros((n, n), np.int64) if windows is None else _without_diagonal(windows.travel)
    locations = [pyvrp.Location(float(spot[0]), float(spot[1])) for spot in spots]
    return pyvrp.ProblemData(locations, clients, [pyvrp.Depot(0)], [fleet], [numbers.distance], [travel])


def _without_diagonal(travel: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    copy = travel.copy()
    np.fill_diagonal(copy, 0)
    return copy


def _vehicles(instance: Any) -> int:
    if instance.kind == "tour":
        return 1
    return max(1, min(instance.n - 1, instance.max_vehicles or instance.n - 1))


def _fixed_cost(instance: Any, numbers: Scaled) -> int:
    if getattr(instance, "objective", "") != "vehicles":
        return 0
    return FLEET * int((numbers.distance[0] + numbers.distance[:, 0]).max())


def _largest_penalty(instance: Any, numbers: Scaled) -> float:
    """The largest penalty at which no penalised sum leaves 62 bits."""
    excess = 1.0 if numbers.loads is None else max(1.0, float(numbers.loads.demand.sum()))
    if numbers.windows is not None:
        leg = float(numbers.windows.travel.max())
        excess = max(excess, instance.n * (numbers.windows.horizon + leg))
    return min(PENALTY, 2.0**61 / excess)


def _start(task: Task, data: "ProblemData") -> "Solution | None":
    """The user's start, feasible or not, as a Solution; None where there is none or it has too many routes."""
    import pyvrp

    if task.start is None:
        return None
    answer = task.start if task.incumbent.answer is None else task.incumbent.answer
    routes = [answer[1:]] if task.instance.kind == "tour" else answer
    if len(routes) > _vehicles(task.instance):
        return None
    return pyvrp.Solution(data, [[int(node) - 1 for node in route] for route in routes])


def _answer(instance: Any, solution: "Solution") -> list[Any]:
    routes = [[visit.idx + 1 for visit in route if visit.is_client()] for route in solution.routes()]
    return [0, *(node for route in routes for node in route)] if instance.kind == "tour" else routes
