import itertools

import numpy as np
import pytest

from ncosolve.search.label_setting import Arcs, Limits
from ncosolve.search.route_partition import MOST_CUSTOMERS, best_partition, cheapest_routes


def open_arcs(cost):
    n = len(cost)
    return Arcs(cost, np.zeros((n, n)), np.zeros(n), np.full(n, np.inf))


def test_every_subset_gets_its_cheapest_route():
    """Against all orders of all subsets, asymmetric, with demands that fit not all together."""
    rng = np.random.default_rng(1)
    cost = rng.integers(0, 20, (6, 6)).astype(float)
    demand = np.array([0.0, 3, 0, 2, 4, 1])
    routes = cheapest_routes(open_arcs(cost), demand, 6.0, Limits())
    for subset in range(1, 32):
        customers = [j + 1 for j in range(5) if subset >> j & 1]
        if demand[customers].sum() > 6:
            assert np.isinf(routes.cost[subset])
            continue
        best = min(
            sum(cost[i, j] for i, j in itertools.pairwise((0, *order, 0)))
            for order in itertools.permutations(customers)
        )
        assert routes.cost[subset] == best
        nodes = routes.nodes(subset).tolist()
        assert sorted(nodes) == customers
        assert sum(cost[i, j] for i, j in itertools.pairwise((0, *nodes, 0))) == best


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("fewest", [False, True])
def test_partitions_agree_with_brute_force(seed, fewest):
    """All assignments of five customers to at most K groups, some groups not allowed."""
    rng = np.random.default_rng(seed)
    cost = rng.integers(1, 30, 32).astype(float)
    cost[rng.random(32) < 0.6] = np.inf
    cost[0] = np.inf
    most = int(rng.integers(1, 6))
    keys = []
    for groups in itertools.product(range(5), repeat=5):
        subsets = [sum(1 << j for j in range(5) if groups[j] == g) for g in set(groups)]
        total = sum(cost[s] for s in subsets)
        if len(subsets) <= most and np.isfinite(total):
            keys.append((len(subsets) if fewest else 0, total))
    split = best_partition(cost, most, fewest)
    if not keys:
        assert split is None
        return
    total, subsets = split
    assert (len(subsets) if fewest else 0, total) == min(keys)
    assert sum(subsets) == 31
    assert sum(cost[s] for s in subsets) == total


def test_limits_and_size_give_none():
    cost = np.ones((9, 9))
    assert cheapest_routes(open_arcs(cost), np.zeros(9), 1.0, Limits(labels=50)) is None
    n = MOST_CUSTOMERS + 2
    assert cheapest_routes(open_arcs(np.ones((n, n))), np.zeros(n), 1.0, Limits()) is None
