import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from routing import check_links, problem

from ncosolve.search.ejection import MOST, eject
from ncosolve.search.random import seed_state
from ncosolve.search.route_books import is_sound, load_solution
from ncosolve.search.routes import ABSENT, BANK, BANKED, FIRST, LENGTH, NEXT, make_routes
from ncosolve.search.ruin_recreate import iterate


def sequences(routes):
    found = []
    for r in range(len(routes.slot)):
        found.append([])
        node = routes.slot[r, FIRST] if routes.slot[r, LENGTH] else 0
        while node:
            found[-1].append(int(node))
            node = routes.link[node, NEXT]
    return found


def fits(stops, table, route):
    if stops.visit[route, 0].sum() > stops.capacity:
        return False
    clock, here = stops.visit[0, 1], 0
    for node in [*route, 0]:
        clock = max(clock + (stops.visit[here, 3] if here else 0) + table[here, node], stops.visit[node, 1])
        if stops.timed and clock > stops.visit[node, 2] + 1e-6:
            return False
        here = node
    return True


def lightest(stops, table, found, absent, c):
    """The least weight of customers that can give way to c, by trying everything; None where nothing is possible."""
    least = None
    for route in filter(None, found):
        for count in range(min(MOST, len(route)) + 1):
            for gone in itertools.combinations(route, count):
                rest = [node for node in route if node not in gone]
                weight = sum(absent[node] + 1 for node in gone)
                if (least is None or weight < least) and any(
                    fits(stops, table, [*rest[:k], c, *rest[k:]]) for k in range(len(rest) + 1)
                ):
                    least = weight
    return least


@settings(max_examples=100, deadline=None)
@given(st.integers(5, 11), st.integers(0, 10**6), st.booleans())
def test_those_who_were_absent_least_give_way(n, seed, timed):
    metric, stops, near, table = problem(n, seed, timed)
    draw = np.random.default_rng(seed)
    routes, rng = make_routes(n, max(1, int(stops.visit[:, 0].sum() // stops.capacity))), seed_state(seed)
    load_solution(metric, stops, routes, np.empty(0, np.int64), np.zeros(1, np.int64))
    iterate(metric, stops, near, routes, rng, 20, 5.0, 6.0, True, False, True)
    if routes.counts[BANKED] == 0:
        return
    routes.work[:, ABSENT] = draw.integers(0, 6, n)
    absent, found = routes.work[:, ABSENT].copy(), sequences(routes)
    bank = {int(c) for c in routes.work[: routes.counts[BANKED], BANK]}
    placed = eject(metric, stops, routes, rng)
    left = {int(c) for c in routes.work[: routes.counts[BANKED], BANK]}
    check_links(routes, stops)
    assert is_sound(metric, stops, routes)
    if not placed:
        assert left == bank
        assert any(lightest(stops, table, found, absent, c) is None for c in bank)
        return
    (c,) = bank - left
    assert sum(absent[node] + 1 for node in left - bank) == lightest(stops, table, found, absent, c)
