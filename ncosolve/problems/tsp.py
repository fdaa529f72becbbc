"""Travelling salesman problem, symmetric or asymmetric: the shortest closed tour through all nodes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ncosolve.errors import InputError
from ncosolve.problems.base import Check, FloatArray, IntArray, as_tour, describe, vector, whole
from ncosolve.problems.distance import Distance
from ncosolve.problems.randomness import generator, one_of

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, init=False, eq=False, repr=False)
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

    __repr__ = describe

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
        object.__setattr__(self, "ids", _node_ids(ids, self.n))

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
        return Check(self.distance.total(np.append(tour, tour[0])))

    def clash(self) -> str | None:
        """Why no feasible solution can exist; never the case here."""
        return None


INSTANCE = TSP


def _node_ids(ids: ArrayLike | None, n: int) -> IntArray:
    numbers = vector(np.arange(1, n + 1) if ids is None else ids, n, "ids").astype(np.int64)
    if len(np.unique(numbers)) < n:
        raise InputError("holds a number twice", where="ids")
    numbers.flags.writeable = False
    return numbers


LAYOUTS = ("uniform", "clustered")


def generate(n: int, *, seed: int = 0, layout: str = "uniform", grid: int = 1_000_000) -> TSP:
    """A random Euclidean instance by the rules of the DIMACS TSP challenge (Johnson and McGeoch 2002).

    Parameters
    ----------
    n : int
        Nodes.
    seed : int
        Equal seeds give equal instances.
    layout : str
        ``uniform``: whole coordinates, uniform in 0..grid-1. ``clustered``: max(1, n // 100) uniform centres; each node
        belongs to a random one and lies off it by a normal deviate of standard deviation grid / sqrt(n) a coordinate,
        truncated to a whole number, which may lead off the grid.
    grid : int
        The width of the square.

    Returns
    -------
    TSP
        With distances rounded to the nearest whole number. Two nodes may coincide.
    """
    rng = generator(seed)
    n, grid = whole(n, "n"), whole(grid, "grid")
    if one_of(layout, LAYOUTS, "layout") == "uniform":
        coords = rng.integers(0, grid, (n, 2))
    else:
        centres = rng.integers(0, grid, (max(1, n // 100), 2))
        offsets = np.trunc(rng.normal(0.0, grid / np.sqrt(n), (n, 2)))
        coords = centres[rng.integers(len(centres), size=n)] + offsets.astype(np.int64)
    return TSP(coords=coords, rounding="nint", name=f"tsp-{layout}-n{n}-s{seed}")


def generate_batch(count: int, n: int, seed: int = 0) -> FloatArray:
    """Coordinates of ``count`` instances, uniform in the unit square: float64 (count, n, 2)."""
    return generator(seed).random((whole(count, "count"), whole(n, "n"), 2))
