"""Exact dynamic programming for few nodes: proves the optimum, or that there is no feasible answer."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ncosolve.engines.base import Outcome, Task
from ncosolve.problems.base import IntArray, load_slack, minimises_makespan
from ncosolve.problems.windows import time_tolerance
from ncosolve.search.label_setting import Arcs, Limits, Tour, conflict, shortest_tour
from ncosolve.search.route_partition import Routes, best_partition, cheapest_routes

PROBLEMS = ("tsp", "cvrp", "vrptw", "tsptw", "tspdl")
MAKESPAN = True

PARAMETERS = {"labels": 3_000_000}
"""Labels made before it gives up."""
REASON_LABELS = 100_000
"""The same for each set of nodes of which it is asked whether they clash."""
BEAM = 100
"""Labels a level of the beam search that supplies an upper bound."""
SOON = 30
"""Up to this many nodes that beam search takes milliseconds, and the clock is not asked."""
GIVEN_UP = "the exact search was given up: too many nodes for the labels or the time that it has"
LEEWAY = 1.001
"""Windows get the tolerance of the independent check and a trifle, for sums in another order round otherwise."""
SOONER = 1e-9
"""A makespan that is lower by no more than this is not looked for, relative to it."""
NAMED = 12
"""Up to so many nodes are named when they clash."""


@dataclass(frozen=True)
class TourForm:
    """A tour problem as arcs with windows, and which way round its tours are read.

    Attributes
    ----------
    arcs : Arcs
        Costs, times and windows.
    backwards : bool
        Whether the instance's tours go the other way round.
    """

    arcs: Arcs
    backwards: bool = False

    def turn(self, tour: ArrayLike) -> IntArray:
        """Read a tour of the instance as one along the arcs, or the other way about."""
        nodes = np.asarray(tour, np.int64)
        return np.concatenate([nodes[:1], nodes[:0:-1]]) if self.backwards else nodes


def tour_form(instance: Any, leeway: float = LEEWAY) -> TourForm:
    """Put a TSP, TSPTW or TSPDL into the form of arcs with windows.

    Seen backwards, a ship with draft limits loads: its clock is the load, loading takes ``demand`` and must start by
    ``draft_limit - demand``.

    Parameters
    ----------
    instance : TSP, TSPTW or TSPDL
        The instance.
    leeway : float
        How much of the tolerance of the independent check the windows get.
    """
    if instance.problem == "tsptw":
        return TourForm(_timed(instance, leeway))
    if instance.problem == "tspdl":
        demand = instance.demand
        due = instance.draft_limit - demand + leeway * load_slack(float(demand.sum()))
        due[0] = np.inf
        cost, time = np.ascontiguousarray(instance.distance.matrix().T), np.repeat(demand[:, None], instance.n, axis=1)
        return TourForm(Arcs(cost, time, np.zeros(instance.n), due), backwards=True)
    return TourForm(_untimed(instance))


def _timed(instance: Any, leeway: float = LEEWAY) -> Arcs:
    distance, due = instance.distance.matrix(), instance.due_date
    service = instance.service_time.copy()
    service[0] = 0.0
    return Arcs(distance, distance + service[:, None], instance.ready_time, due + leeway * time_tolerance(due))


def _untimed(instance: Any) -> Arcs:
    distance = instance.distance.matrix()
    return Arcs(distance, np.zeros_like(distance), np.zeros(len(distance)), np.full(len(distance), np.inf))


def run(task: Task) -> Outcome:
    """Search all orders; where that takes too many labels, give up without an answer.

    Where time is up it offers what it has, as no other solver has the time to do better.
    """
    limits = Limits(int(task.parameters.get("labels", PARAMETERS["labels"])), over=task.deadline.over)
    if task.instance.kind == "routes":
        outcome = _solve_routes(task, limits)
        if outcome is None and task.over():
            task.incumbent.offer([[customer] for customer in range(1, task.instance.n)], 1)
        return outcome or Outcome(1, note=GIVEN_UP)
    form = tour_form(task.instance)
    if minimises_makespan(task.instance):
        return _prove_makespan(task, form, limits) or Outcome(1, note=GIVEN_UP)
    unhurried = task.instance.n <= SOON
    beam_limits = Limits(width=BEAM) if unhurried else Limits(width=BEAM, over=task.deadline.over)
    beam = shortest_tour(form.arcs, below(task, task.incumbent.cost), beam_limits)
    outcome = prove_tour(task, form, limits, beam)
    if outcome is None and beam.nodes is not None and task.over():
        task.incumbent.offer(form.turn(beam.nodes), 1)
    return outcome or Outcome(1, note=GIVEN_UP)


def prove_tour(task: Task, form: TourForm, limits: Limits, known: Tour | None = None) -> Outcome | None:
    """Prove the optimum, or that there is no tour; None where limits came first.

    Parameters
    ----------
    task : Task
        Whose incumbent, if any, gives an upper bound; it gets what is found.
    form : TourForm
        Its instance.
    limits : Limits
        When to give up.
    known : Tour, optional
        What was found below the incumbent so far.
    """
    if minimises_makespan(task.instance):
        return _prove_makespan(task, form, limits)
    known = known or Tour(None, np.inf, False)
    upper = min(task.incumbent.cost, known.cost)
    found = known if known.complete else shortest_tour(form.arcs, below(task, upper), limits)
    if not found.complete:
        return None
    nodes = known.nodes if found.nodes is None else found.nodes
    if nodes is not None:
        task.incumbent.offer(form.turn(nodes), 1)
    elif task.incumbent.answer is None:
        return Outcome(1, infeasible=_reason(task, form))
    return _optimal(task, min(upper, found.cost))


def sooner(instance: Any, makespan: float) -> float:
    """When a tour must be back to be better: whole numbers leave a gap."""
    times = np.concatenate([instance.ready_time, instance.service_time])
    if instance.distance.integral and (times == np.floor(times)).all():
        return makespan - 0.5
    return makespan - SOONER * max(1.0, abs(makespan))


def _prove_makespan(task: Task, form: TourForm, limits: Limits) -> Outcome | None:
    """Ask for any tour that is back sooner than the incumbent, until there is none."""
    arcs = replace(form.arcs, cost=np.zeros_like(form.arcs.cost), due=form.arcs.due.copy())
    while True:
        if task.incumbent.answer is not None:
            arcs.due[0] = min(arcs.due[0], sooner(task.instance, task.incumbent.cost))
        found = shortest_tour(arcs, limits=limits)
        if found.nodes is not None and task.incumbent.offer(found.nodes, 1):
            continue
        if found.nodes is not None or not found.complete:
            return None
        if task.incumbent.answer is None:
            return Outcome(1, infeasible=_reason(task, form))
        return Outcome(1, bound=task.incumbent.cost, optimal=True)


def below(task: Task, cost: float) -> float:
    """What a better tour must cost less than: whole numbers leave a gap."""
    return cost - 0.5 if task.instance.distance.integral else cost


def _optimal(task: Task, cost: float) -> Outcome | None:
    """Say that the incumbent is optimal, unless the check refused the optimum for the last bit of a window."""
    if task.incumbent.answer is None or task.incumbent.cost > cost + 1e-9 * abs(cost):
        return None
    return Outcome(1, bound=task.incumbent.cost, optimal=True)


def _reason(task: Task, form: TourForm) -> str:
    """Name few nodes that clash, where they are soon found."""
    nodes = conflict(form.arcs, Limits(REASON_LABELS, over=task.deadline.over))
    if 0 < len(nodes) <= NAMED:
        names = " ".join(str(node) for node in nodes)
        return f"no tour visits node{'s' if len(nodes) > 1 else ''} {names} in time"
    return f"none of the orders of the {task.instance.n} nodes keeps all windows (exhaustive search)"


def _solve_routes(task: Task, limits: Limits) -> Outcome | None:
    """Find the cheapest route of every subset of the customers, then the best split into such routes."""
    instance = task.instance
    arcs = _timed(instance) if instance.problem == "vrptw" else _untimed(instance)
    capacity = instance.capacity + load_slack(instance.capacity)
    routes = cheapest_routes(arcs, instance.demand, capacity, limits)
    if routes is None:
        return None
    customers, fewest = instance.n - 1, instance.objective == "vehicles"
    most = customers if instance.max_vehicles is None else instance.max_vehicles
    split = best_partition(routes.cost, most, fewest)
    if split is None:
        return Outcome(1, infeasible=_no_split(routes, customers, most))
    cost, subsets = split
    task.incumbent.offer([routes.nodes(subset) for subset in subsets], 1)
    outcome = _optimal(task, cost)
    if outcome is None or (fewest and len(task.incumbent.answer or ()) > len(subsets)):
        return Outcome(1)
    return Outcome(1, optimal=True) if fewest else outcome  # a bound on the distance would hold for that fleet only


def _no_split(routes: Routes, customers: int, most: int) -> str:
    subsets = np.arange(len(routes.cost))
    for customer in range(1, customers + 1):
        if not np.isfinite(routes.cost[subsets >> (customer - 1) & 1 == 1]).any():
            return f"no route can visit customer {customer} within its limits"
    return f"no split of the {customers} customers into at most {most} routes keeps their limits (exhaustive search)"
