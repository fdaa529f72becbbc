"""LMask joined with the window search: tours that a network proposes in one batch, the best of them made shorter."""

import functools
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ncosolve.engines import window_search
from ncosolve.engines.base import Batch, Outcome, Task
from ncosolve.errors import InputError
from ncosolve.learned.devices import device_of, threads_of
from ncosolve.learned.lmask.data import answers, tours_of
from ncosolve.learned.lmask.decoding import Ordered, decode
from ncosolve.learned.lmask.network import LMaskNetwork, eight_images, load_network
from ncosolve.learned.lmask.tours import Tours
from ncosolve.problems.base import IntArray

log = logging.getLogger("ncosolve")

PROBLEMS = window_search.PROBLEMS
MAKESPAN = True
PARAMETERS = {"weights": "", "budget": 200, "rounds": 2, **window_search.PARAMETERS}
"""The file of the weights in the solver's folder, none for nearest-first; backtracks a tour may take; how often eight
tours an instance are proposed, likeliest first, then sampled; and those of the search."""
COPIES = 8
"""Tours proposed at a time: one an image of the instance."""
SHARE = 0.15
"""Of the time limit that proposals may take."""
LARGEST = 500
"""Up to this many nodes they are made; their masks are quadratic in it."""
CELLS = 20_000_000
"""Of masks at a time: copies times nodes squared."""
SPREAD = 0.3
"""How far sampling strays from nearest-first, in mean distances to the nearest node."""


def run(task: Task) -> Outcome:
    """Propose tours, then search from the best; see `ncosolve.engines.base.Engine`."""
    proposed = task.proposals.answers if task.proposals is not None else _propose_alone(task)
    for tour in proposed:  # all of them: the cheapest is not the one that is back first
        task.incumbent.offer(tour)
    return window_search.run(task)


def propose(batch: Batch) -> list[list[IntArray]]:
    """Tours for each instance, the cheapest first; none where the backtracks or the time did not suffice.

    Raises
    ------
    InputError
        When the device is not here.
    """
    device, proposed = device_of(batch.device), list[list[IntArray]]()
    count, n = len(batch.instances), batch.instances[0].n
    if not 3 <= n <= LARGEST:
        return [[] for _ in batch.instances]
    generator = torch.Generator(device).manual_seed(batch.seed)
    together = max(1, CELLS // (COPIES * n * n))
    began, share = time.perf_counter(), SHARE * batch.seconds
    with threads_of(batch.threads), torch.inference_mode(), torch.autocast(device, torch.bfloat16, device == "cuda"):
        network = _network(batch, device)
        for first in range(0, count, together):
            some = batch.instances[first : first + together]
            until = began + share * (first + len(some))
            proposed += _decoded(tours_of(some).to(device), network, batch.parameters, generator, until)
    return proposed


def _decoded(
    tours: Tours, network: LMaskNetwork | None, parameters: Mapping[str, Any], generator: torch.Generator, until: float
) -> list[list[IntArray]]:
    images = None if network is None else eight_images(network, tours)
    costs, nodes = [], []
    for again in range(int(parameters["rounds"])):
        copies = 1 if images is None and again == 0 else COPIES
        made = decode(
            tours,
            images or _nearest_first(tours, copies),
            int(parameters["budget"]),
            copies=copies,
            noise=None if again == 0 else generator,
            over=lambda: time.perf_counter() >= until,
        )
        costs.append(torch.where(made.found, made.cost, torch.inf).reshape(-1, copies).cpu().numpy())
        nodes.append(answers(tours, made.tour).reshape(-1, copies, made.tour.shape[1]))
    cost, tour = np.concatenate(costs, axis=1), np.concatenate(nodes, axis=1)
    best = np.argsort(cost, axis=1, kind="stable")
    return [[tour[k, j] for j in best[k] if cost[k, j] < np.inf] for k in range(len(cost))]


def _propose_alone(task: Task) -> list[IntArray]:
    if task.over():
        return []
    limit = task.deadline.limit
    return propose(Batch([task.instance], limit, task.seed, task.threads, task.device, task.parameters, task.folder))[0]


def _nearest_first(tours: Tours, copies: int) -> Ordered:
    """Distances in units in which sampling strays a little from the order that they give."""
    apart = tours.cost + torch.diag_embed(torch.full_like(tours.due, torch.inf))
    unit = SPREAD * apart.amin(dim=2).mean(dim=1).clamp_min(1e-9)
    return Ordered((tours.cost / unit[:, None, None]).repeat_interleave(copies, dim=0))


def _network(batch: Batch, device: str) -> LMaskNetwork | None:
    """The network of the solver's weights; None without weights, or where they are of no use."""
    name = str(batch.parameters["weights"])
    if not name:
        return None
    try:
        network, problem = _loaded(batch.folder / name, device)
        if problem != batch.instances[0].problem:
            raise InputError(f"was trained on {problem}", str(batch.folder / name))
    except (InputError, RuntimeError) as error:
        log.warning("goes on without a network: %s", error)
        return None
    return network


@functools.cache
def _loaded(file: Path, device: str) -> tuple[LMaskNetwork, Any]:
    network, header = load_network(file)
    return network.to(device), header.get("problem")
