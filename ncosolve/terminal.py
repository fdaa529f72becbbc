"""What a person sees: the live line, the summary, tables and log messages."""

import contextlib
import logging
import math
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncosolve.catalog import NamedSolver
    from ncosolve.solution import Solution

WEAK = 0.2
"""A bound this far from the cost is called weak, for routes it nearly always is."""
REFRESH = 5.0
"""Updates of the live line a second."""

LONGEST = 1000
"""Characters of a message; outside packages put whole reports into theirs."""


def complain(text: object) -> None:
    """One line on stderr, whatever the text holds; what is longer than `LONGEST` is cut."""
    line = " ".join(str(text).split())
    line = line if len(line) <= LONGEST else f"{line[:LONGEST]} ..."
    shown = "".join(letter if letter.isprintable() else "?" for letter in line)
    print(f"ncosolve: {shown}", file=sys.stderr, flush=True)


def debugging() -> bool:
    """Whether NCOSOLVE_DEBUG=1 asks for tracebacks."""
    return os.environ.get("NCOSOLVE_DEBUG") == "1"


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        complain(record.getMessage())
        if record.exc_info and debugging():
            traceback.print_exception(*record.exc_info)


@contextlib.contextmanager
def messages(level: int) -> Iterator[None]:
    """Print what ncosolve logs at this level and above, one line each on stderr."""
    log, handler = logging.getLogger("ncosolve"), _Lines()
    previous = log.level
    log.addHandler(handler)
    log.setLevel(level)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(previous)


def amount(value: float | None) -> str:
    """A cost as text: all digits of a whole number, up to four decimals otherwise."""
    if value is None or not math.isfinite(value):
        return "none"
    if value == math.floor(value):
        return f"{value:.0f}"
    return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) >= 0.01 else f"{value:.6g}"


def per_cent(share: float | None) -> str:
    """A relative gap as text."""
    return "none" if share is None else f"{round(100 * share, 2) + 0.0:.2f} %"  # no "-0.00"


class LiveLine:
    """Time, iterations, cost and gap of a running solve; call it with each new incumbent."""

    def __init__(self, name: str, limit: float | None) -> None:
        self._name, self._limit = name, limit
        self._began = time.perf_counter()
        self._best: Solution | None = None

    def __call__(self, solution: "Solution") -> None:
        """Take a new incumbent."""
        self._best = solution

    def __rich__(self) -> str:
        best = self._best
        seconds = time.perf_counter() - self._began - (best.time_compile if best else 0.0)
        parts = [self._name, f"{seconds:.1f} s" if self._limit is None else f"{seconds:.1f} / {self._limit:g} s"]
        if best is None:
            return "  ".join([*parts, "no solution yet"])
        parts += [f"{best.iterations} iterations", f"cost {amount(best.cost)}"]
        if best.gap is not None:
            parts.append(f"gap {per_cent(best.gap)}")
        return "  ".join(parts)


@contextlib.contextmanager
def live_line(name: str, limit: float | None) -> Iterator[Callable[["Solution"], None] | None]:
    """Show a live line while this is open, if stderr is a terminal; yields what wants each new incumbent."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, markup=False, highlight=False)
    if not console.is_terminal:
        yield None
        return
    line = LiveLine(name, limit)
    with Live(
        console=console, get_renderable=line.__rich__, refresh_per_second=REFRESH, transient=True, redirect_stdout=False
    ):
        yield line


@contextlib.contextmanager
def training_line(name: str) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Show how a training goes on, in a live line on a terminal and line by line elsewhere; yields what takes news."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, markup=False, highlight=False)
    if not console.is_terminal:
        yield lambda told: print(_training(name, told), file=sys.stderr, flush=True)
        return
    with Live(name, console=console, auto_refresh=False, transient=True, redirect_stdout=False) as live:
        yield lambda told: live.update(_training(name, told), refresh=True)


def _training(name: str, told: Mapping[str, Any]) -> str:
    if "labels" in told:
        return f"{name}  labels {told['labels']}  {min(told['made'], told['of'])} / {told['of']}"
    rest = [f"{key} {value:.4g}" for key, value in told.items() if key not in ("step", "seconds", "left")]
    return "  ".join([name, f"step {told['step']}", f"{told['seconds']:.0f} s", *rest, f"{told['left']:.0f} s left"])


def summary(solution: "Solution", record: dict[str, Any]) -> str:
    """The few lines that are printed after a solve."""
    instance = solution.instance
    bound = "none"
    if solution.bound is not None:
        bound = f"{amount(solution.bound)}, gap {per_cent(solution.gap)}"
        if solution.gap is not None and solution.gap > WEAK:
            bound += " (valid, but weak)"
    rows = [
        ("problem", f"{instance.problem}, n = {instance.n}"),
        ("status", solution.status),
        ("cost", amount(solution.cost)),
        ("bound", bound),
    ]
    if record["best_known"] is not None:
        rows.append(("best known", f"{amount(record['best_known'])}, gap {per_cent(record['gap_to_best_known'])}"))
    if instance.kind == "routes":
        rows.append(("routes", str(len(solution.answer))))
    rows += [
        ("violations", violations(record["violations"])),
        ("time", f"{solution.time_search:.2f} s search, {solution.time_compile:.2f} s compilation"),
        ("solver", f"{solution.solver}, seed {solution.seed}, {solution.iterations} iterations"),
    ]
    return "\n".join([str(record["instance"]), *columns(rows, indent=2)])


def violations(found: Sequence[str]) -> str:
    """What the independent check says, in one line."""
    return "; ".join(found) if found else "none (independent check)"


def columns(rows: Iterable[Sequence[str]], indent: int = 0) -> list[str]:
    """Lines with their cells aligned; the last cell is never cut or wrapped."""
    cells = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        " " * indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def catalogue(solvers: Iterable["NamedSolver"]) -> str:
    """A table of solvers, one line each."""
    rows = [("name", "problems", "needs", "what it is")]
    rows += [(each.name, " ".join(each.problems), _needs(each), each.summary) for each in solvers]
    return "\n".join(columns(rows))


def card(solver: "NamedSolver") -> str:
    """What is known of one solver: its solver.toml and its README.md."""
    from ncosolve.catalog import reach

    rows = [
        ("name", solver.name),
        ("what it is", solver.summary),
        ("problems", " ".join(solver.problems)),
        ("engine", solver.engine),
        ("needs", _needs(solver)),
        ("auto", ", ".join(f"{problem} ({reach(limit)})" for problem, limit in solver.auto.items()) or "-"),
        ("anytime", "yes" if solver.anytime else "no"),
        ("folder", str(solver.path)),
    ]
    defaults = {} if solver.missing() else getattr(solver.load(), "PARAMETERS", {})
    rows += [(f"parameter {key}", str(value)) for key, value in {**defaults, **solver.parameters}.items()]
    for variant, changes in solver.variants.items():
        rows.append((f"@{variant}", ", ".join(f"{key} = {value}" for key, value in changes.items())))
    readme = solver.path / "README.md"
    text = readme.read_text(encoding="utf-8", errors="replace").strip() if readme.is_file() else ""
    return "\n".join([*columns(rows), *(["", text] if text else [])])


def _needs(solver: "NamedSolver") -> str:
    missing = solver.missing()
    return ", ".join(f"{each} (not installed)" if each in missing else each for each in solver.needs) or "-"
