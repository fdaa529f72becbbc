"""Python functions in processes of their own: killed when time is up, and gone when their parent is."""

import atexit
import contextlib
import ctypes
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from ncosolve.errors import EngineError

LOOK = 0.02
"""Seconds between two questions whether time is up."""
LONGEST = 300
"""Characters of what it said that are told."""
_LENGTH = struct.Struct("<q")
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


class ChildError(EngineError):
    """The process died, or its function raised; the text says how."""


class Child:
    """A Python process that runs one function at a time.

    Whatever the function or a library in it prints does not reach the terminal; the last line of it is part of the
    reason where the process fails. Ctrl-C does not reach the process: who called it decides.

    Parameters
    ----------
    environment : mapping, optional
        Variables to set beside those of this process.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ncosolve.child", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # the first call will say why it died
            _send(self._process.stdin, sys.path)

    def call(self, function: Callable[..., Any], *arguments: Any, over: Callable[[], bool]) -> Any:
        """The value of ``function(*arguments)``, or None where ``over()`` came true first; then the process is killed.

        Parameters
        ----------
        function : callable
            Of a module that the process can import; it and the arguments travel as pickles.
        over : callable
            Asked every `LOOK` seconds.

        Raises
        ------
        ChildError
            When the function raised or the process died.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        before = os.fstat(self._said.fileno()).st_size
        try:
            _send(self._process.stdin, (function, arguments))
            while not select.select([self._process.stdout], [], [], LOOK)[0]:
                if over():
                    self.kill()
                    return None
                if not self.alive:  # while a process that it started holds the pipe open
                    raise EOFError
            raised, value = _receive(self._process.stdout)
        except (OSError, EOFError):
            raise ChildError(self._reason(before)) from None
        except BaseException:
            self.kill()
            raise
        if raised:
            raise ChildError(value)
        return value

    def kill(self) -> None:
        """End the process and those that it started, whatever they do."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # it leads a session of its own
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not sent yet is lost anyway
                    pipe.close()
        self._said.close()

    @property
    def alive(self) -> bool:
        """Whether it can take another call."""
        return self._process.poll() is None

    def _reason(self, before: int) -> str:
        """How it died, with the end of the last line that it said during the call."""
        code = self._process.wait()
        how = f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
        size = os.fstat(self._said.fileno()).st_size
        self._said.seek(max(before, size - 20 * LONGEST))
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        self.kill()
        return f"its process ended: {how}" + (f"; {lines[-1][-LONGEST:]}" if lines else "")


def call(function: Callable[..., Any], *arguments: Any, over: Callable[[], bool]) -> Any:
    """`Child.call` in a process that is kept for the next call, so that only the first one waits for its start."""
    with _kept() as child:
        return child.call(function, *arguments, over=over)


_idle: list[tuple[int, Child]] = []
_lock = threading.Lock()


@contextlib.contextmanager
def _kept() -> Iterator[Child]:
    with _lock:
        child = next((each for pid, each in _idle if pid == os.getpid() and each.alive), None) or Child()
        _idle[:] = [(pid, each) for pid, each in _idle if each is not child]
    try:
        yield child
    finally:
        if child.alive:
            with _lock:
                _idle.append((os.getpid(), child))


@atexit.register
def end_idle() -> None:
    """End the processes that `call` keeps."""
    with _lock:
        for pid, child in _idle:
            if pid == os.getpid():
                child.kill()
        _idle.clear()


def _send(pipe: BinaryIO | Any, message: Any) -> None:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: BinaryIO | Any) -> Any:
    header = pipe.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(header)
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def _serve(parent: int) -> None:
    """Take calls from the parent until it closes the pipe or dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it died before this process could ask to die with it
        return
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # what libraries read and print must not mix with calls and answers
    sys.path[:] = _receive(calls)  # the same modules as the parent's, whatever lies in the current folder
    while True:
        try:
            function, arguments = _receive(calls)
        except EOFError:
            return
        except Exception as error:
            reply = True, f"{type(error).__name__}: {error}"
        else:
            reply = _reply(function, arguments)
        _send(answers, reply)


def _reply(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return False, function(*arguments)
    except Exception as error:
        text = str(error).strip()
        return True, text if isinstance(error, EngineError) and text else f"{type(error).__name__}: {text}"


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
