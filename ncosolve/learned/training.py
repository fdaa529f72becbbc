"""A training run that can be killed at any time: steps, checkpoints, metrics, validation, several processes.

A recipe is a function ``train(run)`` that reads like a script. It makes a network and an optimiser, hands them to
`Run.begin`, and goes through `Run.steps`. All that is random in a step must come from `Run.seed_of`, so that a resumed
run draws what the one that was killed would have drawn.
"""

import io
import json
import logging
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, distributed, nn

from ncosolve.errors import EngineError, InputError
from ncosolve.formats.text import save as write
from ncosolve.learned.weights import save_weights

log = logging.getLogger("ncosolve")

CHECKPOINT, METRICS, WEIGHTS = "checkpoint.pt", "metrics.jsonl", "weights.safetensors"
PAUSE = 60.0
"""Seconds between two checkpoints."""
CLIP = 1.0
"""The largest norm of a gradient."""


class Labels(Protocol):
    """Who makes labels: answers of a solver to generated instances, kept on disk."""

    def __call__(self, name: str, count: int, generate: Mapping[str, Any], solver: str, iterations: int) -> list[Any]:
        """Answers to ``count`` instances of ``ncosolve.generate(**generate)``, with rising seeds; None where none."""


@dataclass(frozen=True)
class Group:
    """The processes that train together; one alone by default. `joined_group` reads what torchrun says."""

    rank: int = 0
    size: int = 1

    def part(self, batch: int) -> slice:
        """The rows of a global batch that belong to this process; InputError where they cannot be shared evenly."""
        if batch % self.size:
            raise InputError(f"is {batch}, expected a multiple of the {self.size} processes", where="batch")
        share = batch // self.size
        return slice(self.rank * share, (self.rank + 1) * share)


def joined_group(device: str) -> Group:
    """Join the processes that torchrun has started, if it has."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return Group()
    patience = timedelta(days=2)  # labels may take long
    distributed.init_process_group("nccl" if device == "cuda" else "gloo", timeout=patience)
    return Group(distributed.get_rank(), size)


class Run:
    """One training.

    Parameters
    ----------
    out : Path
        The folder of checkpoint, metrics and weights.
    seed : int
        Of everything that is drawn.
    device : str
        ``cpu`` or ``cuda``.
    seconds : float
        When to stop, training before an interruption counted; infinite without a limit.
    resume : bool
        Whether to go on from the checkpoint in ``out``, if there is one.
    labels : Labels
        Makes labels.
    report : callable
        Called with a mapping of what there is to say, now and then.
    group : Group
        Of processes.

    Attributes
    ----------
    step : int
        The next one.
    stopped : bool
        Whether someone has asked for an end.
    """

    def __init__(
        self,
        out: Path,
        seed: int,
        device: str,
        seconds: float,
        resume: bool,
        labels: Labels,
        report: Callable[[Mapping[str, Any]], None],
        group: Group,
    ) -> None:
        self.out, self.seed, self.device, self.group = out, seed, device, group
        self._labels = labels
        self.step = 0
        self._seconds, self._resume, self._report = seconds, resume, report
        self._best = math.inf
        self._best_state: dict[str, Tensor] = {}
        self._losses: list[float] = []
        self._before, self._began, self._saved = 0.0, time.perf_counter(), time.perf_counter()
        self._steps, self.stopped = 0, False

    def begin(self, network: nn.Module, optimiser: torch.optim.Optimizer) -> nn.Module:
        """Take what is trained, restore it where the run goes on, and return what a step is to call."""
        self._network, self._optimiser = network, optimiser
        if self._resume and (self.out / CHECKPOINT).exists():
            self._restore()
        elif self.group.rank == 0:
            (self.out / METRICS).unlink(missing_ok=True)
        if self.group.size == 1:
            return network
        return nn.parallel.DistributedDataParallel(network)

    def labels(self, name: str, count: int, generate: Mapping[str, Any], solver: str, iterations: int) -> list[Any]:
        """See `Labels`; one process of a group makes them, the others read them."""
        if self.group.rank > 0:
            distributed.barrier()
        labels = self._labels(name, count, generate, solver, iterations)
        if self.group.rank == 0 and self.group.size > 1:
            distributed.barrier()
        return labels

    def seed_of(self, *numbers: int) -> int:
        """A seed that the run's own and these numbers make, from 0 to 2**32 - 1."""
        import numpy as np

        return int(np.random.SeedSequence((self.seed, *numbers)).generate_state(1)[0])

    def generator(self, *numbers: int) -> torch.Generator:
        """A random generator on the device, with the seed that `seed_of` makes."""
        return torch.Generator(self.device).manual_seed(self.seed_of(*numbers))

    def steps(self, count: int) -> Iterator[int]:
        """The steps to do, from the restored one on, until ``count`` or until time is up; saves at the end."""
        self._steps = count
        while self.step < count and not self._over():
            yield self.step
            self.step += 1
            if time.perf_counter() - self._saved > PAUSE:
                self.save()
        self.save()

    def stop(self) -> None:
        """End after the step at hand, with a checkpoint."""
        self.stopped = True

    def descend(self, loss: Tensor) -> None:
        """One step of the optimiser.

        Raises
        ------
        EngineError
            When the loss or its gradient is not finite; the last checkpoint stays as it is.
        """
        self._optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        norm = float(nn.utils.clip_grad_norm_(self._network.parameters(), CLIP))
        value = self._mean(loss.detach())
        if not (math.isfinite(value) and math.isfinite(norm)):
            raise EngineError(
                f"the loss is {value} and its gradient {norm} at step {self.step}; the checkpoint is kept"
            )
        self._optimiser.step()
        self._losses.append(value)

    def note(self, **numbers: float) -> None:
        """Write one line of metrics, with the mean loss since the last one, and show it."""
        loss, self._losses = mean(self._losses), []
        if self.group.rank > 0:
            return
        line = {"step": self.step, "seconds": round(self.elapsed(), 2), "loss": loss, **numbers}
        with (self.out / METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        share = max(self.step / max(1, self._steps), self.elapsed() / self._seconds)
        self._report({**line, "left": self.elapsed() * (1.0 / share - 1.0) if share > 0.0 else math.inf})

    def judge(self, score: float) -> None:
        """Keep the weights as they are now if their validation score is the lowest so far."""
        if score < self._best:
            self._best = score
            self._best_state = {name: value.detach().clone() for name, value in self._network.state_dict().items()}

    def elapsed(self) -> float:
        """Seconds of training, those before an interruption included."""
        return self._before + time.perf_counter() - self._began

    def finish(self, header: Mapping[str, Any]) -> None:
        """Export the best weights with a header of what they are; the first process does."""
        if self._best_state:
            self._network.load_state_dict(self._best_state)
        if self.group.rank > 0:
            return
        said = {"steps": self.step, "seconds": round(self.elapsed(), 1), "seed": self.seed, "score": self._best}
        save_weights(self.out / WEIGHTS, self._network, {**header, **said, "torch": torch.__version__})

    def save(self) -> None:
        """Write a checkpoint, whole or not at all."""
        self._saved = time.perf_counter()
        if self.group.rank > 0:
            return
        content = {
            "step": self.step,
            "seconds": self.elapsed(),
            "network": self._network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "best": self._best,
            "best_state": self._best_state,
            "losses": self._losses,
        }
        buffer = io.BytesIO()
        torch.save(content, buffer)
        write(self.out / CHECKPOINT, buffer.getvalue())

    def _restore(self) -> None:
        file = self.out / CHECKPOINT
        try:
            content = torch.load(file, map_location=self.device, weights_only=True)
            self._network.load_state_dict(content["network"])
            self._optimiser.load_state_dict(content["optimiser"])
            self.step, self._before = int(content["step"]), float(content["seconds"])
            self._best, self._best_state = float(content["best"]), content["best_state"]
            self._losses = content["losses"]
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"cannot be resumed from: {reason}; expected a checkpoint of this recipe", str(file)
            ) from None
        if self.group.rank == 0 and (self.out / METRICS).exists():
            kept = [line for line in (self.out / METRICS).read_text("utf-8").splitlines() if _before(line, self.step)]
            write(self.out / METRICS, "".join(f"{line}\n" for line in kept))

    def _over(self) -> bool:
        over = self.stopped or self.elapsed() >= self._seconds
        if self.group.size == 1:
            return over
        return self._mean(torch.tensor(float(over), device=self.device)) > 0.0  # all stop at the same step

    def _mean(self, value: Tensor) -> float:
        """Of the processes of the group."""
        if self.group.size > 1:
            distributed.all_reduce(value)
        return float(value) / self.group.size


def _before(line: str, step: int) -> bool:
    """Whether a line of metrics is whole and of a step before this one."""
    try:
        return int(json.loads(line)["step"]) < step
    except (ValueError, KeyError, TypeError):
        return False


def cosine(step: int, steps: int, first: float, last: float = 0.0) -> float:
    """A learning rate that falls along half a cosine."""
    return last + 0.5 * (first - last) * (1.0 + math.cos(math.pi * min(1.0, step / max(1, steps))))


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of all parameters."""
    for group in optimiser.param_groups:
        group["lr"] = rate


def mean(values: Sequence[float]) -> float:
    """The mean of numbers; NaN of none."""
    return sum(values) / len(values) if values else math.nan
