"""The bundled instances: each is read, listed and, where small, solved to its best-known value."""

import csv
from pathlib import Path

import pytest

from ncosolve import formats, record, resources, solving
from ncosolve.problems import PROBLEMS

FOLDER = resources.folder("instances")
FILES = sorted(path for path in FOLDER.glob("*/*") if path.is_file())
with (FOLDER / "best_known.csv").open(newline="", encoding="utf-8") as table:
    ROWS = list(csv.DictReader(table))

SMALL = [
    ("burma14", 3323),
    ("gr24", 1272),
    ("burma14_10_1", 3416),
    ("gr17_50_2", 2216),
    ("flugpl", 1201500),
    ("stein27", 18),
    ("p0033", 3089),
    ("lseu", 1120),
    ("egout", 568.1007),
    ("misc03", 3360),
    ("tsptw-medium-n20-s1", 8.939923115503197),
    ("tsptw-hard-n20-s1", 10.846569250218824),
]


def listed():
    return {(row["problem"], row["name"]) for row in ROWS}


def test_every_problem_has_some_and_all_are_small_enough_to_ship():
    assert {path.parent.name for path in FILES} == set(PROBLEMS)
    assert 25 <= len(FILES) <= 40
    assert sum(path.stat().st_size for path in FILES) < 2_000_000


def test_the_folder_holds_no_code():
    assert not list(FOLDER.rglob("*.py"))


def test_every_file_is_in_the_table_and_every_row_has_a_file():
    assert listed() == {(path.parent.name, record.stem(path)) for path in FILES}


def test_every_file_is_named_in_the_readme():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in FILES if record.stem(path) not in text] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_is_read_as_its_folder_says(path):
    instance = formats.read(path)
    assert instance.problem == path.parent.name
    assert {instance.n} == {int(row["n"]) for row in ROWS if row["name"] == record.stem(path)}
    assert instance.clash() is None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_is_found_by_its_bare_name_from_anywhere(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    instance = formats.read(record.stem(path))
    assert (instance.problem, instance.name) == (path.parent.name, formats.read(path).name)


def test_a_file_in_the_current_folder_comes_before_a_bundled_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("burma14").write_bytes((FOLDER / "tsp" / "gr24.tsp").read_bytes())
    assert formats.read("burma14").n == 24


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['name']}-{row['rounding']}")
def test_best_known_values_are_found_under_their_convention(row):
    options = {} if row["rounding"] == "any" else {"rounding": row["rounding"]}
    if row["objective"]:
        options["objective"] = row["objective"]
    instance = formats.read(row["name"], **options)
    routes = int(row["vehicles"]) if row["vehicles"] else None
    expected = float(row["best_known"]) if row["best_known"] else None
    assert record.best_known(instance, row["name"], routes) == expected
    assert row["proven_optimal"] in ("yes", "no", "unknown")
    assert bool(row["source"]) == (expected is not None)


@pytest.mark.parametrize(("name", "best"), SMALL)
def test_small_ones_are_solved_to_their_best_known_value(name, best):
    solution = solving.solve(formats.read(name), time_limit=20, target=best + 1e-6 * abs(best))
    assert solution.cost == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("path", sorted((FOLDER / "tsptw").glob("*")), ids=lambda path: path.name)
def test_generated_time_windows_can_be_kept(path):
    assert solving.solve(formats.read(path), time_limit=5).feasible
