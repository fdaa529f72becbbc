"""Files in and out: instances and solutions in the formats of the literature; one module a format."""

import importlib
import logging
import os
import re
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ncosolve.errors import InputError
from ncosolve.formats.text import decode, load, save
from ncosolve.problems import module
from ncosolve.resources import folder
from ncosolve.solution import Solution

log = logging.getLogger("ncosolve")

_READERS = {
    "mps": "mps:parse_mps",
    "lp": "mps:parse_lp",
    "solomon": "solomon:parse",
    "coordinates": "tsptw:parse_coordinates",
    "windows": "tsptw:parse",
    "blocks": "tspdl:parse",
    "drafts": "tspdl:parse_numbers",
}
_KEYED_READERS = {
    "tsp": "tsplib:build",
    "cvrp": "vrplib:build",
    "vrptw": "vrplib:build_windows",
    "tsptw": "tsptw:build",
    "tspdl": "tspdl:build",
}
_WRITERS = {
    "tsp": "tsplib:dumps",
    "cvrp": "vrplib:dumps",
    "vrptw": "vrplib:dumps",
    "tsptw": "tsptw:dumps_keyed",
    "tspdl": "tspdl:dumps_keyed",
    "milp": "mps_write:dumps",
}
_WRITERS_BY_SUFFIX = {
    ("vrptw", ".txt"): "solomon:dumps",
    ("tsptw", ".txt"): "tsptw:dumps",
    ("tsptw", ".tw"): "tsptw:dumps",
    ("tsptw", ".dat"): "tsptw:dumps",
    ("tspdl", ".txt"): "tspdl:dumps",
    ("tspdl", ".dat"): "tspdl:dumps",
    ("milp", ".lp"): "mps:dumps_lp",
}
_NO_INSTANCE = (".sol", ".tour", ".md", ".csv")


def read(
    path: str | PathLike[str],
    problem: str | None = None,
    rounding: str | None = None,
    max_vehicles: int | None = None,
    objective: str | None = None,
) -> Any:
    """Read an instance; its format and problem are found from the content.

    Parameters
    ----------
    path : path-like
        A file, also gzip'd, or the bare name of a bundled instance such as ``"X-n101-k25"``.
    problem : str, optional
        Read it as this problem, where the file has the data: a VRPTW also as a CVRP or TSP, for instance.
    rounding : str, optional
        One of `ncosolve.problems.distance.ROUNDINGS`, in place of the file's convention. "dimacs" truncates distances
        and times to one decimal.
    max_vehicles : int, optional
        The most routes allowed, for CVRP and VRPTW.
    objective : str, optional
        "distance" or "vehicles", for CVRP and VRPTW; "distance" or "makespan" for TSPTW.

    Returns
    -------
    TSP, CVRP, VRPTW, TSPTW, TSPDL or MILP
        Node 0 is the depot, the other nodes keep the order of the file.

    Raises
    ------
    InputError
        Naming the file, the line or field, what was found and what was expected.
    """
    file = _find(path)
    try:
        if problem is not None:
            module(problem)
        instance = _instance(load(file), file, problem and problem.lower())
        if problem is not None:
            instance = _overrides().as_problem(instance, problem)
        if rounding is not None:
            instance = _overrides().with_rounding(instance, rounding)
        options = {"max_vehicles": max_vehicles, "objective": objective}
        changes = {key: value for key, value in options.items() if value is not None}
        return _overrides().with_options(instance, **changes) if changes else instance
    except InputError as error:
        raise error.within(str(file)) from None


def write(instance: Any, path: str | PathLike[str]) -> None:
    """Write an instance to a file, whole or not at all; gzip'd where the name ends with ``.gz``.

    ``.npz`` holds everything of any problem. TSP and CVRP are written as TSPLIB and VRPLIB, VRPTW as VRPLIB or with
    ``.txt`` in the Solomon layout, MILP as MPS or with ``.lp`` as LP. TSPTW and TSPDL are written as keyed text with
    coordinates; with ``.txt``, ``.tw`` or ``.dat`` in the layout of their public files, which is a matrix.

    Raises
    ------
    InputError
        When the format cannot say what the instance holds, or the file cannot be written.
    """
    suffix = _suffix(Path(fspath(path)))
    if suffix == ".npz":
        importlib.import_module("ncosolve.formats.npz").write_batch([instance], path)
        return
    writer = _function(_WRITERS_BY_SUFFIX.get((instance.problem, suffix), _WRITERS[instance.problem]))
    try:
        text = writer(instance)
    except InputError as error:
        raise error.within(str(path)) from None
    save(path, text)


def read_solution(path: str | PathLike[str], instance: Any) -> Solution:
    """Read a ``.sol`` or ``.tour`` file, told apart by content, and check it against an instance.

    Returns
    -------
    Solution
        With the recomputed cost, whatever the file states, and the constraints that it violates.

    Raises
    ------
    InputError
        When the file cannot be read, or has not the form of a solution of this instance.
    """
    from ncosolve.formats.solutions import parse

    try:
        return Solution.of(instance, parse(decode(load(path)), instance))
    except InputError as error:
        raise error.within(str(path)) from None


def check_target(instance: Any, path: str | PathLike[str]) -> None:
    """Tell before a search whether `write_solution` can write its answer there.

    Raises
    ------
    InputError
        When the format that the path names does not fit the instance.
    """
    checks = {".tour": "solutions:require_tour", ".geojson": "geojson:require_coords"}
    check = checks.get(_suffix(Path(fspath(path))))
    if check is not None:
        try:
            _function(check)(instance)
        except InputError as error:
            raise error.within(str(path)) from None


def write_solution(solution: Solution, path: str | PathLike[str]) -> None:
    """Write a solution to a file, whole or not at all: ``.tour``, ``.geojson``, otherwise ``.sol``.

    Raises
    ------
    InputError
        When the format does not fit the problem, or the file cannot be written.
    """
    writers = {".tour": "solutions:dumps_tour", ".geojson": "geojson:dumps"}
    writer = _function(writers.get(_suffix(Path(fspath(path))), "solutions:dumps"))
    try:
        text = writer(solution)
    except InputError as error:
        raise error.within(str(path)) from None
    save(path, text)


def _instance(data: bytes, file: Path, problem: str | None) -> Any:
    if data[:4] == b"PK\x03\x04":
        return _only(importlib.import_module("ncosolve.formats.npz").parse(data))
    from ncosolve.formats import keyed
    from ncosolve.formats.detection import detect

    text, name = decode(data), _stem(file)
    kind = detect(text, problem, _suffix(file))
    if kind == "keyed":
        document = keyed.parse(text)
        instance = _function(_KEYED_READERS[keyed.problem_of(document)])(document, name)
        for key in document.header.keys() - keyed.KEYS:  # said only of a file that is read otherwise
            log.warning("%s: line %d: the key %s is not known and was ignored", file, document.header[key].line, key)
        return instance
    return _function(_READERS[kind])(text, name)


def _only(batch: list[Any]) -> Any:
    if len(batch) != 1:
        raise InputError(f"holds {len(batch)} instances, expected one: use ncosolve.formats.npz.read_batch")
    return batch[0]


def _function(name: str) -> Callable[..., Any]:
    place, function = name.split(":")
    return getattr(importlib.import_module(f"ncosolve.formats.{place}"), function)


def _overrides() -> Any:
    return importlib.import_module("ncosolve.formats.overrides")


def _find(path: str | PathLike[str]) -> Path:
    """The file of that path or, where there is none, the one bundled instance of that name."""
    file = Path(fspath(path))
    if file.name != fspath(path) or os.path.exists(file):
        return file
    bundled = [entry for entry in sorted(folder("instances").rglob("*")) if entry.suffix not in _NO_INSTANCE]
    found = [entry for entry in bundled if file.name in (entry.name, entry.stem, _stem(entry)) and entry.is_file()]
    if len(found) > 1:
        raise InputError(f"could be {' or '.join(str(entry) for entry in found)}", str(path))
    if not found:
        raise InputError("no such file, and no bundled instance of that name", str(path))
    return found[0]


def _suffix(file: Path) -> str:
    """The last suffix but ``.gz``, in small letters."""
    return (file.with_suffix("") if file.suffix.lower() == ".gz" else file).suffix.lower()


def _stem(file: Path) -> str:
    """The name without ``.gz`` and without a suffix that has a letter: ``rc201.0`` is a name."""
    inner = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    return inner.stem if re.search("[A-Za-z]", inner.suffix) else inner.name
