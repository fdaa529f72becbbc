"""The table of a benchmark: one row a run, appended as runs finish, whole or not at all."""

import contextlib
import csv
import fcntl
import io
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import msgspec

from ncosolve.errors import InputError

FILE = "runs.csv"
"""The name of the table in the folder of a benchmark."""
SOLUTIONS = "solutions"
"""The folder beside it with the answer of each run."""

History = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Row:
    """One run: a solver on an instance with a time limit and a seed.

    Attributes
    ----------
    problem, instance, n : str, str, int
        What was solved; ``n`` counts nodes or columns.
    solver, used : str
        The name asked for, with its variant (``NAME@classical``), and the solver that found the answer.
    seed, limit, threads, device : int, float, int, str
        As the run was asked for; the limit in seconds.
    anytime : bool
        Whether what the solver had at an earlier time is also what a run with that limit would end with.
    status : str
        optimal, feasible, infeasible, no_solution, or failed: refused, crashed, killed.
    cost, bound : float or None
        By the instance's own convention, recomputed by the independent check.
    maximise : bool
        Whether a larger cost is better.
    best_known : float or None
        From the published tables, under the convention that was used.
    valid : bool
        Whether the independent check, run again on the answer that came back, finds no violation and the same cost.
    reason : str
        Why there is no answer.
    wall : float
        Seconds of wall clock in the solver, first-ever compilation of kernels left out.
    compiling : float
        Seconds of that compilation.
    cpu : float or None
        Seconds of processor time in the solver, on all threads and in its own processes.
    memory : float or None
        Peak memory of the process, instance and solver, in MB.
    iterations : int or None
        In the solver's own unit.
    history : tuple of (seconds, cost)
        New incumbents, thinned where there are many; the last one is the answer.
    solution : str
        The file of the answer below `SOLUTIONS`; empty without one.
    source : str
        JSON of what the instance was read or generated from.
    parameters : str
        JSON of the engines and parameters that the solver's name stood for.
    machine, versions, started : str
        Where it ran, on which versions, and when (UTC).
    """

    problem: str
    instance: str
    n: int
    solver: str
    used: str
    seed: int
    limit: float
    threads: int
    device: str
    anytime: bool
    status: str
    cost: float | None
    bound: float | None
    maximise: bool
    best_known: float | None
    valid: bool
    reason: str
    wall: float
    compiling: float
    cpu: float | None
    memory: float | None
    iterations: int | None
    history: History
    solution: str
    source: str
    parameters: str
    machine: str
    versions: str
    started: str

    @property
    def key(self) -> str:
        """What makes it the same run as another."""
        return key(self.problem, self.instance, self.solver, self.limit, self.seed, self.threads, self.device)

    @property
    def overrun(self) -> float:
        """Seconds over the time limit."""
        return max(0.0, self.wall - self.limit)

    @property
    def late(self) -> bool:
        """Whether it took more than the limit allows, 3 % and 0.3 s; a run that failed is no late one."""
        return self.status != "failed" and self.wall > 1.03 * self.limit + 0.3

    @property
    def solved(self) -> bool:
        """Whether it ended with a valid answer."""
        return self.cost is not None and self.valid


COLUMNS = tuple(field.name for field in fields(Row))


def key(problem: str, instance: str, solver: str, limit: float, seed: int, threads: int, device: str) -> str:
    """The name of a run: what it has in common with no other."""
    place = "" if device == "auto" else f"/{device}"
    return f"{problem}/{instance}/{solver}/t{limit:.10g}/s{seed}/p{threads}{place}"


class Table:
    """The rows in a folder, open for appending by one process at a time; see `opened`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.rows = read(folder)
        _drop_torn_line(self.path)
        if not self.rows:
            self.path.write_text(_line(COLUMNS), encoding="utf-8")

    def append(self, row: Row) -> None:
        """Add a row and see it on the disk."""
        line = _line(_text(getattr(row, column)) for column in COLUMNS)
        with open(self.path, "a", encoding="utf-8", newline="") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self.rows.append(row)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Table]:
    """The table of a folder, for this process alone.

    Raises
    ------
    InputError
        When the folder cannot be made or written, holds a table that is none, or another benchmark is at work in it.
    """
    try:
        (folder / SOLUTIONS).mkdir(parents=True, exist_ok=True)
        lock = open(folder / ".lock", "w")  # noqa: SIM115 - held while the table is open
        if (folder / FILE).is_dir():
            raise IsADirectoryError(0, f"{FILE} is a folder")
    except OSError as error:
        raise InputError(f"cannot be written to: {error.strerror}", str(folder)) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError("another benchmark is at work here", str(folder)) from None
        yield Table(folder)


def read(folder: Path) -> list[Row]:
    """All rows of a folder, in the order in which the runs finished; none where there is no table yet.

    Raises
    ------
    InputError
        Naming the line, when the table is not one of a benchmark.
    """
    path = folder / FILE
    if not path.is_file():
        return []
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", str(path)) from None
    lines = text.splitlines(keepends=True)
    if lines and not _line(COLUMNS).startswith(lines[0]):
        raise InputError("is not the table of a benchmark of this version", str(path), "line 1")
    if lines and not lines[-1].endswith("\n"):
        lines.pop()  # what a kill left of a row
    reader = csv.reader(lines, strict=True)
    rows = []
    try:
        next(reader, None)
        for cells in reader:
            if len(cells) != len(COLUMNS):
                raise ValueError(f"{len(cells)} cells, expected {len(COLUMNS)}")
            rows.append(_row(dict(zip(COLUMNS, cells, strict=True))))
    except (csv.Error, ValueError) as error:
        raise InputError(str(error), str(path), f"line {reader.line_num}") from None
    return rows


def _row(cells: dict[str, str]) -> Row:
    values: dict[str, object] = {**cells}
    for column in ("cost", "bound", "best_known", "cpu", "memory", "iterations"):
        values[column] = cells[column] or None
    steps = (step.split(":") for step in cells["history"].split())
    values["history"] = [(float(seconds), float(cost)) for seconds, cost in steps]
    row = msgspec.convert(values, Row, strict=False)
    if not row.limit > 0 or not all(math.isfinite(value) for value in (row.limit, row.wall, row.cost or 0.0)):
        raise ValueError(f"limit {row.limit}, wall {row.wall}, cost {row.cost}: expected finite numbers")
    return row


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(f"{seconds:.3f}:{float(cost)!r}" for seconds, cost in value)
    if isinstance(value, float):
        return repr(float(value))  # a subclass such as NumPy's would write its own name
    return " ".join(str(value).split("\n")).encode("utf-8", "replace").decode()


def _line(cells: "Iterator[str] | tuple[str, ...] | list[str]") -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _drop_torn_line(path: Path) -> None:
    """Cut off what a kill left of a row, so that the next one starts on a line of its own."""
    if path.is_file():
        with open(path, "r+b") as file:
            data = file.read()
            file.truncate(data.rfind(b"\n") + 1)
