"""Time windows of TSPTW and VRPTW: schedules by hand and by a plain simulation, clash() against feasible answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve import TSPTW, VRPTW
from ncosolve.errors import InputError
from ncosolve.problems.base import Violation


def simulate(instance, routes):
    """The largest lateness of any visit or return, by the definition, one visit at a time."""
    late = 0.0
    for route in routes:
        clock, here = instance.ready_time[0], 0
        for there in [*route, 0]:
            service = instance.service_time[here] if here else 0.0
            clock = max(clock + service + float(instance.distance.between(here, there)), instance.ready_time[there])
            late = max(late, clock - instance.due_date[there])
            here = there
    return late


def worked_example():
    """Five customers on a line, of which a nearest-first search finds its tour after two steps back."""
    return TSPTW(
        coords=[(x, 0) for x in (0, 3, 2, -6, -2, 1)],
        ready_time=[0, 3, 3, 8, 0, 3],
        due_date=[99, 9, 10, 13, 16, 10],
    )


def test_the_worked_example_of_the_lazy_mask_search():
    check = worked_example().check([0, 2, 1, 5, 4, 3])
    assert check.cost == 2 + 1 + 2 + 3 + 4 + 6
    assert check.feasible


def test_nearest_first_is_too_late_there():
    """0, 5 waits until 3, 2 at 4, 1 at 5, 4 at 10, 3 at 14: one late."""
    check = worked_example().check([0, 5, 2, 1, 4, 3])
    assert check.violations == (Violation("time window", 1.0, "node 3", 1),)


def test_waiting_is_free_and_service_counts():
    instance = TSPTW(
        coords=[(0, 0), (1, 0), (3, 0)], ready_time=[0, 10, 0], due_date=[30, 12, 17], service_time=[0, 5, 4]
    )
    check = instance.check([0, 1, 2])  # start at 10, leave at 15, start at 17, leave at 21, home at 24
    assert check.feasible
    assert check.cost == 6
    tight = TSPTW(coords=[(0, 0), (1, 0), (3, 0)], ready_time=[0, 10, 0], due_date=[23, 12, 17], service_time=[0, 5, 4])
    assert tight.check([0, 1, 2]).violations == (Violation("time window", 1.0, "node 0", 1),)


def test_the_tour_starts_when_the_depot_opens_and_its_service_time_is_not_spent():
    instance = TSPTW(coords=[(0, 0), (2, 0)], ready_time=[5, 0], due_date=[9, 7], service_time=[3, 0])
    assert instance.check([0, 1]).feasible
    late = TSPTW(coords=[(0, 0), (2, 0)], ready_time=[5.5, 0], due_date=[9.5, 7])
    assert late.check([0, 1]).violations[0].worst == 0.5


def test_each_route_of_a_fleet_has_its_own_clock():
    fields = {"ready_time": [0, 0, 0], "due_date": [9, 2, 3], "demand": [0, 1, 1], "capacity": 5}
    instance = VRPTW(coords=[(0, 0), (2, 0), (-3, 0)], **fields)
    assert instance.check([[1], [2]]).feasible
    late = instance.check([[1, 2]])
    assert late.violations == (Violation("time window", 4.0, "node 2", 2),)  # at 7, and home at 10
    assert late.cost == 10


def test_every_kind_of_violation_of_a_fleet_is_named():
    instance = VRPTW(
        coords=[(0, 0), (2, 0), (-3, 0), (1, 0)],
        demand=[0, 3, 3, 1],
        capacity=5,
        max_vehicles=1,
        ready_time=[0, 0, 0, 0],
        due_date=[9, 2, 3, 9],
    )
    names = [violation.constraint for violation in instance.check([[1, 2], [3]]).violations]
    assert names == ["capacity", "vehicles", "time window"]


@settings(max_examples=150)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_lateness_is_that_of_a_plain_simulation(n, seed):
    """Random matrices, windows and routes, most of them late somewhere."""
    rng = np.random.default_rng(seed)
    opens = rng.integers(0, 30, n)
    instance = VRPTW(
        rng.integers(0, 20, (n, n)),
        demand=np.zeros(n),
        capacity=1,
        ready_time=opens,
        due_date=opens + rng.integers(0, 60, n),
        service_time=rng.integers(0, 5, n),
    )
    cuts = np.sort(rng.integers(0, n, rng.integers(0, 4)))
    routes = np.split(1 + rng.permutation(n - 1), cuts)
    late = simulate(instance, [route for route in routes if len(route)])
    found = instance.check(routes).violations
    assert sum(violation.worst for violation in found) == pytest.approx(late)
    one = 1 + rng.permutation(n - 1)
    tour = TSPTW(
        instance.distance,
        ready_time=instance.ready_time,
        due_date=instance.due_date,
        service_time=instance.service_time,
    )
    violations = tour.check([0, *one]).violations
    assert sum(violation.worst for violation in violations) == pytest.approx(simulate(tour, [one]))


@pytest.mark.parametrize(("late", "feasible"), [(0.0, True), (5e-7, True), (2e-6, False)])
def test_lateness_within_the_tolerance_is_none(late, feasible):
    instance = TSPTW(coords=[(0, 0), (5 + late, 0)], ready_time=[0, 0], due_date=[99, 5])
    assert instance.check([0, 1]).feasible is feasible


def test_open_ended_windows_are_allowed():
    instance = TSPTW(coords=[(0, 0), (5, 0)], ready_time=[0, 0], due_date=[np.inf, np.inf])
    assert instance.check([0, 1]).feasible
    assert instance.clash() is None


def test_a_customer_that_closes_too_early_clashes():
    instance = TSPTW(coords=[(0, 0), (5, 0), (1, 0)], ready_time=[0, 0, 0], due_date=[99, 4, 9])
    assert "node 1 cannot be reached before 5, it closes at 4" in instance.clash()


def test_a_customer_too_far_from_home_clashes():
    instance = VRPTW(
        coords=[(0, 0), (5, 0)], demand=[0, 1], capacity=1, ready_time=[0, 0], due_date=[9, 9], service_time=[0, 0]
    )
    assert "from node 1 the depot cannot be reached before 10" in instance.clash()


def test_service_counts_on_the_way_home():
    fields = {"coords": [(0, 0), (5, 0)], "ready_time": [0, 0], "due_date": [12, 9]}
    assert TSPTW(service_time=[0, 2], **fields).clash() is None
    assert "before 13, it closes at 12" in TSPTW(service_time=[0, 3], **fields).clash()


def test_a_detour_that_is_quicker_than_the_direct_way_counts():
    """Without the triangle inequality the direct way of 9 proves nothing: by node 2 it takes 2."""
    table = [[0, 9, 1], [1, 0, 1], [1, 1, 0]]
    instance = TSPTW(table, ready_time=[0, 0, 0], due_date=[20, 3, 20])
    assert instance.check([0, 2, 1]).feasible
    assert instance.clash() is None
    slow = TSPTW(table, ready_time=[0, 0, 0], due_date=[20, 3, 20], service_time=[0, 0, 5])
    assert "node 1 cannot be reached before 7" in slow.clash()


@settings(max_examples=300)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 1e4, 1e9, 1e13]))
def test_where_some_answer_is_feasible_nothing_clashes(n, seed, scale):
    """Windows are put around the schedule of random routes, as tight as can be, at any magnitude."""
    rng = np.random.default_rng(seed)
    table = rng.random((n, n)) * scale
    service = rng.random(n) * scale * rng.integers(0, 2, n)
    cuts = np.sort(rng.integers(0, n, rng.integers(0, 3)))
    routes = [route for route in np.split(1 + rng.permutation(n - 1), cuts) if len(route)]
    start = rng.random() * scale
    ready, due = np.full(n, start), np.full(n, start)
    for route in routes:
        clock, here = start, 0
        for there in route:
            clock += (service[here] if here else 0.0) + table[here, there]
            ready[there] = clock - rng.random() * rng.integers(0, 2) * scale
            due[there] = clock + rng.random() * rng.integers(0, 2) * scale
            here = there
        due[0] = max(due[0], clock + service[here] + table[here, 0])
    instance = VRPTW(
        table, demand=np.zeros(n), capacity=1, ready_time=ready, due_date=due, service_time=service, max_vehicles=n
    )
    assert instance.check(routes).feasible
    assert instance.clash() is None
    if len(routes) == 1:
        tour = TSPTW(table, ready_time=ready, due_date=due, service_time=service)
        assert tour.check([0, *routes[0]]).feasible
        assert tour.clash() is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"ready_time": [0, 1]}, "^ready_time: has shape"),
        ({"ready_time": [0, np.nan, 1]}, "^ready_time: entry 1 is nan"),
        ({"ready_time": [0, -np.inf, 1]}, "^ready_time: entry 1 is -inf"),
        ({"due_date": [9, 9]}, "^due_date: has shape"),
        ({"due_date": [9, np.nan, 9]}, "^due_date: entry 1 is nan"),
        ({"due_date": [9, 9, -1]}, "^window: of node 2 closes at -1, before it opens at 0"),
        ({"service_time": [0, -1, 0]}, "^service_time: entry 1 is -1"),
        ({"service_time": [0, np.inf, 0]}, "^service_time: entry 1 is inf"),
    ],
)
@pytest.mark.parametrize("kind", [TSPTW, VRPTW])
def test_bad_fields_are_refused_by_name(kind, changes, says):
    fields = {"coords": [(0, 0)] * 3, "ready_time": [0, 0, 0], "due_date": [9, 9, 9]} | changes
    if kind is VRPTW:
        fields |= {"demand": [0, 1, 1], "capacity": 2}
    with pytest.raises(InputError, match=says):
        kind(**fields)


def test_a_fleet_checks_its_loads_too():
    fields = {"coords": [(0, 0)] * 3, "ready_time": [0, 0, 0], "due_date": [9, 9, 9], "capacity": 2}
    assert "customer 2" in VRPTW(demand=[0, 1, 3], **fields).clash()
    with pytest.raises(InputError, match=r"^demand: "):
        VRPTW(demand=[0, 1], **fields)
