"""Cell-key perturbation: noise that a cell's own records decide, the same in every table and edition.

Each record has a key, uniform and secret, that never changes. The key of a cell is the fractional part of the sum of
the keys of its records; with the count it looks up the noise in a perturbation table. So one cell has one figure
however often and wherever it is published, repeating a query averages nothing out, and two cells that differ by a
single record have independent keys: their difference tells little of that record. Every cell is perturbed on its own,
so published parts do not add up to published totals.

Source: Fraser and Wooton (2005); Thompson, Broadfoot and Elazar (2013). Keys are whole numbers, as fractions of
2 ** 64, whose sums wrap: exact in any order of the records.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Self

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.perturbation_table import Keys, PerturbationTable
from sluice.tabular.model.cells import Booleans, Cells, Codes, Integers, keys_of
from sluice.tabular.model.dimension import Dimension

_SECRET = 16  # bytes at least: 128 bits


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
    counts, total = _sums(cells, leaves, np.ones(len(leaves), dtype=np.int64), keys)
    if not counts.all():
        raise DataError(f"{int((counts == 0).sum())} of {len(cells)} cells have no record among those given.")
    return counts, total


def sums_of_records(cells: Cells, leaves: Codes, amounts: Integers) -> Integers:
    """The sum of the amounts of the records of each cell, shape (c,). Parameters as in `cell_keys`."""
    return _sums(cells, leaves, amounts, np.zeros(len(leaves), dtype=np.uint64))[0]


def _sums(cells: Cells, leaves: Codes, numbers: Integers, keys: Keys) -> tuple[Integers, Keys]:
    """The sums of numbers and, modulo 2 ** 64, of keys of the records of each cell; shapes (c,)."""
    dimensions = cells.dimensions
    leaves, number, sums = _added(dimensions, leaves, numbers, keys)
    wanted = keys_of(dimensions, cells.codes)
    order = np.argsort(wanted, kind="stable")
    ordered = wanted[order]
    summed, total = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=np.uint64)
    for columns in product(*(dimension.columns for dimension in dimensions)):
        codes = np.column_stack([column[leaves[:, axis]] for axis, column in enumerate(columns)])
        inside = (codes >= 0).all(axis=1)
        if not inside.any():
            continue
        codes, records, keyed = _added(dimensions, codes[inside], number[inside], sums[inside])
        given = keys_of(dimensions, codes)
        at = np.minimum(np.searchsorted(ordered, given), len(ordered) - 1)
        there = ordered[at] == given
        summed[order[at[there]]], total[order[at[there]]] = records[there], keyed[there]
    return summed, total


@dataclass(frozen=True, eq=False)
class PerturbedCounts:
    """Counts with noise, and what anybody can tell of them.

    published : shape (c,), 0 or more; a 0 must look like a cell that is empty, as it may be one
    keys      : shape (c,), secret
    table     : where the noise was looked up; users may know it
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

    def plausible(self) -> tuple[Integers, Integers]:
        """As `bounds`, of what may well be: a count that hardly ever gives the figure may lie outside; shapes (c,)."""
        return self.table.plausible(self.published)


def perturb_counts(cells: Cells, leaves: Codes, keys: Keys, table: PerturbationTable) -> PerturbedCounts:
    """The number of records of each cell, with the noise that its key looks up. Parameters as in `cell_keys`."""
    counts, keyed = cell_keys(cells, leaves, keys)
    return PerturbedCounts(counts + table.noise(counts, keyed), keyed, table)


def _added(dimensions: Sequence[Dimension], codes: Codes, counts: Integers, keys: Keys) -> tuple[Codes, Integers, Keys]:
    """Each combination of codes once, with the sums of its counts and, modulo 2 ** 64, of its keys."""
    numbers = keys_of(dimensions, codes)
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    starts = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]])
    return codes[order[starts]], np.add.reduceat(counts[order], starts), np.add.reduceat(keys[order], starts)


@dataclass(frozen=True)
class EditionDifferences:
    """What the figures of two editions of the same innermost cells tell of those who came or left in between.

    A cell of the same records has the same figure in both, so a figure that changed says that somebody came or left
    there. Who knows of one person that it did, and looks for it among the innermost cells that changed, finds it where
    most of the changes are. The noise hides few of them: a cell that lost a record is looked up anew, and seldom ends
    at the same figure. Source: this project's own; on differencing, Fraser and Wooton (2005).

    changes : by how many records the cells differ, all together
    cells   : how many of those that differ have another figure
    guess   : the chance that the best guess of the cell of somebody who came or left is right; 0 where nobody did
    """

    changes: int
    cells: int
    guess: float

    @classmethod
    def of(
        cls, before: Integers, now: Integers, published_before: Integers, published_now: Integers, inner: Booleans
    ) -> Self:
        """Counts and figures of both editions, each of shape (c,), 0 where a cell is empty or not listed.

        inner : shape (c,), the cells that are no sums
        """
        change = np.where(inner, np.abs(now - before), 0)
        seen = (change > 0) & (published_before != published_now)
        total = int(change.sum())
        most = int(change[seen].max(initial=0))
        return cls(total, int(seen.sum()), most / total if total else 0.0)
