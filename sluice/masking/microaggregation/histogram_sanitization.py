"""Histogram sanitization: halve the data again and again, in every dimension at once or along their widest axis.

The groups that are left take their mean. Each method names its source.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.sentence import percent
from sluice.masking.column_numbers import dummy_code
from sluice.masking.microaggregation.microaggregation_step import MicroaggregationStep
from sluice.masking.microaggregation.representatives import Scale, standardised


class RecursiveHistogramSanitization(MicroaggregationStep):
    """Microaggregate by cells of a histogram that is refined in every column at once; for a few columns."""

    method: Literal["recursive_histogram_sanitization"] = "recursive_histogram_sanitization"
    source: ClassVar[str] = (
        "Source: Lasko and Vinterbo (2010), section III-B2, after Chawla, Dwork, McSherry, Smith and Wee (2005). A "
        "cell with more than 2k records is cut at the median of each of its d columns into up to 2^d cells. With many "
        "columns the first cut leaves most records alone in their cells, which Lasko and Vinterbo (2010, section IV-E) "
        "show: nothing is masked then. Differs from it: such a file is refused, or a cell is not cut where that leaves "
        "fewer than k together; a column whose median is its largest value is cut below that value; nominal variables "
        "take the mode and ordinal ones the lower median of their cell."
    )
    small_cells: Literal["refuse", "whole"] = Field(
        default="refuse",
        description="if cutting a cell in every column leaves fewer than k records together. refuse: the step fails; "
        "whole: the cell is not cut",
    )

    example: ClassVar[str] = (
        "{method: recursive_histogram_sanitization, columns: [income, rent], k: 5, small_cells: whole}"
    )
    use_when: ClassVar[str] = (
        "Two or three numbers of very many people; with more columns it masks nothing. "
        "spectral_histogram_sanitization loses less."
    )
    preserves: ClassVar[str] = "Means exactly. Variances and correlations shrink, the more so the larger the cells."
    known_attack: ClassVar[str] = (
        "With many columns most cells have one record (Lasko and Vinterbo 2010, section IV-E); so small "
        "cells are refused. Equal sensitive values within a cell are disclosed."
    )
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 2 "
        "variables of Census (k: 5): 9 % found; 0 % surely found."
    )

    def partition(self, records: FloatArray, scales: Sequence[Scale], rng: Generator) -> IntArray:
        """Raises PlanError when cells of fewer than k records are left; the text says their share."""
        cells = histogram_cells(coded(records, scales), self.k, whole=self.small_cells == "whole")
        held = np.bincount(cells)[cells]
        if (held < self.k).any():
            raise PlanError(
                f"{self.method} on {', '.join(map(repr, self.columns))}: {percent((held < self.k).mean())} of the "
                f"records would share their cell with fewer than {self.k - 1} others, {percent((held == 1).mean())} "
                "with none. Use spectral_histogram_sanitization, or small_cells: whole, or fewer columns."
            )
        return cells


def coded(records: FloatArray, scales: Sequence[Scale]) -> FloatArray:
    """Records on comparable scales, each category a column of -1 and +1, as in Lasko and Vinterbo (2010), section IV-A.

    records : shape (n, d), numbers and positions of categories
    scales  : one for each column: a number is left as it is, the positions of an ordinal one are standardised; for two
              nominal categories one column is enough
    """
    columns = []
    for values, scale in zip(records.T, scales, strict=True):
        if scale.kind == "number":
            columns.append(values[:, None])
        elif scale.kind == "ordinal":
            columns.append(standardised(values[:, None]))
        else:
            dummies = dummy_code(values.astype(np.int64), scale.categories)
            columns.append(dummies[:, 1:] if scale.categories == 2 else dummies)
    return np.hstack(columns)


def histogram_cells(records: FloatArray, k: int, *, whole: bool) -> IntArray:
    """The cell of each record, numbered from 0 without a gap. A cell of more than 2k equal records stays one.

    records : shape (n, d), finite, n >= 1
    whole   : a cell is not cut if one of its parts would have fewer than k records; else cells may be of any size
    cost    : O(n d) for each cut of all cells; with independent columns there are about log2(n / k) / d
    """
    from sluice.risk.classes.equivalence_classes import equivalence_classes

    cells = np.zeros(len(records), dtype=np.int64)
    rows = np.arange(len(records))  # of the cells that may still be cut
    while True:
        sizes = np.bincount(cells)
        rows = rows[sizes[cells[rows]] > 2 * k]
        if not len(rows):
            return np.unique(cells, return_inverse=True)[1]
        values = pd.DataFrame(records[rows]).groupby(cells[rows])
        medians, highest = values.transform("median").to_numpy(), values.transform("max").to_numpy()
        upper = np.where(medians == highest, records[rows] >= medians, records[rows] > medians)
        parts = equivalence_classes([cells[rows], *upper.T.astype(np.int8)])
        cut_cell = np.empty_like(parts.sizes)
        cut_cell[parts.labels] = cells[rows]
        stays = np.bincount(cut_cell, minlength=len(sizes)) == 1
        if whole:
            stays[cut_cell[parts.sizes < k]] = True
        moves = ~stays[cells[rows]]
        cells[rows[moves]] = len(sizes) + parts.labels[moves]
        rows = rows[moves]


class SpectralHistogramSanitization(MicroaggregationStep):
    """Microaggregate by halving the records at the median of their widest principal axis; fast."""

    method: Literal["spectral_histogram_sanitization"] = "spectral_histogram_sanitization"
    source: ClassVar[str] = (
        "Source: Lasko and Vinterbo (2010), section III-B2 and Figure 1 (SPECTRAL-RHS): on T = U D, a set of more than "
        "2k records is parted at the median of the column with the largest range. As MASK is the mean, and a mean is "
        "the same on any axes, the groups are formed on T and the means taken of the columns themselves. Differs from "
        "it: logarithms are not taken; ordinal variables are standardised by position; nominal variables take the mode "
        "and ordinal ones the lower median of their group."
    )

    example: ClassVar[str] = "{method: spectral_histogram_sanitization, columns: [income, rent, region], k: 5}"
    use_when: ClassVar[str] = (
        "Many columns of millions of people must be k-anonymous together. MDAV is slower and keeps more."
    )
    preserves: ClassVar[str] = (
        "Means exactly, correlations roughly; variances shrink by a third to a half with thirty columns "
        "(Lasko and Vinterbo 2010, Table I) unless `restore_variance`."
    )
    known_attack: ClassVar[str] = (
        "The nearest released record is a person's own in one of k to 2k cases, unknown which (Lasko and "
        "Vinterbo 2010, section V). Equal sensitive values within a group are disclosed."
    )
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 12 "
        "variables of Census (k: 5): 8 % found; 0 % surely found."
    )

    def partition(self, records: FloatArray, scales: Sequence[Scale], rng: Generator) -> IntArray:
        return spectral_groups(coded(records, scales), self.k)


def spectral_groups(records: FloatArray, k: int) -> IntArray:
    """The group of each record, numbered from 0; k to 2k records each.

    records : shape (n, d), finite; on scales that may be compared
    raises  : PlanError if n < k
    cost    : O(n d^2) for the axes, O(n d log(n / k)) for the groups, one more n x d matrix
    """
    from sluice.masking.microaggregation.histogram_sanitization_kernel import halve

    if len(records) < k:
        raise PlanError(f"spectral_histogram_sanitization needs at least k = {k} records; there are {len(records)}.")
    centred = records - records.mean(axis=0)
    _, basis = np.linalg.eigh(centred.T @ centred)
    groups: IntArray = halve(np.ascontiguousarray(centred @ basis[:, ::-1]), k)  # the widest axes first, as in U D
    return groups
