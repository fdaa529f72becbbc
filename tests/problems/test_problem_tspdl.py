"""TSPDL: load on arrival by hand, a published optimum by dynamic programming, and the exactness of clash()."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncosolve import TSPDL, Distance
from ncosolve.errors import InputError
from ncosolve.problems.base import Violation

BURMA14 = """16.47 96.10  16.47 94.44  20.09 92.54  22.39 93.37  25.23 97.24  22.00 96.05  20.47 97.02
17.20 96.29  16.30 97.38  14.05 98.12  16.53 97.38  21.52 95.59  19.41 97.13  20.09 94.55"""
BURMA14_10_1 = [13, 13, 13, 13, 13, 12, 13, 13, 13, 13, 13, 13, 1, 13]


def line(demand, draft_limit):
    return TSPDL(coords=[(k, 0) for k in range(len(demand))], demand=demand, draft_limit=draft_limit)


def test_the_load_on_arrival_counts_with_its_own_cargo():
    """9 aboard at first; arriving at port 1 with 9, at port 2 with 7, at port 3 with 4."""
    assert line([0, 2, 3, 4], [9, 9, 7, 4]).check([0, 1, 2, 3]).feasible
    check = line([0, 2, 3, 4], [9, 8, 5, 4]).check([0, 1, 2, 3])
    assert check.violations == (Violation("draft limit", 2.0, "port 2", 2),)
    assert check.cost == 6


def test_direction_matters():
    instance = line([0, 1, 1, 1], [3, 3, 2, 1])
    assert instance.check([0, 1, 2, 3]).feasible
    assert not instance.check([0, 3, 2, 1]).feasible


def test_the_limit_of_the_depot_does_not_bind():
    assert line([0, 1, 1], [0, 2, 2]).check([0, 1, 2]).feasible


def test_the_published_optimum_of_burma14_10_1():
    """3416 (Rakke et al. 2012), by dynamic programming over the ports visited: their number gives the load."""
    coords = np.array(BURMA14.split(), float).reshape(-1, 2)
    instance = TSPDL(
        Distance(metric="geo", coords=coords), demand=[0] + [1] * 13, draft_limit=BURMA14_10_1, name="burma14_10_1"
    )
    table, limit = instance.distance.matrix(), instance.draft_limit[1:]
    best = np.full((1 << 13, 13), np.inf)
    first = limit >= 13
    best[1 << np.flatnonzero(first), np.flatnonzero(first)] = table[0, 1:][first]
    for visited in range(1, 1 << 13):
        load = 13 - visited.bit_count()
        extended = (best[visited][:, None] + table[1:, 1:]).min(axis=0)
        for k in np.flatnonzero(limit >= load):
            if not visited >> int(k) & 1:
                larger = visited | 1 << int(k)
                best[larger, k] = min(best[larger, k], extended[k])
    assert (best[-1] + table[1:, 0]).min() == 3416
    tour = np.array([1, 8, 11, 9, 10, 2, 14, 3, 4, 5, 6, 12, 7, 13]) - 1
    check = instance.check(tour)
    assert check.cost == 3416
    assert check.feasible
    assert not instance.check(tour[::-1]).feasible


@given(st.data())
def test_clash_is_exact(data):
    """It says so exactly where no permutation is feasible."""
    n = data.draw(st.integers(1, 6))
    demand = [0, *data.draw(st.lists(st.integers(0, 4), min_size=n - 1, max_size=n - 1))]
    limit = [sum(demand), *data.draw(st.lists(st.integers(0, 12), min_size=n - 1, max_size=n - 1))]
    instance = line(demand, limit)
    feasible = any(instance.check([0, *order]).feasible for order in itertools.permutations(range(1, n)))
    assert (instance.clash() is None) == feasible


@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_pickup_and_delivery_are_mirror_images(n, seed):
    """A tour that keeps the limits while loading keeps them while unloading when it is reversed."""
    rng = np.random.default_rng(seed)
    demand = np.concatenate([[0], rng.integers(0, 5, n - 1)])
    instance = line(demand, rng.integers(0, demand.sum() + 2, n))
    tour = np.concatenate([[0], 1 + rng.permutation(n - 1)])
    loaded = np.cumsum(demand[tour])[1:]
    pickup = bool((loaded <= instance.draft_limit[tour[1:]]).all())
    assert instance.check(tour[::-1]).feasible == pickup


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"demand": [0, 1]}, r"^demand: has shape"),
        ({"demand": [1, 1, 1]}, "^demand: of the depot is 1"),
        ({"demand": [0, -1, 1]}, "^demand: entry 1 is -1"),
        ({"draft_limit": [2, 2]}, r"^draft_limit: has shape"),
        ({"draft_limit": [2, np.nan, 2]}, "^draft_limit: entry 1 is nan"),
        ({"draft_limit": [2, -1, 2]}, "^draft_limit: entry 1 is -1"),
    ],
)
def test_bad_fields_are_refused_by_name(changes, says):
    with pytest.raises(InputError, match=says):
        TSPDL(**({"coords": [(0, 0)] * 3, "demand": [0, 1, 1], "draft_limit": [2, 2, 2]} | changes))
