"""Forward dynamic programming over partial tours: exact for few nodes or tight windows, a beam search otherwise.

A label is a path from the depot: the set of visited nodes, the last of them, the start of its visit and the cost so
far. Labels grow level by level in plain NumPy, so nothing is compiled. Of the labels with one set and one last node
only those stay that none of the others dominates in time and cost. For one tour through all nodes, windows and arcs are
tightened first, a label is dropped when a node it has still to visit could not be reached in time even by the fastest
way, and, where an upper bound is known, when the assignment bound, kept as reduced costs, leaves no room for a better
tour (in the line of Dumas, Desrosiers, Gelinas and Solomon 1995, https://doi.org/10.1287/opre.43.2.367).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncosolve.search.types import Bools, Floats, Ints

SetArray = NDArray[np.uint64]

BITS = 64
"""Nodes in a word of a bit set."""
ROUNDS = 10
"""Rounds of tightening at most."""


@dataclass(frozen=True)
class Labels:
    """All labels of one size.

    Attributes
    ----------
    visited : ndarray of uint64, shape (m, words)
        The visited nodes as bit sets: node j is bit ``j % 64`` of word ``j // 64``; the depot is never in.
    last, parent : ndarray of int64, shape (m,)
        The last node, and the label one level before from which it came.
    time, cost : ndarray of float64, shape (m,)
        The start of the last visit, and the cost so far.
    """

    visited: SetArray
    last: Ints
    parent: Ints
    time: Floats
    cost: Floats

    def __len__(self) -> int:
        return len(self.last)

    def take(self, index: NDArray[np.integer] | Bools) -> "Labels":
        """Pick some labels, by places or by a mask."""
        return Labels(self.visited[index], self.last[index], self.parent[index], self.time[index], self.cost[index])


@dataclass(frozen=True)
class Arcs:
    """What labels grow along.

    Attributes
    ----------
    cost : ndarray of float64, shape (n, n)
        Costs; infinite where an arc may not be used.
    time : ndarray of float64, shape (n, n)
        From the start of the visit at the tail to the arrival at the head.
    ready, due : ndarray of float64, shape (n,)
        When a visit may start, any tolerance included; of node 0 the departure and the latest return.
    """

    cost: Floats
    time: Floats
    ready: Floats
    due: Floats


@dataclass(frozen=True)
class Limits:
    """When to give up, or to cut.

    Attributes
    ----------
    labels : int
        The most labels made in all.
    width : int, optional
        The most labels a level; the cheapest stay. A search that has cut proves nothing.
    over : callable
        Asked now and then whether to give up.
    """

    labels: int = 1_000_000
    width: int | None = None
    over: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Tour:
    """What a search for one tour found.

    Attributes
    ----------
    nodes : ndarray of int64, or None
        The cheapest tour from node 0, if one below the upper bound was found.
    cost : float
        Its cost.
    complete : bool
        Whether every path was followed or excluded by proof: then ``nodes`` is optimal, or there is no tour that costs
        less than the upper bound.
    """

    nodes: Ints | None
    cost: float
    complete: bool


def shortest_tour(arcs: Arcs, upper: float = np.inf, limits: Limits | None = None) -> Tour:
    """Find the cheapest tour from node 0 through all nodes within their windows, among those that cost below ``upper``.

    Costs and times must not be negative, but need not obey the triangle inequality.
    """
    limits, n = limits or Limits(), len(arcs.ready)
    if n == 1:
        return Tour(np.zeros(1, np.int64), 0.0, True) if upper > 0 else Tour(None, np.inf, True)
    tight = tighten(arcs, limits.over)
    if tight is None:
        return Tour(None, np.inf, True)
    if limits.over():
        return Tour(None, np.inf, False)
    narrow, latest = tight
    reduced, bound = reduced_costs(narrow.cost)
    room = upper - bound - 1e-9 * abs(bound)
    if not room > 0:
        return Tour(None, np.inf, True)
    must = LookAhead(latest)
    path = Arcs(reduced, arcs.time, narrow.ready, narrow.due)
    levels, complete = grow(path, lambda labels: must.possible(labels) & (labels.cost < room), limits)
    if len(levels) < n:
        return Tour(None, np.inf, complete)
    closed = closing(path, levels[-1])
    k = int(np.argmin(closed))
    if not closed[k] < room:
        return Tour(None, np.inf, complete)
    nodes = trace(levels, k)
    return Tour(nodes, float(arcs.cost[nodes, np.roll(nodes, -1)].sum()), complete)


def grow(arcs: Arcs, keep: Callable[[Labels], Bools], limits: Limits) -> tuple[list[Labels], bool]:
    """Grow all labels from the depot, level by level, until none is left.

    Parameters
    ----------
    arcs : Arcs
        Where they may go.
    keep : callable
        Says which of some new labels to keep, before dominated ones are dropped.
    limits : Limits
        When to stop.

    Returns
    -------
    levels : list of Labels
        ``levels[k]`` holds labels of k customers.
    complete : bool
        False when limits cut or stopped the search.
    """
    n = len(arcs.ready)
    word = np.zeros((1, -(-n // BITS)), np.uint64)
    start = np.zeros(1, np.int64)
    levels, made, complete = [Labels(word, start, start, arcs.ready[:1].copy(), np.zeros(1))], 0, True
    for _ in range(n - 1):
        parts = []
        for part in _extensions(arcs, levels[-1]):
            made += len(part)
            if made > limits.labels or limits.over():
                return levels, False
            parts.append(undominated(part.take(keep(part))))
        if not sum(map(len, parts)):
            break
        level = _joined(parts)
        if limits.width is not None and len(level) > limits.width:
            level = level.take(np.argpartition(level.cost, limits.width)[: limits.width])
            complete = False
        elif made + len(level) * (n - len(levels)) // 2 > limits.labels:
            return levels, False  # the limit would stop it some levels later
        levels.append(level)
    return levels, complete


def _extensions(arcs: Arcs, level: Labels) -> Iterator[Labels]:
    """Give the labels one longer that keep the window of their last node; one group for each last node."""
    for j in range(1, len(arcs.ready)):
        word, bit = j // BITS, np.uint64(1 << (j % BITS))
        time = np.maximum(level.time + arcs.time[level.last, j], arcs.ready[j])
        cost = level.cost + arcs.cost[level.last, j]
        open_ = (level.visited[:, word] & bit == 0) & (time <= arcs.due[j]) & (cost < np.inf)
        parent = np.flatnonzero(open_)
        if len(parent):
            visited = level.visited[parent]
            visited[:, word] |= bit
            yield Labels(visited, np.full(len(parent), j), parent, time[parent], cost[parent])


def _joined(parts: list[Labels]) -> Labels:
    return Labels(
        np.concatenate([part.visited for part in parts]),
        np.concatenate([part.last for part in parts]),
        np.concatenate([part.parent for part in parts]),
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.cost for part in parts]),
    )


def undominated(labels: Labels) -> Labels:
    """Drop each label for which another with the same set and last node is no later and no dearer."""
    if len(labels) == 0:
        return labels
    order = np.lexsort((labels.time, labels.cost, _mixed(labels)))
    labels = labels.take(order)
    same = (labels.last[1:] == labels.last[:-1]) & (labels.visited[1:] == labels.visited[:-1]).all(axis=1)
    group = np.concatenate([[0], np.cumsum(~same)])
    # ranks, lower in each next group, so that a running minimum starts anew with every group
    rank = np.unique(labels.time, return_inverse=True)[1].reshape(-1) - group * len(labels)
    first = np.minimum.accumulate(rank)
    return labels.take(np.concatenate([[True], ~same | (rank[1:] < first[:-1])]))


def _mixed(labels: Labels) -> SetArray:
    """One number for set and last node; two that share it by chance only miss a dominance."""
    key = labels.last.astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93)
    for word in labels.visited.T:
        key = (key ^ word) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


def closing(arcs: Arcs, labels: Labels) -> Floats:
    """The cost of each label with the way home; infinite where that is not allowed or too late."""
    in_time = labels.time + arcs.time[labels.last, 0] <= arcs.due[0]
    return np.where(in_time, labels.cost + arcs.cost[labels.last, 0], np.inf)


def trace(levels: list[Labels], k: int) -> Ints:
    """The path, node 0 first, that ends in label ``k`` of the last level."""
    nodes = []
    for level in reversed(levels):
        nodes.append(int(level.last[k]))
        k = int(level.parent[k])
    return np.array(nodes[::-1], np.int64)


class LookAhead:
    """Which nodes a label must have visited already, since none of them could be reached in time any more.

    Parameters
    ----------
    latest : ndarray of float64, shape (n, n)
        When a visit of the row's node must start at the latest for one of the column's node to be in time; column 0
        is the return.
    """

    def __init__(self, latest: Floats) -> None:
        n = len(latest)
        latest = latest.copy()
        np.fill_diagonal(latest, np.inf)
        order = np.argsort(latest, axis=1, kind="stable")
        self._latest = np.take_along_axis(latest, order, axis=1)
        self._passed = np.zeros((n, n + 1, -(-n // BITS)), np.uint64)
        for s in range(
            n
        ):  # [j, s]: the s nodes that are first out of reach from j; bit 0, the return, is never visited
            self._passed[:, s + 1] = self._passed[:, s]
            node = order[:, s]
            bit = np.left_shift(np.uint64(1), (node % BITS).astype(np.uint64))
            self._passed[np.arange(n), s + 1, node // BITS] |= bit

    def possible(self, labels: Labels) -> Bools:
        """Tell which labels can still reach every node they have not visited; all labels end in the same node."""
        j = labels.last[0]
        passed = self._passed[j, np.searchsorted(self._latest[j], labels.time)]
        return ((passed & ~labels.visited) == 0).all(axis=1)


def fastest(time: Floats) -> Floats:
    """Find the shortest times between all pairs of nodes (Floyd and Warshall)."""
    table = time.copy()
    for k in range(len(table)):
        np.minimum(table, table[:, k, None] + table[None, k, :], out=table)
    return table


def tighten(arcs: Arcs, over: Callable[[], bool] = lambda: False) -> tuple[Arcs, Floats] | None:
    """Narrow the windows and forbid arcs without losing any tour through all nodes.

    A visit is not before its earliest predecessor allows, nor after its latest successor does. A node from which
    another one cannot be reached in time comes behind it, and no arc may skip a node that must lie between.

    Parameters
    ----------
    arcs : Arcs
        What to tighten.
    over : callable
        Whether to make do with the rounds so far, asked after each.

    Returns
    -------
    arcs : Arcs
        The same with less freedom.
    latest : ndarray of float64, shape (n, n)
        What `LookAhead` takes.
        None in place of both if no tour is left.
    """
    n = len(arcs.ready)
    time, ready, due, never = _with_return(arcs)
    allowed = time < never
    for _ in range(ROUNDS):
        known = float(ready.sum()), float(due.sum()), int(allowed.sum())
        way = fastest(np.where(allowed, time, never))
        before = ready[None, :] + way.T > due[:, None]  # from j there is no way to i in time, so i is before j
        np.fill_diagonal(before, False)
        between = _chained(before)
        before |= between
        if before.diagonal().any():
            return None
        ready = np.maximum(ready, np.where(before, ready[:, None] + way, -np.inf).max(axis=0))
        due = np.minimum(due, np.where(before, due[None, :] - way, np.inf).min(axis=1))
        allowed &= ~(between | before.T | (ready[:, None] + time > due[None, :]))
        if not (allowed[:-1].any(axis=1).all() and allowed[:, 1:].any(axis=0).all()):
            return None
        ready[1:] = np.maximum(ready, np.where(allowed, ready[:, None] + time, np.inf).min(axis=0))[1:]
        due[:-1] = np.minimum(due, np.where(allowed, due[None, :] - time, -np.inf).max(axis=1))[:-1]
        if (ready > due).any():
            return None
        if known == (float(ready.sum()), float(due.sum()), int(allowed.sum())) or over():
            break
    cost = np.where(_folded(allowed), arcs.cost, np.inf)
    closes = np.append(due[n], due[1:n])
    return Arcs(cost, arcs.time, ready[:n], closes), closes[None, :] - _folded(way)


def _chained(before: Bools) -> Bools:
    """Whether some node is behind the row's node and before the column's."""
    links = before.astype(np.float32)
    return links @ links > 0.0


def _with_return(arcs: Arcs) -> tuple[Floats, Floats, Floats, float]:
    """Times and windows with the return as a node n of its own; also a time that fits into no window."""
    n = len(arcs.ready)
    horizon = float(arcs.ready.max() + arcs.time.max(axis=1).sum()) + 1.0
    never = 4.0 * (horizon - min(float(arcs.ready.min()), 0.0))
    time = np.full((n + 1, n + 1), never)
    time[:n, 1:n] = arcs.time[:, 1:]
    time[1:n, n] = arcs.time[1:, 0]
    np.fill_diagonal(time, never)
    ready = np.append(arcs.ready, arcs.ready[0])
    due = np.minimum(np.append(arcs.due, arcs.due[0]), horizon)
    due[0] = ready[0]
    return time, ready, due, never


def _folded(table: NDArray[np.generic]) -> NDArray[np.generic]:
    """A table over nodes and return as one over nodes, column 0 for the return."""
    n = len(table) - 1
    return np.concatenate([table[:n, n:], table[:n, 1:n]], axis=1)


def reduced_costs(cost: Floats) -> tuple[Floats, float]:
    """Solve the assignment relaxation of a tour; give the reduced costs, >= 0, and its cost, a lower bound.

    Parameters
    ----------
    cost : ndarray of float64, shape (n, n)
        Costs; infinite where an arc may not be used. The bound is infinite if no assignment avoids those.
    """
    from scipy.optimize import linear_sum_assignment  # slow to import, and not everyone comes here

    allowed = np.isfinite(cost)
    barrier = 1.0 + 2.0 * float(np.where(allowed, cost, 0.0).max(axis=1).sum())
    table = np.where(allowed, cost, barrier)
    match = linear_sum_assignment(table)[1]
    chosen = table[np.arange(len(table)), match]
    if (chosen == barrier).any():
        return cost, np.inf
    lengths = (table - chosen[:, None])[np.argsort(match)]  # from the column of each row to every other column
    column = np.zeros(len(table))
    for _ in range(len(table)):  # Bellman and Ford: at an optimal assignment no cycle is negative
        column = np.minimum(column, (column[:, None] + lengths).min(axis=0))
    row = chosen - column[match]
    return np.where(allowed, np.maximum(table - row[:, None] - column[None, :], 0.0), np.inf), float(chosen.sum())


def conflict(arcs: Arcs, limits: Limits) -> Ints:
    """Find few nodes, the depot apart, that no tour can visit in time, whatever else it does.

    Between two of them a tour is given the fastest way through any nodes, so the rest of the nodes cannot help. Nodes
    are left out one by one as long as the others clash.

    Returns
    -------
    ndarray of int64
        No node may be left out, unless ``limits.over`` stopped the search; empty if all nodes together do not clash.
    """
    way = _folded(fastest(_with_return(arcs)[0]))
    nodes = np.arange(1, len(arcs.ready))

    def clash(some: Ints) -> bool:
        path = np.concatenate([[0], some])
        free = np.zeros((len(path), len(path)))
        found = shortest_tour(Arcs(free, way[np.ix_(path, path)], arcs.ready[path], arcs.due[path]), limits=limits)
        return found.complete and found.nodes is None

    if not clash(nodes):
        return nodes[:0]
    for node in nodes[::-1]:
        fewer = nodes[nodes != node]
        if clash(fewer):
            nodes = fewer
        if limits.over():
            break
    return nodes
