import dataclasses
import math
import threading

import numpy as np
import pytest

import ncosolve
from ncosolve import catalog
from ncosolve.deadline import Deadline
from ncosolve.engines import exact
from ncosolve.engines.base import Incumbent, Outcome
from ncosolve.errors import EngineError, Infeasible, InputError, NoSolutionFound
from ncosolve.solving import solve, solve_many

SQUARE = ncosolve.TSP(coords=[[0, 0], [0, 1], [1, 1], [1, 0]])


@pytest.fixture
def engine(monkeypatch):
    """Puts a function in the place of every engine."""

    def install(run):
        class Fake:
            PROBLEMS = ("tsp", "tsptw")

        Fake.run = staticmethod(run)
        monkeypatch.setattr(catalog.NamedSolver, "load", lambda self: Fake)

    return install


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"time_limit": -1}, "time_limit"),
        ({"time_limit": math.nan}, "time_limit"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"threads": 0}, "threads"),
        ({"max_iterations": -3}, "max_iterations"),
        ({"target": math.nan}, "target"),
        ({"device": "tpu"}, "device"),
        ({"solver": "nothing"}, "solver"),
        ({"start": [0, 1, 2]}, "start"),
        ({"start": [0, 1, 2, 2]}, "start"),
        ({"start": "abc"}, "start"),
    ],
)
def test_arguments_that_are_not_allowed_are_named(options, field):
    with pytest.raises(InputError, match=field):
        solve(SQUARE, **options)


def test_the_instance_must_be_one():
    with pytest.raises(InputError, match="instance"):
        solve(np.zeros((3, 2)))


@pytest.mark.parametrize("n", [1, 2])
def test_where_only_one_answer_exists_it_is_optimal(n):
    solution = solve(ncosolve.TSP(coords=np.arange(2.0 * n).reshape(n, 2)))
    assert solution.status == "optimal"
    assert solution.bound == solution.cost
    assert solution.gap == 0
    assert solve(ncosolve.CVRP(coords=np.zeros((n, 2)), demand=[0, 1][:n], capacity=1)).status == "optimal"


def test_a_single_answer_that_is_infeasible_is_said_so():
    late = ncosolve.TSPTW(coords=[[0, 0], [0, 9]], ready_time=[0, 0], due_date=[10, 20])
    with pytest.raises(Infeasible, match="depot cannot be reached before 18"):
        solve(late)


def test_what_is_plainly_infeasible_is_said_at_once():
    with pytest.raises(Infeasible, match="demand 7 of customer 2 is over the capacity 5"):
        solve(ncosolve.CVRP(coords=np.zeros((3, 2)), demand=[0, 1, 7], capacity=5), time_limit=60)


def test_improvements_are_seen_in_order():
    instance = ncosolve.generate("tsp", 60, seed=1)
    seen = []
    solution = solve(instance, "tour-search", time_limit=0.5, on_improvement=seen.append)
    assert [(s.cost, s.feasible) for s in seen] == [(cost, True) for _, cost in solution.history]
    assert seen[-1].cost == solution.cost
    assert all(a[0] <= b[0] for a, b in zip(solution.history, solution.history[1:], strict=False))


def test_a_start_is_improved_and_a_solution_may_be_one():
    instance = ncosolve.generate("tsp", 60, seed=1)
    start = ncosolve.Solution.of(instance, range(60))
    solution = solve(instance, "tour-search", time_limit=0.3, start=start)
    assert solution.history[0][1] == start.cost
    assert solution.cost < start.cost


def test_what_a_callback_raises_reaches_the_caller():
    def stop(solution):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        solve(ncosolve.generate("tsp", 60, seed=1), "tour-search", time_limit=30, on_improvement=stop)


def test_a_target_ends_the_search():
    instance = ncosolve.generate("tsp", 60, seed=1)
    good = solve(instance, "tour-search", time_limit=0.5).cost
    solution = solve(instance, "tour-search", time_limit=60, target=1.05 * good)
    assert solution.cost <= 1.05 * good
    assert solution.time_search < 10


def test_a_bound_that_is_met_ends_the_search():
    """On a convex polygon the 1-tree bound meets the tour."""
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    polygon = ncosolve.TSP(coords=np.column_stack([np.cos(angle), np.sin(angle)]) * 1e4, rounding="nint")
    solution = solve(polygon, "tour-search", time_limit=60)
    assert solution.status == "optimal"
    assert solution.time_search < 10


def test_iterations_alone_mean_no_time_limit():
    instance = ncosolve.generate("cvrp", 40, seed=2)
    first, again = (solve(instance, "route-search", max_iterations=3000, seed=7) for _ in range(2))
    assert first.iterations == 3000
    assert [list(map(int, r)) for r in first.routes] == [list(map(int, r)) for r in again.routes]
    assert [cost for _, cost in first.history] == [cost for _, cost in again.history]
    other = solve(instance, "route-search", max_iterations=3000, seed=8)
    assert [cost for _, cost in other.history] != [cost for _, cost in first.history]


def test_threads_exchange_and_return():
    instance = ncosolve.generate("cvrp", 80, seed=3)
    solution = solve(instance, "route-search", time_limit=1.0, threads=2)
    assert solution.feasible
    assert solution.time_search < 3.0


def test_it_works_outside_the_main_thread():
    """Where no signal handler can be set."""
    found = []
    worker = threading.Thread(target=lambda: found.append(solve(SQUARE, time_limit=1)))
    worker.start()
    worker.join()
    assert found[0].cost == 4


def test_solve_many_takes_the_same_options():
    solutions = solve_many([SQUARE, dataclasses.replace(SQUARE, name="again")])
    assert [solution.cost for solution in solutions] == [4, 4]


def test_an_answer_that_breaks_a_constraint_never_gets_through(engine):
    """The engine claims what it likes; the incumbent checks."""
    instance = ncosolve.TSPTW(
        coords=[[0, 0], [3, 0], [6, 0]], ready_time=[0, 0, 0], due_date=[100, 4, 100], service_time=[0, 0, 0]
    )

    def run(task):
        assert not task.incumbent.offer([0, 2, 1])
        assert not task.incumbent.offer([0, 1, 1])
        assert not task.incumbent.offer("nonsense")
        return Outcome(optimal=True, bound=1.0)

    engine(run)
    with pytest.raises(NoSolutionFound, match="time window: node 1, by 5") as raised:
        solve(instance)
    assert raised.value.violations == ("time window: node 1, by 5",)


def test_the_least_violating_candidate_is_told(engine):
    instance = ncosolve.TSPTW(coords=[[0, 0], [1, 0], [-1, 0]], ready_time=[0, 0, 0], due_date=[9, 1, 1.5])

    def run(task):
        for tour in ([0, 2, 1], [0, 1, 2], [0, 2, 1]):
            assert not task.incumbent.offer(tour)
        return Outcome()

    engine(run)
    with pytest.raises(NoSolutionFound) as raised:
        solve(instance)
    assert raised.value.violations == ("time window: node 2, by 1.5",)


def test_a_failing_engine_is_one_line_or_the_next_choice(engine):
    def fail(task):
        raise RuntimeError("boom")

    engine(fail)
    with pytest.raises(EngineError, match="RuntimeError: boom"):
        solve(SQUARE, time_limit=1)

    calls = []

    def second_time(task):
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("boom")
        task.incumbent.offer([0, 1, 2, 3])
        return Outcome()

    engine(second_time)
    assert solve(SQUARE, time_limit=1).cost == 4
    assert len(calls) == 2


def test_a_start_does_not_end_auto_before_the_search(monkeypatch):
    """Where the exact solver gives up, the next one goes on from the start."""
    instance = ncosolve.generate("tsp", 12, seed=1)
    monkeypatch.setitem(exact.PARAMETERS, "labels", 10)
    start = ncosolve.Solution.of(instance, np.random.default_rng(0).permutation(12))
    assert solve(instance, time_limit=0.5, start=start).solver == "tour-search"


def test_what_was_found_before_a_failure_is_kept(engine):
    def run(task):
        task.incumbent.offer([0, 1, 2, 3])
        raise RuntimeError("boom")

    engine(run)
    assert solve(SQUARE, "tour-search", time_limit=1).cost == 4


def test_a_proof_of_infeasibility_is_passed_on(engine):
    engine(lambda task: Outcome(infeasible="nodes 1 and 2 clash"))
    with pytest.raises(Infeasible, match="nodes 1 and 2 clash"):
        solve(SQUARE, time_limit=1)


def test_offers_from_many_threads_leave_a_falling_history():
    instance = ncosolve.generate("tsp", 30, seed=4)
    incumbent = Incumbent(instance, Deadline())

    def offer(seed):
        rng = np.random.default_rng(seed)
        for _ in range(50):
            incumbent.offer(rng.permutation(30))

    workers = [threading.Thread(target=offer, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    costs = [cost for _, cost in incumbent.history]
    assert costs == sorted(set(costs), reverse=True)
    assert instance.check(incumbent.answer).cost == incumbent.cost == costs[-1]


def test_vehicles_first_compares_vehicles_before_distance():
    instance = ncosolve.CVRP(
        coords=[[0, 0], [1, 0], [-1, 0], [0, 50]], demand=[0, 1, 1, 1], capacity=2, objective="vehicles"
    )
    incumbent = Incumbent(instance, Deadline())
    assert incumbent.offer([[1], [2], [3]])
    assert incumbent.offer([[1, 3], [2]])
    assert not incumbent.offer([[1], [2], [3]])


def test_tiny_costs_are_not_called_optimal_by_rounding():
    """Distances of 1e-9: a difference of six per cent is no rounding error."""
    coords = np.random.default_rng(3).random((30, 2)) * 1e-9
    solution = solve(ncosolve.TSP(coords=coords), "tour-search", max_iterations=0)
    assert solution.status == "feasible"
    assert solution.bound < solution.cost


def test_windows_have_one_tolerance():
    """What the check accepts, late by a trifle that grows with the due date, no solver calls infeasible."""
    matrix = np.array([[0, 1e7 + 5e-6, 1.0], [1, 0, 1], [1, 2e7, 0]])
    instance = ncosolve.TSPTW(matrix, ready_time=[0, 0, 0], due_date=[1e9, 1e7, 1e9])
    assert instance.check([0, 1, 2]).feasible
    for solver in ("exact", "window-search"):
        assert solve(instance, solver, time_limit=1).cost == pytest.approx(10000002.000005)


def test_many_threads_do_not_break_the_time_limit():
    solution = solve(ncosolve.generate("cvrp", 200, seed=1), "route-search", time_limit=0.2, threads=5000)
    assert solution.feasible
    assert solution.time_search < 3.0


@pytest.mark.parametrize("solver", ["route-search", "exact", "ortools", "pyvrp"])
def test_nothing_to_carry_and_nowhere_to_go(solver):
    """Zero demands, zero distances, and demands with many decimals."""
    if catalog.solvers()[solver].missing():
        pytest.skip(f"{solver} is not installed")
    matrix = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0.0]])
    assert solve(ncosolve.CVRP(matrix, demand=[0, 0, 0], capacity=1), solver, time_limit=0.5).cost == 4
    nowhere = ncosolve.CVRP(np.zeros((3, 3)), demand=[0, 0.1234567891, 0.987654321], capacity=1.5)
    assert solve(nowhere, solver, time_limit=0.5).cost == 0


def test_a_short_name_for_a_long_thing():
    solution = solve(SQUARE)
    assert repr(solution) == "Solution(TSP(n=4), cost=4, optimal)"
