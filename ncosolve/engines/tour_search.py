"""Our own TSP engine: Lin-Kernighan with local kicks, and a population crossed by edge assembly where there is time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.search_loop import run_searches
from ncosolve.engines.tour_ground import Ground, doubled, ground_of
from ncosolve.engines.tour_population import Population
from ncosolve.engines.tour_regions import Board, RegionSearch
from ncosolve.problems.tsp import TSP
from ncosolve.search.k_opt import WAITING, make_tour
from ncosolve.search.lin_kernighan import push_all, tour_length
from ncosolve.search.patched_tour import patched_tour
from ncosolve.search.random import seed_state

PROBLEMS = ("tsp",)
PARAMETERS = {"start_temperature": 0.5, "population": 300}
"""The first temperature in mean edges of the first local optimum, which falls in a straight line to 0; the most tours
that are crossed, 0 for kicks alone."""
SMALLEST, SMALLEST_DIRECTED = 8, 6
"""With fewer nodes there is no room for a double bridge."""
LARGEST_DIRECTED = 2500
"""An asymmetric instance becomes a symmetric one of twice the nodes, whose matrix takes 200 MB at this size."""
CHUNK = 100
LOOKS = 10
"""While a tour is worked off, an iteration looks at so many nodes, which takes about as long as a kick."""
KICKS = 0.05
"""The share of the budget after which a population is begun."""
FEWEST, SHARE = 12, 0.9
"""A population has so many tours at least, and is to converge within this share of what is left."""
PROBES, LEAST_WORK = 4, 3.0
"""So many tours are made before their number is decided, but only two where the time is too short for the least work:
so many times what making the fewest tours takes."""
ELITE = 10
"""So many of the tours that populations have come to are crossed with each other."""
PAIRS = 50
"""The most pairs in one call."""
LARGEST_WHOLE = 20_000
"""With more nodes, and coordinates, regions are searched one by one."""


def run(task: Task) -> Outcome:
    """Search until the task is over; see `ncosolve.engines.base.Engine`.

    An iteration is a kick, a first tour of a population, or a pair of parents.
    """
    instance: TSP = task.instance
    n, symmetric = instance.n, instance.distance.symmetric
    if symmetric and n >= SMALLEST:
        ground = ground_of(instance.distance, task.deadline, task.max_iterations)
    elif SMALLEST_DIRECTED <= n <= LARGEST_DIRECTED:
        matrix = instance.distance.matrix()
        ground = doubled(matrix, patched_tour(matrix))
    else:
        return _directed(task)
    if len(ground.metric.points) > LARGEST_WHOLE:
        board = Board(ground, first_tour(task, ground), task.threads)
        board.descend(task)
        return Outcome(run_searches(task, lambda seed: RegionSearch(task, board, seed), CHUNK))
    return Outcome(run_searches(task, lambda seed: TourSearch(task, ground, seed), CHUNK))


def _directed(task: Task) -> Outcome:
    """Search tours that are too short for a double bridge, or directed and many."""
    from ncosolve.engines import window_search

    if not task.instance.distance.symmetric:
        task.incumbent.offer(patched_tour(task.instance.distance.matrix()))
    return window_search.run_without_windows(task)


def first_tour(task: Task, ground: Ground) -> NDArray[np.int32]:
    """The incumbent or the tour that the ground is numbered along, whichever is shorter, in the ground's numbers."""
    start, order = task.incumbent.answer, np.arange(len(ground.names), dtype=np.int32)
    if start is None:
        return order
    given = ground.numbered(start)
    return given if tour_length(ground.metric, given) <= tour_length(ground.metric, order) else order


class TourSearch:
    """Kicks, populations while they can converge in time, then kicks; see `ncosolve.engines.search_loop.Search`."""

    def __init__(self, task: Task, ground: Ground, seed: int) -> None:
        self._task, self._ground, self._rng = task, ground, seed_state(seed)
        order = first_tour(task, ground)
        self._tour = make_tour(order, tour_length(ground.metric, order))
        self._best, self.cost = order, float(self._tour.length[0])
        self._most = int(task.parameters["population"]) if not len(ground.mates) else 0
        self._heat = self._hottest = float(task.parameters["start_temperature"])
        self._from, self._until = 0.0, KICKS if self._most >= FEWEST else 1.0
        self._population: Population | None = None
        self._crossing, self._pair, self._done = False, 0.0, 0
        self._elite: list[NDArray[np.int32]] = []
        push_all(self._tour, order)

    def advance(self, iterations: int, progress: float) -> int:
        """Go on with kicks, with the first tours of a population, or with its pairs."""
        if self._population is None and progress >= self._until and self._until < 1.0:
            self._population = Population(self._ground, self._rng, self._task.deadline.elapsed)
        if self._population is None:
            done = self._kick(iterations, progress)
        elif self._crossing:
            done = self._cross(self._population, min(iterations, PAIRS), progress)
        else:
            done = self._gather(self._population, progress)
        self._done += done
        return done

    def best(self) -> NDArray[np.int32]:
        """The shortest tour seen at the end of a call."""
        return self._ground.tour(self._best)

    def adopt(self, answer: Any) -> None:
        """Go on from a tour of another search where it is better."""
        order = self._ground.numbered(answer)
        if tour_length(self._ground.metric, order) < self.cost - 1e-9:
            self._keep(order)
            self._tour = make_tour(order, self.cost)
            self._elite.append(order)

    def _kick(self, iterations: int, progress: float) -> int:
        """Work the tour off, then kick it, at a temperature that falls to 0."""
        ground, tour = self._ground, self._tour
        if tour.counts[WAITING] > 0:
            ground.descend(tour, LOOKS * iterations)
        else:
            share = max(0.0, self._until - progress) / (self._until - self._from)
            heat = self._heat * share * self.cost / len(self._best)
            ground.kick(tour, self._rng, iterations, heat)
        if tour.length[0] < self.cost - 1e-9:
            self._keep(tour.order)
        return iterations

    def _gather(self, population: Population, progress: float) -> int:
        """Make one more first tour, until there are as many as can converge in time; where that is few, kick on."""
        population.add()
        timed = self._task.max_iterations is None
        if len(population) == PROBES and timed:
            self._pair = population.measure()
        least = FEWEST * LEAST_WORK * population.start_seconds
        if len(population) == 2 and timed and least > SHARE * self._task.deadline.remaining():
            self._kick_on(progress)
        elif len(population) >= PROBES:
            wanted = min(self._most, self._affordable(population))
            if wanted < FEWEST:
                self._kick_on(progress)
            elif len(population) >= wanted:
                population.begin()
                self._crossing = True
        return 1

    def _cross(self, population: Population, pairs: int, progress: float) -> int:
        done = population.advance(pairs)
        if population.shortest < self.cost - 1e-9:
            self._keep(population.best())
        if population.done:
            self._merge(population.best())
            self._crossing = False
            self._population = Population(self._ground, self._rng, self._task.deadline.elapsed)
        return done

    def _merge(self, order: NDArray[np.int32]) -> None:
        """Cross what populations, and other threads, have come to."""
        self._elite = [*self._elite[1 - ELITE :], order]
        population = Population(self._ground, self._rng, self._task.deadline.elapsed)
        for tour in self._elite:
            population.include(tour)
        population.begin()
        while not (population.done or self._task.over(self._done)):
            population.advance(PAIRS)
        if population.shortest < self.cost - 1e-9:
            self._keep(population.best())

    def _affordable(self, population: Population) -> int:
        """How many tours can converge in what is left of the budget."""
        start, pair = population.start_seconds, self._pair
        left = self._task.deadline.remaining()
        if self._task.max_iterations is not None:
            start, pair, left = 1.0, 1.0, float(self._task.max_iterations - self._done)
        return int(min(SHARE * left / (start + population.generations() * pair), 1e9))

    def _kick_on(self, progress: float) -> None:
        """Go on with kicks from the best tour to the end, more gently where populations made it."""
        if self.cost < self._tour.length[0]:
            self._tour = make_tour(self._best, self.cost)
        self._heat = self._hottest * (1.0 - progress)
        self._from, self._until, self._population = progress, 1.0 + 1e-9, None

    def _keep(self, order: NDArray[np.int32]) -> None:
        self._best = order.copy()
        self.cost = tour_length(self._ground.metric, self._best)
