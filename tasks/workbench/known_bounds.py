"""Bounds of single cells that an attacker knows beforehand, as rows of codes, lower and upper; either may be empty."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.publication.pattern_file import Pattern, cell_name
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers, keys_of
from sluice.tabular.model.column_values import numbers
from sluice.tabular.model.dimension import Dimension
from tasks.workbench.tabular_file import errors_of, read_text, with_points
from tasks.workbench.tabulation import Records, text_frame

ENDS = ("lower", "upper")


def known_bounds_of(known: Records, table: Cells | Pattern) -> tuple[Floats, Floats]:
    """The bounds in a CSV file, which errors name, or in a DataFrame; see `known_bounds`."""
    if isinstance(known, pd.DataFrame):
        return known_bounds(text_frame(known), table)
    with errors_of(known):
        return known_bounds(with_points(read_text(known), ENDS), table)


def known_bounds(rows: pd.DataFrame, table: Cells | Pattern) -> tuple[Floats, Floats]:
    """From what to what an attacker takes each cell to be, in whole units of the table; infinite for no end.

    rows    : text, with a column for each dimension
    returns : shapes (c,)
    raises  : DataError for a column that is missing, a cell that is not in the table or stands twice, an end that is no
              number, and bounds with nothing between them or that do not hold a value which is known
    """
    dimensions, codes, decimals = table.dimensions, table.codes, table.decimals
    rows = rows.set_axis(pd.RangeIndex(len(rows)))  # errors number the rows of the file
    for name in (*(dimension.name for dimension in dimensions), *ENDS):
        if name not in rows.columns:
            raise DataError(f"the known bounds have no column '{name}'.", came=name, allowed=map(str, rows.columns))
    for dimension in dimensions:
        for code in rows[dimension.name].unique():
            if code not in dimension.position:
                raise DataError(
                    f"the known bounds name '{code}', which is not a code of '{dimension.name}'.",
                    came=code,
                    allowed=dimension.codes,
                )
    given = np.array(
        [[d.position[code] for d, code in zip(dimensions, row, strict=True)] for row in _codes(rows, dimensions)],
        dtype=np.int32,
    ).reshape(-1, len(dimensions))
    at = {int(key): cell for cell, key in enumerate(keys_of(dimensions, codes))}
    cells: list[int] = []
    for row, key in enumerate(keys_of(dimensions, given).tolist()):
        if key not in at:
            raise DataError(f"the known bounds name {cell_name(dimensions, given, row)}, which is not in the table.")
        if at[key] in cells:
            raise DataError(f"the known bounds name {cell_name(dimensions, given, row)} twice.")
        cells.append(at[key])
    lower, upper = np.full(len(codes), -np.inf), np.full(len(codes), np.inf)
    for bound, end, whole in ((lower, "lower", np.ceil), (upper, "upper", np.floor)):
        has = (rows[end] != "").to_numpy(dtype=bool)
        values = np.asarray(numbers(rows[end][has]), dtype=np.float64)
        bound[np.array(cells, dtype=np.int64)[has]] = whole(np.round(values * 10**decimals, 6))
    empty = np.flatnonzero(lower > upper)
    if len(empty):
        name = cell_name(dimensions, codes, int(empty[0]))
        raise DataError(f"the known bounds of {name} leave no value of {decimals} decimals between them.")
    value, has = _values(table)
    wrong = np.flatnonzero(has & ((value < lower) | (value > upper)))
    if len(wrong):
        raise DataError(
            f"the known bounds of {cell_name(dimensions, codes, int(wrong[0]))} do not hold its value; an attacker who "
            "believes them is wrong."
        )
    return lower, upper


def _values(table: Cells | Pattern) -> tuple[Integers, Booleans]:
    """The values of the cells in whole units, and which are known."""
    if isinstance(table, Pattern):
        return table.value, table.has
    return table.total, np.ones(len(table), dtype=bool)


def _codes(rows: pd.DataFrame, dimensions: Sequence[Dimension]) -> list[tuple[str, ...]]:
    return list(rows[[dimension.name for dimension in dimensions]].itertuples(index=False, name=None))
