"""What the README shows works as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_python_blocks_run(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {})


def test_files_that_it_names_exist():
    linked = re.findall(r"\]\(([^)#:]+)\)", README)
    named = re.findall(r"`((?:engines|problems|instances|solvers)/[\w/]*\.\w+)`", README)
    assert linked
    assert named
    for path in [*linked, *named]:
        assert (ROOT / path).exists() or (ROOT / "ncosolve" / path).exists(), path


def test_every_solver_stands_in_its_table():
    shipped = {folder.name for folder in (ROOT / "solvers").iterdir() if (folder / "solver.toml").is_file()}
    table = README[README.index("## Solvers") : README.index("## Comparing solvers")]
    assert shipped == set(re.findall(r"`([\w-]+)`", table)) - {"auto", "solvers"} - {"pip"}


def test_the_wheel_lists_every_package():
    """A package that setup.cfg forgets would be missing from the wheel."""
    config = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    packages = {
        file.parent.relative_to(ROOT).as_posix().replace("/", ".") for file in ROOT.glob("ncosolve/**/__init__.py")
    }
    assert packages | {"ncosolve._solvers", "ncosolve._instances", "ncosolve._suites"} == set(
        re.findall(r"^    (ncosolve[\w.]*)$", config, re.M)
    )


def test_the_test_command_is_one_line_that_ci_can_find():
    assert len(re.findall(r"^pip install .*&& pytest.*$", README, re.M)) == 1


def test_every_suite_stands_in_the_table_of_benchmarks():
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    table = text[text.index("## Suites") : text.index("## The whole comparison")]
    shipped = {file.stem for file in (ROOT / "benchmarks" / "suites").glob("*.toml")}
    assert shipped == set(re.findall(r"^\| `([\w-]+)`", table, re.M))
