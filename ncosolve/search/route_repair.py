"""Overloaded routes are made to fit again, by the moves that cost least for each unit of load they take off.

A recreate that may overload a vehicle for a moment finds the exchanges that a tight capacity hides from it (the
feasibility phase of AILS-II, Máximo, Cordeau and Nascimento 2024, works alike).
"""

import numpy as np

from ncosolve.search.jit import inner
from ncosolve.search.metric import Metric, distance
from ncosolve.search.route_edits import cut, exchange, insert
from ncosolve.search.route_times import fits
from ncosolve.search.routes import (
    AHEAD,
    BEHIND,
    DEMAND,
    FIRST,
    LOGGED_SLOTS,
    NEXT,
    PREV,
    PRICE,
    ROUTE,
    Near,
    Routes,
    Stops,
    joint,
)

REPAIR_NEIGHBOURS = 20
"""So many of the places of a customer are looked at."""
LEARNING = 0.01
"""The weight of the latest repair in the price of a unit of load."""


@inner
def excess(stops: Stops, routes: Routes) -> float:
    """The load above the capacity in the routes that this iteration has changed."""
    total = 0.0
    for k in range(routes.counts[LOGGED_SLOTS]):
        total += max(0.0, routes.load[routes.slot_log[k, 0]] - stops.capacity)
    return total


@inner
def repair(metric: Metric, stops: Stops, near: Near, routes: Routes) -> float:
    """Unload every route that this iteration has overloaded; the change in cost, infinite where that fails."""
    change = 0.0
    k = 0
    while k < routes.counts[LOGGED_SLOTS]:
        r = routes.slot_log[k, 0]
        while routes.load[r] > stops.capacity:
            over = routes.load[r] - stops.capacity
            cost = _unload(metric, stops, near, routes, r)
            relief = over - max(0.0, routes.load[r] - stops.capacity)
            if cost == np.inf or relief <= 0.0:
                return np.inf
            change += cost
            routes.costs[PRICE] += LEARNING * (max(0.0, cost) / relief - routes.costs[PRICE])
        k += 1
    return change


@inner
def _unload(metric: Metric, stops: Stops, near: Near, routes: Routes, r: int) -> float:
    """Make the move out of route r, or the exchange for a smaller customer, that costs least for its relief.

    Returns
    -------
    float
        The change in cost; infinite where there is no such move.
    """
    link, numbers, slot, visit = routes.link, routes.numbers, routes.slot, stops.visit
    over = routes.load[r] - stops.capacity
    least, cost, moved, other, to, target = np.inf, np.inf, 0, 0, 0, 0
    c = slot[r, FIRST]
    while c != 0:
        p, q = link[c, PREV], link[c, NEXT]
        gap = joint(metric, routes, c)
        saved = numbers[c, BEHIND] + numbers[c, AHEAD] - gap
        for k in range(min(REPAIR_NEIGHBOURS, near.places.shape[1])):
            v = near.places[c, k]
            s = link[v, ROUTE]
            if s < 0 or s == r:
                continue
            room = stops.capacity - routes.load[s] - visit[c, DEMAND]
            for side in range(2):  # behind v, before v
                a, b = (v, link[v, NEXT]) if side == AHEAD else (link[v, PREV], v)
                x = b if side == AHEAD else a
                if room >= 0.0 and visit[c, DEMAND] > 0.0:
                    there, back = distance(metric, a, c), distance(metric, c, b)
                    extra = there + back - numbers[v, side] - saved
                    rate = _rate(extra, min(over, visit[c, DEMAND]))
                    if rate < least and (not stops.timed or fits(visit, numbers, c, a, b, there, back)):
                        least, cost, moved, other, to, target = rate, extra, c, 0, a, s
                relief = min(over, visit[c, DEMAND] - visit[x, DEMAND])
                if x == 0 or relief <= 0.0 or room + visit[x, DEMAND] < 0.0:
                    continue
                u, w = link[x, PREV], link[x, NEXT]
                there, back = distance(metric, u, c), distance(metric, c, w)
                if stops.timed and not fits(visit, numbers, c, u, w, there, back):
                    continue
                extra = there + back - numbers[x, BEHIND] - numbers[x, AHEAD] - saved
                there, back = distance(metric, p, x), distance(metric, x, q)
                extra += there + back - gap
                rate = _rate(extra, relief)
                if rate < least and (not stops.timed or fits(visit, numbers, x, p, q, there, back)):
                    least, cost, moved, other, to, target = rate, extra, c, x, u, s
        c = link[c, NEXT]
    if moved == 0:
        return np.inf
    if other != 0:
        exchange(metric, stops, routes, moved, to, other, link[moved, PREV])
    else:
        cut(metric, stops, routes, moved, moved)
        insert(metric, stops, routes, moved, target, to)
    return cost


@inner
def _rate(extra: float, relief: float) -> float:
    """What a unit of relief costs; a move that saves cost is the better the more of both it does."""
    return extra / relief if extra > 0.0 else extra * relief
