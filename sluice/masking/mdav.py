"""Microaggregation by MDAV: groups of at least k similar records, each replaced by its representative.

Sources: 003_0f0d8e36196db89a.txt, "MDAV-generic" (its step "closest to x-bar" is read as closest to x_r, and its bounds
2k and 3k - 1 in the right order); 004_1eece6b9d3791e64.txt, "MDAV microaggregation" (whose last group may be smaller
than k: not here). As in 004, the second group of a round is formed around the record that is farthest from x_r among
those that the first group leaves.
"""

from typing import Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.errors import PlanError
from sluice.masking.mdav_kernel import group_records
from sluice.masking.perturbed_number import FloatArray, numbers, perturbed, stored
from sluice.masking.step import MaskingStep
from sluice.variables import Kind, Variable, Variables

IntArray = npt.NDArray[np.int64]


class Microaggregation(MaskingStep):
    """Microaggregate continuous, integer and ordinal columns together: at least k records share their values."""

    method: Literal["microaggregation"] = "microaggregation"
    algorithm: Literal["mdav"] = "mdav"
    k: int = Field(description="smallest number of records in a group, at least 2")
    standardise: bool = Field(default=True, description="give each column variance 1 in the distance")
    representative: Literal["mean", "median"] = Field(
        default="mean", description="what stands for a group; of an ordinal column always the (lower) median"
    )
    restore_variance: bool = Field(default=False, description="rescale numbers to the original means and variances")
    missing: Literal["refuse", "by_pattern"] = Field(
        default="refuse", description="by_pattern: group records with others that miss the same columns"
    )
    round: bool = Field(
        default=False, description="round integer variables to whole numbers; else they become continuous"
    )

    @model_validator(mode="after")
    def _k_makes_groups(self) -> Self:
        if self.k < 2:
            raise ValueError(
                f"k of microaggregation on {', '.join(map(repr, self.columns))} must be at least 2; got {self.k}. "
                "A group of one record is the record."
            )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`; bounds hold, but for `restore_variance`."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL)
        changed = {
            name: perturbed(variables[name], whole=self.round, bounded=not self.restore_variance)
            for name in self.columns
            if variables[name].kind.is_numeric
        }
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Draws nothing. Raises PlanError on fewer than k records, and on missing values as `missing` says."""
        released = self.released(variables)
        original = numbers(frame, self.columns)
        ordinal = np.array([variables[name].kind is Kind.ORDINAL for name in self.columns])
        masked = self._aggregated(original, ordinal)
        columns = {}
        for name, before, after in zip(self.columns, original.T, masked.T, strict=True):
            column = frame[name]
            if variables[name].kind is Kind.ORDINAL:
                codes = np.where(np.isnan(after), -1.0, after).astype(np.int64)
                columns[name] = pd.Series(
                    pd.Categorical.from_codes(codes, categories=column.cat.categories, ordered=column.cat.ordered)
                )
            elif self.restore_variance:
                columns[name] = stored(self._restored(name, before, after), released[name])
            else:
                columns[name] = stored(after, released[name])
        return frame.assign(**{name: column.set_axis(frame.index) for name, column in columns.items()})

    def describe(self) -> str:
        said = (
            f"In {', '.join(self.columns)}, similar records were put into groups of at least {self.k}, and each value "
            f"was replaced by the {self.representative} of its group"
        )
        return said + ("; means and variances are those of the original." if self.restore_variance else ".")

    def _aggregated(self, original: FloatArray, ordinal: npt.NDArray[np.bool_]) -> FloatArray:
        """Each record's representative, NaN where missing. Raises PlanError as `mask` says."""
        absent = np.isnan(original)
        if self.missing == "refuse":
            for name, count in zip(self.columns, absent.sum(axis=0), strict=True):
                if count:
                    raise PlanError(
                        f"microaggregation on '{name}' takes no missing values; there are {count}. "
                        "Use missing: by_pattern, or impute them first."
                    )
        named = ", ".join(map(repr, self.columns))
        if len(original) < self.k:
            raise PlanError(
                f"microaggregation on {named} needs at least k = {self.k} records; there are {len(original)}."
            )
        scaled = standardised(original) if self.standardise else original
        patterns, pattern = absent[:1], np.zeros(len(absent), dtype=np.int64)
        if absent.any():
            patterns, pattern = np.unique(absent, axis=0, return_inverse=True)
        masked = np.full(original.shape, np.nan)
        for number, pattern_absent in enumerate(patterns):
            rows = np.flatnonzero(pattern.ravel() == number)
            columns = np.flatnonzero(~pattern_absent)
            if len(rows) < self.k:
                raise PlanError(
                    f"microaggregation on {named} needs at least k = {self.k} records that miss the same columns; "
                    f"of one pattern there are {len(rows)}. Impute them, or name fewer columns."
                )
            if len(columns) == 0:
                continue
            cells = np.ix_(rows, columns)
            groups = mdav_groups(scaled[cells], self.k)
            masked[cells] = representatives(original[cells], groups, self.representative, ordinal[columns])
        return masked

    def _restored(self, name: str, before: FloatArray, after: FloatArray) -> FloatArray:
        if np.isnan(before).all() or np.nanmin(before) == np.nanmax(before):
            return after
        spread, left = np.nanstd(before), np.nanstd(after)
        if left <= 1e-9 * spread:  # nothing but rounding is left to be stretched
            raise PlanError(
                f"restore_variance of microaggregation on '{name}' needs groups that differ; with k = {self.k} they "
                "are alike. Use a smaller k."
            )
        restored: FloatArray = (after - np.nanmean(after)) * (spread / left) + np.nanmean(before)
        return restored


def standardised(records: FloatArray) -> FloatArray:
    """Each column with mean 0 and variance (n - 1) 1, a constant column as 0; NaN where missing. Shape (n, d)."""
    columns = np.full(records.shape, np.nan)
    for column, values in enumerate(records.T):
        present = np.isfinite(values)
        known = values[present]
        if len(known) and known.min() < known.max():
            columns[present, column] = (known - known.mean()) / known.std(ddof=1)
        else:
            columns[present, column] = 0.0
    return columns


def mdav_groups(records: FloatArray, k: int) -> IntArray:
    """The group of each record, numbered from 0 in the order of formation. Groups have k to 2k - 1 records.

    While 3k records are left: x_r is the one farthest from their centroid, its group are it and the k - 1 nearest to
    it; x_s is the one of the others farthest from x_r, its group likewise. Of 2k to 3k - 1 left, one group around x_r
    and one of the rest; of fewer, one group. Equal distances: the record that comes first.

    records : shape (n, d), finite, d >= 1; on scales that may be compared
    returns : shape (n,), exactly the groups of the definition in float64, with a correctly rounded centroid
    raises  : PlanError if n < k
    cost    : at worst O(n^2 d / k), far less where boxes around blocks of records tell them apart; O(n d) memory.
              100,000 x 10 with k = 3: about 1 s for data with a few factors, 2.5 s for independent normal columns
    """
    n, d = records.shape
    if n < k:
        raise PlanError(f"microaggregation needs at least k = {k} records; there are {n}.")
    centred = records - records.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    rotated = np.ascontiguousarray(centred @ axes)
    largest = np.sqrt((rotated**2).sum(axis=1).max())
    # A rotated row is off by at most d^1.5 eps |row|, and so a distance by twice that; the rest is margin.
    slack = 64.0 * d**1.5 * np.finfo(np.float64).eps * largest
    groups: IntArray = group_records(np.ascontiguousarray(records), rotated, k, slack)
    return groups


def representatives(
    records: FloatArray, groups: IntArray, statistic: Literal["mean", "median"], ordinal: npt.NDArray[np.bool_]
) -> FloatArray:
    """Each record's group mean or median, by column. Shape (n, d).

    records : shape (n, d), finite
    ordinal : shape (d,), columns of positions, which get the lower median: a position that occurs in the group
    A mean never leaves its group's range by rounding, so that bounds and constants are kept exactly.
    """
    result = np.empty(records.shape)
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    by_group = np.argsort(groups, kind="stable")
    for column, values in enumerate(records.T):
        if statistic == "mean" and not ordinal[column]:
            members = values[by_group]
            means = np.add.reduceat(members, starts) / sizes
            chosen = np.clip(means, np.minimum.reduceat(members, starts), np.maximum.reduceat(members, starts))
        else:
            ranked = values[np.lexsort((values, groups))]
            lower, upper = ranked[starts + (sizes - 1) // 2], ranked[starts + sizes // 2]
            chosen = lower if ordinal[column] else lower + (upper - lower) / 2
        result[:, column] = chosen[groups]
    return result
