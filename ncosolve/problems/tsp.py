"""Travelling salesman problem, symmetric or asymmetric: the shortest closed tour through all nodes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ncosolve.problems.base import Check, IntArray, as_tour
from ncosolve.problems.distance import Distance

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, init=False, eq=False)
class TSP:
    """A travelling salesman problem.

    Parameters
    ----------
    distance : Distance or array_like, shape (n, n), optional
        Distances, or a matrix of them (row = from; asymmetric allowed).
    coords : array_like, shape (n, 2) or (n, 3), optional
        Coordinates, used with Euclidean distances when no ``distance`` is given, for drawing otherwise.
    rounding : str
        One of `ncosolve.problems.distance.ROUNDINGS`.
    name : str
        A name for reports.
    ids : array_like of int, shape (n,), optional
        The numbers that the nodes have in their file; 1..n when not given.

    Raises
    ------
    InputError
        When the arrays do not fit together.
    """

    problem: ClassVar[str] = "tsp"
    kind: ClassVar[str] = "tour"
    distance: Distance
    name: str
    ids: IntArray

    def __init__(
        self,
        distance: Distance | ArrayLike | None = None,
        *,
        coords: ArrayLike | None = None,
        rounding: str = "exact",
        name: str = "",
        ids: ArrayLike | None = None,
    ) -> None:
        object.__setattr__(self, "distance", Distance.of(distance, coords, rounding))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "ids", np.arange(1, self.n + 1) if ids is None else np.array(ids, np.int64))

    @classmethod
    def from_networkx(cls, graph: "networkx.Graph", weight: str = "weight", name: str = "") -> "TSP":
        """A TSP over the nodes of a graph, in its own order; two nodes without an edge are a shortest path apart."""
        import networkx

        table = networkx.floyd_warshall_numpy(graph, weight=weight)
        return cls(np.asarray(table, np.float64), name=name or str(graph.name))

    @property
    def n(self) -> int:
        """Nodes."""
        return self.distance.n

    def answer(self, raw: Any) -> IntArray:
        """A tour in canonical form: a permutation of 0..n-1 that starts at 0."""
        return as_tour(raw, self.n)

    def order(self, answer: IntArray, cost: float) -> tuple[float, ...]:
        """The key by which answers compare; smaller is better."""
        return (cost,)

    def check(self, answer: IntArray) -> Check:
        """The length of the closed tour; every permutation is feasible."""
        tour = self.answer(answer)
        return Check(float(self.distance.between(tour, np.roll(tour, -1)).sum()))

    def clash(self) -> str | None:
        """Why no feasible solution can exist; never the case here."""
        return None


INSTANCE = TSP
