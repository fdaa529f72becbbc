"""Random routing problems as kernels take them, and what must hold of the state of a search."""

import itertools

import numpy as np

from ncosolve.search.metric import computed, tabulated
from ncosolve.search.neighbours import nearest, reaches
from ncosolve.search.route_books import unlink
from ncosolve.search.routes import BANKED, USED, Near, Stops


def problem(n, seed, timed, asymmetric=False, grid=100):
    """Arrays of a random instance in which every customer can be served alone."""
    rng = np.random.default_rng(seed)
    coords = rng.integers(0, grid, (n, 2)).astype(float)
    table = np.floor(np.sqrt(((coords[:, None] - coords[None]) ** 2).sum(-1)) + 0.5)
    if asymmetric:
        table += rng.integers(0, 10, (n, n))
        np.fill_diagonal(table, 0)
    visit = np.zeros((n, 4))
    visit[1:, 0] = rng.integers(0, 10, n - 1)
    visit[:, 2] = np.inf
    if timed:
        begin = rng.integers(0, 200, n) + table[0]
        visit[:, 1], visit[:, 2] = begin, begin + rng.integers(0, 60, n)
        visit[1:, 3] = rng.integers(0, 10, n - 1)
        visit[0] = 0, 0, (visit[1:, 2] + visit[1:, 3] + table[1:, 0]).max(), 0
    metric = tabulated(table) if asymmetric else computed("euclidean", "nint", coords)
    ruin = nearest(metric, 20, first=1)
    near = Near(ruin, ruin, reaches(metric, ruin))
    return metric, Stops(visit, 30.0, timed, not asymmetric, 10.0), near, table


def parts(visits, starts):
    return [visits[a:b] for a, b in itertools.pairwise(starts)]


def check(routes, stops, table, limit):
    """Recompute everything that the kernels keep; the cost of the best solution."""
    visits, starts = unlink(routes, routes.best)
    assert sorted(visits) == list(range(1, len(table)))
    found = parts(visits, starts)
    assert len(found) <= limit
    cost = 0.0
    for route in found:
        assert stops.visit[route, 0].sum() <= stops.capacity
        clock, here = stops.visit[0, 1], 0
        for node in [*route, 0]:
            cost += table[here, node]
            clock = max(clock + (stops.visit[here, 3] if here else 0) + table[here, node], stops.visit[node, 1])
            assert clock <= stops.visit[node, 2] + 1e-6
            here = node
    return cost


def check_links(routes, stops):
    """Links are symmetric, loads and lengths add up, and nobody is in two places."""
    seen = 0
    for r in range(len(routes.slot)):
        node, count, load, before = routes.slot[r, 0], 0, 0.0, 0
        while routes.slot[r, 2] and node:
            assert routes.link[node, 1] == before
            assert routes.link[node, 2] == r
            load += stops.visit[node, 0]
            count += 1
            before, node = node, routes.link[node, 0]
        assert count == routes.slot[r, 2]
        if count:
            assert routes.slot[r, 1] == before
            assert routes.load[r] == load
        seen += count
    assert seen + routes.counts[BANKED] == len(routes.link) - 1
    assert routes.counts[USED] == (routes.slot[:, 2] > 0).sum()
