"""What all tour searches of a solve share: distances among renumbered nodes, candidates, a first tour."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncosolve.search.candidates import alpha_nearest, ascend, sparse_graph
from ncosolve.search.k_opt import make_tour
from ncosolve.search.lin_kernighan import FREE, descend, lengths_of, push_all, tour_length
from ncosolve.search.metric import Metric, subset, tabulated
from ncosolve.search.neighbours import nearest

CANDIDATES = 5
NEAREST = 10
"""Nodes near each node, where sub-tours are joined."""
STEPS = 100
"""Of the ascent that prepares candidates."""
PROMISE = 0.98
"""The ascent aims at this share of a local optimum's length."""


@dataclass(frozen=True)
class Ground:
    """A symmetric TSP whose nodes are numbered along a first tour, so that near ones lie near each other in memory.

    Attributes
    ----------
    metric : Metric
        Distances among the renumbered nodes.
    names : ndarray of int32, shape (n,)
        The node that each number stands for.
    lists, near : ndarray of int32 and float64, shape (n, CANDIDATES)
        Candidates of each node, the best first, and their distances.
    mates : ndarray of int32
        Fixed edges; see `ncosolve.search.lin_kernighan.descend`.
    nearest : ndarray of int32, shape (n, NEAREST)
        The nearest nodes.
    """

    metric: Metric
    names: NDArray[np.int32]
    lists: NDArray[np.int32]
    near: NDArray[np.float64]
    mates: NDArray[np.int32]
    nearest: NDArray[np.int32]

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


def prepare(metric: Metric, lists: NDArray[np.int32], tour: Any, seconds: float | None = None) -> Ground:
    """The ground for a metric, numbered along a tour, with alpha-nearest candidates.

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n >= 8 nodes.
    lists : ndarray of int32, shape (n, WIDE)
        The nearest nodes of each node.
    tour : array-like of int
        A permutation of the nodes.
    seconds : float, optional
        What the ascent may take; it makes all its `STEPS` where this is not given.
    """
    names = np.array(tour, np.int32)
    n = len(names)
    metric, near = subset(metric, names.astype(np.int64)), _numbers(names)[lists[names]]
    order = np.arange(n, dtype=np.int32)
    graph, price = sparse_graph(metric, near, order), np.zeros(n)
    lists = alpha_nearest(graph, price, CANDIDATES)
    state = make_tour(order, tour_length(metric, order))
    began = time.perf_counter()
    ascend(graph, price, 1, 0.0)
    steps = STEPS if seconds is None else min(STEPS, int(seconds / (time.perf_counter() - began)))
    if steps > 0:
        price[:] = 0.0
        push_all(state, order)
        descend(metric, lists, lengths_of(metric, lists), FREE, state)
        ascend(graph, price, steps, PROMISE * state.length[0])
        lists = alpha_nearest(graph, price, CANDIDATES)
    return Ground(metric, names, lists, lengths_of(metric, lists), FREE, np.ascontiguousarray(near[:, :NEAREST]))


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
    return Ground(metric, names, lists, lengths_of(metric, lists), mates, lists)


def _numbers(names: NDArray[np.int32]) -> NDArray[np.int32]:
    """The number that stands for each node: the inverse of ``names``."""
    numbers = np.empty(len(names), np.int32)
    numbers[names] = np.arange(len(names), dtype=np.int32)
    return numbers


def _both(tour: NDArray[np.int64]) -> NDArray[np.int32]:
    """A tour with each node twice: where it is entered and where it is left."""
    return np.stack([tour, tour + len(tour)], axis=1).ravel().astype(np.int32)
