"""TSPDL files: labelled blocks (Rakke et al. 2012), bare numbers (Todosijevic et al. 2017), keyed text of LKH-3."""

import re

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats.keyed import Document, render
from ncosolve.formats.text import Block, line, shown, whole, written
from ncosolve.formats.tsptw import matrix_first
from ncosolve.formats.vrplib import depot_first, weighted_nodes
from ncosolve.formats.weights import render_places, table_text
from ncosolve.problems.base import FloatArray
from ncosolve.problems.tspdl import TSPDL

_LABEL = re.compile(r"([A-Za-z]\w*)[ \t]*:[ \t]*(?:\[([^\[\]]*)\]|([^\s\[\]]+))")
_COMMENT = re.compile(r"[!#][^\n]*")


def parse(text: str, name: str) -> TSPDL:
    """The instance in labelled blocks: N, Nodes, Distance, Demand, Draft, and PosX and PosY for drawing.

    Raises
    ------
    InputError
        When a block is missing, stands twice or has more or fewer numbers than N asks for.
    """
    blocks = _blocks(text)
    n = int(whole(_numbers(blocks, "N", 1, low=1.0), blocks["N"], "a whole number")[0])
    if "NODES" in blocks:
        nodes = _numbers(blocks, "Nodes", n)
        in_turn = nodes == nodes[0] + np.arange(n)
        blocks["NODES"].require(in_turn, nodes, "the numbers of the nodes, one after another")
    weights = _numbers(blocks, "Distance", n * n)
    blocks["DISTANCE"].require((weights >= 0) | np.eye(n, dtype=np.bool_).ravel(), weights, "a distance >= 0")
    drawn = "POSX" in blocks or "POSY" in blocks
    return TSPDL(
        weights.reshape(n, n),
        demand=_numbers(blocks, "Demand", n, low=0.0),
        draft_limit=_numbers(blocks, "Draft", n, low=0.0),
        coords=np.column_stack([_numbers(blocks, "PosX", n), _numbers(blocks, "PosY", n)]) if drawn else None,
        name=name,
    )


def _blocks(text: str) -> dict[str, Block]:
    plain = _COMMENT.sub("", text)
    blocks: dict[str, Block] = {}
    here, at = 1, 0
    for match in _LABEL.finditer(plain):
        _nothing_else(plain[at : match.start()], here)
        here += plain.count("\n", at, match.start())
        label = match.group(1).upper()
        if label in blocks:
            raise InputError(f"{label} stands twice, before on line {blocks[label].first}", where=line(here))
        blocks[label] = Block(match.group(2) if match.group(2) is not None else match.group(3), here)
        here, at = here + match.group().count("\n"), match.end()
    _nothing_else(plain[at:], here)
    return blocks


def _nothing_else(text: str, first: int) -> None:
    if text.strip():
        lost = Block(text, first)
        raise InputError(f"{shown(text.split()[0])} is not part of a block LABEL: [...]", where=lost.line_of(0))


def _block(blocks: dict[str, Block], label: str) -> Block:
    if label.upper() not in blocks:
        raise InputError("is missing", where=label)
    return blocks[label.upper()]


def _numbers(blocks: dict[str, Block], label: str, count: int, low: float = -np.inf) -> FloatArray:
    block = _block(blocks, label)
    values = block.numbers()
    if len(values) != count:
        raise InputError(f"{label} holds {len(values)} numbers, expected {count}", where=line(block.first))
    block.require(values >= low, values, f"a number >= {low:g}")
    return values


def parse_numbers(text: str, name: str) -> TSPDL:
    """The instance in bare numbers: n, the matrix by rows, demands, draft limits.

    The line of demands may have one number more than n, as all public files have; it is left out.

    Raises
    ------
    InputError
        When there are more or fewer numbers than n asks for, or one is not allowed.
    """
    block = Block(text)
    values, n = matrix_first(block)
    tail = values[1 + n * n :]
    extra = len(tail) - 2 * n
    if extra not in (0, 1) or (extra and len(last_line(text)) != n):
        found = f"holds {len(tail)} numbers behind the matrix"
        raise InputError(f"{found}, expected {n} demands and {n} draft limits", where=block.line_of(len(values)))
    block.require(np.append(np.ones(1 + n * n, np.bool_), tail >= 0), values, "a number >= 0")
    return TSPDL(values[1 : 1 + n * n].reshape(n, n), demand=tail[:n], draft_limit=tail[-n:], name=name)


def last_line(text: str) -> list[str]:
    """The numbers of the last line that holds any."""
    lines = (Block(entry).tokens() for entry in reversed(text.split("\n")))
    return next((tokens for tokens in lines if tokens), [])


def build(document: Document, name: str) -> TSPDL:
    """The instance in keyed text with DRAFT_LIMIT_SECTION; the depot is the first node unless DEPOT_SECTION says."""
    demand = weighted_nodes(document, "DEMAND_SECTION", "demand")
    draft = weighted_nodes(document, "DRAFT_LIMIT_SECTION", "draft limit")
    order, distance = depot_first(document, demand, required=False)
    return TSPDL(
        distance,
        demand=demand.by(order)[:, 0],
        draft_limit=draft.by(order)[:, 0],
        name=document.name or name,
    )


def dumps(instance: TSPDL) -> str:
    """The text of a file of labelled blocks, with coordinates for drawing where there are two.

    Raises
    ------
    InputError
        For a draft limit that is infinite, which text cannot say.
    """
    _check_finite(instance)
    coords, n = instance.distance.coords, instance.n
    blocks = [("Nodes", " ".join(map(str, range(1, n + 1))))]
    blocks += [("Distance", "\n".join(_row(row) for row in instance.distance.matrix()))]
    if coords is not None and coords.shape[1] == 2:
        blocks += [("PosX", _row(coords[:, 0])), ("PosY", _row(coords[:, 1]))]
    blocks += [("Demand", _row(instance.demand)), ("Draft", _row(instance.draft_limit))]
    return "".join([f"N: {n}\n", *(f"{label}: [\n{body}\n]\n" for label, body in blocks)])


def dumps_keyed(instance: TSPDL) -> str:
    """The text of a keyed file, TYPE TSPDL; the depot is node 1."""
    _check_finite(instance)
    ids = np.arange(1, instance.n + 1)
    header, sections = render_places(instance.distance, ids)
    sections += [("DEMAND_SECTION", table_text(ids, instance.demand))]
    sections += [("DRAFT_LIMIT_SECTION", table_text(ids, instance.draft_limit)), ("DEPOT_SECTION", "1\n-1")]
    return render([("NAME", instance.name), ("TYPE", "TSPDL"), ("DIMENSION", str(instance.n)), *header], sections)


def _row(values: FloatArray) -> str:
    return " ".join(map(written, values.tolist()))


def _check_finite(instance: TSPDL) -> None:
    if not np.isfinite(instance.draft_limit).all():
        k = int(np.argmin(np.isfinite(instance.draft_limit)))
        raise InputError(f"of node {k} is infinite, which text formats cannot say; use .npz", where="draft_limit")
