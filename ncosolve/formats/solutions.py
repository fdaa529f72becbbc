"""Solutions in and out: VRPLIB's ``.sol``, TSPLIB's ``.tour``, names and values of a MILP."""

import re
from typing import Any

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats import keyed
from ncosolve.formats.text import Block, line, numeric, shown, whole, written
from ncosolve.problems.base import IntArray
from ncosolve.solution import Solution

_ROUTE = re.compile(r"^[ \t]*route[ \t]*#?[ \t]*\d+[ \t]*:([^\n]*)", re.IGNORECASE | re.MULTILINE)
_TOUR = re.compile(r"^[ \t]*TOUR_SECTION\b", re.IGNORECASE | re.MULTILINE)


def parse(text: str, instance: Any) -> Any:
    """The answer that a file holds, in the form that ``ncosolve.solution.Solution.of`` takes.

    Parameters
    ----------
    text : str
        ``Route #1: 3 1 2`` lines, which leave out node 0, for routes and tours; a TOUR_SECTION in the numbers of the
        instance's file, for tours; ``name value`` lines, columns left out being 0, for a MILP.
    instance : Problem
        What it is a solution of.

    Raises
    ------
    InputError
        When the file has another form, or a number or name in it does not exist.
    """
    if instance.kind == "values":
        return _values(text, instance)
    if _TOUR.search(text):
        return _tour(text, instance)
    routes = _routes(text)
    if not routes and instance.n > 1:
        raise InputError("holds no solution, expected lines Route #1: ... or a TOUR_SECTION")
    if instance.kind == "routes":
        return routes
    if len(routes) > 1:
        raise InputError(f"holds {len(routes)} routes, expected one: {instance.problem} has a tour")
    return [0, *(routes[0] if routes else [])]


def _routes(text: str) -> list[list[int]]:
    routes, here, at = [], 1, 0
    for match in _ROUTE.finditer(text):
        here, at = here + text.count("\n", at, match.start()), match.start()
        block = Block(match.group(1), here)
        route = whole(block.numbers(), block, "a whole customer number").tolist()
        # some write the depot at both ends
        routes.append(route[bool(route[:1] == [0]) : len(route) - bool(route[1:] and route[-1] == 0)])
    return routes


def _tour(text: str, instance: Any) -> IntArray:
    if instance.kind != "tour":
        raise InputError(f"holds a tour, but {instance.problem} has {instance.kind}")
    document = keyed.parse(text)
    block = document.section("TOUR_SECTION")
    values = block.numbers()
    end = int(np.argmax(values == -1)) if (values == -1).any() else len(values)
    if len(values) > end + 1:
        raise InputError("TOUR_SECTION goes on behind its -1", where=block.line_of(end + 1))
    if end != instance.n or ("DIMENSION" in document.header and document.count("DIMENSION") != instance.n):
        raise InputError(f"TOUR_SECTION holds {end} nodes, but the instance has {instance.n}", where=line(block.first))
    ids = _ids(instance)
    known = np.isin(values[:end], ids)
    block.require(known, values[:end], f"a node of the instance, {ids.min()}..{ids.max()}")
    order = np.argsort(ids)
    return order[np.searchsorted(ids[order], values[:end])]


def _ids(instance: Any) -> IntArray:
    return instance.ids if hasattr(instance, "ids") else np.arange(1, instance.n + 1)


def _values(text: str, instance: Any) -> Any:
    position = {name: k for k, name in enumerate(instance.column_names)}
    values = np.zeros(instance.n)
    given: set[int] = set()
    for number, entry in enumerate(text.split("\n"), 1):
        name, _, value = entry.strip().rpartition(" ") if "\t" not in entry else entry.strip().rpartition("\t")
        k = position.get(name.strip())
        if k is None:
            if not entry.strip() or entry.lstrip().startswith("#") or entry.split()[0].lower() == "=obj=":
                continue
            raise InputError(f"{shown(entry.strip())} found, expected a column and its value", where=line(number))
        amount = numeric(value)
        if amount is None:
            raise InputError(f"{shown(value)} is not a finite number", where=line(number))
        if k in given:
            raise InputError(f"the column {shown(name)} is given twice", where=line(number))
        given.add(k)
        values[k] = amount
    return values


def dumps(solution: Solution) -> str:
    """The text of a ``.sol`` file: routes or one route for a tour, both without node 0, and the cost; or the values."""
    if solution.instance.kind == "values":
        return _dumps_values(solution)
    routes = [solution.answer[1:]] if solution.instance.kind == "tour" else solution.answer
    lines = [f"Route #{k}: {' '.join(map(str, route.tolist()))}" for k, route in enumerate(routes, 1)]
    return "\n".join([*lines, f"Cost {written(solution.cost)}", ""])


def _dumps_values(solution: Solution) -> str:
    instance: Any = solution.instance
    pairs = zip(instance.column_names, solution.values.tolist(), strict=True)
    lines = [f"{name} {written(value)}" for name, value in pairs if value != 0]
    return "\n".join(["# columns that are not listed are 0", f"=obj= {written(solution.cost)}", *lines, ""])


def dumps_tour(solution: Solution) -> str:
    """The text of a ``.tour`` file in the node numbers of the instance's file; InputError where there is no tour."""
    instance: Any = solution.instance
    require_tour(instance)
    nodes = "\n".join(map(str, _ids(instance)[solution.tour].tolist()))
    header = [("NAME", f"{instance.name}.tour"), ("COMMENT", f"cost {written(solution.cost)}"), ("TYPE", "TOUR")]
    return keyed.render([*header, ("DIMENSION", str(instance.n))], [("TOUR_SECTION", f"{nodes}\n-1")])


def require_tour(instance: Any) -> None:
    """InputError when the answers of the instance are no tours."""
    if instance.kind != "tour":
        raise InputError(f"a .tour file holds a tour, but {instance.problem} has {instance.kind}; use .sol")
