"""Untidy but legal files: each kind has broken a public reader, and each must give the instance of the tidy file."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from ncosolve import formats
from ncosolve.errors import InputError

SAMPLES = Path(__file__).parent / "samples"
KEYED = (
    "euclidean.tsp",
    "explicit.tsp",
    "asymmetric.atsp",
    "geographic.tsp",
    "depot_last.vrp",
    "windows.vrp",
    "keyed.tsptw",
    "keyed.tspdl",
)
TEXT = (*KEYED, "solomon.txt", "windows.tw", "coordinates.txt", "blocks.dat", "numbers.dat", "free.mps")


def same(one: object, other: object) -> bool:
    """Whether two instances hold the same, their names left out."""
    fields = [key for key in one.__dataclass_fields__ if key not in ("name", "distance", "rows")]
    equal = type(one) is type(other) and all(np.array_equal(getattr(one, key), getattr(other, key)) for key in fields)
    if not equal or not hasattr(one, "distance"):
        return equal
    shapes = [(d.metric, d.rounding, d.coords is None) for d in (one.distance, other.distance)]
    drawn = one.distance.coords is None or np.array_equal(one.distance.coords, other.distance.coords)
    return shapes[0] == shapes[1] and drawn and np.array_equal(one.distance.matrix(), other.distance.matrix())


def reread(tmp_path: Path, name: str, text: str | bytes, encoding: str = "utf-8") -> object:
    """What `formats.read` makes of another text under the name of a sample."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return formats.read(path)


WHOLE_FILE = {
    "windows line ends": lambda text: text.replace("\n", "\r\n"),
    "old mac line ends": lambda text: text.replace("\n", "\r"),
    "tabs": lambda text: re.sub(r"(?<=\d) +(?=[-\d])", "\t", text),
    "trailing blanks": lambda text: text.replace("\n", " \t \n"),
    "blank lines at both ends": lambda text: "\n \n" + text + "\n\n \t\n",
    "no newline at the end": lambda text: text.rstrip(),
    "byte order mark": lambda text: "\ufeff" + text,
    "control z at the end": lambda text: text + "\x1a",
}


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("kind", WHOLE_FILE)
def test_white_space_does_not_matter(name, kind, tmp_path):
    """Line ends, blanks, tabs and marks change nothing, in any text format."""
    text = (SAMPLES / name).read_text()
    assert same(reread(tmp_path, name, WHOLE_FILE[kind](text)), formats.read(SAMPLES / name))


@pytest.mark.parametrize("name", TEXT)
def test_gzip_is_unpacked_whatever_the_name(name, tmp_path):
    """A packed file is read under its own name and with .gz behind it."""
    packed = gzip.compress((SAMPLES / name).read_bytes())
    for target in (name, name + ".gz"):
        found = reread(tmp_path, target, packed)
        assert same(found, formats.read(SAMPLES / name))
    assert found.name == formats.read(SAMPLES / name).name


@pytest.mark.parametrize("name", TEXT)
def test_multiple_blanks_between_numbers(name, tmp_path):
    """Numbers may stand any number of blanks apart and be indented."""
    text = re.sub(r"(?m)^(?=[\d-])", "   ", re.sub(r"(?<=\d) (?=[-\d])", "     ", (SAMPLES / name).read_text()))
    assert same(reread(tmp_path, name, text), formats.read(SAMPLES / name))


KEYED_FILE = {
    "no EOF": lambda text: text.replace("EOF\n", ""),
    "EOF with a colon": lambda text: text.replace("EOF", "EOF :"),
    "EOF behind a blank, something behind it": lambda text: text.replace("EOF", " EOF\t\t") + "1 2 3\n",
    "sections with a colon": lambda text: re.sub(r"(_SECTION)", r"\1 :", text),
    "sections with a colon and no blank": lambda text: re.sub(r"(_SECTION)", r"\1:", text),
    "no blank before the colon": lambda text: text.replace(" : ", ": "),
    "no blank behind the colon": lambda text: re.sub(r" ?: ", ":", text),
    "no colon at all": lambda text: re.sub(r" ?: ", " ", text),
    "tabs around the colon": lambda text: re.sub(r" ?: ", "\t:\t", text),
    "three ways in one file": lambda text: re.sub(r" ?: ", " : ", re.sub(r" ?: ", ":", text, count=1), count=1),
    "small letters": lambda text: re.sub(r"(?m)^[A-Z_]+", lambda m: m.group().lower(), text),
    "no -1 behind the depot": lambda text: text.replace("-1\n", ""),
    "comments behind values": lambda text: re.sub(r"(?m)^((?!NAME).*\d)$", r"\1 # of its own", text),
    "comments in brackets": lambda text: re.sub(r"(?m)^(TYPE.*|DIMENSION.*)$", r"\1 (M.~Hofmeister 1987)", text),
    "lines of comment": lambda text: text.replace("\n", "\n# 1 2 3\n"),
    "a comment of two lines": lambda text: text.replace("TYPE", "COMMENT : one\n  and two 2\nTYPE", 1),
    "latin-1 letters": lambda text: text.replace("TYPE", "COMMENT : Grötschel, Bärchen\nTYPE", 1),
    "scientific notation": lambda text: re.sub(r"(?m)^(\d+) (-?\d+) (-?\d+)$", r"\1 \g<2>.00000e+00 \g<3>E0", text),
    "numbers with a plus": lambda text: re.sub(r"(?m)^(\d+) (\d+) (\d+)$", r"\1 +\2 +\3", text),
    "a key that is not known": lambda text: text.replace("TYPE", "BEST_KNOWN : 17\nTYPE", 1),
    "the same key again": lambda text: text.replace("TYPE", "DIMENSION : X\nTYPE".replace("X", dimension(text)), 1),
}


def dimension(text: str) -> str:
    return re.search(r"DIMENSION ?: (\d+)", text).group(1)


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("kind", KEYED_FILE)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_the_spelling_of_keyed_files_does_not_matter(name, kind, encoding, tmp_path):
    """Each variant of keys, sections, comments and numbers reads as the tidy file."""
    text = KEYED_FILE[kind]((SAMPLES / name).read_text())
    assert same(reread(tmp_path, name, text, encoding), formats.read(SAMPLES / name))


@pytest.mark.parametrize("name", KEYED)
def test_specifications_may_follow_the_data(name, tmp_path):
    """All specifications behind all sections, and the sections in reverse order."""
    text = (SAMPLES / name).read_text().replace("EOF\n", "")
    header, *sections = re.split(r"(?m)^(?=\w+_SECTION)", text)
    moved = "".join(reversed(sections)) + header + "EOF\n"
    assert same(reread(tmp_path, name, moved), formats.read(SAMPLES / name))


@pytest.mark.parametrize("name", ["explicit.tsp", "asymmetric.atsp", "keyed.tspdl", "keyed.tsptw"])
@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_matrices_may_be_wrapped_anywhere(name, width, tmp_path):
    """So many numbers a line, also with one lone number on the last line."""
    text = (SAMPLES / name).read_text()
    body = re.search(r"EDGE_WEIGHT_SECTION\n([^A-Z]*)", text).group(1)
    tokens = body.split()
    lines = [" ".join(tokens[k : k + width]) for k in range(0, len(tokens), width)]
    lines = [" ".join(tokens[:-1]), tokens[-1]] if width == 7 else lines
    assert same(reread(tmp_path, name, text.replace(body, "\n".join(lines) + "\n")), formats.read(SAMPLES / name))


@pytest.mark.parametrize("start", [0, 1, 17])
def test_node_numbers_may_start_anywhere_and_stand_in_any_order(start, tmp_path):
    """Demands are matched by number; the depot comes first, the customers keep the order of the coordinates."""
    numbers = [start + k for k in (3, 0, 2, 1)]
    places = [(0, 30), (5, 5), (40, 0), (0, 0)]
    demand = {numbers[0]: 3, numbers[1]: 4, numbers[2]: 5.5, numbers[3]: 0}
    text = "TYPE: CVRP\nDIMENSION: 4\nCAPACITY: 9\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    text += "".join(f"{node} {x} {y}\n" for node, (x, y) in zip(numbers, places, strict=True)) + "DEMAND_SECTION\n"
    text += "".join(f"{node} {demand[node]}\n" for node in sorted(demand)) + f"DEPOT_SECTION\n{numbers[3]}\n"
    found = reread(tmp_path, "any.vrp", text)
    assert found.distance.coords.tolist() == [[0, 0], [0, 30], [5, 5], [40, 0]]
    assert found.demand.tolist() == [0, 3, 4, 5.5]
    assert found.check([[1], [2], [3]]).cost == 2 * (30 + 7 + 40)


def test_numbers_of_a_tsp_that_do_not_start_at_one_are_kept(tmp_path):
    """A run from 0 or 11 in order, and 1..n in any order, are legal; the numbers are the instance's ids."""
    for ids in ([0, 1, 2], [11, 12, 13], [3, 1, 2]):
        text = "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
        found = reread(tmp_path, "any.tsp", text + "".join(f"{node} {k} 0\n" for k, node in enumerate(ids)))
        assert found.ids.tolist() == ids
        assert found.distance.coords[:, 0].tolist() == [0, 1, 2]


def test_the_depot_may_be_the_last_node():
    """As in the golden set: it becomes node 0, the others keep their order, the demands go with them."""
    found = formats.read(SAMPLES / "depot_last.vrp")
    assert found.distance.coords[:2].tolist() == [[0, 0], [0, 10]]
    assert found.demand.tolist() == [0, 4, 5, 4, 6, 5]
    check = found.check([[1, 4], [2, 5], [3]])
    assert check.feasible
    assert check.cost == (10 + 14 + 10) + (10 + 10 + 20) + 20


def test_two_depots_are_refused_in_one_line(tmp_path):
    """Several depots are another problem, and the message says so."""
    text = (SAMPLES / "depot_last.vrp").read_text().replace("DEPOT_SECTION\n6", "DEPOT_SECTION\n6\n1")
    with pytest.raises(InputError, match=r"line 20: DEPOT_SECTION names 2 depots, which is not supported"):
        reread(tmp_path, "two.vrp", text)


@pytest.mark.parametrize("name", ["solomon.vrp", "solomon.tsp", "solomon.mps", "solomon"])
def test_a_solomon_table_is_found_under_any_name(name, tmp_path):
    """The content decides, not the suffix."""
    found = reread(tmp_path, name, (SAMPLES / "solomon.txt").read_bytes())
    assert same(found, formats.read(SAMPLES / "solomon.txt"))


@pytest.mark.parametrize("name", TEXT)
def test_the_suffix_does_not_decide(name, tmp_path):
    """Every text format is found under a name that says another one."""
    for other in ("x.vrp", "x.lp", "x.npz", "x"):
        assert same(reread(tmp_path, other, (SAMPLES / name).read_bytes()), formats.read(SAMPLES / name))


def test_display_coordinates_beside_a_matrix_are_for_drawing_only():
    """The cost comes from the matrix, the coordinates are kept."""
    found = formats.read(SAMPLES / "explicit.tsp")
    assert found.distance.metric == "matrix"
    assert found.distance.coords[2].tolist() == [2.0, 0.5]
    assert found.check([0, 1, 2, 3, 4]).cost == 10 + 11 + 13 + 6 + 8


def test_demands_may_be_floats():
    """A demand of 6.5 stays what it is."""
    assert formats.read(SAMPLES / "windows.vrp").demand.tolist() == [0, 7, 8, 9, 6.5]


def test_points_may_coincide(tmp_path):
    """Two nodes at one place are 0 apart, in every metric."""
    for kind in ("EUC_2D", "CEIL_2D", "ATT", "MAN_2D", "MAX_2D", "EXACT_2D"):
        text = f"TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: {kind}\nNODE_COORD_SECTION\n1 5 5\n2 5 5\n3 5 5\n"
        assert reread(tmp_path, "same.tsp", text).check([0, 1, 2]).cost == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_instances(n, tmp_path):
    """One, two and three nodes are read in each layout and cost what they should."""
    ring = list(range(n))
    places = "".join(f"{k + 1} {3 * k} {4 * k}\n" for k in ring)
    ids = "".join(f"{k + 1} {int(k > 0)}\n" for k in ring)
    head = f"DIMENSION: {n}\nCAPACITY: 1\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{places}"
    there_and_back = 10 * (n - 1)
    assert reread(tmp_path, "a.tsp", "TYPE: TSP\n" + head).check(ring).cost == there_and_back
    routes = [[k] for k in ring[1:]]
    text = f"TYPE: CVRP\n{head}DEMAND_SECTION\n{ids}DEPOT_SECTION\n1\n-1\n"
    assert reread(tmp_path, "a.vrp", text).check(routes).cost == sum(10 * k for k in ring)
    upper = " ".join("5" if j == i + 1 else "10" for i in ring for j in ring[i + 1 :])
    text = (
        f"TYPE: TSP\nDIMENSION: {n}\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n"
    )
    assert reread(tmp_path, "b.tsp", text + upper + "\n").check(ring).cost == there_and_back
    matrix = "\n".join(" ".join(str(5 * abs(i - j)) for j in ring) for i in ring)
    found = reread(tmp_path, "a.tw", f"{n}\n{matrix}\n" + "0 99\n" * n)
    assert (found.problem, found.check(ring).cost) == ("tsptw", there_and_back)
    if n != 2:
        found = reread(tmp_path, "a.dat", f"{n}\n{matrix}\n{' '.join('0' * n)}\n{' '.join('9' * n)}\n")
        assert (found.problem, found.check(ring).cost) == ("tspdl", there_and_back)


def test_two_lines_of_two_numbers_are_windows_unless_drafts_are_asked_for(tmp_path):
    """For n = 2 both layouts of bare numbers look alike; ``problem`` or the suffix .tspdl breaks the tie."""
    text = "2\n0 5\n5 0\n0 1\n2 9\n"
    assert reread(tmp_path, "a.dat", text).problem == "tsptw"
    assert reread(tmp_path, "a.tspdl", text).problem == "tspdl"
    assert formats.read(tmp_path / "a.dat", problem="tspdl").draft_limit.tolist() == [2, 9]
