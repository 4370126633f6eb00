"""Rare combinations: values that only one person of the original holds together, and that stand in the released file.

A synthesis or perturbation that copies parts of records gives such combinations away though no whole record is copied.
That a combination stands in a file by chance is measured on other people: had the person stayed out, theirs would be a
combination that the original does not hold, as are those of a control whose combinations are new to the original.

Source: Elliot, Manning, Mayes, Gurd and Bane (2005), minimal sample uniques; Giomi, Boenisch, Wehmeyer and Tasnadi
(2023), the control.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.attacks.attack_success import LEVEL, Units, quantile
from sluice.risk.measurement import Measurement

Table = list[npt.NDArray[Any]]

_LEVELS = 50  # groups of equal size into which the values of a number are put that has more
_MOST_CELLS = 1_000_000  # that are counted without sorting
_COMMON = 10  # people who hold each single value of a combination: what is rare by itself is another attack's


@dataclass(frozen=True)
class RareFinds:
    """Of each unit, persons or households, the combinations that were looked for and found, shape (units,) each.

    alone, found : combinations of these people alone, and those of them that the release holds
    new, hit     : of these people as others: combinations that the original does not hold, and the same of them
    """

    alone: FloatArray
    found: FloatArray
    new: FloatArray
    hit: FloatArray

    def __add__(self, other: "RareFinds") -> "RareFinds":
        """Of the same units, in files that were made of others of them."""
        pairs = ((self.alone, other.alone), (self.found, other.found), (self.new, other.new), (self.hit, other.hit))
        return RareFinds(*(one + two for one, two in pairs))

    def measurement(self) -> Measurement:
        """The share found, beside that of the others' combinations as the baseline. The interval is the baseline plus
        the 95 % interval of the difference, unit by unit; higher is worse."""
        looked_for = int(self.alone.sum())
        if not looked_for or not self.new.sum():
            return Measurement(0.0, looked_for, 0)
        value, baseline = float(self.found.sum() / looked_for), float(self.hit.sum() / self.new.sum())
        of_found = (self.found - value * self.alone) / looked_for
        of_hit = (self.hit - baseline * self.new) / self.new.sum()
        half = quantile(LEVEL) * sqrt(float(((of_found - of_hit) ** 2).sum()))
        low, high = max(0.0, value - half), min(1.0, value + half)
        return Measurement(value, looked_for, looked_for, interval=(low, high), baseline=baseline)


def rare_finds(
    original: Table,
    released: Table,
    control: Table,
    size: int,
    rng: np.random.Generator,
    most_subsets: int = 200,
    units: Units | None = None,
    kept: Collection[int] = (),
) -> RareFinds:
    """Look for the combinations of `size` values, each of them common, that one person alone holds.

    original, released, control : the same columns of three files as numbers (NaN where missing) or texts
    most_subsets : so many sets of columns, at random, where there are more
    units        : whose each record is, in `original` and in `control`, from 0; one number is the same people in both.
                   Somebody with several records is one; None: every record is somebody else's
    kept         : columns that the release has as they were. What they hold together stands in it anyhow: combinations
                   hold another value as well, and of the control only what people of the original have of them
    cost         : O(subsets x (n + m + c)), with a logarithm for sets of columns with many values and for units
    """
    n, m, c = len(original[0]), len(released[0]), len(control[0])
    inside, outside = units or (np.arange(n), np.arange(n, n + c))
    several = len(np.unique(inside)) < n or len(np.unique(outside)) < c
    codes = [np.concatenate(grouped(*columns)) for columns in zip(original, released, control, strict=True)]
    common = []
    for code in codes:
        holders = _people_of_codes(code[:n], inside, several, int(code.max(initial=0)) + 1)
        common.append(holders[code] >= _COMMON)
    alone, found, new, hit = (np.zeros(max(inside.max(initial=-1), outside.max(initial=-1)) + 1) for _ in range(4))

    def add(to: FloatArray, people: IntArray, of: IntArray, which: BoolArray) -> None:
        """Each combination once a unit."""
        who, cells = people[which], of[which]
        to += np.bincount(_different_pairs(cells, who)[1] if several else who, minlength=len(to))

    for chosen in subsets(len(codes), size, most_subsets, rng):
        own = [codes[column] for column in chosen if column in kept]
        if len(own) == size:
            continue
        of, cells = cell_of_each([codes[column] for column in chosen])
        usual: BoolArray = np.logical_and.reduce([common[column] for column in chosen])
        if own:
            there, different = cell_of_each(own)
            usual &= (np.bincount(there[:n], minlength=different) > 0)[there]
        in_original = _people_of_codes(of[:n], inside, several, cells)[of]
        in_release = (np.bincount(of[n : n + m], minlength=cells) > 0)[of]
        lone, unseen = (usual & (in_original == 1))[:n], (usual & (in_original == 0))[n + m :]
        add(alone, inside, of[:n], lone)
        add(found, inside, of[:n], lone & in_release[:n])
        add(new, outside, of[n + m :], unseen)
        add(hit, outside, of[n + m :], unseen & in_release[n + m :])
    return RareFinds(alone, found, new, hit)


def _people_of_codes(codes: IntArray, people: IntArray, several: bool, different: int) -> IntArray:
    """How many people have each code, shape (different,)."""
    return np.bincount(_different_pairs(codes, people)[0] if several else codes, minlength=different)


def _different_pairs(codes: IntArray, people: IntArray) -> tuple[IntArray, IntArray]:
    """Every code of somebody once: the codes, and whose they are."""
    base = int(people.max(initial=0)) + 1
    return np.divmod(np.unique(codes * base + people), base)


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
