"""From rows to gaps and tables: references, time marks, failures, variants."""

import dataclasses
import math

import numpy as np
import pytest

from ncosolve.bench import guide, sheets
from ncosolve.bench.analysis import study, variants
from ncosolve.bench.gaps import Reference, gap, matrix, outcomes, references, trajectory
from ncosolve.bench.looks import COLOURS, looks
from ncosolve.bench.statistics import NO_DIFFERENCE, TOO_FEW, WORSE
from ncosolve.bench.table import Row

ROW = Row(
    problem="cvrp",
    instance="a",
    n=100,
    solver="first",
    used="first",
    seed=0,
    limit=10.0,
    threads=1,
    device="auto",
    anytime=True,
    status="feasible",
    cost=110.0,
    bound=None,
    maximise=False,
    best_known=100.0,
    valid=True,
    reason="",
    wall=10.0,
    compiling=0.0,
    cpu=9.0,
    memory=200.0,
    iterations=5,
    history=((0.5, 150.0), (2.0, 120.0), (8.0, 110.0)),
    solution="",
    source="{}",
    parameters="[]",
    machine="m",
    versions="v1",
    started="",
)


def row(**changes):
    cost = changes.get("cost", ROW.cost)
    if "history" not in changes and cost != ROW.cost:
        changes["history"] = () if cost is None else ((1.0, cost),)
    if cost is None:
        changes = {"status": "no_solution", "valid": False, **changes}
    return dataclasses.replace(ROW, **changes)


def only(found):
    (problem,) = found.problems
    return problem


def summaries(rows, **options):
    return {each.solver: each for each in only(study(rows, **options)).marks[-1].summaries}


def test_gaps_are_against_the_best_known_cost_and_may_be_negative():
    assert gap(110.0, Reference(100.0, True), False) == pytest.approx(0.1)
    assert gap(95.0, Reference(100.0, True), False) == pytest.approx(-0.05)
    assert gap(110.0, Reference(100.0, True), True) == pytest.approx(-0.1)
    assert gap(-90.0, Reference(-100.0, True), False) == pytest.approx(0.1)
    assert gap(100.00005, Reference(100.0, True), False) == 0.0
    assert gap(900.0, Reference(100.0, True), False) == 1.0
    assert gap(None, Reference(100.0, True), False) == 1.0
    assert gap(5.0, None, False) == 1.0


def test_against_a_best_known_cost_of_0_everything_else_counts_in_full():
    zero = Reference(0.0, True)
    assert gap(0.0, zero, False) == 0.0
    assert gap(3.0, zero, False) == 1.0
    assert gap(-3.0, zero, False) == -1.0
    assert gap(3.0, zero, True) == -1.0
    found = summaries([row(best_known=0.0, cost=0.0), row(best_known=0.0, cost=2.0, solver="second")])
    assert (found["first"].median, found["second"].median) == (0.0, 1.0)


def test_without_a_best_known_cost_the_best_valid_one_of_the_table_stands_in():
    rows = [
        row(best_known=None, cost=120.0),
        row(best_known=None, cost=105.0, solver="second"),
        row(best_known=None, cost=90.0, solver="cheat", valid=False),
        row(best_known=None, cost=None, solver="none"),
        row(instance="b"),
    ]
    assert references(rows) == {"a": Reference(105.0, False), "b": Reference(100.0, True)}
    problem = only(study(rows))
    assert problem.unpublished == ["a"]
    assert "On 1 instance without a best-known cost" in guide.facts(problem)


def test_maximisation_has_the_largest_cost_as_reference():
    rows = [
        row(problem="milp", maximise=True, best_known=None, cost=80.0),
        row(problem="milp", maximise=True, best_known=None, cost=100.0, solver="second"),
        row(problem="milp", maximise=False, best_known=None, cost=None, status="failed", solver="third"),
    ]
    assert references(rows) == {"a": Reference(100.0, False)}
    found = summaries(rows)
    assert [found[name].median for name in ("first", "second", "third")] == pytest.approx([0.2, 0.0, 1.0])


def test_a_mark_is_read_from_the_history_of_a_longer_run():
    known = {"a": Reference(100.0, True)}

    def cost_at(mark, *rows):
        return [each.cost for each in outcomes(rows, mark, known)]

    assert cost_at(3.0, row()) == [120.0]
    assert cost_at(2.0, row()) == [120.0]
    assert cost_at(0.1, row()) == [None]
    assert cost_at(10.0, row()) == [110.0]
    assert cost_at(11.0, row()) == []
    assert cost_at(3.0, row(anytime=False)) == []
    assert cost_at(3.0, row(valid=False)) == [None]


def test_a_run_with_the_mark_as_its_limit_comes_before_any_history():
    own = row(limit=2.0, cost=130.0, history=((1.0, 130.0),))
    longer, longest = row(limit=10.0), row(limit=60.0, history=((1.0, 101.0),))
    known = references([own])
    for rows in ([own, longer], [longer, own]):
        (found,) = outcomes(rows, 2.0, known)
        assert (found.cost, found.own) == (130.0, True)
    (found,) = outcomes([longest, longer], 2.0, known)
    assert (found.cost, found.own) == (120.0, False)


def test_marks_are_the_limits_and_those_asked_for():
    rows = [row(), row(limit=60.0, solver="second", anytime=False)]
    problem = only(study(rows, marks=[3.0, 500.0]))
    assert [(mark.seconds, mark.solvers) for mark in problem.marks] == [
        (3.0, ("first",)),
        (10.0, ("first",)),
        (60.0, ("second",)),
    ]


def test_an_answer_of_a_run_that_was_late_counts_and_is_counted_as_late():
    found = summaries([row(wall=11.0), row(wall=10.59, seed=1), row(seed=2, wall=30.0, cost=None, status="failed")])
    assert (found["first"].late, found["first"].failures, found["first"].runs) == (1, 1, 3)
    assert found["first"].wall == pytest.approx(10.795)


def test_invalid_answers_are_failures_and_count_as_100_per_cent():
    found = summaries([row(valid=False, cost=100.0), row(seed=1)])
    assert found["first"].failures == 1
    assert found["first"].mean == pytest.approx((1.0 + 0.1) / 2)
    assert found["first"].at_best == 0.0


def test_seeds_are_averaged_within_an_instance_before_anything_else():
    rows = [row(cost=100.0 + 10 * seed, seed=seed) for seed in range(3)] + [row(instance="b", cost=150.0)]
    found = summaries(rows)["first"]
    assert (found.instances, found.runs) == (2, 4)
    assert (found.median, found.mean) == pytest.approx((0.3, 0.3))
    assert found.worst == pytest.approx(0.5)
    assert found.at_best == 0.25


def test_time_to_the_best_known_cost_is_when_it_was_first_met():
    history = ((1.0, 130.0), (4.0, 100.00001), (6.0, 100.0))
    rows = [row(cost=100.0, history=history), row(seed=1, cost=99.0, history=((2.0, 99.0),)), row(seed=2)]
    found = summaries(rows)["first"]
    assert found.at_best == pytest.approx(2 / 3)
    assert found.time_to_best == 3.0
    assert summaries([row()])["first"].time_to_best is None
    assert summaries([row(cost=100.0, history=(), wall=7.0)])["first"].time_to_best == 7.0


def test_what_was_measured_of_a_longer_run_is_not_that_of_a_mark():
    first, last = only(study([row()], marks=[3.0])).marks
    assert (first.summaries[0].wall, first.summaries[0].memory, first.summaries[0].late) == (None, None, 0)
    assert (last.summaries[0].wall, last.summaries[0].cpu, last.summaries[0].memory) == (10.0, 9.0, 200.0)


def many(solver, factor, instances=12, **changes):
    return [
        row(
            instance=f"i{k:02}", n=10 + k, solver=solver, seed=seed, cost=100 + factor * (k + 1 + 0.1 * seed), **changes
        )
        for k in range(instances)
        for seed in range(2)
    ]


def test_everyone_is_compared_with_the_first_solver_asked_for():
    rows = many("slow", 2.0) + many("good", 1.0) + many("same", 1.0)
    mark = only(study(rows, ["good", "absent", "same"])).marks[0]
    assert mark.solvers == ("good", "same", "slow")
    assert mark.summaries[0].contrast is None
    drawn = {each.solver: each.comparison for each in mark.contrasts}
    assert drawn["slow"].verdict == WORSE
    assert (drawn["slow"].wins, drawn["slow"].ties, drawn["slow"].losses) == (0, 0, 12)
    assert (drawn["same"].verdict, drawn["same"].ties) == (NO_DIFFERENCE, 12)


def test_few_instances_get_no_verdict():
    (contrast,) = only(study(many("a", 1.0, 5) + many("b", 2.0, 5))).marks[0].contrasts
    assert contrast.comparison.verdict == TOO_FEW


def test_only_instances_in_common_are_compared():
    rows = [*many("a", 1.0), *(each for each in many("b", 2.0) if each.instance < "i08")]
    found = study(rows)
    (contrast,) = only(found).marks[0].contrasts
    assert contrast.comparison.instances == 8
    assert any("not every solver was run on every instance" in warning for warning in found.warnings)


def test_solvers_with_no_instance_in_common_are_not_judged():
    rows = [*many("a", 1.0), *(dataclasses.replace(each, instance=f"x{each.instance}") for each in many("b", 2.0))]
    (contrast,) = only(study(rows)).marks[0].contrasts
    assert (contrast.comparison.instances, contrast.comparison.verdict) == (0, TOO_FEW)
    assert math.isnan(contrast.comparison.mean)


def test_each_solver_is_compared_with_its_own_variant_on_every_problem_and_mark():
    rows = [*many("x", 3.0), *many("net", 1.0), *many("net@classical", 2.0)]
    rows += [dataclasses.replace(each, problem="tsp") for each in rows]
    pairs = study(rows, marks=[5.0]).pairs
    assert [(each.problem, each.seconds, each.solver, each.against) for each in pairs] == [
        (problem, seconds, "net", "net@classical") for problem in ("cvrp", "tsp") for seconds in (5.0, 10.0)
    ]
    assert all(each.comparison.mean < 0 for each in pairs)
    assert all(each.comparison.verdict == "better" for each in pairs)
    assert study(many("net@classical", 1.0)).pairs == ()


def test_variants_and_their_colours():
    names = ["a", "b@x", "a@x", "a@y [4 threads]", "a [4 threads]", "b"]
    assert variants(names) == [("b", "b@x"), ("a", "a@x"), ("a [4 threads]", "a@y [4 threads]")]
    found = looks(names)
    assert found["a"].colour == found["a@x"].colour != found["b"].colour == found["b@x"].colour
    assert found["a@x"].hollow
    assert not found["a"].hollow
    crowd = looks([f"s{k}" for k in range(2 * len(COLOURS))])
    assert len({(look.colour, look.dash, look.symbol) for look in crowd.values()}) == 2 * len(COLOURS)


def test_numbers_of_threads_are_told_apart():
    found = study([row(), row(threads=4, cost=105.0)], ["first"])
    assert found.solvers == ("first [1 threads]", "first [4 threads]")
    assert [each.median for each in only(found).marks[0].summaries] == pytest.approx([0.1, 0.05])


def test_a_run_that_was_done_again_counts_once():
    assert summaries([row(cost=150.0), row(cost=120.0)])["first"].mean == pytest.approx(0.2)


def test_what_makes_a_comparison_doubtful_is_said():
    rows = [
        row(),
        row(seed=1, versions="v2"),
        row(solver="second", machine="other"),
        row(solver="third", source='{"file": "elsewhere"}', best_known=99.0),
    ]
    text = "\n".join(study(rows).warnings)
    assert "first: its runs are of different versions: v1; v2" in text
    assert "different machines: m; other" in text
    assert "CVRP a: its runs read it from different sources" in text
    assert "CVRP a: its runs state different best-known costs" in text
    assert study([row(), row(seed=1)]).warnings == ()


def test_instances_that_nobody_solved_are_ties_and_named():
    rows = [row(best_known=None, cost=None), row(best_known=None, cost=None, solver="second")]
    problem = only(study(rows))
    assert problem.marks[0].gaps.tolist() == [[1.0, 1.0]]
    assert "On 1 instance no run found a valid answer: a." in guide.facts(problem)


def test_a_trajectory_steps_down_from_100_per_cent_to_the_answer():
    times = np.array([0.1, 0.5, 1.9, 2.0, 9.0, 10.0, 99.0])
    reference = Reference(100.0, True)
    assert trajectory(row(), reference, times) == pytest.approx([1.0, 0.5, 0.5, 0.2, 0.1, 0.1, 0.1])
    assert trajectory(row(cost=None), reference, times).tolist() == [1.0] * 7
    assert trajectory(row(history=()), reference, times) == pytest.approx([1.0] * 5 + [0.1, 0.1])


def test_matrix_holds_nothing_where_nothing_was_run():
    found = outcomes([row(), row(solver="second", instance="b")], 10.0, {"a": Reference(100.0, True)})
    gaps = matrix(found, ["a", "b"], ["first", "second"])
    assert np.isnan(gaps).tolist() == [[False, True], [True, False]]


def texts(sheet):
    return [[cell.text for cell in line] for line in sheet.rows]


def test_the_best_values_of_a_column_are_marked_unless_all_are_the_same():
    rows = [row(), row(solver="second", cost=105.0), row(solver="third", cost=105.0)]
    headline = sheets.headline(study(rows))
    titles = [column.title for column in headline.columns]
    medians = [line[titles.index("Median gap %")] for line in headline.rows]
    assert [(cell.text, cell.best) for cell in medians] == [("10.00", False), ("5.00", True), ("5.00", True)]
    alone = sheets.headline(study([row()]))
    assert not any(cell.best for line in alone.rows for cell in line)
    assert texts(alone) == [["CVRP", "10 s", "1", "first", "10.00", "10.00", "0", "–", "reference"]]


def test_troubles_share_a_line_where_only_the_seed_differs():
    rows = [row(seed=seed, cost=None, status="failed", reason="killed", wall=3.0 + seed) for seed in range(3)]
    rows += [row(solver="second", wall=12.0), row(solver="third", valid=False), row(solver="fourth")]
    assert texts(sheets.troubles(only(study(rows)))) == [
        ["first", "a", "10 s", "0, 1, 2", "5.00 s", "failed", "killed"],
        ["second", "a", "10 s", "0", "12.0 s", "late", "–"],
        ["third", "a", "10 s", "0", "10.0 s", "invalid answer", "–"],
    ]
