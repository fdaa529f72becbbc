"""Runs side by side: on this machine, or on a Dask cluster by joblib's own backend."""

import contextlib
import logging
import queue
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import joblib

from ncosolve.bench.machine import cores
from ncosolve.bench.measure import Measured, measured
from ncosolve.bench.runs import Run
from ncosolve.errors import EngineError, InputError, MissingExtra

log = logging.getLogger("ncosolve")

CONNECT = 10.0
"""Seconds to wait for a cluster."""
TRIES = 3
"""A cluster that fails so often without having done a run in between is given up."""


def execute(runs: Sequence[Run], jobs: int, dask: str | None = None) -> Iterator[tuple[Run, Measured]]:
    """Each run with how it went, as they finish; every one in a process of its own.

    Where this generator is closed early, the processes at work are killed.

    Parameters
    ----------
    runs : sequence of Run
        What to do, in this order.
    jobs : int
        How many at a time on this machine, each on cores of its own while there are enough of them.
    dask : str, optional
        The address of a Dask scheduler whose workers do the runs instead.

    Raises
    ------
    InputError
        When there is no scheduler at that address.
    MissingExtra
        When Dask is not installed.
    """
    return _on_cluster(runs, dask) if dask is not None else _here(runs, jobs)


def _here(runs: Sequence[Run], jobs: int) -> Iterator[tuple[Run, Measured]]:
    stopped = threading.Event()
    places = _places(jobs, max((run.threads for run in runs), default=1))

    def one(run: Run) -> tuple[Run, Measured]:
        place = places.get()
        try:
            return run, measured(run, place, stopped.is_set)
        finally:
            places.put(place)

    try:
        # threads, for all they do is wait for the processes that do the runs
        pool = joblib.Parallel(jobs, backend="threading", batch_size=1, return_as="generator_unordered")
        yield from pool(joblib.delayed(one)(run) for run in runs)
    finally:
        stopped.set()


def _places(jobs: int, threads: int) -> "queue.Queue[list[int] | None]":
    """The cores for each job; None for all of them where there are too few for each to have its own."""
    places: queue.Queue[list[int] | None] = queue.Queue()
    free = cores()
    enough = jobs * threads <= len(free)
    if not enough:
        log.warning("%d jobs of %d threads share %d cores: times are not comparable", jobs, threads, len(free))
    for job in range(jobs):
        places.put(free[job * threads : (job + 1) * threads] if enough else None)
    return places


def _on_cluster(runs: Sequence[Run], address: str) -> Iterator[tuple[Run, Measured]]:
    with _client(address):
        left = {run.key: run for run in runs}
        failures = 0
        while left:
            try:
                with joblib.parallel_config(_cluster()):
                    pool = joblib.Parallel(batch_size=1, pre_dispatch="all", return_as="generator_unordered")
                    for run, result in pool([joblib.delayed(_far)(run) for run in left.values()]):
                        left.pop(run.key)
                        failures = 0
                        yield run, result
            except Exception as error:  # whatever the cluster raises, the rest is tried again
                failures += 1
                log.warning("the cluster lost a run: %s: %s", type(error).__name__, error)
                if failures == TRIES:
                    raise EngineError(f"the cluster at {address} is gone; {len(left)} runs are left") from None


def _cluster() -> Any:
    """Joblib's backend for Dask, which would do all runs here if the cluster had a single thread."""
    from joblib._dask import DaskDistributedBackend

    class Cluster(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, super().effective_n_jobs(n_jobs))

    return Cluster()


def _far(run: Run) -> tuple[Run, Measured]:
    return run, measured(run, None)


@contextlib.contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("distributed", "cluster") from None
    try:
        client = Client(address, timeout=CONNECT)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"no scheduler answers at {address}: {error}", where="--dask") from None
    with client:
        yield client
