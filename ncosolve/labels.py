"""Labels for training: answers of a solver to generated instances, made side by side, kept in files, made once."""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ncosolve import problems
from ncosolve.errors import Infeasible, InputError, NoSolutionFound
from ncosolve.formats.text import save, writable_folder
from ncosolve.record import plain
from ncosolve.solving import solve

log = logging.getLogger("ncosolve")

CHUNK = 64
"""Labels a file; what is lost when the making is killed."""


class Labels:
    """See `ncosolve.learned.training.Labels`.

    Parameters
    ----------
    root : Path
        The folder of the files.
    jobs : int
        Processes side by side.
    report : callable
        Gets the name, how many there are and how many there will be.
    """

    def __init__(self, root: Path, jobs: int, report: Callable[[Mapping[str, Any]], None]) -> None:
        self._root, self._jobs, self._report = root, jobs, report

    def __call__(self, name: str, count: int, generate: Mapping[str, Any], solver: str, iterations: int) -> list[Any]:
        """Answers, as lists, to the first ``count`` instances; None where there is none."""
        import joblib

        said = {"generate": dict(generate), "solver": solver, "iterations": iterations}
        key = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]
        place = self._root / f"{name}-{key}"
        writable_folder(place, create=True)
        save(place / "labels.json", json.dumps(said, indent=1) + "\n")
        files = {first: place / f"{first:07d}.json" for first in range(0, count, CHUNK)}
        missing = [first for first, file in files.items() if not file.exists()]
        pool = joblib.Parallel(self._jobs, return_as="generator_unordered")
        for done, _ in enumerate(
            pool(joblib.delayed(_make)(files[k], generate, k, solver, iterations) for k in missing)
        ):
            self._report({"labels": name, "made": CHUNK * (len(files) - len(missing) + done + 1), "of": count})
        return [answer for file in files.values() for answer in _read(file)][:count]


def _make(file: Path, generate: Mapping[str, Any], first: int, solver: str, iterations: int) -> None:
    answers: list[Any] = []
    for k in range(first, first + CHUNK):
        instance = problems.generate(**{**generate, "seed": generate["seed"] + k})
        try:
            answers.append(plain(instance, solve(instance, solver, max_iterations=iterations, seed=k).answer))
        except (Infeasible, NoSolutionFound):
            answers.append(None)
    save(file, json.dumps(answers))


def _read(file: Path) -> list[Any]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[Any])
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"holds no labels: {error}; delete it to make them anew", str(file)) from None
