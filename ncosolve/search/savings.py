"""Savings start for CVRP (Clarke and Wright 1964), limited to near pairs."""

import numpy as np

from ncosolve.search.jit import inner, kernel, tight
from ncosolve.search.metric import Metric, distance
from ncosolve.search.route_books import unlink
from ncosolve.search.routes import DEMAND, FIRST, LAST, LENGTH, NEXT, PREV, ROUTE, Routes, Stops
from ncosolve.search.types import Floats, Int32s, Ints


def savings_routes(metric: Metric, stops: Stops, lists: Int32s, routes: Routes, symmetric: bool) -> tuple[Ints, Ints]:
    """Routes merged by falling savings d(i, 0) + d(0, j) - d(i, j), windows not looked at.

    Parameters
    ----------
    metric, stops
        Distances among n nodes, demands and capacity.
    lists : ndarray of int32, shape (n, k)
        Near customers of each; only these pairs are considered.
    routes : Routes
        Scratch space with n - 1 slots.
    symmetric : bool
        Whether routes may be turned around.

    Returns
    -------
    visits : ndarray of int64, starts : ndarray of int64
        As `ncosolve.search.routes.load_solution` takes them.
    """
    n = len(lists)
    tails = np.repeat(np.arange(1, n, dtype=np.int32), lists.shape[1])
    heads = lists[1:].ravel()
    gains = _gains(metric, tails, heads)
    worth = gains > 0.0
    order = np.argsort(-gains[worth], kind="stable")
    _merge(stops, routes, tails[worth][order], heads[worth][order], symmetric)
    return unlink(routes, routes.link)


@kernel
def _gains(metric: Metric, tails: Ints, heads: Ints) -> Floats:
    gains = np.empty(tails.shape[0])
    for k in range(tails.shape[0]):
        i, j = tails[k], heads[k]
        gains[k] = distance(metric, i, 0) + distance(metric, 0, j) - distance(metric, i, j)
    return gains


@inner
def _turn(routes: Routes, r: int) -> None:
    node = routes.slot[r, FIRST]
    while node != 0:
        following = routes.link[node, NEXT]
        routes.link[node, NEXT], routes.link[node, PREV] = routes.link[node, PREV], following
        node = following
    routes.slot[r, FIRST], routes.slot[r, LAST] = routes.slot[r, LAST], routes.slot[r, FIRST]


@tight
def _merge(stops: Stops, routes: Routes, tails: Ints, heads: Ints, symmetric: bool) -> None:
    for c in range(1, routes.link.shape[0]):
        r = c - 1
        routes.slot[r, FIRST] = routes.slot[r, LAST] = c
        routes.link[c, ROUTE] = r
        routes.load[r] = stops.visit[c, DEMAND]
        routes.slot[r, LENGTH] = 1
    for k in range(tails.shape[0]):
        i, j = tails[k], heads[k]
        r, s = routes.link[i, ROUTE], routes.link[j, ROUTE]
        if r == s or routes.load[r] + routes.load[s] > stops.capacity:
            continue
        if symmetric:
            if routes.slot[r, LAST] != i and routes.slot[r, FIRST] == i:
                _turn(routes, r)
            if routes.slot[s, FIRST] != j and routes.slot[s, LAST] == j:
                _turn(routes, s)
        if routes.slot[r, LAST] != i or routes.slot[s, FIRST] != j:
            continue
        node = j
        while node != 0:
            routes.link[node, ROUTE] = r
            node = routes.link[node, NEXT]
        last = routes.slot[s, LAST]
        routes.link[i, NEXT], routes.link[j, PREV] = j, i
        routes.slot[r, LAST] = last
        routes.load[r] += routes.load[s]
        routes.slot[r, LENGTH] += routes.slot[s, LENGTH]
        routes.slot[s, LENGTH] = 0
