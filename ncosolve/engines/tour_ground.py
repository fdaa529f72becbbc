"""What all tour searches of a solve share: distances among renumbered nodes, candidates, a first tour."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ncosolve.deadline import Deadline
from ncosolve.engines.arrays import metric_of
from ncosolve.engines.debug import DEBUG
from ncosolve.engines.tour_survey import survey
from ncosolve.errors import EngineError
from ncosolve.problems.distance import Distance
from ncosolve.search.candidates import WIDE, nearest_around
from ncosolve.search.greedy_tour import GREEDY, greedy_tour
from ncosolve.search.k_opt import Tour
from ncosolve.search.lin_kernighan import ALL, ANYWHERE, FREE, MISMATCH, descend, iterate, lengths_of
from ncosolve.search.metric import Metric, subset, tabulated
from ncosolve.search.neighbours import nearest
from ncosolve.search.random import RandomState

CANDIDATES = 5
NEAREST = 10
"""Nodes near each node, where sub-tours are joined."""
SHARE = 0.04
"""The share of the time that candidates and bound may take."""
LARGEST_GRAPH = 200_000
"""With more nodes a step of the ascent takes too long, and candidates are the nearest nodes all around."""


@dataclass(frozen=True)
class Field:
    """What a tour is improved on.

    Attributes
    ----------
    metric : Metric
        Symmetric distances among n nodes.
    lists, near : ndarray of int32 and float64, shape (n, CANDIDATES)
        Candidates of each node, the best first, and their distances.
    mates : ndarray of int32
        Fixed edges; see `ncosolve.search.lin_kernighan.descend`.
    """

    metric: Metric
    lists: NDArray[np.int32]
    near: NDArray[np.float64]
    mates: NDArray[np.int32]

    def descend(self, tour: Tour, most: int = ALL) -> None:
        """Work off at most ``most`` queued nodes."""
        descend(self.metric, self.lists, self.near, self.mates, tour, most)

    def kick(self, tour: Tour, rng: RandomState, kicks: int, heat: float, spots: NDArray[np.int32] = ANYWHERE) -> None:
        """Kick and repair, as `ncosolve.search.lin_kernighan.iterate` does; EngineError where its books are wrong."""
        if iterate(self.metric, self.lists, self.near, self.mates, tour, rng, kicks, heat, DEBUG, spots) == MISMATCH:
            raise EngineError("a move's gain is not what the tour's length says")


@dataclass(frozen=True)
class Ground(Field):
    """A symmetric TSP whose nodes are numbered along a first tour, so that near ones lie near each other in memory.

    Attributes
    ----------
    names : ndarray of int32, shape (n,)
        The node that each number stands for.
    nearest : ndarray of int32, shape (n, NEAREST)
        The nearest nodes.
    bound : float
        No tour is shorter; -inf where that is not known.
    """

    names: NDArray[np.int32]
    nearest: NDArray[np.int32]
    bound: float = -np.inf

    def numbered(self, tour: Any) -> NDArray[np.int32]:
        """A tour of the instance's nodes in numbers."""
        nodes = np.asarray(tour)
        if len(self.mates):
            nodes = _both(nodes)
        return _numbers(self.names)[nodes]

    def tour(self, order: NDArray[np.int32]) -> NDArray[np.int32]:
        """A tour in numbers as one of the instance's nodes."""
        nodes = self.names[order]
        if not len(self.mates):
            return nodes
        n = len(nodes) // 2
        entered = nodes[nodes < n]
        forwards = nodes[(int(np.argmax(nodes == entered[0])) + 1) % (2 * n)] == entered[0] + n
        return entered if forwards else entered[::-1]


_shared: WeakKeyDictionary[Deadline, Ground] = WeakKeyDictionary()


def ground_of(distance: Distance, deadline: Deadline, max_iterations: int | None = None) -> Ground:
    """The ground of symmetric distances among n >= 3 nodes, made once a solve, for its bound and its search.

    Where iterations are limited the survey does not depend on the clock.
    """
    if deadline not in _shared:
        seconds = None if max_iterations is not None else SHARE * deadline.limit
        _shared[deadline] = prepare(metric_of(distance), seconds, deadline.elapsed)
    return _shared[deadline]


def prepare(metric: Metric, seconds: float | None = None, clock: Callable[[], float] = time.perf_counter) -> Ground:
    """The ground for symmetric distances among n >= 3 nodes.

    Parameters
    ----------
    metric : Metric
        The distances.
    seconds : float, optional
        What the survey may take; where this is not given it does not depend on the clock.
    clock : callable
        Seconds from any moment on, without those for compiling.
    """
    lists = nearest(metric, WIDE)
    names = greedy_tour(metric, lists[:, :GREEDY])
    n = len(names)
    metric, lists = subset(metric, names.astype(np.int64)), _numbers(names)[lists[names]]
    near = np.ascontiguousarray(lists[:, :NEAREST])
    if n > LARGEST_GRAPH:
        candidates, bound = nearest_around(metric, lists, CANDIDATES), 0.0
    else:
        candidates, bound = survey(metric, lists, CANDIDATES, np.inf if seconds is None else seconds, clock)
    two_nearest = 0.5 * float(lengths_of(metric, near[:, :2].copy()).sum())  # a tour has two edges at each node
    return Ground(metric, candidates, lengths_of(metric, candidates), FREE, names, near, max(bound, two_nearest))


def doubled(matrix: NDArray[np.float64], tour: NDArray[np.int64]) -> Ground:
    """The ground for an asymmetric TSP: each node is one where it is entered and one where it is left, joined for good.

    Node i is entered at i and left at n + i. Two nodes at which tours are entered, or left, are too far apart to be
    neighbours (Jonker and Volgenant 1983).
    """
    n = len(matrix)
    costs = np.full((2 * n, 2 * n), 1.0 + 2.0 * n * float(matrix.max()))
    costs[n:, :n] = matrix
    costs[:n, n:] = matrix.T
    both = np.arange(n)
    costs[both, n + both] = costs[n + both, both] = 0.0
    names = _both(tour)
    metric = subset(tabulated(costs), names.astype(np.int64))
    mates = (np.arange(2 * n) ^ 1).astype(np.int32)
    apart = metric.matrix.copy()
    apart[np.arange(2 * n), mates] = np.inf
    lists = nearest(tabulated(apart), min(CANDIDATES, n - 1))
    lists = np.pad(lists, ((0, 0), (0, CANDIDATES - lists.shape[1])), mode="edge")
    return Ground(metric, lists, lengths_of(metric, lists), mates, names, lists)


def _numbers(names: NDArray[np.int32]) -> NDArray[np.int32]:
    """The number that stands for each node: the inverse of ``names``."""
    numbers = np.empty(len(names), np.int32)
    numbers[names] = np.arange(len(names), dtype=np.int32)
    return numbers


def _both(tour: NDArray[np.int64]) -> NDArray[np.int32]:
    """A tour with each node twice: where it is entered and where it is left."""
    return np.stack([tour, tour + len(tour)], axis=1).ravel().astype(np.int32)
