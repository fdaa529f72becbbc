"""A first tour within windows: depth-first search under lazily refined masks, with a memory of dead ends.

A mask holds the nodes that may follow a partial tour: those that are reached in time and from which each other node
still is. It is made when the tour gets there, too large rather than too small, and the child that a search comes back
from is taken out (Li, Zou, Wu and Wen 2026, arXiv 2505.17938). Where a partial tour could not be completed, neither can
one that has visited the same nodes, ends in the same one and is there no sooner: that is remembered.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ncosolve.search.jit import inner, tight
from ncosolve.search.label_setting import Arcs
from ncosolve.search.types import Bools, Floats, Ints

FOUND, STOPPED, EXHAUSTED = range(3)
"""What a search ends with: a tour, the budget, or the proof that there is no tour."""
PLACES = 1 << 15
"""Dead ends that are remembered; a later one takes the place of an earlier one that has the same."""


class Ground(NamedTuple):
    """An instance with its look-ahead; node 0 is the depot.

    Attributes
    ----------
    time : ndarray of float64, shape (n, n)
        From the start of the visit at the tail to the arrival at the head.
    ready, due : ndarray of float64, shape (n,)
        When a visit may start; of the depot the departure and the latest return.
    latest : ndarray of float64, shape (n, n)
        When a visit of the row's node must start for the column's node to be reached in time the fastest way; column 0
        is the return.
    allowed : ndarray of bool, shape (n, n)
        Whether a tour may use an arc.
    """

    time: Floats
    ready: Floats
    due: Floats
    latest: Floats
    allowed: Bools


class Stack(NamedTuple):
    """A partial tour with its masks, by depth, and the memory of dead ends by place."""

    tour: Ints
    clock: Floats
    mask: Bools
    visited: NDArray[np.uint64]
    unvisited: Bools
    dead_set: NDArray[np.uint64]
    dead_last: Ints
    dead_clock: Floats


def make_ground(arcs: Arcs, latest: Floats) -> Ground:
    """Arcs in the form of the kernel, with latest starts as in `Ground`; an arc of infinite cost is not allowed."""
    time, ready, due, last = (
        np.array(array, np.float64, order="C") for array in (arcs.time, arcs.ready, arcs.due, latest)
    )
    return Ground(time, ready, due, last, np.array(np.isfinite(arcs.cost)))


def make_stack(n: int, places: int = PLACES) -> Stack:
    """Room for searches of n nodes; the memory outlasts a search, for a dead end is one for any order of children."""
    words = -(-n // 64)
    return Stack(
        tour=np.zeros(n, np.int64),
        clock=np.zeros(n),
        mask=np.zeros((n, n), np.bool_),
        visited=np.zeros(words, np.uint64),
        unvisited=np.zeros(n, np.bool_),
        dead_set=np.zeros((places, words), np.uint64),
        dead_last=np.full(places, -1, np.int64),
        dead_clock=np.full(places, np.inf),
    )


@inner
def _place(stack: Stack, last: int) -> int:
    """Where the memory keeps the visited set with its last node."""
    key = np.uint64(last) * np.uint64(0xD6E8FEB86659FD93)
    for word in range(len(stack.visited)):
        key = (key ^ stack.visited[word]) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return int(key & np.uint64(len(stack.dead_last) - 1))


@inner
def _same(stack: Stack, place: int, last: int) -> bool:
    same = stack.dead_last[place] == last
    for word in range(len(stack.visited)):
        same &= stack.dead_set[place, word] == stack.visited[word]
    return same


@inner
def _known_dead(stack: Stack, last: int, clock: float) -> bool:
    place = _place(stack, last)
    return _same(stack, place, last) and stack.dead_clock[place] <= clock


@inner
def _remember(stack: Stack, last: int, clock: float) -> None:
    place = _place(stack, last)
    if not _same(stack, place, last):
        stack.dead_last[place] = last
        stack.dead_clock[place] = np.inf
        for word in range(len(stack.visited)):
            stack.dead_set[place, word] = stack.visited[word]
    stack.dead_clock[place] = min(stack.dead_clock[place], clock)


@inner
def _visit(stack: Stack, node: int, unvisited: bool) -> None:
    stack.unvisited[node] = unvisited
    stack.visited[node // 64] ^= np.uint64(1) << np.uint64(node % 64)


@inner
def _open(ground: Ground, stack: Stack, depth: int) -> None:
    """Make the mask of a partial tour."""
    n = len(ground.ready)
    here, clock, mask, unvisited = stack.tour[depth], stack.clock[depth], stack.mask[depth], stack.unvisited
    alive = clock <= ground.latest[here, 0]
    for j in range(1, n):
        mask[j] = False
        alive &= not unvisited[j] or clock <= ground.latest[here, j]
    if not alive:
        return
    for i in range(1, n):
        if unvisited[i] and ground.allowed[here, i]:
            start = max(clock + ground.time[here, i], ground.ready[i])
            good = start <= ground.due[i] and start <= ground.latest[i, 0]
            if depth == n - 2:
                good &= ground.allowed[i, 0] and start + ground.time[i, 0] <= ground.due[0]
            j = 1
            while good and j < n:
                good = not unvisited[j] or j == i or start <= ground.latest[i, j]
                j += 1
            if good:
                _visit(stack, i, False)
                good = not _known_dead(stack, i, start)
                _visit(stack, i, True)
            mask[i] = good


@tight
def first_tour(ground: Ground, stack: Stack, order: Ints, budget: int) -> tuple[int, int]:
    """Search from the depot for a tour on time; it is in ``stack.tour`` then.

    Parameters
    ----------
    ground : Ground
        The instance, n >= 2.
    stack : Stack
        Work space, with what earlier searches of the same instance remember.
    order : ndarray of int64, shape (n, n - 1)
        All customers, for each node those first that are to follow it first.
    budget : int
        Steps back until it stops.

    Returns
    -------
    outcome, backtracks : int
        One of `FOUND`, `STOPPED`, `EXHAUSTED`, and the steps back.
    """
    n = len(ground.ready)
    stack.visited[:] = np.uint64(0)
    stack.unvisited[:] = True
    stack.unvisited[0] = False
    stack.tour[0], stack.clock[0] = 0, ground.ready[0]
    depth, backtracks = 0, 0
    _open(ground, stack, 0)
    while depth < n - 1:
        here, child = stack.tour[depth], -1
        for k in range(n - 1):
            if stack.mask[depth, order[here, k]]:
                child = order[here, k]
                break
        if child >= 0:
            clock = max(stack.clock[depth] + ground.time[here, child], ground.ready[child])
            depth += 1
            stack.tour[depth], stack.clock[depth] = child, clock
            _visit(stack, child, False)
            if depth < n - 1:
                _open(ground, stack, depth)
            continue
        _remember(stack, here, stack.clock[depth])
        if depth == 0:
            return EXHAUSTED, backtracks
        if backtracks == budget:
            return STOPPED, backtracks
        backtracks += 1
        _visit(stack, here, True)
        depth -= 1
        stack.mask[depth, here] = False
    return FOUND, backtracks
