"""Exchange of two customers of different routes, each put where it costs least (SWAP*, Vidal 2022).

https://doi.org/10.1016/j.cor.2021.105643
"""

import numpy as np

from ncosolve.search.jit import inner
from ncosolve.search.metric import Metric, distance
from ncosolve.search.route_edits import exchange
from ncosolve.search.route_moves import MOVE_NEIGHBOURS
from ncosolve.search.route_times import fits
from ncosolve.search.routes import AHEAD, BEHIND, DEMAND, EPSILON, LENGTH, NEXT, PREV, ROUTE, Near, Routes, Stops, joint
from ncosolve.search.types import Ints

MOST_ROUTES = 5
"""So many routes near a customer are searched for one to exchange it with."""
WINDOW = 8
"""So many stops to each side of a near customer are looked at, so that long routes take no longer."""


@inner
def swap(metric: Metric, stops: Stops, near: Near, routes: Routes, c: int) -> tuple[float, int]:
    """Exchange a customer with one of a route near by. Within time windows each takes the place of the other.

    Returns
    -------
    change : float
        In cost, below 0; 0 where no exchange shortens the routes.
    other : int
        The customer that it was exchanged with.
    """
    link, numbers, visit = routes.link, routes.numbers, stops.visit
    r = link[c, ROUTE]
    gap = joint(metric, routes, c)
    saved = numbers[c, BEHIND] + numbers[c, AHEAD] - gap
    room_r = stops.capacity - routes.load[r] + visit[c, DEMAND]
    least, other, to_c, to_x = -EPSILON * stops.unit, 0, 0, 0
    looked, last = 0, -1
    for k in range(min(MOVE_NEIGHBOURS, near.places.shape[1])):
        v = near.places[c, k]
        s = link[v, ROUTE]
        if s < 0 or s in (r, last):
            continue
        if looked == MOST_ROUTES:
            break
        last = s
        looked += 1
        lacking = routes.load[s] + visit[c, DEMAND] - stops.capacity  # what the other one must take off at least
        places = (np.inf, -1, np.inf, -1, np.inf, -1)
        if not stops.timed:
            places = _three_places(metric, stops, routes, c, v)
        x = _window(link, v)
        for _ in range(2 * WINDOW + 1):
            if x == 0:
                break
            if lacking <= visit[x, DEMAND] <= room_r:
                entry, place = _entry(metric, stops, routes, c, x, places)
                if entry - saved < least:
                    home, spot = _home(metric, stops, routes, x, c, gap)
                    if entry - saved + home < least:
                        least, other, to_c, to_x = entry - saved + home, x, place, spot
            x = link[x, NEXT]
    if other == 0:
        return 0.0, 0
    exchange(metric, stops, routes, c, to_c, other, to_x)
    return least, other


@inner
def _window(link: Ints, v: int) -> int:
    """The first customer of the window round v."""
    for _ in range(WINDOW):
        if link[v, PREV] == 0:
            break
        v = link[v, PREV]
    return v


@inner
def _three_places(
    metric: Metric, stops: Stops, routes: Routes, c: int, v: int
) -> tuple[float, int, float, int, float, int]:
    """The extra cost and the predecessor of the three cheapest places of c near v, in its route, the cheapest first.

    Three, for the customer that leaves the route has two places at its sides.
    """
    link, numbers = routes.link, routes.numbers
    first, second, third = np.inf, np.inf, np.inf
    at_first, at_second, at_third = -1, -1, -1
    b = _window(link, v)
    a = link[b, PREV]
    there = distance(metric, a, c)
    for _ in range(2 * WINDOW + 2):
        back = distance(metric, c, b)
        extra = there + back - (numbers[b, BEHIND] if b != 0 else numbers[a, AHEAD])
        if extra < first:
            third, at_third, second, at_second, first, at_first = second, at_second, first, at_first, extra, a
        elif extra < second:
            third, at_third, second, at_second = second, at_second, extra, a
        elif extra < third:
            third, at_third = extra, a
        if b == 0:
            break
        a, b = b, link[b, NEXT]
        there = back if stops.symmetric else distance(metric, a, c)
    return first, at_first, second, at_second, third, at_third


@inner
def _entry(
    metric: Metric,
    stops: Stops,
    routes: Routes,
    c: int,
    x: int,
    places: tuple[float, int, float, int, float, int],
) -> tuple[float, int]:
    """The change in the cost of x's route where c enters it and x leaves, and the predecessor of c there."""
    numbers = routes.numbers
    u, w = routes.link[x, PREV], routes.link[x, NEXT]
    there, back = distance(metric, u, c), distance(metric, c, w)
    freed = numbers[x, BEHIND] + numbers[x, AHEAD]
    entry, place = there + back - freed, u
    if stops.timed:
        return (entry if fits(stops.visit, numbers, c, u, w, there, back) else np.inf), place
    if routes.slot[routes.link[x, ROUTE], LENGTH] == 1:
        return entry, place
    first, at_first, second, at_second, third, at_third = places
    extra, at = third, at_third
    if at_first != u and at_first != x:
        extra, at = first, at_first
    elif at_second != u and at_second != x:
        extra, at = second, at_second
    extra += distance(metric, u, w) - freed
    if extra < entry:
        return extra, at
    return entry, place


@inner
def _home(metric: Metric, stops: Stops, routes: Routes, x: int, c: int, gap: float) -> tuple[float, int]:
    """What x costs in the route that c leaves, and its predecessor there."""
    link, numbers = routes.link, routes.numbers
    p, q = link[c, PREV], link[c, NEXT]
    there, back = distance(metric, p, x), distance(metric, x, q)
    home, spot = there + back - gap, p
    if stops.timed:
        return (home if fits(stops.visit, numbers, x, p, q, there, back) else np.inf), spot
    b = _window(link, c)
    a = link[b, PREV]
    for _ in range(2 * WINDOW + 2):
        if a != c and b != c:
            extra = distance(metric, a, x) + distance(metric, x, b)
            extra -= numbers[b, BEHIND] if b != 0 else numbers[a, AHEAD]
            if extra < home:
                home, spot = extra, a
        if b == 0:
            break
        a, b = b, link[b, NEXT]
    return home, spot
