"""The three changes of routes: a run of customers is cut out, a customer is inserted, two change over."""

import numpy as np

from ncosolve.search.jit import inner
from ncosolve.search.metric import Metric, distance
from ncosolve.search.route_times import renew_earliest, renew_latest, renew_times
from ncosolve.search.routes import (
    AHEAD,
    BEHIND,
    DEMAND,
    EARLIEST,
    FIRST,
    LATEST,
    LENGTH,
    NEXT,
    PREV,
    ROUTE,
    USED,
    Routes,
    Stops,
    join,
    log_slot,
    log_stop,
)


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
