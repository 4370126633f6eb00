"""HiGHS, set up for a problem in rows; the audit, which shares no code with what it audits, sets up its own."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.model.cells import Floats


def solver_of(
    rows: csr_array,
    least: Floats,
    most: Floats,
    cost: Floats | None = None,
    lower: Floats | None = None,
    upper: Floats | None = None,
    whole: bool = False,
    **options: Any,
) -> Any:
    """A silent solver on one thread that holds: minimise cost @ x, least <= rows @ x <= most, lower <= x <= upper.

    rows         : shape (e, n); least and most of shape (e,), the others of shape (n,), 0 when not given
    whole        : whether x are whole numbers
    options      : of HiGHS, by name
    """
    import highspy

    nothing = np.zeros(rows.shape[1])
    cost, lower, upper = (nothing if given is None else given.astype(np.float64) for given in (cost, lower, upper))
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = rows.shape
    model.col_cost_, model.col_lower_, model.col_upper_ = cost, lower, upper
    model.row_lower_, model.row_upper_ = least.astype(np.float64), most.astype(np.float64)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
    if whole:
        model.integrality_ = [highspy.HighsVarType.kInteger] * rows.shape[1]
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in {"output_flag": False, "threads": 1, **options}.items():
        solver.setOptionValue(name, value)
    solver.passModel(model)
    return solver


def is_optimal(solver: Any) -> bool:
    """Whether its last run ended with a solution that it proved the best."""
    import highspy

    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)
