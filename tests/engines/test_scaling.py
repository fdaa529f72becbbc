"""Whole numbers for outside solvers: exact where they can be, safe and tight where they cannot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve.engines.scaling import FOREVER, ROOM, scaled
from ncosolve.errors import EngineError
from ncosolve.problems.cvrp import CVRP
from ncosolve.problems.tsp import TSP
from ncosolve.problems.tsptw import TSPTW
from ncosolve.problems.vrptw import VRPTW


def arrivals(instance, tour):
    """When service starts at each stop of a tour, the return to the depot last."""
    clock, starts = float(instance.ready_time[0]), []
    for here, there in zip(tour, [*tour[1:], tour[0]], strict=True):
        clock += float(instance.service_time[here]) if here else 0.0
        clock = max(clock + float(instance.distance.between(here, there)), float(instance.ready_time[there]))
        starts.append(clock)
    return starts


def fits_in_whole_numbers(windows, tour):
    clock = 0
    for here, there in zip(tour, [*tour[1:], tour[0]], strict=True):
        clock = max(clock + int(windows.travel[here, there]), int(windows.ready[there]))
        if clock > windows.due[there]:
            return False
    return True


def test_whole_distances_stay_as_they_are():
    numbers = scaled(TSP(coords=[[0, 0], [3, 4], [10, 0]], rounding="nint"), 10)
    assert numbers.unit == 1
    assert numbers.distance.tolist() == [[0, 5, 10], [5, 0, 8], [10, 8, 0]]


def test_decimals_are_exact_in_a_power_of_ten():
    coords = np.random.default_rng(1).integers(0, 100, (30, 2))
    instance = VRPTW(
        coords=coords,
        rounding="dimacs",
        demand=[0, *[10] * 29],
        capacity=50,
        ready_time=np.zeros(30),
        due_date=np.full(30, 12.3),
        service_time=np.full(30, 0.7),
    )
    numbers = scaled(instance, 100)
    assert numbers.unit == 10
    assert np.array_equal(numbers.distance, np.round(10 * instance.distance.matrix()))
    assert set(numbers.windows.due.tolist()) == {123}
    assert numbers.windows.travel[1, 2] == numbers.distance[1, 2] + 7
    assert numbers.windows.travel[0, 2] == numbers.distance[0, 2]  # no service at the depot
    assert numbers.loads.capacity == 50


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
def test_real_distances_keep_a_relative_precision_of_ten_digits(size):
    instance = TSP(coords=size * np.random.default_rng(2).random((50, 2)))
    numbers = scaled(instance, 100)
    table = instance.distance.matrix()
    assert np.abs(numbers.distance / numbers.unit - table).max() <= 1e-10 * table.max()
    assert 2 * 50 * float(numbers.distance.max()) <= ROOM


def test_large_whole_numbers_do_not_overflow():
    numbers = scaled(TSP(np.array([[0, 3e15, 1], [3e15, 0, 1], [1, 1, 0]])), 10)
    assert 0 < float(numbers.distance.sum()) <= ROOM


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_is_feasible_in_whole_numbers_is_feasible_for_the_check(seed, tight):
    """And a tour whose every window closes at the very moment of the visit still is feasible in whole numbers."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    coords, service, start = rng.random((n, 2)) * 10.0 ** rng.integers(-1, 4), rng.random(n), rng.normal() * 10
    ready = np.where(np.arange(n) == 0, start, start + rng.random(n))
    tour = [0, *(1 + rng.permutation(n - 1))]
    open_ended = TSPTW(coords=coords, ready_time=ready, due_date=np.full(n, np.inf), service_time=service)
    due = np.empty(n)
    due[[*tour[1:], 0]] = arrivals(open_ended, tour)
    wobble = 0.0 if tight else rng.normal(0, 1e-6, n)
    due = np.maximum(due + wobble, ready)
    instance = TSPTW(coords=coords, ready_time=ready, due_date=due, service_time=service)
    fits = fits_in_whole_numbers(scaled(instance, 100).windows, tour)
    if tight:
        assert fits
    if fits:
        assert instance.check(tour).feasible


def test_open_windows_stay_open_and_early_ones_start_at_nought():
    instance = TSPTW(np.ones((3, 3)), ready_time=[5, -3, 9], due_date=[np.inf, np.inf, 20])
    windows = scaled(instance, 10).windows
    assert windows.due.tolist() == [FOREVER, FOREVER, 15]
    assert windows.ready.tolist() == [0, 0, 4]


@pytest.mark.parametrize(("amount", "fitting"), [(0.1, 10), (1 / 3, 3), (1 / 7, 7), (0.7 / 9, 12)])
def test_loads_that_fill_a_vehicle_to_the_last_bit_fit(amount, fitting):
    demand = np.full(21, amount)
    demand[0] = 0
    instance = CVRP(coords=np.random.default_rng(3).random((21, 2)), demand=demand, capacity=1.0)
    loads = scaled(instance, 100).loads
    assert loads.demand[1 : fitting + 1].sum() <= loads.capacity
    assert loads.demand[1 : fitting + 2].sum() > loads.capacity


def test_an_overload_just_above_the_tolerance_is_seen():
    demand = [0, 0.5, 0.5 + 2e-9]
    loads = scaled(CVRP(coords=np.random.default_rng(4).random((3, 2)), demand=demand, capacity=1.0), 10).loads
    assert loads.demand.sum() > loads.capacity


def test_too_many_nodes_for_a_matrix_is_one_clear_line():
    with pytest.raises(EngineError, match=r"^11 nodes need a full distance matrix here, 10 nodes are the most$"):
        scaled(TSP(coords=np.zeros((11, 2))), 10)
