"""A population of tours that converges by edge assembly crossover."""

import itertools
import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ncosolve.engines.debug import DEBUG
from ncosolve.engines.tour_ground import Ground
from ncosolve.errors import EngineError
from ncosolve.search.ab_cycles import links_of, make_scratch, order_of
from ncosolve.search.edge_assembly import count_tour, make_edges, mate
from ncosolve.search.k_opt import make_tour
from ncosolve.search.lin_kernighan import iterate, push_all, tour_length
from ncosolve.search.random import RandomState, below
from ncosolve.search.random_tour import random_tour

KICKS = 0.1
"""A first tour is kicked so many times a node, which halves the generations and misses fewer edges."""
CHILDREN = 10
"""The most children of a pair."""
STALE, STALE_SHARE, FEWEST = 50, 0.2, 15
"""A stage ends after so many generations without a better tour, or after this share of its own, the third at least."""
GENERATIONS, DIFFERENCE = 20.0, 0.35
"""Generations until it converges: about the first and the second for each edge in which first tours differ."""


class Population:
    """Local optima from random starts, kicked a little and crossed until they are one tour.

    Parameters
    ----------
    ground : Ground
        What is solved.
    rng : ndarray of uint64
        The state of the random generator.
    clock : callable
        Seconds from any moment on, without those for compiling.

    Attributes
    ----------
    tours : ndarray of int32, shape (members, n, 2)
        Links of the tours, once crossing has begun.
    lengths : ndarray of float64, shape (members,)
        Their lengths.
    edges : ndarray of int32
        How many tours have each edge; see `ncosolve.search.edge_assembly.make_edges`.
    shortest : float
        The least of them.
    done : bool
        Whether it has converged.
    start_seconds : float
        The least that a first tour took.
    pair_seconds : float
        What a pair of parents has taken on average, 0 before the first.
    """

    def __init__(self, ground: Ground, rng: RandomState, clock: Callable[[], float] = time.perf_counter) -> None:
        self._ground, self._rng, self._clock = ground, rng, clock
        n = len(ground.names)
        self._starts: list[NDArray[np.int32]] = []
        self.lengths = np.empty(0)
        self.shortest, self.done = np.inf, False
        self.start_seconds, self.pair_seconds = np.inf, 0.0
        self._state = make_tour(np.arange(n, dtype=np.int32), 0.0)
        self._pairs, self._spent = 0, 0.0

    def add(self) -> None:
        """Add a tour from a random start."""
        ground, state, rng = self._ground, self._state, self._rng
        began = self._clock()
        start = random_tour(ground.metric, ground.nearest, rng)
        state.order[:] = start
        state.position[start] = np.arange(len(start), dtype=np.int32)
        push_all(state, start)
        ground.descend(state)
        kicks = math.ceil(KICKS * len(start))
        iterate(ground.metric, ground.lists, ground.near, ground.mates, state, rng, kicks, 0.0, False)
        self.include(state.order)
        self.start_seconds = min(self.start_seconds, self._clock() - began)

    def include(self, order: NDArray[np.int32]) -> None:
        """Add a given tour."""
        links = np.empty((len(order), 2), np.int32)
        links_of(order, links)
        self._starts.append(links)

    def __len__(self) -> int:
        return len(self._starts)

    def generations(self) -> float:
        """About how many generations it will take to converge, by how much its first tours differ."""
        pairs = itertools.pairwise(self._starts[:4])
        shared = [(one[:, :, None] == other[:, None, :]).any(axis=2).mean() for one, other in pairs]
        return GENERATIONS + DIFFERENCE * (1.0 - float(np.mean(shared))) * len(self._ground.names)

    def begin(self) -> None:
        """Begin crossing, once all tours are there."""
        members, n = len(self._starts), len(self._ground.names)
        self.tours = np.stack(self._starts)
        self.lengths = np.array([tour_length(self._ground.metric, order_of(tour)) for tour in self.tours])
        self.edges, self._scratch = make_edges(n), make_scratch(n)
        for tour in self.tours:
            count_tour(self.edges, tour)
        self._ring, self._at = np.arange(members), members
        self._block, self._generation, self._stale, self._before = False, 0, 0, np.inf

    def advance(self, pairs: int) -> int:
        """Cross so many pairs, fewer where a generation ends; how many."""
        if self._at == len(self._ring):
            self._next_generation()
            if self.done:
                return 0
        last = min(self._at + pairs, len(self._ring))
        began = self._clock()
        mate(
            self._ground.metric,
            self._ground.nearest,
            self.tours,
            self.lengths,
            self._ring,
            self._at,
            last,
            self.edges,
            CHILDREN,
            self._block,
            self._scratch,
            self._rng,
        )
        self.shortest = float(self.lengths.min())
        done, self._at = last - self._at, last
        self._pairs += done
        self._spent += self._clock() - began
        self.pair_seconds = self._spent / self._pairs
        return done

    def measure(self) -> float:
        """Seconds that a pair of the first tours takes; they stay as they are."""
        trial = Population(self._ground, self._rng.copy(), self._clock)
        trial._starts = list(self._starts)
        trial.begin()
        trial.advance(1)  # loads kernels
        spent, pairs = trial._spent, trial._pairs
        trial.advance(len(trial))
        return (trial._spent - spent) / (trial._pairs - pairs)

    def best(self) -> NDArray[np.int32]:
        """The shortest tour."""
        order = order_of(self.tours[int(np.argmin(self.lengths))])
        if DEBUG and abs(tour_length(self._ground.metric, order) - self.lengths.min()) > 1e-6 * self.lengths.min():
            raise EngineError("a child's gain is not what the tour's length says")
        return order

    def _next_generation(self) -> None:
        self._generation += 1
        self._stale = 0 if self.shortest < self._before * (1.0 - 1e-9) else self._stale + 1
        self._before = self.shortest
        if self.lengths.mean() <= self.lengths.min() * (1.0 + 1e-9):
            self.done = True
        elif self._stale >= min(STALE, max(FEWEST, STALE_SHARE * self._generation)):
            self.done, self._block = self._block, True
            self._generation = self._stale = 0
        for k in range(len(self._ring) - 1, 0, -1):
            j = below(self._rng, k + 1)
            self._ring[k], self._ring[j] = self._ring[j], self._ring[k]
        self._at = 0
