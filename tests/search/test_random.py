import numpy as np
import pytest
from numba import njit

from ncosolve.search.random import below, seed_state, uniform


@njit
def draw(state, count, n):
    floats, integers = np.empty(count), np.empty(count, np.int64)
    for k in range(count):
        floats[k] = uniform(state)
        integers[k] = below(state, n)
    return floats, integers


def test_floats_are_uniform_on_the_half_open_unit_interval():
    floats, _ = draw(seed_state(1), 200_000, 7)
    assert 0.0 <= floats.min() < 1e-4
    assert 1.0 - 1e-4 < floats.max() < 1.0
    counts = np.histogram(floats, 20, (0, 1))[0]
    assert np.abs(counts - 10_000).max() < 500  # five standard deviations
    assert abs(np.corrcoef(floats[:-1], floats[1:])[0, 1]) < 0.01


@pytest.mark.parametrize("n", [1, 2, 7])
def test_integers_are_uniform_below_n(n):
    _, integers = draw(seed_state(2), 70_000, n)
    assert set(integers.tolist()) == set(range(n))
    assert np.abs(np.bincount(integers) - 70_000 / n).max() < 5 * np.sqrt(70_000 / n) + 1


def test_equal_seeds_repeat_and_neighbouring_seeds_do_not_resemble_each_other():
    first, again, other = (draw(seed_state(s), 10_000, 3)[0] for s in (5, 5, 6))
    assert np.array_equal(first, again)
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.05


@pytest.mark.parametrize("seed", [0, -1, 2**64 - 1, 2**70 + 3])
def test_any_integer_is_a_seed_and_the_state_keeps_its_type(seed):
    state = seed_state(seed)
    assert state.shape == (1,)
    assert state[0] != 0
    before = state.copy()
    uniform(state)
    assert state.dtype == np.uint64
    assert state[0] != before[0]
