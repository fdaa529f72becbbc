"""Search of very long tours: region after region is cut out, improved as a small tour, and put back.

What a kick costs then does not depend on the number of nodes. What lies outside a region stays as it is: each path
outside is a fixed edge of the small tour. Several searches share one tour; each has a stretch of it to itself.
"""

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncosolve.engines.base import Task
from ncosolve.engines.tour_ground import Field, Ground
from ncosolve.search.k_opt import WAITING, Tour, make_tour
from ncosolve.search.lin_kernighan import lengths_of, push_all, tour_length
from ncosolve.search.metric import subset
from ncosolve.search.random import RandomState, below, seed_state, uniform

SIZE = 10_000
"""The most nodes of a region."""
FEWEST = 100
"""A region with fewer nodes is left alone."""
PER_VISIT, MOST_SWEEPS = 0.5, 6
"""Kicks for each node before all regions are visited once more, which is done so many times at most."""
COOL = 0.3
"""The temperature in regions, as a share of that of whole tours: a region that became longer is not put back."""
RATE = 10_000.0
"""Kicks a second, until that is measured."""
LOOKS = 10_000
"""So many nodes are looked at between two looks at the clock."""
LONG, LONGEST, AT_ONCE, ROUNDS = 6.0, 30, 50, 15
"""An edge is long by so many mean edges; how many of them are looked at, how many kicks are made at each, and how often
that is done."""


class Board:
    """The tour that searches share, by position; no search changes the stretch of another.

    Parameters
    ----------
    ground : Ground
        What is solved.
    order : ndarray of int32, shape (n,)
        A tour in the ground's numbers.
    searches : int
        How many share it.
    """

    def __init__(self, ground: Ground, order: NDArray[np.int32], searches: int) -> None:
        n = len(order)
        self.ground, self.order, self.searches = ground, order, searches
        self.length = float(tour_length(ground.metric, order))
        self._stretch = n if searches == 1 else min(n // 3, n // (2 * (searches - 1)))  # room for one more is sure
        self._begins: list[int] = []
        self._taken: dict[int, int] = {}
        self._lock = threading.Lock()

    def descend(self, task: Task) -> None:
        """Make the tour a local optimum, as far as there is time: what joins far regions is not found inside of one."""
        ground, state = self.ground, make_tour(self.order, self.length)
        push_all(state, state.order)
        while state.counts[WAITING] > 0 and not task.over():
            ground.descend(state, LOOKS)
        self._shorten(task, state)
        self.order, self.length = state.order, float(state.length[0])

    def _shorten(self, task: Task, state: Tour) -> None:
        """Kick at the longest edges, which greedy tours have and which can only shrink by moves across all the tour."""
        ground, rng = self.ground, seed_state(task.seed)
        following = np.empty((len(state.order), 1), np.int32)
        for _ in range(ROUNDS):
            following[state.order, 0] = np.roll(state.order, -1)
            lengths = lengths_of(ground.metric, following)[:, 0]
            longest = np.argsort(-lengths)[:LONGEST].astype(np.int32)
            for spot in longest[lengths[longest] > LONG * lengths.mean()]:
                if task.over():
                    return
                ground.kick(state, rng, AT_ONCE, 0.0, np.array([spot], np.int32))

    def take(self, owner: int, rng: RandomState) -> NDArray[np.int64]:
        """The positions of a stretch that no other search has, in place of the owner's last one."""
        n, size = len(self.order), self._stretch
        with self._lock:
            self._taken.pop(owner, None)
            while True:
                for begin in self._begins:
                    if all(size <= (begin - other) % n <= n - size for other in self._taken.values()):
                        self._begins.remove(begin)
                        self._taken[owner] = begin
                        return (begin + np.arange(size)) % n
                first = below(rng, n)
                self._begins += [(first + k * size) % n for k in range(n // size)]
                self._begins += [(other + size) % n for other in self._taken.values()]

    def put(self, positions: NDArray[np.int64], path: NDArray[np.int32], gain: float) -> None:
        """Put a shorter path in the place of a stretch."""
        with self._lock:
            self.order[positions] = path
            self.length -= gain

    def copy(self) -> NDArray[np.int32]:
        """The tour as it is."""
        with self._lock:
            return self.order.copy()


@dataclass(frozen=True)
class Region(Field):
    """A small tour cut out of a path: its nodes along the path, numbered from 0, with paths outside as fixed edges.

    Attributes
    ----------
    places : ndarray of int64
        Where its nodes are on the path.
    near : ndarray of float64
        As in `ncosolve.engines.tour_ground.Field`, infinite for edges out of the region.
    state : Tour
        The small tour.
    before : float
        Its first length.
    """

    places: NDArray[np.int64]
    state: Tour
    before: float


def cells(points: NDArray[np.float64], nodes: NDArray[np.int32], rng: RandomState) -> list[NDArray[np.int32]]:
    """Divide nodes into parts that lie together, of `SIZE` nodes at most, each time by other borders."""
    if len(nodes) <= SIZE:
        return [nodes]
    here = points[nodes]
    axis = int(np.argmax(np.ptp(here, axis=0)))
    half = int(len(nodes) * (0.35 + 0.3 * uniform(rng)))
    parted = nodes[np.argpartition(here[:, axis], half)]
    return cells(points, parted[:half], rng) + cells(points, parted[half:], rng)


def cut(ground: Ground, path: NDArray[np.int32], nodes: NDArray[np.int32]) -> Region | None:
    """Cut some nodes out of a path whose ends stay where they are; None where too few are left together."""
    chosen = np.zeros(len(ground.names), np.bool_)
    chosen[nodes] = True
    inside = chosen[path]
    apart = np.ones(len(path), np.bool_)  # a node whose neighbours are outside would need two fixed edges
    apart[:-1] &= ~inside[1:]
    apart[1:] &= ~inside[:-1]
    places = np.flatnonzero(inside & ~apart)
    m = len(places)
    if m < FEWEST:
        return None
    nodes = path[places]
    local = np.full(len(ground.names), -1, np.int32)
    local[nodes] = np.arange(m, dtype=np.int32)
    lists = local[ground.lists[nodes]]
    near = np.where(lists < 0, np.inf, ground.near[nodes])
    ends = np.flatnonzero(np.diff(places, append=-1) != 1)  # the last one's next is the first
    mates = np.full(m, -1, np.int32)
    mates[ends] = (ends + 1) % m
    mates[(ends + 1) % m] = ends
    metric, order = subset(ground.metric, nodes.astype(np.int64)), np.arange(m, dtype=np.int32)
    length = tour_length(metric, order)
    return Region(metric, np.maximum(lists, 0), near, mates, places, make_tour(order, length), length)


def restored(region: Region, path: NDArray[np.int32]) -> NDArray[np.int32]:
    """The path with the region's tour put back."""
    order, places, m = region.state.order, region.places, len(region.places)
    at = region.state.position[0]
    order = np.roll(order, -at) if order[at - 1] == m - 1 else np.roll(order[::-1], at + 1 - m)
    pieces = [path[: places[0]]]
    fixed = np.flatnonzero(region.mates[order[:-1]] == order[1:])
    for begin, end in zip(np.append(0, fixed + 1), np.append(fixed, m - 1), strict=True):
        pieces.append(path[places[order[begin : end + 1]]])
        if end + 1 < m:  # what lies between two nodes outside, in the direction of the new tour
            here, there = places[order[end]], places[order[end + 1]]
            pieces.append(path[here + 1 : there] if here < there else path[there + 1 : here][::-1])
    pieces.append(path[places[-1] + 1 :])
    return np.concatenate(pieces)


class RegionSearch:
    """Local kicks in one region after another; see `ncosolve.engines.search_loop.Search`."""

    def __init__(self, task: Task, board: Board, seed: int) -> None:
        self._task, self._board, self._seed, self._rng = task, board, seed, seed_state(seed)
        self._heat = COOL * float(task.parameters["start_temperature"])
        self._cells: list[NDArray[np.int32]] = []
        self._region: Region | None = None
        self._done, self._seconds = 0, 0.0
        self._sweeps = self._visits = 0.0
        self._kicks = self._left = 0
        self.cost = board.length

    def advance(self, iterations: int, progress: float) -> int:
        """Go on with the region at hand, at a temperature that falls to 0 in it, or with the next one."""
        if self._region is None and not self._next():
            return 1
        region, board = self._region, self._board
        assert region is not None
        kicks = min(iterations, self._left)
        heat = self._heat * board.length / len(board.order) * self._left / self._kicks
        heat *= math.ceil(self._visits * board.searches / len(board.order)) / self._sweeps
        began = self._task.deadline.elapsed()
        region.kick(region.state, self._rng, kicks, heat)
        self._seconds += self._task.deadline.elapsed() - began
        self._done += kicks
        self._left -= kicks
        if self._left == 0:
            self._finish()
        return kicks

    def best(self) -> NDArray[np.int32]:
        """The shared tour; at the end with what the region at hand has gained."""
        if self._task.over(self._done):
            self._finish()
        return self._board.ground.tour(self._board.copy())

    def adopt(self, answer: Any) -> None:
        """All searches have one tour already."""

    def _next(self) -> bool:
        """Cut out the next region of the stretch and make it a local optimum; whether there was one to cut."""
        board = self._board
        if not self._cells:
            self._positions = board.take(self._seed, self._rng)
            self._path = board.order[self._positions]
            self._cells = cells(board.ground.metric.points, self._path, self._rng)
        region = self._region = cut(board.ground, self._path, self._cells.pop())
        if region is None:
            return False
        push_all(region.state, region.state.order)
        region.descend(region.state)
        self._kicks = self._left = self._share(len(region.places))
        return True

    def _share(self, nodes: int) -> int:
        """How many kicks a region of so many nodes gets, so that all are visited equally often in what time is left."""
        share = len(self._board.order) / self._board.searches
        kicks = self._affordable()
        if self._visits < 0.5 * nodes:
            self._sweeps = max(1, min(MOST_SWEEPS, int(kicks / share / PER_VISIT)))
            self._visits = self._sweeps * share
        count = max(1, int(kicks * nodes / max(self._visits, nodes)))
        self._visits -= nodes
        return count

    def _affordable(self) -> float:
        """How many kicks can be made in what is left of the budget."""
        if self._task.max_iterations is not None:
            return float(self._task.max_iterations - self._done)
        rate = self._done / self._seconds if self._seconds > 0.1 else RATE
        return min(rate * self._task.deadline.remaining(), 1e12)

    def _finish(self) -> None:
        """Put the region back, if it became shorter."""
        region, self._region = self._region, None
        if region is None:
            return
        gain = region.before - region.state.length[0]
        if gain > 1e-9 * region.before:
            self._path = restored(region, self._path)
            self._board.put(self._positions, self._path, gain)
            self.cost = self._board.length
