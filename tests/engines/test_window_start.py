"""Starts by depth-first search: on time, the same for the same seed, and where they end without one."""

import numpy as np
import pytest

import ncosolve
from ncosolve.engines.exact import tour_form
from ncosolve.engines.window_start import FirstTours


def starts(instance, seed=0):
    return FirstTours(tour_form(instance, 0.1).arcs, seed)


@pytest.mark.parametrize(("n", "hardness"), [(50, "easy"), (100, "medium"), (200, "hard")])
def test_generated_instances_have_a_start_at_once(n, hardness):
    for seed in range(3):
        instance = ncosolve.generate("tsptw", n, seed=seed, hardness=hardness)
        tours = starts(instance).firsts()
        checks = [instance.check(tour) for tour in tours]
        assert checks
        assert all(check.feasible for check in checks)
        assert [check.cost for check in checks] == sorted(check.cost for check in checks)


def test_later_orders_are_random_and_of_the_seed():
    instance = ncosolve.generate("tsptw", 40, seed=1, hardness="medium")

    def some(seed):
        made = starts(instance, seed)
        made.firsts()
        return [made.until(lambda: False).tolist() for _ in range(3)]

    assert some(1) == some(1) != some(2)


def test_it_ends_where_there_is_no_tour_or_no_time():
    clash = ncosolve.TSPTW(np.ones((4, 4)), ready_time=[0, 5, 5, 5], due_date=[99, 5, 6, 6])
    made = starts(clash)
    assert made.firsts() == []
    assert made.exhausted
    assert made.until(lambda: False) is None
    assert starts(ncosolve.generate("tsptw", 20, seed=1)).until(lambda: True) is None
