"""The state of a route search: linked routes, an undo log, a bank of customers without a place, the best so far."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ncosolve.search.jit import inner, kernel, tight
from ncosolve.search.metric import Metric, distance
from ncosolve.search.types import Floats, Int32s, Ints

SLACK = 1e-7
"""Times may be late by this much inside kernels; the problems' own check allows 1e-6."""
EPSILON = 1e-9
"""A change must save more than this to count as one."""

DEMAND, READY, DUE, SERVICE = range(4)  # columns of Stops.visit
NEXT, PREV, ROUTE, STAMP = range(4)  # columns of Routes.link
AHEAD, BEHIND, EARLIEST, LATEST = range(4)  # columns of Routes.numbers
FIRST, LAST, LENGTH, SLOT_STAMP, RUINED = range(5)  # columns of Routes.slot
PENDING, BANK, ABSENT = range(3)  # columns of Routes.work
DIRTY, MARKED = 2, 3  # columns of Routes.best, behind NEXT and PREV
ITERATION, BANKED, USED, LOGGED_STOPS, LOGGED_SLOTS, CHANGED = range(6)  # entries of Routes.counts
COST, BEST, PRICE = range(3)  # entries of Routes.costs


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
    symmetric : bool
        Whether a distance is the same both ways.
    unit : float
        The mean distance between neighbours, the scale of what changes cost.
    """

    visit: Floats
    capacity: float
    timed: bool
    symmetric: bool
    unit: float


class Near(NamedTuple):
    """The customers near each node; row 0 is not read.

    Attributes
    ----------
    ruin : ndarray of int32, shape (n, k)
        The nearest first, for the ruin.
    places : ndarray of int32, shape (n, m)
        Beside which a customer may be inserted.
    reach : ndarray of float64, shape (n, m)
        The distance to each of these, in the shorter of the two directions.
    """

    ruin: Int32s
    places: Int32s
    reach: Floats


class Routes(NamedTuple):
    """Routes over n nodes in at most R slots; `make_routes` allocates it, constants of this module name the columns.

    Few arrays with several columns and not one for each purpose: kernels compile in half the time and run faster.

    Attributes
    ----------
    link : ndarray of int64, shape (n, 4)
        The neighbours in the route (0 is the depot), the slot (-1 for a customer without a place), and the iteration
        in which the row was logged.
    numbers : ndarray of float64, shape (n, 4)
        The distances to the next stop and from the previous one, the earliest start of service given what comes
        before, the latest given what comes after.
    slot : ndarray of int64, shape (R, 5)
        First and last customer, their number, the iterations in which the slot was logged and ruined.
    load : ndarray of float64, shape (R,)
        The demand in each slot.
    stop_log, number_log, slot_log, load_log
        What to restore when a change is refused.
    work : ndarray of int64, shape (n, 3), key : ndarray of float64, shape (n,)
        Customers to insert (and what they are sorted by), customers without a place, and how often each was left
        without one (Christiaens and Vanden Berghe 2020).
    best : ndarray of int64, shape (n, 4)
        The links of the best complete solution, the customers whose links have changed since, and a mark for these.
    counts : ndarray of int64, costs : ndarray of float64
        Scalars that kernels keep; `PRICE` is what a unit of load above the capacity has cost to take off, of late.
    """

    link: Ints
    numbers: Floats
    slot: Ints
    load: Floats
    stop_log: Ints
    number_log: Floats
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
        numbers=np.zeros((n, 4)),
        slot=zeros(slots, 5),
        load=np.zeros(slots),
        stop_log=zeros(n, 4),
        number_log=np.zeros((n, 4)),
        slot_log=zeros(slots, 4),
        load_log=np.zeros(slots),
        work=zeros(n, 3),
        key=np.zeros(n),
        best=zeros(n, 4),
        counts=zeros(6),
        costs=np.array([0.0, np.inf, 0.0]),
    )
    routes.link[:, ROUTE] = -1
    routes.work[: n - 1, BANK] = np.arange(1, n)
    routes.counts[BANKED] = n - 1
    return routes


@inner
def log_stop(link: Ints, numbers: Floats, stop_log: Ints, number_log: Floats, counts: Ints, node: int) -> None:
    """Keep a customer's row for `undo`, once an iteration."""
    if node != 0 and link[node, STAMP] != counts[ITERATION]:
        link[node, STAMP] = counts[ITERATION]
        k = counts[LOGGED_STOPS]
        counts[LOGGED_STOPS] = k + 1
        stop_log[k, 0] = node
        stop_log[k, 1] = link[node, NEXT]
        stop_log[k, 2] = link[node, PREV]
        stop_log[k, 3] = link[node, ROUTE]
        for column in range(4):
            number_log[k, column] = numbers[node, column]


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


@inner
def join(link: Ints, numbers: Floats, slot: Ints, r: int, a: int, b: int, length: float) -> None:
    """Let b follow a in route r at that distance; either may be the depot."""
    if a != 0:
        link[a, NEXT] = b
        numbers[a, AHEAD] = length
    else:
        slot[r, FIRST] = b
    if b != 0:
        link[b, PREV] = a
        numbers[b, BEHIND] = length
    else:
        slot[r, LAST] = a


@inner
def cut(metric: Metric, stops: Stops, routes: Routes, first: int, last: int) -> float:
    """Take a run of customers out of its route and renew the times around; the change in cost."""
    link, numbers, slot, counts = routes.link, routes.numbers, routes.slot, routes.counts
    stop_log, number_log = routes.stop_log, routes.number_log
    r, a, b = link[first, ROUTE], link[first, PREV], link[last, NEXT]
    log_slot(slot, routes.load, routes.slot_log, routes.load_log, counts, r)
    log_stop(link, numbers, stop_log, number_log, counts, a)
    log_stop(link, numbers, stop_log, number_log, counts, b)
    change = -numbers[first, BEHIND]
    node = first
    while True:
        log_stop(link, numbers, stop_log, number_log, counts, node)
        change -= numbers[node, AHEAD]
        link[node, ROUTE] = -1
        slot[r, LENGTH] -= 1
        routes.load[r] -= stops.visit[node, DEMAND]
        if node == last:
            break
        node = link[node, NEXT]
    if slot[r, LENGTH] == 0:
        counts[USED] -= 1
        routes.load[r] = 0.0
        return change
    length = distance(metric, a, b)
    join(link, numbers, slot, r, a, b, length)
    if stops.timed:
        renew_times(stops, routes, a, b)
    return change + length


@inner
def insert(metric: Metric, stops: Stops, routes: Routes, c: int, r: int, a: int) -> None:
    """Put a customer behind a (0: at the start) of route r and renew the times around."""
    link, numbers, slot, load, counts = routes.link, routes.numbers, routes.slot, routes.load, routes.counts
    stop_log, number_log = routes.stop_log, routes.number_log
    if slot[r, LENGTH] == 0:
        counts[USED] += 1
        b = 0
    else:
        b = slot[r, FIRST] if a == 0 else link[a, NEXT]
    log_slot(slot, load, routes.slot_log, routes.load_log, counts, r)
    log_stop(link, numbers, stop_log, number_log, counts, c)
    log_stop(link, numbers, stop_log, number_log, counts, a)
    log_stop(link, numbers, stop_log, number_log, counts, b)
    join(link, numbers, slot, r, a, c, distance(metric, a, c))
    join(link, numbers, slot, r, c, b, distance(metric, c, b))
    link[c, ROUTE] = r
    load[r] += stops.visit[c, DEMAND]
    slot[r, LENGTH] += 1
    if stops.timed:
        numbers[c, EARLIEST], numbers[c, LATEST] = np.nan, np.nan
        renew_earliest(stops, routes, a, c)
        renew_latest(stops, routes, c, b)


@inner
def exchange(metric: Metric, stops: Stops, routes: Routes, c: int, to_c: int, x: int, to_x: int) -> None:
    """Let two customers of different routes change over, c behind to_c in x's route and x behind to_x in c's."""
    r, s = routes.link[c, ROUTE], routes.link[x, ROUTE]
    cut(metric, stops, routes, c, c)
    cut(metric, stops, routes, x, x)
    insert(metric, stops, routes, c, s, to_c)
    insert(metric, stops, routes, x, r, to_x)


@inner
def joint(metric: Metric, routes: Routes, c: int) -> float:
    """How far the neighbours of a customer are from one another; 0 where it is alone, for then no trip is left."""
    if routes.slot[routes.link[c, ROUTE], LENGTH] == 1:
        return 0.0
    return distance(metric, routes.link[c, PREV], routes.link[c, NEXT])


@inner
def departure(visit: Floats, numbers: Floats, a: int) -> float:
    """When a vehicle may leave a, a customer or the depot at the start of a route."""
    return visit[0, READY] if a == 0 else numbers[a, EARLIEST] + visit[a, SERVICE]


@inner
def last_arrival(visit: Floats, numbers: Floats, b: int) -> float:
    """When service must begin at b, a customer or the depot at the end of a route, for all behind to be in time."""
    return visit[0, DUE] if b == 0 else numbers[b, LATEST]


@inner
def renew_times(stops: Stops, routes: Routes, a: int, b: int) -> None:
    """Renew what depends on b following a: the times behind and before."""
    renew_earliest(stops, routes, a, b)
    renew_latest(stops, routes, a, b)


@inner
def renew_earliest(stops: Stops, routes: Routes, a: int, b: int) -> None:
    """Renew the earliest starts from b on, which now follows a, as far as they change."""
    link, numbers, visit, counts = routes.link, routes.numbers, stops.visit, routes.counts
    stop_log, number_log = routes.stop_log, routes.number_log
    clock = departure(visit, numbers, a)
    node = b
    while node != 0:
        clock = max(clock + numbers[node, BEHIND], visit[node, READY])
        if clock == numbers[node, EARLIEST]:
            break
        log_stop(link, numbers, stop_log, number_log, counts, node)
        numbers[node, EARLIEST] = clock
        clock += visit[node, SERVICE]
        node = link[node, NEXT]


@inner
def renew_latest(stops: Stops, routes: Routes, a: int, b: int) -> None:
    """Renew the latest starts from a back, which b now follows, as far as they change."""
    link, numbers, visit, counts = routes.link, routes.numbers, stops.visit, routes.counts
    stop_log, number_log = routes.stop_log, routes.number_log
    clock = last_arrival(visit, numbers, b)
    node = a
    while node != 0:
        clock = min(clock - visit[node, SERVICE] - numbers[node, AHEAD], visit[node, DUE])
        if clock == numbers[node, LATEST]:
            break
        log_stop(link, numbers, stop_log, number_log, counts, node)
        numbers[node, LATEST] = clock
        node = link[node, PREV]


@inner
def set_times(stops: Stops, routes: Routes, r: int) -> None:
    """Compute the earliest and latest starts along a route."""
    node = routes.slot[r, FIRST]
    while node != 0:
        routes.numbers[node, EARLIEST], routes.numbers[node, LATEST] = np.nan, np.nan
        node = routes.link[node, NEXT]
    renew_earliest(stops, routes, 0, routes.slot[r, FIRST])
    renew_latest(stops, routes, routes.slot[r, LAST], 0)


@inner
def fits(visit: Floats, numbers: Floats, c: int, a: int, b: int, there: float, back: float) -> bool:
    """Whether service at c between a and b, that far from them, keeps all windows of their route."""
    clock = max(departure(visit, numbers, a) + there, visit[c, READY])
    if clock > visit[c, DUE] + SLACK:
        return False
    clock += visit[c, SERVICE] + back
    return clock <= last_arrival(visit, numbers, b) + SLACK


@tight
def undo(routes: Routes) -> None:
    """Restore everything that was logged in this iteration."""
    link, numbers, slot, counts = routes.link, routes.numbers, routes.slot, routes.counts
    for k in range(counts[LOGGED_STOPS]):
        node = routes.stop_log[k, 0]
        link[node, NEXT] = routes.stop_log[k, 1]
        link[node, PREV] = routes.stop_log[k, 2]
        link[node, ROUTE] = routes.stop_log[k, 3]
        for column in range(4):
            numbers[node, column] = routes.number_log[k, column]
    for k in range(counts[LOGGED_SLOTS]):
        r = routes.slot_log[k, 0]
        before = routes.slot_log[k, 3]
        if slot[r, LENGTH] > 0 and before == 0:
            counts[USED] -= 1
        elif slot[r, LENGTH] == 0 and before > 0:
            counts[USED] += 1
        slot[r, FIRST] = routes.slot_log[k, 1]
        slot[r, LAST] = routes.slot_log[k, 2]
        slot[r, LENGTH] = before
        routes.load[r] = routes.load_log[k]


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
def is_sound(metric: Metric, stops: Stops, routes: Routes) -> bool:
    """Whether cost, loads, distances and times are what they are when computed anew, and no vehicle is overloaded."""
    link, numbers, slot, visit = routes.link, routes.numbers, routes.slot, stops.visit
    total = 0.0
    for r in range(slot.shape[0]):
        if slot[r, LENGTH] == 0:
            continue
        load, clock, a, b = 0.0, visit[0, READY], 0, slot[r, FIRST]
        while b != 0:
            length = distance(metric, a, b)
            if link[b, PREV] != a or link[b, ROUTE] != r or abs(numbers[b, BEHIND] - length) > SLACK:
                return False
            if a != 0 and abs(numbers[a, AHEAD] - length) > SLACK:
                return False
            clock = max(clock + length, visit[b, READY])
            if stops.timed and (abs(clock - numbers[b, EARLIEST]) > SLACK or clock > numbers[b, LATEST] + 2.0 * SLACK):
                return False
            clock += visit[b, SERVICE]
            load += visit[b, DEMAND]
            total += length
            a, b = b, link[b, NEXT]
        length = distance(metric, a, 0)
        total += length
        if abs(numbers[a, AHEAD] - length) > SLACK or slot[r, LAST] != a:
            return False
        if abs(load - routes.load[r]) > SLACK * max(1.0, load) or load > stops.capacity + SLACK * max(1.0, load):
            return False
    return abs(total - routes.costs[COST]) <= 1e-6 * max(1.0, total)


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
            join(routes.link, routes.numbers, routes.slot, r, a, c, distance(metric, a, c))
            join(routes.link, routes.numbers, routes.slot, r, c, 0, distance(metric, c, 0))
            routes.link[c, ROUTE] = r
            routes.load[r] += stops.visit[c, DEMAND]
            routes.slot[r, LENGTH] += 1
            clock = begin + stops.visit[c, SERVICE]
        if stops.timed and routes.slot[r, LENGTH] > 0:
            set_times(stops, routes, r)
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
