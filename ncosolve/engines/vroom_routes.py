"""VROOM: heuristics and local search on CVRP and VRPTW, as the package pyvroom holds it."""

import math
from datetime import timedelta
from typing import Any

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.rivals import Watch, ask, concluded, fitted, in_order, left
from ncosolve.engines.scaling import Scaled

PROBLEMS = ("cvrp", "vrptw")

MOST_NODES = 10_000
"""Its matrix takes 0.4 GB at this size, ours 1.6 GB before."""
LARGEST = 2**30
"""The largest time, and the largest sum of one longest leg for each node; VROOM wants up to three times as many legs,
those of the vehicles too, below 2^32."""
HIGHEST = 5
"""Its highest exploration level."""
DEARER = 2.6
"""How many times as long as one level the next one takes."""
FLEET = 20
"""``objective="vehicles"``: a vehicle costs as much as this many of the longest legs."""
SPARE = 5
"""An open fleet has this many vehicles and a tenth more than the load needs; twice as many where that is too few."""
SHARE = 0.97
"""What a call gets of the time that is left."""


def run(task: Task) -> Outcome:
    """Call VROOM at its lowest exploration level, then at the highest one that there is time for, and so on.

    A high level begins with so many solutions that a short time ends amid them. It ends when the highest one is
    complete. Where iterations are limited, by any number from 1, there is one call at the highest.

    Raises
    ------
    EngineError
        Above `MOST_NODES` nodes.
    """
    level = 0 if task.max_iterations is None else HIGHEST
    while not task.over():
        routes, seconds = ask(task, _routes, level, task.threads) or (None, math.inf)
        if routes is not None:
            task.incumbent.offer(routes)
        if level == HIGHEST or task.over():
            break
        times = min(1e9, max(1.0, task.deadline.remaining() / max(1e-3, seconds)))
        level = min(HIGHEST, level + max(1, int(math.log(times, DEARER))))
    return concluded(task)


def _routes(instance: Any, end: float, level: int, threads: int) -> tuple[list[list[int]] | None, float]:
    """Routes that serve all customers, None where time ends before; and the seconds that the last call took.

    It gets as many vehicles as that takes.
    """
    numbers = fitted(instance, MOST_NODES, LARGEST / instance.n, LARGEST)
    assert numbers.loads is not None
    most = min(instance.n - 1, instance.max_vehicles or instance.n - 1)
    vehicles = min(most, math.ceil(1.1 * numbers.loads.demand.sum() / numbers.loads.capacity) + SPARE)
    while True:
        options: dict[str, Any] = {"exploration_level": level, "nb_threads": threads}
        if math.isfinite(end):
            options["timeout"] = timedelta(seconds=max(0.001, SHARE * left(end)))
        watch = Watch()
        steps = _problem(instance, numbers, vehicles).solve(**options).routes
        steps = steps[steps.type == "job"]
        if len(steps) == instance.n - 1:
            routes = [[int(node) for node in part.id] for _, part in steps.groupby("vehicle_id")]
            turns = instance.problem == "cvrp" and instance.distance.symmetric
            return in_order(routes, turns), watch.seconds()
        if vehicles == most or left(end) == 0.0:
            return None, watch.seconds()
        vehicles = min(most, 2 * vehicles)


def _problem(instance: Any, numbers: Scaled, vehicles: int) -> Any:
    """The instance as VROOM's Input: job i is node i; durations, which are costs too, leave the service out."""
    import vroom

    windows, loads = numbers.windows, numbers.loads
    assert loads is not None
    legs, service, window = numbers.distance, [0] * instance.n, [vroom.TimeWindow()] * instance.n
    if windows is not None:
        service = windows.travel.diagonal().tolist()
        legs = windows.travel - windows.travel.diagonal()[:, None]
        window = [vroom.TimeWindow(*map(int, pair)) for pair in zip(windows.ready, windows.due, strict=True)]
    fixed = min(LARGEST, FLEET * int(numbers.distance.max())) if instance.objective == "vehicles" else 0
    problem = vroom.Input()
    problem.set_durations_matrix("car", legs)
    fleet = {"start": 0, "end": 0, "capacity": [loads.capacity], "costs": vroom.VehicleCosts(fixed=fixed)}
    problem.add_vehicle([vroom.Vehicle(k, time_window=window[0], **fleet) for k in range(vehicles)])
    jobs = [
        vroom.Job(
            node, node, default_service=service[node], delivery=[int(loads.demand[node])], time_windows=[window[node]]
        )
        for node in range(1, instance.n)
    ]
    problem.add_job(jobs)
    return problem
