"""First-ever compilation of kernels: noticed, announced and left out of the search time."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator

from numba.core import event

from ncosolve.deadline import Deadline

log = logging.getLogger("ncosolve")

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
        def __init__(self) -> None:
            self.depth, self.began, self.lock = 0, 0.0, threading.Lock()

        def on_start(self, _: object) -> None:
            with self.lock:
                if self.depth == 0:
                    self.began = time.perf_counter()
                    if deadline.compiling == 0.0:
                        log.info(MESSAGE)
                self.depth += 1

        def on_end(self, _: object) -> None:
            with self.lock:
                self.depth -= 1
                if self.depth == 0:
                    deadline.compiling += time.perf_counter() - self.began

    with event.install_listener("numba:compile", Clock()):
        yield
