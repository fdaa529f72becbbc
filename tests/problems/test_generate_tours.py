"""Random TSP, TSPTW and TSPDL instances: published golden values, their laws, feasibility by construction."""

import itertools

import numpy as np
import pytest

import ncosolve
from ncosolve.errors import InputError
from ncosolve.problems import tsp, tspdl, tsptw
from ncosolve.problems.base import replace

TEST_SEED, TEST_COUNT = 2025, 10_000  # of the published test sets


def test_uniform_cities_fill_the_grid_with_whole_coordinates():
    instance = ncosolve.generate("tsp", 20_000, seed=1)
    coords = instance.distance.coords
    assert np.array_equal(coords, np.floor(coords))
    assert coords.min() >= 0
    assert coords.max() < 1_000_000
    assert np.allclose(coords.mean(axis=0), 500_000, atol=10_000)
    assert np.allclose(coords.std(axis=0), 1_000_000 / np.sqrt(12), atol=5_000)
    assert instance.distance.rounding == "nint"
    assert ncosolve.generate("tsp", 500, grid=10).distance.coords.max() == 9


def test_clustered_cities_lie_around_one_centre_in_a_hundred():
    """One centre: the standard deviation is grid / sqrt(n); many: cities are closer to another than uniform ones."""
    one = ncosolve.generate("tsp", 199, seed=3, layout="clustered").distance.coords
    assert np.allclose(one.std(axis=0), 1_000_000 / np.sqrt(199), rtol=0.2)
    many = ncosolve.generate("tsp", 2000, seed=3, layout="clustered").distance
    uniform = ncosolve.generate("tsp", 2000, seed=3).distance

    def nearest(distance):
        table = distance.matrix().copy()
        np.fill_diagonal(table, np.inf)
        return np.median(table.min(axis=1))

    assert nearest(many) < 0.6 * nearest(uniform)


def test_batches_of_cities_are_uniform_in_the_unit_square():
    batch = tsp.generate_batch(1000, 50, seed=4)
    assert batch.shape == (1000, 50, 2)
    assert batch.min() >= 0
    assert batch.max() < 1
    assert abs(batch.mean() - 0.5) < 0.005
    assert np.array_equal(batch, tsp.generate_batch(1000, 50, seed=4))
    assert not np.array_equal(batch, tsp.generate_batch(1000, 50, seed=5))


@pytest.mark.parametrize("call", [tsp.generate_batch, tsptw.generate_batch, tspdl.generate_batch])
@pytest.mark.parametrize(("count", "n", "says"), [(0, 5, "^count: "), (5, 0, "^n: "), (2.5, 5, "^count: ")])
def test_batches_of_no_size_are_refused(call, count, n, says):
    with pytest.raises(InputError, match=says):
        call(count, n)


@pytest.fixture(scope="module")
def published():
    """The published TSPTW test sets of 50 nodes."""
    return {name: tsptw.generate_batch(TEST_COUNT, 50, TEST_SEED, name) for name in tsptw.HARDNESS}


@pytest.mark.parametrize(
    ("hardness", "window"), [("easy", (23.08, 38.73)), ("medium", (23.08, 26.59)), ("hard", (21.745712, 22.402666))]
)
def test_the_published_test_sets_are_reproduced(published, hardness, window):
    batch = published[hardness]
    assert batch.coords.shape == (TEST_COUNT, 50, 2)
    assert batch.coords[0, 0].astype(np.float32).tolist() == np.array([0.13548817, 0.8878517], np.float32).tolist()
    found = np.array([batch.ready_time[0, 1], batch.due_date[0, 1]], np.float32)
    assert found.tolist() == np.array(window, np.float32).tolist()


@pytest.mark.parametrize(
    ("hardness", "low", "high", "mean"),
    [("easy", 13.75, 20.62, 17.19), ("medium", 2.75, 5.5, 4.125), ("hard", 0, 1, 0.5)],
)
def test_window_widths_follow_their_law(published, hardness, low, high, mean):
    width = (published[hardness].due_date - published[hardness].ready_time)[:, 1:]
    assert width.min() >= low - 0.01
    assert width.max() <= high + 0.01
    assert width.mean() == pytest.approx(mean, rel=0.02)


def test_the_depot_closes_just_after_the_last_possible_return(published):
    for batch in published.values():
        home = np.linalg.norm(batch.coords - batch.coords[:, :1], axis=2)
        assert np.array_equal(batch.due_date[:, 0], (batch.due_date + home)[:, 1:].max(axis=1))
        assert not batch.ready_time[:, 0].any()


def test_only_hard_batches_come_with_an_order(published):
    assert published["easy"].order is None
    assert published["medium"].order is None
    assert np.array_equal(np.sort(published["hard"].order, axis=1), np.tile(np.arange(1, 50), (TEST_COUNT, 1)))


@pytest.mark.parametrize("n", [2, 3, 10, 50])
def test_the_hidden_order_of_hard_instances_is_feasible(n):
    batch = tsptw.generate_batch(250, n, 5, "hard")
    for coords, ready, due, order in zip(*batch, strict=True):
        instance = ncosolve.TSPTW(coords=coords, ready_time=ready, due_date=due)
        assert instance.check([0, *order]).feasible
        assert instance.clash() is None


def test_hard_windows_reject_another_order():
    batch = tsptw.generate_batch(20, 20, 5, "hard")
    for coords, ready, due, order in zip(*batch, strict=True):
        instance = ncosolve.TSPTW(coords=coords, ready_time=ready, due_date=due)
        assert not instance.check([0, *order[::-1]]).feasible


def test_the_width_of_hard_windows_can_be_set():
    narrow = tsptw.generate_batch(100, 50, 1, "hard", width=20)
    width = (narrow.due_date - narrow.ready_time)[:, 1:]
    assert width.max() <= 0.2
    assert width.mean() == pytest.approx(0.1, rel=0.03)


def test_one_tsptw_instance_is_the_first_of_a_batch_of_one():
    for hardness in tsptw.HARDNESS:
        batch = tsptw.generate_batch(1, 12, 9, hardness)
        instance = ncosolve.generate("tsptw", 12, seed=9, hardness=hardness)
        assert np.array_equal(instance.distance.coords, batch.coords[0])
        assert np.array_equal(instance.ready_time, batch.ready_time[0])
        assert np.array_equal(instance.due_date, batch.due_date[0])
        assert not instance.service_time.any()


def test_small_medium_instances_need_not_be_feasible():
    """The documented share at n = 7 is well above none and below all; nothing is filtered silently."""
    feasible = 0
    for seed in range(12):
        instance = ncosolve.generate("tsptw", 7, seed=seed, hardness="medium")
        feasible += any(instance.check([0, *order]).feasible for order in itertools.permutations(range(1, 7)))
    assert 0 < feasible < 12


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_seeds_and_hardness_out_of_range_are_refused(problem):
    with pytest.raises(InputError, match=r"^seed: is 4294967296, expected a whole number < 2\*\*32"):
        ncosolve.generate(problem, 5, seed=2**32)
    with pytest.raises(InputError, match=r"^hardness: is 'harsh', expected one of easy, medium, hard"):
        ncosolve.generate(problem, 5, hardness="harsh")


def test_a_width_that_is_not_positive_is_refused():
    with pytest.raises(InputError, match=r"^width: "):
        ncosolve.generate("tsptw", 5, width=0)


@pytest.mark.parametrize(("hardness", "tightened"), [("easy", 25), ("medium", 37), ("hard", 45)])
def test_draft_limits_follow_their_law(hardness, tightened):
    batch = tspdl.generate_batch(2000, 50, TEST_SEED, hardness)
    limits = batch.draft_limit[:, 1:]
    assert ((limits < 49).sum(axis=1) == tightened).all()
    assert limits.min() >= 1
    assert (batch.draft_limit[:, 0] == 49).all()
    assert (np.sort(limits, axis=1) > np.arange(49)).all()  # at most v limits are at most v
    assert (batch.demand == (np.arange(50) > 0)).all()
    if hardness == "hard":
        assert limits.mean() == pytest.approx(28.7, abs=0.1)


def test_every_set_of_limits_that_fits_is_equally_likely():
    """n = 4: two ports of three get (1, 2) or (2, 1) or (2, 2); the ordered pairs are uniform over the three."""
    limits = tspdl.generate_batch(3000, 4, 1, "hard").draft_limit[:, 1:]
    kinds, counts = np.unique(np.sort(limits, axis=1), axis=0, return_counts=True)
    assert kinds.tolist() == [[1, 2, 3], [2, 2, 3]]
    assert counts[0] / 3000 == pytest.approx(2 / 3, abs=0.04)


@pytest.mark.parametrize("hardness", ["easy", "medium", "hard"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 11, 50])
def test_draft_limits_always_leave_a_feasible_tour(hardness, n):
    for seed in range(20):
        instance = ncosolve.generate("tspdl", n, seed=seed, hardness=hardness)
        falling = 1 + np.argsort(-instance.draft_limit[1:])
        assert instance.check([0, *falling]).feasible
        assert instance.clash() is None


def test_the_coordinates_of_both_problems_come_from_one_stream():
    """Both laws draw all positions first, from the same generator."""
    tours = tspdl.generate_batch(10, 50, 4321, "medium")
    assert np.allclose(tours.coords, tsptw.generate_batch(10, 50, 4321, "easy").coords, rtol=1e-15)
    single = ncosolve.generate("tspdl", 50, seed=4321, hardness="medium")
    assert np.array_equal(replace(single).distance.coords, tspdl.generate_batch(1, 50, 4321, "medium").coords[0])
