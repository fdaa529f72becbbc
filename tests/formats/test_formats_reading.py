"""Reading: known costs, bundled names, and what the caller may say against the file."""

import math
from pathlib import Path

import numpy as np
import pytest

from ncosolve import formats
from ncosolve.errors import InputError
from ncosolve.resources import folder

SAMPLES = Path(__file__).parent / "samples"


def sample(name, **options):
    return formats.read(SAMPLES / name, **options)


def test_vrplib_with_windows():
    """Windows, the service time of all customers, and VEHICLES as a limit; EXACT_2D is not rounded."""
    found = sample("windows.vrp")
    assert (found.problem, found.max_vehicles, found.capacity, found.name) == ("vrptw", 3, 20, "windows")
    assert found.service_time.tolist() == [0, 10, 10, 10, 10]
    assert found.ready_time.tolist() == [0, 5, 20, 0, 10]
    assert found.due_date.tolist() == [200, 50, 90, 60, 80]
    check = found.check([[1, 2], [3, 4]])
    assert check.feasible
    assert check.cost == pytest.approx(20 + 5 + math.sqrt(90) + 5)


def test_a_cvrp_with_windows_is_a_vrptw(tmp_path):
    """Some public files with a TIME_WINDOW_SECTION call themselves CVRP; the windows are heeded."""
    path = tmp_path / "a.vrp"
    path.write_text((SAMPLES / "windows.vrp").read_text().replace("VRPTW", "CVRP"))
    assert formats.read(path).due_date.tolist() == [200, 50, 90, 60, 80]


def test_service_times_of_their_own(tmp_path):
    """SERVICE_TIME_SECTION is matched by node number."""
    text = (SAMPLES / "windows.vrp").read_text().replace("SERVICE_TIME : 10\n", "")
    path = tmp_path / "a.vrp"
    path.write_text(text.replace("DEPOT", "SERVICE_TIME_SECTION\n5 4\n4 3\n3 2\n2 1\n1 0\nDEPOT"))
    assert formats.read(path).service_time.tolist() == [0, 1, 2, 3, 4]


def test_solomon_text():
    """Distances are exact, NUMBER limits the fleet, node 0 is the depot."""
    found = sample("solomon.txt")
    assert (found.name, found.max_vehicles, found.capacity) == ("S5", 3, 20)
    assert found.check([[1, 2], [4], [3]]).cost == pytest.approx(20 + 2 * math.sqrt(2) + 10)
    assert not found.check([[1, 2, 4], [3]]).feasible


def test_dimacs_truncates_distances_and_times(tmp_path):
    """One decimal of every distance; times that are not whole are truncated too."""
    path = tmp_path / "a.txt"
    path.write_text((SAMPLES / "solomon.txt").read_text().replace(" 80         10", " 80.97      10.25"))
    found = formats.read(path, rounding="dimacs")
    assert found.distance.matrix()[0, 4] == 1.4
    assert (found.due_date[4], found.service_time[4]) == (80.9, 10.2)
    assert formats.read(path).due_date[4] == 80.97


def test_tsptw_layouts():
    """The matrix layout ignores comments and the diagonal; the table of coordinates drops its sentinel."""
    found = sample("windows.tw")
    assert (found.problem, found.n, found.name) == ("tsptw", 4, "windows")
    assert found.check([0, 1, 3, 2]).cost == 5 + 3 + 4 + 9
    table = sample("coordinates.txt")
    assert (table.problem, table.n) == ("tsptw", 4)
    assert table.check([0, 1, 2, 3]).cost == pytest.approx(5 + 5 + 15 + 5)
    assert table.due_date.tolist() == [408, 68, 205, 324]
    keyed = sample("keyed.tsptw")
    assert np.array_equal(keyed.distance.matrix(), found.distance.matrix())
    assert keyed.due_date.tolist() == found.due_date.tolist()


def test_tspdl_layouts():
    """Three layouts of one instance: the diagonal of 1 and the surplus demand are ignored."""
    blocks, numbers, keyed = sample("blocks.dat"), sample("numbers.dat"), sample("keyed.tspdl")
    for found in (blocks, numbers, keyed):
        assert found.problem == "tspdl"
        assert found.demand.tolist() == [0, 1, 1, 1]
        assert found.draft_limit.tolist() == [3, 3, 2, 1]
        assert found.check([0, 1, 2, 3]) == blocks.check([0, 1, 2, 3])
    assert blocks.check([0, 1, 2, 3]).feasible
    assert blocks.check([0, 1, 2, 3]).cost == 5 + 6 + 4 + 7
    assert not blocks.check([0, 3, 2, 1]).feasible
    assert blocks.distance.coords[1].tolist() == [1.5, -1.5]


def test_mps_and_lp():
    """Names, sense, constant, ranges and integrality; both texts say the same."""
    mps, lp = sample("free.mps"), sample("small.lp")
    assert (mps.name, mps.maximise, mps.offset) == ("knapsack", True, 10)
    assert mps.column_names == lp.column_names == ("x", "y", "z")
    assert mps.row_names == ("weight", "least")
    assert mps.integer.tolist() == lp.integer.tolist() == [True, True, False]
    assert (mps.row_lower.tolist(), mps.row_upper.tolist()) == ([1.5, 1.0], [7.5, np.inf])
    assert mps.rows.toarray().tolist() == lp.rows.toarray().tolist() == [[3, 2, 1], [0, 1, 0]]
    assert mps.check([1, 2, 0.5]).cost == lp.check([1, 2, 0.5]).cost == 5 + 8 + 0.25 + 10
    assert not mps.check([2, 1, 0]).feasible


def test_fixed_mps_with_blanks_in_names():
    """The fixed layout goes by columns, so names may hold blanks; they are kept."""
    found = sample("fixed.mps")
    assert found.name == "TWO WORDS"
    assert found.column_names == ("COL ONE", "COL TWO")
    assert found.row_names == ("ROW ONE", "ROW TWO")
    assert found.integer.tolist() == [True, False]
    assert found.upper.tolist() == [4, np.inf]
    assert found.check([1, 1.5]).feasible


def test_vehicles_are_no_limit_of_a_cvrp(tmp_path):
    """The public CVRP files that have VEHICLES have best-known values for a free fleet."""
    path = tmp_path / "a.vrp"
    path.write_text((SAMPLES / "depot_last.vrp").read_text().replace("CAPACITY", "VEHICLES : 2\nCAPACITY"))
    assert formats.read(path).max_vehicles is None


def test_a_file_without_type_is_known_by_its_sections(tmp_path):
    """TYPE may be missing where the sections say what it is."""
    for name in ("euclidean.tsp", "depot_last.vrp", "windows.vrp", "keyed.tsptw", "keyed.tspdl"):
        path = tmp_path / name
        path.write_text("\n".join(x for x in (SAMPLES / name).read_text().split("\n") if not x.startswith("TYPE")))
        assert formats.read(path).problem == sample(name).problem


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("windows.vrp", "cvrp"),
        ("windows.vrp", "tsp"),
        ("windows.vrp", "tsptw"),
        ("solomon.txt", "CVRP"),
        ("depot_last.vrp", "tsp"),
        ("windows.tw", "tsp"),
        ("numbers.dat", "tsp"),
    ],
)
def test_a_relaxed_problem_may_be_asked_for(name, problem):
    """Where the file has all the data, and only then; distances and demands stay the same."""
    full, relaxed = sample(name), sample(name, problem=problem)
    assert relaxed.problem == problem.lower()
    assert np.array_equal(relaxed.distance.matrix(), full.distance.matrix())
    for field in ("demand", "capacity", "max_vehicles", "ready_time", "service_time"):
        if hasattr(relaxed, field):
            assert np.array_equal(getattr(relaxed, field), getattr(full, field))


@pytest.mark.parametrize(
    ("name", "problem", "message"),
    [
        ("euclidean.tsp", "cvrp", "the file holds a tsp without demand, capacity, no cvrp"),
        ("depot_last.vrp", "vrptw", "the file holds a cvrp without ready_time, due_date, service_time, no vrptw"),
        ("numbers.dat", "cvrp", "the file holds a tspdl without capacity, no cvrp"),
        ("free.mps", "tsp", "the file holds a milp without distance, no tsp"),
        ("euclidean.tsp", "milp", "the file holds a tsp, no milp"),
        ("euclidean.tsp", "jobshop", "problem 'jobshop' is unknown"),
    ],
)
def test_a_problem_without_its_data_is_refused(name, problem, message):
    """The message says what is missing."""
    with pytest.raises(InputError, match=message):
        sample(name, problem=problem)


def test_fleet_and_objective():
    """Both apply to CVRP and VRPTW only."""
    found = sample("windows.vrp", max_vehicles=1, objective="vehicles")
    assert (found.max_vehicles, found.objective) == (1, "vehicles")
    assert sample("depot_last.vrp", max_vehicles=7).max_vehicles == 7
    for options in ({"max_vehicles": 2}, {"objective": "vehicles"}):
        with pytest.raises(InputError, match=f"{next(iter(options))}: does not apply to tsp"):
            sample("euclidean.tsp", **options)
    for options in ({"max_vehicles": 0}, {"max_vehicles": 2.5}, {"objective": "fewest"}, {"rounding": "up"}):
        with pytest.raises(InputError, match=f"windows.vrp: {next(iter(options))}"):
            sample("windows.vrp", **options)
    with pytest.raises(InputError, match="rounding: does not apply to milp"):
        sample("free.mps", rounding="nint")


def test_bundled_instances_are_found_by_name(tmp_path, monkeypatch):
    """With and without suffix, only where no such file exists, and only when one is meant."""
    monkeypatch.setattr(formats, "folder", lambda kind: tmp_path / kind)
    place = tmp_path / "instances" / "tsp"
    place.mkdir(parents=True)
    (place / "five.tsp").write_bytes((SAMPLES / "euclidean.tsp").read_bytes())
    (place / "five.opt.tour").write_text("TOUR_SECTION\n1\n")
    (place / "five.sol").write_text("Route #1: 1\n")
    (place / "sack.mps.gz").write_bytes((SAMPLES / "free.mps").read_bytes())
    for name in ("five", "five.tsp"):
        assert formats.read(name).n == 5
    for name in ("sack", "sack.mps", "sack.mps.gz"):
        assert formats.read(name).problem == "milp"
    with pytest.raises(InputError, match="no such file"):
        formats.read("tsp/five")
    (place / "five.vrp").write_bytes((SAMPLES / "depot_last.vrp").read_bytes())
    with pytest.raises(InputError, match=r"five: could be .*five.tsp or .*five.vrp"):
        formats.read("five")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "five").write_bytes((SAMPLES / "solomon.txt").read_bytes())
    assert formats.read("five").problem == "vrptw"


def test_every_bundled_instance_reads():
    """Each file that ships is read, under its bare name too."""
    files = [f for f in sorted(folder("instances").rglob("*")) if f.is_file() and f.suffix not in formats._NO_INSTANCE]
    files = [f for f in files if f.suffix != ".py"]
    assert files
    for file in files:
        assert formats.read(file.name).n == formats.read(file).n


def test_importing_formats_is_light():
    """No reader of any format is imported before it is used, and nothing heavy at all."""
    import subprocess
    import sys

    code = (
        "import sys, ncosolve.formats; print([m for m in ('scipy', 'numba', 'highspy', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_large_file_is_read_fast(tmp_path):
    """20,000 nodes within half a second (measured 0.2 s)."""
    import time

    n = 20_000
    xy = np.random.default_rng(0).integers(0, 10**6, (n, 2)).tolist()
    text = f"TYPE: CVRP\nDIMENSION: {n}\nCAPACITY: 50\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    text += "".join(f"{k} {x} {y}\n" for k, (x, y) in enumerate(xy, 1)) + "DEMAND_SECTION\n"
    text += "".join(f"{k} {int(k > 1)}\n" for k in range(1, n + 1)) + "DEPOT_SECTION\n1\n-1\nEOF\n"
    path = tmp_path / "large.vrp"
    path.write_text(text)
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        assert formats.read(path).n == n
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.5
