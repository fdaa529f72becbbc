"""The ``ncosolve`` command: a thin layer over the API.

Exit codes: 0 a feasible solution, 1 none found or proved infeasible, 2 bad input or usage, 130 interrupted. Nothing
heavy is imported before a command runs, so that ``--help`` is quick.
"""

import contextlib
import functools
import json
import logging
import math
import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncosolve import __version__, terminal
from ncosolve.bench import command
from ncosolve.errors import EngineError, Infeasible, InputError, NcosolveError, NoSolutionFound
from ncosolve.problems import PROBLEMS

if TYPE_CHECKING:
    from ncosolve.solution import Solution

UNSOLVED, BAD_INPUT, INTERRUPTED = 1, 2, 130
"""Exit codes other than 0."""

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Solve TSP, CVRP, VRPTW, TSPTW, TSPDL and MILP files, with a checked answer in the time allowed.",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; no traceback reaches the user unless NCOSOLVE_DEBUG=1."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(given or ["--help"], prog_name="ncosolve", standalone_mode=False) or 0
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except NcosolveError as error:
        terminal.complain(error)
        return _code(error)
    except Exception as error:
        if not hasattr(error, "format_message"):  # that of a usage error, whichever click typer stands on
            return _unexpected(error)
        terminal.complain(error.format_message())
        return BAD_INPUT
    if code == INTERRUPTED:
        terminal.complain("interrupted")
    return int(code)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"ncosolve {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


ProblemOption = Annotated[
    str | None, typer.Option("--problem", metavar="P", help=f"Instead of what the content says: {', '.join(PROBLEMS)}.")
]
RoundingOption = Annotated[
    str | None,
    typer.Option(
        "--rounding", metavar="R", help="exact, nint, ceil, floor or dimacs instead of the file's convention."
    ),
]
VehiclesOption = Annotated[int | None, typer.Option("--max-vehicles", metavar="K", help="Limit the fleet.")]


@dataclass(frozen=True)
class _Job:
    """What `solve` was asked to do with each file."""

    reading: dict[str, Any]
    solving: dict[str, Any]
    start: Path | None
    as_json: bool
    quiet: bool


@app.command()
def solve(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Instance files, or names of bundled instances.")],
    problem: ProblemOption = None,
    solver: Annotated[
        str, typer.Option("--solver", metavar="NAME", help="One of `ncosolve solvers`, or auto.")
    ] = "auto",
    time_limit: Annotated[
        float | None,
        typer.Option(
            "-t", "--time-limit", metavar="SECONDS", help="Wall-clock seconds; 10 unless --iterations is given."
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option("--iterations", metavar="N", min=0, help="Limit the work instead of, or beside, the time."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0)] = 0,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", min=1, help="Searches side by side; 1 by default.")
    ] = None,
    device: Annotated[str, typer.Option("--device", metavar="D", help="auto, cpu or cuda, for networks.")] = "auto",
    rounding: RoundingOption = None,
    max_vehicles: VehiclesOption = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective", metavar="O", help="distance, or vehicles to minimise the fleet first; makespan (TSPTW)."
        ),
    ] = None,
    start: Annotated[Path | None, typer.Option("--start", metavar="FILE", help="A solution to start from.")] = None,
    target: Annotated[float | None, typer.Option("--target", metavar="COST", help="Stop at this cost.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT.sol", help="Write the solution; a folder for several files."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="OUT.png", help="Draw the solution; a folder for several files.")
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One JSON object a file on stdout, nothing else; gaps are shares of 1."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> int:
    """Solve files one after another.

    Ctrl-C ends the search of the current file with the best solution so far; a second one ends the command.
    """
    if time_limit is not None and not 0 <= time_limit < math.inf:
        raise InputError(f"is {time_limit}, expected a finite number of seconds >= 0", where="-t")
    if start is not None and len(files) > 1:
        raise InputError("is for a single file", where="--start")
    outputs, plots = _destinations(files, output, ".sol"), _destinations(files, plot, ".png")
    job = _Job(
        {"problem": problem, "rounding": rounding, "max_vehicles": max_vehicles, "objective": objective},
        {
            "solver": solver,
            "time_limit": time_limit,
            "seed": seed,
            "threads": threads,
            "device": device,
            "target": target,
            "max_iterations": iterations,
        },
        start,
        as_json,
        quiet,
    )
    level = logging.ERROR if quiet else logging.WARNING if as_json else logging.INFO
    with terminal.messages(level):
        codes = [
            _guarded(file, functools.partial(_solve_one, file, job, out, png))
            for file, out, png in zip(files, outputs, plots, strict=True)
        ]
    return max(codes)


def _solve_one(file: str, job: _Job, output: Path | None, plot: Path | None) -> int:
    from ncosolve import formats, record, solving
    from ncosolve.plot import panels

    instance = formats.read(file, **job.reading)
    if plot is not None:
        panels(instance, plot)
    if output is not None:
        formats.check_target(instance, output)
    start = None if job.start is None else formats.read_solution(job.start, instance)
    solving.prepare(instance, job.solving["solver"])
    began = time.perf_counter()
    try:
        with _watching(file, job) as watcher:
            solution = solving.solve(instance, start=start, on_improvement=watcher, **job.solving)
    except (Infeasible, NoSolutionFound, EngineError) as error:
        if job.as_json:
            seconds = time.perf_counter() - began
            _emit(record.unsolved(instance, error, file, job.solving["solver"], job.solving["seed"], seconds))
        raise
    result = record.solved(solution, file)
    try:  # files first, for a reader of stdout may hang up; but a file that cannot be written loses no answer
        if output is not None:
            solution.write(output)
        if plot is not None:
            solution.plot(plot)
    finally:
        if job.as_json:
            _emit(result)
        elif not job.quiet:
            print(terminal.summary(solution, result), flush=True)
    return 0


@app.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An instance file, or the name of a bundled instance.")],
    solution: Annotated[Path, typer.Argument(metavar="SOLUTION", help="A .sol or .tour file.")],
    problem: ProblemOption = None,
    rounding: RoundingOption = None,
    max_vehicles: VehiclesOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> int:
    """Recompute the cost of a solution and name each constraint that it violates."""

    def run() -> int:
        from ncosolve import formats, record

        instance = formats.read(file, problem=problem, rounding=rounding, max_vehicles=max_vehicles)
        found = formats.read_solution(solution, instance)
        result = record.checked(found, file, str(solution))
        if as_json:
            _emit(result)
        else:
            rows = [
                ("problem", f"{instance.problem}, n = {instance.n}"),
                ("cost", terminal.amount(found.cost)),
                ("violations", terminal.violations(result["violations"])),
            ]
            print("\n".join(terminal.columns(rows)), flush=True)
        return 0 if found.feasible else UNSOLVED

    return _guarded(file, run)


@app.command()
def generate(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help=", ".join(PROBLEMS))],
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, help="Nodes, the depot included; columns of a milp.")],
    count: Annotated[int, typer.Option("--count", metavar="K", min=1, help="How many, with seeds S, S + 1, ...")] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0)] = 0,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Made if it is not there.")] = Path(),
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="An option of that problem's generator, may be repeated."),
    ] = None,
) -> int:
    """Write random instances to files and print their names."""
    from ncosolve import formats
    from ncosolve.formats.text import writable_folder
    from ncosolve.problems import generate as make

    options = dict(map(_generator_option, option or []))
    writable_folder(output, create=True)
    for each in range(seed, seed + count):
        instance = make(problem, n, seed=each, **options)
        path = output / f"{instance.problem}-n{n}-s{each}{GENERATED_SUFFIX[instance.problem]}"
        formats.write(instance, path)
        print(path, flush=True)
    return 0


GENERATED_SUFFIX = {
    "tsp": ".tsp",
    "cvrp": ".vrp",
    "vrptw": ".txt",
    "tsptw": ".tsptw",
    "tspdl": ".tspdl",
    "milp": ".mps",
}
"""What the files of each problem end with: layouts that keep the coordinates."""


@app.command()
def solvers(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show the card of one solver.")] = None,
) -> int:
    """List the named solvers, or show the card and the parameters of one."""
    from ncosolve import catalog

    text = terminal.catalogue(catalog.solvers().values()) if name is None else terminal.card(catalog.named(name))
    print(text, flush=True)
    return 0


@app.command()
def train(
    solver: Annotated[str, typer.Argument(metavar="SOLVER", help="One of `ncosolve solvers` that has a recipe.")],
    output: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Made if it is not there.")] = Path(
        "trained"
    ),
    device: Annotated[str, typer.Option("--device", metavar="D", help="auto, cpu or cuda.")] = "auto",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
    max_time: Annotated[
        str | None, typer.Option("--max-time", metavar="T", help="When to stop: seconds, or 30m, or 2h.")
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the recipe, or its size; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0)] = 0,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Processes that make labels.")] = 1,
) -> int:
    """Train the network of a solver by the recipe in its folder.

    The folder that comes of it is a solver too: name the one above it in NCOSOLVE_SOLVERS. Ctrl-C ends the run after
    the step at hand, and --resume goes on from there. Several processes: torchrun -m ncosolve train ...
    """
    from ncosolve import training
    from ncosolve.learned.training import WEIGHTS

    changes = dict(_pair(text, "--set", "a setting") for text in change or [])
    with terminal.messages(logging.INFO), terminal.training_line(solver) as report:
        whole = training.train(solver, output, device, resume, _seconds(max_time), changes, seed, jobs, report)
    if not whole:
        return INTERRUPTED
    if os.environ.get("RANK", "0") == "0":  # one of several processes under torchrun
        print(output / WEIGHTS, flush=True)
    return 0


def _seconds(text: str | None) -> float:
    """Seconds of a text such as 90, 30m or 2h."""
    if text is None:
        return math.inf
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
    with contextlib.suppress(ValueError):
        value = float(text[:-1] if unit else text) * (unit or 1.0)
        if 0.0 <= value < math.inf:
            return value
    raise InputError(f"is {text!r}, expected a time such as 90, 30m or 2h", where="--max-time")


def _telling(function: Callable[..., int]) -> Callable[..., int]:
    """The same command, with its warnings told on stderr."""

    @functools.wraps(function)
    def run(**options: Any) -> int:
        with terminal.messages(logging.WARNING):
            return function(**options)

    return run


app.command()(_telling(command.bench))
app.command()(_telling(command.report))


def _guarded(file: str, act: Callable[[], int]) -> int:
    """Do something with a file; whatever goes wrong becomes one line that names it, and an exit code."""
    try:
        return act()
    except NcosolveError as error:
        terminal.complain(error.within(file) if isinstance(error, InputError) else f"{file}: {error}")
        return _code(error)
    except BrokenPipeError:
        raise
    except Exception as error:
        return _unexpected(error, file)


def _code(error: NcosolveError) -> int:
    return UNSOLVED if isinstance(error, Infeasible | NoSolutionFound | EngineError) else BAD_INPUT


def _unexpected(error: Exception, file: str = "") -> int:
    where = f"{file}: " if file else ""
    terminal.complain(f"{where}unexpected {type(error).__name__}: {error} (NCOSOLVE_DEBUG=1 shows the traceback)")
    if terminal.debugging():
        traceback.print_exception(error)
    return UNSOLVED


def _emit(result: dict[str, Any]) -> None:
    print(json.dumps(result, allow_nan=False), flush=True)


def _watching(file: str, job: _Job) -> "contextlib.AbstractContextManager[Callable[[Solution], None] | None]":
    if job.as_json or job.quiet:
        return contextlib.nullcontext()
    return terminal.live_line(file, job.solving["time_limit"])


def _destinations(files: Sequence[str], target: Path | None, suffix: str) -> list[Path | None]:
    """Where each file's output goes; refused before any search whose answer could not be written."""
    from ncosolve.formats.text import writable_folder
    from ncosolve.record import stem

    if target is None:
        return [None] * len(files)
    if target.is_dir():
        paths = [target / (stem(file) + suffix) for file in files]
    elif len(files) == 1:
        paths = [target]
    else:
        raise InputError("is not a folder, expected one for several files", str(target))
    if len(set(paths)) < len(paths):
        raise InputError("would get two files of the same name", str(target))
    if not {path.resolve() for path in paths}.isdisjoint(Path(file).resolve() for file in files):
        raise InputError("is the instance itself, expected another file", str(target))
    writable_folder(paths[0].parent)
    return [*paths]


def _pair(text: str, where: str, of: str, reserved: Sequence[str] = ()) -> tuple[str, str]:
    """The key and the value of a text such as KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier() or key in reserved:
        raise InputError(f"is {text!r}, expected KEY=VALUE with the name of {of}", where=where)
    return key, value


def _generator_option(text: str) -> tuple[str, Any]:
    key, value = _pair(text, "--option", "a generator's option", reserved=("n", "seed"))
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return key, kind(value)
    return key, {"true": True, "false": False}.get(value.lower(), value)
