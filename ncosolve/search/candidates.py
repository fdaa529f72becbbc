"""Candidate edges for tour search: near by the cost of forcing them into a minimum 1-tree (Helsgaun 2000).

Node prices from a subgradient ascent make 1-trees look like tours; the alpha of an edge is how much longer the smallest
tree with it is. Five alpha-nearest nodes hold more of an optimal tour's edges than ten nearest ones. Trees are taken on
a sparse graph, which is fine for candidates but gives no bound.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ncosolve.search.metric import MATRIX, Metric, distance
from ncosolve.search.types import Floats, Int32s, Ints

NEAREST = 8
"""Nodes of the sparse graph around each node, beside two a quadrant of the `WIDE` nearest."""
WIDE = 24
PATIENCE, FALL, MEMORY = 5, 0.7, 0.3
"""Of the ascent: steps without a better tree before the step shrinks, by how much; the weight of the last direction."""


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
    n = len(order)
    keep = np.zeros(lists.shape, np.bool_)
    keep[:, :NEAREST] = True
    if metric.kind != MATRIX:
        offset = metric.points[lists, :2] - metric.points[:, None, :2]
        quadrant = (offset[..., 0] >= 0) * 2 + (offset[..., 1] >= 0)
        for part in range(4):
            keep |= (quadrant == part) & (np.cumsum(quadrant == part, axis=1) <= 2)
    tails = np.concatenate([np.repeat(np.arange(n), lists.shape[1])[keep.ravel()], order])
    heads = np.concatenate([lists.ravel()[keep.ravel()], np.roll(order, -1)]).astype(np.int64)
    keys = np.unique(np.concatenate([tails * n + heads, heads * n + tails]))
    tails, ends = keys // n, (keys % n).astype(np.int32)
    return Graph(np.searchsorted(tails, np.arange(n + 1)), ends, _lengths(metric, tails, ends))


@njit(cache=True, nogil=True)
def _lengths(metric: Metric, tails: Ints, heads: Int32s) -> Floats:
    lengths = np.empty(heads.shape[0])
    for k in range(heads.shape[0]):
        lengths[k] = distance(metric, tails[k], heads[k])
    return lengths


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def ascend(graph: Graph, price: Floats, steps: int, target: float) -> float:
    """Subgradient ascent on node prices, which become the best ones; the length of the best 1-tree less the prices."""
    n = price.shape[0]
    best_price, last, degree, key = price.copy(), np.zeros(n), np.empty(n), np.empty(n)
    parent, joined = np.empty(n, np.int32), np.empty(n, np.int32)
    heap, place = np.empty(n, np.int32), np.empty(n, np.int32)
    best, scale, failed = -np.inf, 1.0, 0
    for _ in range(steps):
        bound = _span(graph, price, parent, joined, key, heap, place) - 2.0 * price.sum()
        degree[:] = -2.0
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
            best_price[:] = price
        elif failed >= PATIENCE:
            scale, failed = scale * FALL, 0
        norm = (degree * degree).sum()
        if norm == 0.0:
            break
        step = scale * (target - bound) / norm
        for i in range(n):
            price[i] += step * ((1.0 - MEMORY) * degree[i] + MEMORY * last[i])
            last[i] = degree[i]
    price[:] = best_price
    return best


@njit(cache=True, nogil=True)
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
