"""The cells of a set of linked tables, and the sums that an attacker can check them against."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Asking

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Booleans = NDArray[np.bool_]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Statuses = NDArray[np.uint8]

# The dimensions of a table, by name; 'NAME:2' goes down to level 2, the total being level 0, others to the leaves. Over
# the dimensions that it leaves out, it is a total.
Table = Sequence[str]

LARGEST_TOTAL = 2**53  # whole numbers up to here are exact in double precision, which linear programming uses


class Status(IntEnum):
    """What becomes of a cell."""

    PUBLISHED = 0
    PRIMARY = 1  # suppressed: sensitive
    SECONDARY = 2  # suppressed: to protect another
    WITHHELD = 3  # a marginal that the definition does not publish


@dataclass(frozen=True, eq=False)
class Contributions:
    """What a rule may look at, of each of c cells (or unions of cells).

    total        : shape (c,), in units of the table; the sum of all contributions, weighted if the table is; of their
                   sizes where some are negative
    contributors : shape (c,), how many contribute, those of 0 too
    largest      : shape (c, t), the t largest contributions in falling order, 0 where there are fewer
    """

    total: Integers
    contributors: Integers
    largest: Integers


@dataclass(frozen=True, eq=False)
class RequestedContributions(Contributions):
    """Contributions of which it is known who asked for protection.

    requests : shape (c, t), as `largest`: whether the one whose contribution it is requests protection
    before   : the same: whether it does of cells that were unsafe before
    """

    requests: Booleans
    before: Booleans

    @classmethod
    def of(cls, plain: Contributions, owners: Integers, asking: Asking | None) -> Contributions:
        """The same contributions, with the requests of some of their owners; as they are where nobody says who asks.

        owners : shape (c, t), as `Cells.owners`
        """
        if asking is None:
            return plain
        requests, before = (np.isin(owners, np.asarray(each, dtype=np.int64)) for each in asking)
        return cls(plain.total, plain.contributors, plain.largest, requests | before, before)


class OwnParts(NamedTuple):
    """What contributors who know their own sampling weights have of c cells: a contribution is weighted, and one.

    contributors, largest, owners : as in `Cells`
    """

    contributors: Integers
    largest: Integers
    owners: Integers


@dataclass(frozen=True, eq=False)
class Cells:
    """Every non-empty cell of one or more tables that share a measure; cells that tables share stand once.

    dimensions   : of all tables; in a table without a dimension, the cell stands at that dimension's total
    codes        : shape (c, d), for each dimension the position of the cell's code in `Dimension.codes`
    total        : shape (c,), whole numbers in units of 10 ** -decimals, below 2 ** 53 in size
    contributors : shape (c,), how many contributors (or holdings) a cell has, at least 1
    largest      : shape (c, t), their t largest contributions in falling order, 0 where there are fewer
    owners       : shape (c, t), whose they are, as numbers; -1 where there are fewer
    equations    : shape (e, c), +1 at a sum and -1 at each of its non-empty parts; every row times `total` is 0
    published    : shape (c,), False for a marginal that is not published, of which an attacker knows the bounds alone
    decimals     : of the measure
    sizes        : shape (c,), the sums of the contributions without their signs, where some are negative; else None
    weighted     : where the rules take a weighted contribution for several, what it is to who knows its own weight
    asking       : which owners asked for protection; None where nobody says so, and a rule on it takes all for asking
    """

    dimensions: tuple[Dimension, ...]
    codes: Codes
    total: Integers
    contributors: Integers
    largest: Integers
    owners: Integers
    equations: "csr_array"
    published: Booleans
    decimals: int = 0
    sizes: Integers | None = None
    weighted: OwnParts | None = None
    asking: Asking | None = None

    def __post_init__(self) -> None:
        largest = self.total if self.sizes is None else self.sizes
        if len(largest) and np.abs(largest).max() >= LARGEST_TOTAL:
            raise DataError(
                f"a total must stay below 2 ** 53 units of the last decimal; got a larger one with {self.decimals} "
                "decimals. Give fewer decimals."
            )

    def __len__(self) -> int:
        return len(self.total)

    @property
    def contributions(self) -> Contributions:
        """What the rules look at."""
        plain = Contributions(self.total if self.sizes is None else self.sizes, self.contributors, self.largest)
        return RequestedContributions.of(plain, self.owners, self.asking)

    @property
    def by_rules(self) -> OwnParts:
        """What contributors have of the cells, as the rules look at it."""
        return OwnParts(self.contributors, self.largest, self.owners)

    @property
    def own_parts(self) -> OwnParts:
        """What contributors have of the cells, as they know it themselves."""
        return self.weighted or self.by_rules

    @cached_property
    def to_contributors(self) -> "Cells":
        """The cells as their contributors see them; as they are where the rules see them so, too."""
        return self if self.weighted is None else replace(self, weighted=None, **self.weighted._asdict())

    def renumbered(self, number: Callable[[Integers], Integers]) -> "Cells":
        """The cells with other numbers of their owners; -1 stays."""
        weighted = self.weighted and self.weighted._replace(owners=number(self.weighted.owners))
        asking = self.asking
        if asking is not None:
            asking = Asking(*(tuple(number(np.array(who, dtype=np.int64)).tolist()) for who in asking))
        return replace(self, owners=number(self.owners), weighted=weighted, asking=asking)

    @cached_property
    def by_cell(self) -> "csr_array":
        """`equations`, transposed: for each cell the equations that it stands in."""
        return self.equations.T.tocsr()

    def name(self, cell: int) -> str:
        """The codes of a cell, for a reader: 'nace KA1, region Total'."""
        return ", ".join(f"{d.name} {d.codes[self.codes[cell, axis]]}" for axis, d in enumerate(self.dimensions))


def keys_of(dimensions: Sequence[Dimension], codes: Codes) -> Integers:
    """One whole number for each cell, rising in the order of the codes.

    raises : DataError when the product of the dimensions is too large for 64 bits
    """
    sizes = [len(dimension.codes) for dimension in dimensions]
    if np.prod([float(size) for size in sizes]) >= 2**62:
        raise DataError(f"the dimensions have too many codes to number their product: {sizes}")
    keys: Integers = np.ravel_multi_index(tuple(codes.T.astype(np.int64)), tuple(sizes)).astype(np.int64)
    return keys


def levels_of(dimensions: Sequence[Dimension], table: Table) -> list[int]:
    """How deep a table goes in each dimension: 0 is the total alone. Raises DataError for what there is not."""
    names = [dimension.name for dimension in dimensions]
    levels = dict.fromkeys(names, 0)
    for each in table:
        before, colon, level = each.rpartition(":")
        name = before if colon and each not in names else each
        if name not in names:
            raise DataError(f"a table names the dimension '{name}', which there is not.", came=name, allowed=names)
        deepest = int(dimensions[names.index(name)].levels.max())
        if name != each and not (level.isdigit() and 1 <= int(level) <= deepest):
            raise DataError(f"a table's level of '{name}' must be from 1 to {deepest}; got '{level}'.")
        levels[name] = deepest if name == each else int(level)
    return [levels[name] for name in names]


def refuse_hidden_ties(dimensions: Sequence[Dimension], tables: Sequence[Table] | None) -> None:
    """Raise DataError for tables that cells of no table tie together, so that no sum between cells tells all of it.

    Two cases. A table that ends above the leaves of a dimension with several groupings: groups of the same leaves are
    equal, groups within others smaller, though no sum says so. And tables in a circle (a with b, b with c, a with c):
    the cells of a, b and c tie them; where some are empty, cells of two tables may be equal. Tables in no circle fit
    any cells of all dimensions. Source: Dobra and Fienberg (2000).
    """
    for levels in _levels_of_all(dimensions, tables):
        for dimension, level in zip(dimensions, levels, strict=True):
            parts = [part for _, inside in dimension.sums for part in inside]
            if 0 < level < dimension.levels.max() and len(parts) > len(set(parts)):
                raise DataError(
                    f"a table must go down to the leaves of '{dimension.name}', which are grouped in several ways: "
                    "they tie its groups together. Leave the level out."
                )
    left = [
        {dimension.name for dimension, level in zip(dimensions, levels, strict=True) if level}
        for levels in _levels_of_all(dimensions, tables)
    ]
    before: list[set[str]] = []
    while left != before:  # the reduction of Graham, Yu and Ozsoyoglu: nothing is left of tables in no circle
        before = [set(one) for one in left]
        left = [{name for name in one if sum(name in other for other in left) > 1} for one in left]
        left = [
            one
            for at, one in enumerate(left)
            if not (any(one <= other for other in left[:at]) or any(one < other for other in left))
        ]
    if any(left):
        names = sorted(set().union(*left))
        raise DataError(
            f"the tables tie {', '.join(names)} together in a circle: cells of all of these, which no table holds, "
            "decide what can be worked out. Add a table of all of them, or leave one table out."
        )


def in_tables(dimensions: Sequence[Dimension], codes: Codes, tables: Sequence[Table] | None) -> Booleans:
    """Shape (c,): whether each cell is part of a table."""
    inside = np.zeros(len(codes), dtype=bool)
    for levels in _levels_of_all(dimensions, tables):
        inside |= np.logical_and.reduce(
            [d.levels[codes[:, axis]] <= levels[axis] for axis, d in enumerate(dimensions)], axis=0
        )
    return inside


def in_table(cells: Cells, table: Table) -> Booleans:
    """Which cells a table holds, those at the total of all dimensions that it leaves out; shape (c,).

    raises : DataError for no dimension, one named twice, or one that the cells do not have
    """
    axes = axes_of(cells, table)
    if not axes or len(set(axes)) != len(axes):
        raise DataError(f"a table must have at least one dimension, and each once; got {', '.join(table) or 'none'}")
    return in_tables(cells.dimensions, cells.codes, [table])


def axes_of(cells: Cells, table: Table) -> list[int]:
    """Where the dimensions of a table stand among those of the cells, in the table's order."""
    levels_of(cells.dimensions, table)  # refuses what there is not
    known = [dimension.name for dimension in cells.dimensions]
    return [known.index(each if each in known else each.rpartition(":")[0]) for each in table]


def _levels_of_all(dimensions: Sequence[Dimension], tables: Sequence[Table] | None) -> list[list[int]]:
    return [levels_of(dimensions, table) for table in tables or [[dimension.name for dimension in dimensions]]]


def equations_of(dimensions: Sequence[Dimension], codes: Codes, tables: Sequence[Table] | None = None) -> "csr_array":
    """The sums between cells: a row for each sum of each dimension in each table that has it; see `Cells.equations`.

    codes  : shape (c, d), each combination once; a part that is not among them is empty
    tables : see `Table`; one table of all dimensions when not given
    cost   : O(c d log c) time and O(c d) memory
    """
    from scipy.sparse import csr_array  # loaded where it is needed: a policy names rules on cells, and sums none

    keys = keys_of(dimensions, codes)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    if (ordered[1:] == ordered[:-1]).any():
        raise DataError("a cell is given twice")
    strides = np.cumprod([1, *(len(dimension.codes) for dimension in dimensions[:0:-1])], dtype=np.int64)[::-1]
    deep = _levels_of_all(dimensions, tables)
    rows, columns, signs, count = [], [], [], 0
    for axis, dimension in enumerate(dimensions):
        others = [d for at, d in enumerate(dimensions) if at != axis]
        across = np.delete(codes, axis, axis=1)
        fits = [
            np.logical_and.reduce(
                [np.ones(len(codes), dtype=bool)]
                + [d.levels[across[:, at]] <= level for at, (d, level) in enumerate(zip(others, rest, strict=True))]
            )
            for rest in ([*levels[:axis], *levels[axis + 1 :]] for levels in deep)
        ]
        for group, parts in dimension.sums:
            lowest = int(dimension.levels[list(parts)].max())
            having = [fit for fit, levels in zip(fits, deep, strict=True) if lowest <= levels[axis]]
            if not having:
                continue
            inside = np.logical_or.reduce(having)
            totals = np.flatnonzero((codes[:, axis] == group) & inside)
            if not len(totals):
                continue
            wanted = keys[totals, None] + (np.array(parts, dtype=np.int64) - group) * strides[axis]
            at = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
            there = ordered[at] == wanted
            which = np.broadcast_to(np.arange(count, count + len(totals))[:, None], wanted.shape)
            rows += [np.arange(count, count + len(totals)), which[there]]
            columns += [totals, order[at[there]]]
            signs += [np.ones(len(totals)), -np.ones(int(there.sum()))]
            count += len(totals)
    if not count:
        return csr_array((0, len(codes)), dtype=np.float64)
    entries = (np.concatenate(signs), (np.concatenate(rows), np.concatenate(columns)))
    return csr_array(entries, shape=(count, len(codes)))


def contributor_counts(cells: Cells) -> Cells | None:
    """The same cells, each holding how many contribute to it, each contributor counting 1.

    None where these numbers do not add up: where a contributor is in several parts of a cell, or counts as a fraction.
    Then the numbers bound each other, but no sum holds between them.
    """
    number = cells.contributors
    if (np.abs(cells.equations @ number.astype(np.float64)) > 0.5).any():
        return None
    ones = (np.arange(cells.largest.shape[1]) < number[:, None]).astype(np.int64)
    return replace(cells, total=number, largest=ones, decimals=0, sizes=None, weighted=None)
