"""What masking did to one variable, as counts and moments that a reader of the report may see."""

from math import isnan

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from sluice.ground.arrays import FloatArray
from sluice.ground.variables import NAMES, Kind, Role, Variable, Variables
from sluice.utility.cell_changes import cell_changes, changed_in_few
from sluice.utility.distribution import Distribution, distribution, without_few_changes
from sluice.utility.entropy import Entropies, entropies
from sluice.utility.told_moments import told_moments


class VariableSummary(BaseModel):
    """Before and after of one variable. A count below the report's minimum cell count is None, never the number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str
    unit: str | None
    role: Role
    kind_before: Kind
    kind_after: Kind | None  # None: not released
    mean_before: float | None = None  # numeric kinds only
    mean_after: float | None = None
    deviation_before: float | None = None  # standard deviation, n - 1; both rounded, see sluice.utility.told_moments
    deviation_after: float | None = None
    entropy_before: float | None = None  # bits, of numbers and dates in intervals; see sluice.utility.entropy
    entropy_after: float | None = None
    records_before: int | None = None  # of the original that are compared: without those that a sample left out
    missing_before: float  # share of records
    missing_after: float | None = None
    changed: float | None = None  # share of cells whose value differs from the recoded original, suppressed ones apart
    suppressed: float | None = None  # share of cells missing now and not before
    bins: tuple[str, ...] = ()  # categories, or intervals such as '20 to 30'
    counts_before: tuple[int | None, ...] = ()
    counts_after: tuple[int | None, ...] = ()


def summarise(
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables,
    minimum_cell: int,
) -> tuple[VariableSummary, ...]:
    """A summary of every variable of the original, in its order, released or not.

    original     : typed by `variables`
    recoded      : the original after the deterministic recodings alone (see sluice.masking.plan.apply_recodings)
    masked       : typed by `released`; its rows are those of `recoded` in the same order, or `changed` and
                   `suppressed` are left empty
    minimum_cell : no smaller count is given, and no moment of fewer values
    cost         : O(n log n) a variable

    A variable that is still numeric stands as in the original, before and after; one that was recoded into
    categories stands on those, with the recoded original as its before. Numbers and texts that name a person, a
    household or a firm have no moments and no bins.
    """
    aligned = len(recoded) == len(masked) > 0
    summaries = []
    for name, variable in variables.items():
        after = released.get(name)
        changes = (
            cell_changes(recoded[name], masked[name])
            if after is not None and aligned and name in recoded.columns
            else None
        )
        before_told, after_told = told_moments(
            _quantities(original[name], variable),
            None if after is None else _quantities(masked[name], after),
            minimum_cell,
        )
        bits = None if after is None else _entropies(original[name], masked[name], variable, minimum_cell)
        counts = _distribution(original, recoded, masked, variable, after, minimum_cell)
        if changes is not None and after is not None:
            counts = without_few_changes(counts, changes, len(masked), minimum_cell)
            bits = None if changed_in_few(changes, len(masked), minimum_cell) else bits
        summaries.append(
            VariableSummary(
                name=name,
                description=variable.description,
                unit=variable.unit,
                role=variable.role,
                kind_before=variable.kind,
                kind_after=None if after is None else after.kind,
                mean_before=before_told.mean,
                mean_after=after_told.mean,
                deviation_before=before_told.deviation,
                deviation_after=after_told.deviation,
                entropy_before=None if bits is None else bits.before,
                entropy_after=None if bits is None else bits.after,
                records_before=len(original),
                missing_before=_missing_share(original[name]),
                missing_after=None if after is None else _missing_share(masked[name]),
                changed=None if changes is None else changes.changed,
                suppressed=None if changes is None else changes.suppressed,
                bins=counts.bins,
                counts_before=counts.before,
                counts_after=counts.after,
            )
        )
    return tuple(summaries)


def _entropies(before: pd.Series, after: pd.Series, variable: Variable, minimum_cell: int) -> Entropies | None:
    if variable.kind is Kind.TEXT or variable.role in NAMES:
        return None
    found = entropies(before, after, minimum_cell)
    return None if isnan(found.lost) else found


def _distribution(
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variable: Variable,
    after: Variable | None,
    minimum_cell: int,
) -> Distribution:
    name = variable.name
    if variable.role in NAMES:
        return Distribution()
    if after is None:
        return distribution(original[name], None, variable, minimum_cell)
    if (variable.kind.is_numeric and after.kind.is_numeric) or variable.kind is after.kind is Kind.DATE:
        return distribution(original[name], masked[name], after, minimum_cell)
    if after.kind.is_categorical and name in recoded.columns and hasattr(recoded[name], "cat"):
        return distribution(recoded[name], masked[name], after, minimum_cell)
    return Distribution()  # the masking itself changed the kind: there are no common bins


def _quantities(column: pd.Series, variable: Variable) -> FloatArray:
    """The values that are present of a quantity; none of anything else."""
    if not variable.kind.is_numeric or variable.role in NAMES:
        return np.zeros(0)
    return column.dropna().to_numpy(dtype=np.float64)


def _missing_share(column: pd.Series) -> float:
    return float(column.isna().mean()) if len(column) else 0.0
