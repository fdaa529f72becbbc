"""The engine that joins LMask with the window search: its proposals, and that it never fails for want of a network."""

import logging

import numpy as np
import pytest
import torch

import ncosolve
from ncosolve import catalog, solving
from ncosolve.engines import lmask
from ncosolve.engines.base import Batch
from ncosolve.learned.lmask.network import KIND, LMaskNetwork, Shape
from ncosolve.learned.weights import save_weights

FOLDER = catalog.named("lmask-tsptw50").path


def instances(count, n=20, problem="tsptw", hardness="hard"):
    return [ncosolve.generate(problem, n, seed=k, hardness=hardness) for k in range(count)]


def batch(given, seconds=60.0, folder=FOLDER, **parameters):
    return Batch(given, seconds, 0, 1, "cpu", {**lmask.PARAMETERS, **parameters}, folder)


def weights(folder, problem="tsptw", value=None):
    torch.manual_seed(0)
    shape = Shape(width=16, heads=2, layers=1, hidden=16)
    network = LMaskNetwork(shape)
    if value is not None:
        torch.nn.init.constant_(network.project_glimpse.weight, value)
    save_weights(folder / "w.safetensors", network, {"kind": KIND, "problem": problem, "shape": vars(shape)})
    return {"folder": folder, "weights": "w.safetensors"}


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("learned", [False, True])
def test_proposals_are_feasible_and_the_cheapest_comes_first(problem, learned, tmp_path):
    given = instances(5, problem=problem)
    proposed = lmask.propose(batch(given, **(weights(tmp_path, problem) if learned else {})))
    different = []
    for instance, tours in zip(given, proposed, strict=True):
        checks = [instance.check(instance.answer(tour)) for tour in tours]
        assert checks
        assert all(check.feasible for check in checks)
        costs = [check.cost for check in checks]
        assert costs == pytest.approx(sorted(costs))
        different.append(len(set(costs)))
    assert max(different) > 1


def test_a_batch_proposes_what_each_instance_alone_is_proposed_first(monkeypatch):
    given = instances(5)
    whole = lmask.propose(batch(given, rounds=1))
    monkeypatch.setattr(lmask, "CELLS", 1)
    apart = lmask.propose(batch(given, rounds=1))
    for one, other in zip(whole, apart, strict=True):
        assert np.array_equal(one, other)


def test_no_time_means_no_proposals_and_no_error():
    assert lmask.propose(batch(instances(2), seconds=0.0)) == [[], []]
    assert lmask.propose(batch([ncosolve.generate("tsptw", 2)])) == [[]]


def test_a_tour_that_no_budget_finds_is_not_proposed():
    clash = ncosolve.TSPTW(np.ones((4, 4)), ready_time=[0, 5, 5, 5], due_date=[99, 5, 5, 5])
    assert lmask.propose(batch([clash])) == [[]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file"),
        (b"damaged", "holds no weights"),
        ("tspdl", "was trained on tspdl"),
        ("nan", "its numbers are not finite"),
    ],
)
def test_without_a_usable_network_it_goes_on_without(tmp_path, content, said, caplog):
    if content in ("tspdl", "nan"):
        weights(tmp_path, "tspdl" if content == "tspdl" else "tsptw", float("nan") if content == "nan" else None)
    elif content is not None:
        (tmp_path / "w.safetensors").write_bytes(content)
    given = instances(2)
    with caplog.at_level(logging.WARNING, "ncosolve"):
        proposed = lmask.propose(batch(given, folder=tmp_path, weights="w.safetensors"))
    assert said in caplog.text
    assert all(np.array_equal(a, b) for a, b in zip(proposed, lmask.propose(batch(given)), strict=True))


def test_many_are_solved_as_one_is():
    given = [*instances(3), *instances(2, n=12), ncosolve.generate("tspdl", 10)]
    many = ncosolve.solve_many(given[:-1], solver="lmask-tsptw50", max_iterations=2000)
    for instance, solution in zip(given, many, strict=False):
        assert instance.check(solution.answer).feasible
        assert solution.solver == "lmask-tsptw50"
    again = ncosolve.solve_many(given[:-1], solver="lmask-tsptw50", max_iterations=2000)
    assert [s.cost for s in many] == [s.cost for s in again]
    with pytest.raises(ncosolve.InputError, match="does not solve tspdl"):
        ncosolve.solve_many(given, solver="lmask-tsptw50", max_iterations=10)


def test_the_time_of_the_batch_counts(monkeypatch):
    def slow(given):
        solving.time.sleep(0.4)
        return [[] for _ in given.instances]

    monkeypatch.setattr(lmask, "propose", slow)
    for solution in ncosolve.solve_many(instances(2), solver="lmask-tsptw50", time_limit=0.5):
        assert 0.2 <= solution.history[0][0] <= 0.5


@pytest.mark.parametrize("problem", ["tsptw"])
def test_the_weights_that_ship_propose_shorter_tours_than_nearest_first(problem):
    given = instances(20, 50, problem, "easy" if problem == "tsptw" else "medium")
    solver = catalog.named(f"lmask-{problem}50")
    learned = lmask.propose(batch(given, folder=solver.path, **{**solver.parameters, "rounds": 1}))
    nearest = lmask.propose(batch(given))
    ratios = [
        instance.check(instance.answer(one[0])).cost / instance.check(instance.answer(other[0])).cost
        for instance, one, other in zip(given, learned, nearest, strict=True)
        if one and other
    ]
    assert len(ratios) >= 15
    assert np.mean(ratios) < 0.95
