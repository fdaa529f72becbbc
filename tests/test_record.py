"""The records of solves: best-known values by convention, gaps, plain numbers."""

import json
import math

import pytest

from ncosolve import formats, record
from ncosolve.problems.cvrp import CVRP
from ncosolve.problems.milp import MILP
from ncosolve.solution import Solution


def test_best_known_holds_for_one_convention_only():
    def find(name, routes=None, **options):
        return record.best_known(formats.read(name, **options), name, routes)

    assert find("C101", rounding="dimacs") == 827.3
    assert find("C101") is None
    assert find("C101", rounding="dimacs", max_vehicles=9) is None
    assert find("C101", objective="vehicles", routes=10) == 828.94
    assert find("C101", objective="vehicles", routes=11) is None
    assert find("X-n101-k25") == 27591
    assert find("X-n101-k25", rounding="exact") is None
    assert find("X-n101-k25", max_vehicles=25) is None


def test_best_known_needs_the_same_size():
    instance = CVRP([[0, 1], [1, 0]], demand=[0, 1], capacity=1, rounding="nint")
    assert record.best_known(instance, "elsewhere/X-n101-k25.vrp") is None


def test_gap_is_positive_where_the_cost_is_worse():
    assert record.gap_to(110.0, 100.0) == pytest.approx(0.1)
    assert record.gap_to(90.0, 100.0, maximise=True) == pytest.approx(0.1)
    assert record.gap_to(-90.0, -100.0) == pytest.approx(0.1)
    assert record.gap_to(0.0, 0.0) == 0.0
    assert record.gap_to(1.0, 0.0) is None
    assert record.gap_to(1.0, None) is None


def test_what_is_not_finite_is_null_in_json():
    instance = MILP([1.0, 1.0], [[1.0, 1.0]], [1.0], [2.0], column_names=["a", "b"], maximise=True)
    result = record.solved(Solution.of(instance, [0.0, 1.5], bound=math.inf), "x.mps")
    assert (result["bound"], result["gap"], result["values"]) == (None, None, {"b": 1.5})
    assert json.loads(json.dumps(result, allow_nan=False)) == result


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a/p0033.mps.gz", "p0033"),
        ("X-n101-k25.vrp", "X-n101-k25"),
        ("X-n101-k25", "X-n101-k25"),
        ("n20w100.001.txt", "n20w100.001"),
        ("rc201.0", "rc201.0"),
        (".tsp", ".tsp"),
    ],
)
def test_the_name_of_an_instance_is_its_file_without_known_suffixes(file, name):
    assert record.stem(file) == name
