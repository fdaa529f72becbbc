"""A strict reading of MPS files: refuses what HiGHS passes over without a word (unknown names, NaN, repeated entries).

Only the structure is read here; the model itself is HiGHS's. Both layouts are known: free (fields between blanks) and
fixed (fields in columns 2-3, 5-12, 15-22, 25-36, 40-47 and 50-61, so that names may hold blanks).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ncosolve.errors import InputError
from ncosolve.formats.text import line, numeric, shown

_FIXED = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))
_VALUED, _FREE, _OPEN = ("UP", "LO", "FX", "LI", "UI"), ("FR", "MI", "PL", "BV"), ("SC", "SI")


@dataclass
class Shape:
    """What a file declares.

    Attributes
    ----------
    rows : dict from str to str
        The type of each row, N, L, G or E, by name.
    columns : dict from str to int
        The line of the first entry of each column, by name.
    seen : set
        What was given a value already.
    """

    rows: dict[str, str] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    seen: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def size(self) -> tuple[int, int]:
        """The number of rows, objectives left out, and of columns."""
        return sum(kind != "N" for kind in self.rows.values()), len(self.columns)

    def once(self, *what: str) -> None:
        """InputError where a value is given a second time."""
        if what in self.seen:
            raise InputError(f"{' of '.join(map(shown, reversed(what[1:])))} is given twice in {what[0]}")
        self.seen.add(what)


def proofread(text: str) -> Shape:
    """Read an MPS file strictly.

    Raises
    ------
    InputError
        Naming the line on which something is wrong; for the free layout where neither fits.
    """
    try:
        return _read(text, _free)
    except InputError as problem:
        try:
            return _read(text, _fixed)
        except InputError:
            raise problem from None


def _read(text: str, split: Callable[[str], list[str]]) -> Shape:
    shape, section = Shape(), ""
    for number, section, content in _lines(text):
        if section == "ENDATA":
            break
        try:
            if section not in _SECTIONS:
                raise InputError(f"the section {shown(section)} is not supported")
            fields = split(content)
            if fields:
                _SECTIONS[section](shape, fields)
        except InputError as error:
            raise InputError(error.problem, where=line(number)) from None
    if section != "ENDATA":
        raise InputError("ends without ENDATA: it is cut off")
    if not any(kind == "N" for kind in shape.rows.values()):
        raise InputError("has no row of type N, the objective", where="ROWS")
    return shape


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """The number, section and content of each line; the content of the line that opens a section is empty."""
    section = ""
    for number, entry in enumerate(text.split("\n"), 1):
        if not entry.strip() or entry.startswith("*"):
            continue
        if not entry[0].isspace():
            section, *rest = entry.upper().split(None, 1)
            yield number, section, "".join(rest) if section == "OBJSENSE" else ""
        elif not section:
            raise InputError(f"{shown(entry.strip())} stands before the first section", where=line(number))
        else:
            yield number, section, entry.rstrip()


def _free(content: str) -> list[str]:
    return content.split("$")[0].split() if " $" in content else content.split()


def _fixed(content: str) -> list[str]:
    if "\t" in content or not content.isascii():
        raise InputError("holds what the fixed layout does not: tabs, or letters beyond ASCII")
    fields = [content[low:high].strip() for low, high in _FIXED]
    return [entry for entry in fields if entry]


def _name(shape: Shape, fields: list[str]) -> None:
    raise InputError(f"{shown(' '.join(fields))} stands before ROWS")


def _rows(shape: Shape, fields: list[str]) -> None:
    if len(fields) != 2 or fields[0].upper() not in ("N", "L", "G", "E"):
        raise InputError(f"{shown(' '.join(fields))} is no row, expected one of N, L, G, E and a name")
    if fields[1] in shape.rows:
        raise InputError(f"the row {shown(fields[1])} stands twice")
    shape.rows[fields[1]] = fields[0].upper()


def _columns(shape: Shape, fields: list[str]) -> None:
    if "'MARKER'" in fields:
        if fields[-1] not in ("'INTORG'", "'INTEND'"):
            raise InputError(f"the marker {shown(fields[-1])} is not supported, expected 'INTORG' or 'INTEND'")
        return
    if len(fields) not in (3, 5):
        raise InputError(f"{shown(' '.join(fields))} is no entry, expected a column, then rows with their values")
    column = fields[0]
    if column not in shape.columns:
        shape.columns[column] = len(shape.columns)
    elif shape.columns[column] != len(shape.columns) - 1:
        raise InputError(f"the column {shown(column)} goes on after another one has begun")
    _pairs(shape, "COLUMNS", column, fields[1:])


def _right_hand_side(shape: Shape, fields: list[str]) -> None:
    _pairs(shape, "RHS", "", fields[len(fields) % 2 :])


def _ranges(shape: Shape, fields: list[str]) -> None:
    _pairs(shape, "RANGES", "", fields[len(fields) % 2 :])


def _pairs(shape: Shape, section: str, column: str, fields: list[str]) -> None:
    """Rows, each followed by a number."""
    if len(fields) not in (2, 4):
        raise InputError(f"{shown(' '.join(fields))} is no entry, expected one or two rows with their values")
    for row, value in zip(fields[::2], fields[1::2], strict=True):
        if row not in shape.rows:
            raise InputError(f"the row {shown(row)} is not declared in ROWS")
        if numeric(value) is None:
            raise InputError(f"{shown(value)} is not a finite number")
        shape.once(section, column, row) if column else shape.once(section, row)


def _bounds(shape: Shape, fields: list[str]) -> None:
    kind = fields[0].upper()
    if kind in _OPEN:
        raise InputError(f"the bound type {kind} means a semicontinuous column, which is not supported")
    if kind not in _VALUED + _FREE:
        expected = f"expected one of {', '.join(_VALUED + _FREE)}"
        raise InputError(f"the bound type {shown(fields[0])} is unknown, {expected}")
    rest = fields[1:]
    if kind in _VALUED:
        if len(rest) not in (2, 3):
            raise InputError(f"{shown(' '.join(fields))} is no bound, expected a type, a set, a column and a value")
        if numeric(rest[-1]) is None and rest[-1].lower().lstrip("+-") not in ("inf", "infinity"):
            raise InputError(f"{shown(rest[-1])} is not a number")
        rest = rest[:-1]
    named = [entry for entry in rest[:2][::-1] if entry in shape.columns]
    if not rest or len(rest) > 3 or not named:
        raise InputError(f"{shown(' '.join(rest) or kind)} names no column of COLUMNS")
    shape.once("BOUNDS", named[0], kind)


def _sense(shape: Shape, fields: list[str]) -> None:
    if fields[0].upper() not in ("MIN", "MAX", "MINIMIZE", "MAXIMIZE", "MINIMISE", "MAXIMISE"):
        raise InputError(f"{shown(' '.join(fields))} is no sense, expected MIN or MAX")


_SECTIONS: dict[str, Callable[[Shape, list[str]], None]] = {
    "NAME": _name,
    "ROWS": _rows,
    "COLUMNS": _columns,
    "RHS": _right_hand_side,
    "RANGES": _ranges,
    "BOUNDS": _bounds,
    "OBJSENSE": _sense,
}
