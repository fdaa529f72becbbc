"""Statistics of paired comparisons: the gaps of two solvers on the same instances, and what they show."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ncosolve.problems.base import FloatArray

CAP = 1.0
"""A run without a valid answer counts as a gap of 100 %, and so does any larger gap: a mean must stay a mean of runs,
and not of the one run that went astray."""
TIE = 1e-6
"""Gaps that differ by no more than this are equal."""
LEVEL = 0.05
"""Chance of a verdict where two solvers are the same, over all comparisons of a table together."""
RESAMPLES = 5000

BETTER, WORSE, NO_DIFFERENCE, TOO_FEW = "better", "worse", "no difference shown", "too few instances to tell"


@dataclass(frozen=True)
class Comparison:
    """What paired gaps of a solver and of the one it is compared with say.

    Attributes
    ----------
    instances : int
        Number of pairs.
    wins, ties, losses : int
        Instances with a smaller, an equal and a larger gap.
    mean, median : float
        Of the difference in gap; negative where the solver is better. NaN without instances.
    low, high : float
        95 % bootstrap interval of the mean; NaN with fewer than two instances.
    sign_p, rank_p : float
        Two-sided, of the exact sign test and of the exact signed-rank test.
    direction : int
        -1 where the signed ranks speak for the solver, 1 where they speak against it, 0 where they balance.
    adjusted_p : float
        ``rank_p`` after Holm's correction; NaN until `judged`.
    verdict : str
        `BETTER`, `WORSE`, `NO_DIFFERENCE` or `TOO_FEW`; empty until `judged`.
    """

    instances: int
    wins: int
    ties: int
    losses: int
    mean: float
    median: float
    low: float
    high: float
    sign_p: float
    rank_p: float
    direction: int
    adjusted_p: float = math.nan
    verdict: str = ""


def counted(gaps: ArrayLike) -> FloatArray:
    """Gaps as they count: `CAP` where there is no answer (NaN), and nowhere more than that."""
    values = np.asarray(gaps, dtype=np.float64)
    return np.minimum(np.where(np.isnan(values), CAP, values), CAP)


def compare(a: ArrayLike, b: ArrayLike, seed: int = 0) -> Comparison:
    """Compare the gaps of a solver with those of another.

    The instance is what is paired: runs with different seeds on one instance are no independent observations, so their
    gaps are averaged before they come here.

    Parameters
    ----------
    a, b : array_like, shape (instances,)
        Gaps of the solver and of the other one, NaN without an answer.
    seed : int
        Of the bootstrap.
    """
    differences = counted(a) - counted(b)
    differences[np.abs(differences) <= TIE] = 0.0
    low, high = interval(differences, seed)
    some = len(differences) > 0
    return Comparison(
        instances=len(differences),
        wins=int((differences < 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences > 0).sum()),
        mean=float(differences.mean()) if some else math.nan,
        median=float(np.median(differences)) if some else math.nan,
        low=low,
        high=high,
        sign_p=sign_test(differences),
        rank_p=signed_rank_test(differences),
        direction=int(np.sign(_signed_ranks(differences).sum())),
    )


def sign_test(differences: FloatArray) -> float:
    """Two-sided p-value of the exact sign test; zeros take no side, and 1 where there is nothing else."""
    plus, minus = int((differences > 0).sum()), int((differences < 0).sum())
    return float(stats.binomtest(plus, plus + minus).pvalue) if plus + minus else 1.0


def signed_rank_test(differences: FloatArray) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test, exact also with ties and zeros.

    Zeros are ranked and their ranks dropped (Pratt, 1959). The distribution of the rank sum is built by convolution,
    rank by rank, so that nothing is approximated however few instances there are; 1 where all differences are zero.
    """
    signed = np.rint(2 * _signed_ranks(differences)).astype(np.int64)  # ranks that are shared are halves
    steps = np.abs(signed[signed != 0])
    if not len(steps):
        return 1.0
    chance = np.ones(1)
    for step in np.sort(steps):
        none = np.zeros(step)
        chance = 0.5 * (np.concatenate([chance, none]) + np.concatenate([none, chance]))
    plus = int(signed[signed > 0].sum())
    return min(1.0, 2.0 * float(chance[: min(plus, len(chance) - 1 - plus) + 1].sum()))


def _signed_ranks(differences: FloatArray) -> FloatArray:
    return np.sign(differences) * stats.rankdata(np.abs(differences))


def interval(differences: FloatArray, seed: int = 0) -> tuple[float, float]:
    """95 % interval of the mean difference by a bootstrap over instances; NaN with fewer than two.

    The percentiles are taken further out than 2.5 and 97.5, as Student's t asks for few instances, because resampling
    alone makes too narrow an interval (Hesterberg, 2015, "expanded percentile").
    """
    n = len(differences)
    if n < 2:
        return math.nan, math.nan
    drawn = np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))
    tail = stats.norm.cdf(math.sqrt(n / (n - 1)) * stats.t.ppf(LEVEL / 2, n - 1))
    low, high = np.quantile(differences[drawn].mean(axis=1), [tail, 1 - tail])
    return float(low), float(high)


def holm(p_values: ArrayLike) -> FloatArray:
    """P-values after Holm's step-down correction for as many tests as there are."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted


def judged(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons of one table with their corrected p-values and verdicts at 5 %.

    `TOO_FEW` where no result whatever could reach 5 %: a clean sweep of n instances has p = 2 / 2^n, so that a single
    comparison needs 6 instances, and a table with more of them more.
    """
    adjusted = holm([each.rank_p for each in comparisons])
    smallest = holm([min(1.0, 2.0 ** (1 - each.instances)) for each in comparisons])
    return [
        dataclasses.replace(each, adjusted_p=float(p), verdict=_verdict(each, p, possible))
        for each, p, possible in zip(comparisons, adjusted, smallest, strict=True)
    ]


def _verdict(comparison: Comparison, p: float, possible: float) -> str:
    if possible > LEVEL:
        return TOO_FEW
    if p > LEVEL:
        return NO_DIFFERENCE
    return BETTER if comparison.direction < 0 else WORSE


def performance_profile(gaps: FloatArray, taus: ArrayLike) -> FloatArray:
    """The share of instances on which each solver is within ``tau`` of the best one.

    Parameters
    ----------
    gaps : ndarray, shape (instances, solvers)
        As `counted`; a solver at `CAP` is within no distance of the best.
    taus : array_like, shape (k,)
        Differences in gap.

    Returns
    -------
    ndarray, shape (solvers, k)
    """
    excess = np.where(gaps >= CAP, np.inf, gaps - gaps.min(axis=1, keepdims=True))
    return (excess[:, :, None] <= np.asarray(taus) + TIE).mean(axis=0)
