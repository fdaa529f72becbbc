"""A benchmark from its plan to its table: what is done is skipped, what is left runs, each row is kept at once."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ncosolve.bench import origin, table
from ncosolve.bench.execution import execute
from ncosolve.bench.machine import start
from ncosolve.bench.measure import PATIENCE, warm_up
from ncosolve.bench.runs import Run
from ncosolve.bench.table import Row
from ncosolve.child import Child, ChildError
from ncosolve.deadline import Deadline
from ncosolve.errors import InputError
from ncosolve.formats.text import save


def benchmark(
    runs: Sequence[Run],
    folder: Path,
    jobs: int = 1,
    dask: str | None = None,
    command: Sequence[str] = (),
    solvers: Sequence[str] = (),
    marks: Sequence[float] = (),
    retry: bool = False,
    on_start: Callable[[int, int], None] = lambda done, left: None,
) -> Iterator[Row]:
    """Do the runs that the folder's table does not have yet, and give each new row once it is on the disk.

    Parameters
    ----------
    runs : sequence of Run
        See `ncosolve.bench.runs.plan`.
    folder : Path
        Made if it is not there. Besides the table it gets every answer, and what it takes to do it all again.
    jobs, dask
        See `ncosolve.bench.execution.execute`.
    command, solvers, marks
        Noted in the record; reports compare with the first solver and look at these times.
    retry : bool
        Whether to do those again that failed.
    on_start : callable, optional
        Called as ``on_start(done, left)`` with the numbers of runs.

    Raises
    ------
    InputError
        When the folder holds the same run on another instance, or cannot be used; see `ncosolve.bench.table.opened`.
    """
    with table.opened(folder) as rows:
        done = {row.key: row for row in rows.rows if not (retry and row.status == "failed")}
        for run in runs:
            _check_same(run, done.get(run.key), folder)
        left = [run for run in runs if run.key not in done]
        on_start(len(runs) - len(left), len(left))
        if left or all(set(marks) - set(begun.marks) for begun in origin.starts(folder)):
            origin.note(folder, start(command, solvers, marks))
        if not left:
            return
        if dask is None:
            _fill_cache(left)
        for _, result in execute(left, jobs, dask):
            if result.answer:
                save(folder / table.SOLUTIONS / result.row.solution, result.answer)
            rows.append(result.row)
            yield result.row


def _check_same(run: Run, row: Row | None, folder: Path) -> None:
    """Refuse a run that the table has, but of another instance or with other parameters."""
    if row is None:
        return
    for what, before, now in (
        ("of", row.source, run.case.source),
        ("with", row.parameters, run.parameters),
    ):
        if before != now:
            raise InputError(f"{run.key} was {what} {before}, is now {what} {now}: use another folder", str(folder))


def _fill_cache(runs: Sequence[Run]) -> None:
    """Have kernels compiled once by one process: several at once would each compile them."""
    for run in {(run.solver, run.case.problem): run for run in runs}.values():
        patience = Deadline(PATIENCE[1])
        child = Child()
        try:
            with contextlib.suppress(ChildError):  # that will show in its runs
                child.call(warm_up, run, over=patience.over)
        finally:
            child.kill()
