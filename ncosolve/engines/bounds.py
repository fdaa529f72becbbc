"""Proved lower bounds that no engine has to know of: cheap, valid, and often weak."""

import math

import numpy as np
from numpy.typing import NDArray

from ncosolve.deadline import Deadline
from ncosolve.problems.base import Problem, minimises_makespan

DENSE = 2000
"""Up to this many nodes bounds that need all pairs are computed."""
GROUND = 2e-5
"""Seconds a node that the ground of a tour search takes: where that is more than there are, the solver needs them."""


def lower_bound(instance: Problem, deadline: Deadline, max_iterations: int | None = None) -> float | None:
    """A proved lower bound on the cost, or None where there is none (MILP: the outside solver's own).

    Parameters
    ----------
    instance : Problem
        What is solved.
    deadline : Deadline
        The clock; a bound takes a few hundredths of its limit.
    max_iterations : int, optional
        Where it is given, the work does not depend on the clock.
    """
    if instance.problem == "milp" or instance.n < 3 or minimises_makespan(instance):
        return None
    from ncosolve.compilation import left_out  # imports Numba

    distance = instance.distance  # type: ignore[attr-defined]
    with left_out(deadline):
        timely = max_iterations is not None or GROUND * instance.n <= deadline.limit
        closed = distance.symmetric and instance.kind == "tour"
        if closed and (instance.n <= DENSE or (instance.problem == "tsp" and timely)):
            bound = _held_karp(instance, deadline, max_iterations)
        elif instance.n > DENSE:
            bound = _two_nearest(instance)
        elif instance.kind == "routes":
            bound = _degrees(instance, distance.matrix())
        else:
            bound = _assignment(distance.matrix())
    bound -= 1e-9 * abs(bound)  # what the sums of a large instance may have rounded up
    return float(math.ceil(bound - 1e-6)) if distance.integral else bound


def _held_karp(instance: Problem, deadline: Deadline, max_iterations: int | None) -> float:
    """What the ground of a search knows; waiting and draft limits make no tour shorter."""
    from ncosolve.engines.tour_ground import ground_of

    return ground_of(instance.distance, deadline, max_iterations).bound  # type: ignore[attr-defined]


def _assignment(table: NDArray[np.float64]) -> float:
    """The cheapest choice of one successor for each node, which every tour is."""
    from scipy.optimize import linear_sum_assignment

    costs = table.copy()
    np.fill_diagonal(costs, table.sum())
    rows, columns = linear_sum_assignment(costs)
    return float(costs[rows, columns].sum())


def _degrees(instance: Problem, table: NDArray[np.float64]) -> float:
    """Every customer is left once and entered once, the depot at least as often as there must be routes."""
    routes = _fewest_routes(instance)
    costs = table.copy()
    np.fill_diagonal(costs, np.inf)
    leaving = costs[1:].min(axis=1).sum() + np.sort(costs[0, 1:])[:routes].sum()
    entering = costs[:, 1:].min(axis=0).sum() + np.sort(costs[1:, 0])[:routes].sum()
    if not np.array_equal(table, table.T):
        return float(max(leaving, entering))
    pair = (
        np.partition(costs[1:, 1:], 1, axis=1)[:, :2].sum(axis=1) if instance.n > 3 else np.full(instance.n - 1, np.inf)
    )
    one = costs[0, 1:] + costs[1:, 1:].min(axis=1)
    around = np.minimum(np.minimum(pair, one), 2.0 * costs[0, 1:])
    # an edge to the depot serves two ends of a route that visits one customer
    depot = 2.0 * np.sort(costs[0, 1:])[:routes].sum()
    return float(max(leaving, entering, 0.5 * (around.sum() + depot)))


def _two_nearest(instance: Problem) -> float:
    """Half the two shortest links of every node, from a k-d tree."""
    from ncosolve.engines.arrays import metric_of
    from ncosolve.search.neighbours import nearest

    distance = instance.distance  # type: ignore[attr-defined]
    if not distance.symmetric:
        return 0.0
    lists = nearest(metric_of(distance), 2)
    links = distance.between(np.arange(instance.n)[:, None], lists)
    if instance.problem in ("cvrp", "vrptw"):  # a link to the depot may be used twice
        links = links[1:, :1].repeat(2, axis=1)
    return float(0.5 * links.sum())


def _fewest_routes(instance: Problem) -> int:
    total, capacity = float(instance.demand.sum()), float(instance.capacity)  # type: ignore[attr-defined]
    return max(1, math.ceil(total / capacity - 1e-9))
