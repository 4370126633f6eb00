"""What masking did to one variable, as counts and moments that a reader of the report may see.

A mean and a number of records are a sum, and who knows all summands but one knows that one. So a moment is rounded to
what a single record can make of it: whoever knows all others and one of the moments is still left with about half of
how far the most extreme value lies from the mean, on either side of it.
"""

from math import floor, isnan, log10
from typing import NamedTuple

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.variables import NAMES, Kind, Role, Variable, Variables
from sluice.utility.cell_changes import cell_changes, changed_in_few
from sluice.utility.distribution import Distribution, distribution, without_few_changes
from sluice.utility.entropy import Entropies, entropies

_FEW_VALUES = 3  # different ones, whose counts follow from a mean and a deviation


class VariableSummary(FrozenModel):
    """Before and after of one variable. A count below the report's minimum cell count is None, never the number."""

    name: str
    description: str
    unit: str | None
    role: Role
    kind_before: Kind
    kind_after: Kind | None  # None: not released
    mean_before: float | None = None  # numeric kinds only
    mean_after: float | None = None
    deviation_before: float | None = (
        None  # standard deviation, n - 1; both rounded, see sluice.utility.variable_summary
    )
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


class ToldMoments(NamedTuple):
    """None where too few values, or too few of one of two or three different ones, stand behind."""

    mean: float | None
    deviation: float | None


_NOTHING = ToldMoments(None, None)


def told_moments(original: FloatArray, masked: FloatArray | None, minimum_cell: int) -> tuple[ToldMoments, ToldMoments]:
    """Mean and standard deviation (n - 1) of a variable in both files, rounded alike.

    original, masked : shape (n,) and (m,), without missing values; None: not released
    minimum_cell     : moments of fewer values are not told; 1: nothing is rounded
    cost             : O(n)

    A step is 1, 2 or 5 times a power of ten, of the mean at least the largest distance d from it by n, of the deviation
    s at least d^2 / (2 n s), which moves the variance by d^2 / n. They are of the original: the masked file is public.
    """
    if len(original) < max(minimum_cell, 2):
        return _NOTHING, _NOTHING if masked is None else _moments(masked, minimum_cell)
    if minimum_cell > 1 and _is_count(original, minimum_cell):
        return _NOTHING, _NOTHING
    before = _moments(original, minimum_cell)
    after = _NOTHING if masked is None else _moments(masked, minimum_cell)
    assert before.mean is not None
    assert before.deviation is not None
    if minimum_cell <= 1 or before.deviation == 0:
        return before, after
    far = float(np.abs(original - before.mean).max())
    of_mean = _step(far / len(original))
    of_deviation = _step(far**2 / (2 * len(original) * before.deviation))
    return _rounded(before, of_mean, of_deviation), _rounded(after, of_mean, of_deviation)


def _moments(values: FloatArray, minimum_cell: int) -> ToldMoments:
    if len(values) < max(minimum_cell, 2):
        return _NOTHING
    return ToldMoments(float(values.mean()), float(values.std(ddof=1)))


def _is_count(values: FloatArray, minimum_cell: int) -> bool:
    """Whether so few different values occur that the moments tell how often each does, and one is too rare for that."""
    distinct, counts = np.unique(values, return_counts=True)
    return 1 < len(distinct) <= _FEW_VALUES and bool(counts.min() < minimum_cell)


def _rounded(moments: ToldMoments, of_mean: float, of_deviation: float) -> ToldMoments:
    mean, deviation = moments
    return ToldMoments(
        None if mean is None else _to(mean, of_mean), None if deviation is None else _to(deviation, of_deviation)
    )


def _to(value: float, step: float) -> float:
    return round(round(value / step) * step, max(0, 1 - floor(log10(step))))


def _step(least: float) -> float:
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))
