"""Ctrl-C: the first one asks for an end, the second one forces it."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def first_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C call ``stop``, and the second one interrupt; outside the main thread neither is heard."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, previous)
        stop()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
