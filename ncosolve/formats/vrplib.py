"""VRPLIB files: CVRP, and its dialect for VRPTW with TIME_WINDOW_SECTION, SERVICE_TIME and VEHICLES."""

import logging

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats.keyed import Document, Table, check_ids, render, table
from ncosolve.formats.text import line, written
from ncosolve.formats.weights import places, render_places, table_text
from ncosolve.problems.base import FloatArray, IntArray
from ncosolve.problems.cvrp import CVRP
from ncosolve.problems.distance import Distance
from ncosolve.problems.vrptw import VRPTW

log = logging.getLogger("ncosolve")


def build(document: Document, name: str) -> CVRP:
    """The CVRP in a file: the depot becomes node 0, the customers keep the file's order.

    VEHICLES is not heeded: the best-known values of the files that have it are for a free fleet.

    Raises
    ------
    InputError
        When counts or node numbers do not match, a number is not allowed, or there is not exactly one depot.
    """
    if "VEHICLES" in document.header:
        log.info("VEHICLES is no limit in a CVRP and was left out")
    demand, order, distance = fleet_nodes(document)
    capacity = positive(document, "CAPACITY")
    return CVRP(distance, demand=demand.by(order)[:, 0], capacity=capacity, name=document.name or name)


def build_windows(document: Document, name: str) -> VRPTW:
    """The VRPTW in a file; as `build`, but VEHICLES limits the fleet."""
    demand, order, distance = fleet_nodes(document)
    ready, due, service = windows(document, order)
    return VRPTW(
        distance,
        demand=demand.by(order)[:, 0],
        capacity=positive(document, "CAPACITY"),
        ready_time=ready,
        due_date=due,
        service_time=service,
        max_vehicles=document.count("VEHICLES") if "VEHICLES" in document.header else None,
        name=document.name or name,
    )


def fleet_nodes(document: Document) -> tuple[Table, IntArray, Distance]:
    """The demands, the node numbers with the depot first, and the distances in that order."""
    demand = weighted_nodes(document, "DEMAND_SECTION", "demand")
    order, distance = depot_first(document, demand, required=True)
    at_depot = demand.ids == order[0]
    demand.block.require(~at_depot | (demand.values[:, 0] == 0), demand.values[:, 0], "0 at the depot", 2)
    return demand, order, distance


def weighted_nodes(document: Document, section: str, meaning: str) -> Table:
    """A section of one number >= 0 for each node."""
    found = table(document, section, document.count("DIMENSION"), 1, meaning)
    found.block.require(found.values[:, 0] >= 0, found.values[:, 0], f"a {meaning} >= 0", 2)
    return found


def depot_first(document: Document, witness: Table, required: bool) -> tuple[IntArray, Distance]:
    """The node numbers with the depot first, the others in the file's order, and the distances in that order.

    Parameters
    ----------
    document : Document
        The file.
    witness : Table
        A section that names every node; it must name the same ones as the coordinates.
    required : bool
        Whether DEPOT_SECTION must be there; else the first node is the depot where it is not.

    Raises
    ------
    InputError
        When the numbers differ, or there is not exactly one depot.
    """
    found = places(document, witnessed=True)
    if found.ids is None:
        check_ids(witness, witnessed=False)
    ids = np.sort(witness.ids) if found.ids is None else found.ids
    witness.by(ids)
    if not required and "DEPOT_SECTION" not in document.sections:
        return ids, found.distance
    here = int(np.argmax(ids == _depot(document, ids)))
    order = np.concatenate([[here], np.delete(np.arange(len(ids)), here)])
    return ids[order], found.distance if here == 0 else found.distance.subset(order)


def _depot(document: Document, ids: IntArray) -> int:
    block = document.section("DEPOT_SECTION")
    values = block.numbers()
    end = int(np.argmax(values == -1)) if (values == -1).any() else len(values)
    if len(values) > end + 1:
        raise InputError("DEPOT_SECTION goes on behind its -1", where=block.line_of(end + 1))
    if end != 1:
        found = "names no depot" if end == 0 else f"names {end} depots, which is not supported"
        raise InputError(f"DEPOT_SECTION {found}, expected one", where=line(block.first))
    if values[0] not in ids:
        raise InputError(f"the depot {written(values[0])} is no node", where=block.line_of(0))
    return int(values[0])


def windows(document: Document, order: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ready times, due dates and service times in the order of the nodes ``order``, the depot first."""
    opening = table(document, "TIME_WINDOW_SECTION", len(order), 2, "ready time and due date")
    closes = opening.values[:, 1]
    opening.block.require(opening.values[:, 0] <= closes, closes, "a window that closes after it opens", 3)
    ready, due = opening.by(order).T
    if "SERVICE_TIME_SECTION" in document.sections:
        return ready, due, weighted_nodes(document, "SERVICE_TIME_SECTION", "service time").by(order)[:, 0]
    service = np.zeros(len(order))
    if "SERVICE_TIME" in document.header:
        service[1:] = positive(document, "SERVICE_TIME", zero=True)
    return ready, due, service


def positive(document: Document, key: str, zero: bool = False) -> float:
    """A specification that must be above 0 (or at least 0); InputError names its line."""
    value = document.number(key)
    if value < 0 or (value == 0 and not zero):
        expected = "a number >= 0" if zero else "a number > 0"
        raise InputError(f"{key} is {written(value)}, expected {expected}", where=document.where(key))
    return value


def dumps(instance: CVRP | VRPTW) -> str:
    """The text of a file, the depot as node 1.

    Raises
    ------
    InputError
        For a CVRP with a limit on the fleet, which these files cannot say, or a window that never closes.
    """
    ids = np.arange(1, instance.n + 1)
    header, sections = render_places(instance.distance, ids)
    sections += [("DEMAND_SECTION", table_text(ids, instance.demand))]
    header.append(("CAPACITY", written(instance.capacity)))
    if isinstance(instance, VRPTW):
        sections += window_sections(instance.ready_time, instance.due_date, instance.service_time)
        if instance.max_vehicles is not None:
            header.append(("VEHICLES", str(instance.max_vehicles)))
    elif instance.max_vehicles is not None:
        raise InputError(f"is {instance.max_vehicles}, which a VRPLIB file cannot say; use .npz", where="max_vehicles")
    front = [("NAME", instance.name), ("TYPE", instance.problem.upper()), ("DIMENSION", str(instance.n))]
    return render([*front, *header], [*sections, ("DEPOT_SECTION", "1\n-1")])


def window_sections(ready: FloatArray, due: FloatArray, service: FloatArray) -> list[tuple[str, str]]:
    """The sections that hold time windows and service times; InputError where a window never closes."""
    check_closing(due)
    ids = np.arange(1, len(due) + 1)
    both = np.column_stack([ready, due])
    return [("TIME_WINDOW_SECTION", table_text(ids, both)), ("SERVICE_TIME_SECTION", table_text(ids, service))]


def check_closing(due: FloatArray) -> None:
    """InputError where a window never closes: text files hold finite numbers only."""
    if not np.isfinite(due).all():
        k = int(np.argmin(np.isfinite(due)))
        raise InputError(f"of node {k} is infinite, which text formats cannot say; use .npz", where="due_date")
