"""Candidate edges and a lower bound for tour search, from minimum 1-trees (Held and Karp 1970, Helsgaun 2000).

Node prices from a subgradient ascent make 1-trees look like tours; the alpha of an edge is how much longer the smallest
tree with it is. Five alpha-nearest nodes hold more of an optimal tour's edges than ten nearest ones. Trees are taken on
a sparse graph, which alone gives no bound; `bounding_graph` completes it to one that does.
"""

from typing import NamedTuple

import numpy as np

from ncosolve.search.arrays import copy_to
from ncosolve.search.jit import kernel, tight
from ncosolve.search.metric import MATRIX, Metric, distance, size
from ncosolve.search.types import Bools, Floats, Int32s, Ints

NEAREST = 8
"""Nodes of the sparse graph around each node, beside two a quadrant of the `WIDE` nearest."""
WIDE = 24
ROWS = 50_000
"""So many rows are looked at at a time where there are very many."""
HUBS = 10
"""Of a graph that gives a bound: nodes with edges to all."""
PATIENCE, FALL, MEMORY, NEVER_LESS = 5, 0.7, 0.3, 1e-3
"""Of the ascent: steps without a better tree before the step shrinks, by how much; the weight of the last direction;
the least share of the bound by which the target is taken to be above it."""


class Graph(NamedTuple):
    """A sparse symmetric graph: the edges of node i are ``heads[first[i] : first[i + 1]]`` with their ``lengths``."""

    first: Ints
    heads: Int32s
    lengths: Floats


def sparse_graph(metric: Metric, lists: Int32s, order: Int32s) -> Graph:
    """The nearest nodes of each node, some in every direction, and the edges of a tour, which connect it all.

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n nodes.
    lists : ndarray of int32, shape (n, WIDE)
        The nearest nodes of each node; fewer where there are fewer.
    order : ndarray of int32, shape (n,)
        The tour.
    """
    keep = _nearest_around(metric, np.arange(len(order)), lists, 2)
    keep[:, :NEAREST] = True
    tails = np.repeat(np.arange(len(order), dtype=np.int32), keep.sum(axis=1))
    return _graph(metric, np.concatenate([tails, order]), np.concatenate([lists[keep], np.roll(order, -1)]))


def with_edges(graph: Graph, metric: Metric, parent: Int32s) -> Graph:
    """The graph with an edge from each node to one other."""
    everyone = np.arange(len(parent), dtype=np.int32)
    tails = np.concatenate([np.repeat(everyone, np.diff(graph.first)), everyone])
    return _graph(metric, tails, np.concatenate([graph.heads, parent]))


def nearest_around(metric: Metric, lists: Int32s, k: int) -> Int32s:
    """The nearest node in each quadrant and the nearest others, ``k`` >= 4 of each row of ``lists``, by distance."""
    chosen = np.empty((len(lists), k), np.int32)
    columns = np.arange(lists.shape[1])
    for top in range(0, len(lists), ROWS):
        rows = lists[top : top + ROWS]
        last = ~_nearest_around(metric, np.arange(top, top + len(rows)), rows, 1) * lists.shape[1]
        first = np.sort(np.argpartition(columns + last, k - 1, axis=1)[:, :k], axis=1)
        chosen[top : top + ROWS] = np.take_along_axis(rows, first, axis=1)
    return chosen


def _nearest_around(metric: Metric, nodes: Ints, rows: Int32s, count: int) -> Bools:
    """Which entries of the rows of some nodes are among the first ``count`` in their quadrant around the node."""
    keep = np.zeros(rows.shape, np.bool_)
    if metric.kind != MATRIX:
        offset = metric.points[rows, :2] - metric.points[nodes, None, :2]
        quadrant = (offset[..., 0] >= 0) * np.int8(2) + (offset[..., 1] >= 0)
        for part in range(4):
            keep |= (quadrant == part) & (np.cumsum(quadrant == part, axis=1, dtype=np.int8) <= count)
    return keep


def bounding_graph(metric: Metric, lists: Int32s, order: Int32s, price: Floats) -> Graph:
    """A graph whose 1-tree under the prices is no longer than that of all edges, so that `ascend` by one step bounds.

    All edges that are left out are at least as long as half the distances from their ends to the farthest nodes in the
    lists of these. With such lengths no tree needs them beside those to the node where half the distance and the price
    are least in sum, nor the edge that completes a 1-tree beside those to the next such node. Where the sums are least
    of all, the true lengths to all nodes are taken instead.

    Parameters
    ----------
    metric, lists, order
        As in `sparse_graph`.
    price : ndarray of float64, shape (n,)
        The prices; for others it gives no bound.
    """
    n, width = lists.shape
    everyone = np.arange(n, dtype=np.int32)
    tails, heads = np.repeat(everyone, width), lists.ravel()
    if width == n - 1:
        return _graph(metric, tails, heads)
    radius = _lengths(metric, np.arange(n + 1), np.ascontiguousarray(lists[:, -1]))
    nodes = np.argsort(0.5 * radius + price).astype(np.int32)
    is_centre = np.zeros(n, np.bool_)
    is_centre[nodes[HUBS : HUBS + 2]] = True
    tails = np.concatenate([tails, order, np.repeat(nodes[: HUBS + 2], n)])
    heads = np.concatenate([heads, np.roll(order, -1), np.tile(everyone, HUBS + 2)])
    graph = _graph(metric, tails, heads)
    tails = np.repeat(everyone, np.diff(graph.first))
    central = np.flatnonzero(is_centre[tails] | is_centre[graph.heads])
    least = 0.5 * (radius[tails[central]] + radius[graph.heads[central]])
    graph.lengths[central] = np.minimum(graph.lengths[central], least)
    return graph


def _graph(metric: Metric, tails: Int32s, heads: Int32s) -> Graph:
    first, ends = _both_ways(size(metric), tails, heads)
    first, ends = first[:-1], ends[: first[-2]]
    return Graph(first, ends, _lengths(metric, first, ends))


@kernel
def _both_ways(n: int, tails: Int32s, heads: Int32s) -> tuple[Ints, Int32s]:
    """The other ends of the edges at each node, each once and never itself, as in `Graph`."""
    first = np.zeros(n + 2, np.int64)
    for k in range(tails.shape[0]):
        first[tails[k] + 2] += 1
        first[heads[k] + 2] += 1
    for u in range(n):
        first[u + 2] += first[u + 1]
    ends = np.empty(2 * tails.shape[0], np.int32)
    for k in range(tails.shape[0]):
        u, v = tails[k], heads[k]
        ends[first[u + 1]] = v
        first[u + 1] += 1
        ends[first[v + 1]] = u
        first[v + 1] += 1
    seen = np.zeros(n, np.int32)
    kept, begin = 0, 0
    for u in range(n):
        end = first[u + 1]
        seen[u] = u + 1
        for e in range(begin, end):
            v = ends[e]
            if seen[v] != u + 1:
                seen[v] = u + 1
                ends[kept] = v
                kept += 1
        begin, first[u + 1] = end, kept
    return first, ends


@kernel
def _lengths(metric: Metric, first: Ints, heads: Int32s) -> Floats:
    lengths = np.empty(heads.shape[0])
    for u in range(first.shape[0] - 1):
        for e in range(first[u], first[u + 1]):
            lengths[e] = distance(metric, u, heads[e])
    return lengths


@tight
def _span(
    graph: Graph, price: Floats, parent: Int32s, joined: Int32s, key: Floats, heap: Int32s, place: Int32s
) -> float:
    """A minimum spanning tree under prices by Prim's algorithm; its length. ``joined`` is the order of joining."""
    n = price.shape[0]
    for i in range(n):
        key[i], place[i], parent[i] = np.inf, -1, -1
    key[0], heap[0], place[0] = 0.0, 0, 0
    size, count, total = 1, 0, 0.0
    while size > 0:
        u = heap[0]
        size -= 1
        place[u] = -2
        if size > 0:
            v, i = heap[size], 0
            while True:
                c = 2 * i + 1
                if c >= size:
                    break
                if c + 1 < size and key[heap[c + 1]] < key[heap[c]]:
                    c += 1
                if key[heap[c]] >= key[v]:
                    break
                heap[i] = heap[c]
                place[heap[c]] = i
                i = c
            heap[i] = v
            place[v] = i
        joined[count] = u
        count += 1
        total += key[u]
        for e in range(graph.first[u], graph.first[u + 1]):
            v = graph.heads[e]
            length = graph.lengths[e] + price[u] + price[v]
            if place[v] != -2 and length < key[v]:
                key[v], parent[v] = length, u
                i = place[v]
                if i < 0:
                    i = size
                    size += 1
                while i > 0 and key[heap[(i - 1) >> 1]] > length:
                    c = (i - 1) >> 1
                    heap[i] = heap[c]
                    place[heap[c]] = i
                    i = c
                heap[i] = v
                place[v] = i
    return total


@kernel
def ascend(graph: Graph, price: Floats, steps: int, target: float) -> float:
    """Subgradient ascent on node prices, which become the best ones; the length of the best 1-tree less the prices."""
    n = price.shape[0]
    best_price, last, degree, key = np.empty(n), np.zeros(n), np.empty(n), np.empty(n)
    copy_to(best_price, price)
    parent, joined = np.empty(n, np.int32), np.empty(n, np.int32)
    heap, place = np.empty(n, np.int32), np.empty(n, np.int32)
    best, scale, failed = -np.inf, 1.0, 0
    for _ in range(steps):
        bound = _span(graph, price, parent, joined, key, heap, place)
        for i in range(n):
            bound -= 2.0 * price[i]
            degree[i] = -2.0
        for i in range(n):
            if parent[i] >= 0:
                degree[i] += 1.0
                degree[parent[i]] += 1.0
        dear, leaf, other = -np.inf, -1, -1  # the special node is the leaf whose second edge is dearest
        for u in range(n):
            if degree[u] == -1.0 and parent[u] >= 0:
                second, to = np.inf, -1
                for e in range(graph.first[u], graph.first[u + 1]):
                    length = graph.lengths[e] + price[u] + price[graph.heads[e]]
                    if graph.heads[e] != parent[u] and length < second:
                        second, to = length, graph.heads[e]
                if to >= 0 and second > dear:
                    dear, leaf, other = second, u, to
        if leaf < 0:
            break
        degree[leaf] += 1.0
        degree[other] += 1.0
        bound += dear
        failed += 1
        if bound > best:
            best, failed = bound, 0
            copy_to(best_price, price)
        elif failed >= PATIENCE:
            scale, failed = scale * FALL, 0
        norm = 0.0
        for i in range(n):
            norm += degree[i] * degree[i]
        if norm == 0.0:
            break
        step = scale * max(target - bound, NEVER_LESS * abs(bound)) / norm
        for i in range(n):
            price[i] += step * ((1.0 - MEMORY) * degree[i] + MEMORY * last[i])
            last[i] = degree[i]
    copy_to(price, best_price)
    return best


@kernel
def alpha_nearest(graph: Graph, price: Floats, k: int) -> Int32s:
    """The ``k`` nodes of least alpha around each node, ties by length; int32 (n, k), short rows end in repetitions."""
    n = price.shape[0]
    parent, joined = np.empty(n, np.int32), np.empty(n, np.int32)
    heap, place, key = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
    _span(graph, price, parent, joined, key, heap, place)
    rank = np.empty(n, np.int32)
    for i in range(n):
        rank[joined[i]] = i
    lists = np.empty((n, k), np.int32)
    alphas, lengths, nodes = np.empty(k + 1), np.empty(k + 1), np.empty(k + 1, np.int32)
    for u in range(n):
        filled = 0
        for e in range(graph.first[u], graph.first[u + 1]):
            a, b, dearest = u, graph.heads[e], -np.inf
            while a != b:  # up the tree from the later of the two, for a parent joins before its child
                if rank[a] < rank[b]:
                    a, b = b, a
                dearest = max(dearest, key[a])
                a = parent[a]
            alpha = max(graph.lengths[e] + price[u] + price[graph.heads[e]] - dearest, 0.0)
            j = filled
            while j > 0 and (
                alphas[j - 1] > alpha + 1e-9 or (alphas[j - 1] > alpha - 1e-9 and lengths[j - 1] > graph.lengths[e])
            ):
                alphas[j], lengths[j], nodes[j] = alphas[j - 1], lengths[j - 1], nodes[j - 1]
                j -= 1
            alphas[j], lengths[j], nodes[j] = alpha, graph.lengths[e], graph.heads[e]
            filled = min(filled + 1, k)
        for j in range(k):
            lists[u, j] = nodes[min(j, filled - 1)]
    return lists
