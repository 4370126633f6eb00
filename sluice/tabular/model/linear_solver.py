"""HiGHS, set up for a problem in rows."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.model.cells import Floats


def solver_of(rows: csr_array, sides: Floats, cost: Floats | None = None) -> tuple[Any, Any]:
    """A silent solver for rows @ x = sides, all x at 0 until bounds are given; and its word for an optimal solution."""
    import highspy

    count = rows.shape[1]
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = rows.shape
    model.col_cost_ = np.zeros(count) if cost is None else cost
    model.col_lower_, model.col_upper_ = np.zeros(count), np.zeros(count)
    model.row_lower_, model.row_upper_ = sides, sides
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
        solver.setOptionValue(option, value)
    solver.passModel(model)
    return solver, highspy.HighsModelStatus.kOptimal
