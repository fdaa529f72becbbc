"""Travelling salesman with time windows: one vehicle, every node visited within its window."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ncosolve.problems.base import Check, FloatArray, IntArray, as_tour
from ncosolve.problems.distance import Distance
from ncosolve.problems.windows import lateness, put_windows, window_clash


@dataclass(frozen=True, init=False, eq=False)
class TSPTW:
    """A travelling salesman problem with time windows; node 0 is the depot.

    The tour starts at the ready time of the depot and must be back by its due date. Waiting is allowed and free: the
    objective is the sum of the distances along the tour.

    Parameters
    ----------
    distance, coords, rounding, name
        As in `ncosolve.TSP`. In the public matrices the service time is part of the distance.
    ready_time, due_date : array_like, shape (n,)
        The window in which a visit may start.
    service_time : array_like, shape (n,), optional
        Time spent at each node, not part of the objective; 0 when not given.

    Raises
    ------
    InputError
        When the arrays do not fit together, or a window closes before it opens.
    """

    problem: ClassVar[str] = "tsptw"
    kind: ClassVar[str] = "tour"
    distance: Distance
    ready_time: FloatArray
    due_date: FloatArray
    service_time: FloatArray
    name: str

    def __init__(
        self,
        distance: Distance | ArrayLike | None = None,
        *,
        ready_time: ArrayLike,
        due_date: ArrayLike,
        service_time: ArrayLike | None = None,
        coords: ArrayLike | None = None,
        rounding: str = "exact",
        name: str = "",
    ) -> None:
        object.__setattr__(self, "distance", Distance.of(distance, coords, rounding))
        put_windows(self, ready_time, due_date, service_time)
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
        """The sum of distances along the closed tour; violations: time window."""
        tour = self.answer(answer)
        cost = float(self.distance.between(tour, np.roll(tour, -1)).sum())
        return Check(cost, tuple(lateness(self, (tour[1:],))))

    def clash(self) -> str | None:
        """Why no feasible solution can exist, where it is plain from single windows."""
        return window_clash(self)


INSTANCE = TSPTW
