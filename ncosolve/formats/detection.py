"""Which format a text is in, told from what it says."""

import re

from ncosolve.errors import InputError
from ncosolve.formats.text import Block, numeric
from ncosolve.formats.tspdl import last_line

_FLAGS = re.IGNORECASE | re.MULTILINE
_MARKS = (
    ("mps", re.compile(r"^ROWS[ \t]*$", re.MULTILINE)),
    ("solomon", re.compile(r"^[ \t]*NUMBER[ \t]+CAPACITY\b", _FLAGS)),
    ("coordinates", re.compile(r"^[ \t]*CUST\b", _FLAGS)),
    ("blocks", re.compile(r"^[ \t]*\w+[ \t]*:[ \t]*\[", _FLAGS)),
    ("keyed", re.compile(r"^[ \t]*(?:TYPE|DIMENSION|EDGE_WEIGHT_\w+|[A-Z_]+_SECTION)(?=[ \t:]|$)", _FLAGS)),
    ("lp", re.compile(r"\A(?:\s|\\[^\n]*\n)*(?:min|max)(?:imi[sz]e|imum)?\b", re.IGNORECASE)),
)


def detect(text: str, problem: str | None, suffix: str) -> str:
    """The format of a text.

    Parameters
    ----------
    text : str
        The file.
    problem : str or None
        The problem that is asked for, and
    suffix : str
        the suffix of the file; both are heeded only where bare numbers can be read in two ways.

    Returns
    -------
    str
        "mps", "lp", "solomon", "coordinates" (a table without a fleet), "blocks" (of TSPDL), "keyed" (the TSPLIB
        family), "windows" (bare numbers of TSPTW) or "drafts" (bare numbers of TSPDL).

    Raises
    ------
    InputError
        When it is none of these.
    """
    for name, mark in _MARKS:
        if mark.search(text):
            return name
    tokens = Block(text[:4096]).tokens()
    if not tokens or numeric(tokens[0]) is None:
        expected = "expected TSPLIB, VRPLIB, Solomon, TSPTW, TSPDL, MPS, LP or .npz"
        raise InputError(f"is in no format that is known, {expected}")
    return _numbers(text, problem, suffix)


def _numbers(text: str, problem: str | None, suffix: str) -> str:
    """Bare numbers behind a matrix: a window a line is TSPTW; a line of demands, then one of draft limits, is TSPDL."""
    n = numeric(Block(text).tokens()[0])
    width = len(last_line(text))
    if n == 2 and width == 2:
        return "drafts" if problem == "tspdl" or (problem is None and suffix == ".tspdl") else "windows"
    return "drafts" if width == n else "windows"
