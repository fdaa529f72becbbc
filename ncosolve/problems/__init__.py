"""The problems: one module each, holding the instance class, its independent check and its random generator."""

import importlib
from types import ModuleType
from typing import Any

from ncosolve.errors import InputError

PROBLEMS = ("tsp", "cvrp", "vrptw", "tsptw", "tspdl", "milp")
"""Every problem: a module of this package with ``INSTANCE`` (the class) and ``generate(n, seed, **options)``."""


def module(problem: str) -> ModuleType:
    """The module of a problem; InputError for an unknown name."""
    name = problem.lower()
    if name not in PROBLEMS:
        raise InputError(f"problem {problem!r} is unknown, expected one of {', '.join(PROBLEMS)}")
    return importlib.import_module(f"ncosolve.problems.{name}")


def generate(problem: str, n: int, seed: int = 0, **options: Any) -> Any:
    """One random instance.

    Parameters
    ----------
    problem : str
        A name of `PROBLEMS`.
    n : int
        Nodes including the depot; for milp see ``generate`` in ``problems/milp.py``.
    seed : int
        Equal seeds give equal instances.
    **options
        The options of that problem's own ``generate``.

    Raises
    ------
    InputError
        For an unknown problem or option, or a size that is not allowed.
    """
    from ncosolve.problems.base import whole  # imports NumPy, and the names of the problems need none

    make = module(problem).generate
    size, start = whole(n, "n"), whole(seed, "seed", 0)
    try:
        return make(size, seed=start, **options)
    except (ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{problem}: {error}") from None
    except TypeError as error:
        raise InputError(f"{problem}: {str(error).split(') ')[-1].removeprefix('generate() ')}") from None
