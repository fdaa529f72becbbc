"""CVRP: cost and each violation by hand, validation, clash against random feasible answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncosolve import CVRP
from ncosolve.errors import InputError
from ncosolve.problems.base import Violation

COORDS = [(0, 0), (3, 4), (6, 8), (0, 5), (0, -2)]


def small(**changes):
    fields = {"coords": COORDS, "demand": [0, 4, 5, 2, 3], "capacity": 9}
    return CVRP(**(fields | changes))


def test_routes_are_measured_from_and_to_the_depot():
    check = small().check([[1, 2], [3, 4]])
    assert check.cost == (5 + 5 + 10) + (5 + 7 + 2)
    assert check.feasible


def test_an_overfull_route_is_named_with_the_excess():
    check = small().check([[4], [1, 2, 3]])
    assert check.violations == (Violation("capacity", 2.0, "route 1", 1),)
    assert check.cost == 2 + 2 + 5 + 5 + np.sqrt(36 + 9) + 5


def test_too_many_routes_are_named():
    check = small(max_vehicles=2).check([[1], [2], [3], [4]])
    assert [violation.constraint for violation in check.violations] == ["vehicles"]
    assert check.violations[0].worst == 2


def test_capacity_and_vehicles_can_both_be_broken():
    check = small(max_vehicles=1, capacity=8).check([[1, 2], [3, 4]])
    assert [violation.constraint for violation in check.violations] == ["capacity", "vehicles"]


def test_tenths_that_add_up_to_the_capacity_fit():
    """0.1 + 0.2 is above 0.3 in binary; that is no violation."""
    instance = CVRP(coords=COORDS[:3], demand=[0, 0.1, 0.2], capacity=0.3)
    assert instance.check([[1, 2]]).feasible
    assert instance.clash() is None


def test_vehicles_full_of_tenths_are_enough():
    """Their total, 0.6000000000000001, is no more than two vehicles of 0.3."""
    instance = CVRP(coords=COORDS, demand=[0, 0.1, 0.2, 0.1, 0.2], capacity=0.3, max_vehicles=2)
    assert instance.check([[1, 2], [3, 4]]).feasible
    assert instance.clash() is None


def test_the_objective_decides_what_is_better():
    few, short = small().answer([[1, 2], [3, 4]]), small().answer([[1], [2], [3], [4]])
    assert small().order(short, 30.0) < small().order(few, 34.0)
    fleet = small(objective="vehicles")
    assert fleet.order(few, 34.0) < fleet.order(short, 30.0)


def test_a_depot_alone_needs_no_route():
    check = CVRP(coords=[(0, 0)], demand=[0], capacity=1).check([])
    assert check.cost == 0
    assert check.feasible


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"demand": [0, 1, 1, 1]}, r"^demand: has shape \(4,\), expected \(5,\)"),
        ({"demand": [0, 1, -1, 1, 1]}, "^demand: entry 2 is -1"),
        ({"demand": [0, 1, np.nan, 1, 1]}, "^demand: entry 2 is nan"),
        ({"demand": [1, 1, 1, 1, 1]}, "^demand: of the depot is 1, expected 0"),
        ({"capacity": 0}, "^capacity: is 0"),
        ({"capacity": np.nan}, "^capacity: is nan"),
        ({"capacity": "many"}, "^capacity: is 'many'"),
        ({"max_vehicles": 0}, "^max_vehicles: is 0"),
        ({"max_vehicles": 1.5}, "^max_vehicles: is 1.5"),
        ({"objective": "time"}, "^objective: is 'time'"),
        ({"coords": None}, "^distance: "),
    ],
)
def test_bad_fields_are_refused_by_name(changes, says):
    with pytest.raises(InputError, match=says):
        small(**changes)


def test_a_demand_over_the_capacity_clashes():
    assert "customer 2" in small(capacity=4.5).clash()


def test_a_fleet_that_cannot_carry_all_clashes():
    assert "total demand 14" in small(max_vehicles=1).clash()
    assert small(max_vehicles=2).clash() is None


@given(st.data())
def test_where_some_answer_is_feasible_nothing_clashes(data):
    """Loads may fill the vehicles to the last tenth, and all of the fleet."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    n = 1 + sum(sizes)
    demand = [0.0] + [k / 10 for k in data.draw(st.lists(st.integers(0, 50), min_size=n - 1, max_size=n - 1))]
    routes = np.split(np.arange(1, n), np.cumsum(sizes)[:-1])
    full = max(sum(demand[k] for k in route) for route in routes)
    if full == 0:
        return
    instance = CVRP(coords=np.zeros((n, 2)), demand=demand, capacity=full, max_vehicles=len(routes))
    assert instance.check(routes).feasible
    assert instance.clash() is None
