"""What a benchmark shows, as data: its problems, time marks, summaries and comparisons."""

from dataclasses import dataclass

from ncosolve.bench.gaps import Outcome, Reference
from ncosolve.bench.statistics import Comparison
from ncosolve.bench.table import Row
from ncosolve.problems.base import FloatArray


@dataclass(frozen=True)
class Contrast:
    """A solver against another one at a time mark; ``comparison`` is negative where ``solver`` is better."""

    problem: str
    seconds: float
    solver: str
    against: str
    comparison: Comparison


@dataclass(frozen=True)
class Summary:
    """A solver at a time mark of a problem.

    Attributes
    ----------
    solver, instances, runs : str, int, int
        Who, and on how much.
    median, lower, upper, mean : float
        Of the gap over instances, seeds averaged within each; the quartiles are the spread.
    worst : float
        The largest gap of a single run.
    at_best : float
        Share of runs that met or beat the reference.
    time_to_best : float or None
        Median seconds to the reference over the runs that met it; None where none did.
    contrast : Contrast or None
        Against the reference solver; None for that solver itself.
    late, failures : int
        Runs that took more time than allowed, and runs without a valid answer at the mark.
    wall, cpu, memory : float or None
        Medians, in seconds and MB, over the runs whose time limit was the mark and that ended by themselves; None where
        there are none.
    """

    solver: str
    instances: int
    runs: int
    median: float
    lower: float
    upper: float
    mean: float
    worst: float
    at_best: float
    time_to_best: float | None
    contrast: Contrast | None
    late: int
    failures: int
    wall: float | None
    cpu: float | None
    memory: float | None


@dataclass(frozen=True)
class Mark:
    """All that was found at a time mark of a problem.

    Attributes
    ----------
    seconds : float
        The mark.
    outcomes : tuple of Outcome
        One for each solver, instance and seed that has something to say about it.
    solvers : tuple of str
        Those that have, in the order asked for; the first is the one that the others are compared with.
    gaps : ndarray, shape (instances of the problem, solvers)
        Averaged over seeds, NaN where a solver was not run.
    summaries : tuple of Summary
        In the order of ``solvers``.
    """

    seconds: float
    outcomes: tuple[Outcome, ...]
    solvers: tuple[str, ...]
    gaps: FloatArray
    summaries: tuple[Summary, ...]

    @property
    def contrasts(self) -> list[Contrast]:
        """Every solver but the first against the first."""
        return [each.contrast for each in self.summaries if each.contrast is not None]


@dataclass(frozen=True)
class ProblemStudy:
    """All runs of one problem.

    Attributes
    ----------
    problem : str
        Its name.
    rows : tuple of Row
        Its runs.
    solvers, instances : tuple of str
        In the order asked for, and by size.
    references : dict of str to Reference
        What gaps are taken against, by instance; without one where no run has a valid answer.
    marks : tuple of Mark
        By time.
    """

    problem: str
    rows: tuple[Row, ...]
    solvers: tuple[str, ...]
    instances: tuple[str, ...]
    references: dict[str, Reference]
    marks: tuple[Mark, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each instance."""
        return {row.instance: row.n for row in self.rows}

    @property
    def unpublished(self) -> list[str]:
        """Instances whose gaps are taken against the best answer of this very benchmark."""
        return [name for name in self.instances if name in self.references and not self.references[name].published]


@dataclass(frozen=True)
class Study:
    """A whole benchmark.

    Attributes
    ----------
    problems : tuple of ProblemStudy
        In the order in which they were run.
    solvers : tuple of str
        All of them, in the order asked for.
    pairs : tuple of Contrast
        Each solver against its variants (``NAME`` against ``NAME@variant``) at every mark, judged as one table.
    warnings : tuple of str
        What to beware of.
    """

    problems: tuple[ProblemStudy, ...]
    solvers: tuple[str, ...]
    pairs: tuple[Contrast, ...]
    warnings: tuple[str, ...]
