"""`ncosolve train`: a solver's recipe, run with labels that solvers make, to weights with a card."""

import importlib
import json
import math
import os
import platform
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ncosolve import catalog
from ncosolve.errors import InputError
from ncosolve.formats.text import save, writable_folder
from ncosolve.interrupts import first_interrupt
from ncosolve.labels import Labels

SIZES = ("smoke", "small", "lease", "full")
"""Of a recipe: seconds for tests, hours on two cores, minutes on one large GPU, the paper's."""


@dataclass(frozen=True)
class Recipe:
    """The training of a named solver.

    Attributes
    ----------
    solver : NamedSolver
        Whose weights it makes.
    module : str
        Of `ncosolve.learned`, with ``Settings`` and ``train(run, settings)``; or an import path of the user's own.
    size : str
        One of `SIZES`.
    table : mapping
        The settings of that size.
    """

    solver: catalog.NamedSolver
    module: str
    size: str
    table: Mapping[str, Any]


def recipe_of(name: str, changes: Mapping[str, str]) -> Recipe:
    """The recipe in a solver's folder, with what the user sets; ``size`` is one of its sizes.

    Raises
    ------
    InputError
        When there is none, or a key or a size is unknown.
    """
    solver = catalog.named(name)
    file = solver.path / "solver.toml"
    table = tomllib.loads(file.read_text("utf-8")).get("train")
    if table is None:
        able = sorted(entry.name for entry in catalog.solvers().values() if entry.trained)
        raise InputError(f"{name!r} is not trained, expected one of {', '.join(able) or 'none'}", where="solver")
    rest = dict(changes)
    size = rest.pop("size", "small")
    sizes = [key for key in SIZES if key in table]
    if size not in sizes:
        raise InputError(f"{size!r} is unknown, expected one of {', '.join(sizes)}", where="size")
    common = {key: value for key, value in table.items() if key not in (*SIZES, "recipe")}
    return Recipe(solver, str(table["recipe"]), size, {**common, **table[size], **rest})


def train(
    name: str,
    out: Path,
    device: str = "auto",
    resume: bool = False,
    seconds: float = math.inf,
    changes: Mapping[str, str] | None = None,
    seed: int = 0,
    jobs: int = 1,
    report: Callable[[Mapping[str, Any]], None] = lambda numbers: None,
) -> bool:
    """Train a named solver's network; the folder is then a solver of its own, to be named in NCOSOLVE_SOLVERS.

    Parameters
    ----------
    name : str
        Of a solver whose folder has a recipe.
    out : Path
        A folder for labels, checkpoint, metrics, weights and card.
    device : str
        "auto", "cpu" or "cuda".
    resume : bool
        Go on where a run in that folder was killed; without it the folder must not hold one.
    seconds : float
        When to stop, with what there is then.
    changes : mapping, optional
        ``size`` (small when not given) and settings of the recipe, as text.
    seed : int
        Of everything that is drawn.
    jobs : int
        Processes that make labels.
    report : callable
        Gets what there is to say now and then.

    Returns
    -------
    bool
        Whether it came to its end; False where a Ctrl-C ended it, and it can be resumed.

    Raises
    ------
    InputError
        For what is not allowed, or files that do not fit.
    EngineError
        When the loss is no longer finite.
    """
    recipe = recipe_of(name, changes or {})
    module = _module(recipe)
    settings = _settings(module, recipe)
    from ncosolve.learned.devices import device_of
    from ncosolve.learned.training import CHECKPOINT, Run, joined_group

    where = device_of(device)

    group = joined_group(where)
    writable_folder(out, create=True)
    if group.rank == 0 and not resume and (out / CHECKPOINT).exists():
        raise InputError("holds a run already: go on with --resume, or name another folder", str(out), "--out")
    _same_settings(out, settings, recipe, seed, resume)
    labels = Labels(out / "labels", jobs, report)
    run = Run(out, seed, where, seconds, resume, labels, report, group)
    with first_interrupt(run.stop):
        facts = module.train(run, settings)
    if group.rank == 0 and not run.stopped:
        shutil.copyfile(recipe.solver.path / "solver.toml", out / "solver.toml")
        save(out / "README.md", card(recipe, settings, facts, run.step, run.elapsed()))
    return not run.stopped


def card(recipe: Recipe, settings: Any, facts: Mapping[str, Any], steps: int, seconds: float) -> str:
    """The text about trained weights: what they are of, how they were made, what they measured."""
    lines = [
        f"# {recipe.solver.name}",
        "",
        recipe.solver.summary,
        "",
        f"Trained by `ncosolve train {recipe.solver.name} --set size={recipe.size}`: {steps} steps, {seconds:.0f} s on "
        f"{platform.machine()} with {os.cpu_count()} cores.",
        "",
        "| setting | value |",
        "|---|---|",
        *(f"| {key} | {value} |" for key, value in msgspec.structs.asdict(settings).items()),
        "",
        "| validation | value |",
        "|---|---|",
        *(f"| {key} | {value:.4g} |" for key, value in facts.items()),
    ]
    return "\n".join(lines) + "\n"


def _module(recipe: Recipe) -> Any:
    named = recipe.module if "." in recipe.module else f"ncosolve.learned.{recipe.module}.recipe"
    try:
        return importlib.import_module(named)
    except ModuleNotFoundError as error:
        raise InputError(str(error), str(recipe.solver.path / "solver.toml"), "train.recipe") from None


def _settings(module: Any, recipe: Recipe) -> Any:
    known = module.Settings.__struct_fields__
    unknown = sorted(set(recipe.table) - set(known))
    if unknown:
        raise InputError(f"is unknown, expected one of size, {', '.join(known)}", where=unknown[0])
    table = {key: _parsed(value) for key, value in recipe.table.items()}
    try:
        return msgspec.convert(table, module.Settings, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(str(error), where="train") from None


def _parsed(value: Any) -> Any:
    """A setting given as text: a comma separates the members of a list."""
    return value.split(",") if isinstance(value, str) and "," in value else value


def _same_settings(out: Path, settings: Any, recipe: Recipe, seed: int, resume: bool) -> None:
    """Note what is run; a run that is resumed must be of the same settings."""
    file = out / "settings.json"
    said = {"solver": recipe.solver.name, "size": recipe.size, "seed": seed, **msgspec.structs.asdict(settings)}
    said = json.loads(json.dumps(said))
    if resume and file.exists():
        try:
            before = json.loads(file.read_text("utf-8"))
        except ValueError:
            raise InputError("is no JSON, expected what the run was started with", str(file)) from None
        changed = sorted(key for key in said if said[key] != before.get(key))
        if changed:
            key = changed[0]
            raise InputError(f"is {said[key]}, but the run to resume has {before.get(key)}", str(file), key)
    save(file, json.dumps(said, indent=1) + "\n")
