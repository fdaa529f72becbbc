"""The kernels that are measured: each has sizes, a set-up, and a bout of work that is the same in every run."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

import ncosolve
from ncosolve.deadline import Deadline
from ncosolve.engines.arrays import metric_of
from ncosolve.engines.base import Incumbent, Task
from ncosolve.engines.exact import tour_form
from ncosolve.engines.route_search import PARAMETERS as ROUTE_PARAMETERS
from ncosolve.engines.route_search import Plan
from ncosolve.engines.tour_ground import Ground, prepare
from ncosolve.engines.tour_population import CHILDREN, Population
from ncosolve.engines.tour_search import PARAMETERS as TOUR_PARAMETERS
from ncosolve.engines.window_search import LEEWAY, TEMPERATURES
from ncosolve.search import ruin_recreate
from ncosolve.search.ab_cycles import make_scratch
from ncosolve.search.candidates import WIDE, ascend, sparse_graph
from ncosolve.search.edge_assembly import mate
from ncosolve.search.greedy_tour import GREEDY, greedy_tour
from ncosolve.search.k_opt import Tour, make_tour
from ncosolve.search.label_setting import Arcs, Labels, Limits, LookAhead, grow
from ncosolve.search.lin_kernighan import FREE, descend, iterate, push_all, tour_length
from ncosolve.search.metric import Metric
from ncosolve.search.neighbours import nearest
from ncosolve.search.random import seed_state
from ncosolve.search.route_books import load_solution
from ncosolve.search.routes import make_routes
from ncosolve.search.savings import savings_routes
from ncosolve.search.time_warp import cost_scale, make_state, make_windows
from ncosolve.search.types import Bools, Int32s
from ncosolve.search.windowed_tour import improve

SEED = 1
"""Of every instance and every search."""
SIZES = 200, 1000, 5000
STEPS = 50
"""One-trees a bout."""
KICKS, ITERATIONS, WINDOW_ITERATIONS = 2000, 2000, 1000
"""Steps of the searches a bout, which make about 0.1 s."""
WARMTH = 0.5
"""The temperature of the route search, in its units: that of the middle of a run."""
MEMBERS = 20
"""Tours of a population."""
BEFORE = 10
"""Bouts by which a search is advanced first, so that it is timed away from its start."""
OPTIONS: dict[str, dict[str, Any]] = {
    "cvrp": {"depot": "centre", "customers": "random", "demand": "1-100", "route_length": 10.0},
    "tsptw": {"hardness": "medium"},
    "tspdl": {"hardness": "medium"},
}
"""What a seed must not pick anew for each size, and windows that leave a search room."""

Bout = Callable[[], int]
"""Does its work once and returns how many units that was."""


@dataclass(frozen=True)
class Kernel:
    """What is measured at which numbers of nodes, what its rate counts, and the set-up, which is not timed."""

    name: str
    unit: str
    sizes: tuple[int, ...]
    prepare: Callable[[int], Bout]


def rewound(state: tuple[Any, ...], advance: Callable[[], object], units: int) -> Bout:
    """A bout of a search whose arrays are set back first: every bout takes the same steps from the same place."""
    for _ in range(BEFORE):
        advance()
    start = [array.copy() for array in state]

    def bout() -> int:
        for array, first in zip(state, start, strict=True):
            array[...] = first
        advance()
        return units

    return bout


def instance(problem: str, n: int) -> Any:
    return ncosolve.generate(problem, n, SEED, **OPTIONS.get(problem, {}))


@cache
def tsp(n: int) -> tuple[Metric, Int32s, Ground]:
    """What the tour search begins with: distances, neighbour lists, candidates along a greedy tour."""
    metric = metric_of(instance("tsp", n).distance)
    lists = nearest(metric, WIDE)
    return metric, lists, prepare(metric)


def neighbour_lists(n: int) -> Bout:
    metric, lists, _ = tsp(n)
    return lambda: len(nearest(metric, lists.shape[1]))


def greedy(n: int) -> Bout:
    metric, lists, _ = tsp(n)
    return lambda: len(greedy_tour(metric, lists[:, :GREEDY]))


def candidates(n: int) -> Bout:
    metric, lists, _ = tsp(n)
    graph = sparse_graph(metric, lists, greedy_tour(metric, lists[:, :GREEDY]))

    def bout() -> int:
        ascend(graph, np.zeros(n), STEPS, 0.0)
        return STEPS

    return bout


def queued_tour(ground: Ground) -> Tour:
    """The greedy tour with every node still to be looked at."""
    order = np.arange(len(ground.names), dtype=np.int32)
    tour = make_tour(order, tour_length(ground.metric, order))
    push_all(tour, order)
    return tour


def descent(n: int) -> Bout:
    ground = tsp(n)[2]

    def bout() -> int:
        descend(ground.metric, ground.lists, ground.near, FREE, queued_tour(ground))
        return n

    return bout


def kicks(n: int) -> Bout:
    ground = tsp(n)[2]
    tour, rng = queued_tour(ground), seed_state(SEED)
    descend(ground.metric, ground.lists, ground.near, FREE, tour)
    heat = 0.5 * TOUR_PARAMETERS["start_temperature"] * tour.length[0] / n
    advance = partial(iterate, ground.metric, ground.lists, ground.near, FREE, tour, rng, KICKS, heat, False)
    return rewound((*tour, rng), advance, KICKS)


def pairs(n: int) -> Bout:
    """The first generation, from the same tours in every bout."""
    ground, rng = tsp(n)[2], seed_state(SEED)
    population = Population(ground, rng)
    for _ in range(MEMBERS):
        population.add()
    population.begin()
    state = population.tours, population.lengths, population.edges, rng
    first = [array.copy() for array in state]
    ring, scratch = np.arange(MEMBERS), make_scratch(n)

    def bout() -> int:
        for array, start in zip(state, first, strict=True):
            array[...] = start
        tours, lengths, edges, _ = state
        mate(ground.metric, ground.nearest, tours, lengths, ring, 0, MEMBERS, edges, CHILDREN, False, scratch, rng)
        return MEMBERS

    return bout


@cache
def plan(problem: str, n: int) -> Plan:
    """What the route search begins with: distances, stops, lists, start."""
    given, deadline = instance(problem, n), Deadline()
    return Plan(Task(given, deadline, Incumbent(given, deadline), parameters=ROUTE_PARAMETERS))


def savings(n: int) -> Bout:
    given = plan("cvrp", n)

    def bout() -> int:
        savings_routes(given.metric, given.stops, given.near.ruin, make_routes(n, n - 1), True)
        return n

    return bout


def ruin_and_recreate(problem: str, n: int) -> Bout:
    given, rng = plan(problem, n), seed_state(SEED)
    routes = make_routes(n, given.fleet)
    load_solution(given.metric, given.stops, routes, *given.start)
    state = given.metric, given.stops, given.near, routes, rng
    ruin_recreate.iterate(*state, 1, 0.0, 0.0, False, False, False)  # places whom the start leaves out
    temperature = given.stops.unit * WARMTH
    how = ITERATIONS, temperature, given.removals, False, False, False
    return rewound((*routes, rng), partial(ruin_recreate.iterate, *state, *how), ITERATIONS)


def windowed_tour(problem: str, n: int) -> Bout:
    arcs = tour_form(instance(problem, n), LEEWAY).arcs
    windows = make_windows(arcs.cost, arcs.time, arcs.ready, arcs.due)
    state = make_state(windows, np.append(0, 1 + np.argsort(arcs.due[1:], kind="stable")), SEED)
    temperature = cost_scale(windows) * math.sqrt(math.prod(TEMPERATURES))
    advance = partial(improve, windows, state, WINDOW_ITERATIONS, temperature, False)
    return rewound(state, advance, WINDOW_ITERATIONS)


def label_setting(n: int) -> Bout:
    """All labels of a TSP, where only dominance drops any."""
    cost = instance("tsp", n).distance.matrix()
    arcs = Arcs(cost, np.zeros((n, n)), np.zeros(n), np.full(n, np.inf))
    must = LookAhead(np.full((n, n), np.inf))

    def bout() -> int:
        made = 0

        def keep(labels: Labels) -> Bools:
            nonlocal made
            made += len(labels)
            return must.possible(labels)

        grow(arcs, keep, Limits(10_000_000))
        return made

    return bout


KERNELS = (
    Kernel("neighbour-lists", "nodes", SIZES, neighbour_lists),
    Kernel("greedy-tour", "nodes", SIZES, greedy),
    Kernel("descent", "nodes", SIZES, descent),
    Kernel("kicks", "kicks", SIZES, kicks),
    Kernel("pairs", "pairs", SIZES, pairs),
    Kernel("candidates", "steps", SIZES, candidates),
    Kernel("savings", "nodes", SIZES, savings),
    Kernel("cvrp", "iterations", SIZES, partial(ruin_and_recreate, "cvrp")),
    Kernel("vrptw", "iterations", SIZES, partial(ruin_and_recreate, "vrptw")),
    Kernel("tsptw", "iterations", SIZES[:2], partial(windowed_tour, "tsptw")),
    Kernel("tspdl", "iterations", SIZES[:2], partial(windowed_tour, "tspdl")),
    Kernel("label-setting", "labels", (12, 14, 16), label_setting),
)
