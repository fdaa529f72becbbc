"""A strict reading of MPS files, which rewrites them in one plain form for HiGHS.

HiGHS passes over unknown names, NaN and repeated entries without a word, and a damaged file in the fixed layout can
keep it busy for ever; here all that is refused. Both layouts are known: free (fields between blanks) and fixed (fields
in columns 2-3, 5-12, 15-22, 25-36, 40-47 and 50-61, so that names may hold blanks).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ncosolve.errors import InputError
from ncosolve.formats.text import line, numeric, shown

_FIXED = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))
_VALUED, _FREE, _SEMICONTINUOUS = ("UP", "LO", "FX", "LI", "UI"), ("FR", "MI", "PL", "BV"), ("SC", "SI")


@dataclass
class Program:
    """What a file says, its rows called R0, R1, ... and its columns C0, C1, ... in the order of the file.

    Attributes
    ----------
    name : str
        What stands behind NAME.
    rows, columns : dict from str to str
        The new name of each row and column, by the name in the file.
    objectives : set of str
        The new names of the rows of type N.
    sections : dict from str to list of str
        The rewritten lines of each section.
    """

    name: str = ""
    rows: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    objectives: set[str] = field(default_factory=set)
    sections: dict[str, list[str]] = field(default_factory=dict)
    _seen: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def text(self) -> str:
        """The file rewritten in the free layout."""
        parts = (f"{name}\n{''.join(f' {entry}' for entry in lines)}" for name, lines in self.sections.items() if lines)
        return "".join(["NAME\n", *parts, "ENDATA\n"])

    def put(self, section: str, *fields: str) -> None:
        """Add a line to a section."""
        self.sections[section].append(" ".join(fields) + "\n")

    def once(self, *what: str) -> None:
        """InputError where a value is given a second time."""
        if what in self._seen:
            raise InputError(f"{' of '.join(map(shown, reversed(what[1:])))} is given twice in {what[0]}")
        self._seen.add(what)


def proofread(text: str) -> Program:
    """Read an MPS file strictly.

    Raises
    ------
    InputError
        Naming the line on which something is wrong; for the free layout where neither fits.
    """
    try:
        return _read(text, str.split)
    except InputError as problem:
        try:
            return _read(text, _fixed)
        except InputError:
            raise problem from None


def _read(text: str, split: Callable[[str], list[str]]) -> Program:
    program, section = Program(sections={key: [] for key in _SECTIONS}), ""
    for number, section, content in _lines(text):
        if section == "ENDATA":
            break
        try:
            if section == "NAME":
                program.name = content.strip()
            elif section not in _SECTIONS:
                raise InputError(f"the section {shown(section)} is not supported")
            elif fields := split(content):
                _SECTIONS[section](program, fields)
        except InputError as error:
            raise InputError(error.problem, where=line(number)) from None
    if section != "ENDATA":
        raise InputError("ends without ENDATA: it is cut off")
    if not program.objectives:
        raise InputError("has no row of type N, the objective", where="ROWS")
    if not program.columns:
        raise InputError("has no columns", where="COLUMNS")
    return program


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """The number, section and content of each line; a line that opens a section may have content behind its name."""
    section = ""
    for number, entry in enumerate(text.split("\n"), 1):
        if not entry.strip() or entry.startswith("*"):
            continue
        if not entry[0].isspace():
            section, *rest = entry.split(None, 1)
            section = section.upper()
            yield number, section, "".join(rest) if section in ("NAME", "OBJSENSE") else ""
        elif not section or section == "NAME":
            raise InputError(f"{shown(entry.strip())} stands outside of a section", where=line(number))
        else:
            yield number, section, entry


def _fixed(content: str) -> list[str]:
    if "\t" in content:
        raise InputError("holds a tab, which the fixed layout does not")
    fields = (content[low:high].strip() for low, high in _FIXED)
    return [entry for entry in fields if entry]


def _rows(program: Program, fields: list[str]) -> None:
    if len(fields) != 2 or fields[0].upper() not in ("N", "L", "G", "E"):
        raise InputError(f"{shown(' '.join(fields))} is no row, expected one of N, L, G, E and a name")
    kind, name = fields[0].upper(), fields[1]
    if name in program.rows:
        raise InputError(f"the row {shown(name)} stands twice")
    program.rows[name] = f"R{len(program.rows)}"
    if kind == "N":
        program.objectives.add(program.rows[name])
    program.put("ROWS", kind, program.rows[name])


def _columns(program: Program, fields: list[str]) -> None:
    if "'MARKER'" in fields:
        if fields[-1] not in ("'INTORG'", "'INTEND'"):
            raise InputError(f"the marker {shown(fields[-1])} is not supported, expected 'INTORG' or 'INTEND'")
        program.put("COLUMNS", "M", "'MARKER'", fields[-1])
        return
    if len(fields) not in (3, 5):
        raise InputError(f"{shown(' '.join(fields))} is no entry, expected a column, then rows with their values")
    column, last = fields[0], f"C{len(program.columns) - 1}"
    if program.columns.get(column, last) != last:
        raise InputError(f"the column {shown(column)} goes on after another one has begun")
    program.columns.setdefault(column, f"C{len(program.columns)}")
    for row, value in _pairs(program, fields[1:]):
        program.once("COLUMNS", column, row)
        program.put("COLUMNS", program.columns[column], program.rows[row], value)


def _right_hand_sides(program: Program, fields: list[str]) -> None:
    _sides(program, "RHS", fields)


def _ranges(program: Program, fields: list[str]) -> None:
    _sides(program, "RANGES", fields)


def _sides(program: Program, section: str, fields: list[str]) -> None:
    """Rows with their values, behind the name of the set, which may be left out."""
    for row, value in _pairs(program, fields[len(fields) % 2 :]):
        program.once(section, row)
        program.put(section, "S", program.rows[row], value)


def _pairs(program: Program, fields: list[str]) -> list[tuple[str, str]]:
    """One or two rows, each followed by a number."""
    if len(fields) not in (2, 4):
        raise InputError(f"{shown(' '.join(fields))} is no entry, expected one or two rows with their values")
    pairs = list(zip(fields[::2], fields[1::2], strict=True))
    for row, value in pairs:
        if row not in program.rows:
            raise InputError(f"the row {shown(row)} is not declared in ROWS")
        if numeric(value) is None:
            raise InputError(f"{shown(value)} is not a finite number")
    return pairs


def _bounds(program: Program, fields: list[str]) -> None:
    kind, rest, value = fields[0].upper(), fields[1:], ""
    if kind in _SEMICONTINUOUS:
        raise InputError(f"the bound type {kind} means a semicontinuous column, which is not supported")
    if kind not in _VALUED + _FREE:
        expected = f"expected one of {', '.join(_VALUED + _FREE)}"
        raise InputError(f"the bound type {shown(fields[0])} is unknown, {expected}")
    if kind in _VALUED:
        if len(rest) not in (2, 3):
            raise InputError(f"{shown(' '.join(fields))} is no bound, expected a type, a set, a column and a value")
        *rest, value = rest
        if numeric(value) is None and value.lower().lstrip("+-") not in ("inf", "infinity"):
            raise InputError(f"{shown(value)} is not a number")
    # the name of the set before the column may be left out, and a value behind it that says nothing may stand
    named = [entry for entry in rest[1::-1] if entry in program.columns]
    if not named or len(rest) > 3:
        raise InputError(f"{shown(' '.join(rest) or kind)} names no column of COLUMNS")
    program.once("BOUNDS", named[0], kind)
    program.put("BOUNDS", kind, "S", program.columns[named[0]], value)


def _sense(program: Program, fields: list[str]) -> None:
    sense = fields[0].upper()[:3]
    if sense not in ("MIN", "MAX") or len(fields) > 1 or program.sections["OBJSENSE"]:
        raise InputError(f"{shown(' '.join(fields))} is no sense, expected MIN or MAX, once")
    program.put("OBJSENSE", sense)


_SECTIONS: dict[str, Callable[[Program, list[str]], None]] = {
    "OBJSENSE": _sense,
    "ROWS": _rows,
    "COLUMNS": _columns,
    "RHS": _right_hand_sides,
    "RANGES": _ranges,
    "BOUNDS": _bounds,
}
"""What reads a line of each section, in the order in which they are rewritten."""
