"""HiGHS and SCIP as engines: right answers and bounds on programs that can be enumerated, and kept promises."""

import itertools
import math
import threading
import time

import numpy as np
import pytest
from scipy.optimize import linprog

from ncosolve import catalog
from ncosolve.deadline import Deadline
from ncosolve.engines import mip_model
from ncosolve.engines.base import Incumbent, Task
from ncosolve.errors import Infeasible, InputError
from ncosolve.problems.milp import MILP
from ncosolve.solving import solve

INF = np.inf


@pytest.fixture(params=["highs", "scip"])
def solver(request):
    if request.param == "scip":
        pytest.importorskip("pyscipopt")
    return request.param


def run(solver, instance, limit=10.0, **options):
    """Run the engine alone; the incumbent and the outcome."""
    deadline = Deadline(limit)
    incumbent = Incumbent(instance, deadline)
    if options.get("start") is not None:
        incumbent.offer(options["start"])
    outcome = catalog.find(solver, "milp").load().run(Task(instance, deadline, incumbent, **options))
    return incumbent, outcome


def random_program(seed):
    """Four bounded integer columns under inequalities, ranges, equalities and free rows; min or max; an offset."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-4, 5, (4, 4)).astype(float)
    some = rows @ rng.integers(-2, 4, 4)
    low = np.where(rng.random(4) < 0.4, -INF, some - rng.integers(0, 3, 4))
    high = np.where(rng.random(4) < 0.4, INF, some + rng.integers(0, 3, 4))
    if seed % 3 == 0:
        low[0] = high[0] = some[0]
    if seed % 4 == 0:
        low = high = rng.integers(-9, 10, 4)
    return MILP(
        np.round(rng.normal(0, 5, 4), 1),
        rows,
        low,
        high,
        lower=np.full(4, -2),
        upper=np.full(4, 3),
        integer=np.full(4, True),
        maximise=bool(seed % 2),
        offset=float(rng.integers(-5, 6)),
    )


def enumerated(instance):
    """The optimum over all whole points in the box, or None where none is feasible."""
    box = [range(int(low), int(high) + 1) for low, high in zip(instance.lower, instance.upper, strict=True)]
    points = np.array(list(itertools.product(*box)), float)
    activity = points @ instance.rows.toarray().T
    kept = ((activity >= instance.row_lower - 1e-9) & (activity <= instance.row_upper + 1e-9)).all(axis=1)
    costs = points[kept] @ instance.objective + instance.offset
    return None if not kept.any() else float(costs.max() if instance.maximise else costs.min())


def hard_program():
    """A market split problem (Cornuejols & Dawande 1998): no solver proves its optimum within minutes."""
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 100, (5, 40)).astype(float)
    rows = np.hstack([weights, np.eye(5), -np.eye(5)])
    target = np.floor(weights.sum(axis=1) / 2)
    whole = np.r_[np.ones(40, bool), np.zeros(10, bool)]
    upper = np.where(whole, 1.0, INF)
    return MILP(np.r_[np.zeros(40), np.ones(10)], rows, target, target, upper=upper, integer=whole)


def test_random_programs_end_at_the_optimum_of_an_enumeration(solver):
    seen = {"optimal": 0, "infeasible": 0}
    for seed in range(40):
        instance = random_program(seed)
        best = enumerated(instance)
        incumbent, outcome = run(solver, instance)
        if best is None:
            assert outcome.infeasible
            assert incumbent.answer is None
            seen["infeasible"] += 1
            continue
        assert outcome.optimal
        assert incumbent.cost == pytest.approx(best, abs=1e-9)
        assert outcome.bound == pytest.approx(best, abs=1e-5)
        seen["optimal"] += 1
    assert min(seen.values()) >= 3


def test_random_mixed_programs_have_the_best_continuous_part(solver):
    """One integer and three continuous columns, against one linear program by SciPy for each value of the integer."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        rows, limit = rng.random((3, 4)), 2 + 3 * rng.random(3)
        costs, offset = rng.normal(size=4), float(rng.normal())
        whole = [True, False, False, False]
        instance = MILP(
            costs, rows, np.full(3, -INF), limit, upper=np.full(4, 4.0), integer=whole, maximise=True, offset=offset
        )
        values = []
        for first in range(5):
            bounds = [(first, first), (0, 4), (0, 4), (0, 4)]
            result = linprog(-costs, A_ub=rows, b_ub=limit, bounds=bounds)
            values += [offset - result.fun] if result.status == 0 else []
        incumbent, outcome = run(solver, instance)
        assert incumbent.cost == pytest.approx(max(values), abs=1e-6)
        assert incumbent.answer[0] == round(incumbent.answer[0])
        assert outcome.optimal
        assert outcome.bound >= incumbent.cost - 1e-9


@pytest.mark.parametrize("maximise", [False, True])
def test_linear_programs_without_integers_are_proved_too(solver, maximise):
    instance = MILP([1, 2], [[1, 1], [1, -1]], [1, -1], [3.5, 1], maximise=maximise, offset=5)
    sign = -1 if maximise else 1
    rows, limits = [[1, 1], [-1, -1], [1, -1], [-1, 1]], [3.5, -1, 1, 1]
    expected = 5 + sign * linprog(sign * np.array([1, 2]), A_ub=rows, b_ub=limits).fun
    solution = solve(instance, solver=solver, time_limit=5)
    assert solution.status == "optimal"
    assert solution.cost == pytest.approx(expected)
    assert solution.bound == pytest.approx(expected)


@pytest.mark.parametrize("whole", [False, True])
def test_the_reason_of_infeasibility_names_the_rows_that_clash(solver, whole):
    names = {"row_names": ["demand", "supply", "idle"], "column_names": ["a", "b"]}
    instance = MILP(
        [1, 1], [[1, 1], [1, 0], [1, -1]], [5, -INF, -INF], [INF, 1, INF], upper=[10, 2], integer=[whole] * 2, **names
    )
    with pytest.raises(Infeasible, match="row demand, row supply, the bounds of column b") as error:
        solve(instance, solver=solver, time_limit=5)
    assert "idle" not in str(error.value)


def test_infeasible_by_integrality_alone(solver):
    with pytest.raises(Infeasible, match="proved"):
        solve(MILP([1, 1], [[2, 2]], [3], [3], integer=[True, True]), solver=solver, time_limit=5)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("maximise", [False, True])
def test_an_unbounded_objective_is_one_clear_line(solver, whole, maximise):
    costs = np.array([1.0, 2.0]) * (1 if maximise else -1)
    instance = MILP(costs, [[1, -1]], [-INF], [3.5], integer=[whole] * 2, maximise=maximise)
    with pytest.raises(InputError, match=r"^objective: is unbounded: it can be improved without limit$"):
        solve(instance, solver=solver, time_limit=5)


def test_unbounded_rays_of_an_infeasible_program_do_not_count(solver):
    instance = MILP([-1, -1], [[1, -1], [1, -1]], [1, -INF], [INF, 0], lower=[-INF, -INF])
    _, outcome = run(solver, instance)
    assert outcome.infeasible


def test_no_rows_no_columns_no_objective(solver):
    incumbent, outcome = run(solver, MILP([1, -1], np.zeros((0, 2)), [], [], upper=[3, 4.5], integer=[True, True]))
    assert incumbent.answer.tolist() == [0, 4]
    assert outcome.optimal
    incumbent, outcome = run(solver, MILP([], np.zeros((1, 0)), [-1], [1], offset=3))
    assert (incumbent.cost, outcome.optimal) == (3, True)
    _, outcome = run(solver, MILP([], np.zeros((1, 0)), [1], [2]))
    assert "row 0" in outcome.infeasible
    incumbent, outcome = run(solver, MILP([0, 0], [[1, 1]], [1], [1], integer=[True, True]))
    assert (incumbent.cost, outcome.optimal) == (0, True)
    _, outcome = run(solver, MILP([1, 1], np.zeros((1, 2)), [1], [2], integer=[True, True]))
    assert "row r0" in outcome.infeasible


def test_incumbents_stream_in_and_the_limit_holds(solver):
    began = time.perf_counter()
    incumbent, outcome = run(solver, hard_program(), 1.0)
    assert time.perf_counter() - began < 1.0 * 1.03 + 0.6
    assert len(incumbent.history) > 1
    assert incumbent.history[0][0] < 0.9
    assert not outcome.optimal
    assert outcome.bound <= incumbent.cost


def test_a_cancelled_solve_is_back_at_once_with_what_it_has(solver):
    deadline = Deadline(60)
    incumbent = Incumbent(hard_program(), deadline)
    timer = threading.Timer(0.5, deadline.cancel)
    timer.start()
    began = time.perf_counter()
    catalog.find(solver, "milp").load().run(Task(incumbent.instance, deadline, incumbent))
    timer.join()
    assert time.perf_counter() - began < 0.5 + 0.7
    assert incumbent.answer is not None


def test_no_time_gives_nothing_and_no_error(solver):
    incumbent, outcome = run(solver, hard_program(), 0.0)
    assert incumbent.answer is None
    assert outcome.bound is None


def test_a_target_ends_the_solve(solver):
    solution = solve(hard_program(), solver=solver, time_limit=20, target=2000.0)
    assert solution.cost <= 2000
    assert solution.time_total < 5


def test_a_start_is_never_made_worse(solver):
    instance = hard_program()
    first, _ = run(solver, instance, 0.7)
    again, _ = run(solver, instance, 0.3, start=first.answer)
    assert again.cost <= first.cost
    limited, _ = run(solver, instance, math.inf, start=first.answer, max_iterations=1)
    assert limited.cost <= first.cost


def test_equal_seeds_and_node_limits_give_equal_answers(solver):
    costs = {run(solver, hard_program(), math.inf, max_iterations=20, seed=5)[0].cost for _ in range(2)}
    assert len(costs) == 1


def test_threads_may_change_from_solve_to_solve(solver):
    for threads in (1, 2, 1, 3):
        incumbent, outcome = run(solver, random_program(1), threads=threads)
        assert incumbent.cost == pytest.approx(enumerated(random_program(1)))
        assert outcome.optimal


def test_nothing_is_printed(solver, capfd):
    run(solver, random_program(1))
    run(solver, MILP([1, 1], [[2, 2]], [3], [3], integer=[True, True]))
    assert capfd.readouterr() == ("", "")


def task_of(instance):
    deadline = Deadline(10)
    return Task(instance, deadline, Incumbent(instance, deadline))


def test_rounding_that_breaks_a_row_is_repaired():
    """5e-7 counts as 0 for a solver, but lets a big coefficient admit 0.5: whole, only 0 is left for the other."""
    task = task_of(MILP([1, -1], [[-1e6, 1]], [-INF], [0], integer=[True, False], upper=[1, 10]))
    mip_model.offer(task, np.array([5e-7, 0.5]))
    assert task.incumbent.answer.tolist() == [0, 0]


def test_what_no_rounding_makes_feasible_is_refused():
    task = task_of(MILP([1, -1], [[-1e6, 1]], [-INF], [0], integer=[True, False], lower=[0, 0.25], upper=[1, 10]))
    mip_model.offer(task, np.array([2e-6, 0.5]))
    assert task.incumbent.answer is None


def test_a_bound_is_never_on_the_wrong_side_of_the_incumbent():
    for maximise, sign in ((False, 1.0), (True, -1.0)):
        instance = MILP([1.0], [[1.0]], [2], [5], maximise=maximise, integer=[True])
        task = task_of(instance)
        assert mip_model.bound_of(task, INF) is None
        assert mip_model.bound_of(task, -1e20) is None
        assert mip_model.bound_of(task, 2.5) == 2.5
        task.incumbent.offer([3.0])
        assert mip_model.bound_of(task, 3 - sign) == 3 - sign
        assert mip_model.bound_of(task, 3 + sign * 1e-8) == 3
        assert mip_model.bound_of(task, 3 + sign) is None
