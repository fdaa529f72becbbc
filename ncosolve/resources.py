"""Where the data that ship with the package lie: beside the code in a wheel, in the checkout otherwise."""

from pathlib import Path


def folder(kind: str) -> Path:
    """The folder ``solvers`` or ``instances``, in a wheel or in a checkout."""
    package = Path(__file__).resolve().parent
    packaged = package / f"_{kind}"
    return packaged if packaged.is_dir() else package.parent / kind
