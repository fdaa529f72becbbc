"""AB-cycles: how two tours differ, in pieces that can be exchanged one by one (Nagata and Kobayashi 2013).

A tour is an array of links here, int32 (n, 2): the two neighbours of each node, in no order. An AB-cycle is a closed
walk that takes an edge of tour A and an edge of tour B in turn. To apply it to A is to exchange its A-edges for its
B-edges.
"""

from typing import NamedTuple

import numpy as np

from ncosolve.search.jit import inner, kernel, tight
from ncosolve.search.metric import Metric, distance
from ncosolve.search.random import RandomState, below
from ncosolve.search.types import Floats, Int32s, Ints

ORDER, POSITION, LIVE, WHERE, EVEN, ODD, STAMP, WALK = range(8)
"""The columns of ``Scratch.node``: tour A by position and its inverse; the nodes with edges left and the place of each
among them; the place on the current path, at an even or an odd step; marks and nodes of a walk around a sub-tour."""
BEGIN, END, LABEL = range(3)
"""The columns of ``Scratch.segment``: first and last position, and the sub-tour that it is part of."""
OTHER, SEGMENT, NEW, NEWER = range(4)
"""The columns of ``Scratch.at``, by position: the other end of the segment, the segment, the links that are new."""
STAMPED, MERGES, SEGMENTS, ALIVE, CHOSEN, COUNTED = range(6)
"""The entries of ``Scratch.counts``."""


COIN = np.array([2])
"""In an array, for a number in the code would have Numba compile what it is handed to anew."""


class Scratch(NamedTuple):
    """The work space of a crossover; `make_scratch` allocates it.

    Attributes
    ----------
    node, at, segment : ndarray of int32
        By node, by position and by segment; the columns have names in this module.
    links, left : ndarray of int32, shape (n, 4) and (n, 2)
        Edges of A and B at each node that no cycle has yet, and how many.
    path, cycle, start, gain : ndarray
        The walk at hand; the cycles one behind the other, where each starts, and what applying it saves.
    tours : ndarray of int32, shape (2n + 2, 2)
        Nodes of each sub-tour, and one of them.
    merges : ndarray of int32, shape (2n, 4)
        Joins of sub-tours: edges a-b and c-d became a-c and b-d.
    chosen : ndarray of int32
        The cycles of the exchange at hand.
    centres : ndarray of int32
        The cycles that were the centre of a block.
    best_chosen, best_merges : ndarray of int32
        As ``chosen`` and ``merges``, of the best child.
    counted : ndarray of int32, shape (8n, 4)
        Changes of the counts of edges: row and column, the node and the count that were there.
    counts : ndarray of int64
        Its entries have names in this module.
    """

    node: Int32s
    at: Int32s
    segment: Int32s
    links: Int32s
    left: Int32s
    path: Int32s
    cycle: Int32s
    start: Int32s
    gain: Floats
    tours: Int32s
    merges: Int32s
    chosen: Int32s
    centres: Int32s
    best_chosen: Int32s
    best_merges: Int32s
    counted: Int32s
    counts: Ints


def make_scratch(n: int) -> Scratch:
    """Work space for tours of n nodes."""

    def table(*shape: int) -> Int32s:
        return np.zeros(shape, np.int32)

    return Scratch(
        node=table(n, 8),
        at=table(n, 4),
        segment=table(2 * n + 2, 3),
        links=table(n, 4),
        left=table(n, 2),
        path=table(2 * n + 2),
        cycle=table(2 * n + 2),
        start=table(n + 2),
        gain=np.zeros(n + 2),
        tours=table(2 * n + 2, 2),
        merges=table(2 * n, 4),
        chosen=table(n + 2),
        centres=table(n + 2),
        best_chosen=table(n + 2),
        best_merges=table(2 * n, 4),
        counted=table(8 * n, 4),
        counts=np.zeros(6, np.int64),
    )


@tight
def links_of(order: Int32s, links: Int32s) -> None:
    """Write the links of a tour that is given as a permutation."""
    n = order.shape[0]
    for k in range(n):
        links[order[k], 0] = order[k - 1]
        links[order[k], 1] = order[k + 1 if k + 1 < n else 0]


@kernel
def order_of(links: Int32s) -> Int32s:
    """The tour from node 0 as a permutation, int32 (n,)."""
    n = links.shape[0]
    order = np.empty(n, np.int32)
    before, here = links[0, 0], 0
    for k in range(n):
        order[k] = here
        step = links[here, 0] if links[here, 0] != before else links[here, 1]
        before, here = here, step
    return order


@inner
def _retire(node: Int32s, counts: Ints, v: int) -> None:
    """Take a node that has no edges left out of the live ones."""
    last = counts[ALIVE] - 1
    counts[ALIVE] = last
    k, other = node[v, WHERE], node[last, LIVE]
    node[k, LIVE] = other
    node[other, WHERE] = k


@inner
def _store(metric: Metric, s: Scratch, found: int, begin: int, end: int, shift: int) -> None:
    """Keep the closed part of the path as a cycle that begins with an edge of A."""
    size, fill, saved = end - begin, s.start[found], 0.0
    for q in range(size):
        s.cycle[fill + q] = s.path[begin + (q + shift) % size]
    for q in range(0, size, 2):
        u, v, w = s.cycle[fill + q], s.cycle[fill + q + 1], s.cycle[fill + (q + 2) % size]
        saved += distance(metric, u, v) - distance(metric, v, w)
    s.gain[found] = saved
    s.start[found + 1] = fill + size


@tight
def ab_cycles(metric: Metric, a: Int32s, b: Int32s, s: Scratch, rng: RandomState, most: int) -> int:
    """Split two tours into random AB-cycles of more than two edges, at most so many; how many there are.

    Cycle c is ``s.cycle[s.start[c] : s.start[c + 1]]``, its first edge one of A. Edges that both tours have take part,
    once for each tour: that gives smaller cycles, and more.
    """
    n = a.shape[0]
    for v in range(n):
        s.links[v, 0], s.links[v, 1], s.links[v, 2], s.links[v, 3] = a[v, 0], a[v, 1], b[v, 0], b[v, 1]
        s.left[v, 0] = s.left[v, 1] = 2
        s.node[v, LIVE] = s.node[v, WHERE] = v
        s.node[v, EVEN] = s.node[v, ODD] = -1
    s.counts[ALIVE] = n
    s.start[0] = 0
    found = 0
    while s.counts[ALIVE] > 0 and found < most:
        here, first, p = s.node[below(rng, s.counts[ALIVE]), LIVE], below(rng, COIN[0]), 0
        s.path[0] = here
        s.node[here, EVEN] = 0
        while found < most:
            here, side = s.path[p], (first + p) & 1
            place = below(rng, COIN[0]) if s.left[here, side] == 2 else 0
            to = s.links[here, 2 * side + place]
            # the edge is taken at both ends here, for a call with all of s would take longer than that
            if place == 0:
                s.links[here, 2 * side] = s.links[here, 2 * side + 1]
            if s.links[to, 2 * side] == here:
                s.links[to, 2 * side] = s.links[to, 2 * side + 1]
            s.left[here, side] -= 1
            s.left[to, side] -= 1
            if s.left[here, 0] + s.left[here, 1] == 0:
                _retire(s.node, s.counts, here)
            if s.left[to, 0] + s.left[to, 1] == 0:
                _retire(s.node, s.counts, to)
            p += 1
            j = s.node[to, EVEN + (p & 1)]
            if j < 0:
                s.path[p] = to
                s.node[to, EVEN + (p & 1)] = p
                continue
            for q in range(j + 1, p):  # closed where the walk came by at the same parity
                s.node[s.path[q], EVEN + (q & 1)] = -1
            if p - j > 2:
                _store(metric, s, found, j, p, (first + j) & 1)
                found += 1
            p = j
            if p == 0:
                s.node[to, EVEN] = -1
                break
    return found


@inner
def relink(links: Int32s, node: int, old: int, new: int) -> None:
    """Replace one link of a node."""
    links[node, 0 if links[node, 0] == old else 1] = new


@tight
def apply_cycle(links: Int32s, s: Scratch, c: int) -> None:
    """Exchange the A-edges of a cycle for its B-edges."""
    begin, end = s.start[c], s.start[c + 1]
    for k in range(begin, end, 2):
        u, v = s.cycle[k], s.cycle[k + 1]
        relink(links, u, v, s.cycle[k - 1 if k > begin else end - 1])
        relink(links, v, u, s.cycle[k + 2 if k + 2 < end else begin])


@tight
def take_cycle_back(links: Int32s, s: Scratch, c: int) -> None:
    """Undo `apply_cycle`."""
    begin, end = s.start[c], s.start[c + 1]
    for k in range(end - 2, begin - 1, -2):
        u, v = s.cycle[k], s.cycle[k + 1]
        relink(links, v, s.cycle[k + 2 if k + 2 < end else begin], u)
        relink(links, u, s.cycle[k - 1 if k > begin else end - 1], v)
