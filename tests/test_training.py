"""`ncosolve train`: runs that end, that are killed and go on, that are done by two processes; and what it refuses."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from ncosolve.cli import main
from ncosolve.learned.weights import load_weights

SMOKE = ["train", "lmask-tsptw50", "--set", "size=smoke"]


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def command(*arguments, launcher=("-m", "ncosolve")):
    return [sys.executable, *launcher, *arguments]


def metrics(folder):
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in lines]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run from beginning to end."""
    folder = tmp_path_factory.mktemp("train") / "whole"
    done = subprocess.run(command(*SMOKE, "-o", folder), env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_run_leaves_weights_a_card_and_metrics(whole):
    tensors, header = load_weights(whole / "weights.safetensors", "lmask")
    assert header["problem"] == "tsptw"
    assert header["steps"] == 26
    assert tensors
    assert "| gap, easy |" in (whole / "README.md").read_text()
    assert [line["step"] for line in metrics(whole)] == [9, 19]


def test_a_run_goes_on_from_given_weights(whole, tmp_path):
    start, nothing = whole / "weights.safetensors", ["--set", "imitation_steps=0", "--set", "reinforcement_steps=0"]
    assert main([*SMOKE, *nothing, "--set", f"start={start}", "-o", str(tmp_path / "more")]) == 0
    before, _ = load_weights(start, "lmask")
    after, _ = load_weights(tmp_path / "more" / "weights.safetensors", "lmask")
    assert all(torch.equal(before[name], after[name]) for name in before)
    unlike = ["--set", f"start={start}", "--set", "width=64"]
    assert main([*SMOKE, *unlike, "-o", str(tmp_path / "unlike")]) == 2


def test_a_killed_run_goes_on_as_if_it_had_not_been(whole, tmp_path):
    folder = tmp_path / "killed"
    run = subprocess.Popen(command(*SMOKE, "-o", folder), env=environment(), stderr=subprocess.DEVNULL)
    while not (folder / "metrics.jsonl").exists() and run.poll() is None:
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)  # ends it after the step at hand, with a checkpoint
    assert run.wait(60) == 130
    again = command(*SMOKE, "-o", folder, "--resume")
    run = subprocess.Popen(again, env=environment(), stderr=subprocess.DEVNULL)
    time.sleep(2.0)
    run.kill()
    run.wait()
    done = subprocess.run(again, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert metrics(folder) == metrics(whole)
    assert main([*SMOKE, "-o", str(folder)]) == 2  # holds a run already
    assert main([*SMOKE, "-o", str(folder), "--resume", "--set", "labels=65"]) == 2


def test_two_processes_do_what_one_does(tmp_path):
    alike = ["--set", "reinforcement_steps=0", "--set", "imitation_steps=10"]
    one = subprocess.run(command(*SMOKE, *alike, "-o", tmp_path / "one"), env=environment(), capture_output=True)
    assert one.returncode == 0, one.stderr
    torchrun = ("-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone", "-m", "ncosolve")
    arguments = command(*SMOKE, *alike, "-o", tmp_path / "two", launcher=torchrun)
    two = subprocess.run(arguments, env=environment(), capture_output=True, text=True, timeout=120)
    assert two.returncode == 0, two.stderr
    assert two.stdout.split() == [str(tmp_path / "two" / "weights.safetensors")]
    assert metrics(tmp_path / "one")[0]["loss"] == pytest.approx(metrics(tmp_path / "two")[0]["loss"], rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "window-search"], "is not trained, expected one of lmask"),
        (["train", "lmask-tsptw50", "--set", "size=huge"], "size: 'huge' is unknown"),
        (["train", "lmask-tsptw50", "--set", "colour=red"], "colour: is unknown"),
        (["train", "lmask-tsptw50", "--set", "layers=many"], "train: Expected `int`"),
        (["train", "lmask-tsptw50", "--set", "layers"], "expected KEY=VALUE"),
        (["train", "lmask-tsptw50", "--max-time", "soon"], "expected a time such as 90, 30m or 2h"),
        (["train", "lmask-tsptw50", "--device", "cuda"], "device: is cuda"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, said, tmp_path, capsys):
    assert main([*arguments, "-o", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1


def test_a_damaged_checkpoint_is_refused(whole, tmp_path, capsys):
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "checkpoint.pt").write_bytes((whole / "checkpoint.pt").read_bytes()[:1000])
    (folder / "labels").symlink_to(whole / "labels")
    assert main([*SMOKE, "-o", str(folder), "--resume"]) == 2
    assert "cannot be resumed from" in capsys.readouterr().err.splitlines()[-1]


def test_a_loss_that_is_not_finite_ends_the_run(whole, tmp_path, capsys):
    folder = tmp_path / "nan"
    folder.mkdir()
    (folder / "labels").symlink_to(whole / "labels")
    assert main([*SMOKE, "-o", str(folder), "--set", "imitation_rate=1e30"]) == 1
    assert "the checkpoint is kept" in capsys.readouterr().err.splitlines()[-1]
