"""Damaged files: each gives a valid instance or one InputError, quickly; broken counts are never accepted."""

import contextlib
import gzip
import os
import random
import re
import time
from pathlib import Path

import pytest

from ncosolve import formats
from ncosolve.errors import InputError
from ncosolve.formats import npz
from ncosolve.resources import folder

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(entry.name for entry in SAMPLES.iterdir())
BUNDLED = sorted(entry for entry in folder("instances").glob("*/*") if entry.is_file())
ROUNDS = int(os.environ.get("NCOSOLVE_FUZZ", "250"))
"""Damaged copies of each sample; the environment variable asks for more."""
JUNK = (
    b"nan",
    b"-1",
    b"inf",
    b"1e400",
    b"1_0",
    b"999999999999",
    b"-1",
    b"EOF",
    b"#",
    b":",
    b"\xff\xfe",
    b"\x00",
    b"0",
    b"1e-320",
)


def damage(data: bytes, chance: random.Random) -> bytes:
    """One to three mutations: bytes flipped, lines lost, repeated or swapped, tokens changed, the end cut off."""
    for _ in range(chance.randint(1, 3)):
        lines = data.split(b"\n")
        k, kind = chance.randrange(len(lines)), chance.randrange(8)
        if kind == 0 and data:
            position = chance.randrange(len(data))
            data = data[:position] + bytes([chance.randrange(256)]) + data[position + 1 :]
        elif kind == 1:
            data = b"\n".join(lines[:k] + lines[k + 1 :])
        elif kind == 2:
            data = b"\n".join([*lines[:k], lines[k], *lines[k:]])
        elif kind == 3:
            j = chance.randrange(len(lines))
            lines[j], lines[k] = lines[k], lines[j]
            data = b"\n".join(lines)
        elif kind == 4:
            data = data[: chance.randrange(len(data) + 1)]
        elif kind == 5:
            data = data + lines[k] * chance.randint(1, 50)
        else:
            tokens = list(re.finditer(rb"\S+", data))
            if tokens:
                token = chance.choice(tokens)
                data = data[: token.start()] + chance.choice(JUNK) + data[token.end() :]
    return data


def settle(path: Path) -> object:
    """Read a file within 5 s; an InputError is one line that names the file, what is read can be checked."""
    began, refusal, instance = time.perf_counter(), None, None
    try:
        instance = formats.read(path)
    except InputError as error:
        refusal = str(error)
    assert time.perf_counter() - began < 5
    if refusal is not None:
        assert "\n" not in refusal
        assert str(path) in refusal
        return None
    assert instance.n >= 1
    trivial = {"tour": range(instance.n), "routes": [[k] for k in range(1, instance.n)], "values": [0.0] * instance.n}
    instance.check(instance.answer(trivial[instance.kind]))
    return instance


@pytest.mark.parametrize("name", NAMES)
def test_damaged_samples_are_read_or_refused_in_one_line(name, tmp_path, capfd):
    """No mutation of any sample gives another exception than InputError, a hang, or output on the terminal."""
    data, path = (SAMPLES / name).read_bytes(), tmp_path / name
    for seed in range(ROUNDS):
        path.write_bytes(damage(data, random.Random(f"{name} {seed}")))
        try:
            settle(path)
        except BaseException as error:
            error.add_note(f"seed {seed}:\n{path.read_bytes()[:3000]!r}")
            raise
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("file", BUNDLED, ids=lambda file: file.name)
def test_damaged_bundled_files_are_read_or_refused_in_one_line(file, tmp_path):
    """The same for the real files that ship with the package, unpacked before they are damaged."""
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    path = tmp_path / file.name.removesuffix(".gz")
    for seed in range(ROUNDS // 2):
        path.write_bytes(damage(data, random.Random(f"{file.name} {seed}")))
        try:
            settle(path)
        except BaseException as error:
            error.add_note(f"seed {seed} of {file.name}")
            raise


@pytest.mark.parametrize("name", ["depot_last.vrp", "free.mps"])
def test_damaged_archives_are_read_or_refused_in_one_line(name, tmp_path):
    """The same for .npz, where most damage breaks the zip container."""
    path = tmp_path / "batch.npz"
    npz.write_batch([formats.read(SAMPLES / name)] * 2, path)
    data = path.read_bytes()
    for seed in range(2 * ROUNDS):
        chance = random.Random(seed)
        position = chance.randrange(len(data))
        harm = bytes(chance.randrange(256) for _ in range(chance.randint(1, 4)))
        path.write_bytes(data[:position] + (harm + data[position + len(harm) :] if seed % 3 else b""))
        with contextlib.suppress(InputError):
            assert len(npz.read_batch(path)) == 2


@pytest.mark.parametrize("name", ["tour.tour", "tour.sol", "values.sol"])
def test_damaged_solutions_are_read_or_refused_in_one_line(name, tmp_path):
    """The same for solutions of all three forms."""
    sample = SAMPLES / ("free.mps" if name == "values.sol" else "euclidean.tsp")
    instance, path = formats.read(sample), tmp_path / name
    solution = formats.Solution.of(instance, [0.0, 1.0, 2.5] if name == "values.sol" else [0, 1, 2, 3, 4])
    formats.write_solution(solution, path)
    data = path.read_bytes()
    for seed in range(ROUNDS):
        path.write_bytes(damage(data, random.Random(seed)))
        with contextlib.suppress(InputError):
            found = formats.read_solution(path, instance)
            assert found.cost == instance.check(found.answer).cost


ROW = re.compile(r"^\s*[-+.\d][-+.\deE\s]*$")


def data_rows(name: str) -> list[int]:
    """The lines of a sample that hold numbers only, but for those that a format allows to be lost or repeated."""
    text = (SAMPLES / name).read_text()
    lines = text.split("\n")
    rows = [k for k, line in enumerate(lines) if ROW.match(line) and line.strip() != "-1"]
    sentinel = [k for k in rows if lines[k].split()[0] == "999"]
    rows = [k for k in rows if k not in sentinel]
    # no count tells how many customers these tables have: their last row may be lost
    return rows[:-1] if name in ("solomon.txt", "coordinates.txt") else rows


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith((".mps", ".lp"))])
def test_a_lost_or_repeated_row_is_refused(name, tmp_path):
    """Dropping or repeating any one line of numbers breaks a count or a numbering, and is always refused."""
    lines = (SAMPLES / name).read_text().split("\n")
    rows = data_rows(name)
    assert len(rows) >= 3
    for k in rows:
        for damaged in (lines[:k] + lines[k + 1 :], [*lines[: k + 1], *lines[k:]]):
            path = tmp_path / name
            path.write_text("\n".join(damaged))
            with pytest.raises(InputError):
                formats.read(path)


NUMBERED = (
    "euclidean.tsp",
    "explicit.tsp",
    "geographic.tsp",
    "depot_last.vrp",
    "windows.vrp",
    "solomon.txt",
    "coordinates.txt",
    "keyed.tsptw",
    "keyed.tspdl",
)


@pytest.mark.parametrize("name", NUMBERED)
def test_a_changed_node_number_is_refused(name, tmp_path):
    """Writing another number for one node, in any section, is always refused."""
    lines = (SAMPLES / name).read_text().split("\n")
    start = next(
        k for k, line in enumerate(lines) if re.match(r"(\w+_(COORD|DATA|WINDOW)_SECTION|DEMAND_S|CUST N)", line)
    )
    rows = [k for k in range(start, len(lines)) if ROW.match(lines[k]) and len(lines[k].split()) > 1]
    rows = [k for k in rows if lines[k].split()[0] != "999"]
    for k in rows:
        node = lines[k].split()[0]
        for other in {"0", "1", "2", "3", "4", "5", "6", "7", "77", "-3", "1.5", "2x"} - {node}:
            path = tmp_path / name
            changed = lines[k].replace(node, other, 1)
            path.write_text("\n".join([*lines[:k], changed, *lines[k + 1 :]]))
            with pytest.raises(InputError):
                formats.read(path)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name.endswith((".tsp", ".atsp", ".vrp", ".tspdl", ".tsptw"))]
)
def test_another_dimension_is_refused(name, tmp_path):
    """A DIMENSION that is not the number of nodes is refused, and a huge one takes no memory."""
    text = (SAMPLES / name).read_text()
    for other in ("0", "1", "3", "7", "-4", "4.5", "1000000000000", "1e30", "1" * 5000, "nan", "four", "4 5", ""):
        path = tmp_path / name
        path.write_text(re.sub(r"(DIMENSION ?: ).*", rf"\g<1>{other}", text))
        with pytest.raises(InputError):
            formats.read(path)
