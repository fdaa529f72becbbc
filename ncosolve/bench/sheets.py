"""The tables of a report as text: what the page and the Markdown show alike."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ncosolve.bench.findings import Contrast, Mark, ProblemStudy, Study, Summary
from ncosolve.bench.statistics import BETTER, TOO_FEW, WORSE, Comparison
from ncosolve.bench.table import Row
from ncosolve.bench.wording import NOTHING, amount, p_value, per_cent, points, whole_per_cent

REFERENCE = "reference"
"""What stands for the verdict of the solver that the others are compared with."""
TONES = {BETTER: "good", WORSE: "bad", TOO_FEW: "unknown"}


@dataclass(frozen=True)
class Column:
    """The head of a column, what it means, and whether it holds numbers."""

    title: str
    hint: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Cell:
    """One entry: its text, whether it is the best of its column, the solver that it names, and how a verdict sounds."""

    text: str
    best: bool = False
    solver: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table; ``starts`` are the numbers of the rows with which a group of rows begins."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    starts: frozenset[int] = field(default=frozenset())


@dataclass(frozen=True)
class Measure:
    """A column of the summary: how a value is shown, and by what the best one is found; the smallest is the best."""

    column: Column
    text: Callable[[Summary], str]
    rank: Callable[[Summary], float | None] | None = None


PROBLEM = Column("Problem", numeric=False)
TIME = Column("Time", "Time mark, in seconds of wall clock")
SOLVER = Column("Solver", numeric=False)
INSTANCES = Column("Inst.", "Number of instances, the unit of all statistics")
MEDIAN = Measure(
    Column("Median gap %", "Median gap over instances"), lambda s: per_cent(s.median), lambda s: round(s.median, 6)
)
MEAN = Measure(Column("Mean gap %", "Mean gap over instances"), lambda s: per_cent(s.mean), lambda s: round(s.mean, 6))
RECORD = Column("W / T / L", "Instances won, tied and lost")
VERDICT = Column("Verdict", "Signed-rank test over instances at 5 %, after Holm's correction", numeric=False)
FAILED = Measure(Column("Failed", "Runs without a valid answer at the mark"), lambda s: str(s.failures))

SUMMARY = (
    Measure(INSTANCES, lambda s: str(s.instances)),
    Measure(Column("Runs", "Instances times seeds"), lambda s: str(s.runs)),
    MEDIAN,
    Measure(
        Column(
            "Quartiles %",
            "A quarter of the instances has a smaller gap than the first, a quarter a larger than the second",
        ),
        lambda s: f"{per_cent(s.lower)} … {per_cent(s.upper)}",
    ),
    MEAN,
    Measure(
        Column("Worst %", "Largest gap of a single run"),
        lambda s: per_cent(s.worst),
        lambda s: round(s.worst, 6),
    ),
    Measure(
        Column("At best %", "Share of runs that met or beat the reference cost"),
        lambda s: whole_per_cent(s.at_best),
        lambda s: -s.at_best,
    ),
    Measure(
        Column("Time to best", "Median seconds until then, over the runs that got there"),
        lambda s: amount(s.time_to_best, " s"),
    ),
    Measure(RECORD, lambda s: _record(s.contrast)),
    Measure(Column("Late", "Runs that took more than 3 % and 0.3 s over their limit"), lambda s: str(s.late)),
    FAILED,
    Measure(Column("Wall", "Median seconds of wall clock in the solver"), lambda s: amount(s.wall, " s")),
    Measure(
        Column("CPU", "Median seconds of processor time, all threads and processes"), lambda s: amount(s.cpu, " s")
    ),
    Measure(Column("Memory", "Median of the peak memory of a run"), lambda s: amount(s.memory, " MB")),
)

COMPARISON: tuple[tuple[Column, Callable[[Comparison], str]], ...] = (
    (INSTANCES, lambda c: str(c.instances)),
    (RECORD, lambda c: _counts(c)),
    (Column("Mean difference", "Of the gap, in percentage points; negative is better"), lambda c: points(c.mean)),
    (Column("95 % interval", "Of the mean, by bootstrap over instances"), lambda c: _interval(c)),
    (Column("Median difference", "Over instances, in percentage points"), lambda c: points(c.median)),
    (Column("Sign p", "Exact sign test, uncorrected"), lambda c: p_value(c.sign_p)),
    (Column("Rank p", "Exact Wilcoxon signed-rank test, uncorrected"), lambda c: p_value(c.rank_p)),
    (Column("Corrected p", "Rank p after Holm's correction over this table"), lambda c: p_value(c.adjusted_p)),
)


def headline(study: Study) -> Sheet:
    """One line a solver for each problem at its last mark."""
    measures = (MEDIAN, MEAN, FAILED)
    columns = (PROBLEM, TIME, INSTANCES, SOLVER, *(each.column for each in measures), RECORD, VERDICT)
    rows: list[tuple[Cell, ...]] = []
    starts = []
    for problem in study.problems:
        mark = problem.marks[-1]
        starts.append(len(rows))
        shown = list(zip(*(_ranked(measure, mark.summaries) for measure in measures), strict=True))
        for k, (summary, cells) in enumerate(zip(mark.summaries, shown, strict=True)):
            lead = (problem.problem.upper(), f"{mark.seconds:g} s") if k == 0 else ("", "")
            rows.append((
                *map(Cell, lead),
                Cell(str(summary.instances)),
                _solver(summary.solver),
                *cells,
                Cell(_record(summary.contrast)),
                _verdict(summary.contrast),
            ))  # fmt: skip
    return Sheet(columns, tuple(rows), frozenset(starts))


def summaries(mark: Mark) -> Sheet:
    """Everything that is known of each solver at a mark."""
    columns = [_ranked(measure, mark.summaries) for measure in SUMMARY]
    rows = [(_solver(each.solver), *cells) for each, *cells in zip(mark.summaries, *columns, strict=True)]
    return Sheet((SOLVER, *(each.column for each in SUMMARY)), tuple(rows))


def comparisons(mark: Mark) -> Sheet:
    """Each solver against the first one."""
    columns = (SOLVER, *(column for column, _ in COMPARISON), VERDICT)
    return Sheet(columns, tuple((_solver(each.solver), *_compared(each)) for each in mark.contrasts))


def pairs(study: Study) -> Sheet:
    """Each solver against its own variant, over all problems and marks."""
    columns = (PROBLEM, TIME, SOLVER, Column("Against", numeric=False), *(column for column, _ in COMPARISON), VERDICT)
    rows = []
    starts = []
    for k, each in enumerate(study.pairs):
        new = k == 0 or study.pairs[k - 1].problem != each.problem
        starts += [k] if new else []
        lead = Cell(each.problem.upper() if new else ""), Cell(f"{each.seconds:g} s")
        rows.append((*lead, _solver(each.solver), _solver(each.against), *_compared(each)))
    return Sheet(columns, tuple(rows), frozenset(starts))


def troubles(problem: ProblemStudy) -> Sheet:
    """The runs that failed, gave an invalid answer or came late, with the reason; seeds that fared alike in a line."""
    columns = (
        SOLVER,
        Column("Instance", numeric=False),
        Column("Limit"),
        Column("Seeds"),
        Column("Wall", "Of the longest"),
        Column("What", numeric=False),
        Column("Reason", numeric=False),
    )
    alike: dict[tuple[str, str, float, str, str], list[Row]] = {}
    for row in problem.rows:
        what = _trouble(row)
        if what:
            alike.setdefault((row.solver, row.instance, row.limit, what, row.reason), []).append(row)
    rows = []
    for (solver, instance, limit, what, reason), runs in alike.items():
        seeds = ", ".join(str(seed) for seed in sorted(row.seed for row in runs))
        wall = amount(max(row.wall for row in runs), " s")
        texts = (instance, f"{limit:g} s", seeds, wall, what, reason or NOTHING)
        rows.append((_solver(solver), *map(Cell, texts)))
    return Sheet(columns, tuple(rows))


def _trouble(row: Row) -> str:
    what = [row.status.replace("_", " ")] if row.cost is None else [] if row.valid else ["invalid answer"]
    return ", ".join([*what, "late"] if row.late else what)


def measured(study: Study) -> Sheet:
    """The versions and machines that each solver ran on."""
    columns = (SOLVER, Column("Versions", numeric=False), Column("Machines", numeric=False))
    runs = [row for problem in study.problems for row in problem.rows]
    rows = []
    for solver in study.solvers:
        own = [row for row in runs if row.solver == solver]
        versions, machines = (
            dict.fromkeys(values) for values in zip(*((r.versions, r.machine) for r in own), strict=True)
        )
        rows.append((_solver(solver), Cell("; ".join(versions)), Cell("; ".join(machines))))
    return Sheet(columns, tuple(rows))


def hints() -> list[Column]:
    """Every column whose title does not say it all."""
    columns = [*(each.column for each in SUMMARY), *(column for column, _ in COMPARISON), VERDICT]
    return list({column.title: column for column in columns if column.hint}.values())


def _ranked(measure: Measure, found: Sequence[Summary]) -> list[Cell]:
    """A column with its best values marked, unless all are the same."""
    ranks = [measure.rank(each) if measure.rank is not None else None for each in found]
    known = [rank for rank in ranks if rank is not None]
    best = min(known, default=None)
    different = len(set(ranks)) > 1
    return [Cell(measure.text(each), different and rank == best) for each, rank in zip(found, ranks, strict=True)]


def _solver(name: str) -> Cell:
    return Cell(name, solver=name)


def _compared(contrast: Contrast) -> tuple[Cell, ...]:
    return (*(Cell(text(contrast.comparison)) for _, text in COMPARISON), _verdict(contrast))


def _verdict(contrast: Contrast | None) -> Cell:
    if contrast is None:
        return Cell(REFERENCE, tone="reference")
    verdict = contrast.comparison.verdict
    return Cell(verdict, tone=TONES.get(verdict, "same"))


def _record(contrast: Contrast | None) -> str:
    return NOTHING if contrast is None else _counts(contrast.comparison)


def _counts(comparison: Comparison) -> str:
    return f"{comparison.wins} / {comparison.ties} / {comparison.losses}"


def _interval(comparison: Comparison) -> str:
    if math.isnan(comparison.low):
        return NOTHING
    return f"{points(comparison.low)} … {points(comparison.high)}"
