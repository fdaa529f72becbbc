"""Symmetric TSP: 2-opt and Or-opt with neighbour lists, iterated with local double bridges.

The tour is an array with the position of each node. Every move is a series of reversals of the shorter side, so a
journal of reversals undoes anything (Bentley 1992; Johnson and McGeoch 1997).
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ncosolve.search.metric import Metric, distance
from ncosolve.search.random import RandomState, below, uniform
from ncosolve.search.types import Bools, Floats, Int32s, Ints

EPSILON = 1e-9
LONGEST_SEGMENT = 50
"""A double bridge exchanges segments of at most this many nodes."""
ALL = np.iinfo(np.int64).max
MISMATCH = -1
"""What `iterate` returns when its books are wrong (debug only)."""


class Tour(NamedTuple):
    """The state of one search; `make_tour` allocates it.

    Attributes
    ----------
    order, position : ndarray of int32, shape (n,)
        The tour and its inverse.
    length : ndarray of float64, shape (1,)
        Its length.
    queue : ndarray of int32, shape (n,)
        Nodes to look at, a ring buffer; ``queued`` marks them; ``ends`` holds its head and its count.
    journal : ndarray of int32, shape (j, 2)
        Reversed positions since the last accepted tour; ``journalled`` holds their number.
    """

    order: Int32s
    position: Int32s
    length: Floats
    queue: Int32s
    queued: Bools
    ends: Ints
    journal: Int32s
    journalled: Ints


def make_tour(order: Int32s, length: float) -> Tour:
    """A search state at a tour of the given length, with nothing queued."""
    n = len(order)
    position = np.empty(n, np.int32)
    position[order] = np.arange(n, dtype=np.int32)
    return Tour(
        np.array(order, np.int32),
        position,
        np.array([length]),
        np.empty(n, np.int32),
        np.zeros(n, np.bool_),
        np.zeros(2, np.int64),
        np.empty((100_000, 2), np.int32),
        np.zeros(1, np.int64),
    )


@njit(cache=True, nogil=True)
def tour_length(metric: Metric, order: Int32s) -> float:
    """The length of a closed tour."""
    total = 0.0
    for k in range(order.shape[0]):
        total += distance(metric, order[k - 1], order[k])
    return total


@njit(cache=True, nogil=True)
def push(tour: Tour, node: int) -> None:
    """Put a node at the end of the queue unless it is there."""
    if not tour.queued[node]:
        tour.queued[node] = True
        n = tour.queue.shape[0]
        tour.queue[(tour.ends[0] + tour.ends[1]) % n] = node
        tour.ends[1] += 1


@njit(cache=True, nogil=True)
def _push_all(tour: Tour, a: int, b: int, c: int, d: int, e: int, f: int) -> None:
    push(tour, a)
    push(tour, b)
    push(tour, c)
    push(tour, d)
    push(tour, e)
    push(tour, f)


@njit(cache=True, nogil=True)
def _pop(tour: Tour) -> int:
    node = tour.queue[tour.ends[0]]
    tour.ends[0] = (tour.ends[0] + 1) % tour.queue.shape[0]
    tour.ends[1] -= 1
    tour.queued[node] = False
    return node


@njit(cache=True, nogil=True)
def _swap_ends(tour: Tour, i: int, j: int) -> None:
    """Reverse the positions from i forward to j, or the rest of the circle, whichever is shorter."""
    n = tour.order.shape[0]
    inner = j - i + 1
    if inner <= 0:
        inner += n
    if 2 * inner > n:
        i, j = (j + 1) % n, (i - 1 + n) % n
        inner = n - inner
    for _ in range(inner // 2):
        a, b = tour.order[i], tour.order[j]
        tour.order[i], tour.order[j] = b, a
        tour.position[b], tour.position[a] = i, j
        i = i + 1 if i + 1 < n else 0
        j = j - 1 if j > 0 else n - 1


@njit(cache=True, nogil=True)
def _exchange(tour: Tour, p: int, u: int, v: int, q: int) -> None:
    """Turn the path u..v between p and q around, so that p is beside v and q beside u; journal it.

    Nodes and not positions name the path, for reversing the other side of the circle mirrors all positions.
    """
    if _after(tour, p) == u:
        i, j = tour.position[u], tour.position[v]
    else:
        i, j = tour.position[v], tour.position[u]
    k = tour.journalled[0]
    if k < tour.journal.shape[0]:
        tour.journal[k, 0] = i
        tour.journal[k, 1] = j
    tour.journalled[0] = k + 1
    _swap_ends(tour, i, j)


@njit(cache=True, nogil=True)
def _undo(tour: Tour) -> None:
    for k in range(tour.journalled[0] - 1, -1, -1):
        _swap_ends(tour, tour.journal[k, 0], tour.journal[k, 1])
    tour.journalled[0] = 0


@njit(cache=True, nogil=True)
def _after(tour: Tour, node: int) -> int:
    k = tour.position[node] + 1
    return tour.order[k if k < tour.order.shape[0] else 0]


@njit(cache=True, nogil=True)
def _before(tour: Tour, node: int) -> int:
    return tour.order[tour.position[node] - 1]


@njit(cache=True, nogil=True)
def _two_opt(metric: Metric, lists: Int32s, tour: Tour, a: int) -> float:
    """The first improving exchange of an edge at ``a`` for one to a near node; its gain or 0."""
    for forward in (True, False):
        b = _after(tour, a) if forward else _before(tour, a)
        ab = distance(metric, a, b)
        for k in range(lists.shape[1]):
            c = lists[a, k]
            gain = ab - distance(metric, a, c)
            if gain <= EPSILON:
                break
            d = _after(tour, c) if forward else _before(tour, c)
            if c == b or d == a:
                continue
            gain += distance(metric, c, d) - distance(metric, b, d)
            if gain > EPSILON:
                _exchange(tour, a, b, c, d)
                push(tour, a)
                push(tour, b)
                push(tour, c)
                push(tour, d)
                return gain
    return 0.0


@njit(cache=True, nogil=True)
def _or_opt(metric: Metric, lists: Int32s, tour: Tour, a: int) -> float:
    """The first improving move of 1-3 nodes that start at ``a`` to beside a near node; its gain or 0."""
    n = tour.order.shape[0]
    for forward in (True, False):
        # the segment runs from a away from the side on which a gets its new neighbour
        last = a
        for count in range(1, 4):
            if count > 1:
                last = _after(tour, last) if forward else _before(tour, last)
            if count + 3 > n:
                break
            p = _before(tour, a) if forward else _after(tour, a)
            q = _after(tour, last) if forward else _before(tour, last)
            freed = distance(metric, p, a) + distance(metric, last, q) - distance(metric, p, q)
            if freed <= EPSILON:
                continue
            for k in range(lists.shape[1]):
                c = lists[a, k]
                joined = distance(metric, a, c)
                if freed - joined <= EPSILON:
                    break
                offset = tour.position[c] - tour.position[a]
                if not forward:
                    offset = -offset
                if offset < 0:
                    offset += n
                if offset < count:
                    continue  # c lies in the segment
                for side in (True, False):
                    e = _after(tour, c) if side else _before(tour, c)
                    if e in (a, last):
                        continue
                    gain = freed - joined - distance(metric, last, e) + distance(metric, c, e)
                    if gain > EPSILON:
                        _move(tour, p, a, last, q, c, e, forward)
                        _push_all(tour, p, q, a, last, c, e)
                        return gain
    return 0.0


@njit(cache=True, nogil=True)
def _move(tour: Tour, p: int, a: int, last: int, q: int, c: int, e: int, forward: bool) -> None:
    """Put the segment from a to last, which stands between p and q, between c and e, a beside c."""
    n = tour.order.shape[0]
    if not forward:
        p, q = q, p
    first, final = (a, last) if forward else (last, a)  # all six in tour direction from here
    left, right = (c, e) if _after(tour, c) == e else (e, c)
    ahead = tour.position[left] - tour.position[final]
    if ahead < 0:
        ahead += n
    if 2 * ahead <= n:  # p [first..final] q..left right  ->  p q..left [final..first] right
        _exchange(tour, p, first, left, right)
        _exchange(tour, p, left, q, final)
    else:  # left right..p [first..final] q  ->  left [final..first] right..p q
        _exchange(tour, left, right, final, q)
        _exchange(tour, first, p, right, q)
    if (left == c) == (first == a):  # first must be beside left
        _exchange(tour, left, final, first, right)


@njit(cache=True, nogil=True)
def descend(metric: Metric, lists: Int32s, tour: Tour, most: int) -> float:
    """Work off at most ``most`` queued nodes, to a local optimum once the queue is empty; the gain."""
    total = 0.0
    while tour.ends[1] > 0 and most > 0:
        most -= 1
        node = _pop(tour)
        while True:
            gain = _two_opt(metric, lists, tour, node)
            if gain == 0.0:
                gain = _or_opt(metric, lists, tour, node)
            if gain == 0.0:
                break
            total += gain
    tour.length[0] -= total
    return total


@njit(cache=True, nogil=True)
def _double_bridge(metric: Metric, tour: Tour, rng: RandomState) -> float:
    """Exchange three short neighbouring segments X Y Z to Z Y X, and queue their ends; the change in length."""
    n = tour.order.shape[0]
    longest = min(LONGEST_SEGMENT, (n - 2) // 3)
    x, y, z = 1 + below(rng, longest), 1 + below(rng, longest), 1 + below(rng, longest)
    i = below(rng, n)
    cuts = (i, (i + x) % n, (i + x + y) % n, (i + x + y + z) % n)
    ends = np.empty(8, np.int32)
    for k in range(4):
        ends[2 * k] = tour.order[cuts[k] - 1]
        ends[2 * k + 1] = tour.order[cuts[k]]
    # ends: a|b ... c|d ... e|f ... g|h becomes a f ... g d ... e b ... c h
    change = (
        distance(metric, ends[0], ends[5])
        + distance(metric, ends[6], ends[3])
        + distance(metric, ends[4], ends[1])
        + distance(metric, ends[2], ends[7])
    )
    for k in range(4):
        change -= distance(metric, ends[2 * k], ends[2 * k + 1])
    _exchange(tour, ends[0], ends[1], ends[6], ends[7])
    _exchange(tour, ends[0], ends[6], ends[5], ends[4])
    _exchange(tour, ends[6], ends[4], ends[3], ends[2])
    _exchange(tour, ends[4], ends[2], ends[1], ends[7])
    for node in ends:
        push(tour, node)
    return change


@njit(cache=True, nogil=True)
def iterate(
    metric: Metric, lists: Int32s, tour: Tour, rng: RandomState, kicks: int, temperature: float, debug: bool
) -> int:
    """Kick and repair ``kicks`` times, taking a worse tour with probability exp(-loss / temperature).

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n >= 8 nodes.
    lists : ndarray of int32, shape (n, k)
        Neighbours, nearest first.
    tour : Tour
        Changed in place; its queue must be empty.
    rng : ndarray of uint64
        The state of the random generator.
    kicks : int
        How many.
    temperature : float
        In units of length; 0 takes no worse tour.
    debug : bool
        Whether to recompute the length after every kick.

    Returns
    -------
    int
        How many kicks were kept, or `MISMATCH`.
    """
    kept = 0
    for _ in range(kicks):
        tour.journalled[0] = 0
        change = _double_bridge(metric, tour, rng)
        tour.length[0] += change
        change -= descend(metric, lists, tour, ALL)
        allowed = -temperature * math.log(1.0 - uniform(rng)) if temperature > 0.0 else 0.0
        if change <= allowed + EPSILON or tour.journalled[0] > tour.journal.shape[0]:
            kept += 1
        else:
            _undo(tour)
            tour.length[0] -= change
        if debug:
            exact = tour_length(metric, tour.order)
            if abs(exact - tour.length[0]) > 1e-6 * max(1.0, exact):
                return MISMATCH
    return kept
