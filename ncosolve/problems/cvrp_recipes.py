"""Random depots, customers, demands and capacities: the recipe of the X set, and the unit square of neural studies."""

from typing import NamedTuple

import numpy as np

from ncosolve.errors import InputError
from ncosolve.problems.base import FloatArray, IntArray, positive, whole
from ncosolve.problems.randomness import distinct_points, one_of, pick

GRID = 1000
"""The X set lies on whole coordinates 0..GRID."""
MOST_NODES = 100_000
"""Above, a clustered layout has no room left near its seeds, and placing customers takes long."""
_DECAY = 40.0
_SEEDS = (3, 8)
_ROUTE_LENGTH = (3.0, 6.0, 25.0)

DEPOTS = ("random", "centre", "corner")
CUSTOMERS = ("random", "clustered", "random-clustered")
DEMANDS = ("unitary", "1-10", "5-10", "1-100", "50-100", "quadrant", "many-small")

LAYOUTS = ("uniform", "clustered", "mixed")
SQUARE_DEMANDS = ("uniform", "heterogeneous")
_CAPACITIES = {20: 30, 50: 40, 100: 50, 200: 70, 500: 100, 1000: 200, 2000: 300, 5000: 300}
_CENTRES, _SPREAD = 7, 0.07


class CVRPBatch(NamedTuple):
    """Generated instances of one size and one capacity.

    Attributes
    ----------
    coords : ndarray of float64, shape (count, n, 2)
        Positions; node 0 is the depot.
    demand : ndarray of int64, shape (count, n)
        Demands; 0 for the depot.
    capacity : int
        What one vehicle can carry.
    """

    coords: FloatArray
    demand: IntArray
    capacity: int


def x_set(
    n: int,
    rng: np.random.Generator,
    *,
    depot: str | None = None,
    customers: str | None = None,
    demand: str | None = None,
    route_length: float | None = None,
) -> CVRPBatch:
    """One instance (count = 1) by the recipe of the X set (Uchoa et al. 2017, section 4).

    Parameters
    ----------
    n : int
        Nodes including the depot, at most `MOST_NODES`.
    rng : numpy.random.Generator
        The source of randomness; it picks each option that is not given.
    depot : str, optional
        ``random``, ``centre`` (500, 500) or ``corner`` (0, 0).
    customers : str, optional
        ``random``: uniform. ``clustered``: 3 to 8 uniform seeds, which are customers; a uniform point becomes a further
        one with the sum over the seeds of exp(-distance / 40) as its probability. ``random-clustered``: half and half.
        No two nodes coincide.
    demand : str, optional
        ``unitary``; ``1-10``, ``5-10``, ``1-100``, ``50-100``: whole, uniform in that range; ``quadrant``: 51-100 to
        the lower left and the upper right of (500, 500), 1-50 elsewhere; ``many-small``: 70-95 % of the customers 1-10,
        the others 50-100.
    route_length : float, optional
        The r of capacity = ceil(r * mean demand), at least the largest demand: about the customers in a route.
        From the triangular distribution over 3, 6 (mode) and 25 when not given.
    """
    if n > MOST_NODES:
        raise InputError(f"is {n}, expected at most {MOST_NODES} for the X recipe", where="n")
    place = _depot(pick(depot, DEPOTS, "depot", rng), rng)
    points = _customers(n - 1, pick(customers, CUSTOMERS, "customers", rng), place, rng)
    loads = _demands(points, pick(demand, DEMANDS, "demand", rng), rng)
    drawn = float(rng.triangular(*_ROUTE_LENGTH))
    length = drawn if route_length is None else positive(route_length, "route_length")
    mean = float(loads.mean()) if len(loads) else 1.0
    capacity = max(int(np.ceil(length * mean)), int(loads.max(initial=1)))
    coords = np.concatenate([place, points]).astype(np.float64)
    return CVRPBatch(coords[None], np.concatenate([[0], loads])[None], capacity)


def _depot(kind: str, rng: np.random.Generator) -> IntArray:
    drawn = rng.integers(0, GRID + 1, (1, 2))
    return {"random": drawn, "centre": np.full((1, 2), GRID // 2), "corner": np.zeros((1, 2), np.int64)}[kind]


def _customers(count: int, kind: str, depot: IntArray, rng: np.random.Generator) -> IntArray:
    def anywhere(tries: int) -> IntArray:
        return rng.integers(0, GRID + 1, (tries, 2))

    def near_seeds(tries: int) -> IntArray:
        points = anywhere(4 * tries)
        far = np.linalg.norm(points[:, None, :] - seeds[None, :, :], axis=2)
        return points[rng.random(len(points)) < np.exp(-far / _DECAY).sum(axis=1)]

    scattered = {"random": count, "clustered": 0, "random-clustered": count // 2}[kind]
    points = distinct_points(scattered, anywhere, depot)
    clustered = count - scattered
    if not clustered:
        return points
    taken = np.concatenate([depot, points])
    seeds = distinct_points(min(clustered, int(rng.integers(_SEEDS[0], _SEEDS[1] + 1))), anywhere, taken)
    taken = np.concatenate([taken, seeds])
    return np.concatenate([points, seeds, distinct_points(clustered - len(seeds), near_seeds, taken)])


def _demands(points: IntArray, kind: str, rng: np.random.Generator) -> IntArray:
    count = len(points)
    match kind:
        case "unitary":
            return np.ones(count, np.int64)
        case "quadrant":
            right, upper = (points >= GRID / 2).T
            return rng.integers(1, 51, count) + np.where(right == upper, 50, 0)
        case "many-small":
            small = rng.permutation(count) < round(rng.uniform(0.7, 0.95) * count)
            return np.where(small, rng.integers(1, 11, count), rng.integers(50, 101, count))
    low, high = (int(bound) for bound in kind.split("-"))
    return rng.integers(low, high + 1, count)


def unit_square(
    count: int,
    n: int,
    rng: np.random.Generator,
    *,
    layout: str = "uniform",
    demand: str = "uniform",
    capacity: int | None = None,
) -> CVRPBatch:
    """Instances in the unit square, as neural studies generate them.

    Parameters
    ----------
    count, n : int
        Instances, and nodes including the depot.
    rng : numpy.random.Generator
        The source of randomness.
    layout : str
        ``uniform``; ``clustered``: 7 centres uniform in 0.2..0.8, customers at a normal deviate of 0.07 from one of
        them, drawn again where outside the square, the depot uniform in the bounding box of the customers widened by
        0.1 (the law of Li, Yan and Wu 2021); ``mixed``: half the customers uniform.
    demand : str
        ``uniform`` from 1 to 9, or ``heterogeneous``: each of 1, 2, 8, 9 with probability 0.2, each of 3..7 with 0.04.
    capacity : int, optional
        At least 9. When not given, that of the usual sets: 30, 40, 50, 70, 100, 200, 300, 300 for 20, 50, 100, 200,
        500, 1000, 2000, 5000 customers, linear between them.
    """
    if one_of(layout, LAYOUTS, "layout") == "uniform":
        coords = rng.random((count, n, 2))
    else:
        scattered = (n - 1) // 2 if layout == "mixed" else 0
        coords = _clustered(count, n, scattered, rng)
    share = np.full(9, 1.0 / 9.0)
    if one_of(demand, SQUARE_DEMANDS, "demand") == "heterogeneous":
        share = np.array([0.2, 0.2, 0.04, 0.04, 0.04, 0.04, 0.04, 0.2, 0.2])
    loads = 1 + np.searchsorted(np.cumsum(share)[:-1], rng.random((count, n)), side="right")
    loads[:, 0] = 0
    if capacity is None:
        return CVRPBatch(coords, loads, usual_capacity(n - 1))
    return CVRPBatch(coords, loads, whole(capacity, "capacity", 9))


def usual_capacity(customers: int) -> int:
    """The capacity that neural studies give a vehicle, by the number of customers; see `unit_square`."""
    return round(float(np.interp(customers, list(_CAPACITIES), list(_CAPACITIES.values()))))


def _clustered(count: int, n: int, scattered: int, rng: np.random.Generator) -> FloatArray:
    centres = rng.uniform(0.2, 0.8, (count, _CENTRES, 2))
    chosen = rng.integers(_CENTRES, size=(count, n - 1))
    middle = np.take_along_axis(centres, chosen[:, :, None], axis=1)
    points = rng.normal(middle, _SPREAD)
    outside = ((points < 0.0) | (points > 1.0)).any(axis=2)
    while outside.any():
        points[outside] = rng.normal(middle[outside], _SPREAD)
        outside = ((points < 0.0) | (points > 1.0)).any(axis=2)
    points[:, :scattered] = rng.random((count, scattered, 2))
    low = points.min(axis=1, initial=1.0) - 0.1
    high = points.max(axis=1, initial=0.0) + 0.1
    return np.concatenate([rng.uniform(np.minimum(low, high), high)[:, None], points], axis=1)
