"""What a benchmark runs on: named suites, files, folders and generated instances."""

import dataclasses
import hashlib
import json
import os
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ncosolve.bench.table import FILE
from ncosolve.errors import InputError
from ncosolve.formats import read
from ncosolve.problems import generate
from ncosolve.record import stem
from ncosolve.resources import folder

DATA = "NCOSOLVE_DATA"
"""The environment variable that names the folder of public instances that do not ship with ncosolve."""
_KEYS = {"summary", "files", "generate", "short", "max_vehicles", "problem", "rounding", "objective"}
_SKIPPED = {".csv", ".md", ".sol", ".tour", ".py", ".toml", ".json", ".html", ".png"}


@dataclass(frozen=True)
class Case:
    """One instance of a benchmark.

    Attributes
    ----------
    name, problem, n : str, str, int
        As it is shown; ``n`` counts nodes or columns.
    source : str
        JSON of what it is read or generated from; see `instance_of`.
    """

    name: str
    problem: str
    n: int
    source: str


@dataclass(frozen=True)
class Suite:
    """A named list of instances: a file in the folder of suites.

    Attributes
    ----------
    name, summary : str
        What it is called, and one sentence.
    sources : tuple of mapping
        What each instance is read or generated from; a file is a path below the folder of public instances.
    short : tuple of str
        The names of those that ``--short`` is confined to.
    """

    name: str
    summary: str
    sources: tuple[dict[str, Any], ...]
    short: tuple[str, ...] = field(default=())


def suites() -> dict[str, Suite]:
    """All suites by name.

    Raises
    ------
    InputError
        When a file among them cannot be read or holds a key that does not exist.
    """
    return {file.stem: _parse(file) for file in sorted(folder("suites").glob("*.toml"))}


def instance_of(source: str) -> Any:
    """The instance that the JSON of a case stands for.

    It is ``{"file": PATH, ...}`` with what `ncosolve.formats.read` takes and a digest of the file's content, or
    ``{"generate": PROBLEM, ...}`` with what `ncosolve.generate` takes.

    Raises
    ------
    InputError
        When the file is not there or not an instance.
    """
    options = json.loads(source)
    options.pop("digest", None)
    if "file" in options:
        return read(options.pop("file"), **options)
    return generate(options.pop("generate"), options.pop("n"), **options)


def here(suite: Suite, data: Path | None = None) -> int:
    """How many instances of a suite can be run without asking for more files; ``data`` as in `cases`."""
    return sum(_located(source, _place(data)) is not None for source in suite.sources)


def cases(
    names: Iterable[str], data: Path | None = None, short: bool = False, reading: dict[str, Any] | None = None
) -> tuple[list[Case], list[str]]:
    """The instances that a command line names, each read once, and the files of suites that are not here.

    Parameters
    ----------
    names : iterable of str
        Files, folders, suites or bundled instances.
    data : Path, optional
        The folder of public instances; `DATA` of the environment when not given.
    short : bool
        Confine suites to their short lists.
    reading : dict, optional
        Options of `ncosolve.formats.read` for all files, also in place of what a suite says.

    Raises
    ------
    InputError
        When a name is none of these, a file is bad, or options are given for what is generated.
    """
    options = {key: value for key, value in (reading or {}).items() if value is not None}
    known = suites()
    place = _place(data)
    found: list[Case] = []
    missing: list[str] = []
    for name in names:
        if name in known and not os.path.exists(name):
            suite = known[name]
            for source in suite.sources:
                if short and source["name"] not in suite.short:
                    continue
                given = _located(source, place)
                if given is None:
                    missing.append(source["file"])
                elif options and "file" not in given:
                    raise InputError(f"does not apply to {name}, which is generated", where=next(iter(options)))
                else:
                    found.append(_case({**given, **options}, source["name"]))
        else:
            found += [_case({"file": file, **options}, stem(file)) for file in _files(name, known)]
    return _told_apart(found), missing


def _place(data: Path | None) -> Path | None:
    return data or (Path(os.environ[DATA]) if os.environ.get(DATA) else None)


def _case(given: dict[str, Any], name: str) -> Case:
    instance = instance_of(json.dumps(given))
    if os.path.isfile(given.get("file", "")):  # what is bundled never changes
        given = {**given, "digest": hashlib.sha256(Path(given["file"]).read_bytes()).hexdigest()[:12]}
    source = json.dumps(given)
    name = " ".join(name.split()).encode("utf-8", "replace").decode()
    return Case(name, instance.problem, instance.n, source)


def _located(source: dict[str, Any], place: Path | None) -> dict[str, Any] | None:
    """A suite's source with a file that is there: in the folder of public instances, else bundled; None otherwise."""
    given = {key: value for key, value in source.items() if key != "name"}
    if "file" not in given:
        return given
    if place is not None and (place / given["file"]).is_file():
        return {**given, "file": str((place / given["file"]).resolve())}
    return {**given, "file": source["name"]} if source["name"] in _bundled() else None


def _files(name: str, known: dict[str, Suite]) -> list[str]:
    """The files that a name stands for, in full; a bundled instance by its name alone, which holds on any machine."""
    path = Path(name)
    if os.path.isdir(path):
        inside = [str(each.resolve()) for each in _instances(path)]
        if not inside:
            raise InputError("holds no instance files", name)
        return inside
    if os.path.isfile(path):
        return [str(path.resolve())]
    if name in _bundled():
        return [name]
    raise InputError(f"is no file, folder or bundled instance, and no suite: {', '.join(known)}", name)


@cache
def _bundled() -> frozenset[str]:
    """The names, with and without suffix, of the instances that ship with ncosolve."""
    files = _instances(folder("instances"))
    return frozenset([each.name for each in files] + [stem(each) for each in files])


def _instances(place: Path) -> list[Path]:
    """The files in a folder that may be instances; those of hidden files and of benchmarks are none."""
    found = [each for each in sorted(place.rglob("*")) if each.is_file() and each.suffix.lower() not in _SKIPPED]
    tables = {each.parent for each in place.rglob(FILE)}
    return [each for each in found if not each.name.startswith(".") and tables.isdisjoint(each.parents)]


def _told_apart(found: Sequence[Case]) -> list[Case]:
    """Each source once; where two instances of a problem have one name, the folder's name is put before it."""
    unique = list({case.source: case for case in found}.values())
    taken = [(case.problem, case.name) for case in unique]
    named = []
    for case in unique:
        options = json.loads(case.source)
        if taken.count((case.problem, case.name)) > 1 and "file" in options:
            case = dataclasses.replace(case, name=f"{Path(options['file']).parent.name}-{case.name}")
        named.append(case)
    seen: dict[tuple[str, str], Case] = {}
    for case in named:
        if (case.problem, case.name) in seen:
            other = seen[case.problem, case.name].source
            raise InputError(f"has the same name as {other}, expected one name an instance", case.source)
        seen[case.problem, case.name] = case
    return named


def _parse(file: Path) -> Suite:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(str(error), str(file)) from None
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise InputError(f"is unknown, expected one of {', '.join(sorted(_KEYS))}", str(file), unknown[0])
    reading: dict[str, Any] = {key: table[key] for key in ("problem", "rounding", "objective") if key in table}
    fleet = table.get("max_vehicles", {})
    sources: list[dict[str, Any]] = []
    for path in table.get("files", []):
        name = stem(path)
        limit: dict[str, int] = {"max_vehicles": fleet[name]} if name in fleet else {}
        sources.append({"name": name, "file": path, **reading, **limit})
    for recipe in table.get("generate", []):
        options = recipe.get("options", {})
        for seed in recipe["seeds"]:
            given = {"generate": recipe["problem"], "n": recipe["n"], "seed": seed, **options}
            words = [recipe["problem"], *map(str, options.values()), f"n{recipe['n']}", f"s{seed}"]
            sources.append({"name": "-".join(words), **given})
    return Suite(file.stem, str(table["summary"]), tuple(sources), tuple(table.get("short", ())))
