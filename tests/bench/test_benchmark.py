import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ncosolve import catalog, formats
from ncosolve.bench import analysis, origin, statistics, suites, table
from ncosolve.bench.benchmark import benchmark
from ncosolve.bench.runs import plan
from ncosolve.cli import main
from ncosolve.errors import EngineError, InputError


def bench(*arguments):
    return main(["bench", *map(str, arguments)])


def write_instances(folder, count, n):
    from ncosolve import generate

    folder.mkdir()
    for seed in range(count):
        formats.write(generate("tsp", n, seed=seed), folder / f"t{seed}.tsp")


def test_rows_hold_what_was_measured(tmp_path, capsys):
    assert (
        bench("X-n101-k25", "C101", "--solvers", "auto,pyvrp", "-t", "0.2,0.5", "--rounding", "dimacs", "-o", tmp_path)
        == 0
    )
    rows = table.read(tmp_path)
    assert [(row.instance, row.solver, row.limit) for row in rows] == [
        ("X-n101-k25", "auto", 0.2),
        ("X-n101-k25", "auto", 0.5),
        ("X-n101-k25", "pyvrp", 0.5),
        ("C101", "pyvrp", 0.5),
        ("C101", "auto", 0.2),
        ("C101", "auto", 0.5),
    ]
    for row in rows:
        instance = suites.instance_of(row.source)
        solution = formats.read_solution(tmp_path / table.SOLUTIONS / row.solution, instance)
        assert (solution.feasible, solution.cost) == (True, pytest.approx(row.cost))
        assert row.valid
        assert not row.late
        assert row.history[-1][1] == row.cost
        assert 0 < row.cpu < row.wall + 0.5
        assert row.memory > 20
    assert rows[-1].best_known == 827.3
    assert rows[0].used == "route-search"
    assert origin.starts(tmp_path)[0].packages["pyvrp"]
    assert "see: ncosolve report" in capsys.readouterr().out


def test_a_crash_an_exception_and_an_overrun_are_rows_and_not_the_end(tmp_path, own_solvers, capsys):
    solvers = "crashing,dying,forking,raising,late,same"
    assert bench("att48", "--solvers", solvers, "-t", "0.2", "--jobs", "2", "-o", tmp_path) == 0
    rows = {row.solver: row for row in table.read(tmp_path)}
    assert rows["crashing"].status == "failed"
    assert "SIGABRT" in rows["crashing"].reason
    assert "exit code 7" in rows["dying"].reason
    assert "SIGABRT" in rows["forking"].reason
    assert rows["raising"].status == "failed"
    assert "no idea" in rows["raising"].reason
    assert rows["late"].late
    assert rows["late"].solved
    assert rows["same"].solved
    assert "4 without a valid answer, 1 over their time" in capsys.readouterr().out


def test_what_is_done_is_not_done_again(tmp_path):
    cases, _ = suites.cases(["att48"])
    runs = plan(cases, ["auto"], [0.1], 2, 1, "cpu")
    assert len(list(benchmark(runs, tmp_path))) == 2
    assert list(benchmark(runs, tmp_path)) == []
    more = plan(cases, ["auto"], [0.1], 3, 1, "cpu")
    assert [row.seed for row in benchmark(more, tmp_path)] == [2]
    assert len(origin.starts(tmp_path)) == 2


def test_the_same_run_on_another_instance_is_refused(tmp_path):
    for place, name in (("a", "att48"), ("b", "gr24")):
        (tmp_path / place).mkdir()
        formats.write(formats.read(name), tmp_path / place / "x.tsp")
    assert bench(tmp_path / "a" / "x.tsp", "-t", "0.1", "-o", tmp_path / "out") == 0
    runs = plan(suites.cases([str(tmp_path / "b" / "x.tsp")])[0], ["auto"], [0.1], 1, 1, "auto")
    with pytest.raises(InputError, match=r"tsp/x/auto/t0\.1/s0/p1 was of .*a/x\.tsp.* is now of .*b/x\.tsp"):
        list(benchmark(runs, tmp_path / "out"))


def test_a_file_or_parameters_that_changed_are_refused(tmp_path, own_solvers):
    formats.write(formats.read("att48"), tmp_path / "x.tsp")
    assert bench(tmp_path / "x.tsp", "--solvers", "same", "-t", "0.1", "-o", tmp_path / "out") == 0
    toml = tmp_path / "own" / "same" / "solver.toml"
    toml.write_text(toml.read_text() + "[parameters]\npopulation = 7\n")
    catalog.solvers.cache_clear()
    assert bench(tmp_path / "x.tsp", "--solvers", "same", "-t", "0.1", "-o", tmp_path / "out") == 2
    formats.write(formats.read("gr24"), tmp_path / "x.tsp")
    assert bench(tmp_path / "x.tsp", "--solvers", "same", "-t", "0.1", "-o", tmp_path / "out") == 2
    assert len(table.read(tmp_path / "out")) == 1


def test_failed_runs_are_done_again_when_asked(tmp_path, own_solvers):
    options = ["att48", "--solvers", "raising,same", "-t", "0.1", "-o", tmp_path]
    assert bench(*options) == bench(*options) == 0
    assert len(table.read(tmp_path)) == 2
    assert bench(*options, "--retry-failed") == 0
    assert [row.solver for row in table.read(tmp_path)].count("raising") == 2


def test_what_lies_in_the_current_folder_is_not_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ncosolve").mkdir()
    (tmp_path / "psutil.py").write_text("raise SystemExit")
    command = [Path(sys.executable).with_name("ncosolve"), "bench", "att48", "-t", "0.1", "-o", "out"]
    subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
    assert table.read(Path("out"))[0].solved


def test_a_killed_command_goes_on_where_it_was_and_leaves_nobody_behind(tmp_path):
    write_instances(tmp_path / "in", 4, 40)
    command = [sys.executable, "-m", "ncosolve", "bench", str(tmp_path / "in"), "--solvers", "auto,pyvrp", "-t", "0.4"]
    command += ["--jobs", "2", "-o", str(tmp_path / "out")]
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    path = tmp_path / "out" / table.FILE
    while not path.is_file() or path.read_bytes().count(b"\n") < 3:
        assert first.poll() is None
        time.sleep(0.02)
    family = psutil.Process(first.pid).children(recursive=True)
    first.send_signal(signal.SIGKILL)
    first.wait()
    done = table.read(tmp_path / "out")
    assert 2 <= len(done) < 8
    _, alive = psutil.wait_procs(family, timeout=5)
    assert alive == []
    assert subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    rows = table.read(tmp_path / "out")
    assert rows[: len(done)] == done
    assert len({row.key for row in rows}) == len(rows) == 8
    assert all(row.solved for row in rows)


def test_ctrl_c_ends_it_at_once_and_keeps_what_is_done(tmp_path):
    command = [
        sys.executable,
        "-m",
        "ncosolve",
        "bench",
        "att48",
        "--solvers",
        "auto",
        "-t",
        "0.2,60",
        "-o",
        str(tmp_path),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    path = tmp_path / table.FILE
    while not path.is_file() or path.read_bytes().count(b"\n") < 2:
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert [row.limit for row in table.read(tmp_path)] == [0.2]


def test_identical_solvers_tie_and_a_slowed_copy_loses(tmp_path, own_solvers):
    write_instances(tmp_path / "in", 12, 50)
    solvers = ["tour-search", "same", "slowed"]
    assert (
        bench(tmp_path / "in", "--solvers", ",".join(solvers), "-t", "0.15", "--jobs", "2", "-o", tmp_path / "out") == 0
    )
    (problem,) = analysis.study(table.read(tmp_path / "out"), solvers).problems
    verdicts = {contrast.solver: contrast.comparison.verdict for contrast in problem.marks[0].contrasts}
    assert verdicts == {"same": statistics.NO_DIFFERENCE, "slowed": statistics.WORSE}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_that_loses_a_worker_loses_no_run(tmp_path):
    from distributed import LocalCluster

    write_instances(tmp_path / "in", 5, 40)
    cases, _ = suites.cases([str(tmp_path / "in")])
    runs = plan(cases, ["auto", "pyvrp"], [0.4], 1, 1, "cpu")
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        workers = [worker.pid for worker in cluster.workers.values()]
        rows = []
        for row in benchmark(runs, tmp_path / "out", dask=cluster.scheduler_address):
            rows.append(row)
            if len(rows) == 2:
                os.kill(workers[0], signal.SIGKILL)
    assert len(rows) == 10
    assert all(row.solved for row in rows)
    assert table.read(tmp_path / "out") == rows
    assert len({row.key for row in rows}) == 10


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_of_one_thread_does_the_runs_itself(tmp_path):
    from distributed import LocalCluster

    runs = plan(suites.cases(["att48"])[0], ["auto"], [0.1], 3, 1, "cpu")
    parents = []
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        for _ in benchmark(runs, tmp_path / "out", dask=cluster.scheduler_address):
            parents += [each.pid for each in psutil.Process().children() if "ncosolve.child" in each.cmdline()]
    assert parents == []
    assert len(table.read(tmp_path / "out")) == 3


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_that_is_gone_leaves_its_runs_undone(tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr("ncosolve.bench.execution.TRIES", 1)
    runs = plan(suites.cases(["att48"])[0], ["auto"], [0.3], 5, 1, "cpu")
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
    rows = benchmark(runs, tmp_path / "out", dask=cluster.scheduler_address)
    next(rows)
    cluster.close()
    with pytest.raises(EngineError, match=r"the cluster at .* is gone; [1-4] runs are left"):
        list(rows)
    assert all(row.solved for row in table.read(tmp_path / "out"))


def test_no_scheduler_is_told_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("ncosolve.bench.execution.CONNECT", 0.3)
    assert bench("att48", "-t", "0.1", "--dask", "tcp://127.0.0.1:9", "-o", tmp_path) == 2
    assert "--dask: no scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to run on"),
        (["att48", "-t", "0"], "-t: is '0', expected"),
        (["att48", "-t", "2,x"], "-t: is '2,x', expected"),
        (["att48", "-t", "2,2"], "-t: is '2,2', expected different"),
        (["att48", "--solvers", "auto,"], "--solvers: is 'auto,', expected"),
        (["att48", "--data", "no/such"], "--data: is not a folder"),
        (["cvrp-classic"], "no instance of it is here"),
        (["att48", "--jobs", "0"], "--jobs"),
    ],
)
def test_bad_usage_is_told_in_one_line(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.delenv(suites.DATA, raising=False)
    assert bench(*arguments, "-o", tmp_path / "out") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_suites_are_listed(capsys):
    assert bench("--list") == 0
    assert "cvrp-x" in capsys.readouterr().out


def test_a_record_that_is_none_is_named(tmp_path):
    (tmp_path / origin.FILE).write_text("{")
    with pytest.raises(InputError, match=r"benchmark\.json: is no record"):
        origin.starts(tmp_path)
