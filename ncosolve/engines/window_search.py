"""Our own engine for one tour within windows or draft limits: ruin and recreate, and a proof where they are tight."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.debug import DEBUG
from ncosolve.engines.exact import TourForm, prove_tour, sooner, tour_form
from ncosolve.engines.search_loop import run_searches
from ncosolve.engines.window_start import FirstTours
from ncosolve.errors import EngineError
from ncosolve.problems.base import IntArray, minimises_makespan
from ncosolve.search.label_setting import Limits
from ncosolve.search.time_warp import (
    BEST_COST,
    BEST_LATE,
    MOST,
    UNIT,
    WEIGHT,
    Windows,
    cost_scale,
    make_state,
    make_windows,
    take_current,
)
from ncosolve.search.windowed_tour import improve

PROBLEMS = ("tsptw", "tspdl")
MAKESPAN = True

LEEWAY = 0.1
"""The share of the check's tolerance that the search uses."""
TEMPERATURES = 4.0, 0.02
"""The first and the last, in units of `ncosolve.search.time_warp.cost_scale`."""
ANNEALING = 1000
"""Iterations of one annealing, times n; where more fit into the budget, the next one starts hot again."""
PROBE = 0.03
"""Share of the time limit, or of the iterations, for a first short search that gives the proof its upper bound."""
PROBE_SECONDS = 0.3
"""The same in seconds, at most."""
PROOF = 0.2
"""Share of the time limit for the attempt to prove the optimum."""
PARAMETERS = {"labels": 6_000_000}
"""Labels of that attempt; 0 leaves it out."""
LARGEST_PROOF = 300
"""Up to this many nodes it is made."""
START = 0.2
"""Share of the time limit for depth-first searches, where neither their first orders nor a short search have a tour."""
LARGEST_START = 500
"""Up to this many nodes starts are looked for so."""
CHUNK = 100
PRICE, HEAT = 50.0, 100.0
"""Of a search for the makespan: what lateness costs once some tour was on time, in units as in `time_warp.WEIGHTS`, and
by how much the temperature is higher."""
LATE_COST = 1e100
"""Above the cost of any tour."""


def run(task: Task) -> Outcome:
    """Search until the task is over or the optimum is proved; see `ncosolve.engines.base.Engine`."""
    if task.instance.n < 3:
        task.incumbent.offer(np.arange(task.instance.n))
        return Outcome()
    form = tour_form(task.instance, LEEWAY)
    make = _maker(task.instance, form)
    order, starts = _first_order(task, form), _starts(task, form)
    if starts is not None and task.start is None:
        for first in starts.firsts():
            task.incumbent.offer(first)
        order = _first_order(task, form)
    done, labels = 0, int(task.parameters.get("labels", PARAMETERS["labels"]))
    if task.instance.problem in PROBLEMS and task.instance.n <= LARGEST_PROOF and labels > 0:
        probe = make(order, task.seed)
        probe.advance(0, 0.0)  # compiles
        done = _probe(task, probe)
        order = form.turn(probe.best())
        outcome = _proof(task, labels)
        if outcome is not None:
            return replace(outcome, iterations=done)
        if task.incumbent.answer is None and starts is not None:
            until = task.deadline.elapsed() + START * task.deadline.limit
            tour = starts.until(lambda: task.over() or task.deadline.elapsed() > until)
            order = order if tour is None else tour
    rest = task
    if task.max_iterations is not None:
        rest = replace(task, max_iterations=task.max_iterations - done)
    return Outcome(done + run_searches(rest, lambda seed: make(order, seed), CHUNK))


def run_without_windows(task: Task) -> Outcome:
    """Search for a shortest tour where no windows are given; costs may be asymmetric."""
    return run(task)


def _maker(instance: Any, form: TourForm) -> "Callable[[IntArray, int], WindowSearch]":
    """What makes a search from a tour and a seed, by the instance's objective."""
    arcs = form.arcs
    if minimises_makespan(instance):
        return lambda order, seed: MakespanSearch(instance, form, order, seed)
    windows = make_windows(arcs.cost, arcs.time, arcs.ready, arcs.due)
    return lambda order, seed: WindowSearch(windows, form, order, seed)


def _first_order(task: Task, form: TourForm) -> IntArray:
    """The start of the task, or all nodes by due date, which for draft limits is feasible if any order is."""
    start = task.start if task.incumbent.answer is None else task.incumbent.answer
    if start is not None:
        return form.turn(start)
    return np.concatenate([[0], 1 + np.argsort(form.arcs.due[1:], kind="stable")])


def _starts(task: Task, form: TourForm) -> FirstTours | None:
    """What looks for tours on time where that can be hard; for draft limits the order by due date is one."""
    wanted = task.instance.problem == "tsptw" and task.instance.n <= LARGEST_START
    return FirstTours(form.arcs, task.seed) if wanted and task.incumbent.answer is None else None


def _probe(task: Task, search: "WindowSearch") -> int:
    """Run a short search with an annealing of its own, offer its best and return its iterations."""
    began, limit = task.deadline.elapsed(), min(PROBE_SECONDS, PROBE * task.deadline.limit)
    most = None if task.max_iterations is None else int(PROBE * task.max_iterations)
    done, share = 0, 1.0 if most == 0 else 0.0
    while share < 1.0 and not task.over(done):
        if task.incumbent.answer is None:
            task.incumbent.offer(search.best(), done)
        count = CHUNK if most is None else min(CHUNK, most - done)
        search.advance(count, share)
        done += count
        share = done / most if most else (task.deadline.elapsed() - began) / limit
    task.incumbent.offer(search.best(), done)
    return done


def _proof(task: Task, labels: int) -> Outcome | None:
    """Try to prove that nothing is better than the incumbent, or that nothing is feasible."""
    until = task.deadline.elapsed() + PROOF * task.deadline.limit
    limits = Limits(labels, over=lambda: task.deadline.over() or task.deadline.elapsed() > until)
    return None if task.over() else prove_tour(task, tour_form(task.instance), limits)


class WindowSearch:
    """Annealed ruin and recreate on one tour; see `ncosolve.engines.search_loop.Search`.

    Parameters
    ----------
    windows : Windows
        The instance in the kernel's form.
    form : TourForm
        How its tours are read.
    order : ndarray of int64, shape (n,)
        The tour to start from, along the form's arcs.
    seed : int
        Of this search.
    """

    def __init__(self, windows: Windows, form: TourForm, order: IntArray, seed: int) -> None:
        self._windows, self._form = windows, form
        self._state = make_state(windows, order, seed)
        self._scale = cost_scale(windows)
        self._began, self._done = 0.0, 0
        self.cost = self._key()

    def _key(self) -> float:
        """The cost of the best tour; above any cost while that is late."""
        late = float(self._state.numbers[BEST_LATE])
        return float(self._state.numbers[BEST_COST]) if late == 0.0 else LATE_COST * (1.0 + late)

    def advance(self, iterations: int, progress: float) -> int:
        """Run that many iterations at the temperature that the annealing has come to."""
        length = ANNEALING * len(self._windows.ready)
        if self._done >= length:
            self._began, self._done = progress, 0
        left = max(1e-9, 1.0 - self._began)
        cooled = min(1.0, max(self._done / length, (progress - self._began) / left))
        self._done += iterations
        first, last = TEMPERATURES
        temperature = self._scale * first * (last / first) ** cooled
        if not improve(self._windows, self._state, iterations, temperature, DEBUG):
            raise EngineError("a change is not what cost and lateness of the tour say")
        self.cost = self._key()
        return iterations

    def best(self) -> IntArray:
        """The least late, then cheapest tour so far."""
        return self._form.turn(self._state.best[:-1])

    def adopt(self, answer: Any) -> None:
        """Go on from a feasible tour of another search if it is better."""
        if self.cost >= LATE_COST or self._cost_of(answer) < self.cost:
            self._state.current[:-1] = self._form.turn(answer)
            take_current(self._windows, self._state)
            self.cost = self._key()

    def _cost_of(self, answer: Any) -> float:
        nodes = self._form.turn(answer)
        return float(self._windows.cost[nodes, np.roll(nodes, -1)].sum())


class MakespanSearch(WindowSearch):
    """A window search for the tour that is back first: the depot closes a little earlier after each success.

    Parameters
    ----------
    instance : TSPTW
        What is solved.
    form, order, seed
        As in `WindowSearch`.
    """

    def __init__(self, instance: Any, form: TourForm, order: IntArray, seed: int) -> None:
        arcs = form.arcs
        self._instance, self._soonest, self._makespan = instance, order, np.inf
        super().__init__(make_windows(arcs.time, arcs.time, arcs.ready, arcs.due), form, order, seed)
        self._scale *= HEAT

    def _key(self) -> float:
        """When the soonest tour is back; above any such time while none is on time."""
        numbers = self._state.numbers
        if numbers[BEST_LATE] == 0.0 and numbers[BEST_COST] < LATE_COST:
            self._soonest = super().best()
            self._makespan = self._cost_of(self._soonest)
            self._windows.due[0] = sooner(self._instance, self._makespan)
            self._state.current[:] = self._state.best
            numbers[BEST_COST] = LATE_COST  # whatever is on time now is better, however long it is
            numbers[MOST] = numbers[WEIGHT] = PRICE * numbers[UNIT]
            take_current(self._windows, self._state)
        return self._makespan if self._makespan < np.inf else super()._key()

    def best(self) -> IntArray:
        """The tour that is back first; while none is on time, the least late."""
        return self._soonest if self._makespan < np.inf else super().best()

    def _cost_of(self, answer: Any) -> float:
        return float(self._instance.check(answer).cost)
