"""Capacitated vehicle routing: routes from and to the depot that serve each customer once within the capacity."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ncosolve.errors import InputError
from ncosolve.problems.base import (
    Check,
    FloatArray,
    IntArray,
    Violation,
    as_routes,
    describe,
    load_slack,
    positive,
    vector,
    whole,
    worst,
)
from ncosolve.problems.cvrp_recipes import CVRPBatch, unit_square, x_set
from ncosolve.problems.distance import Distance
from ncosolve.problems.randomness import generator, one_of

OBJECTIVES = ("distance", "vehicles")
"""``distance`` minimises the total distance; ``vehicles`` the number of routes first, then the distance."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CVRP:
    """A capacitated vehicle routing problem; node 0 is the depot.

    Parameters
    ----------
    distance, coords, rounding, name
        As in `ncosolve.TSP`, over the depot and the customers.
    demand : array_like, shape (n,)
        Demands >= 0; that of the depot must be 0.
    capacity : float
        What one vehicle can carry, > 0.
    max_vehicles : int, optional
        The most routes allowed; None for a free fleet.
    objective : str
        One of `OBJECTIVES`.

    Raises
    ------
    InputError
        When the arrays do not fit together or hold a number that is not allowed.
    """

    problem: ClassVar[str] = "cvrp"
    kind: ClassVar[str] = "routes"
    distance: Distance
    demand: FloatArray
    capacity: float
    max_vehicles: int | None
    objective: str
    name: str

    __repr__ = describe

    def __init__(
        self,
        distance: Distance | ArrayLike | None = None,
        *,
        demand: ArrayLike,
        capacity: float,
        coords: ArrayLike | None = None,
        rounding: str = "exact",
        max_vehicles: int | None = None,
        objective: str = "distance",
        name: str = "",
    ) -> None:
        object.__setattr__(self, "distance", Distance.of(distance, coords, rounding))
        put_fleet(self, demand, capacity, max_vehicles, objective)
        object.__setattr__(self, "name", name)

    @property
    def n(self) -> int:
        """Nodes including the depot."""
        return self.distance.n

    def answer(self, raw: Any) -> tuple[IntArray, ...]:
        """Routes in canonical form: a tuple of arrays of customers, the depot left out."""
        return as_routes(raw, self.n)

    def order(self, answer: tuple[IntArray, ...], cost: float) -> tuple[float, ...]:
        """The key by which answers compare; smaller is better."""
        return fleet_order(self, answer, cost)

    def check(self, answer: tuple[IntArray, ...]) -> Check:
        """The total distance; violations: capacity, vehicles."""
        routes = self.answer(answer)
        return Check(routes_length(self.distance, routes), tuple(fleet_violations(self, routes)))

    def clash(self) -> str | None:
        """Why no feasible solution can exist, where it is plain from the demands."""
        return capacity_clash(self)


INSTANCE = CVRP


def put_fleet(instance: Any, demand: ArrayLike, capacity: float, max_vehicles: int | None, objective: str) -> None:
    """Validate what describes the fleet and its loads, and set it on a frozen instance."""
    put = object.__setattr__
    put(instance, "demand", vector(demand, instance.n, "demand", low=0.0))
    put(instance, "capacity", positive(capacity, "capacity"))
    put(instance, "max_vehicles", _vehicle_limit(max_vehicles))
    put(instance, "objective", objective)
    if instance.demand[0] != 0:
        raise InputError(f"of the depot is {instance.demand[0]:g}, expected 0", where="demand")
    if objective not in OBJECTIVES:
        raise InputError(f"is {objective!r}, expected one of {', '.join(OBJECTIVES)}", where="objective")


def _vehicle_limit(limit: int | None) -> int | None:
    if limit is None:
        return None
    number = positive(limit, "max_vehicles")
    if number != math.floor(number):
        raise InputError(f"is {number:g}, expected a whole number", where="max_vehicles")
    return int(number)


def fleet_order(instance: Any, routes: tuple[IntArray, ...], cost: float) -> tuple[float, ...]:
    """The key by which routes compare under the instance's objective; smaller is better."""
    return (len(routes), cost) if instance.objective == "vehicles" else (cost,)


def routes_length(distance: Distance, routes: tuple[IntArray, ...]) -> float:
    """The total length of routes that leave from and return to node 0."""
    depot = np.zeros(1, np.int64)
    return distance.total(np.concatenate([depot, *(part for route in routes for part in (route, depot))]))


def fleet_violations(instance: Any, routes: tuple[IntArray, ...]) -> list[Violation]:
    """Broken capacities and a broken vehicle limit, of any problem with ``demand`` and ``capacity``."""
    loads = np.array([instance.demand[route].sum() for route in routes])
    slack = load_slack(instance.capacity)
    found = worst("capacity", np.where(loads > instance.capacity + slack, loads - instance.capacity, 0.0), "route")
    limit = instance.max_vehicles
    if limit is not None and len(routes) > limit:
        found.append(Violation("vehicles", len(routes) - limit, f"{len(routes)} routes, {limit} allowed"))
    return found


def capacity_clash(instance: Any) -> str | None:
    """A demand over the capacity, or a fleet that cannot carry the total demand."""
    slack = load_slack(instance.capacity)
    heaviest = int(np.argmax(instance.demand))
    if instance.demand[heaviest] > instance.capacity + slack:
        return f"demand {instance.demand[heaviest]:g} of customer {heaviest} is over the capacity {instance.capacity:g}"
    limit, total = instance.max_vehicles, float(instance.demand.sum())
    if limit is not None and total > limit * (instance.capacity + slack):
        return f"total demand {total:g} is over {limit} vehicles of capacity {instance.capacity:g}"
    return None


RECIPES = ("x", "uniform", "clustered", "mixed")


def generate(n: int, *, seed: int = 0, recipe: str = "x", **options: Any) -> CVRP:
    """A random instance.

    Parameters
    ----------
    n : int
        Nodes including the depot.
    seed : int
        Equal seeds give equal instances.
    recipe : str
        ``x``: as the X set, with distances rounded to the nearest whole number. ``uniform``, ``clustered``, ``mixed``:
        in the unit square, with exact distances; the first of ``generate_batch(1, n, seed, layout=recipe)``.
    **options
        For ``x``: depot, customers, demand and route_length of `ncosolve.problems.cvrp_recipes.x_set`; the seed picks
        those not given. For the others: demand and capacity of `generate_batch`.
    """
    name = f"cvrp-{recipe}-n{n}-s{seed}"
    if one_of(recipe, RECIPES, "recipe") == "x":
        coords, demand, capacity = x_set(whole(n, "n"), generator(seed), **options)
        return CVRP(coords=coords[0], demand=demand[0], capacity=capacity, rounding="nint", name=name)
    coords, demand, capacity = generate_batch(1, n, seed, layout=recipe, **options)
    return CVRP(coords=coords[0], demand=demand[0], capacity=capacity, name=name)


def generate_batch(
    count: int,
    n: int,
    seed: int = 0,
    *,
    layout: str = "uniform",
    demand: str = "uniform",
    capacity: int | None = None,
) -> CVRPBatch:
    """Instances in the unit square, for training; see `ncosolve.problems.cvrp_recipes.unit_square` for the options.

    Every demand fits into a vehicle, so that every instance is feasible.
    """
    rng = generator(seed)
    return unit_square(whole(count, "count"), whole(n, "n"), rng, layout=layout, demand=demand, capacity=capacity)
