import json

import pytest

from ncosolve import formats
from ncosolve.bench import suites
from ncosolve.errors import InputError
from ncosolve.problems import PROBLEMS


def test_every_suite_reads_and_what_is_short_is_in_it():
    known = suites.suites()
    assert {"tsp-small", "cvrp-x", "vrptw-homberger", "tsptw-real", "milp-easy"} <= set(known)
    for suite in known.values():
        names = [source["name"] for source in suite.sources]
        assert suite.summary.endswith("."), suite.name
        assert len(set(names)) == len(names), suite.name
        assert suite.short, suite.name
        assert set(suite.short) <= set(names), suite.name


def test_the_short_suites_have_something_of_every_problem_without_any_download(monkeypatch):
    monkeypatch.delenv(suites.DATA, raising=False)
    found, _ = suites.cases(suites.suites(), short=True)
    assert {case.problem for case in found} == set(PROBLEMS)


def test_what_is_not_here_is_named(monkeypatch):
    monkeypatch.delenv(suites.DATA, raising=False)
    found, missing = suites.cases(["cvrp-x"])
    assert [case.name for case in found] == ["X-n101-k25", "X-n195-k51", "X-n524-k153", "X-n1001-k43"]
    assert "cvrp/X/X-n125-k30.vrp" in missing


def test_a_folder_of_public_instances_completes_a_suite(tmp_path):
    (tmp_path / "cvrp" / "A").mkdir(parents=True)
    small = formats.read("X-n101-k25")
    formats.write(small, tmp_path / "cvrp" / "A" / "A-n32-k5.vrp")
    (case,), missing = suites.cases(["cvrp-classic"], tmp_path)
    assert (case.name, case.n, len(missing)) == ("A-n32-k5", 101, 17)
    assert suites.instance_of(case.source).max_vehicles == 5


def test_files_folders_and_bundled_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("att48", "gr24"):
        formats.write(formats.read(name), f"{name}.tsp")
    (tmp_path / "notes.md").write_text("no instance")
    by_folder, _ = suites.cases(["."])
    by_file, _ = suites.cases(["att48.tsp", "gr24.tsp", "att48.tsp"])
    assert [case.name for case in by_folder] == ["att48", "gr24"]
    assert by_folder == by_file
    (bundled,), _ = suites.cases(["burma14"])
    assert json.loads(bundled.source) == {"file": "burma14"}


def test_options_of_reading_are_part_of_the_source():
    (case,), _ = suites.cases(["C101"], reading={"rounding": "dimacs", "objective": None})
    assert suites.instance_of(case.source).distance.rounding == "dimacs"


def test_options_of_reading_come_before_those_of_a_suite():
    found, _ = suites.cases(["vrptw-solomon"], short=True, reading={"objective": "vehicles", "rounding": "exact"})
    for case in found:
        instance = suites.instance_of(case.source)
        assert (instance.objective, instance.distance.rounding) == ("vehicles", "exact")
    with pytest.raises(InputError, match="objective: does not apply to tsptw-generated, which is generated"):
        suites.cases(["tsptw-generated"], short=True, reading={"objective": "makespan"})


def test_generated_ones_come_out_the_same_again():
    found, _ = suites.cases(["tsptw-generated"], short=True)
    assert [case.name for case in found] == ["tsptw-hard-n50-s1", "tsptw-medium-n50-s1"]
    first, second = (suites.instance_of(found[0].source) for _ in range(2))
    assert (first.due_date == second.due_date).all()


def test_two_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for place, name in (("a", "att48"), ("b", "gr24")):
        (tmp_path / place).mkdir()
        formats.write(formats.read(name), tmp_path / place / "x.tsp")
    found, _ = suites.cases([str(tmp_path / "a"), str(tmp_path / "b")])
    assert [case.name for case in found] == ["a-x", "b-x"]


@pytest.mark.parametrize("name", ["nothing-such", "no/such/file.tsp", "x" * 300])
def test_what_is_nothing_is_refused_in_one_line(name):
    with pytest.raises(InputError, match="is no file, folder or bundled instance, and no suite: cvrp-classic"):
        suites.cases([name])


def test_a_benchmark_inside_the_folder_is_no_instance(tmp_path):
    formats.write(formats.read("att48"), tmp_path / "att48.tsp")
    (tmp_path / "out" / "solutions").mkdir(parents=True)
    (tmp_path / "out" / "runs.csv").write_text("")
    (tmp_path / "out" / "solutions" / "x").write_text("no instance")
    (tmp_path / ".hidden").write_text("")
    assert [case.name for case in suites.cases([str(tmp_path)])[0]] == ["att48"]


def test_white_space_in_names_is_one_space(tmp_path):
    formats.write(formats.read("att48"), tmp_path / "a  b\u00a0c.tsp")
    (case,), _ = suites.cases([str(tmp_path)])
    assert case.name == "a b c"
    assert suites.instance_of(case.source).n == 48


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no instance files"):
        suites.cases([str(tmp_path)])


def test_a_bad_file_is_named(tmp_path):
    (tmp_path / "bad.tsp").write_text("NAME: x\nDIMENSION: -3\n")
    with pytest.raises(InputError, match=r"bad\.tsp"):
        suites.cases([str(tmp_path / "bad.tsp")])
