"""LMask's decoder alone, and polished, on the published test sets; and how many instances it decodes a second.

    python benchmarks/decoders/lmask.py [--count 200] [--polish 0.5] [--cache DIR]

The sets are those of Li et al. 2026 (seed 2025; the first --count instances of each). Gaps are to the best of all
that is solved here, the reference included: window-search for --reference iterations, kept in the cache.
"""

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import joblib
import numpy as np
import torch
import typer
from rich.console import Console
from rich.table import Table

from ncosolve import catalog
from ncosolve.engines import lmask
from ncosolve.engines.base import Batch
from ncosolve.problems import tspdl, tsptw
from ncosolve.solving import solve

SETS = (
    ("tsptw", "easy", 100),
    ("tsptw", "medium", 100),
    ("tsptw", "hard", 200),
    ("tspdl", "medium", 150),
    ("tspdl", "hard", 150),
)
"""Problem, hardness, and the paper's budget of steps back."""
SEED, PUBLISHED = 2025, 10_000
"""Of these sets, and the instances that each has: what is drawn depends on how many are."""
BATCHES = 1, 64, 512


def main(
    count: Annotated[int, typer.Option(min=1, max=PUBLISHED, help="Instances of each set.")] = 200,
    n: Annotated[int, typer.Option(min=3, help="Nodes.")] = 50,
    reference: Annotated[int, typer.Option(help="Iterations of the reference.")] = 100_000,
    polish: Annotated[float, typer.Option(help="Seconds an instance for the search that follows; 0: none.")] = 0.5,
    jobs: Annotated[int, typer.Option(min=1, help="References side by side.")] = 1,
    cache: Annotated[Path, typer.Option(help="Where references are kept.")] = Path("decoders"),
) -> None:
    """Measure the decoder with its network and without."""
    torch.set_num_threads(1)
    remembered = joblib.Memory(cache, verbose=0).cache(_references)
    console = Console(width=160)
    table = Table("set", "policy", "tours missed %", "instances missed %", "gap %", "gap polished %", "instances / s")
    for problem, hardness, budget in SETS:
        instances = _instances(problem, hardness, count, n)
        costs = [remembered(problem, hardness, count, n, reference, jobs)]
        rows = []
        for solver in (f"lmask-{problem}50", f"lmask-{problem}50@classical"):
            decoded, missed, rate = _decoded(instances, solver, budget)
            polished = _polished(instances, solver, polish) if polish > 0 else np.full(count, np.nan)
            costs += [decoded, polished]
            rows.append((solver, missed, decoded, polished, rate))
        if polish > 0:
            alone = _polished(instances, "window-search@search", polish)
            costs.append(alone)
            rows.append(("window-search@search", np.nan, np.full(count, np.nan), alone, np.nan))
        best = np.nanmin([np.where(np.isfinite(cost), cost, np.nan) for cost in costs], axis=0)
        for solver, missed, decoded, polished, rate in rows:
            shown = [100 * missed, 100 * np.isinf(decoded).mean(), _gap(decoded, best), _gap(polished, best)]
            table.add_row(f"{problem} {hardness}", solver, *(f"{value:.3f}" for value in shown), f"{rate:.1f}")
    console.print(table)
    for solver, batch in itertools.product(("lmask-tsptw50", "lmask-tspdl50"), BATCHES):
        problem = catalog.named(solver).problems[0]
        _, _, rate = _decoded(_instances(problem, "hard", batch, n), solver, 200)
        console.print(f"{solver}, hard, {batch} at a time: {rate:.1f} instances a second")


def _instances(problem: str, hardness: str, count: int, n: int) -> list[Any]:
    """The first of a published set."""
    if problem == "tsptw":
        windows = tsptw.generate_batch(PUBLISHED, n, SEED, hardness)
        return [
            tsptw.TSPTW(coords=windows.coords[k], ready_time=windows.ready_time[k], due_date=windows.due_date[k])
            for k in range(count)
        ]
    drafts = tspdl.generate_batch(PUBLISHED, n, SEED, hardness)
    return [
        tspdl.TSPDL(coords=drafts.coords[k], demand=drafts.demand[k], draft_limit=drafts.draft_limit[k])
        for k in range(count)
    ]


def _references(problem: str, hardness: str, count: int, n: int, iterations: int, jobs: int) -> np.ndarray:
    instances = _instances(problem, hardness, count, n)
    options = {"solver": "window-search", "max_iterations": iterations}
    return np.array(joblib.Parallel(jobs)(joblib.delayed(_cost)(instance, **options) for instance in instances))


def _cost(instance: Any, **options: Any) -> float:
    return solve(instance, **options).cost


def _decoded(instances: Sequence[Any], solver: str, budget: int) -> tuple[np.ndarray, float, float]:
    """The best cost of eight tours an instance (infinite: none), the share of tours missed, instances a second."""
    named = catalog.named(solver)
    parameters = {**lmask.PARAMETERS, **named.parameters, "budget": budget, "rounds": 1}
    if not parameters["weights"]:
        parameters["rounds"] = 2  # nearest-first has one tour and draws seven more
    batch = Batch(instances, np.inf, 0, 1, "cpu", parameters, named.path)
    lmask.propose(Batch(instances[:1], np.inf, 0, 1, "cpu", parameters, named.path))  # warms up
    began = time.perf_counter()
    proposed = lmask.propose(batch)
    rate = len(instances) / (time.perf_counter() - began)
    tours = lmask.COPIES if parameters["weights"] else lmask.COPIES + 1
    missed = 1.0 - sum(map(len, proposed)) / (tours * len(instances))
    best = [
        instance.check(found[0]).cost if found else np.inf for instance, found in zip(instances, proposed, strict=True)
    ]
    return np.array(best), missed, rate


def _polished(instances: Sequence[Any], solver: str, seconds: float) -> np.ndarray:
    solve(instances[0], solver, time_limit=seconds)  # warms up
    return np.array([solve(instance, solver, time_limit=seconds).cost for instance in instances])


def _gap(cost: np.ndarray, best: np.ndarray) -> float:
    """The mean gap in %, over the instances that were solved."""
    solved = np.isfinite(cost)
    return float(100.0 * (cost[solved] / best[solved] - 1.0).mean()) if solved.any() else np.nan


if __name__ == "__main__":
    typer.run(main)
