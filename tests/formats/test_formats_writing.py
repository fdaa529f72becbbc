"""Writing: what is written reads back as the same instance or solution, and files are whole or not there at all."""

import gzip
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ncosolve import CVRP, MILP, TSP, TSPDL, TSPTW, VRPTW, Distance, formats
from ncosolve.errors import InputError
from ncosolve.formats import npz
from ncosolve.problems.distance import METRICS, ROUNDINGS
from ncosolve.solution import Solution

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(entry.name for entry in SAMPLES.iterdir())
SUFFIXES = {
    "tsp": (".tsp", ".atsp", ".npz", ".tsp.gz"),
    "cvrp": (".vrp", ".npz"),
    "vrptw": (".vrp", ".npz"),
    "tsptw": (".tsptw", ".npz"),
    "tspdl": (".tspdl", ".npz", ".dat", ".txt"),
    "milp": (".mps", ".lp", ".npz", ".mps.gz"),
}


def differences(one, other, coords=True):
    """The fields in which two instances differ; distances are compared as matrices, and by rule where there are two."""
    fields = [key for key in one.__dataclass_fields__ if hasattr(one, key) and key not in ("distance", "rows", "name")]
    found = [key for key in fields if not np.array_equal(getattr(one, key), getattr(other, key))]
    if hasattr(one, "rows") and abs(one.rows - other.rows).nnz:
        found.append("rows")
    if hasattr(one, "distance"):
        if not np.array_equal(one.distance.matrix(), other.distance.matrix()):
            found.append("distance")
        if coords and one.distance.coords is not None and one.distance.coords.shape[1] == 2:
            found += [] if np.array_equal(one.distance.coords, other.distance.coords) else ["coords"]
    return found


@pytest.mark.parametrize("name", [name for name in NAMES if name != "fixed.mps"])
def test_samples_survive_writing(name, tmp_path):
    """Every sample in every format of its problem, coordinates and names included."""
    instance = formats.read(SAMPLES / name)
    for suffix in SUFFIXES[instance.problem]:
        if (name, suffix) == ("free.mps", ".lp"):
            continue  # an LP file has no ranges: a row with two sides becomes two rows
        path = tmp_path / f"again{suffix}"
        formats.write(instance, path)
        again = formats.read(path)
        assert type(again) is type(instance)
        assert differences(instance, again) == [], suffix
        assert again.name == instance.name or suffix in (".dat", ".txt", ".lp")


number = st.floats(0, 1e6, allow_nan=False).map(lambda x: round(x, 3)) | st.integers(0, 1000).map(float)


@st.composite
def distances(draw, n):
    """Any metric and rounding, in two or three dimensions, or a matrix, asymmetric too."""
    metric = draw(st.sampled_from(METRICS))
    rounding = draw(st.sampled_from(ROUNDINGS[:4] if metric in ("att", "geo", "xray1", "xray2") else ROUNDINGS))
    width = 3 if metric.startswith("xray") else 2 if metric in ("geo", "att") else draw(st.sampled_from([2, 3]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    coords = rng.uniform(-80, 80, (n, width)).round(draw(st.integers(0, 6)))
    if metric != "matrix":
        return Distance(metric, rounding, coords)
    return Distance("matrix", rounding, draw(st.sampled_from([None, coords])), rng.uniform(0, 99, (n, n)))


@st.composite
def instances(draw):
    """A small instance of any routing problem."""
    n = draw(st.integers(1, 6))
    distance, made = draw(distances(n)), draw(st.sampled_from([TSP, CVRP, VRPTW, TSPTW, TSPDL]))
    options = {"name": draw(st.text("aZ9 _-é#:\n", max_size=12))}
    several = st.lists(number, min_size=n, max_size=n)
    if made is not TSP and made is not TSPTW:
        options["demand"] = [0.0, *draw(several)[1:]]
    if made in (CVRP, VRPTW):
        options |= {"capacity": draw(number) + 0.5, "objective": "distance"}
    if made is VRPTW:
        options["max_vehicles"] = draw(st.none() | st.integers(1, 9))
    if made in (VRPTW, TSPTW):
        ready = np.array(draw(several))
        options |= {"ready_time": ready, "due_date": ready + draw(several), "service_time": draw(several)}
    if made is TSPDL:
        options["draft_limit"] = draw(several)
    return made(distance, **options)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(instance=instances())
def test_any_instance_survives_writing(instance, tmp_path):
    """Distances to the last bit, and all other fields, in the main format and in .npz."""
    for suffix in SUFFIXES[instance.problem][:2]:
        path = tmp_path / f"again{suffix}"
        formats.write(instance, path)
        again = formats.read(path)
        assert type(again) is type(instance)
        assert differences(instance, again) == []


@st.composite
def programs(draw):
    """A small MILP with every kind of row and bound, free rows and empty columns included."""
    m, n = draw(st.integers(0, 4)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    matrix = rng.integers(-3, 4, (m, n)) * draw(st.sampled_from([1.0, 0.1, 1 / 3]))
    kind = rng.integers(0, 5, m)
    side = rng.integers(-5, 6, m) + draw(st.sampled_from([0.0, 0.25]))  # exact: MPS keeps a side and a difference
    low = np.where((kind == 0) | (kind == 4), -np.inf, side)
    high = np.where((kind == 1) | (kind == 4), np.inf, side + (kind == 2) * 2)
    integer = rng.random(n) < 0.5
    lower = rng.choice([-np.inf, -3.0, 0.0, 1.0], n)
    upper = np.maximum(rng.choice([np.inf, 2.0, 1.0], n), np.where(np.isinf(lower), 0.0, lower))
    sense, offset = draw(st.booleans()), draw(st.sampled_from([0.0, 2.5, -7.0]))
    return MILP(
        rng.integers(-9, 10, n) / 8, matrix, low, high,
        lower=lower, upper=upper, integer=integer, maximise=sense, offset=offset,
    )  # fmt: skip


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=programs())
def test_any_program_survives_writing(program, tmp_path):
    """Names, senses and the constant included."""
    for suffix in (".mps", ".npz"):
        path = tmp_path / f"again{suffix}"
        formats.write(program, path)
        assert differences(program, formats.read(path)) == [], suffix


def test_solomon_text_survives_writing(tmp_path):
    """With .txt a VRPTW is written in the Solomon layout, which holds exact distances only."""
    instance = formats.read(SAMPLES / "solomon.txt")
    formats.write(instance, tmp_path / "a.txt")
    again = formats.read(tmp_path / "a.txt")
    assert "NUMBER     CAPACITY" in (tmp_path / "a.txt").read_text()
    assert differences(instance, again) == []
    assert again.name == "S5"
    with pytest.raises(InputError, match="distance: is euclidean dimacs, which the Solomon layout cannot say"):
        formats.write(formats.read(SAMPLES / "solomon.txt", rounding="dimacs"), tmp_path / "b.txt")
    assert not (tmp_path / "b.txt").exists()


def test_tsptw_text_survives_writing(tmp_path):
    """With .txt, .tw or .dat a TSPTW is written as bare numbers, which hold no service times."""
    instance = formats.read(SAMPLES / "windows.tw")
    for suffix in (".txt", ".tw", ".dat"):
        formats.write(instance, tmp_path / f"a{suffix}")
        assert differences(instance, formats.read(tmp_path / f"a{suffix}")) == []
    with pytest.raises(InputError, match="service_time: is beside the matrix"):
        formats.write(formats.read(SAMPLES / "windows.vrp", problem="tsptw"), tmp_path / "b.txt")


def test_what_text_cannot_say_is_refused(tmp_path):
    """Infinite windows and drafts, a limited fleet of a CVRP, blanks in names of an MPS; .npz takes them all."""
    square = np.ones((2, 2))
    cases = [
        (TSPTW(square, ready_time=[0, 0], due_date=[9, np.inf]), (".tsptw", ".txt"), "due_date"),
        (TSPDL(square, demand=[0, 1], draft_limit=[np.inf, 1]), (".tspdl", ".dat"), "draft_limit"),
        (CVRP(square, demand=[0, 1], capacity=1, max_vehicles=1), (".vrp",), "max_vehicles"),
        (TSP(square, ids=[5, 9]), (".tsp",), "ids"),
        (formats.read(SAMPLES / "fixed.mps"), (".mps", ".lp"), "column_names"),
        (MILP([1, 2], [[1, 1]], [1], [2], column_names=["1x", "y"]), (".lp",), "column_names"),
        (MILP([1, 0], [[1, 0]], [1], [2]), (".lp",), "column_names"),
        (MILP([1], [[1]], [2], [1]), (".mps",), "row_lower, row_upper"),
        (MILP([1], [[1]], [1], [1], lower=[np.inf]), (".mps",), "lower, upper"),
    ]
    for instance, suffixes, field in cases:
        for suffix in suffixes:
            path = tmp_path / f"a{suffix}"
            with pytest.raises(InputError, match=re.escape(f"{path}: {field}")):
                formats.write(instance, path)
            assert not path.exists()
        formats.write(instance, tmp_path / "a.npz")
        assert differences(instance, formats.read(tmp_path / "a.npz")) == []


def test_batches(tmp_path):
    """Instances of several sizes in one archive, each as it was; `read` says how to get them."""
    path = tmp_path / "batch.npz"
    batch = [
        CVRP(coords=np.arange(2.0 * n).reshape(n, 2), demand=np.arange(n), capacity=n, name=f"c{n}") for n in (2, 5, 3)
    ]
    npz.write_batch(batch, path)
    again = npz.read_batch(path)
    assert [each.name for each in again] == ["c2", "c5", "c3"]
    assert [differences(one, other) for one, other in zip(batch, again, strict=True)] == [[], [], []]
    with pytest.raises(InputError, match=r"batch.npz: holds 3 instances, expected one: use .*npz.read_batch"):
        formats.read(path)
    programs = [formats.read(SAMPLES / "free.mps"), formats.read(SAMPLES / "fixed.mps")]
    npz.write_batch(programs, path)
    assert [differences(*pair) for pair in zip(programs, npz.read_batch(path), strict=True)] == [[], []]
    with pytest.raises(InputError, match="instances of one archive must be alike"):
        npz.write_batch([batch[0], programs[0]], path)
    with pytest.raises(InputError, match="no instances to write"):
        npz.write_batch([], path)


def test_archives_that_are_not_ours_are_refused(tmp_path):
    """Pickled objects, missing or misshapen arrays, and headers that claim more than the file holds."""
    path = tmp_path / "a.npz"
    formats.write(formats.read(SAMPLES / "windows.vrp"), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    changes = [
        ("demand", None, "demand: is missing"),
        ("demand", np.zeros(4), r"demand: is float64 of shape \(4,\), expected shape \(5,\)"),
        ("demand", np.full(5, -1.0), "demand: entry 0 is -1"),
        ("demand", np.array(["a"] * 5), "demand: is <U1"),
        ("demand", np.array([object()] * 5), "is no readable NumPy archive"),
        ("n", np.array([-5]), "n: holds something else than sizes"),
        ("n", np.array([10**15]), "n: holds something else than sizes"),
        ("n", np.array([5.0]), "n: is float64"),
        ("coords", np.zeros((5, 7)), "coords: have shape"),
        ("problem", np.array("sorting"), "problem: is 'sorting', expected one of tsp"),
        ("name", np.array("one"), "name: is missing or no list of names"),
        ("metric", np.array("city block"), "metric: is 'city block'"),
        ("max_vehicles", np.array([2.5]), "max_vehicles"),
    ]
    for key, value, message in changes:
        changed = {name: array for name, array in arrays.items() if name != key}
        np.savez(path, **changed, **({} if value is None else {key: value}))
        with pytest.raises(InputError, match=message):
            formats.read(path)
    np.savez(path, **arrays)
    path.write_bytes(path.read_bytes().replace(b"'shape': (5, 2), }      ", b"'shape': (500000000,2),}"))
    with pytest.raises(InputError, match="is no readable NumPy archive"):
        formats.read(path)


def solved(name, raw):
    return Solution.of(formats.read(SAMPLES / name), raw)


@pytest.mark.parametrize(
    ("name", "raw", "suffix"),
    [
        ("euclidean.tsp", [0, 2, 4, 1, 3], ".sol"),
        ("euclidean.tsp", [0, 2, 4, 1, 3], ".tour"),
        ("windows.tw", [0, 1, 3, 2], ".sol"),
        ("windows.tw", [0, 1, 3, 2], ".tour"),
        ("keyed.tspdl", [0, 2, 1, 3], ".sol"),
        ("keyed.tspdl", [0, 2, 1, 3], ".tour"),
        ("depot_last.vrp", [[3, 1], [2, 5], [4]], ".sol"),
        ("windows.vrp", [[1, 2], [3, 4]], ".sol"),
        ("free.mps", [1, 2, 0.1], ".sol"),
        ("fixed.mps", [1, 1.5], ".sol"),
    ],
)
def test_solutions_survive_writing(name, raw, suffix, tmp_path):
    """The answer and the cost, feasible or not."""
    solution = solved(name, raw)
    path = tmp_path / f"a{suffix}"
    solution.write(path)
    again = formats.read_solution(path, solution.instance)
    assert again.cost == solution.cost
    assert again.violations == solution.violations
    for one, other in zip(again.answer, solution.answer, strict=True):
        assert np.array_equal(one, other)


def test_what_is_written(tmp_path):
    """The very text of each form of solution."""
    solved("depot_last.vrp", [[3, 1], [2, 5], [4]]).write(tmp_path / "a.sol")
    assert (tmp_path / "a.sol").read_text() == "Route #1: 3 1\nRoute #2: 2 5\nRoute #3: 4\nCost 100\n"
    solved("euclidean.tsp", [0, 1, 2, 3, 4]).write(tmp_path / "b.sol")
    assert (tmp_path / "b.sol").read_text() == "Route #1: 1 2 3 4\nCost 150\n"
    solved("euclidean.tsp", [0, 1, 2, 3, 4]).write(tmp_path / "b.tour")
    text = (
        "NAME : euclidean.tour\nCOMMENT : cost 150\nTYPE : TOUR\nDIMENSION : 5\nTOUR_SECTION\n1\n2\n3\n4\n5\n-1\nEOF\n"
    )
    assert (tmp_path / "b.tour").read_text() == text
    solved("free.mps", [1, 0, 0.5]).write(tmp_path / "c.sol")
    assert (tmp_path / "c.sol").read_text() == "# columns that are not listed are 0\n=obj= 15.25\nx 1\nz 0.5\n"


def test_tours_are_in_the_numbers_of_the_file(tmp_path):
    """A .tour names the nodes as the instance's file does, and may lack -1 and EOF."""
    instance = TSP(coords=[[0, 0], [1, 0], [1, 1]], ids=[3, 1, 2])
    path = tmp_path / "a.tour"
    for text in ("TOUR_SECTION\n3\n2\n1\n", "TYPE: TOUR\nDIMENSION: 3\nTOUR_SECTION : 3 2\n1 -1\nEOF:\n"):
        path.write_text(text)
        assert formats.read_solution(path, instance).tour.tolist() == [0, 2, 1]


def test_routes_as_others_write_them(tmp_path):
    """The depot at both ends, other spellings of Route, lines of other things."""
    path = tmp_path / "a.sol"
    path.write_text(
        "Instance: x\r\nroute 1 : 0 3 1 0 \r\n\r\nRoute#2: 2 5\r\n ROUTE #3:\t4\r\nCost : 999\r\nOptimal: True\r\n"
    )
    found = formats.read_solution(path, formats.read(SAMPLES / "depot_last.vrp"))
    assert [route.tolist() for route in found.routes] == [[3, 1], [2, 5], [4]]
    assert found.cost == 100


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("euclidean.tsp", "", "is empty"),
        ("euclidean.tsp", "\0", "is a binary file"),
        ("euclidean.tsp", "nothing\n", "holds no solution, expected lines Route #1: ... or a TOUR_SECTION"),
        ("euclidean.tsp", "Route #1: 1 2\nRoute #2: 3 4\n", "holds 2 routes, expected one: tsp has a tour"),
        ("euclidean.tsp", "\nRoute #1: 1 2 x\n", "line 2: 'x' is not a finite number"),
        ("euclidean.tsp", "Route #1: 1 2 3\n", "tour: node 4 is not visited"),
        ("euclidean.tsp", "Route #1: 1 2 3 4.5\n", "line 1: 4.5 is not allowed, expected a whole customer number"),
        (
            "euclidean.tsp",
            "TOUR_SECTION\n1\n2\n3\n4\n-1\n",
            "line 1: TOUR_SECTION holds 4 nodes, but the instance has 5",
        ),
        (
            "euclidean.tsp",
            "TOUR_SECTION\n1\n2\n3\n4\n6\n-1\n",
            "line 6: 6 is not allowed, expected a node of the instance, 1..5",
        ),
        ("euclidean.tsp", "TOUR_SECTION\n1\n2\n3\n4\n4\n-1\n", "tour: node 3 is visited more than once"),
        ("euclidean.tsp", "TOUR_SECTION\n1\n2\n3\n4\n5\n-1\n2\n", "line 8: TOUR_SECTION goes on behind its -1"),
        ("euclidean.tsp", "DIMENSION: 6\nTOUR_SECTION\n1\n2\n3\n4\n5\n", "TOUR_SECTION holds 5 nodes, but"),
        ("depot_last.vrp", "TOUR_SECTION\n1\n2\n-1\n", "holds a tour, but cvrp has routes"),
        ("depot_last.vrp", "Route #1: 1 2 3\nRoute #2: 4 5 3\n", "routes: node 3 is visited more than once"),
        ("depot_last.vrp", "Route #1: 1 2 3\nRoute #2: 4 6\n", "routes: node 6 does not exist, expected 1..5"),
        ("free.mps", "x 1\nw 2\n", "line 2: 'w 2' found, expected a column and its value"),
        ("free.mps", "x one\n", "line 1: 'one' is not a finite number"),
        ("free.mps", "x 1\ny 2\nx 1\n", "line 3: the column 'x' is given twice"),
    ],
)
def test_unreadable_solutions(name, text, message, tmp_path):
    """One line that names the file and what is wrong."""
    path = tmp_path / "a.sol"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        formats.read_solution(path, formats.read(SAMPLES / name))
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_solutions_that_do_not_fit_the_format(tmp_path):
    """Routes and values have no .tour; nothing is written."""
    for name, raw in (("depot_last.vrp", [[1], [2], [3], [4], [5]]), ("free.mps", [0, 0, 0])):
        with pytest.raises(InputError, match=r"a \.tour file holds a tour"):
            solved(name, raw).write(tmp_path / "a.tour")
    for name, raw in (("windows.tw", range(4)), ("free.mps", [0, 0, 0])):
        with pytest.raises(InputError, match="GeoJSON needs coordinates"):
            solved(name, raw).write(tmp_path / "a.geojson")
    assert list(tmp_path.iterdir()) == []


def test_geojson(tmp_path):
    """A point a node with its number and demand, a closed line a route."""
    solved("depot_last.vrp", [[3, 1], [2, 5], [4]]).write(tmp_path / "a.geojson")
    found = json.loads((tmp_path / "a.geojson").read_text())
    kinds = [feature["geometry"]["type"] for feature in found["features"]]
    assert (found["type"], kinds) == ("FeatureCollection", ["Point"] * 6 + ["LineString"] * 3)
    assert found["properties"] == {"name": "depot_last", "problem": "cvrp", "cost": 100}
    assert found["features"][1]["properties"] == {"node": 1, "depot": False, "demand": 4}
    line = found["features"][6]
    assert line["properties"] == {"route": 1, "nodes": [3, 1], "load": 8}
    assert line["geometry"]["coordinates"] == [[0, 0], [0, -10], [0, 10], [0, 0]]


def test_geojson_of_geographical_coordinates(tmp_path):
    """Degrees.minutes of latitude and longitude become degrees of longitude and latitude."""
    solved("geographic.tsp", range(4)).write(tmp_path / "a.geojson")
    place = json.loads((tmp_path / "a.geojson").read_text())["features"][0]["geometry"]["coordinates"]
    assert place == pytest.approx([20 + 42 / 60, 38 + 24 / 60])


def test_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """A failure half-way leaves the old file as it was, and nothing else behind."""
    path, solution = tmp_path / "a.sol", solved("euclidean.tsp", range(5))
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match=r"a.sol: cannot be written: no space left on device"):
        solution.write(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.sol"]
    assert path.read_text() == "old"
    monkeypatch.undo()
    solution.write(path)
    assert path.read_text().startswith("Route #1")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.sol"]


def test_unwritable_targets_are_named(tmp_path):
    """A missing folder, a folder in place of the file, a file in place of a folder, a name too long."""
    solution = solved("euclidean.tsp", range(5))
    (tmp_path / "file").write_text("")
    for target in ("missing/a.sol", ".", "file/a.sol", "x" * 300):
        with pytest.raises(InputError, match="cannot be written") as caught:
            solution.write(tmp_path / target)
        assert str(tmp_path / target) in str(caught.value)


def test_devices_and_links_are_written_through(tmp_path):
    """A device is not replaced by a file, nor a link by a copy."""
    solution = solved("euclidean.tsp", range(5))
    if Path(os.devnull).exists():
        solution.write(os.devnull)
        assert not Path(os.devnull).is_file()
    link, target = tmp_path / "link.sol", tmp_path / "target.sol"
    target.write_text("old")
    link.symlink_to(target)
    solution.write(link)
    assert link.is_symlink()
    assert target.read_text().startswith("Route #1")


def test_packed_solutions(tmp_path):
    """With .gz behind the name a solution is packed, and read again."""
    solution = solved("euclidean.tsp", [0, 3, 2, 1, 4])
    solution.write(tmp_path / "a.tour.gz")
    assert b"TOUR_SECTION" in gzip.decompress((tmp_path / "a.tour.gz").read_bytes())
    assert formats.read_solution(tmp_path / "a.tour.gz", solution.instance).cost == solution.cost
