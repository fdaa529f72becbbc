"""Random customers with time windows: instances like Solomon's, and the unit square of neural studies."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ncosolve.problems.base import FloatArray, IntArray
from ncosolve.problems.cvrp_recipes import unit_square as cvrp_square
from ncosolve.problems.randomness import between, distinct_points


class VRPTWBatch(NamedTuple):
    """Generated instances of one size, capacity and service time.

    Attributes
    ----------
    coords : ndarray of float64, shape (count, n, 2)
        Positions; node 0 is the depot.
    demand : ndarray of int64, shape (count, n)
        Demands; 0 for the depot.
    capacity : int
        What one vehicle can carry.
    ready_time, due_date : ndarray of float64, shape (count, n)
        The windows; those of node 0 are the horizon.
    service_time : ndarray of float64, shape (count, n)
        0 for the depot.
    """

    coords: FloatArray
    demand: IntArray
    capacity: int
    ready_time: FloatArray
    due_date: FloatArray
    service_time: FloatArray


class _Kind(NamedTuple):
    """What sets one of Solomon's classes apart, for 100 customers; lengths and times in his unit."""

    side: float  # of the square
    depot: tuple[float, float]  # as a share of the side
    horizon: float
    capacity: int
    service: float
    width: float  # of a window, on average
    clustered: float  # share of the customers
    cluster: int  # customers in a cluster


KINDS = {
    "R1": _Kind(70.0, (0.5, 0.5), 230.0, 200, 10.0, 30.0, 0.0, 10),
    "R2": _Kind(70.0, (0.5, 0.5), 1000.0, 1000, 10.0, 120.0, 0.0, 10),
    "C1": _Kind(100.0, (0.4, 0.5), 1236.0, 200, 90.0, 60.0, 1.0, 10),
    "C2": _Kind(100.0, (0.4, 0.5), 3390.0, 700, 90.0, 160.0, 1.0, 33),
    "RC1": _Kind(100.0, (0.4, 0.5), 240.0, 200, 10.0, 30.0, 0.5, 10),
    "RC2": _Kind(100.0, (0.4, 0.5), 960.0, 1000, 10.0, 120.0, 0.5, 10),
}
_DENSITIES = (0.25, 0.5, 0.75, 1.0)
_SPREAD = 4.0  # standard deviation of a cluster
_HORIZON, _SERVICE = 3.0, 0.2  # in the unit square


def solomon_like(
    n: int,
    rng: np.random.Generator,
    kind: str,
    *,
    density: float | None = None,
    width: float | None = None,
) -> VRPTWBatch:
    """One instance (count = 1) like those of Solomon (1987); every number in it is a whole one.

    Parameters
    ----------
    n : int
        Nodes including the depot. The square grows with the number of customers, so that there are as many on an area
        as in Solomon's; beyond 100, the horizon grows by the longer way to its corner and back.
    rng : numpy.random.Generator
        The source of randomness.
    kind : str
        A key of `KINDS`. ``R``: uniform; ``C``: in clusters; ``RC``: half and half. ``2`` has the longer horizon and
        the larger vehicles.
    density : float, optional
        The share of customers with a window of their own, 0..1; picked from 0.25, 0.5, 0.75 and 1 when not given.
        The others may be served at any time from which the depot can still be reached.
    width : float, optional
        The mean width of a window, >= 2; its standard deviation is a fifth of that. 30 (R1, RC1), 60 (C1), 120 (R2,
        RC2) or 160 (C2) when not given.

    Notes
    -----
    Windows are centred on a time uniform over what is possible for the customer alone; for ``C`` on the arrival times
    of routes that serve one cluster after the other. Whatever the options, each customer can be served by a vehicle
    of its own.
    """
    drawn = float(rng.choice(_DENSITIES))
    share = drawn if density is None else between(density, 0.0, 1.0, "density")
    law = KINDS[kind]
    mean_width = law.width if width is None else between(width, 2.0, 1e9, "width")
    side = max(10, round(law.side * np.sqrt((n - 1) / 100.0)))
    depot = np.array([[round(law.depot[0] * side), round(law.depot[1] * side)]])
    cluster, points = _customers(n - 1, law, side, depot, rng)
    demand = _demands(cluster, rng)
    far = np.linalg.norm(points - depot, axis=1)
    horizon = law.horizon + max(0.0, np.ceil(2.0 * (_reach(law, side) - _reach(law, law.side))))
    latest = np.floor(horizon - law.service - far)
    if law.clustered == 1.0:
        middle = _route_times(points, depot, cluster, demand, law, latest)
    else:
        middle = rng.uniform(np.ceil(far), latest)
    half = np.maximum(2.0, rng.normal(mean_width, mean_width / 5.0, n - 1)) / 2.0
    narrow = rng.permutation(n - 1) < round(share * (n - 1))
    ready = np.where(narrow, np.maximum(0.0, np.floor(middle - half)), 0.0)
    due = np.where(narrow, np.minimum(latest, np.ceil(middle + half)), latest)
    return VRPTWBatch(
        np.concatenate([depot, points]).astype(np.float64)[None],
        _behind_depot(0, demand),
        law.capacity,
        _behind_depot(0.0, ready),
        _behind_depot(horizon, due),
        _behind_depot(0.0, np.full(n - 1, law.service)),
    )


def _behind_depot(first: float, rest: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([np.array([first], rest.dtype), rest])[None]


def _reach(law: _Kind, side: float) -> float:
    """The distance from the depot to the farthest corner."""
    across, up = (max(share, 1.0 - share) for share in law.depot)
    return side * math.hypot(across, up)


def _customers(
    count: int, law: _Kind, side: int, depot: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """The cluster of each customer (-1 for none) and the positions, no two equal; clustered customers come first."""
    inside = round(law.clustered * count)
    clusters = max(1, round(inside / law.cluster))
    cluster = np.full(count, -1)
    cluster[:inside] = np.arange(inside) * clusters // max(1, inside)
    points = depot
    for k in range(clusters):
        centre = rng.uniform(0.1 * side, 0.9 * side, 2)

        def near(tries: int, centre: FloatArray = centre) -> IntArray:
            candidates = np.rint(rng.normal(centre, _SPREAD, (tries, 2))).astype(np.int64)
            return candidates[((candidates >= 0) & (candidates <= side)).all(axis=1)]

        points = np.concatenate([points, distinct_points(int((cluster == k).sum()), near, points)])

    def anywhere(tries: int) -> IntArray:
        return rng.integers(0, side + 1, (tries, 2))

    points = np.concatenate([points, distinct_points(count - inside, anywhere, points)])
    return cluster, points[1:]


def _demands(cluster: IntArray, rng: np.random.Generator) -> IntArray:
    """Tens from 10 to 50 in clusters, otherwise a rounded normal deviate kept within 1..41."""
    tens = 10 * (1 + rng.choice(5, len(cluster), p=[0.5, 0.3, 0.1, 0.05, 0.05]))
    others = np.clip(np.rint(rng.normal(15.0, 10.0, len(cluster))), 1, 41).astype(np.int64)
    return np.where(cluster >= 0, tens, others)


def _route_times(
    points: IntArray, depot: IntArray, cluster: IntArray, demand: IntArray, law: _Kind, latest: FloatArray
) -> FloatArray:
    """When service starts, in whole units, on routes that serve each cluster from nearest to nearest."""
    times = np.zeros(len(points))
    for k in range(int(cluster.max(initial=-1)) + 1):
        left = np.flatnonzero(cluster == k)
        here, clock, load = depot[0], 0.0, 0
        while len(left):
            away = np.linalg.norm(points[left] - here, axis=1)
            pick = int(np.argmin(away))
            node = left[pick]
            start = np.ceil(clock + away[pick])
            if start > latest[node] or load + demand[node] > law.capacity:
                here, clock, load = depot[0], 0.0, 0
                continue
            times[node] = start
            here, clock, load = points[node], start + law.service, load + int(demand[node])
            left = np.delete(left, pick)
    return times


def unit_square(
    count: int,
    n: int,
    rng: np.random.Generator,
    *,
    layout: str = "uniform",
    demand: str = "uniform",
    capacity: int | None = None,
) -> VRPTWBatch:
    """Instances in the unit square, as neural studies generate them.

    Positions, demands and capacity are those of `ncosolve.problems.cvrp_recipes.unit_square`, and so are the arguments.
    Service takes 0.2. The horizon is 3, or more where a customer lies too far off for that. A window is centred on a
    time that is uniform over what is possible for the customer alone, reaches from 0.1 to 1.5 to either side, and is
    cut at 0 and at the horizon. Each customer can be served by a vehicle of its own.
    """
    coords, loads, capacity = cvrp_square(count, n, rng, layout=layout, demand=demand, capacity=capacity)
    far = np.linalg.norm(coords - coords[:, :1], axis=2)
    horizon = np.maximum(_HORIZON, 2.0 * far.max(axis=1, keepdims=True) + _SERVICE)
    middle = rng.uniform(far, horizon - far - _SERVICE)
    half = rng.uniform(_SERVICE / 2.0, _HORIZON / 2.0, (count, n))
    ready, due = np.maximum(0.0, middle - half), np.minimum(horizon, middle + half)
    service = np.full((count, n), _SERVICE)
    ready[:, 0], due[:, 0], service[:, 0] = 0.0, horizon[:, 0], 0.0
    return VRPTWBatch(coords, loads, capacity, ready, due, service)
