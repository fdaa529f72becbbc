"""MPS files out, in the free layout.

Not by HiGHS: its writer lets a column without entries slip in between two markers, which makes it integer.
"""

import re
from collections.abc import Iterator

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats.text import written
from ncosolve.problems.base import FloatArray
from ncosolve.problems.milp import MILP

_OPEN = 1e30
"""What stands for infinity on the side of a row, as usual in these files."""


def dumps(instance: MILP) -> str:
    """The text of a file; a row with two sides comes back with one of them rounded, as the format holds a difference.

    Raises
    ------
    InputError
        When a name holds a blank, or a lower bound is above its upper bound: the format cannot say so.
    """
    check_names(instance)
    _check_sides(instance.lower, instance.upper, "lower, upper")
    _check_sides(instance.row_lower, instance.row_upper, "row_lower, row_upper")
    objective = "OBJ"
    while objective in instance.row_names:
        objective += "_"
    sense = ["OBJSENSE", " MAX"] if instance.maximise else []
    sections = (
        ["NAME " + " ".join(instance.name.split()), *sense, "ROWS", f" N {objective}"],
        (f" {kind} {name}" for name, kind, _, _ in _sides(instance)),
        ["COLUMNS"],
        _columns(instance, objective),
        ["RHS"],
        [f" S {objective} {written(-instance.offset)}"] if instance.offset else [],
        (f" S {name} {written(side)}" for name, _, side, _ in _sides(instance) if side),
        ["RANGES"],
        (f" S {name} {written(width)}" for name, _, _, width in _sides(instance) if width is not None),
        ["BOUNDS"],
        _bounds(instance),
        ["ENDATA", ""],
    )
    return "\n".join(entry for section in sections for entry in section)


def check_names(instance: MILP) -> None:
    """InputError where a name is empty or holds a blank, at which these files would break it."""
    for field, names in (("column_names", instance.column_names), ("row_names", instance.row_names)):
        bad = [name for name in names if not re.fullmatch(r"(?!'MARKER'$)\S+", name)]
        if bad:
            raise InputError(f"holds {bad[0]!r}, but these files take no blank in a name", where=field)


def _check_sides(low: FloatArray, high: FloatArray, field: str) -> None:
    bad = (low > high) | np.isposinf(low) | np.isneginf(high)
    if bad.any():
        k = int(np.argmax(bad))
        raise InputError(f"entry {k} is {low[k]:g}..{high[k]:g}, which MPS cannot say; use .npz", where=field)


def _sides(instance: MILP) -> Iterator[tuple[str, str, float, float | None]]:
    """Name, type, right-hand side and range of each row."""
    for name, low, high in zip(instance.row_names, instance.row_lower, instance.row_upper, strict=True):
        if low == high:
            yield name, "E", low, None
        elif np.isinf(low):
            yield name, "L", min(high, _OPEN), None
        else:
            yield name, "G", low, None if np.isinf(high) else high - low


def _columns(instance: MILP, objective: str) -> Iterator[str]:
    columns, whole = instance.rows.tocsc(), False
    for k, name in enumerate(instance.column_names):
        if whole != instance.integer[k]:
            whole = not whole
            marker = "INTORG" if whole else "INTEND"
            yield f" M 'MARKER' '{marker}'"
        entries = slice(columns.indptr[k], columns.indptr[k + 1])
        yield f" {name} {objective} {written(instance.objective[k])}"
        for row, value in zip(columns.indices[entries].tolist(), columns.data[entries].tolist(), strict=True):
            yield f" {name} {instance.row_names[row]} {written(value)}"
    if whole:
        yield " M 'MARKER' 'INTEND'"


def _bounds(instance: MILP) -> Iterator[str]:
    for name, low, high in zip(instance.column_names, instance.lower, instance.upper, strict=True):
        if low == high:
            yield f" FX S {name} {written(low)}"
        elif np.isinf(low) and np.isinf(high):
            yield f" FR S {name}"
        else:
            yield f" MI S {name}" if np.isinf(low) else f" LO S {name} {written(low)}"
            # said of every column: readers differ in what an integer column without a bound may be
            yield f" PL S {name}" if np.isinf(high) else f" UP S {name} {written(high)}"
