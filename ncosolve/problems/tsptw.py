"""Travelling salesman with time windows: one vehicle, every node visited within its window."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ncosolve.problems.base import Check, FloatArray, IntArray, as_tour, describe, positive, whole
from ncosolve.problems.distance import Distance
from ncosolve.problems.randomness import legacy_generator, one_of
from ncosolve.problems.windows import late_visits, put_windows, timing, window_clash

OBJECTIVES = ("distance", "makespan")
"""What may be minimised."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TSPTW:
    """A travelling salesman problem with time windows; node 0 is the depot.

    The tour starts at the ready time of the depot and must be back by its due date. Waiting is allowed and, where the
    objective is the sum of the distances along the tour, free.

    Parameters
    ----------
    distance, coords, rounding, name
        As in `ncosolve.TSP`. In the public matrices the service time is part of the distance.
    ready_time, due_date : array_like, shape (n,)
        The window in which a visit may start.
    service_time : array_like, shape (n,), optional
        Time spent at each node, not part of the distance; 0 when not given.
    objective : str
        "distance", or "makespan": the time at which the tour is back.

    Raises
    ------
    InputError
        When the arrays do not fit together, the objective is unknown, or a window closes before it opens.
    """

    problem: ClassVar[str] = "tsptw"
    kind: ClassVar[str] = "tour"
    distance: Distance
    ready_time: FloatArray
    due_date: FloatArray
    service_time: FloatArray
    objective: str
    name: str

    __repr__ = describe

    def __init__(
        self,
        distance: Distance | ArrayLike | None = None,
        *,
        ready_time: ArrayLike,
        due_date: ArrayLike,
        service_time: ArrayLike | None = None,
        coords: ArrayLike | None = None,
        rounding: str = "exact",
        objective: str = "distance",
        name: str = "",
    ) -> None:
        object.__setattr__(self, "distance", Distance.of(distance, coords, rounding))
        put_windows(self, ready_time, due_date, service_time)
        object.__setattr__(self, "objective", one_of(objective, OBJECTIVES, "objective"))
        object.__setattr__(self, "name", name)

    @property
    def n(self) -> int:
        """Nodes including the depot."""
        return self.distance.n

    def answer(self, raw: Any) -> IntArray:
        """A tour in canonical form: a permutation of 0..n-1 that starts at 0."""
        return as_tour(raw, self.n)

    def order(self, answer: IntArray, cost: float) -> tuple[float, ...]:
        """The key by which answers compare; smaller is better."""
        return (cost,)

    def check(self, answer: IntArray) -> Check:
        """The sum of distances along the closed tour, or when it is back; violations: time window."""
        tour = self.answer(answer)
        late, back = timing(self, (tour[1:],))
        makespan = self.objective == "makespan"
        cost = float(back[0]) if makespan else self.distance.total(np.append(tour, tour[0]))
        return Check(cost, tuple(late_visits(self, late)))

    def clash(self) -> str | None:
        """Why no feasible solution can exist, where it is plain from single windows."""
        return window_clash(self)


INSTANCE = TSPTW


class TSPTWBatch(NamedTuple):
    """Generated instances of one size; nothing has a service time.

    Attributes
    ----------
    coords : ndarray of float64, shape (count, n, 2)
        Positions in the unit square.
    ready_time, due_date : ndarray of float64, shape (count, n)
        The windows, in the unit of the coordinates.
    order : ndarray of int64, shape (count, n - 1), or None
        For ``hard``: the order of customers around which the windows were drawn, a feasible tour.
    """

    coords: FloatArray
    ready_time: FloatArray
    due_date: FloatArray
    order: IntArray | None


HARDNESS = ("easy", "medium", "hard")
_WIDTHS = {"easy": (0.5, 0.75), "medium": (0.1, 0.2)}  # of the windows, as a share of the expected tour length
_SIDE = 100.0  # of the square in which the laws are stated


def generate(n: int, *, seed: int = 0, hardness: str = "hard", width: float = 100.0) -> TSPTW:
    """A random instance: the first of ``generate_batch(1, n, seed, hardness, width)``.

    ``hard`` ones have a feasible tour by construction. ``easy`` and ``medium`` ones are feasible almost always from
    n = 50 on, but many small ones are not (medium: 24 of 40 at n = 10, 8 of 40 at n = 20), and nothing is filtered.
    """
    batch = generate_batch(1, n, seed, hardness, width)
    return TSPTW(
        coords=batch.coords[0],
        ready_time=batch.ready_time[0],
        due_date=batch.due_date[0],
        name=f"tsptw-{hardness}-n{n}-s{seed}",
    )


def generate_batch(count: int, n: int, seed: int = 0, hardness: str = "hard", width: float = 100.0) -> TSPTWBatch:
    """Random instances, drawn as the test sets of PIP (Bi et al. 2024) and LMask (Li et al. 2026) were.

    With the seeds of those sets (validation: 4321, 256 instances; test: 2025, 10,000 instances), rounded to float32,
    they are the published ones.

    Parameters
    ----------
    count, n : int
        Instances, and nodes including the depot.
    seed : int
        0..2**32 - 1; equal seeds give equal batches.
    hardness : str
        ``easy`` and ``medium``: windows open at a random whole time up to 55 n (in a square of side 100), their widths
        are 50-75 % and 10-20 % of that. ``hard``: windows reach up to width / 2 to either side of the arrival times of
        a random tour.
    width : float
        The largest width of a ``hard`` window, in a square of side 100.
    """
    rng = legacy_generator(seed)
    one_of(hardness, HARDNESS, "hardness")
    coords = rng.uniform(size=(whole(count, "count"), whole(n, "n"), 2)) * _SIDE
    order = None
    if hardness == "hard":
        order = np.array([rng.permutation(n - 1) + 1 for _ in range(count)], np.int64).reshape(count, n - 1)
        ready, due = _around(coords, order, positive(width, "width"), rng)
    else:
        ready, due = _scattered(count, n, *_WIDTHS[hardness], rng)
    coords, ready, due = coords / _SIDE, ready / _SIDE, due / _SIDE
    home = np.linalg.norm(coords - coords[:, :1], axis=2)
    due[:, 0] = (due + home)[:, 1:].max(axis=1, initial=0.0)
    return TSPTWBatch(coords, ready, due, order)


def _scattered(
    count: int, n: int, low: float, high: float, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """Windows anywhere within the expected length of a random tour."""
    length = 55 * n
    ready = rng.randint(0, length, (count, n)).astype(np.float64)
    ready[:, 0] = 0.0
    return ready, ready + np.round(rng.uniform(low, high, (count, n)) * length)


def _around(
    coords: FloatArray, order: IntArray, width: float, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """Windows around the arrival times along the given orders of customers."""
    count, customers = order.shape
    path = np.concatenate([np.zeros((count, 1), np.int64), order], axis=1)
    stops = np.take_along_axis(coords, path[:, :, None], axis=1)
    arrival = np.linalg.norm(np.diff(stops, axis=1), axis=2).cumsum(axis=1)
    before, after = rng.uniform(0.0, width / 2.0, (2, count, customers))
    ready, due = np.zeros((2, count, customers + 1))
    np.put_along_axis(ready, order, np.maximum(arrival - before, 0.0), axis=1)
    np.put_along_axis(due, order, arrival + after, axis=1)
    return ready, due
