"""Edge assembly crossover for the symmetric TSP (Nagata and Kobayashi 2013, INFORMS J. Computing 25(2)).

A child is tour A with some AB-cycles of A and B applied and the sub-tours joined. Of all children that are shorter than
A the one replaces it that gains most for the entropy of the population's edges that it loses.
"""

import math

import numpy as np

from ncosolve.search.ab_cycles import (
    CHOSEN,
    COUNTED,
    MERGES,
    ORDER,
    POSITION,
    Scratch,
    ab_cycles,
    apply_cycle,
    take_cycle_back,
)
from ncosolve.search.jit import inner, tight
from ncosolve.search.metric import Metric
from ncosolve.search.random import RandomState
from ncosolve.search.sub_tours import label_tours, merge, remerge, tour_at, unmerge
from ncosolve.search.types import Floats, Int32s, Ints

EPSILON = 1e-7
SLOTS = 24
"""So many edges of the population are counted at their smaller node; further ones count as not there."""
HARMLESS = 1e-9
"""A loss of entropy of this or less counts as this: such a child is preferred to all others."""


MORE_LESS = np.array([1, -1])
"""In an array, for numbers in the code would have Numba compile what they are handed to anew."""


def make_edges(n: int) -> Int32s:
    """A table of how many tours have an edge, int32 (n, 2 * SLOTS): pairs of the larger node and the count."""
    return np.zeros((n, 2 * SLOTS), np.int32)


@inner
def _column(edges: Int32s, u: int, v: int) -> int:
    """Where the count of the edge from u to a larger v stands in row u, or may stand; -1 where there is no room."""
    free = -1
    for k in range(1, 2 * SLOTS, 2):
        if edges[u, k] == 0:
            free = k if free < 0 else free
        elif edges[u, k - 1] == v:
            return k
    return free


@tight
def count_tour(edges: Int32s, links: Int32s) -> None:
    """Count the edges of a tour."""
    for v in range(links.shape[0]):
        for k in range(2):
            w = links[v, k]
            if w > v:
                column = _column(edges, v, w)
                if column >= 0:
                    edges[v, column - 1] = w
                    edges[v, column] += 1


@inner
def _entropy(count: int, population: int) -> float:
    if count <= 0:
        return 0.0
    share = count / population
    return -share * math.log(share)


@inner
def _change(edges: Int32s, counted: Int32s, counts: Ints, u: int, v: int, change: int, population: int) -> float:
    """Change the count of an edge, unless it is not counted, and note what was there; the change of the entropy."""
    if u > v:
        u, v = v, u
    k = _column(edges, u, v)
    if k < 0 or edges[u, k] + change < 0:
        return 0.0
    x, before = counts[COUNTED], edges[u, k]
    counted[x, 0], counted[x, 1], counted[x, 2], counted[x, 3] = u, k, edges[u, k - 1], before
    counts[COUNTED] = x + 1
    edges[u, k - 1], edges[u, k] = v, before + change
    return _entropy(before + change, population) - _entropy(before, population)


@tight
def _count_exchange(edges: Int32s, s: Scratch, population: int) -> float:
    """Count the edges that the exchange in ``s`` and its joins change; the change of the entropy."""
    more, less, total = MORE_LESS[0], MORE_LESS[1], 0.0
    counted, counts = s.counted, s.counts
    counts[COUNTED] = 0
    for e in range(counts[CHOSEN]):
        begin, end = s.start[s.chosen[e]], s.start[s.chosen[e] + 1]
        for k in range(begin, end, 2):
            total += _change(edges, counted, counts, s.cycle[k], s.cycle[k + 1], less, population)
        for k in range(begin, end, 2):
            after = s.cycle[k + 2 if k + 2 < end else begin]
            total += _change(edges, counted, counts, s.cycle[k + 1], after, more, population)
    for k in range(s.counts[MERGES]):
        a, b, c, d = s.merges[k, 0], s.merges[k, 1], s.merges[k, 2], s.merges[k, 3]
        total += _change(edges, counted, counts, a, b, less, population)
        total += _change(edges, counted, counts, c, d, less, population)
        total += _change(edges, counted, counts, a, c, more, population)
        total += _change(edges, counted, counts, b, d, more, population)
    return total


@tight
def _uncount(edges: Int32s, s: Scratch) -> None:
    """Take the last `_count_exchange` back, the last change first, for an edge may have got the place of another."""
    for x in range(s.counts[COUNTED] - 1, -1, -1):
        u, k = s.counted[x, 0], s.counted[x, 1]
        edges[u, k - 1], edges[u, k] = s.counted[x, 2], s.counted[x, 3]


@inner
def _next_largest(s: Scratch, found: int, taken: int) -> int:
    """The largest cycle but for those in the first ``taken`` places of ``s.centres``; it is put into the next place."""
    largest = -1
    for c in range(found):
        used = False
        for k in range(taken):
            used |= s.centres[k] == c
        if not used and (largest < 0 or s.start[c + 1] - s.start[c] > s.start[largest + 1] - s.start[largest]):
            largest = c
    s.centres[taken] = largest
    return largest


@inner
def _choose_block(s: Scratch, found: int) -> None:
    """Choose, beside the chosen cycle, the smaller ones that touch what it cuts off the largest sub-tour."""
    chosen, centre = 1, s.chosen[0]
    tours = label_tours(s)
    largest = 0
    for t in range(tours):
        if s.tours[t, 0] > s.tours[largest, 0]:
            largest = t
    size = s.start[centre + 1] - s.start[centre]
    for c in range(found if tours > 1 else 0):
        if s.start[c + 1] - s.start[c] < size:
            for k in range(s.start[c], s.start[c + 1]):
                if tour_at(s, s.cycle[k]) != largest:
                    s.chosen[chosen] = c
                    chosen += 1
                    break
    s.counts[CHOSEN] = chosen


@inner
def _choose(s: Scratch, found: int, e: int, block: bool) -> None:
    """Choose cycle e, or the block around the largest cycle that was not the centre of one yet.

    The branch stands here and not in `cross`, which Numba would compile to three times slower code.
    """
    s.counts[CHOSEN] = 1
    s.chosen[0] = e
    if block:
        s.chosen[0] = _next_largest(s, found, e)
        _choose_block(s, found)


@tight
def _walk_down(a: Int32s, s: Scratch) -> None:
    before, here = a[0, 0], 0
    for k in range(a.shape[0]):
        s.node[k, ORDER] = here
        s.node[here, POSITION] = k
        step = a[here, 0] if a[here, 0] != before else a[here, 1]
        before, here = here, step


@tight
def cross(
    metric: Metric,
    lists: Int32s,
    a: Int32s,
    b: Int32s,
    edges: Int32s,
    population: int,
    children: int,
    block: bool,
    s: Scratch,
    rng: RandomState,
) -> float:
    """Replace tour A by its best child with B, if one is shorter; the gain.

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n >= 8 nodes.
    lists : ndarray of int32, shape (n, k)
        Nearest nodes of each node, where sub-tours are joined.
    a, b : ndarray of int32, shape (n, 2)
        The links of the tours; ``a`` is changed.
    edges : ndarray of int32
        How many tours of the population have each edge; see `make_edges`.
    population, children : int
        Tours in the population, and the most children.
    block : bool
        Whether a child is made of a large cycle with the smaller ones that it needs to be local, instead of one cycle.
    s : Scratch
        Work space.
    rng : ndarray of uint64
        The state of the random generator.
    """
    _walk_down(a, s)
    found = ab_cycles(metric, a, b, s, rng, a.shape[0] if block else children)
    best_score, best_gain, best_chosen, best_joins = 0.0, 0.0, 0, 0
    for e in range(min(found, children)):
        _choose(s, found, e, block)
        tours = label_tours(s)
        chosen = s.counts[CHOSEN]
        gain = 0.0
        for x in range(chosen):
            apply_cycle(a, s, s.chosen[x])
            gain += s.gain[s.chosen[x]]
        gain += merge(metric, lists, a, s, tours)
        if gain > EPSILON:
            joins = s.counts[MERGES]
            lost = -_count_exchange(edges, s, population)
            _uncount(edges, s)
            score = gain / max(lost, HARMLESS)
            if score > best_score:
                best_score, best_gain, best_chosen, best_joins = score, gain, chosen, joins
                for x in range(chosen):
                    s.best_chosen[x] = s.chosen[x]
                for k in range(joins):
                    for x in range(4):
                        s.best_merges[k, x] = s.merges[k, x]
        unmerge(a, s)
        for x in range(chosen - 1, -1, -1):
            take_cycle_back(a, s, s.chosen[x])
    if best_gain > 0.0:
        for x in range(best_chosen):
            s.chosen[x] = s.best_chosen[x]
            apply_cycle(a, s, s.chosen[x])
        for k in range(best_joins):
            for x in range(4):
                s.merges[k, x] = s.best_merges[k, x]
            remerge(a, s, k)
        s.counts[CHOSEN], s.counts[MERGES] = best_chosen, best_joins
        _count_exchange(edges, s, population)
    return best_gain


def mate(
    metric: Metric,
    lists: Int32s,
    tours: Int32s,
    lengths: Floats,
    ring: Ints,
    first: int,
    last: int,
    edges: Int32s,
    children: int,
    block: bool,
    s: Scratch,
    rng: RandomState,
) -> None:
    """Cross the tours at places ``first`` to ``last`` - 1 of the ring with those behind them.

    Parameters
    ----------
    tours : ndarray of int32, shape (population, n, 2)
        The links of all tours, changed in place.
    lengths : ndarray of float64, shape (population,)
        Their lengths, changed in place.
    ring : ndarray of int64, shape (population,)
        A permutation of the tours.
    metric, lists, edges, children, block, s, rng
        As in `cross`.
    """
    population = len(ring)
    for k in range(first, last):
        i, j = ring[k], ring[(k + 1) % population]
        lengths[i] -= cross(metric, lists, tours[i], tours[j], edges, population, children, block, s, rng)
