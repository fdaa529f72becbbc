"""Where and with what a benchmark runs."""

import datetime
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from ncosolve import __version__, catalog
from ncosolve.bench.origin import Start

_PACKAGES = ("numpy", "scipy", "numba", "torch", "highspy", "joblib")


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


@cache
def machine() -> str:
    """The processor, its cores and the memory."""
    return f"{processor()}, {psutil.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GB"


def processor() -> str:
    """The name of the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


@cache
def commit() -> str | None:
    """The short commit of the checkout that the code runs from, with a + where files differ; None outside of one."""
    place = Path(__file__).resolve().parents[2]
    if not (place / ".git").exists():
        return None
    try:
        head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=place, capture_output=True, text=True)
        changed = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=place, capture_output=True, text=True)
    except OSError:
        return None
    return (head.stdout.strip() + ("+" if changed.stdout.strip() else "")) or None


def versions(needs: Any) -> str:
    """The versions that a solver runs on: its outside packages, by their import names, and ncosolve."""
    outside = [f"{name} {metadata.version(_distributions()[name])}" for name in needs if name in _distributions()]
    return ", ".join(outside) or f"ncosolve {__version__}" + (f" ({commit()})" if commit() else "")


def start(command: Sequence[str], solvers: Sequence[str], marks: Sequence[float]) -> Start:
    """What it takes to run the same benchmark again, as it starts now."""
    installed = {each.name: each.version for each in metadata.distributions()}
    outside = {_distributions().get(name) for solver in catalog.solvers().values() for name in solver.needs}
    return Start(
        command=" ".join(command),
        started=now(),
        solvers=tuple(solvers),
        marks=tuple(marks),
        python=sys.version.split()[0],
        platform=platform.platform(),
        machine=processor(),
        cores=len(cores()),
        memory_gb=round(psutil.virtual_memory().total / 2**30, 1),
        packages={name: installed[name] for name in sorted(installed) if name in {*_PACKAGES, *outside}},
        commit=commit(),
    )


@cache
def _distributions() -> dict[str, str]:
    """The distribution that each importable package comes from."""
    return {package: names[0] for package, names in metadata.packages_distributions().items()}
