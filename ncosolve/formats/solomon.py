"""The text layout of Solomon (1987) and of Gehring and Homberger (1999) for VRPTW."""

import re
from dataclasses import dataclass

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats.text import Block, line, shown, whole, written
from ncosolve.formats.vrplib import check_closing
from ncosolve.problems.base import FloatArray, IntArray
from ncosolve.problems.vrptw import VRPTW

COLUMNS = "number, x, y, demand, ready time, due date, service time"
"""What a line of the table holds."""

_VEHICLE = re.compile(r"^[ \t]*NUMBER[ \t]+CAPACITY[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_TITLE = re.compile(r"^[ \t]*CUST[^\n]*\n", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class CustomerTable:
    """The table of customers.

    Attributes
    ----------
    ids : ndarray of int64, shape (n,)
        The numbers in the first column.
    rows : ndarray of float64, shape (n, 6)
        The other columns, see `COLUMNS`.
    block : Block
        Its text.
    """

    ids: IntArray
    rows: FloatArray
    block: Block

    def check(self, good: object, k: int, expected: str) -> None:
        """InputError at the first row that is not good, naming what is in column k of ``rows``."""
        self.block.require(np.asarray(good), self.rows[:, k], expected, 7)


def customers(text: str) -> CustomerTable:
    """The table behind the last title line that begins with CUST.

    Raises
    ------
    InputError
        When there is none, or a line is not seven numbers with a demand and a service time >= 0.
    """
    titles = list(_TITLE.finditer(text))
    if not titles:
        raise InputError("has no line CUST NO. ... above its customers")
    block = Block(text[titles[-1].end() :], 1 + text.count("\n", 0, titles[-1].end()))
    values = block.rows(7, COLUMNS)
    if not len(values):
        raise InputError("no customers follow", where=line(block.first - 1))
    found = CustomerTable(whole(values[:, 0], block, "a whole customer number", 7), values[:, 1:], block)
    found.check(found.rows[:, 2] >= 0, 2, "a demand >= 0")
    found.check(found.rows[:, 5] >= 0, 5, "a service time >= 0")
    found.check(found.rows[:, 3] <= found.rows[:, 4], 4, "a due date that is not before the ready time")
    return found


def parse(text: str, name: str) -> VRPTW:
    """The instance in a file; customer 0 is the depot, distances are exact, NUMBER limits the fleet.

    Raises
    ------
    InputError
        When the numbers are not 0..n-1, each once, or another number is not allowed.
    """
    vehicle = _VEHICLE.search(text)
    if vehicle is None:
        raise InputError("has no line NUMBER CAPACITY")
    limit, capacity = _fleet(Block(text[vehicle.end() :], 1 + text.count("\n", 0, vehicle.end())))
    found = customers(text)
    _check_ids(found)
    order = np.argsort(found.ids != 0, kind="stable")
    rows = found.rows[order]
    found.check((found.ids != 0) | (found.rows[:, 2] == 0), 2, "0 at the depot")
    title = next(entry.strip() for entry in text.split("\n") if entry.strip())
    return VRPTW(
        coords=rows[:, :2],
        demand=rows[:, 2],
        capacity=capacity,
        ready_time=rows[:, 3],
        due_date=rows[:, 4],
        service_time=rows[:, 5],
        max_vehicles=limit,
        name=name if title.upper().startswith("VEHICLE") else title,
    )


def _fleet(behind: Block) -> tuple[int, float]:
    """The limit on the fleet and the capacity, alone on the one line between their title and that of the customers."""
    above = _TITLE.split(behind.text, maxsplit=1)[0]
    lines = [(number, entry) for number, entry in enumerate(above.split("\n"), behind.first) if entry.strip()]
    if len(lines) != 1:
        raise InputError(f"{len(lines)} lines follow NUMBER CAPACITY, expected one", where=line(behind.first - 1))
    number, entry = lines[0]
    values = Block(entry, number).numbers()
    if len(values) != 2 or values[0] < 1 or values[0] != np.floor(values[0]) or values[1] <= 0:
        expected = "expected the number of vehicles, whole and >= 1, and their capacity > 0"
        raise InputError(f"{shown(entry.strip())} found, {expected}", where=line(number))
    return int(values[0]), float(values[1])


def _check_ids(found: CustomerTable) -> None:
    n = len(found.ids)
    _, first = np.unique(found.ids, return_index=True)
    repeated = np.ones(n, np.bool_)
    repeated[first] = False
    strange = repeated | (found.ids < 0) | (found.ids >= n)
    if strange.any():
        k = int(np.argmax(strange))
        expected = f"expected 0..{n - 1}, each once"
        raise InputError(f"customer {found.ids[k]} is out of place, {expected}", where=found.block.line_of(7 * k))


def dumps(instance: VRPTW) -> str:
    """The text of a file; a free fleet is written as one vehicle a customer.

    Raises
    ------
    InputError
        For distances other than exact Euclidean ones of two coordinates, which this layout cannot say.
    """
    coords = instance.distance.coords
    described = (instance.distance.metric, instance.distance.rounding)
    if coords is None or coords.shape[1] != 2 or described != ("euclidean", "exact"):
        found = f"is {' '.join(described)}, which the Solomon layout cannot say; use .vrp or .npz"
        raise InputError(found, where="distance")
    check_closing(instance.due_date)
    vehicles = max(1, instance.n - 1) if instance.max_vehicles is None else instance.max_vehicles
    head = [
        " ".join(instance.name.split()),
        "",
        "VEHICLE",
        "NUMBER     CAPACITY",
        f"  {vehicles}  {written(instance.capacity)}",
    ]
    head += ["", "CUSTOMER", "CUST NO.  XCOORD.  YCOORD.  DEMAND  READY TIME  DUE DATE  SERVICE TIME", ""]
    columns = (coords, instance.demand, instance.ready_time, instance.due_date, instance.service_time)
    rows = [f"{k} {' '.join(map(written, row))}" for k, row in enumerate(np.column_stack(columns).tolist())]
    return "\n".join([*head, *rows, ""])
