"""A dive from the linear relaxation: a feasible answer soon, where a tree search has found none yet."""

import time
from collections.abc import Callable

import highspy
import numpy as np

from ncosolve.engines import mip_model
from ncosolve.formats.mps import quiet_highs
from ncosolve.problems.base import FloatArray
from ncosolve.problems.milp import INTEGRALITY_TOLERANCE, MILP

BACKTRACKS = 100
"""So many dead ends end a dive."""


def dive(instance: MILP, seconds: float, over: Callable[[], bool]) -> FloatArray | None:
    """Round columns up one by one, the nearest to its next whole number first; solve the relaxation again each time.

    Where that leaves nothing feasible, the column is bounded from above instead.

    Parameters
    ----------
    instance : MILP
        With integer columns.
    seconds : float
        The most that it may take.
    over : callable
        Whether to give up, asked between two relaxations.

    Returns
    -------
    ndarray of float64 or None
        Values whose integer columns are whole up to the tolerance of the check, or None.
    """
    until = time.perf_counter() + seconds
    solver = quiet_highs()
    mip_model.pass_model(solver, instance)
    solver.changeColsIntegrality(instance.n, np.arange(instance.n, dtype=np.int32), np.zeros(instance.n, np.uint8))
    lower, upper = instance.lower.copy(), instance.upper.copy()
    dead_ends, raised, before = 0, -1, 0.0  # the column raised last, and its lower bound before
    while not over() and time.perf_counter() < until:
        solver.setOptionValue("time_limit", solver.getRunTime() + max(0.0, until - time.perf_counter()))
        solver.run()
        if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            values = np.array(solver.getSolution().col_value)
            column = _nearest_below(values, instance)
            if column < 0:
                return values
            raised, before = column, lower[column]
            lower[column] = np.ceil(values[column])
        elif raised >= 0 and dead_ends < BACKTRACKS:
            dead_ends += 1
            column, raised = raised, -1
            lower[column], upper[column] = before, lower[column] - 1.0
        else:
            return None
        solver.changeColBounds(column, lower[column], upper[column])
    return None


def _nearest_below(values: FloatArray, instance: MILP) -> int:
    """The integer column with the least to its next whole number, -1 if all are whole."""
    fraction = np.abs(values - np.round(values))
    open_columns = instance.integer & (fraction > INTEGRALITY_TOLERANCE)
    if not open_columns.any():
        return -1
    return int(np.argmin(np.where(open_columns, np.ceil(values) - values, np.inf)))
