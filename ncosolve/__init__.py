"""ncosolve: learned components that guide classical search for routing and mixed-integer problems."""

import importlib
import logging
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "read": "formats",
    "solve": "solving",
    "solve_many": "solving",
    "generate": "problems",
    "TSP": "problems.tsp",
    "CVRP": "problems.cvrp",
    "VRPTW": "problems.vrptw",
    "TSPTW": "problems.tsptw",
    "TSPDL": "problems.tspdl",
    "MILP": "problems.milp",
    "Distance": "problems.distance",
    "Solution": "solution",
    "NcosolveError": "errors",
    "InputError": "errors",
    "NoSolutionFound": "errors",
    "Infeasible": "errors",
    "MissingExtra": "errors",
    "EngineError": "errors",
}
__all__ = ["__version__", *_PUBLIC]

logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    # loaded on first use, so that `import ncosolve` stays fast
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ncosolve' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ncosolve.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
