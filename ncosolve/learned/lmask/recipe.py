"""How LMask is trained: it imitates tours of a search, then samples its own and reinforces the better ones.

The paper reinforces only, over 12.8 thousand million tours; imitation gets a network of few hours near it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor

from ncosolve.errors import EngineError
from ncosolve.learned.lmask.data import generated, reversed_answers, tours_of
from ncosolve.learned.lmask.decoding import Decoded, decode, replay
from ncosolve.learned.lmask.network import KIND, LMaskNetwork, Pointer, Shape, eight_images, images
from ncosolve.learned.lmask.tours import Tours
from ncosolve.learned.training import Run, cosine, mean, set_rate
from ncosolve.learned.weights import load_weights, put_weights
from ncosolve.problems import tspdl, tsptw

HELD_SEED, TRAIN_SEED = 3_000_000_000, 2_000_000_000
"""The first seeds of the instances for validation and for imitation."""
DRAW, TURN, SAMPLE = range(3)
"""What a seed is for."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a recipe may set.

    Attributes
    ----------
    problem, n, hardness
        Of the instances; of several hardnesses they take turns, and one named twice has two.
    width, heads, layers, hidden, intensity
        See `ncosolve.learned.lmask.network.Shape`.
    start : str
        The file of weights that the training goes on from, such as a solver's own; fresh ones without.
    solver, labels, effort
        Whose tours are imitated, on how many instances of each hardness, after how many iterations.
    imitation_steps, imitation_batch, imitation_rate
        Updates, instances in each, and the first learning rate.
    reinforcement_steps, reinforcement_batch, reinforcement_rate, samples, entropy
        The same of the reinforcement, tours sampled of each instance, and the weight of their entropy.
    budget : int
        Backtracks in validation.
    held, pause
        Instances of each hardness for validation, and updates between two of them.
    """

    problem: str = "tsptw"
    n: int = 50
    hardness: tuple[str, ...] = ("easy", "medium", "hard")
    width: int = 128
    heads: int = 8
    layers: int = 3
    hidden: int = 512
    intensity: bool = False
    start: str = ""
    solver: str = "window-search@search"
    labels: int = 10_000
    effort: int = 3000
    imitation_steps: int = 6000
    imitation_batch: int = 128
    imitation_rate: float = 5e-4
    reinforcement_steps: int = 500
    reinforcement_batch: int = 32
    reinforcement_rate: float = 5e-5
    samples: int = 16
    entropy: float = 0.01
    budget: int = 100
    held: int = 64
    pause: int = 200


def train(run: Run, settings: Settings) -> dict[str, float]:
    """Train, export the weights, and say for the card what came of it."""
    torch.manual_seed(run.seed_of(DRAW))
    shape = Shape(settings.width, settings.heads, settings.layers, settings.hidden, settings.intensity)
    network = LMaskNetwork(shape).to(run.device)
    if settings.start:
        tensors, _ = load_weights(Path(settings.start), KIND)
        put_weights(network, tensors, Path(settings.start))
    optimiser = torch.optim.AdamW(network.parameters(), lr=settings.imitation_rate)
    kinds = dict.fromkeys(settings.hardness)
    held = [_Labelled(run, settings, hardness, settings.held, HELD_SEED) for hardness in kinds]
    shown: dict[str, _Labelled] = {}
    if settings.imitation_steps > 0:
        shown = {hardness: _Labelled(run, settings, hardness, settings.labels, TRAIN_SEED) for hardness in kinds}
    model = run.begin(network, optimiser)
    for step in run.steps(settings.imitation_steps + settings.reinforcement_steps):
        late = step - settings.imitation_steps
        hardness = settings.hardness[step % len(settings.hardness)]
        if late < 0:
            set_rate(optimiser, cosine(step, settings.imitation_steps, settings.imitation_rate))
            loss = _imitation(run, settings, model, shown[hardness], step)
        else:
            set_rate(optimiser, cosine(late, settings.reinforcement_steps, settings.reinforcement_rate))
            loss = _reinforcement(run, settings, model, network, hardness, step)
        run.descend(loss)
        if (step + 1) % settings.pause == 0:
            gaps = _validate(run, settings, network, held)
            run.judge(mean(list(gaps.values())))
            run.note(**gaps)
    gaps = _validate(run, settings, network, held)
    run.judge(mean(list(gaps.values())))
    header = {"kind": KIND, "problem": settings.problem, "shape": vars(shape), "budget": settings.budget}
    run.finish(header)
    return {f"gap, {hardness}": gap for hardness, gap in _validate(run, settings, network, held).items()}


class _Labelled:
    """Instances of one hardness, as many as have an answer, with it."""

    def __init__(self, run: Run, settings: Settings, hardness: str, count: int, seed: int) -> None:
        self.hardness = hardness
        generate = {"problem": settings.problem, "n": settings.n, "hardness": hardness, "seed": seed}
        answers = run.labels(f"{settings.problem}-{hardness}", count, generate, settings.solver, settings.effort)
        make = tsptw.generate if settings.problem == "tsptw" else tspdl.generate
        able = [k for k, answer in enumerate(answers) if answer is not None]
        if not able:
            raise EngineError(f"{settings.solver} solved none of {count} {hardness} instances")
        self.instances = [make(settings.n, seed=seed + k, hardness=hardness) for k in able]
        self.answers = np.array([answers[k] for k in able], np.int64)

    def some(self, chosen: Sequence[int]) -> tuple[Tours, Tensor]:
        """Some of them as tensors, with the tours."""
        tours = tours_of([self.instances[k] for k in chosen])
        return tours, reversed_answers(tours, self.answers[list(chosen)])


def _imitation(run: Run, settings: Settings, model: Any, shown: _Labelled, step: int) -> Tensor:
    """How unlikely the network finds the decisions of tours that it should make, each instance turned at random."""
    batch = settings.imitation_batch
    part = run.group.part(batch)
    draw = np.random.default_rng(run.seed_of(TURN, step))
    chosen, turn = draw.integers(0, len(shown.instances), batch)[part], draw.integers(0, 8, batch)[part]
    tours, answer = shown.some(chosen.tolist())
    tours, answer = tours.to(run.device), answer.to(run.device)
    at = torch.arange(len(turn), device=run.device)
    turned = images(tours.features)[8 * at + torch.from_numpy(turn).to(run.device)]
    path = replay(tours, answer)
    with _autocast(run):
        likelihood, _ = model(tours._replace(features=turned), path)
    usable = path.found  # a label may be late by a rounding error
    return -torch.where(usable, likelihood, 0.0).sum() / (usable.sum().clamp_min(1) * (settings.n - 1))


def _reinforcement(run: Run, settings: Settings, model: Any, network: LMaskNetwork, hardness: str, step: int) -> Tensor:
    """REINFORCE with the mean of an instance's samples as baseline; lateness costs its amount, and 1 a late node."""
    batch, samples = settings.reinforcement_batch, settings.samples
    part = run.group.part(batch)
    drawn = generated(settings.problem, batch, settings.n, hardness, run.seed_of(DRAW, step))
    tours = drawn.some(part).to(run.device)
    noise = run.generator(SAMPLE, step, run.group.rank)
    budget = 15 if settings.intensity else 0
    with torch.no_grad(), _autocast(run):
        each = torch.arange(len(tours.due), device=run.device).repeat_interleave(samples)
        policy = Pointer(network, network.encode(tours.features), tours.horizon).take(each)
        path = decode(tours, policy, budget, copies=samples, noise=noise, relax=True)
    late = _lateness(tours, path, samples) / (tours.horizon.repeat_interleave(samples)[:, None] if tours.drafts else 1)
    value = path.cost + late.sum(dim=1) + (late > 0.0).sum(dim=1)
    advantage = (value - value.reshape(-1, samples).mean(dim=1).repeat_interleave(samples)).float()
    with _autocast(run):
        likelihood, entropy = model(tours, path)
    return (likelihood * advantage).mean() - settings.entropy * entropy.mean()


def _lateness(tours: Tours, path: Decoded, copies: int) -> Tensor:
    instance = torch.arange(len(path.tour), device=path.tour.device) // copies
    return (path.clock - tours.due[instance].gather(1, path.tour)).clamp_min(0.0)[:, 1:]


def _validate(run: Run, settings: Settings, network: LMaskNetwork, held: Sequence[_Labelled]) -> dict[str, float]:
    """By hardness, how far the best of eight images is above the labels, in the mean; 1 for an instance not solved."""
    network.eval()
    gaps = {}
    for labelled in held:
        tours, answer = labelled.some(range(len(labelled.instances)))
        tours, answer = tours.to(run.device), answer.to(run.device)
        with torch.no_grad(), _autocast(run):
            best = best_of_images(network, tours, settings.budget)
        gap = torch.where(best.isfinite(), best / replay(tours, answer).cost - 1.0, 1.0)
        gaps[labelled.hardness] = float(gap.mean())
    network.train()
    return gaps


def best_of_images(network: LMaskNetwork, tours: Tours, budget: int) -> Tensor:
    """The cost of the best greedy tour over eight images, shape (B,); infinite where none is found."""
    found = decode(tours, eight_images(network, tours), budget, copies=8)
    return torch.where(found.found, found.cost, torch.inf).reshape(-1, 8).amin(dim=1)


def _autocast(run: Run) -> torch.autocast:
    return torch.autocast(run.device, torch.bfloat16, enabled=run.device == "cuda")
