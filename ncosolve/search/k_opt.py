"""Exchanges of k tour edges, judged on positions before anything moves, then made by one rewrite.

Removed edge m joins the nodes in slots 2m and 2m + 1, added edges join slots 2m + 1 and 2m + 2; the last one joins slot
2k - 1 and slot 0. A tour without its removed edges is a ring of segments; whether the added edges join these to one
tour is a walk of k steps. The longest segment stays where it is, the others are copied behind it. What they overwrite
goes to a journal that undoes it.
"""

from typing import NamedTuple

import numpy as np

from ncosolve.search.jit import inner, tight
from ncosolve.search.types import Bools, Floats, Int32s, Ints

DEPTH = 5
"""The most edges that an exchange removes."""
NODE, NEAR, AT, SORTED, RANK, TRIES = range(6)
"""The rows of ``Tour.slots``."""
HEAD, WAITING, FILLED, WRITES, PENDING, KEEPS = range(6)
"""The entries of ``Tour.counts``."""


class Tour(NamedTuple):
    """A tour with what its search needs; `make_tour` allocates it.

    Attributes
    ----------
    order, position : ndarray of int32, shape (n,)
        The tour and its inverse.
    length : ndarray of float64, shape (1,)
        Its length.
    queue, queued : ndarray of int32 and bool, shape (n,)
        Nodes to look at, in a ring, and whether a node is among them.
    slots : ndarray of int64, shape (6, 2 * DEPTH + 2)
        The exchange at hand. Row `NODE` has its nodes by slot; `NEAR` for each removed edge the slot of its node that
        comes first in the tour, `AT` the position of that node; `SORTED` the removed edges by position, `RANK` the
        inverse; `TRIES` what was tried at each depth.
    gains : ndarray of float64, shape (DEPTH + 2,)
        What is won up to each depth.
    buffer : ndarray of int32, shape (n,)
        Nodes on their way.
    journal, writes : ndarray of int32 and int64
        Overwritten nodes; position and number of nodes of each rewrite.
    counts : ndarray of int64, shape (6,)
        `HEAD` and number `WAITING` of the queue, `FILLED` entries of the journal and its `WRITES`, nodes `PENDING` in
        the buffer, and whether the journal `KEEPS` what is overwritten.
    """

    order: Int32s
    position: Int32s
    length: Floats
    queue: Int32s
    queued: Bools
    slots: Ints
    gains: Floats
    buffer: Int32s
    journal: Int32s
    writes: Ints
    counts: Ints


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
        np.zeros((6, 2 * DEPTH + 2), np.int64),
        np.zeros(DEPTH + 2),
        np.empty(n, np.int32),
        np.empty(max(1_000_000, 2 * n), np.int32),
        np.empty((10_000, 2), np.int64),
        np.zeros(6, np.int64),
    )


@inner
def partner(slot: int, k: int) -> int:
    """The slot that an added edge joins with ``slot``."""
    if slot & 1:
        return slot + 1 if slot + 1 < 2 * k else 0
    return slot - 1 if slot > 0 else 2 * k - 1


@tight
def is_tour(slots: Ints, k: int) -> bool:
    """Whether the exchange of k edges in the slots gives one tour; sorts the removed edges."""
    for m in range(k):
        j, at = m, slots[AT, m]
        while j > 0 and slots[AT, slots[SORTED, j - 1]] > at:
            slots[SORTED, j] = slots[SORTED, j - 1]
            j -= 1
        slots[SORTED, j] = m
    for j in range(k):
        slots[RANK, slots[SORTED, j]] = j
    walked = 0
    slot = slots[NEAR, slots[SORTED, 0]]  # out of the segment that ends at the first removed edge
    while True:
        walked += 1
        to = partner(slot, k)
        j = slots[RANK, to >> 1]
        if slots[NEAR, to >> 1] == to:  # into a segment at its far end, and back through it
            if j == 0:
                return False
            slot = slots[NEAR, slots[SORTED, j - 1]] ^ 1
        elif j + 1 == k:
            return walked == k
        else:
            slot = slots[NEAR, slots[SORTED, j + 1]]


@inner
def longest_segment(slots: Ints, n: int, k: int) -> int:
    """The removed edge, by its rank, at which the longest segment ends."""
    longest, found = -1, 0
    for j in range(k):
        size = slots[AT, slots[SORTED, j]] - slots[AT, slots[SORTED, j - 1 if j > 0 else k - 1]]
        if size <= 0:
            size += n
        if size > longest:
            longest, found = size, j
    return found


@inner
def moved_by(slots: Ints, n: int, k: int) -> int:
    """How many nodes the exchange copies."""
    j = longest_segment(slots, n, k)
    size = slots[AT, slots[SORTED, j]] - slots[AT, slots[SORTED, j - 1 if j > 0 else k - 1]]
    return n - size if size > 0 else -size


@tight
def copy(tour: Tour, at: int, count: int) -> None:
    """Append ``count`` nodes from a position on to the buffer."""
    n, filled = tour.order.shape[0], tour.counts[PENDING]
    for z in range(filled, filled + count):
        tour.buffer[z] = tour.order[at]
        at = at + 1 if at + 1 < n else 0
    tour.counts[PENDING] = filled + count


@inner
def copy_back(tour: Tour, at: int, count: int) -> None:
    """Append ``count`` nodes from a position on backwards to the buffer."""
    n, filled = tour.order.shape[0], tour.counts[PENDING]
    for z in range(filled, filled + count):
        tour.buffer[z] = tour.order[at]
        at = at - 1 if at > 0 else n - 1
    tour.counts[PENDING] = filled + count


@tight
def write(tour: Tour, at: int) -> None:
    """Put the nodes of the buffer at positions ``at``, ...; note what stood there where a journal is kept."""
    n, count = tour.order.shape[0], tour.counts[PENDING]
    if tour.counts[KEEPS] > 0:
        tour.writes[tour.counts[WRITES], 0] = at
        tour.writes[tour.counts[WRITES], 1] = count
        tour.counts[WRITES] += 1
        filled, here = tour.counts[FILLED], at
        for z in range(count):
            tour.journal[filled + z] = tour.order[here]
            here = here + 1 if here + 1 < n else 0
        tour.counts[FILLED] = filled + count
    for z in range(count):
        node = tour.buffer[z]
        tour.order[at] = node
        tour.position[node] = at
        at = at + 1 if at + 1 < n else 0
    tour.counts[PENDING] = 0


@tight
def undo(tour: Tour) -> None:
    """Take back all rewrites in the journal."""
    n = tour.order.shape[0]
    filled = tour.counts[FILLED]
    for w in range(tour.counts[WRITES] - 1, -1, -1):
        at, count = tour.writes[w, 0], tour.writes[w, 1]
        filled -= count
        for z in range(filled, filled + count):
            node = tour.journal[z]
            tour.order[at] = node
            tour.position[node] = at
            at = at + 1 if at + 1 < n else 0
    forget(tour)


@inner
def forget(tour: Tour) -> None:
    """Empty the journal."""
    tour.counts[FILLED] = tour.counts[WRITES] = 0


@tight
def room(tour: Tour) -> bool:
    """Whether the journal can take another rewrite."""
    fits = tour.counts[FILLED] + tour.order.shape[0] <= tour.journal.shape[0]
    return fits and tour.counts[WRITES] < tour.writes.shape[0]


@tight
def exchange(tour: Tour, k: int) -> None:
    """Make the exchange in the slots, which `is_tour` has sorted."""
    n, slots = tour.order.shape[0], tour.slots
    kept = longest_segment(slots, n, k)
    slot = slots[NEAR, slots[SORTED, kept]]
    while True:
        to = partner(slot, k)
        m = to >> 1
        if slots[NEAR, m] == to:
            j = slots[RANK, m]
            other = slots[SORTED, j - 1 if j > 0 else k - 1]
            count = slots[AT, m] - slots[AT, other]
            copy_back(tour, slots[AT, m], count if count > 0 else count + n)
            slot = slots[NEAR, other] ^ 1
        else:
            j = slots[RANK, m] + 1 if slots[RANK, m] + 1 < k else 0
            if j == kept:
                break
            other = slots[SORTED, j]
            count = slots[AT, other] - slots[AT, m]
            copy(tour, slots[AT, m] + 1 if slots[AT, m] + 1 < n else 0, count if count > 0 else count + n)
            slot = slots[NEAR, other]
    at = slots[AT, slots[SORTED, kept]] + 1
    write(tour, at if at < n else 0)
