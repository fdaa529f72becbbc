"""From the rows of a benchmark to what they show: summaries by problem, time mark and solver, and comparisons."""

import dataclasses
import re
from collections.abc import Iterable, Sequence

import numpy as np

from ncosolve.bench.findings import Contrast, Mark, ProblemStudy, Study, Summary
from ncosolve.bench.gaps import Reference, matrix, outcomes, references
from ncosolve.bench.statistics import TIE, compare, judged
from ncosolve.bench.table import Row


def study(rows: Iterable[Row], asked: Sequence[str] = (), marks: Sequence[float] = ()) -> Study:
    """Analyse the runs of a benchmark.

    Parameters
    ----------
    rows : iterable of Row
        In any order; of runs with the same key the last one counts.
    asked : sequence of str
        Solvers in the order asked for; others follow by their appearance.
    marks : sequence of float
        Times in seconds to look at beside all time limits in the rows.
    """
    latest = list({row.key: row for row in rows}.values())
    runs = _told_apart(latest)
    first = [row.solver for name in asked for row in runs if row.solver.partition(" [")[0] == name]
    solvers = tuple(dict.fromkeys([*first, *(row.solver for row in runs)]))
    names = dict.fromkeys(row.problem for row in runs)
    parts = tuple(_problem(name, [row for row in runs if row.problem == name], solvers, marks) for name in names)
    return Study(parts, solvers, tuple(_pairs(parts)), tuple(_warnings(runs, parts)))


def _told_apart(rows: list[Row]) -> list[Row]:
    """Where numbers of threads differ, they are part of a solver's name: it is not the same one."""
    if len({row.threads for row in rows}) < 2:
        return rows
    return [dataclasses.replace(row, solver=f"{row.solver} [{row.threads} threads]") for row in rows]


def variants(solvers: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs (NAME, NAME@variant) among solvers."""
    return [(family(name), name) for name in solvers if family(name) != name and family(name) in solvers]


def _pairs(problems: Iterable[ProblemStudy]) -> list[Contrast]:
    drawn = [
        _contrast(problem.problem, mark, solver, variant)
        for problem in problems
        for mark in problem.marks
        for solver, variant in variants(mark.solvers)
    ]
    return _judged([each for each in drawn if each.comparison.instances])


def family(solver: str) -> str:
    """The name of a solver without its variant: ``lmask`` for ``lmask@classical``."""
    return re.sub(r"@.*?(?= \[|$)", "", solver)


def _problem(name: str, rows: list[Row], solvers: Sequence[str], extra: Sequence[float]) -> ProblemStudy:
    known = references(rows)
    sizes = {row.instance: row.n for row in rows}
    instances = tuple(sorted(sizes, key=lambda each: (sizes[each], each)))
    limits = sorted({row.limit for row in rows} | set(extra))
    marks = [_mark(name, rows, seconds, solvers, instances, known) for seconds in limits]
    ran = {row.solver for row in rows}
    present = tuple(each for each in solvers if each in ran)
    return ProblemStudy(name, tuple(rows), present, instances, known, tuple(mark for mark in marks if mark.outcomes))


def _mark(
    problem: str,
    rows: list[Row],
    seconds: float,
    solvers: Sequence[str],
    instances: Sequence[str],
    known: dict[str, Reference],
) -> Mark:
    found = outcomes(rows, seconds, known)
    ran = {each.row.solver for each in found}
    present = tuple(each for each in solvers if each in ran)
    bare = Mark(seconds, tuple(found), present, matrix(found, instances, present), ())
    contrasts = _judged([_contrast(problem, bare, solver, present[0]) for solver in present[1:]])
    drawn = {each.solver: each for each in contrasts}
    summaries = tuple(_summary(bare, solver, drawn.get(solver)) for solver in present)
    return dataclasses.replace(bare, summaries=summaries)


def _contrast(problem: str, mark: Mark, solver: str, against: str) -> Contrast:
    a, b = (mark.gaps[:, mark.solvers.index(name)] for name in (solver, against))
    both = ~(np.isnan(a) | np.isnan(b))
    return Contrast(problem, mark.seconds, solver, against, compare(a[both], b[both]))


def _judged(contrasts: list[Contrast]) -> list[Contrast]:
    verdicts = judged([each.comparison for each in contrasts])
    return [dataclasses.replace(each, comparison=verdict) for each, verdict in zip(contrasts, verdicts, strict=True)]


def _summary(mark: Mark, solver: str, contrast: Contrast | None) -> Summary:
    column = mark.gaps[:, mark.solvers.index(solver)]
    gaps = column[~np.isnan(column)]
    runs = [each for each in mark.outcomes if each.row.solver == solver]
    own = [each.row for each in runs if each.own]
    lower, median, upper = np.quantile(gaps, [0.25, 0.5, 0.75]).tolist()
    return Summary(
        solver=solver,
        instances=len(gaps),
        runs=len(runs),
        median=median,
        lower=lower,
        upper=upper,
        mean=float(gaps.mean()),
        worst=max(each.gap for each in runs),
        at_best=sum(each.gap <= TIE for each in runs) / len(runs),
        time_to_best=_median(each.time_to_best for each in runs),
        contrast=contrast,
        late=sum(row.late for row in own),
        failures=sum(each.cost is None for each in runs),
        wall=_median(row.wall for row in own if row.status != "failed"),
        cpu=_median(row.cpu for row in own if row.status != "failed"),
        memory=_median(row.memory for row in own if row.status != "failed"),
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def _warnings(rows: list[Row], problems: Sequence[ProblemStudy]) -> Iterable[str]:
    """What makes comparisons doubtful."""
    for solver in dict.fromkeys(row.solver for row in rows):
        used = dict.fromkeys(row.versions for row in rows if row.solver == solver)
        if len(used) > 1:
            yield f"{solver}: its runs are of different versions: {'; '.join(used)}"
    machines = dict.fromkeys(row.machine for row in rows)
    if len(machines) > 1:
        yield f"The runs are from different machines: {'; '.join(machines)}"
    for each in problems:
        yield from _doubts(each)


def _doubts(problem: ProblemStudy) -> Iterable[str]:
    name = problem.problem.upper()
    for mark in problem.marks:
        absent = np.isnan(mark.gaps)
        if (absent.any(axis=1) & ~absent.all(axis=1)).any():
            yield (
                f"{name} at {mark.seconds:g} s: not every solver was run on every instance; "
                "summaries are over different instances, comparisons over those in common"
            )
    known: dict[str, set[tuple[str, float | None]]] = {}
    for row in problem.rows:
        known.setdefault(row.instance, set()).add((row.source, row.best_known))
    for instance in problem.instances:
        if len({source for source, _ in known[instance]}) > 1:
            yield f"{name} {instance}: its runs read it from different sources"
        if len({best for _, best in known[instance] if best is not None}) > 1:
            yield f"{name} {instance}: its runs state different best-known costs"
