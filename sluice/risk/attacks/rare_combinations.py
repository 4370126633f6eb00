"""Rare combinations: values that only one person of the original holds together, and that stand in the released file.

A synthesis or perturbation that copies parts of records gives such combinations away though no whole record is copied.
That a combination stands in a file by chance is measured on other people: had the person stayed out, theirs would be a
combination that the original does not hold, as are those of a control whose combinations are new to the original.

Source: Elliot, Manning, Mayes, Gurd and Bane (2005), minimal sample uniques; Giomi, Boenisch, Wehmeyer and Tasnadi
(2023), the control.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.attacks.attack_success import LEVEL, quantile
from sluice.risk.measurement import Measurement

Table = list[npt.NDArray[Any]]

_LEVELS = 50  # groups of equal size into which the values of a number are put that has more
_MOST_CELLS = 1_000_000  # that are counted without sorting
_COMMON = 10  # people who hold each single value of a combination: what is rare by itself is another attack's


def rare_combinations(
    original: Table,
    released: Table,
    control: Table,
    size: int,
    rng: np.random.Generator,
    most_subsets: int = 200,
) -> Measurement:
    """Share of the combinations of `size` values, each of them common, of one person alone that the release holds.

    original, released, control : the same columns of three files as numbers (NaN where missing) or texts
    most_subsets : so many sets of columns, at random, where there are more
    returns      : attempted and completed count the combinations looked for. Baseline: the share of the control's
                   combinations that are new to the original and that the release holds. The interval is the baseline
                   plus the 95 % interval of the difference, person by person; higher is worse
    cost         : O(subsets x (n + m + c)), with a logarithm for sets of columns with many values
    """
    n, m = len(original[0]), len(released[0])
    codes = [np.concatenate(grouped(*columns)) for columns in zip(original, released, control, strict=True)]
    common = [np.bincount(code[:n], minlength=code.max(initial=0) + 1)[code] >= _COMMON for code in codes]
    alone, found = np.zeros(n), np.zeros(n)
    new, hit = np.zeros(len(control[0])), np.zeros(len(control[0]))
    for chosen in subsets(len(codes), size, most_subsets, rng):
        of, cells = cell_of_each([codes[column] for column in chosen])
        usual: BoolArray = np.logical_and.reduce([common[column] for column in chosen])
        in_original = np.bincount(of[:n], minlength=cells)[of]
        in_release = (np.bincount(of[n : n + m], minlength=cells) > 0)[of]
        lone, unseen = usual & (in_original == 1), usual & (in_original == 0)
        alone += lone[:n]
        found += (lone & in_release)[:n]
        new += unseen[n + m :]
        hit += (unseen & in_release)[n + m :]
    looked_for = int(alone.sum())
    if not looked_for or not new.sum():
        return Measurement(0.0, looked_for, 0)
    value, baseline = float(found.sum() / looked_for), float(hit.sum() / new.sum())
    half = quantile(LEVEL) * sqrt(_variance_of_share(found, alone) + _variance_of_share(hit, new))
    low, high = max(0.0, value - half), min(1.0, value + half)
    return Measurement(value, looked_for, looked_for, interval=(low, high), baseline=baseline)


def grouped(*files: npt.NDArray[Any]) -> list[IntArray]:
    """A column of several files as codes from 0: labels, or numbers in groups of about equal size in the first file.

    A number with few values keeps them apart; missing is a code of its own.
    """
    columns = list(files)
    if all(column.dtype.kind == "f" for column in files):
        present = columns[0][~np.isnan(columns[0])]
        if len(np.unique(present)) > _LEVELS:
            edges = np.unique(np.quantile(present, np.arange(1, _LEVELS) / _LEVELS))
            columns = [
                np.where(np.isnan(column), np.nan, np.searchsorted(edges, column, "right").astype(np.float64))
                for column in columns
            ]
    codes, _ = pd.factorize(np.concatenate([column.astype(object) for column in columns]), use_na_sentinel=False)
    return list(np.split(codes.astype(np.int64), np.cumsum([len(column) for column in columns])[:-1]))


def cell_of_each(codes: Sequence[IntArray]) -> tuple[IntArray, int]:
    """The combination of codes in each row, as a number from 0, and how many numbers there are; not all need occur."""
    of, cells = np.zeros(len(codes[0]), np.int64), 1
    for code in codes:
        width = int(code.max(initial=0)) + 1
        of, cells = of * width + code, cells * width
        if cells > _MOST_CELLS:
            distinct, of = np.unique(of, return_inverse=True)
            cells = len(distinct)
    return of, cells


def subsets(columns: int, size: int, most: int, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """All sets of `size` columns, or `most` different ones at random."""
    if size > columns:
        return
    if comb(columns, size) <= most:
        yield from combinations(range(columns), size)
        return
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(int(column) for column in rng.choice(columns, size, replace=False))))
    yield from sorted(drawn)


def _variance_of_share(found: FloatArray, of: FloatArray) -> float:
    """Of found.sum() / of.sum(), the people being independent and their combinations not."""
    share = found.sum() / of.sum()
    return float(((found - share * of) ** 2).sum() / of.sum() ** 2)
