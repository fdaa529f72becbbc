"""Which runs a benchmark consists of, and in which order."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from ncosolve import catalog
from ncosolve.bench import table
from ncosolve.bench.suites import Case
from ncosolve.errors import InputError, MissingExtra

log = logging.getLogger("ncosolve")


@dataclass(frozen=True)
class Run:
    """One solver on one instance, to be measured in a process of its own.

    Attributes
    ----------
    case : Case
        The instance.
    solver, seed, limit, threads, device : str, int, float, int, str
        What `ncosolve.solve` gets; the limit is in seconds.
    anytime : bool
        See `ncosolve.catalog.NamedSolver`.
    parameters : str
        JSON of the engines and parameters that the solver's name stands for.
    """

    case: Case
    solver: str
    seed: int
    limit: float
    threads: int
    device: str
    anytime: bool
    parameters: str

    @property
    def key(self) -> str:
        """What makes it the same run as another: that of its row in the table."""
        return table.key(
            self.case.problem, self.case.name, self.solver, self.limit, self.seed, self.threads, self.device
        )


def plan(
    cases: Sequence[Case], solvers: Sequence[str], marks: Sequence[float], seeds: int, threads: int, device: str
) -> list[Run]:
    """All runs, those of one instance next to each other, so that a drift of the machine hits all solvers alike.

    A solver that is anytime gets one run with the largest mark, for its history says what it had at the others;
    another one gets a run for each mark. Who comes first changes from one seed and instance to the next. Solvers are
    left out where they do not take a problem.

    Raises
    ------
    InputError
        When a solver is unknown or takes none of the instances.
    MissingExtra
        When it needs a package that is not installed.
    """
    runs = []
    for number, case in enumerate(cases):
        able = [name for name in solvers if takes(name, case)]
        for seed in range(seeds):
            first = (number + seed) % max(1, len(able))
            for solver in able[first:] + able[:first]:
                choices = _choices(solver, case)
                anytime = all(named.anytime for named in choices)
                parameters = json.dumps([[named.engine, dict(named.parameters)] for named in choices])
                for limit in [max(marks)] if anytime else sorted(marks):
                    runs.append(Run(case, solver, seed, limit, threads, device, anytime, parameters))
    left_out = sorted({case.problem for case in cases} - {run.case.problem for run in runs})
    if runs and left_out:
        log.warning("no solver for the instances of %s", ", ".join(left_out))
    idle = [name for name in solvers if name not in {run.solver for run in runs}]
    if idle:
        raise InputError(f"solves none of {', '.join(sorted({case.problem for case in cases}))}", where=idle[0])
    return runs


def takes(solver: str, case: Case) -> bool:
    """Whether a solver takes the problem of an instance; an error when it is unknown or misses a package."""
    if solver == "auto":
        return bool(catalog.automatic(case.problem, case.n))
    plain = catalog.solvers().get(solver.partition("@")[0])
    named = catalog.find(solver, case.problem if plain is None or case.problem in plain.problems else plain.problems[0])
    for package in named.missing():
        raise MissingExtra(package, named.needs[package])
    return case.problem in named.problems


def _choices(solver: str, case: Case) -> list[catalog.NamedSolver]:
    """All that the name may stand for on an instance."""
    return catalog.automatic(case.problem, case.n) if solver == "auto" else [catalog.find(solver, case.problem)]
