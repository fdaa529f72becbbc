"""The sub-tours that an exchange of AB-cycles leaves of a tour, and how they are joined to one again.

The tour without the removed edges is a row of segments. All work is on these and on the nodes of the smaller sub-tours,
so that it goes by the size of the exchange and not by n (Nagata and Kobayashi 2013).
"""

import numpy as np

from ncosolve.search.ab_cycles import (
    BEGIN,
    CHOSEN,
    END,
    LABEL,
    MERGES,
    NEW,
    NEWER,
    ORDER,
    OTHER,
    POSITION,
    SEGMENT,
    SEGMENTS,
    STAMP,
    STAMPED,
    WALK,
    Scratch,
    relink,
)
from ncosolve.search.jit import inner, tight
from ncosolve.search.metric import Metric, distance
from ncosolve.search.types import Int32s


@tight
def _join(at: Int32s, p: int, q: int) -> None:
    """Note a new link between two positions; a position has two at most."""
    at[p, NEWER], at[p, NEW] = at[p, NEW], q
    at[q, NEWER], at[q, NEW] = at[q, NEW], p


@inner
def _cut(s: Scratch) -> int:
    """Where segments begin once the A-edges of the chosen cycles are gone; note the new links. How many there are."""
    n, m, wrapped = s.node.shape[0], 0, False
    for e in range(s.counts[CHOSEN]):
        begin, end = s.start[s.chosen[e]], s.start[s.chosen[e] + 1]
        for k in range(begin, end, 2):
            p, q = s.node[s.cycle[k], POSITION], s.node[s.cycle[k + 1], POSITION]
            cut = max(p, q)
            if cut == n - 1 and min(p, q) == 0:
                cut, wrapped = 0, True
            s.segment[m, BEGIN] = cut
            m += 1
            _join(s.at, q, s.node[s.cycle[k + 2 if k + 2 < end else begin], POSITION])
    if not wrapped:  # the row of segments is a ring: its ends are linked
        s.segment[m, BEGIN] = 0
        _join(s.at, s.segment[m, BEGIN], n - 1)
        m += 1
    return m


@inner
def _sort(s: Scratch, m: int) -> None:
    """Shell's sort, which compiles in a tenth of the time of NumPy's and is as fast on few."""
    gap = 1
    while 3 * gap < m - 1:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, m):
            value, j = s.segment[k, BEGIN], k
            while j >= gap and s.segment[j - gap, BEGIN] > value:
                s.segment[j, BEGIN] = s.segment[j - gap, BEGIN]
                j -= gap
            s.segment[j, BEGIN] = value
        gap //= 3


@tight
def label_tours(s: Scratch) -> int:
    """Find the sub-tours that the chosen cycles leave of the tour in ``s.node``; how many.

    ``s.tours[t]`` gets the number of nodes of sub-tour t and one of them.
    """
    n = s.node.shape[0]
    m = _cut(s)
    _sort(s, m)
    for k in range(m):
        begin, end = s.segment[k, BEGIN], (s.segment[k + 1, BEGIN] if k + 1 < m else n) - 1
        s.segment[k, END], s.segment[k, LABEL] = end, -1
        s.at[begin, OTHER], s.at[end, OTHER] = end, begin
        s.at[begin, SEGMENT] = s.at[end, SEGMENT] = k
    tours = 0
    for k in range(m):
        if s.segment[k, LABEL] >= 0:
            continue
        first = s.segment[k, BEGIN]
        p, before, nodes = first, -1, 0
        while True:
            at = s.at[p, SEGMENT]
            s.segment[at, LABEL] = tours
            nodes += s.segment[at, END] - s.segment[at, BEGIN] + 1
            q = s.at[p, OTHER]
            step = s.at[q, NEWER] if q == p and s.at[q, NEW] == before else s.at[q, NEW]
            if step == first:
                break
            before, p = q, step
        s.tours[tours, 0], s.tours[tours, 1] = nodes, s.node[first, ORDER]
        tours += 1
    s.counts[SEGMENTS] = m
    return tours


@tight
def tour_at(s: Scratch, node: int) -> int:
    """The sub-tour that a node lies in."""
    p, low, high = s.node[node, POSITION], 0, s.counts[SEGMENTS] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if s.segment[middle, BEGIN] <= p:
            low = middle
        else:
            high = middle - 1
    return s.segment[low, LABEL]


@tight
def _walk(links: Int32s, node: Int32s, first: int, size: int, stamp: int) -> None:
    """Write the nodes of a sub-tour down and mark them."""
    here, before = first, first  # no node is its own neighbour
    for k in range(size):
        node[k, WALK] = here
        node[here, STAMP] = stamp
        step = links[here, 0] if links[here, 0] != before else links[here, 1]
        before, here = here, step


@inner
def _best_join(
    metric: Metric, lists: Int32s, links: Int32s, node: Int32s, merges: Int32s, size: int, stamp: int, k: int
) -> float:
    """Note the best exchange of an edge of the marked sub-tour and one outside near it in ``merges[k]``; its gain."""
    best = -np.inf
    for i in range(size):
        a = node[i, WALK]
        for j in range(lists.shape[1]):
            c = lists[a, j]
            if node[c, STAMP] == stamp:
                continue
            ac = distance(metric, a, c)
            for x in range(2):
                b = links[a, x]
                ab = distance(metric, a, b)
                for y in range(2):
                    d = links[c, y]
                    freed = ab + distance(metric, c, d)
                    straight = freed - ac - distance(metric, b, d)
                    crossed = freed - distance(metric, a, d) - distance(metric, b, c)
                    if straight > best:
                        best = straight
                        merges[k, 0], merges[k, 1], merges[k, 2], merges[k, 3] = a, b, c, d
                    if crossed > best:
                        best = crossed
                        merges[k, 0], merges[k, 1], merges[k, 2], merges[k, 3] = a, b, d, c
    if best == -np.inf:  # all near nodes lie inside: any edge outside will do
        a, c = node[0, WALK], 0
        while node[c, STAMP] == stamp:
            c += 1
        b, d = links[a, 0], links[c, 0]
        best = distance(metric, a, b) + distance(metric, c, d) - distance(metric, a, c) - distance(metric, b, d)
        merges[k, 0], merges[k, 1], merges[k, 2], merges[k, 3] = a, b, c, d
    return best


@tight
def merge(metric: Metric, lists: Int32s, links: Int32s, s: Scratch, tours: int) -> float:
    """Join sub-tours, the smallest first, each by its best exchange with what is near; the gain, mostly negative.

    The joins stand in ``s.merges``, so that `unmerge` can undo them.
    """
    total = 0.0
    for k in range(tours - 1):
        t = -1
        for x in range(tours):
            if s.tours[x, 0] > 0 and (t < 0 or s.tours[x, 0] < s.tours[t, 0]):
                t = x
        s.counts[STAMPED] += 1
        size, stamp = s.tours[t, 0], s.counts[STAMPED]
        _walk(links, s.node, s.tours[t, 1], size, stamp)
        total += _best_join(metric, lists, links, s.node, s.merges, size, stamp, k)
        remerge(links, s, k)
        other = tour_at(s, s.merges[k, 2])
        for x in range(s.counts[SEGMENTS]):
            if s.segment[x, LABEL] == t:
                s.segment[x, LABEL] = other
        s.tours[other, 0] += s.tours[t, 0]
        s.tours[t, 0] = 0
    s.counts[MERGES] = tours - 1
    return total


@inner
def remerge(links: Int32s, s: Scratch, k: int) -> None:
    """Make join k."""
    a, b, c, d = s.merges[k, 0], s.merges[k, 1], s.merges[k, 2], s.merges[k, 3]
    relink(links, a, b, c)
    relink(links, b, a, d)
    relink(links, c, d, a)
    relink(links, d, c, b)


@tight
def unmerge(links: Int32s, s: Scratch) -> None:
    """Undo all joins, the last one first."""
    for k in range(s.counts[MERGES] - 1, -1, -1):
        a, b, c, d = s.merges[k, 0], s.merges[k, 1], s.merges[k, 2], s.merges[k, 3]
        relink(links, d, b, c)
        relink(links, c, a, d)
        relink(links, b, d, a)
        relink(links, a, c, b)
