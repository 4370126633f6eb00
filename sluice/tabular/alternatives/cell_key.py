"""Cell-key perturbation: noise that a cell's own records decide, the same in every table and edition.

Each record has a key, uniform and secret, that never changes. The key of a cell is the fractional part of the sum of
the keys of its records; with the count it looks up the noise in a perturbation table. So one cell has one figure
however often and wherever it is published, repeating a query averages nothing out, and two cells that differ by a
single record have independent keys: their difference tells little of that record. Every cell is perturbed on its own,
so published parts do not add up to published totals.

Source: Fraser and Wooton (2005); Thompson, Broadfoot and Elazar (2013), with noise on totals in proportion to the
largest contributions. Keys are whole numbers, as fractions of 2 ** 64, whose sums wrap: exact in any order of the
records.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from sluice.errors import DataError
from sluice.tabular.alternatives.perturbation_table import Keys, PerturbationTable
from sluice.tabular.model.cells import Cells, Codes, Integers, keys_of
from sluice.tabular.model.dimension import Dimension

_SECRET = 16  # bytes at least: 128 bits
_LEAST_NOISE = 0.5  # of the largest noise of a contribution


def record_keys(identifiers: Iterable[str], secret: bytes) -> Keys:
    """A key for each record: a keyed hash (BLAKE2b) of its identifier, as a fraction of 2 ** 64.

    identifiers : of the records, or of their contributors, the same text in every edition
    secret      : 16 to 64 bytes; whoever has it can take the noise out, and another secret makes other noise
    raises      : DataError for a secret that is too short or too long
    """
    if not _SECRET <= len(secret) <= hashlib.blake2b.MAX_KEY_SIZE:
        raise DataError(f"the secret of record keys must have {_SECRET} to 64 bytes; got {len(secret)}.")
    keyed = hashlib.blake2b(digest_size=8, key=secret, person=b"record key")
    digests = bytearray()
    for identifier in identifiers:
        one = keyed.copy()
        one.update(identifier.encode())
        digests += one.digest()
    return np.frombuffer(bytes(digests), dtype="<u8").astype(np.uint64)


def cell_keys(cells: Cells, leaves: Codes, keys: Keys) -> tuple[Integers, Keys]:
    """How many records each cell has, and its key; shapes (c,).

    leaves : shape (n, d), the position of each record's leaf in each dimension, as in `aggregate`
    keys   : shape (n,), of the records; records of one contributor may share a key
    raises : DataError when keys and leaves differ in length, or a cell has no record
    cost   : O(n log n), and O(m log c) for each combination of levels, m being the cells of leaves
    """
    if len(keys) != len(leaves):
        raise DataError(f"there must be one key for each record; got {len(keys)} keys and {len(leaves)} records.")
    dimensions = cells.dimensions
    leaves, number, sums = _added(dimensions, leaves, np.ones(len(leaves), dtype=np.int64), keys)
    wanted = keys_of(dimensions, cells.codes)
    order = np.argsort(wanted, kind="stable")
    ordered = wanted[order]
    counts, total = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=np.uint64)
    for columns in product(*(dimension.columns for dimension in dimensions)):
        codes = np.column_stack([column[leaves[:, axis]] for axis, column in enumerate(columns)])
        inside = (codes >= 0).all(axis=1)
        if not inside.any():
            continue
        codes, records, keyed = _added(dimensions, codes[inside], number[inside], sums[inside])
        given = keys_of(dimensions, codes)
        at = np.minimum(np.searchsorted(ordered, given), len(ordered) - 1)
        there = ordered[at] == given
        counts[order[at[there]]], total[order[at[there]]] = records[there], keyed[there]
    if not counts.all():
        raise DataError(f"{int((counts == 0).sum())} of {len(cells)} cells have no record among those given.")
    return counts, total


@dataclass(frozen=True, eq=False)
class PerturbedCounts:
    """Counts with noise, and what anybody can tell of them.

    published : shape (c,), 0 or more; a 0 must look like a cell that is empty, as it may be one
    keys      : shape (c,), secret
    table     : where the noise was looked up; it may be told to users
    """

    published: Integers
    keys: Keys
    table: PerturbationTable

    def says(self) -> str:
        """What is promised and what is not, for a reader."""
        table = self.table
        small = f" Counts from 1 to {table.threshold} are never published." if table.threshold else ""
        return (
            f"Every count has noise of mean 0 and variance {table.variance:g}, at most {table.maximum} up or down. "
            f"The same cell has the same figure in every table.{small} Parts do not add up to totals. Two cells that "
            f"differ by one record have independent noise, of variance {2 * table.variance:g} in their difference. Who "
            "makes the figures add up again by least squares averages some of the noise out."
        )

    def bounds(self) -> tuple[Integers, Integers]:
        """From what to what the count behind each figure may be, for who knows the perturbation table; shapes (c,)."""
        return self.table.origins(self.published)


def perturb_counts(cells: Cells, leaves: Codes, keys: Keys, table: PerturbationTable) -> PerturbedCounts:
    """The number of records of each cell, with the noise that its key looks up. Parameters as in `cell_keys`."""
    counts, keyed = cell_keys(cells, leaves, keys)
    return PerturbedCounts(counts + table.noise(counts, keyed), keyed, table)


def perturb_totals(cells: Cells, leaves: Codes, keys: Keys, magnitudes: Sequence[float]) -> Integers:
    """The total of each cell, with noise in proportion to its largest contributions; shape (c,).

    magnitudes : for the largest contribution, the second largest, ...: its greatest noise as a share of it. The noise
                 of a contribution is that times a factor from 1/2 to 1, up or down, drawn from the cell key. So every
                 total moves by at least (first / 2 - sum of the others) of its largest contribution. The mean is
                 0 and the variance 7/12 of the sum of (magnitude * contribution) ** 2, before the noise is made a whole
                 number, away from 0
    raises     : DataError for a magnitude outside (0, 1], rising ones, or more than there are contributions kept

    Where the same contributors report other values in the next edition, the cell keeps its key and the noise stays in
    proportion: levels are protected, a change of one large contributor shows nearly as it is.
    """
    if not magnitudes or not all(0 < magnitude <= 1 for magnitude in magnitudes):
        raise DataError(f"magnitudes must be above 0 and at most 1, as shares; got {list(magnitudes)}.")
    if any(after > before for before, after in pairwise(magnitudes)):
        raise DataError(f"magnitudes must not rise from one contribution to the next; got {list(magnitudes)}.")
    if len(magnitudes) > cells.largest.shape[1]:
        raise DataError(
            f"the cells keep their {cells.largest.shape[1]} largest contributions; got {len(magnitudes)} magnitudes."
        )
    _, keyed = cell_keys(cells, leaves, keys)
    noise = np.zeros(len(cells))
    for rank, magnitude in enumerate(magnitudes):
        drawn = _mixed(keyed, rank)
        size = _LEAST_NOISE + (1 - _LEAST_NOISE) * (drawn >> np.uint64(12)).astype(np.float64) / 2.0**52
        sign = np.where(drawn & np.uint64(1), 1.0, -1.0)
        noise += sign * size * magnitude * np.abs(cells.largest[:, rank])
    away = (np.sign(noise) * np.ceil(np.abs(noise))).astype(np.int64)
    return cells.total + away


@dataclass(frozen=True)
class NoiseUtility:
    """How far published figures are from the true ones, over all cells.

    mean, root_mean_square, largest : of the absolute differences, in units of the table
    relative   : the median of the absolute difference by the true figure, of cells that are not 0
    unchanged  : share of the cells
    false_zero : share of the cells that are published as 0 and are not
    additivity : the largest difference between a published total and the sum of its published parts
    """

    mean: float
    root_mean_square: float
    largest: float
    relative: float
    unchanged: float
    false_zero: float
    additivity: float


def noise_utility(cells: Cells, true: Integers, published: Integers) -> NoiseUtility:
    """Compare figures of the cells, counts or totals; shapes (c,). Raises DataError when there is no cell."""
    if not len(cells):
        raise DataError("there is no cell to compare.")
    difference = np.abs(published - true).astype(np.float64)
    has = true != 0
    gaps = np.abs(cells.equations @ published.astype(np.float64))
    return NoiseUtility(
        mean=float(difference.mean()),
        root_mean_square=float(np.sqrt((difference**2).mean())),
        largest=float(difference.max()),
        relative=float(np.median(difference[has] / np.abs(true[has]))) if has.any() else 0.0,
        unchanged=float((difference == 0).mean()),
        false_zero=float((has & (published == 0)).mean()),
        additivity=float(gaps.max(initial=0.0)),
    )


def averaged_variance(cells: Cells, variance: float) -> float:
    """The mean variance of the noise that is left in the cells, once an attacker has averaged as well as possible.

    Least squares put the figures back on the sums that the true ones fulfil, which leaves the noise of as many cells as
    are free. With one table that has its innermost cells this is exact; with linked tables it is what is left at most.
    """
    sums = np.unique(cells.equations.indices[cells.equations.data > 0])
    return variance * (len(cells) - len(sums)) / len(cells)


def _added(dimensions: Sequence[Dimension], codes: Codes, counts: Integers, keys: Keys) -> tuple[Codes, Integers, Keys]:
    """Each combination of codes once, with the sums of its counts and, modulo 2 ** 64, of its keys."""
    numbers = keys_of(dimensions, codes)
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    starts = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]])
    return codes[order[starts]], np.add.reduceat(counts[order], starts), np.add.reduceat(keys[order], starts)


def _mixed(keys: Keys, rank: int) -> Keys:
    """Another 64 bits of each key, for each rank: the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    step = (rank + 1) * 0x9E3779B97F4A7C15 % 2**64
    bits = keys + np.uint64(step)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Keys = bits ^ (bits >> np.uint64(31))
    return mixed
