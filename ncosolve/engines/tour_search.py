"""Our own TSP engine: greedy start, 2-opt and Or-opt, local double bridges, annealed acceptance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncosolve.engines.arrays import metric_of
from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.debug import DEBUG
from ncosolve.engines.search_loop import run_searches
from ncosolve.errors import EngineError
from ncosolve.problems.tsp import TSP
from ncosolve.search.greedy_tour import greedy_tour
from ncosolve.search.metric import Metric
from ncosolve.search.neighbours import nearest
from ncosolve.search.random import seed_state
from ncosolve.search.two_opt import MISMATCH, descend, iterate, make_tour, push, tour_length

PROBLEMS = ("tsp",)
PARAMETERS = {"neighbours": 10, "start_temperature": 0.1}
"""Neighbours a node; the first temperature in mean edges of the start tour, which falls in a straight line to 0."""
SMALLEST = 8
"""Below this many nodes there is no room for a double bridge."""
CHUNK = 500
LOOKS = 10
"""While the start tour is worked off, an iteration looks at so many nodes, which takes about as long as a kick."""


def run(task: Task) -> Outcome:
    """Search until the task is over; see `ncosolve.engines.base.Engine`."""
    instance: TSP = task.instance
    if not instance.distance.symmetric or instance.n < SMALLEST:
        return _directed(task)
    metric = metric_of(instance.distance)
    lists = nearest(metric, int(task.parameters["neighbours"]))
    start = task.incumbent.answer
    order = greedy_tour(metric, lists) if start is None else np.asarray(start, np.int32)
    heat = float(task.parameters["start_temperature"])
    return Outcome(run_searches(task, lambda seed: TourSearch(metric, lists, order, heat, seed), CHUNK))


def _directed(task: Task) -> Outcome:
    """Search tours that must not be reversed, or that are too short for a double bridge."""
    from ncosolve.engines import window_search
    from ncosolve.search.patched_tour import patched_tour

    task.incumbent.offer(patched_tour(task.instance.distance.matrix()))
    return window_search.run_without_windows(task)


class TourSearch:
    """Iterated local search on one tour; see `ncosolve.engines.search_loop.Search`."""

    def __init__(
        self, metric: Metric, lists: NDArray[np.int32], order: NDArray[np.int32], heat: float, seed: int
    ) -> None:
        self._metric, self._lists, self._rng = metric, lists, seed_state(seed)
        self._tour = make_tour(order, tour_length(metric, order))
        self._temperature = heat * self._tour.length[0] / len(order)
        self._best = self._tour.order.copy()
        self.cost = float(self._tour.length[0])
        for node in order:
            push(self._tour, node)

    def advance(self, iterations: int, progress: float) -> None:
        """Work the start tour off, then make that many kicks."""
        if self._tour.ends[1] > 0:
            descend(self._metric, self._lists, self._tour, LOOKS * iterations)
        else:
            temperature = self._temperature * (1.0 - progress)
            kept = iterate(self._metric, self._lists, self._tour, self._rng, iterations, temperature, DEBUG)
            if kept == MISMATCH:
                raise EngineError("a move's gain is not what the tour's length says")
        if self._tour.length[0] < self.cost - 1e-9:
            self.cost = float(self._tour.length[0])
            self._best[:] = self._tour.order

    def best(self) -> NDArray[np.int32]:
        """The shortest tour seen at the end of a call."""
        return self._best

    def adopt(self, answer: Any) -> None:
        """Go on from a tour of another search where it is better."""
        order = np.asarray(answer, np.int32)
        length = tour_length(self._metric, order)
        if length < self.cost - 1e-9:
            self._tour = make_tour(order, length)
            self._best[:] = order
            self.cost = float(length)
