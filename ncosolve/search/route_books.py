"""Whole solutions: loaded into the state of a search, read from it, added up anew to prove its books."""

from collections.abc import Sequence

import numpy as np

from ncosolve.search.jit import kernel, tight
from ncosolve.search.metric import Metric, distance
from ncosolve.search.route_times import set_times
from ncosolve.search.routes import (
    AHEAD,
    BANK,
    BANKED,
    BEHIND,
    CHANGED,
    COST,
    DEMAND,
    DIRTY,
    DUE,
    EARLIEST,
    FIRST,
    LAST,
    LATEST,
    LENGTH,
    MARKED,
    MEMBER,
    MEMBERS,
    NEXT,
    PREV,
    READY,
    ROUTE,
    SERVICE,
    SLACK,
    USED,
    Routes,
    Stops,
    join,
    keep_best,
)
from ncosolve.search.types import Floats, Ints


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
    for k in range(routes.counts[MEMBERS]):
        c = routes.work[k, MEMBER]
        if routes.link[c, ROUTE] < 0:
            routes.work[banked, BANK] = c
            banked += 1
        routes.best[c, MARKED] = 1
        routes.best[k, DIRTY] = c
    routes.counts[CHANGED] = routes.counts[MEMBERS]
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


def unlink(routes: Routes, link: Ints) -> tuple[Ints, Ints]:
    """Visits and starts, as `load_solution` takes them, of the members in an array with columns NEXT and PREV."""
    return _unlink(link, routes.work[: routes.counts[MEMBERS], MEMBER])


@kernel
def _unlink(link: Ints, members: Ints) -> tuple[Ints, Ints]:
    count = members.shape[0]
    visits = np.empty(count, np.int64)
    starts = np.empty(count + 1, np.int64)
    filled = used = 0
    for k in range(count):
        c = members[k]
        if link[c, PREV] != 0:
            continue
        starts[used] = filled
        used += 1
        node = c
        while node != 0 and filled < count:
            visits[filled] = node
            filled += 1
            node = link[node, NEXT]
    starts[used] = filled
    return visits[:filled], starts[: used + 1]


def together(solutions: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Visits and starts of the routes of several solutions."""
    return pack([route for solution in solutions for route in unpack(*solution)])


@kernel
def leanings(metric: Metric, visits: Ints, starts: Ints, one: int, other: int) -> Floats:
    """How much farther the customers of each route are from one customer than from another, in the mean."""
    lean = np.zeros(starts.shape[0] - 1)
    for r in range(lean.shape[0]):
        for k in range(starts[r], starts[r + 1]):
            lean[r] += distance(metric, visits[k], one) - distance(metric, visits[k], other)
        lean[r] /= max(1, starts[r + 1] - starts[r])
    return lean
