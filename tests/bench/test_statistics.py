"""Comparisons find what is there and nothing else: exact p-values, honest intervals, verdicts at their nominal rate."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from ncosolve.bench.statistics import (
    BETTER,
    NO_DIFFERENCE,
    TOO_FEW,
    WORSE,
    compare,
    counted,
    holm,
    interval,
    judged,
    performance_profile,
    sign_test,
    signed_rank_test,
)


def verdict(a, b):
    (found,) = judged([compare(a, b)])
    return found.verdict


def seeded_gaps(rng, scale=1.0):
    """Gaps of a solver on 12 instances of differing hardness, 3 noisy seeds averaged within each."""
    hardness = rng.lognormal(-5.0, 1.0, 12)[:, None]
    return lambda: (scale * hardness * rng.lognormal(0.0, 0.4, (12, 3))).mean(axis=1)


def test_identical_solvers_differ_at_the_nominal_rate():
    """Only noise separates the two, so that 5 % of verdicts at most may claim a difference; on either side."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(800):
        draw = seeded_gaps(rng)
        found.append(verdict(draw(), draw()))
    wrong = 800 - found.count(NO_DIFFERENCE)
    # the exact test of 12 pairs attains 4.2 %: 34 expected, standard deviation 5.7
    assert 17 <= wrong <= 52
    assert abs(found.count(BETTER) - found.count(WORSE)) <= 18


def test_a_whole_table_of_identical_solvers_keeps_the_level_together():
    rng = np.random.default_rng(8)
    wrong = 0
    for _ in range(300):
        draw = seeded_gaps(rng)
        reference = draw()
        wrong += any(each.verdict != NO_DIFFERENCE for each in judged([compare(draw(), reference) for _ in range(4)]))
    assert wrong <= 25  # 5 % of 300 and 2.6 standard deviations


def test_a_worse_copy_is_found_and_its_mirror_is_better():
    rng = np.random.default_rng(3)
    draw = seeded_gaps(rng)
    good, bad = draw(), 2.0 * draw()
    found = compare(bad, good)
    assert verdict(bad, good) == WORSE
    assert verdict(good, bad) == BETTER
    assert found.mean > 0
    assert found.losses > found.wins
    mirror = compare(good, bad)
    assert (mirror.wins, mirror.losses, mirror.mean, mirror.rank_p) == (
        found.losses,
        found.wins,
        pytest.approx(-found.mean),
        found.rank_p,
    )


def test_sign_test_by_hand():
    # 1 of 5 positive: 2 (C(5,0) + C(5,1)) / 32
    assert sign_test(np.array([-1.0, -2.0, -1.0, -4.0, 3.0])) == pytest.approx(12 / 32)
    # zeros take no side: 6 of 6
    assert sign_test(np.array([1.0, 1.0, 2.0, 3.0, 0.0, 5.0, 9.0, 0.0])) == pytest.approx(2 / 64)


def test_signed_rank_test_by_hand():
    # ranks 1 2 3 4 5, the smallest alone is positive: sums of at most 1 in 2 of 32 ways
    assert signed_rank_test(np.array([1.0, -2.0, -3.0, -4.0, -5.0])) == pytest.approx(4 / 32)
    # Pratt: the zero takes rank 1, the others 2 3 4; rank 2 positive: of the 8 sums only 0 and 2 are at most 2
    assert signed_rank_test(np.array([0.0, 1.0, -2.0, -3.0])) == pytest.approx(4 / 8)
    # shared ranks 1.5 1.5 3 4 5 6, one of the smaller two positive: {}, either of the two
    assert signed_rank_test(np.array([1.0, -1.0, -2.0, -3.0, -4.0, -5.0])) == pytest.approx(6 / 64)


def test_signed_rank_test_is_that_of_scipy_where_that_is_exact():
    rng = np.random.default_rng(1)
    for n in (5, 12, 30):
        differences = rng.normal(0.4, 1.0, n)
        expected = stats.wilcoxon(differences, method="exact").pvalue
        assert signed_rank_test(differences) == pytest.approx(expected, rel=1e-12)


def test_signed_rank_test_is_all_sign_changes_counted_with_ties_and_zeros():
    rng = np.random.default_rng(2)
    for _ in range(20):
        differences = rng.integers(-3, 4, 8).astype(float)
        ranks = stats.rankdata(np.abs(differences))[differences != 0]
        signs = np.array(list(itertools.product([0, 1], repeat=len(ranks))))
        sums, seen = signs @ ranks, ranks[differences[differences != 0] > 0].sum()
        tail = min((sums <= seen).mean(), (sums >= seen).mean()) if len(ranks) else 0.5
        assert signed_rank_test(differences) == pytest.approx(min(1.0, 2 * tail))


def test_all_equal_is_certain_to_show_nothing():
    found = compare(np.full(12, 0.01), np.full(12, 0.01 + 5e-7))
    assert (found.wins, found.ties, found.losses) == (0, 12, 0)
    assert (found.sign_p, found.rank_p, found.direction) == (1.0, 1.0, 0)
    assert (found.mean, found.low, found.high) == (0.0, 0.0, 0.0)
    assert verdict(np.zeros(12), np.zeros(12)) == NO_DIFFERENCE


@pytest.mark.parametrize(("n", "expected"), [(0, TOO_FEW), (1, TOO_FEW), (5, TOO_FEW), (6, BETTER)])
def test_fewer_than_six_instances_can_show_nothing(n, expected):
    a = np.arange(n) / 1000
    assert verdict(a, a + np.linspace(0.01, 0.02, n)) == expected


def test_more_comparisons_need_more_instances():
    a = np.arange(6) / 1000
    sweep = compare(a, a + np.linspace(0.01, 0.02, 6))
    assert [each.verdict for each in judged([sweep] * 2)] == [TOO_FEW, TOO_FEW]
    assert judged([]) == []


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_the_interval_covers_the_true_mean():
    """Close to 95 % of intervals, for skewed differences and few instances: those of benchmarks."""
    rng = np.random.default_rng(11)
    for n, least in ((8, 0.86), (30, 0.90)):
        draws = rng.gamma(2.0, 1.0, (400, n)) - 2.0
        hits = sum(low <= 0.0 <= high for low, high in map(interval, draws))
        assert least <= hits / 400 <= 0.99
    normal = rng.normal(0.0, 1.0, (400, 8))
    hits = sum(low <= 0.0 <= high for low, high in map(interval, normal))
    assert 0.91 <= hits / 400 <= 0.985


def test_the_interval_is_repeatable_and_undefined_for_one_instance():
    differences = np.random.default_rng(4).normal(size=9)
    assert interval(differences, seed=1) == interval(differences, seed=1)
    assert interval(differences, seed=1) != interval(differences, seed=2)
    assert all(map(math.isnan, interval(differences[:1])))


def test_failures_and_huge_gaps_count_as_100_per_cent():
    assert counted([math.nan, 7.0, math.inf, 0.2, -0.3]).tolist() == [1.0, 1.0, 1.0, 0.2, -0.3]
    found = compare([math.nan, 0.1], [5.0, 0.1])
    assert (found.wins, found.ties, found.losses, found.mean) == (0, 2, 0, 0.0)
    assert compare([math.nan], [0.25]).mean == pytest.approx(0.75)


def test_performance_profile_by_hand():
    gaps = np.array([[0.00, 0.02], [0.05, 0.01], [1.0, 0.30], [1.0, 1.0]])
    shares = performance_profile(gaps, [0.0, 0.02, 0.04])
    assert shares.tolist() == [[0.25, 0.25, 0.5], [0.5, 0.75, 0.75]]
