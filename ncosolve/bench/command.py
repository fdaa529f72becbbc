"""The commands ``ncosolve bench`` and ``ncosolve report``."""

import logging
import math
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncosolve.errors import InputError

if TYPE_CHECKING:
    from ncosolve.bench.table import Row

log = logging.getLogger("ncosolve")


def bench(
    names: Annotated[
        list[str],
        typer.Argument(metavar="FILES-or-SUITE", help="Files, folders, bundled instances, or suites: see --list."),
    ] = [],  # noqa: B006 - typer wants a list
    solvers: Annotated[
        str, typer.Option("--solvers", metavar="A,B,C", help="The first is what the others are compared with.")
    ] = "auto",
    times: Annotated[
        str, typer.Option("-t", "--time-limits", metavar="SECONDS,...", help="Time marks, for instance 2,10,60.")
    ] = "10",
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", min=1, help="Runs with the seeds 0..N-1.")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Runs side by side.")] = 1,
    threads: Annotated[int, typer.Option("--threads", metavar="N", min=1, help="Threads that each run may use.")] = 1,
    device: Annotated[str, typer.Option("--device", metavar="D", help="auto, cpu or cuda, for networks.")] = "auto",
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="A Dask scheduler whose workers do the runs; files lie there."),
    ] = None,
    short: Annotated[bool, typer.Option("--short", help="Confine suites to a few instances.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DIR", envvar="NCOSOLVE_DATA", help="Public instances that do not ship with ncosolve."
        ),
    ] = None,
    problem: Annotated[str | None, typer.Option("--problem", metavar="P", help="Read all as this problem.")] = None,
    rounding: Annotated[str | None, typer.Option("--rounding", metavar="R", help="Of all files, as in solve.")] = None,
    max_vehicles: Annotated[int | None, typer.Option("--max-vehicles", metavar="K", help="Of all files.")] = None,
    objective: Annotated[str | None, typer.Option("--objective", metavar="O", help="Of all files.")] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Made if it is not there; what is done is skipped.")
    ] = Path("bench-out"),
    retry: Annotated[bool, typer.Option("--retry-failed", help="Do those again that failed.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the suites and end.")] = False,
) -> int:
    """Race solvers on instances: equal time, equal cores, equal seeds, one process a run.

    Started again with the same folder, it goes on where it was stopped. `ncosolve report DIR` shows the outcome.
    """
    from ncosolve.bench import runs, suites
    from ncosolve.bench.benchmark import benchmark

    if listed:
        for suite in suites.suites().values():
            print(f"{suite.name:16} {suites.here(suite, data):3} of {len(suite.sources):2} here  {suite.summary}")
        return 0
    if not names:
        raise InputError("nothing to run on: name files, a folder or a suite (ncosolve bench --list)")
    if data is not None and not data.is_dir():
        raise InputError("is not a folder", str(data), "--data")
    reading = {"problem": problem, "rounding": rounding, "max_vehicles": max_vehicles, "objective": objective}
    cases, missing = suites.cases(names, data, short, reading)
    if missing:
        log.warning("%d instances are not here, name their folder by --data: %s", len(missing), _some(missing))
    if not cases:
        raise InputError("no instance of it is here: name the folder of public instances by --data", ", ".join(names))
    asked = _names(solvers)
    marks = _marks(times)
    if device not in ("auto", "cpu", "cuda"):
        raise InputError(f"is {device!r}, expected auto, cpu or cuda", where="--device")
    todo = runs.plan(cases, asked, marks, seeds, threads, device)
    show = _Progress(output)
    command = ["ncosolve", *map(shlex.quote, sys.argv[1:])]
    with show:
        for row in benchmark(todo, output, jobs, dask, command, asked, marks, retry, show.start):
            show.add(row)
    return 0


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `ncosolve bench -o DIR` wrote.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="A .html or .md file, DIR/report.html if none."),
    ] = None,
) -> int:
    """Show the outcome of a benchmark on one page: tables, tests, curves, drawings, and how to get it again."""
    from ncosolve.bench.report import write

    target = output or folder / "report.html"
    write(folder, target)
    print(target)
    return 0


class _Progress:
    """A line for each finished run, and on a terminal a bar with the time that is left."""

    def __init__(self, folder: Path) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self._bar = Progress(*columns, console=Console(stderr=True, highlight=False), transient=True)
        self._task = self._bar.add_task("runs", total=None)
        self._folder, self._failed, self._late = folder, 0, 0

    def __enter__(self) -> "_Progress":
        self._bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.stop()
        if error[0] is None:
            failed = f", {self._failed} without a valid answer" if self._failed else ""
            late = f", {self._late} over their time" if self._late else ""
            print(f"{self._folder / 'runs.csv'}{failed}{late}; see: ncosolve report {shlex.quote(str(self._folder))}")
        elif isinstance(error[1], KeyboardInterrupt):
            task = self._bar.tasks[self._task]
            log.warning("%d of %d runs are done; the same command goes on", task.completed, task.total or 0)

    def start(self, done: int, left: int) -> None:
        """Say how many runs there are."""
        self._bar.update(self._task, total=done + left, completed=done)
        again = f", {done} are done already" if done else ""
        self._bar.console.print(f"{left} runs to do{again}")

    def add(self, row: "Row") -> None:
        """Show a finished run."""
        from ncosolve.record import gap_to

        self._failed += not row.solved
        self._late += row.late
        what = f"{row.status}: {row.reason}" if row.cost is None else f"{row.cost:.10g}"
        gap = None if row.cost is None else gap_to(row.cost, row.best_known, row.maximise)
        shown = "" if gap is None else f" ({100 * gap:.2f} %)"
        line = f"{row.instance}  {row.solver}  {row.limit:g} s, seed {row.seed}:  {what}{shown}"
        line = "".join(letter if letter.isprintable() else "?" for letter in line)
        self._bar.console.print(line, markup=False, soft_wrap=True)
        self._bar.advance(self._task)


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if "" in names or len(set(names)) < len(names):
        raise InputError(f"is {text!r}, expected different names with commas between", where="--solvers")
    return names


def _marks(text: str) -> list[float]:
    marks = []
    for word in text.split(","):
        try:
            mark = float(word)
        except ValueError:
            mark = math.nan
        if not 0 < mark < math.inf or mark in marks:
            raise InputError(f"is {text!r}, expected different numbers of seconds > 0 with commas between", where="-t")
        marks.append(mark)
    return marks
