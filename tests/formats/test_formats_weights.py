"""Every EDGE_WEIGHT_TYPE and EDGE_WEIGHT_FORMAT against definitions written out here once more, in plain Python."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from ncosolve import formats
from ncosolve.errors import InputError
from ncosolve.formats.weights import FORMATS, TYPES

FLAT = [(38.24, 20.42), (39.57, 26.15), (40.56, 25.32), (36.26, -23.12), (0.5, 0.0), (0.0, 0.0), (38.24, 20.42)]
SOLID = [(x, y, 3.0 * k % 7) for k, (x, y) in enumerate(FLAT)]


def nint(x):
    return math.floor(x + 0.5)


def att(a, b):
    exact = math.sqrt(sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) / 10.0)
    return nint(exact) + (nint(exact) < exact)


def geo(a, b):
    def radians(x):
        degrees = int(x)
        return 3.141592 * (degrees + 5.0 * (x - degrees) / 3.0) / 180.0

    (u, v), (s, t) = ([radians(x) for x in point] for point in (a, b))
    q1, q2, q3 = math.cos(v - t), math.cos(u - s), math.cos(u + s)
    return int(6378.388 * math.acos(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)) + 1.0)


def xray(speeds):
    def seconds(a, b):
        x, y, z = (abs(p - q) for p, q in zip(a, b, strict=True))
        return nint(100 * max(min(x, abs(x - 360)) / speeds[0], y / speeds[1], z / speeds[2]))

    return seconds


def differences(a, b):
    return [abs(p - q) for p, q in zip(a, b, strict=True)]


DEFINITIONS = {
    "EUC": lambda a, b: nint(math.dist(a, b)),
    "CEIL": lambda a, b: math.ceil(math.dist(a, b)),
    "FLOOR": lambda a, b: math.floor(math.dist(a, b)),
    "EXACT": math.dist,
    "MAN": lambda a, b: nint(sum(differences(a, b))),
    "MAX": lambda a, b: max(nint(x) for x in differences(a, b)),
    "ATT": att,
    "GEO": geo,
    "XRAY1": xray((1, 1, 1)),
    "XRAY2": xray((1.25, 1.5, 1.15)),
}


def test_every_type_has_a_definition_here():
    """A new type must come with its definition."""
    assert {kind.removesuffix("_2D").removesuffix("_3D") for kind in TYPES} == set(DEFINITIONS)


@pytest.mark.parametrize("kind", TYPES)
def test_distances_by_type(kind, tmp_path):
    """All pairs agree with the definition; EUC_2D has a pair at exactly 0.5, which rounds up."""
    points = SOLID if TYPES[kind][2] == 3 else FLAT
    lines = [f"{k} {' '.join(map(str, point))}" for k, point in enumerate(points, 1)]
    head = f"NAME: a\nTYPE: TSP\nDIMENSION: {len(points)}\nEDGE_WEIGHT_TYPE: {kind}\nNODE_COORD_SECTION\n"
    path = tmp_path / "a.tsp"
    path.write_text(head + "\n".join(lines))
    found = formats.read(path).distance.matrix()
    define = DEFINITIONS[kind.removesuffix("_2D").removesuffix("_3D")]
    for i, j in itertools.permutations(range(len(points)), 2):
        # coincident points: the formula of GEO gives 1 there
        assert found[i, j] == pytest.approx(define(points[i], points[j]), abs=1e-9), (i, j)


POSITIONS = {
    "FULL_MATRIX": lambda n: [(i, j) for i in range(n) for j in range(n)],
    "UPPER_ROW": lambda n: [(i, j) for i in range(n) for j in range(i + 1, n)],
    "LOWER_ROW": lambda n: [(i, j) for i in range(n) for j in range(i)],
    "UPPER_DIAG_ROW": lambda n: [(i, j) for i in range(n) for j in range(i, n)],
    "LOWER_DIAG_ROW": lambda n: [(i, j) for i in range(n) for j in range(i + 1)],
    "UPPER_COL": lambda n: [(i, j) for j in range(n) for i in range(j)],
    "LOWER_COL": lambda n: [(i, j) for j in range(n) for i in range(j + 1, n)],
    "UPPER_DIAG_COL": lambda n: [(i, j) for j in range(n) for i in range(j + 1)],
    "LOWER_DIAG_COL": lambda n: [(i, j) for j in range(n) for i in range(j, n)],
}


def test_every_format_has_its_positions_here():
    """A new format must come with its order."""
    assert set(FORMATS) == set(POSITIONS)


def explicit(form: str, table: np.ndarray, kind: str = "TSP") -> str:
    n = len(table)
    numbers = " ".join(str(table[i, j]) for i, j in POSITIONS[form](n))
    head = f"TYPE: {kind}\nDIMENSION: {n}\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {form}\n"
    return head + f"EDGE_WEIGHT_SECTION\n{numbers}\nEOF\n"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_matrices_by_format(form, n, tmp_path):
    """Each format gives the same matrix; what stands on the diagonal does not matter."""
    table = np.random.default_rng(n).integers(0, 99, (n, n))
    table = np.triu(table, 1) + np.triu(table, 1).T
    path = tmp_path / "a.tsp"
    path.write_text(explicit(form, table + 9999 * np.eye(n, dtype=np.int64)))
    assert np.array_equal(formats.read(path).distance.matrix(), table)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("change", [-1, 1])
def test_one_weight_too_few_or_too_many_is_refused(form, change, tmp_path):
    """The message says how many were found and expected."""
    table = np.ones((4, 4), np.int64)
    count = len(POSITIONS[form](4))
    text = explicit(form, table).replace("\n1 1", "\n1" if change < 0 else "\n1 1 1")
    path = tmp_path / "a.tsp"
    path.write_text(text)
    with pytest.raises(
        InputError, match=f"holds {count + change} numbers, expected {count} for {form} and DIMENSION 4"
    ):
        formats.read(path)


def test_an_asymmetric_matrix_of_type_tsp_names_the_first_pair(tmp_path):
    """TYPE TSP claims symmetry; TYPE ATSP does not, and reads by rows: row = from."""
    table = np.array([[0, 1, 2], [1, 0, 3], [2, 4, 0]])
    path = tmp_path / "a.tsp"
    path.write_text(explicit("FULL_MATRIX", table))
    with pytest.raises(InputError, match=r"line 5: from node 2 to 3 is 3 but back is 4, expected TYPE ATSP"):
        formats.read(path)
    path.write_text(explicit("FULL_MATRIX", table, "ATSP"))
    assert formats.read(path).check([0, 1, 2]).cost == 1 + 3 + 2


def test_costs_by_type_asked_for_on_the_command_line(tmp_path):
    """EUC_2D that is meant unrounded reads exact with rounding="exact"; ATT refuses it; a matrix is rounded itself."""
    samples = Path(__file__).parent / "samples"
    path = tmp_path / "a.tsp"
    path.write_text("TYPE: TSP\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 1 1\n")
    costs = {rule: formats.read(path, rounding=rule).check([0, 1]).cost for rule in ("nint", "ceil", "floor", "dimacs")}
    assert costs == {"nint": 2, "ceil": 4, "floor": 2, "dimacs": 2.8}
    assert formats.read(path, rounding="exact").check([0, 1]).cost == 2 * math.sqrt(2)
    with pytest.raises(InputError, match="rounding"):
        formats.read(samples / "geographic.tsp", rounding="exact")
    text = (samples / "keyed.tsptw").read_text().replace("0 5 9 7", "0 5.5 9 7")
    path.write_text(text)
    assert formats.read(path, rounding="floor").distance.matrix()[0, 1] == 5
