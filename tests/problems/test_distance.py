"""Distances: TSPLIB's metrics against published optima and hand calculation, rounding rules, matrices, validation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncosolve import TSP, Distance
from ncosolve.errors import InputError
from ncosolve.problems.distance import METRICS, round_lengths

BURMA14 = """16.47 96.10  16.47 94.44  20.09 92.54  22.39 93.37  25.23 97.24  22.00 96.05  20.47 97.02
17.20 96.29  16.30 97.38  14.05 98.12  16.53 97.38  21.52 95.59  19.41 97.13  20.09 94.55"""
BURMA14_ROW = [0, 153, 510, 706, 966, 581, 455, 70, 160, 372, 157, 567, 342, 398]
ULYSSES22 = """38.24 20.42  39.57 26.15  40.56 25.32  36.26 23.12  33.48 10.54  37.56 12.19  38.42 13.11  37.52 20.44
41.23 9.10  41.17 13.05  36.08 -5.21  38.47 15.13  38.15 15.35  37.51 15.17  35.49 14.32  39.36 19.56  38.09 24.36
36.09 23.00  40.44 13.57  40.33 14.15  40.37 14.23  37.57 22.56"""
ULYSSES22_TOUR = [1, 14, 13, 12, 7, 6, 15, 5, 11, 9, 10, 19, 20, 21, 16, 3, 2, 17, 22, 4, 18, 8]
ATT48 = """6734 1453 2233 10 5530 1424 401 841 3082 1644 7608 4458 7573 3716 7265 1268 6898 1885 1112 2049 5468 2606
5989 2873 4706 2674 4612 2035 6347 2683 6107 669 7611 5184 7462 3590 7732 4723 5900 3561 4483 3369 6101 1110 5199 2182
1633 2809 4307 2322 675 1006 7555 4819 7541 3981 3177 756 7352 4506 7545 2801 3245 3305 6426 3173 4608 1198 23 2216
7248 3779 7762 4595 7392 2244 3484 2829 6271 2135 4985 140 1916 1569 7280 4899 7509 3239 10 2676 6807 2993 5185 3258
3023 1942"""
ATT48_TOUR = """1 8 38 31 44 18 7 28 6 37 19 27 17 43 30 36 46 33 20 47 21 32 39 48 5 42 24 10 45 35 4 26 2 29 34 41
16 22 3 23 14 25 13 11 12 15 40 9"""


def coordinates(text):
    return np.array(text.split(), float).reshape(-1, 2)


def shortest_tour(table):
    """Held and Karp's dynamic programme."""
    n = len(table)
    best = np.full((1 << (n - 1), n - 1), np.inf)
    best[1 << np.arange(n - 1), np.arange(n - 1)] = table[0, 1:]
    inner = table[1:, 1:]
    for visited in range(1, 1 << (n - 1)):
        extended = (best[visited][:, None] + inner).min(axis=0)
        for k in range(n - 1):
            if not visited >> k & 1:
                larger = visited | 1 << k
                best[larger, k] = min(best[larger, k], extended[k])
    return float((best[-1] + table[1:, 0]).min())


def test_geo_gives_the_published_matrix_and_optimum_of_burma14():
    distance = Distance(metric="geo", coords=coordinates(BURMA14))
    assert distance.matrix()[0].tolist() == BURMA14_ROW
    assert shortest_tour(distance.matrix()) == 3323


def test_geo_gives_the_published_optimum_of_ulysses22_with_negative_longitudes():
    instance = TSP(Distance(metric="geo", coords=coordinates(ULYSSES22)))
    assert instance.check(np.array(ULYSSES22_TOUR) - 1).cost == 7013


def test_att_gives_the_published_optimum_of_att48():
    instance = TSP(Distance(metric="att", coords=coordinates(ATT48)))
    assert instance.check([int(node) - 1 for node in ATT48_TOUR.split()]).cost == 10628


@pytest.mark.parametrize(
    ("to", "expected"),
    [((3, 1), 1), ((10, 0), 4), ((0, 7), 3), ((0, 8), 3), ((0, 0), 0)],  # roots of a tenth: 1, 3.16, 2.21, 2.53, 0
)
def test_att_rounds_up_whatever_is_no_whole_number(to, expected):
    distance = Distance(metric="att", coords=[(0, 0), to])
    assert distance.between(0, 1) == expected


@pytest.mark.parametrize(("metric", "expected"), [("euclidean", np.sqrt(13.0)), ("manhattan", 5.0), ("maximum", 3.0)])
def test_the_plane_metrics_by_hand(metric, expected):
    assert Distance(metric=metric, coords=[(1, 5), (3, 2)]).between(0, 1) == expected


def test_three_dimensions_count():
    assert Distance(coords=[(0, 0, 0), (2, 3, 6)]).between(0, 1) == 7.0


def test_crystal_distances_turn_the_short_way_round():
    """From 350 to 5 degrees it is 15, not 345; the slowest of the three motors decides (TSPLIB XRAY1 and XRAY2)."""
    points = [(350.0, 0.0, 0.0), (5.0, 9.0, 3.0)]
    assert Distance(metric="xray1", coords=points).between(0, 1) == 1500
    assert Distance(metric="xray2", coords=points).between(0, 1) == 1200


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("exact", [0.0, 0.5, 1.49, 1.5, 2.5, 3.09999, 7.0]),
        ("nint", [0, 1, 1, 2, 3, 3, 7]),  # halves go up, not to the even neighbour
        ("ceil", [0, 1, 2, 2, 3, 4, 7]),
        ("floor", [0, 0, 1, 1, 2, 3, 7]),
        ("dimacs", [0.0, 0.5, 1.4, 1.5, 2.5, 3.0, 7.0]),
    ],
)
def test_rounding_rules(rounding, expected):
    lengths = np.array([0.0, 0.5, 1.49, 1.5, 2.5, 3.09999, 7.0])
    assert round_lengths(lengths, rounding).tolist() == expected


def test_dimacs_does_not_lose_a_tenth_to_binary():
    """0.3 - 0.2 is a little below 0.1 in binary."""
    assert Distance(coords=[(0.2, 0), (0.3, 0)], rounding="dimacs").between(0, 1) == 0.1


@given(st.integers(0, 10**7))
def test_dimacs_keeps_every_number_of_one_decimal(tenths):
    assert round_lengths(np.array([tenths / 10]), "dimacs")[0] == tenths / 10


@pytest.mark.parametrize("metric", [metric for metric in METRICS if metric != "matrix"])
def test_matrix_pairs_and_subset_agree(metric):
    rng = np.random.default_rng(3)
    distance = Distance(metric=metric, coords=rng.uniform(-80, 80, (300, 3 if metric.startswith("xray") else 2)))
    table = distance.matrix()
    i, j = rng.integers(0, 300, (2, 500))
    assert np.array_equal(table[i, j], distance.between(i, j))
    assert np.array_equal(table, table.T)
    assert not np.diag(table).any()
    nodes = np.array([7, 0, 250, 31])
    assert np.array_equal(distance.subset(nodes).matrix(), table[np.ix_(nodes, nodes)])
    assert distance.symmetric


def test_duplicate_points_are_0_apart():
    """The Gram trick would give NaN or a tiny length here."""
    points = np.full((2, 2), 0.1 + 1e7)
    assert Distance(coords=points).between(0, 1) == 0.0


def test_a_matrix_may_be_asymmetric_and_its_diagonal_is_ignored():
    table = [[9999, 1, 2], [3, -5, 4], [5, 6, np.nan]]
    distance = Distance.of(table, None, "exact")
    assert distance.matrix().tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    assert not distance.symmetric
    assert distance.integral
    assert not Distance.of([[0, 0.5], [1, 0]], None, "exact").integral


def test_a_matrix_is_rounded_and_rounded_anew():
    distance = Distance.of([[0, 1.5], [2.4, 0]], None, "nint")
    assert distance.matrix().tolist() == [[0, 2], [2, 0]]
    coords = Distance(coords=[(0, 0), (1, 1)], rounding="exact")
    assert [coords.with_rounding(rule).between(0, 1) for rule in ("nint", "ceil", "floor")] == [1, 2, 1]


def test_a_matrix_is_copied():
    table = np.array([[0.0, 1.0], [1.0, 0.0]])
    distance = Distance.of(table, None, "exact")
    table[0, 1] = 7.0
    assert distance.between(0, 1) == 1.0
    with pytest.raises(ValueError, match=r"read-only"):
        distance.matrix()[0, 1] = 5.0


def test_whole_number_metrics_take_only_rules_that_change_nothing():
    distance = Distance(metric="geo", coords=coordinates(BURMA14))
    assert distance.integral
    assert np.array_equal(distance.with_rounding("nint").matrix(), distance.matrix())
    for rule in ("exact", "dimacs"):
        with pytest.raises(InputError, match=r"^rounding: "):
            distance.with_rounding(rule)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"metric": "taxi", "coords": [(0, 0)]}, "^metric: is 'taxi', expected one of"),
        ({"rounding": "up", "coords": [(0, 0)]}, "^rounding: is 'up', expected one of"),
        ({"metric": "att", "rounding": "dimacs", "coords": [(0, 0)]}, "^rounding: "),
        ({}, "^coords: are missing"),
        ({"metric": "matrix"}, "^distance: is missing"),
        ({"coords": [0, 1]}, r"^coords: have shape \(2,\)"),
        ({"coords": [[0, 1, 2, 3]]}, r"^coords: have shape \(1, 4\)"),
        ({"coords": np.empty((0, 2))}, r"^coords: have shape \(0, 2\)"),
        ({"coords": [(0, 0), (np.nan, 1)]}, "^coords: of node 1"),
        ({"coords": [(0, 0), (1, np.inf)]}, "^coords: of node 1"),
        ({"coords": [(0, "x")]}, "^coords: are not numbers"),
        ({"coords": [(1e200, 0)]}, "^coords: are above 1e150"),
        ({"metric": "matrix", "weights": [[0, 1, 2], [1, 0, 2]]}, r"^distance: has shape \(2, 3\)"),
        ({"metric": "matrix", "weights": [[0, -1], [1, 0]]}, "^distance: from node 0 to 1 is -1"),
        ({"metric": "matrix", "weights": [[0, 1], [np.nan, 0]]}, "^distance: from node 1 to 0 is nan"),
        ({"metric": "matrix", "weights": [[0, np.inf], [1, 0]]}, "^distance: from node 0 to 1 is inf"),
        ({"metric": "matrix", "weights": [["a"]]}, "^distance: is not a matrix of numbers"),
        ({"metric": "matrix", "weights": np.empty((0, 0))}, r"^distance: has shape \(0, 0\)"),
    ],
)
def test_bad_fields_are_refused_by_name(fields, says):
    with pytest.raises(InputError, match=says):
        Distance(**fields)


def test_neither_coordinates_nor_a_matrix_is_an_error():
    with pytest.raises(InputError, match=r"coordinates or a distance matrix"):
        TSP()
