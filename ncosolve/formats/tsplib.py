"""TSPLIB files of the travelling salesman problem, TYPE TSP and ATSP (Reinelt 1995)."""

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats.keyed import Document, check_numbering, render
from ncosolve.formats.text import written
from ncosolve.formats.weights import places, render_places
from ncosolve.problems.base import FloatArray, IntArray
from ncosolve.problems.tsp import TSP


def build(document: Document, name: str) -> TSP:
    """The instance in a file, its nodes in the file's order.

    Raises
    ------
    InputError
        When counts do not match, a number is not allowed, or TYPE TSP has a matrix that is not symmetric.
    """
    found = places(document, witnessed=False)
    ids = np.arange(1, found.distance.n + 1) if found.ids is None else found.ids
    if found.distance.weights is not None and "TYPE" in document.header and document.word("TYPE") == "TSP":
        _check_symmetry(document, found.distance.weights, ids)
    return TSP(found.distance, name=document.name or name, ids=ids)


def _check_symmetry(document: Document, weights: FloatArray, ids: IntArray) -> None:
    different = weights != weights.T
    if different.any():
        i, j = divmod(int(np.argmax(different)), len(weights))
        there, back = written(weights[i, j]), written(weights[j, i])
        found = f"from node {ids[i]} to {ids[j]} is {there} but back is {back}, expected TYPE ATSP"
        raise InputError(found, where=document.where("EDGE_WEIGHT_SECTION"))


def dumps(instance: TSP) -> str:
    """The text of a file; InputError where the ``ids`` are none that a file may have."""
    check_numbering(instance.ids)
    header, sections = render_places(instance.distance, instance.ids)
    kind = "TSP" if instance.distance.symmetric else "ATSP"
    return render([("NAME", instance.name), ("TYPE", kind), ("DIMENSION", str(instance.n)), *header], sections)
