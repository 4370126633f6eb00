"""Cut points for a number without a hierarchy: round values between groups of about equally many records."""

from typing import Any

import pandas as pd

from sluice.ground.variables import Variable

_PARTS = (2, 3, 4, 6)  # groups into which a number may be cut


def cut(column: pd.Series, variable: Variable) -> dict[str, Any] | None:
    """A step of a space that cuts the number, the coarsest first; None for what is no number or has a hierarchy."""
    if variable.hierarchy is not None or not variable.kind.is_numeric:
        return None
    # one value is all there is of a number without cuts
    return global_cuts(column) or {"method": "removal", "columns": [variable.name]}


def global_cuts(column: pd.Series) -> dict[str, Any] | None:
    """A step of a space that cuts a number, the coarsest first; None where one value is all there is."""
    cuts = [points for parts in _PARTS if (points := cut_points(column, parts))]
    cuts = [points for at, points in enumerate(cuts) if points not in cuts[:at]]
    if not cuts:
        return None
    return {"method": "global_recoding", "columns": [str(column.name)], "bins": {"any_of": cuts}}


def cut_points(column: pd.Series, parts: int) -> list[float]:
    """Quantiles at two digits: cuts that are nobody's own values, but for numbers of so few digits. None above the
    smallest value: an empty list."""
    values = column.dropna().to_numpy(dtype="float64")
    if not len(values):
        return []
    low = float(values.min())
    found = [float(f"{point:.2g}") for point in pd.Series(values).quantile([at / parts for at in range(1, parts)])]
    return sorted({int(point) if point == int(point) else point for point in found if point > low})
