"""Ruin and recreate for CVRP and VRPTW: strings of customers leave and are inserted anew beside near customers.

The ruin is that of SISR (Christiaens and Vanden Berghe 2020, https://doi.org/10.1287/trsc.2019.0914). What is promising
is repaired and improved by local search before annealing decides on it: promising is what comes within several
neighbour distances of the current solution, for a local search saves as much; nearer bounds halve what it gains.
"""

import math

import numpy as np

from ncosolve.search.jit import inner, tight
from ncosolve.search.metric import Metric, distance
from ncosolve.search.random import RandomState, below, uniform
from ncosolve.search.route_books import is_sound
from ncosolve.search.route_edits import cut, insert
from ncosolve.search.route_moves import improve
from ncosolve.search.route_repair import excess, repair
from ncosolve.search.route_swaps import swap
from ncosolve.search.route_times import fits
from ncosolve.search.routes import (
    ABSENT,
    AHEAD,
    BANK,
    BANKED,
    BEHIND,
    BEST,
    COST,
    DEMAND,
    DUE,
    EPSILON,
    FIRST,
    ITERATION,
    LENGTH,
    LOGGED_SLOTS,
    LOGGED_STOPS,
    MEMBER,
    MEMBERS,
    NEXT,
    PENDING,
    PREV,
    PRICE,
    READY,
    ROUTE,
    RUINED,
    USED,
    Near,
    Routes,
    Stops,
    keep_best,
    mark_changes,
    undo,
)
from ncosolve.search.types import Int32s

LONGEST_STRING = 10
BLINK = 0.01
"""The probability of overlooking a place, which diversifies the insertion."""
REACH = 10.0
"""Local search follows where a new solution is within one temperature and so many units of what is accepted."""
OVERLOAD = 0.1
"""The share of the capacity by which a recreate may overload a vehicle for a moment."""
OVERLOADING = 0.5
"""The share of the recreates that may."""
SCAN_LIMIT = 3000
"""Up to this many nodes every route is tried where no neighbour's route has room."""
MISMATCH = -1
"""What `iterate` returns when its books are wrong (debug only)."""


@inner
def _ruin(
    metric: Metric, stops: Stops, lists: Int32s, routes: Routes, rng: RandomState, removals: float
) -> tuple[float, int]:
    """Remove strings of customers near a random one; they become pending. The change in cost."""
    customers = routes.counts[MEMBERS]
    now = routes.counts[ITERATION]
    longest = min(float(LONGEST_STRING), customers / max(1, routes.counts[USED]))
    strings = int(uniform(rng) * (4.0 * removals / (1.0 + longest) - 1.0) + 1.0)
    centre = routes.work[below(rng, customers), MEMBER]
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
        gone = min(size, 1 + int(uniform(rng) * min(float(size), longest)))
        spared = 0  # a split string spares some customers inside
        if 1 < gone < size and uniform(rng) < 0.5:
            spared = 1
            while gone + spared < size and uniform(rng) < 0.01:
                spared += 1
        span = gone + spared
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
        skip = 1 + below(rng, gone - 1) if spared > 0 else span
        node, run = begin, begin
        for position in range(span):
            following = routes.link[node, NEXT]
            if not skip <= position < skip + spared:
                routes.work[pending, PENDING] = node
                pending += 1
            if position == skip - 1 or position == span - 1:
                change += cut(metric, stops, routes, run, node)
            if position == skip + spared - 1:
                run = following
            node = following
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


@inner
def _fine(stops: Stops, routes: Routes, c: int, r: int) -> float:
    """The price of the overload that a customer brings to a route."""
    demand = stops.visit[c, DEMAND]
    return routes.costs[PRICE] * max(0.0, min(routes.load[r] + demand - stops.capacity, demand))


@inner
def _place(
    metric: Metric, stops: Stops, near: Near, routes: Routes, rng: RandomState, c: int, overload: float
) -> tuple[float, int, int]:
    """The cheapest place beside a near customer: its extra cost, route and predecessor (route -1: none).

    A route may be overloaded by ``overload``; that is part of the extra cost, at the price of a unit of load.
    A place between v and another stop that is no nearer costs at least twice the distance to v less what the two are
    apart, so that most distances need not be computed.
    """
    link, numbers, load, visit = routes.link, routes.numbers, routes.load, stops.visit
    cheapest, where, behind = np.inf, -1, 0
    room = stops.capacity - visit[c, DEMAND]
    for k in range(near.places.shape[1]):
        v = near.places[c, k]
        r = link[v, ROUTE]
        if r < 0 or load[r] > room + overload:
            continue
        fine = _fine(stops, routes, c, r) if load[r] > room else 0.0
        least = 2.0 * near.reach[c, k] + fine - cheapest
        w, u = link[v, NEXT], link[v, PREV]
        after = w == 0 or least < numbers[v, AHEAD]
        before = u == 0 or least < numbers[v, BEHIND]
        if not (after or before) or uniform(rng) < BLINK:
            continue
        if after:
            there, back = distance(metric, v, c), distance(metric, c, w)
            extra = there + back - numbers[v, AHEAD] + fine
            if extra < cheapest and (not stops.timed or fits(visit, numbers, c, v, w, there, back)):
                cheapest, where, behind = extra, r, v
        if before:
            there, back = distance(metric, u, c), distance(metric, c, v)
            extra = there + back - numbers[v, BEHIND] + fine
            if extra < cheapest and (not stops.timed or fits(visit, numbers, c, u, v, there, back)):
                cheapest, where, behind = extra, r, u
    return cheapest, where, behind


@inner
def _place_anywhere(metric: Metric, stops: Stops, routes: Routes, c: int) -> tuple[float, int, int]:
    """The cheapest place in any route: its extra cost, route and predecessor (route -1: none)."""
    link, numbers, slot, load, visit = routes.link, routes.numbers, routes.slot, routes.load, stops.visit
    cheapest, where, behind = np.inf, -1, 0
    room = stops.capacity - visit[c, DEMAND]
    unseen = routes.counts[USED]
    for r in range(slot.shape[0]):
        if unseen == 0:
            break
        if slot[r, LENGTH] == 0:
            continue
        unseen -= 1
        if load[r] > room:
            continue
        a, b = 0, slot[r, FIRST]
        there = distance(metric, 0, c)
        while True:
            back = distance(metric, c, b)
            extra = there + back - (numbers[b, BEHIND] if b != 0 else numbers[a, AHEAD])
            if extra < cheapest and (not stops.timed or fits(visit, numbers, c, a, b, there, back)):
                cheapest, where, behind = extra, r, a
            if b == 0:
                break
            a, b = b, link[b, NEXT]
            there = back if stops.symmetric else distance(metric, a, c)
    return cheapest, where, behind


@inner
def _free_slot(routes: Routes) -> int:
    r = 0
    while routes.slot[r, LENGTH] > 0:
        r += 1
    return r


@inner
def _recreate(
    metric: Metric,
    stops: Stops,
    near: Near,
    routes: Routes,
    rng: RandomState,
    pending: int,
    thrifty: bool,
    overload: float,
) -> tuple[float, int]:
    """Insert the pending customers; those without a place are left first in ``pending``. Change and their number."""
    change = 0.0
    left = 0
    slots = routes.slot.shape[0]
    for k in range(pending):
        c = routes.work[k, PENDING]
        extra, r, behind = _place(metric, stops, near, routes, rng, c, overload)
        full = routes.counts[USED] == slots
        if r < 0 and (full or routes.counts[MEMBERS] < SCAN_LIMIT):
            extra, r, behind = _place_anywhere(metric, stops, routes, c)
        alone = distance(metric, 0, c) + distance(metric, c, 0)
        if not full and (r < 0 or (alone < extra and not thrifty)):
            extra, r, behind = alone, _free_slot(routes), 0
        if r < 0:
            routes.work[left, PENDING] = c
            left += 1
            continue
        extra -= _fine(stops, routes, c, r)
        insert(metric, stops, routes, c, r, behind)
        change += extra
    return change, left


@inner
def _fewer_absent(routes: Routes, left: int) -> bool:
    """Whether those without a place are fewer than before, or were absent less often; their absence is counted."""
    banked = routes.counts[BANKED]
    if left < banked:
        return True
    before = after = 0
    for k in range(banked):
        before += routes.work[routes.work[k, BANK], ABSENT]
    for k in range(left):
        routes.work[routes.work[k, PENDING], ABSENT] += 1
        after += routes.work[routes.work[k, PENDING], ABSENT]
    return after < before


@inner
def _polish(metric: Metric, stops: Stops, near: Near, routes: Routes, pending: int) -> float:
    """Local search round the customers just inserted and those that they are exchanged with; the change in cost."""
    change, queued, k = 0.0, pending, 0
    while k < queued:
        c = routes.work[k, PENDING]
        k += 1
        while True:
            gain = improve(metric, stops, near, routes, c)
            if gain == 0.0:
                gain, other = swap(metric, stops, near, routes, c)
                if gain == 0.0:
                    break
                if queued < min(3 * pending, routes.work.shape[0]):
                    routes.work[queued, PENDING] = other
                    queued += 1
            change += gain
    return change


@inner
def _change(
    metric: Metric,
    stops: Stops,
    near: Near,
    routes: Routes,
    rng: RandomState,
    removals: float,
    reach: float,
    thrifty: bool,
) -> tuple[float, int]:
    """Ruin, recreate and improve.

    Returns
    -------
    change : float
        In cost; infinite where an overloaded route could not be made to fit, or was not worth it: where even before
        repair the change is above ``reach``. What is above is not improved by local search either.
    left : int
        Customers without a place, first in the column PENDING.
    """
    change, pending = 0.0, 0
    if removals > 0.0:
        change, pending = _ruin(metric, stops, near.ruin, routes, rng, removals)
    banked = routes.counts[BANKED]
    for k in range(banked):
        routes.work[pending, PENDING] = routes.work[k, BANK]
        pending += 1
    _sort_pending(metric, stops, routes, rng, pending)
    overload = OVERLOAD * stops.capacity if banked == 0 and uniform(rng) < OVERLOADING else 0.0
    added, left = _recreate(metric, stops, near, routes, rng, pending, thrifty, overload)
    change += added
    over = excess(stops, routes) if overload > 0.0 else 0.0
    if over > 0.0:
        if left > 0 or change + over * routes.costs[PRICE] > reach:
            return np.inf, left
        change += repair(metric, stops, near, routes)
    if left == 0 and change != 0.0 and change < reach:
        change += _polish(metric, stops, near, routes, pending)
    return change, left


@tight
def iterate(
    metric: Metric,
    stops: Stops,
    near: Near,
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
    metric, stops, near, routes
        Distances, what is to be served, who is near whom, and the state, which is changed in place.
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
        Whether to recompute everything that is kept after every accepted change.

    Returns
    -------
    int
        Iterations done, or `MISMATCH`.
    """
    for done in range(iterations):
        routes.counts[ITERATION] += 1
        routes.counts[LOGGED_STOPS] = routes.counts[LOGGED_SLOTS] = 0
        limit = -temperature * math.log(1.0 - uniform(rng))
        reach = limit + temperature + REACH * stops.unit
        change, left = _change(metric, stops, near, routes, rng, removals, reach, thrifty)
        better = left == routes.counts[BANKED] and change < limit
        if not better and change < np.inf and routes.counts[BANKED] + left > 0:
            better = _fewer_absent(routes, left)
        if not better:
            undo(routes)
            continue
        routes.costs[COST] += change
        routes.counts[BANKED] = left
        for k in range(left):
            routes.work[k, BANK] = routes.work[k, PENDING]
        mark_changes(routes)
        if debug and not is_sound(metric, stops, routes):
            return MISMATCH
        if left == 0:
            if routes.costs[COST] < routes.costs[BEST] - EPSILON * stops.unit:
                keep_best(routes)
            if settle:
                return done + 1
    return iterations
