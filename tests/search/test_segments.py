"""Runs of customers that are each visited as one: the same kernels, on what a run looks like from outside."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routing import check, parts, problem

from ncosolve.search.metric import condensed, tabulated
from ncosolve.search.neighbours import nearest, reaches
from ncosolve.search.random import seed_state
from ncosolve.search.route_books import is_sound, load_solution, pack, unlink
from ncosolve.search.routes import BANKED, BEST, COST, Near, Stops, make_routes
from ncosolve.search.ruin_recreate import iterate


def as_one(run, visit, table):
    """Demand, ready time, due date and service time of a run: what a vehicle that visits it whole has to know."""
    demand, ready, due, service = visit[run[0]]
    for a, b in itertools.pairwise(run):
        demand += visit[b, 0]
        leg = service + table[a, b]
        # begin at `due` is allowed and at `ready` no wait is left: both moved back by the leg, never past each other
        due = min(due, visit[b, 2] - leg)
        begin = visit[b, 1] - leg
        wait = max(0.0, begin - due)
        ready = min(max(ready, begin), due)
        service = leg + wait + visit[b, 3]
    return demand, ready, due, service


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("tabled", [False, True])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_what_is_found_for_runs_holds_for_their_customers(timed, tabled, seed):
    rng = np.random.default_rng(seed)
    metric, stops, near, table = problem(40, seed, timed)
    if tabled:
        metric = tabulated(table)
    whole = make_routes(40, 39)
    iterate(metric, stops, near, whole, seed_state(seed), 50, 5.0, 6.0, False, False, True)
    runs, packed = [np.array([0])], []
    for route in parts(*unlink(whole, whole.best)):
        cuts = np.flatnonzero(rng.random(len(route) - 1) < 0.5) + 1
        packed.append(np.arange(len(runs), len(runs) + len(cuts) + 1))
        runs += np.split(route, cuts)
    inside = sum(table[a, b] for run in runs for a, b in itertools.pairwise(run))

    first, last = np.array([run[0] for run in runs]), np.array([run[-1] for run in runs])
    few = condensed(metric, first, last)
    lists = nearest(few, 10, first=1)
    visit = np.array([as_one(run, stops.visit, table) for run in runs])
    outside = Stops(visit, stops.capacity, timed, False, stops.unit)
    routes = make_routes(len(runs), 39)
    load_solution(few, outside, routes, *pack(packed))
    assert routes.counts[BANKED] == 0
    assert routes.costs[COST] + inside == pytest.approx(whole.costs[BEST])
    near = Near(lists, lists, reaches(few, lists))
    iterate(few, outside, near, routes, seed_state(seed), 200, 5.0, 4.0, False, False, True)
    assert is_sound(few, outside, routes)

    found = [np.concatenate([runs[k] for k in route]) for route in parts(*unlink(routes, routes.best))]
    load_solution(metric, stops, again := make_routes(40, 39), *pack(found))
    assert check(again, stops, table, 39) == pytest.approx(routes.costs[BEST] + inside)
