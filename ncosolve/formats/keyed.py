"""The keyed text of TSPLIB and its family: specifications ``KEY : value`` and sections of numbers.

G. Reinelt, TSPLIB 95, Heidelberg 1995; the further keys are those of VRPLIB and of LKH-3.
"""

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats.text import Block, line, numeric, shown, whole
from ncosolve.problems.base import FloatArray, IntArray

log = logging.getLogger("ncosolve")

TYPES = {
    "TSP": "tsp",
    "ATSP": "tsp",
    "CVRP": "cvrp",
    "ACVRP": "cvrp",
    "VRPTW": "vrptw",
    "CVRPTW": "vrptw",
    "TSPTW": "tsptw",
    "TSPDL": "tspdl",
}
"""The problem that each TYPE means."""

KEYS = (
    "NAME",
    "COMMENT",
    "TYPE",
    "DIMENSION",
    "CAPACITY",
    "VEHICLES",
    "SERVICE_TIME",
    "EDGE_WEIGHT_TYPE",
    "EDGE_WEIGHT_FORMAT",
    "NODE_COORD_TYPE",
    "DISPLAY_DATA_TYPE",
)
"""The specifications that are known, and may stand without a colon."""

REFUSED = {
    "DISTANCE": "a limit on the length of a route",
    "EDGE_DATA_FORMAT": "a graph that is not complete",
    "SALESMEN": "more than one salesman",
}
"""Specifications that would change the problem, with what they mean."""

_PLACES = ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION", "EDGE_WEIGHT_SECTION")
SECTIONS = {
    "tsp": _PLACES,
    "cvrp": (*_PLACES, "DEMAND_SECTION", "DEPOT_SECTION"),
    "vrptw": (*_PLACES, "DEMAND_SECTION", "DEPOT_SECTION", "TIME_WINDOW_SECTION", "SERVICE_TIME_SECTION"),
    "tsptw": (*_PLACES, "DEPOT_SECTION", "TIME_WINDOW_SECTION", "SERVICE_TIME_SECTION"),
    "tspdl": (*_PLACES, "DEPOT_SECTION", "DEMAND_SECTION", "DRAFT_LIMIT_SECTION"),
}
"""The sections that each problem uses; any other one would go unheard, so it is refused."""

_KEYWORD = re.compile(r"^[ \t]*([A-Za-z]\w*)[ \t]*(:?)[ \t]*(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """The value of a specification, and the line on which it stands."""

    value: str
    line: int

    @property
    def word(self) -> str:
        """Its first word in capitals, without what follows as a comment."""
        found = re.match(r"\w+", self.value)
        return found.group().upper() if found else ""


@dataclass(frozen=True)
class Document:
    """A file, taken apart.

    Attributes
    ----------
    header : mapping from str to Entry
        The specifications by key in capitals.
    sections : mapping from str to Block
        The numbers of each section.
    """

    header: Mapping[str, Entry]
    sections: Mapping[str, Block]

    @property
    def name(self) -> str:
        """NAME, or the empty text."""
        return self.header["NAME"].value if "NAME" in self.header else ""

    def word(self, key: str) -> str:
        """The first word of a specification in capitals; InputError where it is missing."""
        return self._entry(key).word

    def number(self, key: str) -> float:
        """The number that a specification holds, a comment behind it left out."""
        entry = self._entry(key)
        words = Block(entry.value).tokens() or [""]
        value = numeric(words[0])
        if value is None or (len(words) > 1 and numeric(words[1]) is not None):
            raise InputError(f"{key} is {shown(entry.value)}, expected one finite number", where=line(entry.line))
        return value

    def count(self, key: str) -> int:
        """The whole number >= 1 that a specification holds."""
        value = self.number(key)
        if value < 1 or value != int(value):
            raise InputError(f"{key} is {value:g}, expected a whole number >= 1", where=self.where(key))
        return int(value)

    def where(self, key: str) -> str:
        """The line of a specification or section."""
        return line(self.sections[key].first if key in self.sections else self.header[key].line)

    def section(self, key: str) -> Block:
        """The numbers of a section; InputError where it is missing."""
        if key not in self.sections:
            raise InputError("is missing", where=key)
        return self.sections[key]

    def _entry(self, key: str) -> Entry:
        if key not in self.header:
            raise InputError("is missing", where=key)
        return self.header[key]


@dataclass(frozen=True)
class Table:
    """A section of one line a node: its number, then its values.

    Attributes
    ----------
    ids : ndarray of int64, shape (n,)
        The numbers of the nodes as the file has them, each once.
    values : ndarray of float64, shape (n, k)
        What stands behind them.
    section : str
        The name of the section.
    block : Block
        Its text.
    """

    ids: IntArray
    values: FloatArray
    section: str
    block: Block

    def by(self, ids: IntArray) -> FloatArray:
        """The values in the order of the nodes ``ids``; InputError where a node is missing."""
        order = np.argsort(self.ids)
        if not np.array_equal(self.ids[order], np.sort(ids)):
            k = int(np.argmin(np.isin(self.ids, ids)))
            absent = ids[~np.isin(ids, self.ids)]
            found = f"{self.section}: node {self.ids[k]} is in no other section, node {absent[0]} is missing here"
            raise InputError(found, where=self.block.line_of(k * (1 + self.values.shape[1])))
        return self.values[order[np.searchsorted(self.ids[order], ids)]]


def parse(text: str) -> Document:
    """Take a file apart into specifications and sections, up to EOF or its end.

    Raises
    ------
    InputError
        For a word that is no key, numbers outside of a section, or a key or section that stands twice.
    """
    header: dict[str, Entry] = {}
    sections: dict[str, Block] = {}
    current, start, here, at = "", 0, 1, 0
    for match in _KEYWORD.finditer(text):
        key, colon, rest = match.group(1).upper(), match.group(2), match.group(3).strip()
        if current == "COMMENT" and not colon and key not in KEYS and not key.endswith("SECTION") and key != "EOF":
            continue
        _close(sections, current, text[start : match.start()], here)
        here, at = here + text.count("\n", at, match.start()), match.start()
        current, start = key, match.end()
        if key == "EOF" and not Block(rest).tokens():
            return Document(header, sections)
        if key.endswith("SECTION"):
            if key in sections:
                raise InputError(f"{key} stands twice, before on line {sections[key].first}", where=line(here))
            sections[key] = Block("", here)
            start = match.start(3)
        else:
            _put(header, key, bool(colon), Entry(rest, here))
    _close(sections, current, text[start:], here)
    return Document(header, sections)


def _close(sections: dict[str, Block], current: str, text: str, first: int) -> None:
    """Give a section the text up to the next keyword; anywhere else there must be none."""
    if current in sections:
        sections[current] = Block(text, first)
    elif current != "COMMENT" and Block(text).tokens():
        block = Block(text, first)
        raise InputError(f"{shown(block.tokens()[0])} stands outside of a section", where=block.line_of(0))


def _put(header: dict[str, Entry], key: str, colon: bool, entry: Entry) -> None:
    where = line(entry.line)
    if key in REFUSED:
        raise InputError(f"{key} means {REFUSED[key]}, which is not supported", where=where)
    if key not in KEYS and not colon:
        raise InputError(f"{shown(key)} is neither a key nor a section of TSPLIB", where=where)
    if key in header and key != "COMMENT" and header[key].value != entry.value:
        raise InputError(f"{key} stands twice, before on line {header[key].line} with another value", where=where)
    header.setdefault(key, entry)


def problem_of(document: Document) -> str:
    """The problem that a file holds, by its TYPE, or by its sections where it has none.

    Raises
    ------
    InputError
        For a type that is not supported, or a section that does not belong to the type.
    """
    kind = document.word("TYPE") if "TYPE" in document.header else _guess(document)
    if kind == "CVRP" and "TIME_WINDOW_SECTION" in document.sections:
        kind = "VRPTW"  # the files of the EURO-NeurIPS 2022 competition call themselves so
    if kind == "TOUR":
        raise InputError("TYPE is TOUR: a solution, expected an instance", where=document.where("TYPE"))
    if kind not in TYPES:
        expected = f"expected one of {', '.join(TYPES)}"
        raise InputError(f"TYPE is {shown(kind)}, {expected}", where=document.where("TYPE"))
    known = {key for keys in SECTIONS.values() for key in keys}
    for key in document.sections:
        if key not in known:
            raise InputError(f"{shown(key)} is not supported", where=document.where(key))
        if key not in SECTIONS[TYPES[kind]]:
            raise InputError(f"{key} does not belong to TYPE {kind}", where=document.where(key))
    return TYPES[kind]


def _guess(document: Document) -> str:
    held = document.sections.keys()
    if "TIME_WINDOW_SECTION" in held:
        return "VRPTW" if "DEMAND_SECTION" in held else "TSPTW"
    if "DRAFT_LIMIT_SECTION" in held:
        return "TSPDL"
    return "CVRP" if "DEMAND_SECTION" in held else "TSP"


def table(document: Document, section: str, n: int, width: int, meaning: str) -> Table:
    """A section of n lines, each a node number and ``width`` values.

    Raises
    ------
    InputError
        When there are more or fewer lines, a line has another width, or a node number is not whole or stands twice.
    """
    block = document.section(section)
    values = block.rows(1 + width, f"node {meaning}")
    if len(values) != n:
        raise InputError(f"{section} has {len(values)} nodes, but DIMENSION is {n}", where=line(block.first))
    ids = whole(values[:, 0], block, "a whole node number", 1 + width)
    _, first = np.unique(ids, return_index=True)
    if len(first) < n:
        k = int(np.setdiff1d(np.arange(n), first)[0])
        raise InputError(f"{section}: node {ids[k]} stands twice", where=block.line_of(k * (1 + width)))
    return Table(ids, values[:, 1:], section, block)


def check_ids(found: Table, witnessed: bool) -> None:
    """InputError unless the node numbers of a section are complete: a run without a gap.

    The run may start anywhere. Out of order it must be 1..n, or be confirmed by a second section (``witnessed``):
    otherwise one mistyped number might pass.
    """
    strange = _out_of_place(found.ids, witnessed)
    if strange:
        k, expected = strange
        found_here = f"{found.section}: node {found.ids[k]} is out of place, expected {expected}"
        raise InputError(found_here, where=found.block.line_of(k * (1 + found.values.shape[1])))


def check_numbering(ids: IntArray) -> None:
    """InputError unless a file may number its nodes so, see `check_ids`."""
    strange = _out_of_place(ids, witnessed=False)
    if strange:
        k, expected = strange
        raise InputError(f"holds {ids[k]}, expected {expected}", where="ids")


def _out_of_place(ids: IntArray, witnessed: bool) -> tuple[int, str] | None:
    """The position of a node number that breaks the run, and the run that was expected."""
    n, low = len(ids), int(ids.min())
    run = np.arange(low, low + n)
    complete = low >= 0 and np.array_equal(np.sort(ids), run)
    if complete and (witnessed or low == 1 or np.array_equal(ids, run)):
        return None
    starts = (1,) if complete else (1, low)
    run = max((np.arange(start, start + n) for start in starts), key=lambda run: int(np.isin(ids, run).sum()))
    return int(np.argmin(np.isin(ids, run))), f"{run[0]}..{run[-1]}"


def render(header: Iterable[tuple[str, str]], sections: Iterable[tuple[str, str]]) -> str:
    """The text of a file."""
    lines = [f"{key} : {' '.join(value.split())}" for key, value in header]
    lines += [f"{key}\n{body}" for key, body in sections]
    return "\n".join([*lines, "EOF", ""])
