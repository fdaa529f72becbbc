import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncosolve.bench import table
from ncosolve.bench.table import Row
from ncosolve.errors import InputError

ROW = Row(
    problem="tsp",
    instance="x",
    n=5,
    solver="auto",
    used="tour-search",
    seed=0,
    limit=2.0,
    threads=1,
    device="auto",
    anytime=True,
    status="feasible",
    cost=12.5,
    bound=None,
    maximise=False,
    best_known=12.0,
    valid=True,
    reason="",
    wall=2.01,
    compiling=0.0,
    cpu=1.9,
    memory=80.5,
    iterations=7,
    history=((0.1, 20.0), (1.5, 12.5)),
    solution="x.sol",
    source='{"file": "x"}',
    parameters="[]",
    machine="a machine",
    versions="ncosolve 1",
    started="2026-01-01T00:00:00+00:00",
)

texts = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=20).map(
    lambda s: " ".join(s.split())
)
amounts = st.floats(allow_nan=False, allow_infinity=False)


@given(
    texts, st.one_of(st.none(), amounts), st.booleans(), st.lists(st.tuples(st.integers(0, 10**6), amounts), max_size=5)
)
def test_rows_come_back_as_they_went(tmp_path_factory, reason, cost, valid, history):
    folder = tmp_path_factory.mktemp("table")
    steps = tuple((milliseconds / 1000, value) for milliseconds, value in history)
    row = dataclasses.replace(ROW, reason=reason, instance=f'{reason},"x', cost=cost, valid=valid, history=steps)
    with table.opened(folder) as rows:
        rows.append(row)
        rows.append(ROW)
    assert table.read(folder) == [row, ROW]


def test_a_torn_last_line_is_dropped_and_the_next_row_stands_alone(tmp_path):
    with table.opened(tmp_path) as rows:
        rows.append(ROW)
    path = tmp_path / table.FILE
    whole = path.read_bytes()
    for cut in (1, 5, 100):
        path.write_bytes(whole + whole.splitlines()[-1][:-cut])
        assert table.read(tmp_path) == [ROW]
        other = dataclasses.replace(ROW, seed=cut)
        with table.opened(tmp_path) as rows:
            assert rows.rows == [ROW]
            rows.append(other)
        assert table.read(tmp_path) == [ROW, other]


def test_a_folder_belongs_to_one_benchmark_at_a_time(tmp_path):
    with (
        table.opened(tmp_path),
        pytest.raises(InputError, match="another benchmark is at work here"),
        table.opened(tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "line 1: is not the table"),
        ("precious, and not ours", "line 1: is not the table"),
        (",".join(table.COLUMNS) + "\n1,2\n", "line 2: 2 cells, expected"),
        (",".join(table.COLUMNS) + "\n" + "x," * (len(table.COLUMNS) - 1) + "x\n", "line 2"),
        (",".join(table.COLUMNS) + '\n"a"b\n', "line 2"),
    ],
)
def test_a_table_that_is_none_is_named_by_its_line(tmp_path, text, message):
    (tmp_path / table.FILE).write_text(text)
    with pytest.raises(InputError, match=message), table.opened(tmp_path):
        pass
    assert (tmp_path / table.FILE).read_text() == text


def test_numbers_of_other_libraries_are_written_as_numbers(tmp_path):
    with table.opened(tmp_path) as rows:
        rows.append(dataclasses.replace(ROW, bound=np.float64(5.5), history=((1.0, np.float64(12.5)),)))
    assert table.read(tmp_path)[0].bound == 5.5


@pytest.mark.parametrize("change", [{"cost": math.nan}, {"limit": 0.0}, {"wall": math.inf}])
def test_numbers_that_cannot_be_are_refused(tmp_path, change):
    with table.opened(tmp_path) as rows:
        rows.append(dataclasses.replace(ROW, **change))
    with pytest.raises(InputError, match="line 2: limit"):
        table.read(tmp_path)


def test_late_is_what_the_limit_does_not_allow():
    assert not dataclasses.replace(ROW, wall=2.0 * 1.03 + 0.29).late
    assert dataclasses.replace(ROW, wall=2.0 * 1.03 + 0.31).late
    assert math.isclose(dataclasses.replace(ROW, wall=2.5).overrun, 0.5)


def test_no_table_means_no_rows(tmp_path):
    assert table.read(tmp_path) == []
