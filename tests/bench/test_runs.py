from itertools import pairwise

import pytest

from ncosolve.bench.runs import plan
from ncosolve.bench.suites import cases
from ncosolve.errors import InputError, MissingExtra


def planned(names, solvers, marks=(1.0, 2.0), seeds=2):
    return plan(cases(names)[0], solvers, marks, seeds, 1, "cpu")


def test_runs_of_one_instance_stand_together_and_everyone_comes_first_once():
    runs = planned(["att48", "gr24"], ["tour-search", "pyvrp", "ortools"], seeds=3)
    order = [run.case.name for run in runs]
    assert order == sorted(order)
    first = [runs[0].solver] + [b.solver for a, b in pairwise(runs) if (a.case, a.seed) != (b.case, b.seed)]
    assert {first.count(solver) for solver in ("tour-search", "pyvrp", "ortools")} == {2}


def test_an_anytime_solver_runs_once_and_another_one_for_each_mark():
    runs = planned(["att48"], ["tour-search", "pyvrp"], seeds=1)
    assert sorted((run.solver, run.limit) for run in runs) == [
        ("pyvrp", 2.0),
        ("tour-search", 1.0),
        ("tour-search", 2.0),
    ]


def test_solvers_are_left_out_where_they_do_not_take_the_problem():
    runs = planned(["att48", "p0033"], ["tour-search", "highs", "auto"], marks=(1.0,), seeds=1)
    assert {(run.case.name, run.solver) for run in runs} == {
        ("att48", "tour-search"),
        ("att48", "auto"),
        ("p0033", "highs"),
        ("p0033", "auto"),
    }


def test_keys_are_all_different():
    runs = planned(["att48", "gr24", "X-n101-k25"], ["auto", "pyvrp", "ortools"])
    assert len({run.key for run in runs}) == len(runs)


def test_an_unknown_solver_is_refused():
    with pytest.raises(InputError, match="'chess' is unknown"):
        planned(["att48"], ["chess"])


def test_a_solver_for_nothing_of_it_is_refused():
    with pytest.raises(InputError, match="highs: solves none of tsp"):
        planned(["att48"], ["auto", "highs"])


def test_a_missing_package_is_told_before_any_run(monkeypatch):
    monkeypatch.setattr("ncosolve.catalog.NamedSolver.missing", lambda self: list(self.needs))
    with pytest.raises(MissingExtra, match="pyvrp is not installed"):
        planned(["att48"], ["pyvrp"])


def test_variants_are_solvers_of_their_own(own_solvers):
    runs = planned(["att48"], ["same", "same@narrow"], marks=(1.0,), seeds=1)
    assert [run.solver for run in runs] == ["same", "same@narrow"]
    with pytest.raises(InputError, match="'same' has no variant 'wide', expected one of narrow"):
        planned(["att48"], ["same@wide"])
