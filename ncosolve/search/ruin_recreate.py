"""Ruin and recreate by strings for CVRP and VRPTW (Christiaens and Vanden Berghe 2020), with granular insertion."""

import math

import numpy as np

from ncosolve.search.jit import inner, tight
from ncosolve.search.metric import Metric, distance
from ncosolve.search.random import RandomState, below, uniform
from ncosolve.search.routes import (
    ABSENT,
    BANK,
    BANKED,
    BEST,
    COST,
    DEMAND,
    DUE,
    FIRST,
    ITERATION,
    LENGTH,
    LOGGED_SLOTS,
    LOGGED_STOPS,
    NEXT,
    PENDING,
    PREV,
    READY,
    ROUTE,
    RUINED,
    USED,
    Routes,
    Stops,
    fits,
    insert,
    keep_best,
    mark_changes,
    remove,
    renew_times,
    total_cost,
    undo,
)
from ncosolve.search.types import Int32s

LONGEST_STRING = 10
BLINK = 0.01
"""The probability of overlooking a place, which diversifies the insertion."""
SCAN_LIMIT = 3000
"""Up to this many nodes every route is tried where no neighbour's route has room."""
EPSILON = 1e-9
MISMATCH = -1
"""What `iterate` returns when its books are wrong (debug only)."""


@inner
def _ruin(
    metric: Metric, stops: Stops, lists: Int32s, routes: Routes, rng: RandomState, removals: float
) -> tuple[float, int]:
    """Remove strings of customers near a random one; they become pending. The change in cost."""
    customers = routes.link.shape[0] - 1
    now = routes.counts[ITERATION]
    longest = min(float(LONGEST_STRING), customers / max(1, routes.counts[USED]))
    strings = int(uniform(rng) * (4.0 * removals / (1.0 + longest) - 1.0) + 1.0)
    centre = 1 + below(rng, customers)
    if routes.counts[BANKED] > 0 and uniform(rng) < 0.5:
        centre = routes.work[below(rng, routes.counts[BANKED]), BANK]
    pending = 0
    change = 0.0
    for k in range(-1, lists.shape[1]):
        if strings == 0:
            break
        c = centre if k < 0 else lists[centre, k]
        r = routes.link[c, ROUTE]
        if r < 0 or routes.slot[r, RUINED] == now:
            continue
        routes.slot[r, RUINED] = now
        strings -= 1
        size = routes.slot[r, LENGTH]
        cut = min(size, 1 + int(uniform(rng) * min(float(size), longest)))
        spared = 0  # a split string spares some customers inside
        if 1 < cut < size and uniform(rng) < 0.5:
            spared = 1
            while cut + spared < size and uniform(rng) < 0.01:
                spared += 1
        span = cut + spared
        begin = c
        for _ in range(below(rng, span)):
            if routes.link[begin, PREV] == 0:
                break
            begin = routes.link[begin, PREV]
        end, reach = begin, 1
        while reach < span and routes.link[end, NEXT] != 0:
            end = routes.link[end, NEXT]
            reach += 1
        while reach < span:
            begin = routes.link[begin, PREV]
            reach += 1
        skip = 1 + below(rng, cut - 1) if spared > 0 else span
        node = begin
        for position in range(span):
            following = routes.link[node, NEXT]
            if not skip <= position < skip + spared:
                change += remove(metric, stops, routes, node)
                routes.work[pending, PENDING] = node
                pending += 1
            node = following
        if stops.timed:
            renew_times(metric, stops, routes, r)
    return change, pending


@inner
def _sort_pending(metric: Metric, stops: Stops, routes: Routes, rng: RandomState, pending: int) -> None:
    """Order the customers to insert: at random, by demand, by distance from the depot or by their windows."""
    rule = uniform(rng) * (17.0 if stops.timed else 11.0)
    for k in range(pending):
        c = routes.work[k, PENDING]
        if rule < 4.0:
            routes.key[k] = uniform(rng)
        elif rule < 8.0:
            routes.key[k] = -stops.visit[c, DEMAND]
        elif rule < 10.0:
            routes.key[k] = -distance(metric, 0, c)
        elif rule < 11.0:
            routes.key[k] = distance(metric, 0, c)
        elif rule < 13.0:
            routes.key[k] = stops.visit[c, DUE] - stops.visit[c, READY]
        elif rule < 15.0:
            routes.key[k] = stops.visit[c, READY]
        else:
            routes.key[k] = -stops.visit[c, DUE]
    gap = 1
    while 3 * gap < pending - 1:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's sort
        for k in range(gap, pending):
            key, c, m = routes.key[k], routes.work[k, PENDING], k
            while m >= gap and routes.key[m - gap] > key:
                routes.key[m], routes.work[m, PENDING] = routes.key[m - gap], routes.work[m - gap, PENDING]
                m -= gap
            routes.key[m], routes.work[m, PENDING] = key, c
        gap //= 3


@tight
def _place(
    metric: Metric, stops: Stops, lists: Int32s, routes: Routes, rng: RandomState, c: int
) -> tuple[float, int, int]:
    """The cheapest place beside a near customer: its extra cost, route and predecessor (route -1: none)."""
    cheapest, where, behind = np.inf, -1, 0
    room = stops.capacity - stops.visit[c, DEMAND]
    for k in range(lists.shape[1]):
        v = lists[c, k]
        r = routes.link[v, ROUTE]
        if r < 0 or routes.load[r] > room or uniform(rng) < BLINK:
            continue
        w, u = routes.link[v, NEXT], routes.link[v, PREV]
        extra = distance(metric, v, c) + distance(metric, c, w) - distance(metric, v, w)
        if extra < cheapest and (not stops.timed or fits(metric, stops, routes, c, v, w)):
            cheapest, where, behind = extra, r, v
        extra = distance(metric, u, c) + distance(metric, c, v) - distance(metric, u, v)
        if extra < cheapest and (not stops.timed or fits(metric, stops, routes, c, u, v)):
            cheapest, where, behind = extra, r, u
    return cheapest, where, behind


@inner
def _place_anywhere(metric: Metric, stops: Stops, routes: Routes, c: int) -> tuple[float, int, int]:
    """The cheapest place in any route: its extra cost, route and predecessor (route -1: none)."""
    cheapest, where, behind = np.inf, -1, 0
    room = stops.capacity - stops.visit[c, DEMAND]
    unseen = routes.counts[USED]
    for r in range(routes.slot.shape[0]):
        if unseen == 0:
            break
        if routes.slot[r, LENGTH] == 0:
            continue
        unseen -= 1
        if routes.load[r] > room:
            continue
        a, b = 0, routes.slot[r, FIRST]
        while True:
            extra = distance(metric, a, c) + distance(metric, c, b) - distance(metric, a, b)
            if extra < cheapest and (not stops.timed or fits(metric, stops, routes, c, a, b)):
                cheapest, where, behind = extra, r, a
            if b == 0:
                break
            a, b = b, routes.link[b, NEXT]
    return cheapest, where, behind


@inner
def _free_slot(routes: Routes) -> int:
    r = 0
    while routes.slot[r, LENGTH] > 0:
        r += 1
    return r


@inner
def _recreate(
    metric: Metric, stops: Stops, lists: Int32s, routes: Routes, rng: RandomState, pending: int, thrifty: bool
) -> tuple[float, int]:
    """Insert the pending customers; those without a place are left first in ``pending``. Change and their number."""
    change = 0.0
    left = 0
    slots = routes.slot.shape[0]
    for k in range(pending):
        c = routes.work[k, PENDING]
        extra, r, behind = _place(metric, stops, lists, routes, rng, c)
        full = routes.counts[USED] == slots
        if r < 0 and (full or routes.link.shape[0] <= SCAN_LIMIT):
            extra, r, behind = _place_anywhere(metric, stops, routes, c)
        alone = distance(metric, 0, c) + distance(metric, c, 0)
        if not full and (r < 0 or (alone < extra and not thrifty)):
            extra, r, behind = alone, _free_slot(routes), 0
        if r < 0:
            routes.work[left, PENDING] = c
            left += 1
            continue
        insert(stops, routes, c, r, behind)
        change += extra
        if stops.timed:
            renew_times(metric, stops, routes, r)
    return change, left


@inner
def _accept(routes: Routes, rng: RandomState, left: int, change: float, temperature: float) -> bool:
    """Whether to keep the new solution: fewer or less often absent customers first, annealing otherwise."""
    banked = routes.counts[BANKED]
    limit = -temperature * math.log(1.0 - uniform(rng))
    if left == 0 and banked == 0:
        return change < limit
    if left < banked:
        return True
    before = after = 0
    for k in range(banked):
        before += routes.work[routes.work[k, BANK], ABSENT]
    for k in range(left):
        routes.work[routes.work[k, PENDING], ABSENT] += 1
        after += routes.work[routes.work[k, PENDING], ABSENT]
    return after < before or (left == banked and change < limit)


@tight
def iterate(
    metric: Metric,
    stops: Stops,
    lists: Int32s,
    insertion: Int32s,
    routes: Routes,
    rng: RandomState,
    iterations: int,
    temperature: float,
    removals: float,
    thrifty: bool,
    settle: bool,
    debug: bool,
) -> int:
    """Ruin and recreate ``iterations`` times.

    Parameters
    ----------
    metric, stops, routes
        Distances, what is to be served, and the state, which is changed in place.
    lists : ndarray of int32, shape (n, k)
        Near customers, nearest first, for the ruin; ``insertion`` (n, k') the same for the insertion.
    rng : ndarray of uint64
        The state of the random generator.
    temperature : float
        Of the annealed acceptance, in units of cost.
    removals : float
        The mean number of customers that a ruin removes; 0 only inserts the bank.
    thrifty : bool
        Open a route only where nothing else fits, not where it is cheaper.
    settle : bool
        Return as soon as no customer is without a place.
    debug : bool
        Whether to recompute the cost after every accepted change.

    Returns
    -------
    int
        Iterations done, or `MISMATCH`.
    """
    for done in range(iterations):
        routes.counts[ITERATION] += 1
        routes.counts[LOGGED_STOPS] = routes.counts[LOGGED_SLOTS] = 0
        change, pending = 0.0, 0
        if removals > 0.0:
            change, pending = _ruin(metric, stops, lists, routes, rng, removals)
        for k in range(routes.counts[BANKED]):
            routes.work[pending, PENDING] = routes.work[k, BANK]
            pending += 1
        _sort_pending(metric, stops, routes, rng, pending)
        added, left = _recreate(metric, stops, insertion, routes, rng, pending, thrifty)
        change += added
        if not _accept(routes, rng, left, change, temperature):
            undo(metric, stops, routes)
            continue
        routes.costs[COST] += change
        routes.counts[BANKED] = left
        for k in range(left):
            routes.work[k, BANK] = routes.work[k, PENDING]
        mark_changes(routes)
        if debug:
            exact = total_cost(metric, routes)
            if abs(exact - routes.costs[COST]) > 1e-6 * max(1.0, exact):
                return MISMATCH
        if left == 0:
            if routes.costs[COST] < routes.costs[BEST] - EPSILON:
                keep_best(routes)
            if settle:
                return done + 1
    return iterations
