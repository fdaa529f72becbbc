"""MPS and LP files of mixed-integer programs, read by HiGHS; LP files also written by it."""

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncosolve.errors import InputError
from ncosolve.formats.mps_check import proofread
from ncosolve.formats.mps_write import check_names
from ncosolve.problems.base import replace
from ncosolve.problems.milp import MILP

if TYPE_CHECKING:
    from highspy import HighsLp

_END = re.compile(r"^[ \t]*end[ \t]*$", re.IGNORECASE | re.MULTILINE)


def parse_mps(text: str, name: str) -> MILP:
    """The program in an MPS file of the free or the fixed layout.

    Raises
    ------
    InputError
        When the file breaks the format, see `ncosolve.formats.mps_check`, or holds what a MILP does not: quadratic
        terms, special ordered sets, semicontinuous columns.
    """
    program = proofread(text)
    instance = _read(program.text, ".mps", program.name or name)
    rows = {label: own for own, label in program.rows.items()}
    columns = {label: own for own, label in program.columns.items()}
    expected = len(program.rows) - len(program.objectives), len(columns)
    if instance.rows.shape != expected:
        raise InputError(f"declares {expected} rows and columns, but HiGHS finds {instance.rows.shape}")
    return replace(
        instance,
        row_names=[rows[label] for label in instance.row_names],
        column_names=[columns[label] for label in instance.column_names],
    )


def parse_lp(text: str, name: str) -> MILP:
    """The program in a file of the CPLEX LP format; it must end with ``End``. Errors as for `parse_mps`."""
    if not _END.search(text):
        raise InputError("ends without End: it is cut off")
    return _read(text, ".lp", name)


def quiet_highs() -> Any:
    """A HiGHS object that prints nothing: the public class prints a banner when it is made, its base does not."""
    from highspy._core import _Highs

    solver = _Highs()
    solver.setOptionValue("output_flag", False)
    return solver


def _read(text: str, suffix: str, name: str) -> MILP:
    from highspy import HighsStatus

    solver = quiet_highs()
    with tempfile.TemporaryDirectory() as folder:
        # HiGHS goes by the suffix, so it gets a copy with the one that the content asks for
        copy = Path(folder) / f"model{suffix}"
        copy.write_text(text, encoding="utf-8")
        status = solver.readModel(str(copy))
    if status == HighsStatus.kError:
        raise InputError(f"is refused by HiGHS, expected a whole program in {suffix[1:].upper()} format")
    if solver.getModel().hessian_.dim_:
        raise InputError("has a quadratic objective, which is not supported")
    try:
        return _instance(solver.getLp(), name)
    except UnicodeDecodeError:
        raise InputError("holds names that HiGHS cannot read, expected plain letters") from None


def _instance(program: "HighsLp", name: str) -> MILP:
    from highspy import HighsVarType, MatrixFormat, ObjSense
    from scipy.sparse import csc_array, csr_array

    kinds = list(program.integrality_)
    if any(kind not in (HighsVarType.kContinuous, HighsVarType.kInteger) for kind in kinds):
        raise InputError("has a semicontinuous column, which is not supported")
    if not program.num_col_:
        raise InputError("has no columns")
    matrix, shape = program.a_matrix_, (program.num_row_, program.num_col_)
    compressed = csc_array if matrix.format_ == MatrixFormat.kColwise else csr_array
    return MILP(
        np.asarray(program.col_cost_),
        compressed((np.asarray(matrix.value_), np.asarray(matrix.index_), np.asarray(matrix.start_)), shape=shape),
        np.asarray(program.row_lower_),
        np.asarray(program.row_upper_),
        lower=np.asarray(program.col_lower_),
        upper=np.asarray(program.col_upper_),
        integer=[kind == HighsVarType.kInteger for kind in kinds] or None,
        maximise=program.sense_ == ObjSense.kMaximize,
        offset=program.offset_,
        column_names=list(program.col_names_) or None,
        row_names=list(program.row_names_) or None,
        name=name,
    )


def highs_program(instance: MILP) -> "HighsLp":
    """The program as HiGHS takes it."""
    from highspy import HighsLp, HighsVarType, MatrixFormat, ObjSense

    program = HighsLp()
    rows = instance.rows.tocsr()
    m, n = rows.shape
    program.num_row_, program.num_col_ = m, n
    program.col_cost_, program.offset_ = instance.objective, instance.offset
    program.col_lower_, program.col_upper_ = instance.lower, instance.upper
    program.row_lower_, program.row_upper_ = instance.row_lower, instance.row_upper
    program.sense_ = ObjSense.kMaximize if instance.maximise else ObjSense.kMinimize
    program.integrality_ = [HighsVarType.kInteger if whole else HighsVarType.kContinuous for whole in instance.integer]
    program.col_names_, program.row_names_ = list(instance.column_names), list(instance.row_names)
    program.model_name_ = instance.name
    matrix = program.a_matrix_
    matrix.format_, matrix.num_row_, matrix.num_col_ = MatrixFormat.kRowwise, m, n
    matrix.start_, matrix.index_, matrix.value_ = rows.indptr, rows.indices, rows.data
    return program


def dumps_lp(instance: MILP) -> str:
    """The text of an LP file; a row with two sides becomes two rows, as the format has no ranges.

    Raises
    ------
    InputError
        When the format cannot say a name, or HiGHS refuses the program.
    """
    from highspy import HighsStatus

    check_names(instance)
    solver = quiet_highs()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "model.lp"
        passed = solver.passModel(highs_program(instance))
        if HighsStatus.kError in (passed, solver.writeModel(str(copy))):
            raise InputError("the program cannot be written as LP; use .mps or .npz")
        text = copy.read_text(encoding="utf-8")
    if _lp_columns(text) != set(instance.column_names):
        raise InputError("holds a column without entries, or a name that LP cannot say; use .mps", where="column_names")
    return text


def _lp_columns(text: str) -> set[str]:
    """The names that an LP file, written by HiGHS without a look at them, reads back as."""
    try:
        return set(parse_lp(text, "").column_names)
    except InputError:
        return set()
