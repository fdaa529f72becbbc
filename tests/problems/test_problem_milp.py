"""MILP: objective and each violation by hand, against scipy's HiGHS, validation, clash."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from ncosolve import MILP
from ncosolve.errors import InputError
from ncosolve.problems.base import Violation


def small(**changes):
    """Maximise 5x + 8y + 2 subject to x + y <= 6 and 5x + 9y <= 45, x and y whole: 42 at (0, 5)."""
    fields = {
        "objective": [5, 8],
        "rows": [[1, 1], [5, 9]],
        "row_lower": [-np.inf, -np.inf],
        "row_upper": [6, 45],
        "integer": [True, True],
        "maximise": True,
        "offset": 2.0,
    }
    return MILP(**(fields | changes))


def test_the_objective_holds_its_offset_and_its_sense():
    instance = small()
    assert instance.check([0, 5]).cost == 42
    assert instance.check([0, 5]).feasible
    assert instance.order(instance.answer([0, 5]), 42.0) < instance.order(instance.answer([3, 3]), 41.0)
    least = small(maximise=False)
    assert least.order(least.answer([0, 0]), 2.0) < least.order(least.answer([0, 5]), 42.0)


def test_highs_agrees_on_the_optimum():
    instance = small()
    found = milp(
        -instance.objective,
        constraints=LinearConstraint(instance.rows, instance.row_lower, instance.row_upper),
        bounds=Bounds(instance.lower, instance.upper),
        integrality=instance.integer,
    )
    check = instance.check(found.x)
    assert check.feasible
    assert check.cost == pytest.approx(-found.fun + instance.offset)


@pytest.mark.parametrize(
    ("values", "violation"),
    [
        ([4, 3], Violation("row", 2.0, "row 1", 2)),
        ([2.25, 3.75], Violation("integrality", 0.25, "column 0", 2)),
        ([-1, 0], Violation("bound", 1.0, "column 0", 1)),
    ],
)
def test_each_violation_is_named(values, violation):
    assert small().check(values).violations == (violation,)


def test_several_kinds_of_violation_are_all_named():
    check = small(upper=[3, 3]).check([4.5, 3])
    assert [violation.constraint for violation in check.violations] == ["row", "bound", "integrality"]


def test_ranged_and_equal_rows_bind_on_both_sides():
    instance = MILP([1], [[1], [2]], [1, 4], [3, 4])
    assert instance.check([2]).feasible
    assert [violation.worst for violation in instance.check([0]).violations] == [4.0]
    assert [violation.worst for violation in instance.check([5]).violations] == [6.0]


@pytest.mark.parametrize(("excess", "feasible"), [(5e-7, True), (2e-6, False)])
def test_rows_have_a_tolerance(excess, feasible):
    assert MILP([1], [[1]], [0], [1]).check([1 + excess]).feasible is feasible


def test_the_tolerance_grows_with_the_terms_of_the_row():
    """1e-3 on terms of 1e6 is rounding; on terms of 1 it is not."""
    assert MILP([0, 0], [[1e6, -1e6]], [0], [0]).check([1 + 1e-9, 1]).feasible
    assert not MILP([0, 0], [[1.0, -1.0]], [0], [0]).check([1 + 1e-3, 1]).feasible


def test_values_may_come_by_name():
    instance = small(column_names=["apples", "pears"])
    assert instance.answer({"pears": 5}).tolist() == [0, 5]
    with pytest.raises(InputError, match=r"column 'plums' does not exist"):
        instance.answer({"plums": 1})


def test_values_of_the_wrong_number_are_refused():
    with pytest.raises(InputError, match=r"^values: has shape"):
        small().answer([1, 2, 3])
    with pytest.raises(InputError, match=r"^values: entry 1 is nan"):
        small().answer([1, np.nan])


def test_defaults_are_nonnegative_continuous_columns():
    instance = MILP([1, 1], coo_array(([1.0], ([0], [1])), shape=(1, 2)), [0], [1])
    assert instance.lower.tolist() == [0, 0]
    assert np.isinf(instance.upper).all()
    assert not instance.integer.any()
    assert instance.column_names == ("x0", "x1")
    assert instance.row_names == ("r0",)
    assert instance.check([0.5, 0.5]).feasible


def test_no_rows_at_all_are_allowed():
    instance = MILP([1, 2], np.empty((0, 2)), [], [])
    assert instance.check([1, 1]).cost == 3
    assert instance.check([1, 1]).feasible
    assert instance.clash() is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"objective": [1]}, "^objective: has shape"),
        ({"objective": [1, np.nan]}, "^objective: entry 1 is nan"),
        ({"objective": [1, np.inf]}, "^objective: entry 1 is inf"),
        ({"rows": [["a", "b"]]}, "^rows: is not a matrix of numbers"),
        ({"rows": [[1, np.nan], [1, 1]]}, "^rows: holds a coefficient that is not finite"),
        ({"rows": [1, 2]}, "^rows: has shape"),
        ({"row_lower": [0]}, "^row_lower: has shape"),
        ({"row_upper": [0, np.nan]}, "^row_upper: entry 1 is nan"),
        ({"lower": [0]}, "^lower: has shape"),
        ({"lower": [0, np.nan]}, "^lower: entry 1 is nan"),
        ({"upper": [0]}, "^upper: has shape"),
        ({"integer": [True]}, "^integer: has shape"),
        ({"offset": np.inf}, "^offset: "),
        ({"column_names": ["x"]}, "^column_names: holds 1 different names, expected 2"),
        ({"column_names": ["x", "x"]}, "^column_names: holds 1 different names, expected 2"),
        ({"row_names": ["a", "b", "c"]}, "^row_names: holds 3 different names, expected 2"),
    ],
)
def test_bad_fields_are_refused_by_name(changes, says):
    with pytest.raises(InputError, match=says):
        small(**changes)


def test_crossed_bounds_clash():
    assert small().clash() is None
    assert "column x1 has the lower bound 3 above the upper bound 2" in small(lower=[0, 3], upper=[9, 2]).clash()
    assert "row r0 has the lower bound 7 above" in small(row_lower=[7, 0]).clash()


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_where_some_answer_is_feasible_nothing_clashes(n, m, seed):
    """Bounds are put around a random point, as tight as can be."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-5, 6, n) + rng.random(n) * rng.integers(0, 2, n)
    rows = rng.normal(size=(m, n))
    slack = rng.random((4, max(n, m))) * rng.integers(0, 2, (4, max(n, m)))
    instance = MILP(
        rng.normal(size=n),
        rows,
        rows @ x - slack[0, :m],
        rows @ x + slack[1, :m],
        lower=x - slack[2, :n],
        upper=x + slack[3, :n],
        integer=x == np.round(x),
    )
    assert instance.check(x).feasible
    assert instance.clash() is None


def test_bounds_that_cross_by_less_than_the_tolerance_do_not_clash():
    """What the check would accept is not called infeasible."""
    instance = MILP([1], [[1]], [0], [9], lower=[1 + 1e-9], upper=[1])
    assert instance.check([1]).feasible
    assert instance.clash() is None


def test_the_matrix_is_a_copy_that_cannot_be_changed():
    from scipy.sparse import csr_array

    rows = csr_array(np.array([[1.0, 2.0]]))
    milp = MILP([1, 1], rows, [0], [5], integer=[True, False])
    rows.data[0] = 99
    assert milp.rows.toarray().tolist() == [[1, 2]]
    for array in (milp.rows.data, milp.integer):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
