"""Singling out: whether the file lets an intruder describe exactly one person.

The intruder reads descriptions off the released file ("at least 71 years old, and a widow, and works in a bank") that
fit exactly one released record, and is right if exactly one person of the original fits.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023), the singling-out attack, univariate and multivariate; Cohen and
Nissim (2020) for what chance does. Differs from it: the share is of the descriptions that were found; twins in the
original stay two people; dates and ordinal categories have an order as numbers have; a random description says "is",
"at most" or "at least", never "is not"; and what a control of another size would have done is estimated without a form
assumed for the weights of the descriptions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.ground.variables import Variables
from sluice.risk.attacks.attack_success import AttackSuccess, ControlledAttack
from sluice.risk.distances.gower import GowerPoints, gower_points

CodeArray = npt.NDArray[np.int32]

Mode = Literal["univariate", "multivariate"]

_BATCH = 4096  # descriptions that are made at a time
_MOST_COUNTED = 64  # people of a smaller control that fit; where so many do, nobody is alone in the original's size
_STEPS = 200  # of the estimate for another size; more would follow the noise of the counts
_WEIGHTS = 48  # expected numbers of fitting people that it mixes


@dataclass(frozen=True)
class CodedFile:
    """A file in which the people who fit a description are found quickly.

    codes   : shape (d, n), the rank of each value among the values of all files, the highest code where missing
    order   : shape (d, n), the rows of each column by rising code, and
    in_order: shape (d, n), these codes
    """

    codes: CodeArray
    order: CodeArray
    in_order: CodeArray

    @classmethod
    def of(cls, codes: CodeArray) -> "CodedFile":
        order = np.argsort(codes, axis=1, kind="stable").astype(np.int32)
        return cls(codes, order, np.take_along_axis(codes, order, axis=1))

    @property
    def records(self) -> int:
        return int(self.codes.shape[1])


@dataclass(frozen=True)
class Descriptions:
    """Conjunctions of conditions 'low <= code of the column <= high', all arrays of shape (q, c)."""

    columns: CodeArray
    low: CodeArray
    high: CodeArray

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, rows: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> "Descriptions":
        return Descriptions(self.columns[rows], self.low[rows], self.high[rows])

    def followed_by(self, others: "Descriptions") -> "Descriptions":
        """Both, each description once, in the order in which they first came."""
        every = np.concatenate([self._rows, others._rows])
        first = np.sort(np.unique(every, axis=0, return_index=True)[1])
        columns, low, high = np.split(every[first], 3, axis=1)
        return Descriptions(columns, low, high)

    @property
    def _rows(self) -> CodeArray:
        return np.concatenate([self.columns, self.low, self.high], axis=1)


def singling_out(
    original: pd.DataFrame,
    released: pd.DataFrame,
    control: pd.DataFrame,
    variables: Variables,
    columns: Sequence[str],
    mode: Mode,
    attributes: int,
    attacks: int,
    rng: np.random.Generator,
    attempts: int = 1_000_000,
) -> ControlledAttack:
    """Describe released records so that each description fits one of them, and count the people it fits.

    original, released, control : typed by `variables`, at least one record each, any index
    columns    : what descriptions may speak of
    mode       : univariate: by one column, a value that stands once, or the lowest or highest one. Multivariate: a
                 random record's values in random columns; a number, date or ordinal category as 'at least' above the
                 released median and as 'at most' elsewhere, other categories and missing values as they are
    attributes : columns in a multivariate description, 1 to the number of columns
    attacks    : descriptions asked for; those found may be fewer
    attempts   : descriptions tried at most, in multivariate mode; all that there are, each once, if they are fewer
    returns    : completed are the descriptions found. The success on the control is what it would be among as many
                 people as the original has (`growth`)
    raises     : DataError for an empty file, or columns that `gower_points` refuses
    cost       : per description the people who fit its rarest condition; O(d n log n) for the index
    """
    files = gower_points(columns, variables, original, released, control)
    if not all(len(points) for points in files):
        raise DataError("singling out needs records in the original, the released and the control file; one is empty")
    if not 1 <= attributes <= len(columns):
        raise DataError(
            f"attributes of singling_out must be from 1 to the number of columns, {len(columns)}; got {attributes}"
        )
    levels, coded = _coded(files)
    people, others = CodedFile.of(coded[0]), CodedFile.of(coded[2])
    file = CodedFile.of(coded[1][:, files[1].in_random_order(rng)])  # so that their order does not show in the draws
    ordered = np.arange(len(levels)) < files[0].numbers.shape[1]
    if mode == "univariate":
        found = _by_one_column(file, levels, ordered, attacks, rng)
    else:
        found = _by_several_columns(file, levels, ordered, attributes, attacks, attempts, rng)
    random = _at_random(file, levels, ordered, 1 if mode == "univariate" else attributes, attacks, rng)
    main = AttackSuccess(attacks, len(found), int((fitting(people, found, 2) == 1).sum()))
    baseline = float((fitting(people, random, 2) == 1).mean())
    return ControlledAttack(main, _control(others, found, people.records, attacks), baseline)


def fitting(file: CodedFile, descriptions: Descriptions, most: int) -> IntArray:
    """Shape (q,): how many records fit each description, counted up to `most`."""
    from sluice.risk.attacks.singling_out_kernel import count_fitting  # compiled code, loaded where it is needed

    counts = count_fitting(
        file.codes, file.order, file.in_order, descriptions.columns, descriptions.low, descriptions.high, most
    )
    return np.asarray(counts, dtype=np.int64)


def growth(counts: IntArray, records: int, size: int) -> float:
    """How many times as many descriptions would fit exactly one person among `size` people as do among `records`.

    counts  : shape (q,), people of `records` that fit each description, for at least one exactly one
    size    : more than `records`; of fewer people, the answer needs no estimate
    returns : what the likeliest mixture of Poisson laws behind the counts gives: a description that expects x people
              fits exactly one with probability x exp(-x). Right within 6 % for twice the people; for four times, up to
              15 % too small, which makes the risk too large rather than too small
    source  : Simar (1976; the mixture); its steps are those of expectation and maximisation
    """
    values, times = np.unique(counts, return_counts=True)
    expected = np.geomspace(records / (20 * size), values[-1] + 1, _WEIGHTS)
    likelihood = values[:, None] * np.log(expected) - expected  # its logarithm, but for what cancels
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    share = np.full(_WEIGHTS, 1 / _WEIGHTS)
    for _ in range(_STEPS):
        behind = likelihood * share
        share = (times[:, None] * behind / behind.sum(axis=1, keepdims=True)).sum(axis=0) / len(counts)
    grown = expected * size / records
    return float((share * grown * np.exp(-grown)).sum() / (share * expected * np.exp(-expected)).sum())


def _control(others: CodedFile, found: Descriptions, size: int, attacks: int) -> AttackSuccess:
    """The success among as many people of the control as the original has.

    A larger control: what a random part of it gives on average, exactly. A smaller one: an estimate, and its guesses
    count for as many fewer as it had to be stretched; where it shows no success at all, there is nothing to stretch.
    """
    if others.records > size:
        from scipy.stats import hypergeom  # loaded where it is needed

        fits = fitting(others, found, others.records)
        right_on_average = float(np.sum(hypergeom.pmf(1, others.records, fits, size)))
        return AttackSuccess(attacks, len(found), min(len(found), right_on_average))
    fits = fitting(others, found, _MOST_COUNTED)
    right = int((fits == 1).sum())
    times = growth(fits, others.records, size) if right and others.records < size else 1.0
    if times <= 1:
        return AttackSuccess(attacks, len(found), right * times)
    return AttackSuccess(attacks, max(right, round(len(found) / times)), right)


def _coded(files: Sequence[GowerPoints]) -> tuple[CodeArray, list[CodeArray]]:
    """The number of values of each column, missing not counted, and each file's codes, shape (d, n); numbers first."""
    ends = np.cumsum([len(points) for points in files])
    columns = [np.concatenate(parts) for parts in zip(*(points.numbers.T for points in files), strict=True)]
    columns += [
        np.where(whole < 0, np.nan, whole)
        for whole in (np.concatenate(parts) for parts in zip(*(points.categories.T for points in files), strict=True))
    ]
    codes = np.empty((len(columns), ends[-1]), dtype=np.int32)
    levels = np.empty(len(columns), dtype=np.int32)
    for at, column in enumerate(columns):
        code, values = pd.factorize(column, sort=True)
        levels[at] = len(values)
        codes[at] = np.where(code < 0, len(values), code)
    return levels, np.split(codes, ends[:-1], axis=1)


def _alone(file: CodedFile, candidates: Descriptions) -> Descriptions:
    return candidates.take(fitting(file, candidates, 2) == 1)


def _by_one_column(
    file: CodedFile, levels: CodeArray, ordered: npt.NDArray[np.bool_], attacks: int, rng: np.random.Generator
) -> Descriptions:
    conditions = [np.empty((0, 3), dtype=np.int32)]
    for column, count in enumerate(levels):
        present = np.bincount(file.codes[column], minlength=count + 1)
        conditions.append(_conditions(column, np.repeat(np.flatnonzero(present == 1)[:, None], 2, axis=1)))
        held = np.flatnonzero(present[:count])
        if ordered[column] and len(held):
            conditions.append(_conditions(column, np.array([[0, held[0]], [held[-1], count - 1]])))
    columns, low, high = np.concatenate(conditions).T[:, :, None]
    found = _alone(file, Descriptions(columns, low, high))
    found = found.followed_by(found.take(np.zeros(0, dtype=np.int64)))  # each once
    return found.take(rng.permutation(len(found))[:attacks])


def _conditions(column: int, bounds: IntArray) -> CodeArray:
    return np.insert(bounds, 0, column, axis=1).astype(np.int32)


def _by_several_columns(
    file: CodedFile, levels: CodeArray, ordered: npt.NDArray[np.bool_], attributes: int, attacks: int, attempts: int,
    rng: np.random.Generator,
) -> Descriptions:  # fmt: skip
    middle = np.array([_median(codes, count) for codes, count in zip(file.codes, levels, strict=True)])
    empty = np.empty((0, attributes), dtype=np.int32)
    found = Descriptions(empty, empty, empty)
    for rows, columns in _draws(file.records, len(levels), attributes, attempts, rng):
        value = file.codes[columns, rows[:, None]]
        by_order = ordered[columns] & (value < levels[columns])
        upward = by_order & (value > middle[columns])
        low = np.where(by_order & ~upward, 0, value)
        high = np.where(upward, levels[columns] - 1, value)
        found = found.followed_by(_alone(file, Descriptions(columns, low.astype(np.int32), high.astype(np.int32))))
        if len(found) >= attacks:
            break
    return found.take(np.arange(min(attacks, len(found))))


def _draws(
    records: int, columns: int, attributes: int, attempts: int, rng: np.random.Generator
) -> Iterator[tuple[IntArray, CodeArray]]:
    """Random rows with random columns, in batches; where there are not more than `attempts` of both, each once."""
    if records * comb(columns, attributes) <= attempts:
        choices = np.array(list(combinations(range(columns), attributes)), dtype=np.int32)
        order = rng.permutation(records * len(choices))
        for start in range(0, len(order), _BATCH):
            drawn = order[start : start + _BATCH]
            yield drawn // len(choices), choices[drawn % len(choices)]
        return
    for start in range(0, attempts, _BATCH):
        size = min(_BATCH, attempts - start)
        yield rng.integers(records, size=size), _random_columns(columns, size, attributes, rng)


def _at_random(
    file: CodedFile, levels: CodeArray, ordered: npt.NDArray[np.bool_], attributes: int, count: int,
    rng: np.random.Generator,
) -> Descriptions:  # fmt: skip
    """Random columns, of each a random one of its released values, and a random one of 'is', 'at most', 'at least'."""
    columns = _random_columns(len(levels), count, attributes, rng)
    held = [np.unique(codes) for codes in file.codes]
    most = np.array([len(values) for values in held])
    place = (rng.random(columns.shape) * most[columns]).astype(np.int64)
    value = np.concatenate(held)[(np.cumsum(most) - most)[columns] + place]
    says = rng.integers(3, size=columns.shape)
    by_order = ordered[columns] & (value < levels[columns])
    low = np.where(by_order & (says == 1), 0, value)
    high = np.where(by_order & (says == 2), levels[columns] - 1, value)
    return Descriptions(columns, low.astype(np.int32), high.astype(np.int32))


def _random_columns(columns: int, size: int, attributes: int, rng: np.random.Generator) -> CodeArray:
    """Shape (size, attributes): different columns in each row, in rising order, so that equal choices are equal."""
    drawn = np.argsort(rng.random((size, columns)), axis=1)[:, :attributes]
    return np.sort(drawn, axis=1).astype(np.int32)


def _median(codes: CodeArray, missing: int) -> float:
    present = codes[codes < missing]
    return float(np.median(present)) if len(present) else 0.0
