"""Local search round single customers: 2-opt in a route and exchanges of route ends (2-opt*), nearer neighbours first.

Ruin and recreate moves single customers well but turns no part of a route and swaps no long ends; these two moves do,
in O(1) each to judge and in the length of the part that moves to carry out.
"""

from ncosolve.search.jit import inner
from ncosolve.search.metric import Metric, distance
from ncosolve.search.route_times import departure, last_arrival, renew_times
from ncosolve.search.routes import (
    AHEAD,
    BEHIND,
    DEMAND,
    EPSILON,
    FIRST,
    LAST,
    LENGTH,
    NEXT,
    PREV,
    ROUTE,
    SLACK,
    USED,
    Near,
    Routes,
    Stops,
    join,
    log_slot,
    log_stop,
)
from ncosolve.search.types import Floats, Ints

MOVE_NEIGHBOURS = 12
"""So many of the nearest customers are looked at as new neighbours."""


@inner
def improve(metric: Metric, stops: Stops, near: Near, routes: Routes, c: int) -> float:
    """Make the first move that is found to give a customer a nearer neighbour and to shorten the routes.

    Returns
    -------
    float
        The change in cost, below 0; 0 where there is no such move.
    """
    link, numbers = routes.link, routes.numbers
    r = link[c, ROUTE]
    turnable = stops.symmetric and not stops.timed
    for side in range(2):  # AHEAD and BEHIND as well as NEXT and PREV
        o, edge = link[c, side], numbers[c, side]
        for k in range(min(MOVE_NEIGHBOURS, near.places.shape[1])):
            length = near.reach[c, k]
            if length >= edge - EPSILON * stops.unit:
                if stops.timed:
                    continue
                break
            v = near.places[c, k]
            s = link[v, ROUTE]
            if s < 0:
                continue
            if s != r:
                a, b = (c, v) if side == AHEAD else (v, c)
                p, q = link[b, PREV], link[a, NEXT]
                there, back = distance(metric, a, b), distance(metric, p, q)
                extra = there + back - numbers[a, AHEAD] - numbers[b, BEHIND]
                if extra < -EPSILON * stops.unit and _swap_tails(stops, routes, a, b, there, back):
                    return extra
            if turnable:
                w = link[v, side]
                back = distance(metric, o, w)
                extra = length + back - edge - numbers[v, side]
                if extra >= -EPSILON * stops.unit:
                    continue
                if s == r:
                    _turn_between(stops, routes, side, c, v, length, back)
                    return extra
                x, y = (c, v) if side == AHEAD else (o, w)
                heads = _load_up_to(link, stops.visit, x) + _load_up_to(link, stops.visit, y)
                if heads > stops.capacity or routes.load[r] + routes.load[s] - heads > stops.capacity:
                    continue
                _turn_route(routes, s if side == AHEAD else r)
                return extra if _swap_tails(stops, routes, c, v, length, back) else 0.0
    return 0.0


@inner
def _load_up_to(link: Ints, visit: Floats, node: int) -> float:
    load = 0.0
    while node != 0:
        load += visit[node, DEMAND]
        node = link[node, PREV]
    return load


@inner
def _swap_tails(stops: Stops, routes: Routes, a: int, b: int, there: float, back: float) -> bool:
    """Let b and what is behind it follow a, and what was behind a the one before b, if loads and windows allow it.

    ``there`` is the distance from a to b, ``back`` that of the other new pair; the two are in different routes.
    """
    link, numbers, slot, load, counts, visit = (
        routes.link,
        routes.numbers,
        routes.slot,
        routes.load,
        routes.counts,
        stops.visit,
    )
    p, q = link[b, PREV], link[a, NEXT]
    if stops.timed:
        if departure(visit, numbers, a) + there > last_arrival(visit, numbers, b) + SLACK:
            return False
        if departure(visit, numbers, p) + back > last_arrival(visit, numbers, q) + SLACK:
            return False
    r, s = link[a, ROUTE], link[b, ROUTE]
    head, other_head = _load_up_to(link, visit, a), _load_up_to(link, visit, p)
    load_r, load_s = head + load[s] - other_head, other_head + load[r] - head
    if load_r > stops.capacity or load_s > stops.capacity:
        return False
    log_slot(slot, load, routes.slot_log, routes.load_log, counts, r)
    log_slot(slot, load, routes.slot_log, routes.load_log, counts, s)
    log_stop(link, numbers, routes.stop_log, routes.number_log, counts, a)
    log_stop(link, numbers, routes.stop_log, routes.number_log, counts, p)
    last_r, last_s = slot[r, LAST], slot[s, LAST]
    moved = _move_to(routes, b, r) - _move_to(routes, q, s)
    slot[r, LENGTH] += moved
    slot[s, LENGTH] -= moved
    load[r], load[s] = load_r, load_s
    slot[r, LAST] = last_s
    join(link, numbers, slot, r, a, b, there)
    if slot[s, LENGTH] == 0:
        counts[USED] -= 1
        load[s] = 0.0
    else:
        slot[s, LAST] = last_r
        join(link, numbers, slot, s, p, q, back)
    if stops.timed:
        renew_times(stops, routes, a, b)
        renew_times(stops, routes, p, q)
    return True


@inner
def _move_to(routes: Routes, node: int, r: int) -> int:
    """Say of a customer and those behind it that they are in route r; how many they are."""
    count = 0
    while node != 0:
        log_stop(routes.link, routes.numbers, routes.stop_log, routes.number_log, routes.counts, node)
        routes.link[node, ROUTE] = r
        node = routes.link[node, NEXT]
        count += 1
    return count


@inner
def _turn(routes: Routes, first: int, last: int) -> None:
    """Swap both sides of each customer in a run."""
    link, numbers = routes.link, routes.numbers
    node = first
    while True:
        log_stop(link, numbers, routes.stop_log, routes.number_log, routes.counts, node)
        following = link[node, NEXT]
        link[node, NEXT], link[node, PREV] = link[node, PREV], following
        numbers[node, AHEAD], numbers[node, BEHIND] = numbers[node, BEHIND], numbers[node, AHEAD]
        if node == last:
            break
        node = following


@inner
def _turn_route(routes: Routes, r: int) -> None:
    slot = routes.slot
    log_slot(slot, routes.load, routes.slot_log, routes.load_log, routes.counts, r)
    _turn(routes, slot[r, FIRST], slot[r, LAST])
    slot[r, FIRST], slot[r, LAST] = slot[r, LAST], slot[r, FIRST]


@inner
def _turn_between(stops: Stops, routes: Routes, side: int, c: int, v: int, length: float, back: float) -> None:
    """2-opt: make c and v neighbours, and those that followed (AHEAD) or preceded them (BEHIND)."""
    link, numbers, slot = routes.link, routes.numbers, routes.slot
    node = c
    while node != 0 and node != v:
        node = link[node, NEXT]
    before, behind = (c, v) if node == v else (v, c)  # in the order of the route
    first, last = (link[before, NEXT], behind) if side == AHEAD else (before, link[behind, PREV])
    a, b, r = link[first, PREV], link[last, NEXT], link[c, ROUTE]
    log_slot(slot, routes.load, routes.slot_log, routes.load_log, routes.counts, r)
    log_stop(link, numbers, routes.stop_log, routes.number_log, routes.counts, a)
    log_stop(link, numbers, routes.stop_log, routes.number_log, routes.counts, b)
    _turn(routes, first, last)
    join(link, numbers, slot, r, a, last, length if side == AHEAD else back)
    join(link, numbers, slot, r, first, b, back if side == AHEAD else length)
