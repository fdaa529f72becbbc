"""TSPTW and TSPDL instances as batches of tensors, drawn at random or given."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ncosolve.learned.lmask.tours import Tours, make_tours
from ncosolve.problems import tspdl, tsptw
from ncosolve.problems.base import FloatArray, load_slack
from ncosolve.problems.windows import time_tolerance

LEEWAY = 0.1
"""The share of the check's tolerance by which tours may be late, for sums in another order round otherwise."""
PROBLEMS = ("tsptw", "tspdl")


def generated(problem: str, count: int, n: int, hardness: str, seed: int) -> Tours:
    """Random problems, as ``generate_batch`` of `ncosolve.problems.tsptw` or `tspdl` draws them."""
    if problem == "tsptw":
        batch = tsptw.generate_batch(count, n, seed, hardness)
        return _windows(batch.coords, _lengths(batch.coords), batch.ready_time, batch.due_date, direct=True)
    drafts = tspdl.generate_batch(count, n, seed, hardness)
    demand, limit = drafts.demand.astype(np.float64), drafts.draft_limit.astype(np.float64)
    return _drafts(drafts.coords, _lengths(drafts.coords), demand, limit)


def tours_of(instances: Sequence[Any]) -> Tours:
    """TSPTW or TSPDL instances of one problem and one size."""
    cost = np.stack([instance.distance.matrix() for instance in instances])
    coords = np.stack([_coords(instance) for instance in instances])
    if instances[0].problem == "tspdl":
        demand, limit = (np.stack([getattr(i, name) for i in instances]) for name in ("demand", "draft_limit"))
        return _drafts(coords, cost.transpose(0, 2, 1), demand, limit)
    ready, due, service = (
        np.stack([getattr(i, name) for i in instances]) for name in ("ready_time", "due_date", "service_time")
    )
    return _windows(coords, cost, ready, due, service)


def answers(tours: Tours, tour: Tensor) -> NDArray[np.int64]:
    """Tours (R, N) as those of the instances, which for draft limits go the other way round."""
    nodes = tour.cpu().numpy()
    return np.concatenate([nodes[:, :1], nodes[:, :0:-1]], axis=1) if tours.drafts else nodes


def reversed_answers(tours: Tours, answer: NDArray[np.int64]) -> Tensor:
    """The inverse of `answers`."""
    return torch.from_numpy(np.ascontiguousarray(answers(tours, torch.from_numpy(answer))))


def _windows(
    coords: FloatArray,
    cost: FloatArray,
    ready: FloatArray,
    due: FloatArray,
    service: FloatArray | None = None,
    direct: bool = False,
) -> Tours:
    time = cost.copy()
    if service is not None:
        time[:, 1:] += service[:, 1:, None]
    home = np.where(np.isfinite(due), due, 0.0) + time[:, :, 0]
    horizon = np.maximum(1e-9, np.minimum(due[:, 0], home[:, 1:].max(axis=1, initial=0.0)))
    shares = np.stack([ready, np.minimum(due, 2.0 * horizon[:, None])], axis=2) / horizon[:, None, None]
    late = due + LEEWAY * time_tolerance(due)
    return _tours(coords, cost, time, ready, late, shares, horizon, drafts=False, direct=direct)


def _drafts(coords: FloatArray, cost: FloatArray, demand: FloatArray, limit: FloatArray) -> Tours:
    total = demand.sum(axis=1)
    slack = np.array([load_slack(float(load)) for load in total])
    due = limit - demand + LEEWAY * slack[:, None]
    due[:, 0] = np.inf
    horizon = np.maximum(1e-9, total)
    shares = np.stack([demand, limit], axis=2) / horizon[:, None, None]
    time = np.repeat(demand[:, :, None], demand.shape[1], axis=2)
    return _tours(coords, cost, time, np.zeros_like(due), due, shares, horizon, drafts=True)


def _tours(
    coords: FloatArray,
    cost: FloatArray,
    time: FloatArray,
    ready: FloatArray,
    due: FloatArray,
    shares: FloatArray,
    horizon: FloatArray,
    drafts: bool,
    direct: bool = False,
) -> Tours:
    low = coords.min(axis=1, keepdims=True)
    side = np.maximum(1e-9, (coords - low).max(axis=(1, 2), keepdims=True))
    features = np.concatenate([(coords - low) / side, shares.clip(0.0, 1.0)], axis=2)
    a, b, c, d = (torch.from_numpy(np.ascontiguousarray(part)) for part in (cost, time, ready, due))
    return make_tours(a, b, c, d, torch.from_numpy(features).float(), torch.from_numpy(horizon), drafts, direct)


def _lengths(coords: FloatArray) -> FloatArray:
    apart = coords[:, :, None] - coords[:, None]
    return np.sqrt(apart[..., 0] ** 2 + apart[..., 1] ** 2)


def _coords(instance: Any) -> FloatArray:
    """The plane coordinates of an instance; where it is a matrix, those that come nearest (classical scaling)."""
    given = instance.distance.coords
    if given is not None:
        return np.asarray(given[:, :2], np.float64)
    matrix = instance.distance.matrix()
    squares = ((matrix + matrix.T) / 2.0) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    return vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0)) if len(matrix) > 1 else np.zeros((1, 2))
