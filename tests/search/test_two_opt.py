import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ncosolve.search import two_opt
from ncosolve.search.metric import computed, tabulated
from ncosolve.search.neighbours import nearest
from ncosolve.search.random import seed_state

BERLIN = (
    "565 575 25 185 345 750 945 685 845 655 880 660 25 230 525 1000 580 1175 650 1130 1605 620 1220 580 1465 "
    "200 1530 5 845 680 725 370 145 665 415 635 510 875 560 365 300 465 520 585 480 415 835 625 975 580 1215 "
    "245 1320 315 1250 400 660 180 410 250 420 555 575 665 1150 1160 700 580 685 595 685 610 770 610 795 645 "
    "720 635 760 650 475 960 95 260 875 920 700 500 555 815 830 485 1170 65 830 610 605 625 595 360 1340 725 "
    "1740 245"
)


def start(coords, seed=0):
    metric = computed("euclidean", "nint", coords)
    order = np.random.default_rng(seed).permutation(len(coords)).astype(np.int32)
    return metric, nearest(metric, 8), two_opt.make_tour(order, two_opt.tour_length(metric, order))


@settings(max_examples=60, deadline=None)
@given(st.integers(8, 40), st.integers(0, 10**6), st.sampled_from([2, 10, 1000]))
def test_every_move_gains_what_it_says(n, seed, grid):
    """Ties, duplicates and zero distances included; order and position stay inverse to each other."""
    rng = np.random.default_rng(seed)
    metric, lists, tour = start(rng.integers(0, grid, (n, 2)).astype(float), seed)
    for _ in range(60):
        before = two_opt.tour_length(metric, tour.order)
        move = (two_opt._two_opt, two_opt._or_opt)[int(rng.integers(2))]
        gain = move(metric, lists, tour, int(rng.integers(n)))
        assert two_opt.tour_length(metric, tour.order) == before - gain
        assert np.array_equal(tour.order[tour.position], np.arange(n))
        assert sorted(tour.order) == list(range(n))


@settings(max_examples=60, deadline=None)
@given(st.integers(8, 60), st.integers(0, 10**6))
def test_undo_restores_the_tour(n, seed):
    """After a double bridge and moves, the same cycle with the same neighbours comes back."""
    metric, lists, tour = start(np.random.default_rng(seed).integers(0, 100, (n, 2)).astype(float), seed)
    order, position = tour.order.copy(), tour.position.copy()
    two_opt._double_bridge(metric, tour, seed_state(seed))
    two_opt.descend(metric, lists, tour, two_opt.ALL)
    two_opt._undo(tour)
    assert np.array_equal(tour.order, order)
    assert np.array_equal(tour.position, position)


def test_the_double_bridge_changes_four_edges_by_what_it_says():
    metric, _, tour = start(np.random.default_rng(1).integers(0, 1000, (50, 2)).astype(float))

    def edges():
        return {frozenset((tour.order[k - 1], tour.order[k])) for k in range(50)}

    for seed in range(50):
        old, before = edges(), two_opt.tour_length(metric, tour.order)
        change = two_opt._double_bridge(metric, tour, seed_state(seed))
        assert two_opt.tour_length(metric, tour.order) == before + change
        assert len(edges() - old) <= 4


def test_a_local_optimum_has_no_improving_exchange():
    """Brute force over all 2-opt moves finds nothing once all nodes are neighbours."""
    coords = np.random.default_rng(2).integers(0, 1000, (25, 2)).astype(float)
    metric = computed("euclidean", "exact", coords)
    order = np.arange(25, dtype=np.int32)
    tour = two_opt.make_tour(order, two_opt.tour_length(metric, order))
    for node in order:
        two_opt.push(tour, node)
    two_opt.descend(metric, nearest(metric, 24), tour, two_opt.ALL)
    length = two_opt.tour_length(metric, tour.order)
    for i in range(24):
        for j in range(i + 1, 25):
            other = tour.order.copy()
            other[i : j + 1] = other[i : j + 1][::-1]
            assert two_opt.tour_length(metric, other) >= length - 1e-6


def test_berlin52_is_solved():
    """The optimum 7542 (Reinelt 1995) within 20,000 kicks, with the debug check of every kick on."""
    coords = np.array(BERLIN.split(), float).reshape(-1, 2)
    metric, lists, tour = start(coords)
    for node in tour.order:
        two_opt.push(tour, node)
    two_opt.descend(metric, lists, tour, two_opt.ALL)
    rng, best = seed_state(1), np.inf
    for k in range(20):
        assert two_opt.iterate(metric, lists, tour, rng, 1000, 10.0 * (1 - k / 20), True) != two_opt.MISMATCH
        best = min(best, tour.length[0])
    assert best == 7542


def test_wrong_books_are_noticed():
    """The debug check is no decoration: a length that is off by one is reported."""
    metric, lists, tour = start(np.random.default_rng(3).integers(0, 1000, (30, 2)).astype(float))
    tour.length[0] += 1.0
    assert two_opt.iterate(metric, lists, tour, seed_state(0), 5, 0.0, True) == two_opt.MISMATCH


def test_a_matrix_gives_the_same_search_as_coordinates():
    coords = np.random.default_rng(4).integers(0, 1000, (60, 2)).astype(float)
    metric, lists, tour = start(coords)
    full = np.array([[np.floor(np.hypot(*(a - b)) + 0.5) for b in coords] for a in coords])
    other = two_opt.make_tour(tour.order.copy(), tour.length[0])
    two_opt.iterate(metric, lists, tour, seed_state(5), 500, 1.0, True)
    two_opt.iterate(tabulated(full), lists, other, seed_state(5), 500, 1.0, True)
    assert np.array_equal(tour.order, other.order)
