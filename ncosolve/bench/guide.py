"""The sentences of a report: how to read it, and what a benchmark consists of."""

from collections.abc import Iterable

from ncosolve.bench.findings import ProblemStudy, Study
from ncosolve.bench.wording import count

READING = (
    "The gap of a run is how much its cost is above the best-known cost of the instance, in per cent: lower is better, "
    "and a negative gap beats the best-known cost. A run without a valid answer counts as a gap of 100 %, and so does "
    "any larger gap. Seeds are averaged within an instance; the instance is the unit of every statistic. The first "
    "solver of a table is the reference: the others are called better or worse than it where the exact Wilcoxon "
    "signed-rank test over instances says so at 5 %, after Holm's correction for all comparisons in the table. "
    "“No difference shown” does not mean that there is none."
)
"""One paragraph at the head of every report."""

PAIRS = (
    "Each solver against its own variant, NAME against NAME@variant, judged as one table. A negative difference, and "
    "the verdict “better”, speak for the solver as it is."
)


def counts(study: Study) -> str:
    """How much was run."""
    runs = [row for problem in study.problems for row in problem.rows]
    instances = sum(len(problem.instances) for problem in study.problems)
    parts = (
        count(len(study.problems), "problem"),
        count(instances, "instance"),
        count(len(study.solvers), "solver"),
        count(len(runs), "run"),
    )
    return " · ".join(parts)


def facts(problem: ProblemStudy) -> str:
    """What was run of a problem, and what its gaps are taken against."""
    sizes = problem.sizes.values()
    size = f"n = {min(sizes):,}" if min(sizes) == max(sizes) else f"n from {min(sizes):,} to {max(sizes):,}"
    seeds = len({row.seed for row in problem.rows})
    threads = " or ".join(str(each) for each in sorted({row.threads for row in problem.rows}))
    parts = [
        f"{count(len(problem.instances), 'instance')}, {size}",
        count(len(problem.solvers), "solver"),
        count(seeds, "seed"),
        f"{threads} {'thread' if threads == '1' else 'threads'}",
    ]
    return f"{', '.join(parts)}. {' '.join(_references(problem))}"


def _references(problem: ProblemStudy) -> Iterable[str]:
    unpublished = problem.unpublished
    nobody = [name for name in problem.instances if name not in problem.references]
    if len(unpublished) + len(nobody) < len(problem.instances):
        yield "Gaps are against the best-known cost."
    if unpublished:
        yield (
            f"On {count(len(unpublished), 'instance')} without a best-known cost they are against the best answer of "
            f"this benchmark: {_listed(unpublished)}."
        )
    if nobody:
        yield f"On {count(len(nobody), 'instance')} no run found a valid answer: {_listed(nobody)}."


def _listed(names: list[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
