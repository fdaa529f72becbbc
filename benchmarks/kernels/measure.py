"""How much the search kernels do a second, beside what was last kept for this processor.

    python benchmarks/kernels/measure.py [--only NAME] [--repeats 5] [--keep]

The exit code is 1 where a kernel got slower, 2 for a name that is none.
"""

import csv
import io
import os
import statistics
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import numba
import typer
from kernels import KERNELS, Bout, Kernel
from rich.console import Console
from rich.progress import track
from rich.table import Table

from ncosolve.bench.machine import commit, processor
from ncosolve.formats.text import save

HISTORY = Path(__file__).with_name("history.csv")
SECONDS = 0.3
"""The least length of a repeat."""
SLOWER = 0.8
"""Below this share of the kept rate a kernel counts as slower."""

Key = tuple[str, int]
"""A kernel's name and its size."""


class Line(NamedTuple):
    """A line of the history: ``rate`` in units a second, on a processor of that model at that commit."""

    date: str
    commit: str
    cpu: str
    cores: int
    numba: str
    kernel: str
    n: int
    rate: float


def main(
    only: Annotated[list[str] | None, typer.Option(help="A kernel to measure; may be given several times.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Measurements of each, taken in turns.")] = 5,
    keep: Annotated[bool, typer.Option("--keep", help="Add the rates to history.csv.")] = False,
) -> None:
    """Measure the search kernels and compare them with the rates last kept for this processor."""
    names = [kernel.name for kernel in KERNELS]
    for name in only or ():
        if name not in names:
            raise typer.BadParameter(f"{name!r} is no kernel, expected one of {', '.join(names)}", param_hint="--only")
    rates = measured([kernel for kernel in KERNELS if not only or kernel.name in only], repeats)
    before = read(HISTORY)
    last = {(line.kernel, line.n): line.rate for line in before if line.cpu == processor()}
    Console(width=100).print(table(rates, last))
    if keep:
        write(HISTORY, [*before, *lines(rates)])
    if any(slower(key, rates, last) for key in rates):
        raise typer.Exit(1)


def measured(kernels: Sequence[Kernel], repeats: int) -> dict[Key, list[float]]:
    """The rates of every kernel and size, one a repeat; each round goes through all, so that a slow minute hits all."""
    # without a thread that refreshes the line while a kernel is timed
    shown = partial(track, console=Console(stderr=True), transient=True, auto_refresh=False)
    bouts: dict[Key, Bout] = {}
    for kernel in shown(kernels, "preparing"):
        for n in kernel.sizes:
            bouts[kernel.name, n] = kernel.prepare(n)
            bouts[kernel.name, n]()  # compiles
    rates: dict[Key, list[float]] = {key: [] for key in bouts}
    for key in shown([*bouts] * repeats, "measuring"):
        rates[key].append(rate(bouts[key]))
    return rates


def rate(bout: Bout) -> float:
    """Units a second of processor time, which counts what others do on the machine less than the wall clock would."""
    units, began, seconds = 0, time.process_time(), 0.0
    while seconds < SECONDS:
        units += bout()
        seconds = time.process_time() - began
    return units / seconds


def slower(key: Key, rates: dict[Key, list[float]], last: dict[Key, float]) -> bool:
    return key in last and statistics.median(rates[key]) < SLOWER * last[key]


def table(rates: dict[Key, list[float]], last: dict[Key, float]) -> Table:
    """One row for each kernel and size."""
    units = {kernel.name: kernel.unit for kernel in KERNELS}
    shown = Table("kernel", "n", "unit", "rate /s", "spread %", "ratio", "")
    for place in (1, 3, 4, 5):
        shown.columns[place].justify = "right"
    for key, values in rates.items():
        middle = statistics.median(values)
        shown.add_row(
            key[0],
            str(key[1]),
            units[key[0]],
            f"{middle:,.0f}",
            f"{100 * (max(values) - min(values)) / middle:.1f}",
            f"{middle / last[key]:.2f}" if key in last else "-",
            "[red]slower[/red]" if slower(key, rates, last) else "",
        )
    return shown


def lines(rates: dict[Key, list[float]]) -> list[Line]:
    """This run as lines of the history."""
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
    run = date, commit() or "", processor(), os.cpu_count() or 0, numba.__version__
    return [Line(*run, *key, round(statistics.median(values), 1)) for key, values in rates.items()]


def read(path: Path) -> list[Line]:
    """The lines of a history, oldest first; none where there is no file yet."""
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return msgspec.convert(list(csv.reader(file))[1:], list[Line], strict=False)


def write(path: Path, history: Sequence[Line]) -> None:
    """Write a history whole or not at all."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Line._fields, *history])
    save(path, text.getvalue())


if __name__ == "__main__":
    typer.run(main)
