"""Distances in keyed text: every EDGE_WEIGHT_TYPE and EDGE_WEIGHT_FORMAT of TSPLIB, in and out."""

from dataclasses import dataclass

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats.keyed import Document, Table, check_ids, table
from ncosolve.formats.text import line, shown, written
from ncosolve.problems.base import BoolArray, FloatArray, IntArray
from ncosolve.problems.distance import Distance

TYPES = {
    "EUC_2D": ("euclidean", "nint", 2),
    "EUC_3D": ("euclidean", "nint", 3),
    "CEIL_2D": ("euclidean", "ceil", 2),
    "CEIL_3D": ("euclidean", "ceil", 3),
    "FLOOR_2D": ("euclidean", "floor", 2),
    "FLOOR_3D": ("euclidean", "floor", 3),
    "EXACT_2D": ("euclidean", "exact", 2),
    "EXACT_3D": ("euclidean", "exact", 3),
    "MAN_2D": ("manhattan", "nint", 2),
    "MAN_3D": ("manhattan", "nint", 3),
    "MAX_2D": ("maximum", "nint", 2),
    "MAX_3D": ("maximum", "nint", 3),
    "ATT": ("att", "nint", 2),
    "GEO": ("geo", "nint", 2),
    "XRAY1": ("xray1", "nint", 3),
    "XRAY2": ("xray2", "nint", 3),
}
"""Metric, rounding and number of coordinates of each EDGE_WEIGHT_TYPE but EXPLICIT and SPECIAL."""

_UPPER, _LOWER = ("upper", 1), ("lower", 1)
_UPPER_DIAGONAL, _LOWER_DIAGONAL = ("upper", 0), ("lower", 0)
FORMATS = {
    "FULL_MATRIX": ("full", 0),
    "UPPER_ROW": _UPPER,
    "LOWER_COL": _UPPER,
    "LOWER_ROW": _LOWER,
    "UPPER_COL": _LOWER,
    "UPPER_DIAG_ROW": _UPPER_DIAGONAL,
    "LOWER_DIAG_COL": _UPPER_DIAGONAL,
    "LOWER_DIAG_ROW": _LOWER_DIAGONAL,
    "UPPER_DIAG_COL": _LOWER_DIAGONAL,
}
"""How each EDGE_WEIGHT_FORMAT is read: a triangle by rows, as a triangle by columns is the other one by rows; and how
many diagonals are left out."""


@dataclass(frozen=True)
class Places:
    """What a file says of where its nodes are.

    Attributes
    ----------
    distance : Distance
        In the order of the file.
    ids : ndarray of int64, shape (n,), or None
        The numbers of the nodes in that order; None where neither coordinates nor display data name them.
    """

    distance: Distance
    ids: IntArray | None


def places(document: Document, witnessed: bool) -> Places:
    """The distances of a file, and the numbers of its nodes.

    Parameters
    ----------
    document : Document
        The file.
    witnessed : bool
        Whether another section repeats the node numbers, see `ncosolve.formats.keyed.check_ids`.

    Raises
    ------
    InputError
        When the type or format is unknown, the counts do not match, or a number is not allowed.
    """
    n, kind = document.count("DIMENSION"), document.word("EDGE_WEIGHT_TYPE")
    if kind == "EXPLICIT":
        return _explicit(document, n, witnessed)
    if kind not in TYPES:
        what = "is a function known to its authors only" if kind == "SPECIAL" else "is unknown"
        found = f"EDGE_WEIGHT_TYPE {shown(kind)} {what}, expected EXPLICIT or one of {', '.join(TYPES)}"
        raise InputError(found, where=document.where("EDGE_WEIGHT_TYPE"))
    if "EDGE_WEIGHT_SECTION" in document.sections:
        found = f"EDGE_WEIGHT_SECTION does not belong to EDGE_WEIGHT_TYPE {kind}"
        raise InputError(found, where=document.where("EDGE_WEIGHT_SECTION"))
    metric, rounding, width = TYPES[kind]
    coordinates = table(document, "NODE_COORD_SECTION", n, width, "x y z"[: 2 * width - 1])
    check_ids(coordinates, witnessed)
    if "DISPLAY_DATA_SECTION" in document.sections:
        table(document, "DISPLAY_DATA_SECTION", n, 2, "x y").by(coordinates.ids)
    return Places(Distance(metric, rounding, coordinates.values), coordinates.ids)


def _explicit(document: Document, n: int, witnessed: bool) -> Places:
    weights = _weights(document, n)
    shown_at: Table | None = None
    for section in ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION"):
        if section in document.sections:
            shown_at = table(document, section, n, 2, "x y")
            check_ids(shown_at, witnessed)
    if shown_at is None:
        return Places(Distance("matrix", weights=weights), None)
    ids = np.sort(shown_at.ids)  # the matrix has the nodes in the order of their numbers
    return Places(Distance("matrix", coords=shown_at.by(ids), weights=weights), ids)


def _weights(document: Document, n: int) -> FloatArray:
    form, block = document.word("EDGE_WEIGHT_FORMAT"), document.section("EDGE_WEIGHT_SECTION")
    if form not in FORMATS:
        found = f"EDGE_WEIGHT_FORMAT {shown(form)} is unknown, expected one of {', '.join(FORMATS)}"
        raise InputError(found, where=document.where("EDGE_WEIGHT_FORMAT"))
    half, skipped = FORMATS[form]
    count = n * n if half == "full" else n * (n - 1) // 2 + n * (1 - skipped)
    values = block.numbers()
    if len(values) != count:
        found = f"EDGE_WEIGHT_SECTION holds {len(values)} numbers, expected {count} for {form} and DIMENSION {n}"
        raise InputError(found, where=line(block.first))
    held = _held(n, half, skipped)
    block.require((values >= 0) | np.eye(n, dtype=np.bool_)[held], values, "a weight >= 0")
    weights = np.zeros((n, n))
    weights[held] = values
    return weights if half == "full" else np.where(held, weights, weights.T)


def _held(n: int, half: str, skipped: int) -> BoolArray:
    """Which entries of the matrix the file holds; they come in the order of rows."""
    if half == "full":
        return np.ones((n, n), np.bool_)
    lower = np.tri(n, k=-skipped, dtype=np.bool_)
    return lower if half == "lower" else lower.T


def render_places(distance: Distance, ids: IntArray) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The specifications and sections that describe distances; a full matrix where no type of TSPLIB fits.

    Parameters
    ----------
    distance : Distance
        Over n nodes.
    ids : ndarray of int64, shape (n,)
        The numbers to give to the nodes.
    """
    width = 0 if distance.coords is None else distance.coords.shape[1]
    fixed = distance.metric in ("att", "geo", "xray1", "xray2")
    rounding = "nint" if fixed else distance.rounding
    kinds = [kind for kind, entry in TYPES.items() if entry == (distance.metric, rounding, width)]
    if kinds:
        return [("EDGE_WEIGHT_TYPE", kinds[0])], [("NODE_COORD_SECTION", _rows(ids, distance.coords))]
    matrix = "\n".join(" ".join(map(written, row)) for row in distance.matrix().tolist())
    header = [("EDGE_WEIGHT_TYPE", "EXPLICIT"), ("EDGE_WEIGHT_FORMAT", "FULL_MATRIX")]
    sections = [("EDGE_WEIGHT_SECTION", matrix)]
    if width == 2:
        header.append(("DISPLAY_DATA_TYPE", "TWOD_DISPLAY"))
        sections.append(("DISPLAY_DATA_SECTION", _rows(np.sort(ids), distance.coords)))
    return header, sections


def _rows(ids: IntArray, values: FloatArray | None) -> str:
    return "" if values is None else table_text(ids, values)


def table_text(ids: IntArray, values: FloatArray) -> str:
    """The lines of a section: the number of a node, then its values."""
    columns = np.atleast_2d(values.T).T.tolist()
    return "\n".join(f"{node} {' '.join(map(written, row))}" for node, row in zip(ids.tolist(), columns, strict=True))
