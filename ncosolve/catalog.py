"""Named solvers: every folder with a solver.toml, in the package and in the user's own folders."""

import importlib
import importlib.util
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ncosolve.errors import InputError, MissingExtra
from ncosolve.problems import PROBLEMS
from ncosolve.resources import folder

USER_FOLDERS = "NCOSOLVE_SOLVERS"
"""The environment variable that names further folders of solvers, separated as in PATH."""


@dataclass(frozen=True)
class NamedSolver:
    """A name for an engine with its parameters.

    Attributes
    ----------
    name : str
        The name of its folder.
    engine : str
        A module of ``ncosolve.engines``, or the import path of any module with ``PROBLEMS`` and ``run``.
    problems : tuple of str
        What it solves.
    summary : str
        One sentence.
    needs : mapping
        Packages beyond the core, each with the extra that installs it.
    auto : mapping
        For each problem that ``auto`` may hand to it: up to which n.
    parameters : mapping
        Handed to the engine as they stand.
    variants : mapping
        Parameters to change, by the name of a variant. ``NAME@classical`` is the same solver without its learned part.
    anytime : bool
        Whether what it has at some time is also what it would end with under that time limit: true of searches that do
        not plan ahead, false where a limit sets the pace (annealing) or where there is one answer at the end.
    trained : bool
        Whether there is a recipe for its weights (``ncosolve train``).
    path : Path
        Its folder.
    """

    name: str
    engine: str
    problems: tuple[str, ...]
    summary: str
    path: Path
    needs: Mapping[str, str] = field(default_factory=dict)
    auto: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    anytime: bool = False
    trained: bool = False

    def missing(self) -> list[str]:
        """The packages it needs that are not installed."""
        return [package for package in self.needs if importlib.util.find_spec(package) is None]

    def load(self) -> ModuleType:
        """Import its engine.

        Raises
        ------
        MissingExtra
            Naming the first package that it needs and that is not installed.
        InputError
            When there is no such module, or it is no engine.
        """
        for package in self.missing():
            raise MissingExtra(package, self.needs[package])
        ours = f"ncosolve.engines.{self.engine}"
        named = self.engine if "." in self.engine or importlib.util.find_spec(ours) is None else ours
        try:
            engine = importlib.import_module(named)
        except ModuleNotFoundError as error:
            raise InputError(f"{error} (neither in ncosolve.engines nor elsewhere)", str(self.path), "engine") from None
        for attribute in ("PROBLEMS", "run"):
            if not hasattr(engine, attribute):
                raise InputError(f"{named} has no {attribute}, expected PROBLEMS and run", str(self.path), "engine")
        return engine


@cache
def solvers() -> Mapping[str, NamedSolver]:
    """All named solvers by name; a user's folder overrides a shipped one of the same name.

    Raises
    ------
    InputError
        When a solver.toml cannot be read or holds a key or problem that does not exist.
    """
    roots = [folder("solvers"), Path.home() / ".config" / "ncosolve" / "solvers"]
    roots += [Path(entry) for entry in os.environ.get(USER_FOLDERS, "").split(os.pathsep) if entry]
    files = [file for root in roots for file in sorted(root.glob("*/solver.toml"))]
    return {file.parent.name: _parse(file) for file in files}


def named(name: str) -> NamedSolver:
    """The solver ``NAME`` or ``NAME@VARIANT``; InputError where there is none."""
    plain, _, variant = name.partition("@")
    if plain not in solvers():
        raise InputError(f"{name!r} is unknown, expected auto or one of {', '.join(sorted(solvers()))}", where="solver")
    return _variant(solvers()[plain], variant) if "@" in name else solvers()[plain]


def find(name: str, problem: str) -> NamedSolver:
    """The solver of that name, as in `named`, if it solves that problem; InputError otherwise."""
    solver = named(name)
    if problem not in solver.problems:
        able = sorted(entry.name for entry in solvers().values() if problem in entry.problems)
        raise InputError(f"{name!r} does not solve {problem}, expected one of {', '.join(able)}", where="solver")
    return solver


def _variant(solver: NamedSolver, variant: str) -> NamedSolver:
    if variant not in solver.variants:
        known = f"expected one of {', '.join(sorted(solver.variants))}" if solver.variants else "it has none"
        raise InputError(f"{solver.name!r} has no variant {variant!r}, {known}", where="solver")
    parameters = {**solver.parameters, **solver.variants[variant]}
    return replace(solver, name=f"{solver.name}@{variant}", parameters=parameters)


def automatic(problem: str, n: int) -> list[NamedSolver]:
    """The solvers that ``auto`` tries in turn: those that reach n, the most specialised first."""
    able = [entry for entry in solvers().values() if entry.auto.get(problem, -1.0) >= n and not entry.missing()]
    return sorted(able, key=lambda entry: (entry.auto[problem], entry.name))


def _parse(file: Path) -> NamedSolver:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(str(error), str(file)) from None
    known = {"engine", "problems", "summary", "needs", "auto", "parameters", "variants", "anytime", "train"}
    unknown = sorted(set(table) - known)
    if unknown:
        raise InputError(f"is unknown, expected one of {', '.join(sorted(known))}", str(file), unknown[0])
    for key in ("engine", "problems", "summary"):
        if key not in table:
            raise InputError("is missing", str(file), key)
    strange = [p for p in [*table["problems"], *table.get("auto", {})] if p not in PROBLEMS]
    if strange:
        raise InputError(f"{strange[0]!r} is unknown, expected one of {', '.join(PROBLEMS)}", str(file), "problems")
    return NamedSolver(
        name=file.parent.name,
        engine=str(table["engine"]),
        problems=tuple(table["problems"]),
        summary=str(table["summary"]),
        path=file.parent,
        needs=table.get("needs", {}),
        auto={problem: float(limit) for problem, limit in table.get("auto", {}).items()},
        parameters=table.get("parameters", {}),
        variants=table.get("variants", {}),
        anytime=bool(table.get("anytime", False)),
        trained="train" in table,
    )


def reach(limit: float) -> str:
    """A size limit as text."""
    return "any n" if math.isinf(limit) else f"n <= {limit:g}"
