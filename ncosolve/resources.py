"""Where the data that ship with the package lie: beside the code in a wheel, in the checkout otherwise."""

from pathlib import Path

PLACES = {"solvers": "solvers", "instances": "instances", "suites": "benchmarks/suites"}
"""The folder of each kind of data in a checkout."""


def folder(kind: str) -> Path:
    """The folder with ``solvers``, ``instances`` or ``suites``, in a wheel or in a checkout."""
    package = Path(__file__).resolve().parent
    packaged = package / f"_{kind}"
    return packaged if packaged.is_dir() else package.parent / PLACES[kind]
