"""Subset inference: by the few variables that serve best, another is read off the released records near in these.

Nobody needs to know which record is whose. A file may keep a few variables of each person together, among others that
were torn away or drawn anew: by all variables the distances drown, and by these the person's own record stands out. So
all sets of variables are tried. A record is near in a set if it is near in each of its variables; of the records near a
person, the share that holds the value to be read is the chance to read it rightly. Where none is near, the variable of
the set that tells people apart best is let go, and then the next: who has no record with a person's exact income still
reads what goes with their age. What is read of the people in the file beyond what is read of others, the file tells.

The set, the variable and the nearness that gain most on one half of the people are judged on the other half, both ways,
so that a look at many sets costs nothing. Others are people who took no part, the control; how well anybody is read off
the original without their household is taken off on both sides, so that a draw of the control decides less. Without a
control, the same people are read off a file that they are not in: the original without the person, and without their
household, whose members may share what is read or looked for by (Lasko and Vinterbo 2010, section II).

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023), the inference attack with a control. Differs from it: every set of
variables is known and every other one is read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.machine import threads
from sluice.ground.parallel_jobs import each_in_threads
from sluice.risk.attacks.attack_success import (
    FEWEST,
    Attacked,
    excess_of_participants,
    half_width,
    is_open,
    looks,
    sides_of,
    variance_of_mean,
    without_luck,
)
from sluice.risk.attacks.rare_combinations import subsets
from sluice.risk.measurement import Measurement

CodeArray = npt.NDArray[np.int32]
Column = npt.NDArray[Any]


@dataclass(frozen=True)
class NearValues:
    """One variable of the records of a file, and of the people who are looked for in it.

    A category is near only itself, as is a missing value. A number is near numbers of about the same rank, each within
    its own file, so that no change of scale hides it; and near itself.

    codes  : (m,) of each record's value, in the order of the values where they are numbers
    equal  : (q,) the code of each person's value, -1 where no record has it
    ranks  : of each code but that of missing values, from 0 to 1; None for categories
    places : (q,) the rank of each person's value among the people, NaN where missing; None for categories
    """

    codes: CodeArray
    equal: CodeArray
    ranks: FloatArray | None = None
    places: FloatArray | None = None

    @classmethod
    def of(cls, file: Column, people: Column, population: Column) -> "NearValues":
        """file, people : numbers (NaN where missing) or texts; population : those among whom people have their ranks"""
        if not all(values.dtype.kind == "f" for values in (file, people, population)):
            both, _ = pd.factorize(np.concatenate([file, people]).astype(object), use_na_sentinel=False)
            return cls(both[: len(file)].astype(np.int32), both[len(file) :].astype(np.int32))
        values = np.append(np.unique(file[~np.isnan(file)]), np.nan)  # missing comes last
        codes = np.where(np.isnan(file), len(values) - 1, np.searchsorted(values[:-1], file))
        equal = np.where(np.isnan(people), len(values) - 1, np.searchsorted(values[:-1], people))
        equal = np.where((values[equal] == people) | np.isnan(people), equal, -1)
        ranks = _ranks(values[:-1], np.sort(file[~np.isnan(file)]))
        places = _ranks(people, np.sort(population[~np.isnan(population)]))
        return cls(codes.astype(np.int32), equal.astype(np.int32), ranks, places)

    def window(self, within: float) -> tuple[CodeArray, CodeArray]:
        """Of each person the first and the last code whose rank is as near as that; where there is none, 0 and -1."""
        first, last = np.zeros(len(self.equal), np.int32), np.full(len(self.equal), -1, np.int32)
        if self.ranks is not None and self.places is not None and within > 0:
            held = ~np.isnan(self.places)
            first[held] = np.searchsorted(self.ranks, self.places[held] - within, "left")
            last[held] = np.searchsorted(self.ranks, self.places[held] + within, "right") - 1
        return first, last


def _ranks(values: FloatArray, ordered: FloatArray) -> FloatArray:
    """The share of the ordered values below each value, ties halved; NaN where it is missing."""
    below, at_most = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.where(np.isnan(values), np.nan, (below + at_most) / (2 * max(1, len(ordered))))


NEAR = (0.0, 0.01, 0.05)  # in ranks: equal, a hundredth of the people, a twentieth
_TOGETHER = 15  # variables of which all sets are tried
_PART = 4  # more variables are cut into parts of so many, of which three are tried together,
_TRIPLES = 60  # so many, at random where there are more
_SCOUTS = 1_000  # people of each side, in each half, by whom triples of parts are compared,
_SEARCHERS = 2_000  # and by whom sets of variables are
_OTHERS = 10_000  # records of the original by which is told how well a person is read anyway, at most
_NOBODY = -1  # the unit of people of whom no record is their own


@dataclass(frozen=True)
class SubsetInference:
    """How much better people in the file are read.

    measurement : value is the share of them read rightly, baseline that of others; the interval is the baseline plus
                  that of the difference; higher is worse
    chosen      : for either half, the variables known and the one that is read
    """

    measurement: Measurement
    chosen: tuple[tuple[tuple[str, ...], str], ...]


@dataclass(frozen=True)
class _Choice:
    """A set of variables (by position), the one that is read, how near values are, and what is gained as far as that
    is certain."""

    known: tuple[int, ...]
    read: int
    within: float
    gain: float


@dataclass(frozen=True)
class _Side:
    """People and the file in which they are looked for; of it, records of their own unit are passed over."""

    variables: Sequence[NearValues]
    units: IntArray  # (q,) who belongs together, from 0
    records: IntArray  # (m,) the unit of each record, -2 where it is nobody's

    def near(self, chosen: Sequence[int], within: float, people: IntArray) -> tuple[IntArray, ...]:
        """As the compiled loops take it."""
        variables = [self.variables[at] for at in chosen]
        windows = [each.window(within) for each in variables]
        return (
            np.stack([each.codes for each in variables]),
            np.stack([first[people] for first, _ in windows]),
            np.stack([last[people] for _, last in windows]),
            np.stack([each.equal[people] for each in variables]),
            self.records,
            self.units[people],
        )

    def read(self, choice: _Choice, within: float, people: IntArray) -> FloatArray:
        """The chance to read each of these people rightly."""
        from sluice.risk.attacks.subset_inference_kernel import read_by_all

        return np.asarray(read_by_all(*self.near((*choice.known, choice.read), within, people)))

    def __len__(self) -> int:
        return len(self.units)


def subset_inference(attacked: Attacked) -> SubsetInference:
    """Read each column of a person off the released records that are near in any set of the others.

    attacked : at least 2 columns; its limit is that of the gain
    raises   : DataError for one column, fewer than 20 people on a side, no record, or columns that `gower_points`
               refuses
    cost     : for d columns up to 15, O(attacks (d x released records + d 2^d)) time for each of three nearnesses, and
              O(d (released records + 2^d)) memory. Of more columns, sets are tried within 15 at a time: sets of
              three, all of them up to 32 columns, and larger ones within those that served best
    """
    columns, rng, limit = attacked.columns, attacked.rng, attacked.limit
    original, released, control = attacked.original, attacked.released, attacked.control
    if len(columns) < 2:
        raise DataError(f"subset inference needs 2 columns; got {len(columns)}")
    people, records, *others = (each.in_random_order(rng) for each in attacked.points)
    if min([len(people), *map(len, others)]) < FEWEST or not len(records):
        raise DataError(
            f"subset inference needs {FEWEST} people in the file and {FEWEST} others, and a released record"
        )
    repeated = {name: _repeated(released[name]) for name in columns}
    columns = sorted(columns, key=lambda name: -repeated[name])
    before, after = ([plain_values(file[name]) for name in columns] for file in (original, released))
    of_units = attacked.belonging

    def references(most: int) -> list[_Side]:
        """The same people as `sides` has them, and records of the original that are not their own unit's."""
        if control is None:
            return []
        some, chosen, outside = people[:_OTHERS], people[:most], others[0][:most]
        file, records = [column[some] for column in before], of_units[0][some]
        looked_for = [column[chosen] for column in before]
        theirs = [plain_values(control[name])[outside] for name in columns]
        return [
            _side(file, looked_for, before, of_units[0][chosen], records),
            _side(file, theirs, before, np.full(len(outside), _NOBODY), records),
        ]

    def sides(most: int) -> list[_Side]:
        chosen = people[:most]
        looked_for, mine = [column[chosen] for column in before], of_units[0][chosen]
        if control is not None:
            outside = others[0][:most]
            theirs = [plain_values(control[name])[outside] for name in columns]
            return [_side(after, looked_for, before, mine), _side(after, theirs, before, of_units[1][outside])]
        kept = min(len(people), len(records))  # of two files of different size, the larger one would tell more
        without = [column[people[:kept]] for column in before]
        return [
            _side([column[records[:kept]] for column in after], looked_for, before, mine),
            _side(without, looked_for, before, mine, of_units[0][people[:kept]]),
        ]

    seed = int(rng.integers(2**62))
    for level, most in looks(attacked.attacks, limit, [len(people), *map(len, others)]):
        measured, chosen = _judged(sides(most), references(most), np.random.default_rng(seed), level)
        if limit is None or not is_open(measured.at_least_baseline().beyond_baseline(), limit):
            break
    return SubsetInference(
        measured, tuple((tuple(columns[at] for at in each.known), columns[each.read]) for each in chosen)
    )


def _side(
    file: Sequence[Column], people: Sequence[Column], population: Sequence[Column], units: IntArray,
    records: IntArray | None = None,
) -> _Side:  # fmt: skip
    """records : the unit of each; None: nobody's"""
    variables = [NearValues.of(*each) for each in zip(file, people, population, strict=True)]
    return _Side(variables, units, np.full(len(file[0]), -2) if records is None else records)


def _repeated(column: "pd.Series[Any]") -> float:
    """The chance that two records have the same value."""
    return float((column.value_counts(normalize=True, dropna=False) ** 2).sum())


def _judged(
    sides: Sequence[_Side], references: Sequence[_Side], rng: np.random.Generator, level: float
) -> tuple[Measurement, list[_Choice]]:
    """What serves best on one half of the units, on the other half; both ways.

    references : the people of both sides, and a file that tells how well they are read anyway. None: both sides are the
                 same people in the same order
    """
    chosen, rights = [], [np.zeros(len(side)) for side in sides]
    halves = [sides_of(side.units) for side in sides]
    for half in (0, 1):
        seen = [np.flatnonzero(of == half)[:_SEARCHERS] for of in halves]
        choice = _best(seen, sides, rng)
        rows = [np.flatnonzero(of != half) for of in halves]
        read = [side.read(choice, choice.within, each)[:, None] for side, each in zip(sides, rows, strict=True)]
        if references:
            read = without_luck(
                read,
                [
                    np.stack([side.read(choice, near, each) for near in (choice.within, NEAR[-1])], axis=1)[:, None]
                    for side, each in zip(references, rows, strict=True)
                ],
            )
        for right, each, values in zip(rights, rows, read, strict=True):
            right[each] = values[:, 0]
        chosen.append(choice)
    if references:
        return excess_of_participants(rights[0][None], rights[1][None], (sides[0].units, sides[1].units), level), chosen
    value, baseline, n = float(rights[0].mean()), float(rights[1].mean()), len(rights[0])
    variance = variance_of_mean(rights[0] - rights[1], sides[0].units)
    width = half_width(variance, len(np.unique(sides[0].units)), level)
    interval = max(0.0, value - width), min(1.0, value + width)
    return Measurement(value, n, n, interval=interval, level=level, baseline=baseline), chosen


def _best(halves: Sequence[IntArray], sides: Sequence[_Side], rng: np.random.Generator) -> _Choice:
    """The choice that gains most on these people."""
    d = len(sides[0].variables)
    if d <= _TOGETHER:
        return _strongest(_tried(range(d), within, halves, sides) for within in NEAR)
    scouts = [half[:_SCOUTS] for half in halves]
    places = rng.permutation(d)
    parts = np.array_split(places, ceil(d / _PART))
    found = sorted(
        (
            _tried(sorted(int(at) for part in three for at in parts[part]), NEAR[1], scouts, sides)
            for three in subsets(len(parts), 3, _TRIPLES, rng)
        ),
        key=lambda each: -each.gain,
    )
    together = list(dict.fromkeys(at for each in found for at in (*each.known, each.read)))[:_TOGETHER]
    return _strongest(_tried(sorted(together), within, halves, sides) for within in NEAR)


def _strongest(found: Iterator[_Choice]) -> _Choice:
    return max(found, key=lambda each: each.gain)


def _tried(chosen: Sequence[int], within: float, halves: Sequence[IntArray], sides: Sequence[_Side]) -> _Choice:
    """The best set among these variables, and the one that is read."""
    shares = [_summed(side, chosen, within, people) / len(people) for side, people in zip(sides, halves, strict=True)]
    errors = [np.sqrt(share * (1 - share).clip(0) / len(people)) for share, people in zip(shares, halves, strict=True)]
    # Sums of parts differ by rounding with the number of processors: what is equal but for that is equal.
    certain = np.round(shares[0] - shares[1] - np.hypot(*errors), 12)
    for bit in range(len(chosen)):  # what is known need not be read
        certain[bit, (np.arange(certain.shape[1]) >> bit & 1) == 1] = -1.0
    read, known = np.unravel_index(int(certain.argmax()), certain.shape)
    members = tuple(at for bit, at in enumerate(chosen) if int(known) >> bit & 1)
    return _Choice(members, chosen[int(read)], within, float(certain[read, known]))


def _summed(side: _Side, chosen: Sequence[int], within: float, people: IntArray) -> FloatArray:
    from sluice.risk.attacks.subset_inference_kernel import read_by_subsets

    parts = each_in_threads(
        lambda part: read_by_subsets(*side.near(chosen, within, part)), np.array_split(people, threads())
    )
    return np.asarray(sum(parts), dtype=np.float64)
