"""OR-Tools and PyVRP as engines: right answers on cases that can be solved by enumeration, and kept promises."""

import itertools
import math
import threading
import time

import numpy as np
import pytest

from ncosolve import catalog
from ncosolve.deadline import Deadline
from ncosolve.engines.base import Incumbent, Task
from ncosolve.errors import EngineError
from ncosolve.problems.cvrp import CVRP
from ncosolve.problems.tsp import TSP
from ncosolve.problems.tsptw import TSPTW
from ncosolve.problems.vrptw import VRPTW
from ncosolve.solving import solve

SOLVERS = ("ortools", "pyvrp")
PACKAGES = {"ortools": "ortools", "pyvrp": "pyvrp"}


@pytest.fixture(params=SOLVERS)
def solver(request):
    pytest.importorskip(PACKAGES[request.param])
    return request.param


def run(solver, instance, limit=10.0, target=None, **options):
    """Run the engine alone, without the bounds and checks of `solve`; the incumbent and the outcome."""
    deadline = Deadline(limit)
    incumbent = Incumbent(instance, deadline, target, options.pop("on_improvement", None))
    if options.get("start") is not None:
        incumbent.offer(options["start"])
    outcome = catalog.find(solver, instance.problem).load().run(Task(instance, deadline, incumbent, **options))
    return incumbent, outcome


def route_length(instance, route):
    """The length of one route by simulation in plain Python, infinite where it breaks a window or the capacity."""
    demand = getattr(instance, "demand", np.zeros(instance.n))
    if sum(demand[k] for k in route) > getattr(instance, "capacity", 0.0) * (1 + 1e-9):
        return math.inf
    timed = hasattr(instance, "due_date")
    length, clock = 0.0, instance.ready_time[0] if timed else 0.0
    for here, there in itertools.pairwise([0, *route, 0]):
        leg = float(instance.distance.between(here, there))
        length += leg
        if timed:
            clock += leg + (instance.service_time[here] if here else 0.0)
            if clock > instance.due_date[there] + 1e-9:
                return math.inf
            clock = max(clock, instance.ready_time[there])
    return length


def optimum(instance):
    """The least cost over all answers (for routes: and the fewest routes that any answer has)."""
    customers = range(1, instance.n)
    if instance.kind == "tour":
        return min(route_length(instance, order) for order in itertools.permutations(customers))
    most = instance.max_vehicles or instance.n
    best = {frozenset(): (0, 0.0)}
    single = {}
    for size in range(1, instance.n):
        for chosen in itertools.combinations(customers, size):
            single[frozenset(chosen)] = min(route_length(instance, order) for order in itertools.permutations(chosen))
    for size in range(1, instance.n):
        for chosen in map(frozenset, itertools.combinations(customers, size)):
            first = min(chosen)
            parts = [part for part in single if first in part and part <= chosen and math.isfinite(single[part])]
            options = [(best[chosen - part][0] + 1, best[chosen - part][1] + single[part]) for part in parts]
            key = None if instance.objective == "vehicles" else (lambda option: option[1])
            best[chosen] = min([option for option in options if option[0] <= most], key=key)
    return best[frozenset(customers)][1]


def random_instance(problem, seed, rounding):
    """A tiny instance with windows that bind and that some answer keeps."""
    rng = np.random.default_rng(seed)
    n = 7
    coords = rng.random((n, 2)) * 10.0 ** rng.integers(-2, 4 if rounding == "exact" else 3)
    if rounding != "exact":
        coords = coords * 1000
    if problem == "tsp":
        return TSP(coords=coords, rounding=rounding)
    if problem == "atsp":
        table = rng.random((n, n)) * 100
        return TSP(np.round(table) if rounding == "nint" else table)
    fleet = {"demand": np.r_[0, rng.integers(1, 10, n - 1)], "capacity": 17.0}
    if problem == "cvrp":
        return CVRP(coords=coords, rounding=rounding, **fleet)
    span = float(TSP(coords=coords).distance.matrix().max())
    order = [0, *(1 + rng.permutation(n - 1))]
    service = np.r_[0, rng.random(n - 1)] * span / 10
    if rounding == "nint":
        service = np.round(service)
    clock, visit, start = 0.0, np.zeros(n), 7 * span
    for here, there in itertools.pairwise(order):
        clock += service[here] + np.ceil(np.linalg.norm(coords[here] - coords[there]))
        visit[there] = clock
    ready = np.maximum(0, visit - span * rng.random(n)) + start
    due = visit + span * rng.random(n) + start
    ready[0], due[0] = start, clock + start + 3 * span
    if rounding == "nint":
        ready, due = np.floor(ready), np.ceil(due)
    windows = {"ready_time": ready, "due_date": due, "service_time": service}
    if problem == "tsptw":
        return TSPTW(coords=coords, rounding=rounding, **windows)
    return VRPTW(coords=coords, rounding=rounding, **fleet, **windows)


@pytest.mark.parametrize("rounding", ["nint", "exact"])
@pytest.mark.parametrize("problem", ["tsp", "atsp", "cvrp", "vrptw", "tsptw"])
def test_tiny_instances_end_at_the_optimum_of_an_enumeration(solver, problem, rounding):
    for seed in range(4):
        instance = random_instance(problem, seed, rounding)
        best = optimum(instance)
        solution = solve(instance, solver=solver, time_limit=4, target=best * (1 + 1e-12), seed=seed)
        assert solution.cost == pytest.approx(best, rel=1e-9)
        assert solution.time_total < 4


def test_differences_far_behind_the_point_decide(solver):
    """Truncated to integers all tours of these instances cost the same, 0 or 10 a leg."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table = rng.random((7, 7))
        for instance in (TSP(coords=1e-4 * rng.random((8, 2))), TSP(10 + 1e-4 * (table + table.T))):
            best = optimum(instance)
            incumbent, _ = run(solver, instance, 3, target=best + 1e-13)
            assert incumbent.cost == pytest.approx(best, abs=1e-12)


def test_windows_that_close_at_the_moment_of_the_visit_are_kept(solver):
    """Real travel times leave one feasible order only, with no slack at any node."""
    rng = np.random.default_rng(5)
    coords, order = rng.random((12, 2)) * 100, [0, *(1 + rng.permutation(11))]
    visit, clock = np.zeros(12), 0.0
    for here, there in itertools.pairwise(order):
        clock += math.dist(coords[here], coords[there])
        visit[there] = clock
    due = visit.copy()
    due[0] = np.inf
    incumbent, _ = run(solver, TSPTW(coords=coords, ready_time=np.zeros(12), due_date=due), 4, target=1e9)
    assert incumbent.answer.tolist() == order
    fleet = {"demand": np.r_[0, np.ones(11)], "capacity": 11, "max_vehicles": 1}
    incumbent, _ = run(solver, VRPTW(coords=coords, ready_time=visit, due_date=due, **fleet), 4, target=1e9)
    assert [route.tolist() for route in incumbent.answer] == [order[1:]]


def test_real_demands_that_fill_vehicles_exactly_are_packed(solver):
    coords = np.random.default_rng(6).random((10, 2))
    instance = CVRP(coords=coords, demand=[0, *[1 / 3] * 9], capacity=1.0, max_vehicles=3)
    incumbent, _ = run(solver, instance, 4, target=1e9)
    assert sorted(len(route) for route in incumbent.answer) == [3, 3, 3]


def test_the_vehicle_limit_binds(solver):
    """With the fewest vehicles that can carry the load, and never cheaper than with as many as one likes."""
    instance = random_instance("cvrp", 3, "exact")
    free = optimum(instance)
    total = math.ceil(instance.demand.sum() / instance.capacity)
    tight = CVRP(instance.distance, demand=instance.demand, capacity=instance.capacity, max_vehicles=total)
    best = optimum(tight)
    incumbent, _ = run(solver, tight, 4, target=best * (1 + 1e-12))
    assert len(incumbent.answer) <= total
    assert incumbent.cost == pytest.approx(best)
    assert best >= free


def test_the_objective_vehicles_comes_before_distance(solver):
    """Out and back four times is shortest, for the customers lie round the depot; one vehicle could carry all."""
    coords = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]]
    table = TSP(coords=coords).distance.matrix() * np.where(np.eye(5) == 1, 0, 1.0)
    table[1:, 1:] *= 3
    plain = {"demand": [0, 1, 1, 1, 1], "capacity": 4}
    incumbent, _ = run(solver, CVRP(table, **plain), 1)
    assert len(incumbent.answer) == 4
    incumbent, _ = run(solver, CVRP(table, **plain, objective="vehicles"), 1)
    assert len(incumbent.answer) == 1


def test_open_due_dates_and_a_late_start_of_the_depot(solver):
    coords = np.random.default_rng(7).random((7, 2))
    ready = np.array([100.0, 0, 0, 103, 0, 0, 0])
    instance = TSPTW(coords=coords, ready_time=ready, due_date=np.r_[np.inf, np.full(6, 104.0)])
    best = optimum(instance)
    incumbent, _ = run(solver, instance, 3, target=best * (1 + 1e-12))
    assert incumbent.cost == pytest.approx(best)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_the_limit_holds_at_a_thousand_nodes(solver, problem):
    """Within 5 % + 0.5 s, the building of the model and the first import included."""
    rng = np.random.default_rng(8)
    coords, demand = rng.integers(0, 1000, (1001, 2)), np.r_[0, rng.integers(1, 30, 1000)]
    tsp, cvrp = TSP(coords=coords), CVRP(coords=coords, demand=demand, capacity=250)
    began = time.perf_counter()
    incumbent, _ = run(solver, tsp if problem == "tsp" else cvrp, 2.0)
    assert time.perf_counter() - began < 2.0 * 1.05 + 0.5
    assert incumbent.answer is not None


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "vrptw", "tsptw"])
def test_a_cancelled_search_is_back_at_once_with_what_it_has(solver, problem):
    deadline = Deadline(60)
    instance = random_instance(problem, 1, "exact")
    incumbent = Incumbent(instance, deadline)
    timer = threading.Timer(0.3, deadline.cancel)
    timer.start()
    began = time.perf_counter()
    catalog.find(solver, problem).load().run(Task(instance, deadline, incumbent))
    timer.join()
    assert time.perf_counter() - began < 0.3 + 0.7
    assert incumbent.answer is not None


def test_no_time_gives_nothing_and_no_error(solver):
    incumbent, outcome = run(solver, random_instance("vrptw", 1, "exact"), 0.0)
    assert incumbent.answer is None
    assert outcome.iterations == 0


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "vrptw", "tsptw"])
def test_a_start_is_never_made_worse(solver, problem):
    instance = random_instance(problem, 2, "exact")
    best = optimum(instance)
    first, _ = run(solver, instance, 4, target=best * (1 + 1e-12))
    incumbent, _ = run(solver, instance, 0.3, start=first.answer)
    assert incumbent.cost == pytest.approx(best)


def test_the_search_goes_on_from_the_start(solver):
    """The same work from the answer of a first run gets further; from scratch it would only repeat it."""
    instance = TSP(coords=np.random.default_rng(9).random((150, 2)))
    first, _ = run(solver, instance, math.inf, max_iterations=100)
    second, _ = run(solver, instance, math.inf, max_iterations=100, start=first.answer)
    assert second.cost < first.cost


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "vrptw", "tsptw"])
def test_equal_seeds_and_iterations_give_equal_answers(solver, problem):
    instance = random_instance(problem, 4, "exact")
    costs, iterations = set(), set()
    for _ in range(2):
        incumbent, outcome = run(solver, instance, math.inf, max_iterations=30, seed=3)
        costs.add(incumbent.cost)
        iterations.add(outcome.iterations)
    assert len(costs) == 1
    assert iterations == {30}


def test_an_error_in_a_callback_comes_out_as_it_is(solver):
    """It is raised in Python code that a foreign search calls, and must neither vanish nor bring the process down."""

    def on_improvement(incumbent):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        run(solver, random_instance("tsp", 1, "exact"), 3, on_improvement=on_improvement)


def test_too_many_nodes_are_refused_with_a_reason(solver):
    with pytest.raises(EngineError, match="nodes are the most"):
        run(solver, TSP(coords=np.zeros((10_001, 2))), 5)


def test_an_instance_of_two_nodes(solver):
    incumbent, _ = run(solver, TSP(coords=[[0, 0], [3, 4]]), 0.3)
    assert incumbent.cost == 10
    incumbent, _ = run(solver, CVRP(coords=[[0, 0], [3, 4]], demand=[0, 1], capacity=1), 0.3)
    assert incumbent.cost == 10


def test_all_nodes_in_one_place(solver):
    incumbent, _ = run(solver, TSP(coords=np.ones((5, 2))), 0.3)
    assert incumbent.cost == 0


def test_nothing_is_printed(solver, capfd):
    run(solver, random_instance("vrptw", 1, "exact"), 0.3)
    run(solver, random_instance("cvrp", 1, "nint"), math.inf, max_iterations=5)
    assert capfd.readouterr() == ("", "")


def test_open_fleets_have_vehicles_for_short_distances():
    """One route could carry all, yet a route a customer is shortest; OR-Tools is told how many vehicles there are."""
    pytest.importorskip("ortools")
    angles = np.linspace(0, 2 * np.pi, 7)[:6]
    coords = np.r_[[[0, 0]], np.c_[np.cos(angles), np.sin(angles)]]
    table = TSP(coords=coords).distance.matrix().copy()
    table[1:, 1:] *= 5
    incumbent, _ = run("ortools", CVRP(table, demand=[0, *[1] * 6], capacity=6), 2, target=12.0 + 1e-9)
    assert len(incumbent.answer) == 6


def test_a_fleet_too_small_for_greedy_routes_still_starts():
    """Nearest-neighbour routes need three vehicles here, two are allowed, and OR-Tools has to find them."""
    pytest.importorskip("ortools")
    demand = [0, 5, 5, 4, 4, 3, 3]
    coords = [[0, 0], [1, 0], [1.1, 0], [1.2, 0], [1.3, 0], [1.4, 0], [1.5, 0]]
    instance = CVRP(coords=coords, demand=demand, capacity=12, max_vehicles=2)
    incumbent, _ = run("ortools", instance, 3, target=optimum(instance) * (1 + 1e-12))
    assert len(incumbent.answer) == 2
