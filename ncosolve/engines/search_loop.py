"""The loop around our own searches: slices of kernel time, threads, exchange of incumbents."""

import concurrent.futures
from collections.abc import Callable
from typing import Any, Protocol

from ncosolve.engines.base import Task

SLICE = 0.02
"""Seconds of kernel time between two looks at the clock."""
OFFER_PAUSE = 20.0
"""After an offer a search says nothing for this many times as long as the offer took, so that checks cost 5 % at most;
where iterations are limited it tells all, so that equal seeds give equal histories."""
EXCHANGES = 20
"""How often in a run a thread compares its best with that of the others."""


class Search(Protocol):
    """One search with its state; every call runs a kernel that holds no lock."""

    cost: float
    """The key of the best answer so far, in the search's own measure; only a fall is looked at."""

    def advance(self, iterations: int, progress: float) -> int:
        """Run so many iterations or fewer, at least one; how many. ``progress`` is the share of the budget so far."""

    def best(self) -> Any:
        """The best answer so far, feasible or not."""

    def adopt(self, answer: Any) -> None:
        """Go on from an answer of another thread."""


def run_searches(task: Task, make: Callable[[int], Search], chunk: int, count: int | None = None) -> int:
    """Run searches side by side until the task is over and return the iterations of the longest.

    Parameters
    ----------
    task : Task
        Supplies the limits; answers go to its incumbent.
    make : callable
        Makes a search from a seed; called once a thread, in the calling thread.
    chunk : int
        Iterations a kernel call; adapted to the clock unless iterations are limited, so that equal seeds then give
        equal answers.
    count : int, optional
        How many searches; one a thread by default.
    """
    searches: list[Search] = []
    count = task.threads if count is None else count
    while len(searches) < count and not (searches and task.over()):
        searches.append(make(task.seed * 1_000_003 + len(searches)))
        task.incumbent.offer(searches[-1].best())
    if task.over():
        return 0
    done = _advance(task, searches[0], 0, chunk)  # compiles before there are threads
    if len(searches) == 1:
        return _loop(task, searches[0], done, chunk, alone=True)
    with concurrent.futures.ThreadPoolExecutor(len(searches)) as pool:
        loops = [pool.submit(_loop, task, search, done * (k == 0), chunk) for k, search in enumerate(searches)]
        try:
            while concurrent.futures.wait(loops, timeout=0.1).not_done:  # the main thread stays free for signals
                if any(loop.done() and loop.exception() for loop in loops):
                    task.deadline.cancel()
        except BaseException:
            task.deadline.cancel()
            raise
        return max(loop.result() for loop in loops)


def _loop(task: Task, search: Search, done: int, chunk: int, alone: bool = False) -> int:
    offered, quiet_until = float("inf"), 0.0
    exchanged = 0
    while not task.over(done):
        began = task.deadline.elapsed()
        if search.cost < offered and (began >= quiet_until or task.max_iterations is not None):
            offered = search.cost
            task.incumbent.offer(search.best(), done)
            now = task.deadline.elapsed()
            quiet_until, began = now + OFFER_PAUSE * (now - began), now
        ran = _advance(task, search, done, chunk)
        done += ran
        if task.max_iterations is None:
            seconds = max(1e-5, task.deadline.elapsed() - began)
            chunk = max(1, min(4 * chunk, int(ran * SLICE / seconds)))
        tick = int(EXCHANGES * task.progress(done))
        if not alone and tick != exchanged:
            exchanged = tick
            if task.incumbent.answer is not None:
                search.adopt(task.incumbent.answer)
    task.incumbent.offer(search.best(), done)
    return done


def _advance(task: Task, search: Search, done: int, chunk: int) -> int:
    count = chunk if task.max_iterations is None else min(chunk, task.max_iterations - done)
    return search.advance(count, task.progress(done))
