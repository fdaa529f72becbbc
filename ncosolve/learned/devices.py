"""Where networks run."""

import contextlib
from collections.abc import Iterator

import torch

from ncosolve.errors import InputError


def device_of(name: str) -> str:
    """What "auto", "cpu" or "cuda" stands for here; InputError for what is none of these, or not here."""
    if name not in ("auto", "cpu", "cuda"):
        raise InputError(f"is {name!r}, expected auto, cpu or cuda", where="device")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("is cuda, but this machine has no such device", where="device")
    return "cuda" if name != "cpu" and torch.cuda.is_available() else "cpu"


@contextlib.contextmanager
def threads_of(count: int) -> Iterator[None]:
    """Let networks on the processor use so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
