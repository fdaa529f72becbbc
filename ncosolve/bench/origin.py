"""Where a benchmark came from: the commands and the environment that stand beside its table."""

from pathlib import Path

import msgspec

from ncosolve.errors import InputError
from ncosolve.formats.text import save

FILE = "benchmark.json"
"""The record beside the table."""


class Start(msgspec.Struct, frozen=True):
    """One start of a benchmark; what the record does not say is empty.

    Attributes
    ----------
    command : str
        As it was typed.
    started : str
        When, in UTC.
    solvers : tuple of str
        In the order asked for.
    marks : tuple of float
        Times in seconds at which solvers are compared, also those that are read from the histories of longer runs.
    python, platform, machine : str
        What it ran on.
    cores : int or None
        How many the process could use.
    memory_gb : float or None
        Of the machine.
    packages : dict of str to str
        Versions by name.
    commit : str or None
        Of the code, where it ran from a checkout.
    """

    command: str = ""
    started: str = ""
    solvers: tuple[str, ...] = ()
    marks: tuple[float, ...] = ()
    python: str = ""
    platform: str = ""
    machine: str = ""
    cores: int | None = None
    memory_gb: float | None = None
    packages: dict[str, str] = {}
    commit: str | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What is known of it, by the name under which it is shown."""
        known = {
            "Started": self.started,
            "Machine": self.machine,
            "Cores": "" if self.cores is None else str(self.cores),
            "Memory": "" if self.memory_gb is None else f"{self.memory_gb:g} GB",
            "System": self.platform,
            "Python": self.python,
            "Commit": self.commit or "",
            "Packages": ", ".join(f"{name} {version}" for name, version in self.packages.items()),
        }
        return {name: value for name, value in known.items() if value}


def starts(folder: Path) -> list[Start]:
    """All starts of the benchmark in a folder, the first one first; none where there is no record.

    Raises
    ------
    InputError
        When the record cannot be read or is none.
    """
    path = folder / FILE
    if not path.is_file():
        return []
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Start])
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise InputError(f"is no record of a benchmark: {error}", str(path)) from None


def note(folder: Path, start: Start) -> None:
    """Add a start to the record of a folder, whole or not at all."""
    record = msgspec.json.encode([*starts(folder), start])
    save(folder / FILE, msgspec.json.format(record, indent=1) + b"\n")
