"""Microaggregation: records are put into groups of at least k, and each value becomes its group's representative.

Source: Torra (2013), "Microaggregation", the operational definition: partition, aggregation, replacement,
and the choice between all variables at once, sets of variables, and one at a time. The partition is the method's own;
what is common to all methods is here. Aggregates by kind of attribute: Xiong (CS573 slides), "Microaggregation/
Clustering" (mean, median), Torra (2013), "Discussion and summary (I)" (plurality rule).
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.errors import PlanError, did_you_mean
from sluice.masking.perturbed_number import FloatArray, numbers, perturbed, stored
from sluice.masking.step import MaskingStep
from sluice.variables import Kind, Variable, Variables

IntArray = npt.NDArray[np.int64]
Statistic = Literal["mean", "median", "mode", "random"]
VariableGroups = Literal["together", "one_at_a_time"] | tuple[tuple[str, ...], ...]

_LARGEST = 1e150  # a larger number has no square to be summed


class MicroaggregationStep(MaskingStep):
    """What every method of microaggregation has in common; a method is its `partition`."""

    k: int = Field(description="smallest number of records in a group, at least 2")
    variable_groups: VariableGroups = Field(
        default="together",
        description="together: one partition for all columns; one_at_a_time: one for each column; or lists of columns "
        "that together hold each column once, with one partition for each list",
    )
    standardise: bool = Field(default=True, description="give each column of numbers variance 1 in the distance")
    representative: Statistic = Field(
        default="mean",
        description="what stands for a group: mean, median, mode, or random (the values of one of its records, drawn "
        "at random). For mean and median an ordinal column takes the (lower) median, a nominal one the mode",
    )
    restore_variance: bool = Field(default=False, description="rescale numbers to the original means and variances")
    missing: Literal["refuse", "by_pattern"] = Field(
        default="refuse", description="by_pattern: group records with others that miss the same columns"
    )
    round: bool = Field(
        default=False, description="round integer variables to whole numbers; else they become continuous"
    )

    kinds: ClassVar[tuple[Kind, ...]]  # that the method's distance is defined for
    missing_values: ClassVar[str] = (
        "Refused, or with `missing: by_pattern` grouped with records that miss the same columns; a missing value stays "
        "missing."
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        named = ", ".join(map(repr, self.columns))
        if self.k < 2:
            raise ValueError(
                f"k of {self.method} on {named} must be at least 2; got {self.k}. A group of one record is the record."
            )
        if not isinstance(self.variable_groups, str):
            grouped = [name for group in self.variable_groups for name in group]
            for name in grouped:
                if name not in self.columns:
                    hint = did_you_mean(name, self.columns)
                    raise ValueError(f"variable_groups of {self.method}: '{name}' is not among columns.{hint}")
            if sorted(grouped) != sorted(self.columns) or not all(self.variable_groups):
                raise ValueError(f"variable_groups of {self.method} must hold each of {named} exactly once")
        return self

    @abstractmethod
    def partition(self, records: FloatArray, sizes: Sequence[int], rng: Generator) -> IntArray:
        """The group of each record, numbered from 0 without a gap; each group has at least k records.

        records : shape (n, d), finite, n >= k, d >= 1; columns of numbers standardised if `standardise`, those of
                  categories as positions 0, 1, ...
        sizes   : d counts of categories: 0 for a number, positive for an ordinal, negative for a nominal column
        """

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`; bounds hold, but for `restore_variance`."""
        self.refuse_unless(variables, *self.kinds)
        whole = self.round or (self.representative in ("mode", "random") and not self.restore_variance)
        changed = {
            name: perturbed(variables[name], whole=whole, bounded=not self.restore_variance)
            for name in self.columns
            if variables[name].kind.is_numeric
        }
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError on fewer than k records, on missing values as `missing` says, on numbers beyond 1e150."""
        released = self.released(variables)
        masked: dict[str, pd.Series] = {}
        for names in self._variable_groups():
            original = numbers(frame, names)
            sizes = [_size(frame[name], variables[name]) for name in names]
            aggregated = self._aggregated(names, original, sizes, rng)
            for name, before, after in zip(names, original.T, aggregated.T, strict=True):
                if variables[name].kind.is_categorical:
                    column = _categorical(after, frame[name])
                elif self.restore_variance:
                    column = stored(self._restored(name, before, after), released[name])
                else:
                    column = stored(after, released[name])
                masked[name] = column.set_axis(frame.index)
        return frame.assign(**masked)

    def describe(self) -> str:
        together = {"together": "", "one_at_a_time": ", for each variable by itself"}
        how = together[self.variable_groups] if isinstance(self.variable_groups, str) else ", in sets of variables"
        value = "the values of a random member" if self.representative == "random" else f"the {self.representative}"
        said = (
            f"In {', '.join(self.columns)}, similar records were put into groups of at least {self.k}{how}, and each "
            f"value was replaced by {value} of its group"
        )
        if self.representative in ("mean", "median") and Kind.NOMINAL in self.kinds:
            said += " (of ordered categories the median, of others the most frequent)"
        elif self.representative == "mean" and Kind.ORDINAL in self.kinds:
            said += " (of ordered categories the median)"
        return said + ("; means and variances are those of the original." if self.restore_variance else ".")

    def _variable_groups(self) -> tuple[tuple[str, ...], ...]:
        if self.variable_groups == "together":
            return (self.columns,)
        if self.variable_groups == "one_at_a_time":
            return tuple((name,) for name in self.columns)
        return self.variable_groups

    def _aggregated(
        self, names: Sequence[str], original: FloatArray, sizes: Sequence[int], rng: Generator
    ) -> FloatArray:
        """Each record's representative, NaN where missing. Raises PlanError as `mask` says."""
        absent = np.isnan(original)
        self._refuse_what_cannot_be_grouped(names, original, absent)
        scaled = standardised(original, sizes) if self.standardise else original
        if not absent.any():
            return representatives(original, self.partition(scaled, sizes, rng), self.representative, sizes, rng)
        aggregated = np.full(original.shape, np.nan)
        patterns, pattern = np.unique(absent, axis=0, return_inverse=True)
        for number, pattern_absent in enumerate(patterns):
            rows, columns = np.flatnonzero(pattern == number), np.flatnonzero(~pattern_absent)
            if len(columns) == 0:
                continue
            if len(rows) < self.k:
                raise PlanError(
                    f"{self.method} on {', '.join(map(repr, names))}: fewer than k = {self.k} records miss the same "
                    "columns. Impute them first (multiple_imputation), or name fewer columns."
                )
            cells, of_columns = np.ix_(rows, columns), [sizes[column] for column in columns.tolist()]
            groups = self.partition(scaled[cells], of_columns, rng)
            aggregated[cells] = representatives(original[cells], groups, self.representative, of_columns, rng)
        return aggregated

    def _refuse_what_cannot_be_grouped(
        self, names: Sequence[str], original: FloatArray, absent: npt.NDArray[np.bool_]
    ) -> None:
        if len(original) < self.k:
            raise PlanError(
                f"{self.method} on {', '.join(map(repr, names))} needs at least k = {self.k} records; there are "
                f"{len(original)}."
            )
        for name, values, count in zip(names, original.T, absent.sum(axis=0), strict=True):
            if count and self.missing == "refuse":
                raise PlanError(
                    f"{self.method} on '{name}' takes no missing values; there are {count}. "
                    "Use missing: by_pattern, or impute them first (multiple_imputation)."
                )
            if count < len(values) and np.nanmax(np.abs(values)) > _LARGEST:
                raise PlanError(
                    f"{self.method} on '{name}' takes numbers up to {_LARGEST:g}; some are larger. Use a larger unit."
                )

    def _restored(self, name: str, before: FloatArray, after: FloatArray) -> FloatArray:
        if np.isnan(before).all() or np.nanmin(before) == np.nanmax(before):
            return after
        spread, left = np.nanstd(before), np.nanstd(after)
        if left <= 1e-9 * spread:  # nothing but rounding is left to be stretched
            raise PlanError(
                f"restore_variance of {self.method} on '{name}' needs groups that differ; with k = {self.k} they "
                "are alike. Use a smaller k."
            )
        restored: FloatArray = (after - np.nanmean(after)) * (spread / left) + np.nanmean(before)
        return restored


def standardised(records: FloatArray, sizes: Sequence[int] | None = None) -> FloatArray:
    """Each column with mean 0 and variance (n - 1) 1, a constant column as 0; NaN where missing. Shape (n, d).

    sizes : d counts of categories; a column of categories (not 0) is left as it is. None: all are numbers
    """
    columns = np.full(records.shape, np.nan)
    for column, values in enumerate(records.T):
        present = np.isfinite(values)
        known = values[present]
        if sizes is not None and sizes[column]:
            columns[:, column] = values
            continue
        constant = len(known) == 0 or known.min() == known.max()
        spread = 0.0 if constant else known.std(ddof=1)  # 0 also where the squares are too small for a number
        columns[present, column] = (known - known.mean()) / spread if spread > 0 else 0.0
    return columns


def representatives(
    records: FloatArray, groups: IntArray, statistic: Statistic, sizes: Sequence[int], rng: Generator
) -> FloatArray:
    """What stands for each record's group, by column. Shape (n, d).

    records : shape (n, d), finite
    groups  : shape (n,), numbered from 0 without a gap
    sizes   : d counts of categories: 0 for a number, positive for an ordinal, negative for a nominal column
    An ordinal column has no mean, it takes the lower median, a position that occurs in the group; a nominal one has
    neither, it takes the mode. Among equally frequent values the mode is drawn at random; `random` takes all columns
    from one record. A mean never leaves its group's range by rounding, so that bounds and constants are kept exactly.
    cost    : O(n d log n)
    """
    result = np.empty(records.shape)
    counts = np.bincount(groups)
    starts = np.cumsum(counts) - counts
    by_group = np.argsort(groups, kind="stable")
    if statistic == "random":
        drawn = starts + (rng.random(len(counts)) * counts).astype(np.int64)
        return np.asarray(records[by_group[drawn]][groups])
    for column, values in enumerate(records.T):
        size = sizes[column]
        if statistic == "mode" or size < 0:
            chosen = _modes(values, groups, rng)
        elif statistic == "mean" and size == 0:
            members = values[by_group]
            means = np.add.reduceat(members, starts) / counts
            chosen = np.clip(means, np.minimum.reduceat(members, starts), np.maximum.reduceat(members, starts))
        else:
            ranked = values[np.lexsort((values, groups))]
            lower, upper = ranked[starts + (counts - 1) // 2], ranked[starts + counts // 2]
            chosen = lower if size else lower + (upper - lower) / 2
        result[:, column] = chosen[groups]
    return result


def _modes(values: FloatArray, groups: IntArray, rng: Generator) -> FloatArray:
    """The most frequent value of each group, drawn among equals."""
    order = np.lexsort((values, groups))
    of_group, ranked = groups[order], values[order]
    first = np.ones(len(order), dtype=np.bool_)  # of a run of equal values in one group
    first[1:] = (of_group[1:] != of_group[:-1]) | (ranked[1:] != ranked[:-1])
    begins = np.flatnonzero(first)
    times = np.diff(np.append(begins, len(order)))
    best_last = np.lexsort((rng.random(len(begins)), times, of_group[begins]))
    ends = np.flatnonzero(np.diff(np.append(of_group[begins][best_last], groups.max() + 1)))
    return np.asarray(ranked[begins[best_last[ends]]])


def _size(column: pd.Series, variable: Variable) -> int:
    if variable.kind.is_numeric:
        return 0
    count = len(column.cat.categories)
    return count if variable.kind is Kind.ORDINAL else -count


def _categorical(positions: FloatArray, like: pd.Series) -> pd.Series:
    codes = np.where(np.isnan(positions), -1.0, positions).astype(np.int64)
    return pd.Series(pd.Categorical.from_codes(codes, categories=like.cat.categories, ordered=like.cat.ordered))
