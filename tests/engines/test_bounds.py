import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncosolve
from ncosolve.deadline import Deadline
from ncosolve.engines import bounds
from ncosolve.engines.bounds import lower_bound


def brute_force(instance):
    """The cheapest feasible answer over all orders (and all ways to cut them into routes)."""
    best = np.inf
    for order in itertools.permutations(range(1, instance.n)):
        if instance.kind == "tour":
            answers = [[0, *order]]
        else:
            cuts = itertools.product([False, True], repeat=len(order) - 1)
            answers = [split(order, cut) for cut in cuts]
        for answer in answers:
            check = instance.check(instance.answer(answer))
            if check.feasible:
                best = min(best, check.cost)
    return best


def split(order, cut):
    routes = [[order[0]]]
    for node, new in zip(order[1:], cut, strict=True):
        if new:
            routes.append([])
        routes[-1].append(node)
    return routes


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["tsp", "atsp", "cvrp", "acvrp", "vrptw", "tsptw", "tspdl"]),
    st.integers(3, 5),
    st.integers(0, 10**6),
    st.sampled_from([1, 4, 100]),
    st.booleans(),
)
def test_no_bound_is_above_the_optimum(kind, n, seed, grid, sparse):
    """For every problem, symmetric or not, with duplicates, by the dense bounds and by those for many nodes."""
    rng = np.random.default_rng(seed)
    coords = rng.integers(0, grid + 1, (n, 2)).astype(float)
    distance = ncosolve.Distance("euclidean", "nint", coords)
    if kind in ("atsp", "acvrp", "tsptw"):
        distance = ncosolve.Distance(metric="matrix", weights=rng.integers(0, grid + 1, (n, n)))
    demand, wide = np.r_[0, rng.integers(0, 5, n - 1)], np.full(n, 1e4)
    match kind:
        case "tsp" | "atsp":
            instance = ncosolve.TSP(distance)
        case "cvrp" | "acvrp":
            instance = ncosolve.CVRP(distance, demand=demand, capacity=6)
        case "vrptw":
            instance = ncosolve.VRPTW(distance, demand=demand, capacity=6, ready_time=np.zeros(n), due_date=wide)
        case "tsptw":
            instance = ncosolve.TSPTW(distance, ready_time=np.zeros(n), due_date=wide)
        case _:
            instance = ncosolve.TSPDL(distance, demand=demand, draft_limit=np.full(n, demand.sum()))
    before = bounds.DENSE
    bounds.DENSE = 0 if sparse else before
    try:
        bound = lower_bound(instance, Deadline(1.0), max_iterations=30)
    finally:
        bounds.DENSE = before
    assert bound <= brute_force(instance) + 1e-9


def test_the_held_karp_bound_is_close_on_a_tsp():
    instance = ncosolve.generate("tsp", 200, seed=1)
    cost = ncosolve.solve(instance, "tour-search", time_limit=2.0).cost
    assert 0.97 * cost < lower_bound(instance, Deadline(10.0)) <= cost


def test_it_keeps_to_its_share_of_the_time():
    instance = ncosolve.generate("tsp", 1900, seed=1)
    lower_bound(instance, Deadline(1.0))
    deadline = Deadline(2.0)
    lower_bound(instance, deadline)
    assert deadline.elapsed() < 1.0


@pytest.mark.parametrize("n", [1, 2])
def test_there_is_none_where_nothing_is_to_choose(n):
    assert lower_bound(ncosolve.TSP(coords=np.zeros((n, 2))), Deadline(1.0)) is None
