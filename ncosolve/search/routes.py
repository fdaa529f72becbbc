"""The state of a route search: linked routes, an undo log, a bank of customers without a place, the best so far."""

from typing import NamedTuple

import numpy as np

from ncosolve.search.arrays import apart
from ncosolve.search.jit import inner, tight
from ncosolve.search.metric import Metric, distance
from ncosolve.search.types import Floats, Int32s, Ints

SLACK = 1e-7
"""Times may be late by this much inside kernels; the problems' own check allows 1e-6."""
EPSILON = 1e-9
"""A change must save more than this, in units of `Stops.unit`, to count as one: less may be a rounding error."""

DEMAND, READY, DUE, SERVICE = range(4)  # columns of Stops.visit
NEXT, PREV, ROUTE, STAMP = range(4)  # columns of Routes.link
AHEAD, BEHIND, EARLIEST, LATEST = range(4)  # columns of Routes.numbers
FIRST, LAST, LENGTH, SLOT_STAMP, RUINED = range(5)  # columns of Routes.slot
PENDING, BANK, ABSENT, MEMBER = range(4)  # columns of Routes.work
DIRTY, MARKED = 2, 3  # columns of Routes.best, behind NEXT and PREV
ITERATION, BANKED, USED, LOGGED_STOPS, LOGGED_SLOTS, CHANGED, MEMBERS = range(7)  # entries of Routes.counts
COST, BEST, PRICE = range(3)  # entries of Routes.costs


class Stops(NamedTuple):
    """What is to be served; node 0 is the depot.

    A node may stand for a run of customers that are visited as one: with their demand, the earliest and the latest
    start from which no wait is left and none is late, and the time from that start to the end of the last service. It
    is entered and left at different places (`ncosolve.search.metric.condensed`), so distances are not symmetric.

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
    work : ndarray of int64, shape (n, 4), key : ndarray of float64, shape (n,)
        Customers to insert (and what they are sorted by), customers without a place, how often each was left
        without one (Christiaens and Vanden Berghe 2020), and the members: the customers that are to be served. Others
        have no place and get none.
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


def make_routes(n: int, slots: int, members: Ints | None = None) -> Routes:
    """Empty routes: every member (by default all customers) in the bank, no best solution."""
    members = np.arange(1, n) if members is None else members

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
        work=zeros(n, 4),
        key=np.zeros(n),
        best=zeros(n, 4),
        counts=apart(zeros(7)),
        costs=apart(np.array([0.0, np.inf, 0.0])),
    )
    routes.link[:, ROUTE] = -1
    routes.work[: len(members), BANK] = routes.work[: len(members), MEMBER] = members
    routes.counts[BANKED] = routes.counts[MEMBERS] = len(members)
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
def joint(metric: Metric, routes: Routes, c: int) -> float:
    """How far the neighbours of a customer are from one another; 0 where it is alone, for then no trip is left."""
    if routes.slot[routes.link[c, ROUTE], LENGTH] == 1:
        return 0.0
    return distance(metric, routes.link[c, PREV], routes.link[c, NEXT])


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
