"""k-map: how many people of a population share the combination of keys that a released record shows.

Source: Desfontaines (2020), section 2.1.1 (identities are found by linking the file with a list of people);
Sweeney (2002) for the name. A file satisfies k-map if every record fits at least k people of the list. Lower is worse.

The list is in the released categories: one row a person, or one row a combination with the number of people. A record
that fits nobody has the frequency 0: the list is then not one of everybody, and the record is not protected by it.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.equivalence_classes import category_codes, equivalence_classes
from sluice.risk.measurement import Measurement


def population_frequencies(
    frame: pd.DataFrame,
    population: pd.DataFrame,
    columns: Sequence[str],
    counts: IntArray | None = None,
    missing_matches: Literal["category", "any"] = "category",
) -> IntArray:
    """For each record of a file, how many people of the population fit its combination of keys.

    frame, population : typed alike in `columns`, any index; n and m rows
    counts            : shape (m,), people that each row stands for, 0 or more; 1 when not given
    missing_matches   : category, a missing key fits a missing key alone; any, one of the
                        record fits anybody, and a person of the list whose key is missing vouches for nobody
    returns           : shape (n,)
    raises            : DataError if a column is missing or of another type in the population, or a count is wrong
    cost              : O((n + m) keys), times the number of pairs of patterns of missing keys with 'any'
    """
    for name in columns:
        if name not in population:
            raise DataError(f"k-map: the population has no column '{name}'.", came=name, allowed=population.columns)
    if counts is None:
        counts = np.ones(len(population), dtype=np.int64)
    if len(counts) != len(population):
        raise DataError(f"k-map needs one count a row of the population; got {len(counts)} for {len(population)} rows.")
    if len(counts) and counts.min() < 0:
        raise DataError("k-map: the counts of the population must be 0 or more.")
    n = len(frame)
    codes = [_joint_codes(frame[name], population[name]) for name in columns]
    if missing_matches == "category":
        return _joined(codes, np.arange(n), np.arange(n, n + len(counts)), counts)
    missing = np.column_stack([np.concatenate([side[name].isna() for side in (frame, population)]) for name in columns])
    patterns, pattern = np.unique(missing, axis=0, return_inverse=True)
    frequency = np.zeros(n, dtype=np.int64)
    rows = [np.flatnonzero(pattern == label) for label in range(len(patterns))]
    for ours, mine in zip(patterns, rows, strict=True):
        records = mine[mine < n]
        for others, theirs in zip(patterns, rows, strict=True):
            people = theirs[theirs >= n]
            if len(records) and len(people) and not (others & ~ours).any():
                shown = [code for code, gap in zip(codes, ours, strict=True) if not gap]
                frequency[records] += _joined(shown, records, people, counts[people - n])
    return frequency


def k_map(frequencies: IntArray) -> Measurement:
    """The largest k for which the file satisfies k-map: the smallest of the `population_frequencies`."""
    if not len(frequencies):
        raise DataError("k-map needs at least one record; got none.")
    return Measurement(
        value=float(frequencies.min()), attempted=len(frequencies), completed=len(frequencies), worse="lower"
    )


def _joint_codes(ours: "pd.Series", theirs: "pd.Series") -> IntArray:
    """Codes of the values of both files, equal for equal values."""
    if pd.api.types.is_numeric_dtype(ours.dtype) != pd.api.types.is_numeric_dtype(theirs.dtype):
        raise DataError(
            f"k-map: '{ours.name}' must be of one type in both files; got {ours.dtype} and {theirs.dtype} in the "
            "population."
        )
    if isinstance(ours.dtype, pd.CategoricalDtype) and isinstance(theirs.dtype, pd.CategoricalDtype):
        known = ours.cat.categories.union(theirs.cat.categories, sort=False)
        ours, theirs = ours.cat.set_categories(known), theirs.cat.set_categories(known)
    return category_codes(pd.concat([ours, theirs], ignore_index=True)).astype(np.int64)


def _joined(codes: list[IntArray], records: IntArray, people: IntArray, counts: IntArray) -> IntArray:
    """For each of the records, the count of the people who have the same codes; without codes, of all."""
    if not codes:
        return np.full(len(records), counts.sum(), dtype=np.int64)
    rows = np.concatenate([records, people])
    classes = equivalence_classes([code[rows] for code in codes])
    held = np.zeros(len(classes.sizes), dtype=np.int64)
    np.add.at(held, classes.labels[len(records) :], counts)
    return held[classes.labels[: len(records)]]
