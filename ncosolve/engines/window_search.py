"""Our own engine for one tour within windows or draft limits: ruin and recreate, with a proof where windows are tight."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ncosolve.compilation import left_out
from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.debug import DEBUG
from ncosolve.engines.exact import TourForm, prove_tour, tour_form
from ncosolve.engines.search_loop import run_searches
from ncosolve.errors import EngineError
from ncosolve.problems.base import IntArray
from ncosolve.search.label_setting import Limits
from ncosolve.search.windowed_tour import (
    BEST_COST,
    BEST_LATE,
    Windows,
    cost_scale,
    improve,
    make_state,
    make_windows,
    take_current,
)

PROBLEMS = ("tsptw", "tspdl")

LEEWAY = 0.1
"""The share of the check's tolerance that the search uses."""
TEMPERATURES = 4.0, 0.02
"""The first and the last, in units of `ncosolve.search.windowed_tour.cost_scale`."""
PROBE = 0.03
"""Share of the time limit, or of the iterations, for a first short search that gives the proof its upper bound."""
PROBE_SECONDS = 0.3
"""The same in seconds, at most."""
PROOF = 0.2
"""Share of the time limit for the attempt to prove the optimum."""
LABELS = 3_000_000
"""Labels of that attempt; the parameter ``labels`` changes it."""
LARGEST_PROOF = 300
"""Up to this many nodes it is made."""
CHUNK = 100


def run(task: Task) -> Outcome:
    """Search until the task is over or the optimum is proved; see `ncosolve.engines.base.Engine`."""
    if task.instance.n < 3:
        task.incumbent.offer(np.arange(task.instance.n))
        return Outcome()
    form = tour_form(task.instance, LEEWAY)
    arcs = form.arcs
    windows = make_windows(arcs.cost, arcs.time, arcs.ready, arcs.due)
    order = _first_order(task, form)
    done = 0
    if task.instance.n <= LARGEST_PROOF and not task.over():
        probe = WindowSearch(windows, form, order, task.seed)
        done = _probe(task, probe)
        order = form.turn(probe.best())
        outcome = _proof(task)
        if outcome is not None:
            return replace(outcome, iterations=done)
    rest = task
    if task.max_iterations is not None:
        rest = replace(task, max_iterations=task.max_iterations - done)
    return Outcome(done + run_searches(rest, lambda seed: WindowSearch(windows, form, order, seed), CHUNK))


def run_without_windows(task: Task) -> Outcome:
    """Search for a shortest tour, where costs may be asymmetric; for n >= 3."""
    return run(task)


def _first_order(task: Task, form: TourForm) -> IntArray:
    """The start of the task, or all nodes by due date, which for draft limits is feasible if any order is."""
    start = task.start if task.incumbent.answer is None else task.incumbent.answer
    if start is not None:
        return form.turn(start)
    return np.concatenate([[0], 1 + np.argsort(form.arcs.due[1:], kind="stable")])
