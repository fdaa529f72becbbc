"""Lin-Kernighan steps for the symmetric TSP, iterated with local double bridges.

Lin and Kernighan 1973 (Operations Research 21(2)); Johnson and McGeoch 1997 on kicks that stay local.
"""

import math

import numpy as np

from ncosolve.search.jit import inner, kernel, tight
from ncosolve.search.k_opt import (
    AT,
    DEPTH,
    HEAD,
    KEEPS,
    NEAR,
    NODE,
    PENDING,
    TRIES,
    WAITING,
    Tour,
    copy,
    exchange,
    forget,
    is_tour,
    moved_by,
    room,
    undo,
    write,
)
from ncosolve.search.metric import Metric, distance
from ncosolve.search.random import RandomState, below, uniform
from ncosolve.search.types import Floats, Int32s, Ints

EPSILON = 1e-7
BREADTH = np.array([[0, 5, 5, 3, 2, 0], [0, 5, 5, 2, 1, 0]])
"""How many candidates are tried for an added edge, by how many edges are removed before it: in a descent, and after a
kick."""
REACH = 100
"""A kick cuts four edges; from one to the next are at most so many nodes, a half, a quarter or an eighth of it."""
HALVINGS = np.array([4])
MOST_MOVED = 50_000
"""An exchange that would copy more nodes is not made."""
ALL = 1 << 60
MISMATCH = -1
"""What `iterate` returns when its books are wrong (debug only)."""
ANYWHERE = np.empty(0, np.int32)
FREE = np.empty(0, np.int32)
"""For `descend` and `iterate`: no edge is fixed."""
_NONE = np.ones(1, np.uint64)


@tight
def tour_length(metric: Metric, order: Int32s) -> float:
    """The length of a closed tour."""
    total = 0.0
    for k in range(order.shape[0]):
        total += distance(metric, order[k - 1], order[k])
    return total


@kernel
def lengths_of(metric: Metric, lists: Int32s) -> Floats:
    """The distance from each node to those in its row, float64 of the shape of ``lists``."""
    lengths = np.empty(lists.shape)
    for i in range(lists.shape[0]):
        for k in range(lists.shape[1]):
            lengths[i, k] = distance(metric, i, lists[i, k])
    return lengths


@inner
def push(tour: Tour, node: int) -> None:
    """Put a node at the end of the queue unless it is there."""
    if not tour.queued[node]:
        tour.queued[node] = True
        k = tour.counts[HEAD] + tour.counts[WAITING]
        tour.queue[k if k < tour.queue.shape[0] else k - tour.queue.shape[0]] = node
        tour.counts[WAITING] += 1


@tight
def push_all(tour: Tour, nodes: Int32s) -> None:
    """Put nodes at the end of the queue, those that are there left out."""
    for node in nodes:
        push(tour, node)


@inner
def _pop(tour: Tour) -> int:
    head = tour.counts[HEAD]
    node = tour.queue[head]
    tour.counts[HEAD] = head + 1 if head + 1 < tour.queue.shape[0] else 0
    tour.counts[WAITING] -= 1
    tour.queued[node] = False
    return node


@inner
def _improvement(
    metric: Metric,
    lists: Int32s,
    near: Floats,
    mates: Int32s,
    order: Int32s,
    position: Int32s,
    slots: Ints,
    gains: Floats,
    first: int,
    forward: bool,
    kicked: int,
) -> float:
    """Find an exchange that removes the edge behind or before a node and shortens the tour; its gain or 0.

    The search is depth first: at each level an edge to a candidate is added and one of the candidate's two tour edges
    removed, as long as more was removed than added. ``slots[TRIES, 0]`` becomes the number of edges of what is found.
    """
    n = order.shape[0]
    p = position[first]
    if forward:
        q = p + 1 if p + 1 < n else 0
        slots[NEAR, 0], slots[AT, 0] = 0, p
    else:
        q = p - 1 if p > 0 else n - 1
        slots[NEAR, 0], slots[AT, 0] = 1, q
    last = order[q]
    slots[NODE, 0], slots[NODE, 1] = first, last
    gains[1], slots[TRIES, 1] = distance(metric, first, last), 0
    level = 0 if mates.shape[0] > 0 and mates[first] == last else 1
    while level > 0:
        trial = slots[TRIES, level]
        if trial >= 2 * BREADTH[kicked, level]:
            level -= 1
            continue
        slots[TRIES, level] = trial + 1
        a = slots[NODE, 2 * level - 1]
        c = lists[a, trial >> 1]
        gain = gains[level] - near[a, trial >> 1]
        p = position[c]
        step = p - position[a]
        if gain <= EPSILON or step == 1 or step == -1 or step == n - 1 or step == 1 - n:
            slots[TRIES, level] = (trial | 1) + 1  # no gain left, or a tour edge: on to the next candidate
            continue
        if trial & 1:
            q = p - 1 if p > 0 else n - 1
            at = q
        else:
            q = p + 1 if p + 1 < n else 0
            at = p
        e = order[q]
        taken = e == first or (mates.shape[0] > 0 and mates[c] == e)
        for m in range(level):
            taken |= slots[AT, m] == at
        for m in range(1, level):
            u, w = slots[NODE, 2 * m], slots[NODE, 2 * m - 1]
            taken |= (u == a and w == c) or (u == c and w == a)
        if taken:
            continue
        gain += distance(metric, c, e)
        closed = gain - distance(metric, e, first)
        if closed <= EPSILON and level + 1 >= DEPTH:
            continue
        slots[NODE, 2 * level], slots[NODE, 2 * level + 1] = c, e
        slots[NEAR, level], slots[AT, level] = 2 * level + (trial & 1), at
        if closed > EPSILON:
            if is_tour(slots, level + 1):
                slots[TRIES, 0] = level + 1
                return closed
            if level + 1 >= DEPTH:
                continue
        level += 1
        gains[level], slots[TRIES, level] = gain, 0
    return 0.0


@inner
def _work_off(metric: Metric, lists: Int32s, near: Floats, mates: Int32s, tour: Tour, most: int) -> float:
    """Work off at most ``most`` queued nodes; the gain. Where the journal is full the queue is emptied."""
    order, position, slots = tour.order, tour.position, tour.slots
    n, kicked, total = order.shape[0], min(tour.counts[KEEPS], 1), 0.0
    while tour.counts[WAITING] > 0 and most > 0:
        most -= 1
        first, forward = _pop(tour), True
        while True:
            gain = _improvement(metric, lists, near, mates, order, position, slots, tour.gains, first, forward, kicked)
            k = slots[TRIES, 0]
            if gain > 0.0 and n > 2 * MOST_MOVED and moved_by(slots, n, k) > MOST_MOVED:
                gain = 0.0
            if gain <= 0.0:
                if not forward:
                    break
                forward = False
                continue
            if tour.counts[KEEPS] > 0 and not room(tour):
                while tour.counts[WAITING] > 0:
                    _pop(tour)
                break
            exchange(tour, k)
            total += gain
            forward = True
            for m in range(1, 2 * k):
                push(tour, slots[NODE, m])
    tour.length[0] -= total
    return total


@tight
def _kick(metric: Metric, mates: Int32s, tour: Tour, rng: RandomState, spots: Int32s) -> float:
    """Exchange three neighbouring segments A B C to C B A and queue their ends; the change in length."""
    n, cut = tour.order.shape[0], tour.slots[AT]
    reach = max(1, min(REACH, (n - 4) // 8) >> below(rng, HALVINGS[0]))
    p, change = below(rng, n), 0.0
    if spots.shape[0] > 0:
        p = (tour.position[spots[below(rng, spots.shape[0])]] + n - below(rng, min(n, REACH))) % n
    for m in range(4):
        a, b = tour.order[p], tour.order[p + 1 if p + 1 < n else 0]
        if mates.shape[0] > 0 and mates[a] == b:  # the next edge is free, for a node has one mate
            p = p + 1 if p + 1 < n else 0
            a, b = b, tour.order[p + 1 if p + 1 < n else 0]
        cut[m] = p
        change -= distance(metric, a, b)
        push(tour, a)
        push(tour, b)
        p = (p + 1 + below(rng, reach)) % n
    end = tour.order[cut[0]]
    for m in range(2, -1, -1):
        begin = cut[m] + 1 if cut[m] + 1 < n else 0
        change += distance(metric, end, tour.order[begin])
        copy(tour, begin, (cut[m + 1] - cut[m]) % n)
        end = tour.buffer[tour.counts[PENDING] - 1]
    change += distance(metric, end, tour.order[cut[3] + 1 if cut[3] + 1 < n else 0])
    write(tour, cut[0] + 1 if cut[0] + 1 < n else 0)
    return change


def descend(metric: Metric, lists: Int32s, near: Floats, mates: Int32s, tour: Tour, most: int = ALL) -> float:
    """Work off at most ``most`` queued nodes, to a local optimum once the queue is empty; the gain.

    Parameters
    ----------
    metric : Metric
        Symmetric distances among n >= 8 nodes.
    lists, near : ndarray of int32 and float64, shape (n, k), k >= 5
        Candidates of each node, the best first, and their distances.
    mates : ndarray of int32, shape (n,) or (0,)
        The node to which a node's fixed edge leads, -1 where it has none; `FREE` for none at all. A fixed edge is never
        removed.
    tour : Tour
        Changed in place.
    """
    before = float(tour.length[0])
    _search(metric, lists, near, mates, tour, _NONE, 0, 0.0, most, False, ANYWHERE)
    return before - float(tour.length[0])


def iterate(
    metric: Metric,
    lists: Int32s,
    near: Floats,
    mates: Int32s,
    tour: Tour,
    rng: RandomState,
    kicks: int,
    temperature: float,
    debug: bool,
    spots: Int32s = ANYWHERE,
) -> int:
    """Kick and repair ``kicks`` times, taking a worse tour with probability exp(-loss / temperature).

    Parameters
    ----------
    metric, lists, near, mates, tour
        As in `descend`; the queue must be empty.
    rng : ndarray of uint64
        The state of the random generator.
    kicks : int
        How many, one at least.
    temperature : float
        In units of length; 0 takes no worse tour.
    debug : bool
        Whether to recompute the length after every kick.
    spots : ndarray of int32, optional
        Kicks cut the tour only near these nodes.

    Returns
    -------
    int
        How many kicks were kept, or `MISMATCH`.
    """
    return _search(metric, lists, near, mates, tour, rng, kicks, temperature, ALL, debug, spots)


@tight
def _search(
    metric: Metric,
    lists: Int32s,
    near: Floats,
    mates: Int32s,
    tour: Tour,
    rng: RandomState,
    kicks: int,
    temperature: float,
    most: int,
    debug: bool,
    spots: Int32s,
) -> int:
    """`iterate`, or `descend` where there are no kicks: one function, for its parts take long to compile."""
    kept = 0
    tour.counts[KEEPS] = kicks
    for _ in range(max(1, kicks)):
        change = 0.0
        if kicks > 0:
            forget(tour)
            change = _kick(metric, mates, tour, rng, spots)
            tour.length[0] += change
        change -= _work_off(metric, lists, near, mates, tour, most)
        if kicks == 0:
            break
        allowed = -temperature * math.log(1.0 - uniform(rng)) if temperature > 0.0 else 0.0
        if change <= allowed + 1e-9:
            kept += 1
        else:
            undo(tour)
            tour.length[0] -= change
        if debug:
            exact = tour_length(metric, tour.order)
            if abs(exact - tour.length[0]) > 1e-6 * max(1.0, exact):
                return MISMATCH
    forget(tour)
    return kept
