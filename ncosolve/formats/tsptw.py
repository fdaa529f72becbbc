"""TSPTW files: n, matrix and windows as bare numbers; a table of coordinates; keyed text with TYPE TSPTW."""

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats.keyed import Document, render, table
from ncosolve.formats.solomon import customers
from ncosolve.formats.text import Block, whole, written
from ncosolve.formats.vrplib import check_closing, depot_first, window_sections, windows
from ncosolve.formats.weights import render_places
from ncosolve.problems.base import FloatArray
from ncosolve.problems.tsptw import TSPTW

SENTINEL = 999
"""The customer number that ends a table of coordinates; the rest of its line is 0."""


def parse(text: str, name: str) -> TSPTW:
    """The instance in a file of bare numbers: n, the matrix by rows, then n windows; node 0 is the depot.

    The service time is part of the matrix in the public files, and so is it here.

    Raises
    ------
    InputError
        When there are more or fewer numbers than n asks for, or one is not allowed.
    """
    block = Block(text)
    values, n = matrix_first(block)
    if len(values) != 1 + n * n + 2 * n:
        found = f"holds {len(values) - 1} numbers behind n = {n}"
        expected = f"expected a matrix of {n * n} and {n} windows of 2"
        raise InputError(f"{found}, {expected}", where=block.line_of(len(values)))
    opens, closes = values[1 + n * n :].reshape(n, 2).T
    late = np.flatnonzero(opens > closes)
    if len(late):
        k = int(late[0])
        found = f"window {k} closes at {written(closes[k])}, before it opens at {written(opens[k])}"
        raise InputError(found, where=block.line_of(1 + n * n + 2 * k))
    return TSPTW(values[1 : 1 + n * n].reshape(n, n), ready_time=opens, due_date=closes, name=name)


def matrix_first(block: Block) -> tuple[FloatArray, int]:
    """All numbers of a text that begins with n and an n x n matrix >= 0, and n; the diagonal does not matter."""
    values = block.numbers()
    n = int(whole(values[:1], block, "n, a whole number")[0])
    if n < 1:
        raise InputError(f"n is {n}, expected a whole number >= 1", where=block.line_of(0))
    if len(values) < 1 + n * n:
        found = f"holds {len(values) - 1} numbers behind n = {n}, expected a matrix of {n * n} first"
        raise InputError(found, where=block.line_of(len(values)))
    good = np.ones(len(values), np.bool_)
    good[1 : 1 + n * n] = values[1 : 1 + n * n] >= 0
    good[1 : 1 + n * n : n + 1] = True
    block.require(good, values, "a weight >= 0")
    return values, n


def parse_coordinates(text: str, name: str) -> TSPTW:
    """The instance in a table of coordinates, demands (not heeded) and windows; its first line is the depot.

    Distances are exact; a line with customer `SENTINEL` and zeros may end the table.

    Raises
    ------
    InputError
        When the numbers are not an unbroken run from 0 or 1, or another number is not allowed.
    """
    found = customers(text)
    ids, rows = found.ids, found.rows
    if ids[-1] == SENTINEL and not rows[-1].any() and len(ids) > 1:
        ids, rows = ids[:-1], rows[:-1]
    strange = ids != np.arange(len(ids)) + min(max(int(ids[0]), 0), 1)
    if strange.any():
        k = int(np.argmax(strange))
        expected = int(ids[k - 1]) + 1 if k else 1
        raise InputError(f"customer {ids[k]} found, expected {expected}", where=found.block.line_of(7 * k))
    return TSPTW(
        coords=rows[:, :2],
        ready_time=rows[:, 3],
        due_date=rows[:, 4],
        service_time=rows[:, 5],
        name=name,
    )


def build(document: Document, name: str) -> TSPTW:
    """The instance in keyed text with TIME_WINDOW_SECTION; the depot is the first node unless DEPOT_SECTION says."""
    witness = table(document, "TIME_WINDOW_SECTION", document.count("DIMENSION"), 2, "ready time and due date")
    order, distance = depot_first(document, witness, required=False)
    ready, due, service = windows(document, order)
    return TSPTW(distance, ready_time=ready, due_date=due, service_time=service, name=document.name or name)


def dumps(instance: TSPTW) -> str:
    """The text of a file of bare numbers, in which coordinates are lost.

    Raises
    ------
    InputError
        When there are service times beside the matrix, or a window never closes: this layout cannot say so.
    """
    if instance.service_time.any():
        found = "is beside the matrix, which this layout cannot say; use .tsptw or .npz"
        raise InputError(found, where="service_time")
    check_closing(instance.due_date)
    windowed = np.column_stack([instance.ready_time, instance.due_date])
    rows = [*instance.distance.matrix().tolist(), *windowed.tolist()]
    return "\n".join([str(instance.n), *(" ".join(map(written, row)) for row in rows), ""])


def dumps_keyed(instance: TSPTW) -> str:
    """The text of a keyed file, TYPE TSPTW, with coordinates and service times; the depot is node 1."""
    header, sections = render_places(instance.distance, np.arange(1, instance.n + 1))
    sections += window_sections(instance.ready_time, instance.due_date, instance.service_time)
    front = [("NAME", instance.name), ("TYPE", "TSPTW"), ("DIMENSION", str(instance.n))]
    return render([*front, *header], [*sections, ("DEPOT_SECTION", "1\n-1")])
