"""The public instances and their best-known solutions, beside the checkout; skipped where they are not there.

What is proved here on real files is proved on small ones by the other tests of this folder.
"""

import csv
import json
from pathlib import Path

import pytest

from ncosolve import formats
from ncosolve.solution import Solution

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no shared/data beside the checkout")


def rows(table: str = "bks.csv") -> list[dict[str, str]]:
    if not (DATA / table).is_file():
        return []
    with (DATA / table).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def read(row: dict[str, str]):
    """The instance under the convention of its row."""
    convention, options = row["objective_convention"], {}
    if row["problem"] in ("cvrp", "vrptw"):
        options["max_vehicles"] = int(row["vehicle_limit"]) if row["vehicle_limit"] else None
        options["rounding"] = "exact" if "double" in convention else "dimacs" if "DIMACS" in convention else None
    return formats.read(DATA / row["file"], **options)


def best_known(row: dict[str, str], instance) -> Solution:
    """The stored solution of a row, in whatever form it is stored."""
    file = DATA / row["solution_file"]
    if file.suffix != ".txt":
        return formats.read_solution(file, instance)
    better = (DATA / row["file"]).with_suffix(".tour.json")
    if better.is_file():
        return Solution.of(instance, json.loads(better.read_text())["tour"])
    names = (Path(row["file"]).name, row["name"])
    lines = [line.split("#")[0].split() for line in file.read_text(encoding="utf-8").split("\n")]
    fields = next(fields for fields in lines if fields and fields[0] in names)
    if row["problem"] == "tspdl":
        return Solution.of(instance, [int(node) - 1 for node in fields[2:]])
    return Solution.of(instance, [0, *map(int, fields[3:])])


@pytest.mark.parametrize("row", [pytest.param(row, id=row["file"]) for row in rows()])
def test_every_file_is_read_and_its_solution_costs_what_the_table_says(row):
    """Problem and size by content; a stored solution is feasible and costs the best-known value to the unit."""
    instance = read(row)
    assert (instance.problem, instance.n) == (row["problem"], int(row["n"]))
    if row["solution_file"]:
        solution = best_known(row, instance)
        assert solution.violations == ()
        tolerance = 0.01 if "double" in row["objective_convention"] or row["problem"] == "tsptw" else 1e-6
        assert solution.cost == pytest.approx(float(row["bks"]), abs=tolerance)


def test_the_table_names_enough_files():
    """All of the collection was seen above, solutions included."""
    assert len(rows()) > 150
    assert sum(bool(row["solution_file"]) for row in rows()) > 120


def test_solomon_files_read_as_relaxed_problems():
    """A VRPTW file has all that a CVRP and a TSP need."""
    file = DATA / "vrptw/solomon/C101.txt"
    routes = formats.read_solution(file.with_suffix(".sol"), formats.read(file)).routes
    for problem in ("cvrp", "tsp"):
        relaxed = formats.read(file, problem=problem)
        answer = routes if problem == "cvrp" else range(relaxed.n)
        assert relaxed.check(answer).feasible
