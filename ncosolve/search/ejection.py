"""A place for a customer that has none: others give way, those that were without a place least often.

The guided ejection search of Nagata and Bräysy 2009, https://doi.org/10.1016/j.orl.2009.04.006.
"""

import numpy as np

from ncosolve.search.jit import inner, kernel
from ncosolve.search.metric import Metric, distance
from ncosolve.search.random import RandomState, below
from ncosolve.search.route_edits import cut, insert
from ncosolve.search.route_times import departure, last_arrival
from ncosolve.search.routes import (
    ABSENT,
    AHEAD,
    BANK,
    BANKED,
    BEHIND,
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
    SERVICE,
    SLACK,
    Routes,
    Stops,
    joint,
    mark_changes,
)
from ncosolve.search.types import Floats, Ints

MOST = 4
"""So many customers at most give way to one."""
EFFORT = 20_000
"""So many stops are looked at before the best that is known then is taken."""
WINDOW = 10
"""Only customers that near to the place in the route give way, so that long routes take no longer."""
NODE, PLACE, LAST, WEIGHT = range(4)  # columns of the stack of ejections that are being tried
CLOCK, EXCESS = range(2)  # and of the state before each


@kernel
def eject(metric: Metric, stops: Stops, routes: Routes, rng: RandomState) -> bool:
    """Give a customer in the bank a place, and put those who give way in the bank.

    Of all ways that one is taken whose customers were absent least often, in all. The state changes for good, as by an
    accepted change of `ncosolve.search.ruin_recreate.iterate`.

    Returns
    -------
    bool
        Whether there was a place.
    """
    slot, counts, work = routes.slot, routes.counts, routes.work
    pick = below(rng, counts[BANKED])
    c = work[pick, BANK]
    work[c, ABSENT] += 1
    stack, before = np.empty((MOST, 4), np.int64), np.empty((MOST, 2))
    chosen = np.empty(MOST, np.int64)
    least, number, where, behind = np.iinfo(np.int64).max, 0, -1, 0
    effort = EFFORT
    offset = below(rng, slot.shape[0])
    for most in range(1, MOST + 1):
        for turn in range(slot.shape[0]):
            r = (turn + offset) % slot.shape[0]
            size = 0
            node = slot[r, FIRST] if slot[r, LENGTH] > 0 else 0
            while node != 0:
                work[size, PENDING] = node
                size += 1
                node = routes.link[node, NEXT]
            for place in range(size + 1):
                if size == 0 or effort <= 0:
                    break
                weight, ejected, effort = _lightest(
                    metric, stops, routes, r, c, place, size, most, least, stack, before, chosen, effort
                )
                if weight < least:
                    least, number, where = weight, ejected, r
                    behind = work[place - 1, PENDING] if place > 0 else 0
    if where < 0:
        return False
    counts[ITERATION] += 1
    counts[LOGGED_STOPS] = counts[LOGGED_SLOTS] = 0
    counts[BANKED] -= 1
    work[pick, BANK] = work[counts[BANKED], BANK]
    for k in range(number):
        if chosen[k] == behind:
            behind = routes.link[behind, PREV]
        routes.costs[COST] += cut(metric, stops, routes, chosen[k], chosen[k])
        work[counts[BANKED], BANK] = chosen[k]
        counts[BANKED] += 1
    insert(metric, stops, routes, c, where, behind)
    routes.costs[COST] += routes.numbers[c, BEHIND] + routes.numbers[c, AHEAD] - joint(metric, routes, c)
    mark_changes(routes)
    return True


@inner
def _lightest(
    metric: Metric,
    stops: Stops,
    routes: Routes,
    r: int,
    c: int,
    place: int,
    size: int,
    most: int,
    least: int,
    stack: Ints,
    before: Floats,
    chosen: Ints,
    effort: int,
) -> tuple[int, int, int]:
    """Let c come to a place in a route, whose customers are listed in PENDING, and eject what is absent least often.

    Returns
    -------
    weight : int
        How often those that give way were absent, each counted once more; ``least`` where none is below it.
    number : int
        How many they are; they are listed in ``chosen``, the last of the route first.
    effort : int
        What is left of it.
    """
    visit, work = stops.visit, routes.work
    depth, weight, number = 0, 0, 0
    k = max(0, place - WINDOW)
    last = work[k - 1, PENDING] if k > 0 else 0
    clock = departure(visit, routes.numbers, last)
    excess = routes.load[r] + visit[c, DEMAND] - stops.capacity
    while True:
        effort -= 1
        done = effort <= 0
        keep, found = True, False
        if k > size:
            keep = False
            if excess <= 0.0 and (not stops.timed or clock + distance(metric, last, 0) <= visit[0, DUE] + SLACK):
                found = True
        else:
            node = c if k == place else work[k - (k > place), PENDING]
            if k > place and excess <= 0.0:
                arrival = clock + distance(metric, last, node) if stops.timed else 0.0
                if not stops.timed or arrival <= last_arrival(visit, routes.numbers, node) + SLACK:
                    keep, found = False, True
            near = node != c and k <= place + WINDOW
            if keep and near and depth < most and weight + work[node, ABSENT] + 1 < least:
                stack[depth, NODE], stack[depth, PLACE] = node, k
                stack[depth, LAST], stack[depth, WEIGHT] = last, weight
                before[depth, CLOCK], before[depth, EXCESS] = clock, excess
                depth += 1
                weight += work[node, ABSENT] + 1
                excess -= visit[node, DEMAND]
                k += 1
                continue
        if found:
            least, number = weight, depth
            for d in range(depth):
                chosen[d] = stack[depth - 1 - d, NODE]
        while True:  # keep the customer; where it cannot be kept, go back to the last ejection and keep that one
            if keep:
                node = c if k == place else work[k - (k > place), PENDING]
                begin = max(clock + distance(metric, last, node), visit[node, READY]) if stops.timed else 0.0
                if not stops.timed or begin <= visit[node, DUE] + SLACK:
                    clock, last = begin + visit[node, SERVICE], node
                    k += 1
                    break
            if depth == 0:
                done = True
                break
            depth -= 1
            k, last, weight = stack[depth, PLACE], stack[depth, LAST], stack[depth, WEIGHT]
            clock, excess = before[depth, CLOCK], before[depth, EXCESS]
            keep = True
        if done:
            return least, number, effort
