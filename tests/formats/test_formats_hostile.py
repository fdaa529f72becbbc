"""Bad input: each kind is refused in one line that names the file, the line or field, and what was expected."""

import os
import re
from pathlib import Path

import pytest

from ncosolve import formats
from ncosolve.errors import InputError

SAMPLES = Path(__file__).parent / "samples"
WHOLE = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\t\n", "is empty"),
    "binary": (b"\x7fELF\x00\x01\x02", "is a binary file, expected text"),
    "utf-16": ("DIMENSION: 3".encode("utf-16"), "is a binary file, expected text"),
    "prose": (b"Dear Sir or Madam,\n", "is in no format that is known, expected TSPLIB"),
    "a solution": (b"Route #1: 1 2 3\nCost 7\n", "is in no format that is known"),
    "half a gzip": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03cut", "is a damaged gzip file"),
    "half an archive": (b"PK\x03\x04 cut off", "is no readable NumPy archive"),
    "a long line": (b"x" * 3_000_000, "is in no format that is known"),
    "a long number": (b"9" * 3_000_000, "is in no format that is known"),
    "only a number": (b"7", "line 1: holds 0 numbers behind n = 7, expected a matrix of 49 first"),
    "half an MPS": (b"NAME x\nROWS\n N obj\n L c\nCOLUMNS\n x obj 1 c 1\n", "ends without ENDATA: it is cut off"),
    "half an LP": (b"min\n obj: x\nst\n c: x >= 1\n", "ends without End: it is cut off"),
    "a huge n": (b"1000000000000\n1 2 3\n", "expected a matrix of 1000000000000000000000000 first"),
}


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("suffix", [".tsp", ".vrp", ".txt", ".mps", ".npz"])
def test_what_is_no_instance_at_all(kind, suffix, tmp_path):
    """Whatever the name says."""
    data, message = WHOLE[kind]
    path = tmp_path / f"a{suffix}"
    path.write_bytes(data)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        formats.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 400 + len(str(path))


def test_paths_that_cannot_be_read(tmp_path):
    """Missing files, directories, and names that no file can have."""
    with pytest.raises(InputError, match="no such file"):
        formats.read(tmp_path / "missing.tsp")
    with pytest.raises(InputError, match="no such file, and no bundled instance of that name"):
        formats.read("missing-instance")
    with pytest.raises(InputError, match="is a directory, expected a file"):
        formats.read(tmp_path)
    for name in ("x" * 5000, "a/\0b", "a\0b", "", f"{'y' * 5000}/z"):
        with pytest.raises(InputError):
            formats.read(name)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write everything")
def test_files_that_are_not_permitted(tmp_path):
    """Permissions are named as the reason."""
    path = tmp_path / "a.tsp"
    path.write_bytes((SAMPLES / "euclidean.tsp").read_bytes())
    path.chmod(0)
    with pytest.raises(InputError, match="permission denied"):
        formats.read(path)


CHANGES = [
    ("euclidean.tsp", "TYPE : TSP", "TYPE : SOP", r"line 3: TYPE is 'SOP', expected one of TSP, ATSP"),
    ("euclidean.tsp", "TYPE : TSP", "TYPE : HCP", r"line 3: TYPE is 'HCP', expected one of"),
    ("euclidean.tsp", "TYPE : TSP", "TYPE : TOUR", r"line 3: TYPE is TOUR: a solution, expected an instance"),
    ("euclidean.tsp", "TYPE : TSP", "TYPE : CVRP", r"DEMAND_SECTION: is missing"),
    (
        "euclidean.tsp",
        "EUC_2D",
        "SPECIAL",
        r"line 5: EDGE_WEIGHT_TYPE 'SPECIAL' is a function known to its authors only",
    ),
    ("euclidean.tsp", "EUC_2D", "TOR_2D", r"line 5: EDGE_WEIGHT_TYPE 'TOR_2D' is unknown, expected EXPLICIT or one of"),
    ("euclidean.tsp", "EUC_2D", "EUC_3D", r"line 7: holds 3 values, expected 4: node x y z"),
    ("euclidean.tsp", "EDGE_WEIGHT_TYPE : EUC_2D\n", "", r"EDGE_WEIGHT_TYPE: is missing"),
    ("euclidean.tsp", "DIMENSION : 5", "", r"DIMENSION: is missing"),
    (
        "euclidean.tsp",
        "DIMENSION : 5",
        "DIMENSION : 5\nDIMENSION : 6",
        r"line 5: DIMENSION stands twice, before on line 4",
    ),
    ("euclidean.tsp", "NODE_COORD_SECTION", "NODE_COORD_SEKTION", r"line 6: 'NODE_COORD_SEKTION' is neither a key nor"),
    ("euclidean.tsp", "NODE_COORD_SECTION\n", "", r"line 6: '1' stands outside of a section"),
    ("euclidean.tsp", "3 30 40", "3 nan 40", r"line 9: 'nan' is not a finite number"),
    ("euclidean.tsp", "3 30 40", "3 1e999 40", r"line 9: '1e999' is not a finite number"),
    ("euclidean.tsp", "3 30 40", "3 3_0 40", r"line 9: '3_0' is not a finite number"),
    ("euclidean.tsp", "3 30 40", "3 30,5 40", r"line 9: '30,5' is not a finite number"),
    ("euclidean.tsp", "3 30 40", "3 30", r"line 9: holds 2 values, expected 3: node x y"),
    ("euclidean.tsp", "3 30 40", "2 30 40", r"line 9: NODE_COORD_SECTION: node 2 stands twice"),
    ("euclidean.tsp", "3 30 40", "8 30 40", r"line 9: NODE_COORD_SECTION: node 8 is out of place, expected 1..5"),
    ("euclidean.tsp", "3 30 40", "2.5 30 40", r"line 9: 2.5 is not allowed, expected a whole node number"),
    ("euclidean.tsp", "3 30 40\n", "", r"line 6: NODE_COORD_SECTION has 4 nodes, but DIMENSION is 5"),
    ("euclidean.tsp", "3 30 40", "3 1e200 40", r"coords: are above 1e150"),
    ("euclidean.tsp", "EOF", "FIXED_EDGES_SECTION\n1 2\n-1\nEOF", r"line 12: 'FIXED_EDGES_SECTION' is not supported"),
    ("euclidean.tsp", "EOF", "DEMAND_SECTION\n1 2\nEOF", r"line 12: DEMAND_SECTION does not belong to TYPE TSP"),
    ("euclidean.tsp", "EOF", "NODE_COORD_SECTION\n", r"line 12: NODE_COORD_SECTION stands twice, before on line 6"),
    ("explicit.tsp", " 9 7 6 0", " 9 -7 6 0", r"line 11: -7 is not allowed, expected a weight >= 0"),
    ("explicit.tsp", " 9 7 6 0", " 9 x 6 0", r"line 11: 'x' is not a finite number"),
    ("explicit.tsp", " 9 7 6 0\n", "", r"line 8: EDGE_WEIGHT_SECTION holds 11 numbers, expected 15 for LOWER_DIAG_ROW"),
    (
        "explicit.tsp",
        "LOWER_DIAG_ROW",
        "FUNCTION",
        r"line 6: EDGE_WEIGHT_FORMAT 'FUNCTION' is unknown, expected one of",
    ),
    ("explicit.tsp", "EXPLICIT", "EUC_2D", r"line 8: EDGE_WEIGHT_SECTION does not belong to EDGE_WEIGHT_TYPE EUC_2D"),
    ("depot_last.vrp", "CAPACITY : 10", "CAPACITY : 0", r"line 5: CAPACITY is 0, expected a number > 0"),
    ("depot_last.vrp", "CAPACITY : 10", "CAPACITY : ten", r"line 5: CAPACITY is 'ten', expected one finite number"),
    ("depot_last.vrp", "CAPACITY : 10", "CAPACITY : 10 20", r"line 5: CAPACITY is '10 20', expected one finite number"),
    ("depot_last.vrp", "CAPACITY : 10\n", "", r"CAPACITY: is missing"),
    (
        "depot_last.vrp",
        "CAPACITY",
        "DISTANCE : 200\nCAPACITY",
        r"line 5: DISTANCE means a limit on the length of a route",
    ),
    ("depot_last.vrp", "\n3 4\n", "\n3 -4\n", r"line 16: -4 is not allowed, expected a demand >= 0"),
    (
        "depot_last.vrp",
        "\n3 4\n",
        "\n7 4\n",
        r"line 16: DEMAND_SECTION: node 7 is in no other section, node 3 is missing",
    ),
    ("depot_last.vrp", "\n6 0\nDEP", "\n6 1\nDEP", r"line 19: 1 is not allowed, expected 0 at the depot"),
    ("depot_last.vrp", "SECTION\n6\n", "SECTION\n9\n", r"line 21: the depot 9 is no node"),
    ("depot_last.vrp", "SECTION\n6\n", "SECTION\n", r"line 20: DEPOT_SECTION names no depot, expected one"),
    ("depot_last.vrp", "-1\n", "-1\n3\n", r"line 23: DEPOT_SECTION goes on behind its -1"),
    ("depot_last.vrp", "DEPOT_SECTION\n6\n-1\n", "", r"DEPOT_SECTION: is missing"),
    ("windows.vrp", "3 20 90", "3 90 20", r"line 23: 20 is not allowed, expected a window that closes after it opens"),
    ("windows.vrp", "VEHICLES : 3", "VEHICLES : 0", r"line 4: VEHICLES is 0, expected a whole number >= 1"),
    ("windows.vrp", "SERVICE_TIME : 10", "SERVICE_TIME : -1", r"line 6: SERVICE_TIME is -1, expected a number >= 0"),
    ("windows.vrp", "3 20 90\n", "", r"line 20: TIME_WINDOW_SECTION has 4 nodes, but DIMENSION is 5"),
    (
        "solomon.txt",
        "  3         20",
        "  0         20",
        r"line 5: '0         20' found, expected the number of vehicles",
    ),
    ("solomon.txt", "  3         20", "  3  20  4", r"line 5: '3  20  4' found, expected the number of vehicles"),
    ("solomon.txt", "  3         20\n", "", r"line 4: 0 lines follow NUMBER CAPACITY, expected one"),
    ("solomon.txt", "    2      6 ", "    2        ", r"line 12: holds 6 values, expected 7: number, x, y, demand"),
    ("solomon.txt", "    2      6 ", "    3      6 ", r"line 13: customer 3 is out of place, expected 0..4, each once"),
    ("solomon.txt", "    2      6 ", "    9      6 ", r"line 12: customer 9 is out of place, expected 0..4, each once"),
    ("solomon.txt", " 8         20 ", " -8        20 ", r"line 12: -8 is not allowed, expected a demand >= 0"),
    (
        "solomon.txt",
        " 8         20 ",
        " 8         95 ",
        r"line 12: 90 is not allowed, expected a due date that is not before",
    ),
    ("windows.tw", "4\n0", "4.5\n0", r"line 1: 4.5 is not allowed, expected n, a whole number"),
    ("windows.tw", "4\n0", "-4\n0", r"line 1: n is -4, expected a whole number >= 1"),
    ("windows.tw", "9 6 0 4", "9 -6 0 4", r"line 4: -6 is not allowed, expected a weight >= 0"),
    ("windows.tw", "10 60", "60 10", r"line 8: window 2 closes at 10, before it opens at 60"),
    ("windows.tw", "10 60", "10", r"line 9: holds 23 numbers behind n = 4, expected a matrix of 16 and 4 windows of 2"),
    ("coordinates.txt", "    3 ", "    5 ", r"line 5: customer 5 found, expected 3"),
    ("blocks.dat", "Draft: [\n3 3 2 1 \n]\n", "", r"Draft: is missing"),
    ("blocks.dat", "3 3 2 1", "3 3 2", r"line 22: Draft holds 3 numbers, expected 4"),
    ("blocks.dat", "3 3 2 1", "3 3 -2 1", r"line 23: -2 is not allowed, expected a number >= 0"),
    ("blocks.dat", "N: 4", "N: 5", r"line 4: Nodes holds 4 numbers, expected 5"),
    ("blocks.dat", "1 2 3 4 ", "1 2 4 3 ", r"line 5: 4 is not allowed, expected the numbers of the nodes"),
    ("blocks.dat", "Demand: [", "Demand", r"line 19: 'Demand' is not part of a block LABEL: \[...\]"),
    (
        "numbers.dat",
        "0 1 1 1 1 ",
        "0 1 1 1 1 1 ",
        r"line 7: holds 10 numbers behind the matrix, expected 4 demands and 4",
    ),
    ("numbers.dat", "3 3 2 1", "3 3 2 -1", r"line 7: -1 is not allowed, expected a number >= 0"),
    ("keyed.tspdl", "3 2\n4 1\nDEP", "3 2\n4 -1\nDEP", r"line 19: -1 is not allowed, expected a draft limit >= 0"),
    ("keyed.tspdl", "3 2\n4 1\nDEP", "4 1\n3 2\n5 1\nDEP", r"DRAFT_LIMIT_SECTION has 5 nodes, but DIMENSION is 4"),
    ("free.mps", "least 1\n M2", "last 1\n M2", r"line 13: the row 'last' is not declared in ROWS"),
    ("free.mps", "weight 7.5", "weight 7.5.1", r"line 17: '7.5.1' is not a finite number"),
    ("free.mps", "weight 7.5", "weight nan", r"line 17: 'nan' is not a finite number"),
    ("free.mps", "UP B y 2", "UP B w 2", r"line 23: 'B w' names no column of COLUMNS"),
    ("free.mps", "UP B y 2", "SC B y 2", r"line 23: the bound type SC means a semicontinuous column"),
    ("free.mps", "UP B y 2", "XX B y 2", r"line 23: the bound type 'XX' is unknown, expected one of UP, LO"),
    ("free.mps", "UP B y 2", "UP B x 2", r"line 23: 'UP' of 'x' is given twice in BOUNDS"),
    ("free.mps", " y least 1", " x least 1", r"line 13: the column 'x' goes on after another one has begun"),
    ("free.mps", " y least 1", " y weight 1", r"line 13: 'weight' of 'y' is given twice in COLUMNS"),
    ("free.mps", "BOUNDS\n", "SOS1\n", r"line 21: the section 'SOS1' is not supported"),
    ("free.mps", "BOUNDS\n", "QUADOBJ\n", r"line 21: the section 'QUADOBJ' is not supported"),
    ("free.mps", " L weight", " L least", r"line 8: the row 'least' stands twice"),
    ("free.mps", " N profit\n", "", r"line 10: the row 'profit' is not declared in ROWS"),
    ("free.mps", "ENDATA", "", r"ends without ENDATA: it is cut off"),
    ("small.lp", "3 x + 2 y", "3 x + 2 y *", r"is refused by HiGHS, expected a whole program in LP format"),
    ("small.lp", "+ 10", "+ 10 + [ x ^ 2 ] / 2", r"has a quadratic objective, which is not supported"),
    ("small.lp", "Generals\n x y", "Semi-continuous\n z", r"has a semicontinuous column, which is not supported"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), CHANGES, ids=[f"{c[0]}-{c[2][:30]!r}" for c in CHANGES])
def test_one_thing_wrong_is_named_with_its_place(name, old, new, message, tmp_path):
    """The message names the file, the line or field, what was found and what was expected."""
    text = (SAMPLES / name).read_text()
    assert old in text
    path = tmp_path / name
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        formats.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_column_that_hides_a_limit_is_not_heard_silently(tmp_path, caplog):
    """A key that is not known is reported, as it may have meant something."""
    path = tmp_path / "a.tsp"
    path.write_text((SAMPLES / "euclidean.tsp").read_text().replace("TYPE", "PRECEDENCE : 1\nTYPE", 1))
    formats.read(path)
    assert "line 3: the key PRECEDENCE is not known and was ignored" in caplog.text
