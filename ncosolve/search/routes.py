"""The state of a route search: linked routes, an undo log, a bank of customers without a place, the best so far."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ncosolve.search.jit import inner, kernel, tight
from ncosolve.search.metric import Metric, distance
from ncosolve.search.types import Floats, Ints

SLACK = 1e-7
"""Times may be late by this much inside kernels; the problems' own check allows 1e-6."""

DEMAND, READY, DUE, SERVICE = range(4)  # columns of Stops.visit
NEXT, PREV, ROUTE, STAMP = range(4)  # columns of Routes.link
EARLIEST, LATEST = range(2)  # columns of Routes.time
FIRST, LAST, LENGTH, SLOT_STAMP, RUINED = range(5)  # columns of Routes.slot
PENDING, BANK, ABSENT = range(3)  # columns of Routes.work
DIRTY, MARKED = 2, 3  # columns of Routes.best, behind NEXT and PREV
ITERATION, BANKED, USED, LOGGED_STOPS, LOGGED_SLOTS, CHANGED = range(6)  # entries of Routes.counts
COST, BEST = range(2)  # entries of Routes.costs


class Stops(NamedTuple):
    """What is to be served; node 0 is the depot.

    Attributes
    ----------
    visit : ndarray of float64, shape (n, 4)
        Demand, ready time, due date and service time.
    capacity : float
        Of each vehicle, a rounding slack included.
    timed : bool
        Whether windows are looked at at all.
    """

    visit: Floats
    capacity: float
    timed: bool


class Routes(NamedTuple):
    """Routes over n nodes in at most R slots; `make_routes` allocates it, constants of this module name the columns.

    Few arrays with several columns and not one for each purpose: kernels compile in half the time and run faster.

    Attributes
    ----------
    link : ndarray of int64, shape (n, 4)
        The neighbours in the route (0 is the depot), the slot (-1 for a customer without a place), and the iteration
        in which the row was logged.
    time : ndarray of float64, shape (n, 2)
        The earliest start of service given what comes before, the latest given what comes after.
    slot : ndarray of int64, shape (R, 5)
        First and last customer, their number, the iterations in which the slot was logged and ruined.
    load : ndarray of float64, shape (R,)
        The demand in each slot.
    stop_log, slot_log, load_log
        What to restore when a change is refused.
    work : ndarray of int64, shape (n, 3), key : ndarray of float64, shape (n,)
        Customers to insert (and what they are sorted by), customers without a place, and how often each was left
        without one (Christiaens and Vanden Berghe 2020).
    best : ndarray of int64, shape (n, 4)
        The links of the best complete solution, the customers whose links have changed since, and a mark for these.
    counts : ndarray of int64, costs : ndarray of float64
        Scalars that kernels keep.
    """

    link: Ints
    time: Floats
    slot: Ints
    load: Floats
    stop_log: Ints
    slot_log: Ints
    load_log: Floats
    work: Ints
    key: Floats
    best: Ints
    counts: Ints
    costs: Floats


def make_routes(n: int, slots: int) -> Routes:
    """Empty routes: every customer in the bank, no best solution."""

    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, np.int64)

    routes = Routes(
        link=zeros(n, 4),
        time=np.zeros((n, 2)),
        slot=zeros(slots, 5),
        load=np.zeros(slots),
        stop_log=zeros(n, 4),
        slot_log=zeros(slots, 4),
        load_log=np.zeros(slots),
        work=zeros(n, 3),
        key=np.zeros(n),
        best=zeros(n, 4),
        counts=zeros(6),
        costs=np.array([0.0, np.inf]),
    )
    routes.link[:, ROUTE] = -1
    routes.work[: n - 1, BANK] = np.arange(1, n)
    routes.counts[BANKED] = n - 1
    return routes


@inner
def log_stop(link: Ints, stop_log: Ints, counts: Ints, node: int) -> None:
    """Keep a customer's links for `undo`, once an iteration."""
    if node != 0 and link[node, STAMP] != counts[ITERATION]:
        link[node, STAMP] = counts[ITERATION]
        k = counts[LOGGED_STOPS]
        counts[LOGGED_STOPS] = k + 1
        stop_log[k, 0] = node
        stop_log[k, 1] = link[node, NEXT]
        stop_log[k, 2] = link[node, PREV]
        stop_log[k, 3] = link[node, ROUTE]


@inner
def log_slot(slot: Ints, load: Floats, slot_log: Ints, load_log: Floats, counts: Ints, r: int) -> None:
    """Keep a route's ends and load for `undo`, once an iteration."""
    if slot[r, SLOT_STAMP] != counts[ITERATION]:
        slot[r, SLOT_STAMP] = counts[ITERATION]
        k = counts[LOGGED_SLOTS]
        counts[LOGGED_SLOTS] = k + 1
        slot_log[k, 0] = r
        slot_log[k, 1] = slot[r, FIRST]
        slot_log[k, 2] = slot[r, LAST]
        slot_log[k, 3] = slot[r, LENGTH]
        load_log[k] = load[r]


@tight
def join(link: Ints, slot: Ints, r: int, a: int, b: int) -> None:
    """Let b follow a in route r; either may be the depot."""
    if a != 0:
        link[a, NEXT] = b
    else:
        slot[r, FIRST] = b
    if b != 0:
        link[b, PREV] = a
    else:
        slot[r, LAST] = a


@inner
def remove(metric: Metric, stops: Stops, routes: Routes, c: int) -> float:
    """Take a customer out of its route; the change in cost. Times are not renewed."""
    link, slot, load, counts, stop_log = routes.link, routes.slot, routes.load, routes.counts, routes.stop_log
    r, a, b = link[c, ROUTE], link[c, PREV], link[c, NEXT]
    log_slot(slot, load, routes.slot_log, routes.load_log, counts, r)
    log_stop(link, stop_log, counts, c)
    log_stop(link, stop_log, counts, a)
    log_stop(link, stop_log, counts, b)
    join(link, slot, r, a, b)
    link[c, ROUTE] = -1
    load[r] -= stops.visit[c, DEMAND]
    slot[r, LENGTH] -= 1
    if slot[r, LENGTH] == 0:
        counts[USED] -= 1
        load[r] = 0.0
        return -distance(metric, a, c) - distance(metric, c, b)
    return distance(metric, a, b) - distance(metric, a, c) - distance(metric, c, b)


@inner
def insert(stops: Stops, routes: Routes, c: int, r: int, a: int) -> None:
    """Put a customer behind a (0: at the start) of route r. Times are not renewed."""
    link, slot, load, counts, stop_log = routes.link, routes.slot, routes.load, routes.counts, routes.stop_log
    if slot[r, LENGTH] == 0:
        counts[USED] += 1
        b = 0
    else:
        b = slot[r, FIRST] if a == 0 else link[a, NEXT]
    log_slot(slot, load, routes.slot_log, routes.load_log, counts, r)
    log_stop(link, stop_log, counts, c)
    log_stop(link, stop_log, counts, a)
    log_stop(link, stop_log, counts, b)
    join(link, slot, r, a, c)
    join(link, slot, r, c, b)
    link[c, ROUTE] = r
    load[r] += stops.visit[c, DEMAND]
    slot[r, LENGTH] += 1


@inner
def renew_times(metric: Metric, stops: Stops, routes: Routes, r: int) -> None:
    """Recompute the earliest and latest starts along a route."""
    if routes.slot[r, LENGTH] == 0:
        return
    clock, a, b = stops.visit[0, READY], 0, routes.slot[r, FIRST]
    while b != 0:
        clock = max(clock + distance(metric, a, b), stops.visit[b, READY])
        routes.time[b, EARLIEST] = clock
        clock += stops.visit[b, SERVICE]
        a, b = b, routes.link[b, NEXT]
    clock, b, a = stops.visit[0, DUE], 0, routes.slot[r, LAST]
    while a != 0:
        clock = min(clock - stops.visit[a, SERVICE] - distance(metric, a, b), stops.visit[a, DUE])
        routes.time[a, LATEST] = clock
        b, a = a, routes.link[a, PREV]


@tight
def fits(metric: Metric, stops: Stops, routes: Routes, c: int, a: int, b: int) -> bool:
    """Whether service at c between a and b keeps all windows of that route."""
    clock = stops.visit[0, READY] if a == 0 else routes.time[a, EARLIEST] + stops.visit[a, SERVICE]
    clock = max(clock + distance(metric, a, c), stops.visit[c, READY])
    if clock > stops.visit[c, DUE] + SLACK:
        return False
    clock += stops.visit[c, SERVICE] + distance(metric, c, b)
    return clock <= (stops.visit[0, DUE] if b == 0 else routes.time[b, LATEST]) + SLACK


@tight
def undo(metric: Metric, stops: Stops, routes: Routes) -> None:
    """Restore everything that was logged in this iteration."""
    for k in range(routes.counts[LOGGED_STOPS]):
        node = routes.stop_log[k, 0]
        routes.link[node, NEXT] = routes.stop_log[k, 1]
        routes.link[node, PREV] = routes.stop_log[k, 2]
        routes.link[node, ROUTE] = routes.stop_log[k, 3]
    for k in range(routes.counts[LOGGED_SLOTS]):
        r = routes.slot_log[k, 0]
        before = routes.slot_log[k, 3]
        if routes.slot[r, LENGTH] > 0 and before == 0:
            routes.counts[USED] -= 1
        elif routes.slot[r, LENGTH] == 0 and before > 0:
            routes.counts[USED] += 1
        routes.slot[r, FIRST] = routes.slot_log[k, 1]
        routes.slot[r, LAST] = routes.slot_log[k, 2]
        routes.slot[r, LENGTH] = before
        routes.load[r] = routes.load_log[k]
        if stops.timed:
            renew_times(metric, stops, routes, r)


@inner
def mark_changes(routes: Routes) -> None:
    """Note what this iteration has changed since the best solution."""
    for k in range(routes.counts[LOGGED_STOPS]):
        node = routes.stop_log[k, 0]
        if routes.best[node, MARKED] == 0:
            routes.best[node, MARKED] = 1
            routes.best[routes.counts[CHANGED], DIRTY] = node
            routes.counts[CHANGED] += 1


@inner
def keep_best(routes: Routes) -> None:
    """Take the current solution as the best; only what has changed is copied."""
    routes.costs[BEST] = routes.costs[COST]
    for k in range(routes.counts[CHANGED]):
        node = routes.best[k, DIRTY]
        routes.best[node, MARKED] = 0
        routes.best[node, NEXT] = routes.link[node, NEXT]
        routes.best[node, PREV] = routes.link[node, PREV]
    routes.counts[CHANGED] = 0


@tight
def total_cost(metric: Metric, routes: Routes) -> float:
    """The length of all routes, recomputed."""
    total = 0.0
    for r in range(routes.slot.shape[0]):
        if routes.slot[r, LENGTH] == 0:
            continue
        a, b = 0, routes.slot[r, FIRST]
        while b != 0:
            total += distance(metric, a, b)
            a, b = b, routes.link[b, NEXT]
        total += distance(metric, a, 0)
    return total


@tight
def load_solution(metric: Metric, stops: Stops, routes: Routes, visits: Ints, starts: Ints) -> None:
    """Fill empty routes from a solution, leaving in the bank what breaks a constraint or finds no slot.

    Parameters
    ----------
    visits : ndarray of int64
        The customers of all routes, one route behind the other.
    starts : ndarray of int64, shape (k + 1,)
        Where each route begins in ``visits``, and the end of the last.
    """
    for r in range(min(starts.shape[0] - 1, routes.slot.shape[0])):
        clock = stops.visit[0, READY]
        for k in range(starts[r], starts[r + 1]):
            c, a = visits[k], routes.slot[r, LAST]
            if routes.load[r] + stops.visit[c, DEMAND] > stops.capacity:
                continue
            begin = max(clock + distance(metric, a, c), stops.visit[c, READY])
            back = begin + stops.visit[c, SERVICE] + distance(metric, c, 0)
            if stops.timed and (begin > stops.visit[c, DUE] + SLACK or back > stops.visit[0, DUE] + SLACK):
                continue
            if routes.slot[r, LENGTH] == 0:
                routes.counts[USED] += 1
            join(routes.link, routes.slot, r, a, c)
            join(routes.link, routes.slot, r, c, 0)
            routes.link[c, ROUTE] = r
            routes.load[r] += stops.visit[c, DEMAND]
            routes.slot[r, LENGTH] += 1
            clock = begin + stops.visit[c, SERVICE]
        if stops.timed:
            renew_times(metric, stops, routes, r)
    banked = 0
    for c in range(1, routes.link.shape[0]):
        if routes.link[c, ROUTE] < 0:
            routes.work[banked, BANK] = c
            banked += 1
        routes.best[c, MARKED] = 1
        routes.best[c - 1, DIRTY] = c
    routes.counts[CHANGED] = routes.link.shape[0] - 1
    routes.counts[BANKED] = banked
    routes.costs[COST] = total_cost(metric, routes)
    if banked == 0:
        keep_best(routes)


def pack(parts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Visits and starts, as `load_solution` takes them, of a sequence of routes."""
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return np.concatenate([*parts, np.empty(0, np.int64)]), starts


def unpack(visits: Ints, starts: Ints) -> tuple[Ints, ...]:
    """The routes again; the inverse of `pack`."""
    return tuple(np.split(visits, starts[1:-1]))


@kernel
def unlink(link: Ints) -> tuple[Ints, Ints]:
    """Visits and starts, as `load_solution` takes them, of the routes in an array with columns NEXT and PREV."""
    n = link.shape[0]
    visits = np.empty(n - 1, np.int64)
    starts = np.empty(n, np.int64)
    filled = used = 0
    for c in range(1, n):
        if link[c, PREV] != 0:
            continue
        starts[used] = filled
        used += 1
        node = c
        while node != 0 and filled < n - 1:
            visits[filled] = node
            filled += 1
            node = link[node, NEXT]
    starts[used] = filled
    return visits[:filled], starts[: used + 1]
