"""Vehicle routing with time windows: CVRP in which service must start within the window of each customer."""

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from ncosolve.problems.base import Check, FloatArray, IntArray, as_routes, describe, whole
from ncosolve.problems.cvrp import capacity_clash, fleet_order, fleet_violations, put_fleet, routes_length
from ncosolve.problems.distance import Distance
from ncosolve.problems.randomness import generator, one_of
from ncosolve.problems.vrptw_recipes import KINDS, VRPTWBatch, solomon_like, unit_square
from ncosolve.problems.windows import lateness, put_windows, window_clash


@dataclass(frozen=True, init=False, eq=False, repr=False)
class VRPTW:
    """A vehicle routing problem with time windows; node 0 is the depot.

    Travel time equals distance. A vehicle leaves the depot at its ready time, may wait for a window to open, and must
    be back by the due date of the depot.

    Parameters
    ----------
    distance, coords, rounding, demand, capacity, max_vehicles, objective, name
        As in `ncosolve.CVRP`.
    ready_time, due_date : array_like, shape (n,)
        The window in which service starts; those of node 0 are the horizon.
    service_time : array_like, shape (n,), optional
        Time spent at each node, not part of the objective; 0 when not given.

    Raises
    ------
    InputError
        When the arrays do not fit together, or a window closes before it opens.
    """

    problem: ClassVar[str] = "vrptw"
    kind: ClassVar[str] = "routes"
    distance: Distance
    demand: FloatArray
    capacity: float
    ready_time: FloatArray
    due_date: FloatArray
    service_time: FloatArray
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
        ready_time: ArrayLike,
        due_date: ArrayLike,
        service_time: ArrayLike | None = None,
        coords: ArrayLike | None = None,
        rounding: str = "exact",
        max_vehicles: int | None = None,
        objective: str = "distance",
        name: str = "",
    ) -> None:
        object.__setattr__(self, "distance", Distance.of(distance, coords, rounding))
        put_fleet(self, demand, capacity, max_vehicles, objective)
        put_windows(self, ready_time, due_date, service_time)
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
        """The total distance; violations: capacity, vehicles, time window."""
        routes = self.answer(answer)
        violations = fleet_violations(self, routes) + lateness(self, routes)
        return Check(routes_length(self.distance, routes), tuple(violations))

    def clash(self) -> str | None:
        """Why no feasible solution can exist, where it is plain from demands or from single windows."""
        return capacity_clash(self) or window_clash(self)


INSTANCE = VRPTW


def generate(n: int, *, seed: int = 0, kind: str = "R1", max_vehicles: int | None = None, **options: Any) -> VRPTW:
    """A random instance; each customer can be served by a vehicle of its own, so that a free fleet always suffices.

    Parameters
    ----------
    n : int
        Nodes including the depot.
    seed : int
        Equal seeds give equal instances.
    kind : str
        ``R1``, ``R2``, ``C1``, ``C2``, ``RC1`` or ``RC2``: like Solomon's classes. ``unit``: in the unit square, the
        first of ``generate_batch(1, n, seed)``.
    max_vehicles : int, optional
        The most routes allowed (25 for 100 customers in Solomon's files); a free fleet when not given. With a limit,
        nothing guarantees a feasible solution.
    **options
        For Solomon's classes: density and width of `ncosolve.problems.vrptw_recipes.solomon_like`. For ``unit``:
        layout, demand and capacity of `generate_batch`.
    """
    if one_of(kind, (*KINDS, "unit"), "kind") == "unit":
        data = generate_batch(1, n, seed, **options)
    else:
        data = solomon_like(whole(n, "n"), generator(seed), kind, **options)
    return VRPTW(
        coords=data.coords[0],
        demand=data.demand[0],
        capacity=data.capacity,
        ready_time=data.ready_time[0],
        due_date=data.due_date[0],
        service_time=data.service_time[0],
        max_vehicles=max_vehicles,
        name=f"vrptw-{kind.lower()}-n{n}-s{seed}",
    )


def generate_batch(
    count: int,
    n: int,
    seed: int = 0,
    *,
    layout: str = "uniform",
    demand: str = "uniform",
    capacity: int | None = None,
) -> VRPTWBatch:
    """Instances in the unit square, for training; see `ncosolve.problems.vrptw_recipes.unit_square`."""
    rng = generator(seed)
    return unit_square(whole(count, "count"), whole(n, "n"), rng, layout=layout, demand=demand, capacity=capacity)
