"""When service begins along a route: what each change renews, and whether a customer fits between two others."""

import numpy as np

from ncosolve.search.jit import inner
from ncosolve.search.routes import (
    AHEAD,
    BEHIND,
    DUE,
    EARLIEST,
    FIRST,
    LAST,
    LATEST,
    NEXT,
    PREV,
    READY,
    SERVICE,
    SLACK,
    Routes,
    Stops,
    log_stop,
)
from ncosolve.search.types import Floats


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
