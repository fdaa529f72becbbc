"""From runs to gaps: what each solver had on each instance when a time mark was up, against a reference cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ncosolve.bench.statistics import CAP, TIE
from ncosolve.bench.table import Row
from ncosolve.problems.base import FloatArray
from ncosolve.record import gap_to


@dataclass(frozen=True)
class Reference:
    """The cost that gaps on an instance are taken against, and whether it is the published best-known one."""

    cost: float
    published: bool


@dataclass(frozen=True)
class Outcome:
    """What a run had at a time mark.

    Attributes
    ----------
    row : Row
        The run.
    own : bool
        Whether the mark was its time limit; otherwise it is read from the history of a longer run.
    cost : float or None
        None without a valid answer at that time.
    gap : float
        As it counts: `CAP` without an answer, and never more; negative where the reference was beaten.
    time_to_best : float or None
        Seconds until the reference was met or beaten; None where it was not by the mark.
    """

    row: Row
    own: bool
    cost: float | None
    gap: float
    time_to_best: float | None


def references(rows: Iterable[Row]) -> dict[str, Reference]:
    """The reference of each instance of one problem: best-known, else the best valid cost of its rows, if any."""
    published: dict[str, float] = {}
    found: dict[str, float] = {}
    for row in rows:
        if row.best_known is not None:
            published.setdefault(row.instance, row.best_known)
        if row.cost is not None and row.valid:
            best = found.setdefault(row.instance, row.cost)
            found[row.instance] = max(best, row.cost) if row.maximise else min(best, row.cost)
    own = {instance: Reference(cost, False) for instance, cost in found.items()}
    return own | {instance: Reference(cost, True) for instance, cost in published.items()}


def gap(cost: float | None, reference: Reference | None, maximise: bool) -> float:
    """The gap of a cost as it counts, see `Outcome`.

    Against a reference of 0, where no share can be told, any worse cost counts as 100 % and any better one as -100 %;
    that is what |cost - reference| / max(|cost|, |reference|) gives.
    """
    if cost is None or reference is None:
        return CAP
    share = gap_to(cost, reference.cost, maximise)
    if share is None:
        share = CAP if (cost > reference.cost) != maximise else -CAP
    return 0.0 if abs(share) <= TIE else min(share, CAP)


def outcomes(rows: Iterable[Row], mark: float, known: Mapping[str, Reference]) -> list[Outcome]:
    """What each solver had at a mark, for each instance and seed of one problem.

    It is read from the run whose time limit is the mark; without one, from the shortest longer run, where the solver
    is anytime. A solver that has neither has no outcome.
    """
    chosen: dict[tuple[str, str, int], Row] = {}
    for row in rows:
        if row.limit == mark or (row.anytime and row.limit > mark):
            place = (row.solver, row.instance, row.seed)
            if place not in chosen or row.limit <= chosen[place].limit:
                chosen[place] = row
    return [_outcome(row, mark, known.get(row.instance)) for row in chosen.values()]


def _outcome(row: Row, mark: float, reference: Reference | None) -> Outcome:
    own = row.limit == mark
    cost = _cost(row, mark, own)
    share = gap(cost, reference, row.maximise)
    reached = _time_to_best(row, reference) if share <= TIE else None
    return Outcome(row, own, cost, share, reached)


def _cost(row: Row, mark: float, own: bool) -> float | None:
    if not row.solved:
        return None
    return row.cost if own else next((cost for seconds, cost in reversed(row.history) if seconds <= mark), None)


def _time_to_best(row: Row, reference: Reference | None) -> float:
    reached = (seconds for seconds, cost in row.history if gap(cost, reference, row.maximise) <= TIE)
    return next(reached, row.wall)


def matrix(found: Iterable[Outcome], instances: Sequence[str], solvers: Sequence[str]) -> FloatArray:
    """Gaps averaged over seeds, shape (instances, solvers); NaN where a solver was not run on an instance."""
    across = {name: k for k, name in enumerate(solvers)}
    down = {name: k for k, name in enumerate(instances)}
    total = np.zeros((len(instances), len(solvers)))
    runs = np.zeros_like(total)
    for each in found:
        place = down[each.row.instance], across[each.row.solver]
        total[place] += each.gap
        runs[place] += 1
    return np.divide(total, runs, out=np.full_like(total, np.nan), where=runs > 0)


def trajectory(row: Row, reference: Reference | None, times: FloatArray) -> FloatArray:
    """The gap of a run at each of the times: `CAP` before its first answer, that of its answer from its limit on."""
    if not row.solved:
        return np.full(len(times), CAP)
    seconds = np.array([at for at, _ in row.history])
    gaps = np.array([CAP, *(gap(cost, reference, row.maximise) for _, cost in row.history)])
    return np.where(
        times >= row.limit,
        gap(row.cost, reference, row.maximise),
        gaps[np.searchsorted(seconds, times, side="right")],
    )
