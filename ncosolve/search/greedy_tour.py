"""Greedy-edge start for the TSP: the shortest edges that keep paths, joined to one tour."""

import numpy as np

from ncosolve.search.jit import inner, kernel, tight
from ncosolve.search.metric import Metric, distance, size, subset
from ncosolve.search.neighbours import nearest
from ncosolve.search.types import Bools, Floats, Int32s, Ints

GREEDY = 8
"""So many nearest nodes are enough for `greedy_tour`."""
JOIN_NEIGHBOURS = 6


def greedy_tour(metric: Metric, lists: Int32s) -> Int32s:
    """A tour from the greedy edge heuristic, 14-18 % above the Held-Karp bound on uniform points.

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n nodes.
    lists : ndarray of int32, shape (n, k)
        Nearest neighbours; the candidates of the first round. Later rounds join path ends to their nearest ends.

    Returns
    -------
    ndarray of int32, shape (n,)
        A permutation of the nodes.
    """
    n = size(metric)
    links = np.full((n, 2), -1, np.int32)
    path = np.arange(n, dtype=np.int32)
    ends = np.arange(n)
    paths = n
    while paths > 1:
        local = metric if len(ends) == n else subset(metric, ends)
        near = lists if len(ends) == n else nearest(local, min(len(ends) - 1, JOIN_NEIGHBOURS))
        tails = np.repeat(np.arange(len(ends)), near.shape[1])
        heads = near.ravel().astype(np.int64)
        once = tails < heads
        once |= ~_listed(near, tails, heads)
        tails, heads = tails[once], heads[once]
        order = np.argsort(_lengths(local, tails, heads), kind="stable")
        joined = _join(links, path, ends[tails[order]], ends[heads[order]])
        paths -= joined
        ends = np.flatnonzero(links[:, 1] < 0)
        if joined == 0 or len(ends) <= 2 * JOIN_NEIGHBOURS:
            break
    _close(links, path, ends)
    return _walk(links)


def _listed(near: Int32s, tails: Ints, heads: Ints) -> Bools:
    """Whether each pair stands in the list of its head too."""
    return (near[heads] == tails[:, None]).any(axis=1)


@kernel
def _lengths(metric: Metric, tails: Ints, heads: Ints) -> Floats:
    lengths = np.empty(tails.shape[0])
    for k in range(tails.shape[0]):
        lengths[k] = distance(metric, tails[k], heads[k])
    return lengths


@inner
def _root(path: Int32s, node: int) -> int:
    while path[node] != node:
        path[node] = path[path[node]]
        node = path[node]
    return node


@tight
def _join(links: Int32s, path: Int32s, tails: Ints, heads: Ints) -> int:
    """Take the edges in order that keep degrees at most 2 and close no cycle; return how many."""
    joined = 0
    for k in range(tails.shape[0]):
        a, b = tails[k], heads[k]
        if links[a, 1] >= 0 or links[b, 1] >= 0:
            continue
        root, other = _root(path, a), _root(path, b)
        if root == other:
            continue
        path[other] = root
        links[a, 0 if links[a, 0] < 0 else 1] = b
        links[b, 0 if links[b, 0] < 0 else 1] = a
        joined += 1
    return joined


@tight
def _close(links: Int32s, path: Int32s, ends: Ints) -> None:
    """Join the paths that are left in the order of their ends, and the last end to the first."""
    for k in range(ends.shape[0]):
        for m in range(ends.shape[0]):
            a, b = ends[k], ends[m]
            if a != b and links[a, 1] < 0 and links[b, 1] < 0 and _root(path, a) != _root(path, b):
                path[_root(path, b)] = _root(path, a)
                links[a, 0 if links[a, 0] < 0 else 1] = b
                links[b, 0 if links[b, 0] < 0 else 1] = a


@kernel
def _walk(links: Int32s) -> Int32s:
    """Follow the links from one open end (or from node 0) through all nodes."""
    n = links.shape[0]
    order = np.empty(n, np.int32)
    node = 0
    for v in range(n):
        if links[v, 1] < 0:
            node = v
            break
    before = -1
    for k in range(n):
        order[k] = node
        step = links[node, 0] if links[node, 0] != before else links[node, 1]
        before, node = node, step
    return order
