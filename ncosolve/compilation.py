"""First-ever compilation of kernels: noticed, announced and left out of the search time."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

from numba.core import event

from ncosolve.deadline import Deadline

log = logging.getLogger("ncosolve")

COMPILER, COMPILATION = "numba:compiler_lock", "numba:compile"  # the whole stay, cache and all, and the part of it
MESSAGE = "compiling kernels, first run only"


def start_compiler() -> None:
    """Start Numba's compiler, which takes 0.3 s in every new process before the first kernel is loaded from disk."""
    from numba.core.registry import cpu_target

    cpu_target.target_context.refresh()
    cpu_target.typing_context.refresh()


@contextlib.contextmanager
def left_out(deadline: Deadline) -> Iterator[None]:
    """While this is open, the time that Numba spends on compiling is added to ``deadline.compiling``.

    Kernels that are loaded from the cache on disk do not count as compiled.
    """

    class Clock(event.Listener):  # type: ignore[misc]
        """Times each stay in the compiler, cache and all, during which something was compiled."""

        def __init__(self) -> None:
            self.here = threading.local()  # a thread that waits for another's compiler counts for itself

        def on_start(self, seen: Any) -> None:
            here = self.here
            here.depth = getattr(here, "depth", 0) + 1
            if here.depth == 1:
                here.began, here.compiled = time.perf_counter(), False
            if seen.kind == COMPILATION:
                here.compiled = True
                if not deadline.announced:
                    deadline.announced = True
                    log.info(MESSAGE)

        def on_end(self, _: object) -> None:
            here = self.here
            here.depth -= 1
            if here.depth == 0 and here.compiled:
                deadline.compiling += time.perf_counter() - here.began

    clock = Clock()
    with event.install_listener(COMPILER, clock), event.install_listener(COMPILATION, clock):
        yield
