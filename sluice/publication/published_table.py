"""A table as it is published: which cells are listed, and what is published of each.

Cells are listed in the order of the dimensions' codes. Empty cells and withheld marginals are not listed. A suppressed
cell has a status, and no value and no number of contributors in any file: both are taken out here, before anything is
written. Numbers are whole units of a last decimal, as text.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import contains
from typing import Any, NamedTuple

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Booleans, Cells, Integers, Status, Statuses, Table, axes_of, in_table, keys_of
from sluice.tabular.model.dimension import Dimension

PUBLISHED = "published"
WORDS = {Status.PUBLISHED: PUBLISHED, Status.PRIMARY: "primary", Status.SECONDARY: "secondary"}
SUPPRESSED = "suppressed"  # primary or secondary, where the two are not distinguished

OWN_COLUMNS = ("status", "value", "contributors", "lower", "upper", "synthetic", "is_total")
_NAMED = 3  # cells that a message names

Numbers = tuple[int | None, ...]


class ValueColumn(NamedTuple):
    """The values of one measure: the name of their column, their decimals, and an entry for each listed cell."""

    name: str
    decimals: int
    value: Numbers


@dataclass(frozen=True)
class PublishedTable:
    """What is published of one table: an entry for each of r listed cells, in all that follows.

    codes        : the cell's code in each dimension, as text
    status       : 'published', 'primary', 'secondary' or 'suppressed'
    value        : in units of 10 ** -decimals; None for a suppressed cell
    column       : the name of these values' column
    others       : the values of other measures that share the pattern
    contributors : None for a suppressed cell; None altogether when no numbers of contributors are published
    lower, upper : the published interval of a suppressed cell, None for others; None altogether without intervals
    synthetic    : a drawn value for a suppressed cell, None for others; None altogether without them
    is_total     : `totals`; None altogether in files that do not tell totals from cells, as earlier ones do not
    raises       : DataError for entries that do not fit each other, above all a suppressed cell with a value
    """

    name: str
    dimensions: tuple[Dimension, ...]
    decimals: int
    codes: tuple[tuple[str, ...], ...]
    status: tuple[str, ...]
    value: Numbers
    contributors: Numbers | None = None
    lower: Numbers | None = None
    upper: Numbers | None = None
    synthetic: Numbers | None = None
    is_total: Numbers | None = None
    column: str = "value"
    others: tuple[ValueColumn, ...] = ()

    def __post_init__(self) -> None:
        entries = {name: getattr(self, name) for name in OWN_COLUMNS} | {each.name: each.value for each in self.others}
        for name, given in entries.items():
            if given is not None and len(given) != len(self.codes):
                raise DataError(
                    f"{name} of table '{self.name}' must have an entry for each of {len(self.codes)} listed "
                    f"cells; got {len(given)}"
                )
        taken = sorted({dimension.name for dimension in self.dimensions} & set(OWN_COLUMNS))
        if taken:
            raise DataError(f"table '{self.name}' has a dimension named '{taken[0]}', which is a column of its file")
        for cell, (told, total) in enumerate(
            zip(self.is_total, self.totals, strict=True) if self.is_total is not None else ()
        ):
            if told != total:
                raise DataError(f"is_total of {self.name_of(cell)} must be {total}; got {told}")
        words = (*WORDS.values(), SUPPRESSED)
        for cell, status in enumerate(self.status):
            if status not in words:
                raise DataError(f"status in table '{self.name}' must be one of {', '.join(words)}; got '{status}'")
            hidden = status != PUBLISHED
            if any((each.value[cell] is None) != (self.value[cell] is None) for each in self.others):
                raise DataError(f"{self.name_of(cell)} must have a value of every measure, or of none")
            if hidden and (self.value[cell] is not None or (self.contributors and self.contributors[cell] is not None)):
                raise DataError(f"the suppressed cell {self.name_of(cell)} must have no value and no contributors")
            if not hidden and self.value[cell] is None:
                raise DataError(f"the published cell {self.name_of(cell)} must have a value")
            if not hidden and (self.lower and self.lower[cell] is not None):
                raise DataError(f"the published cell {self.name_of(cell)} must have no interval")
            if self.synthetic and hidden != (self.synthetic[cell] is not None):
                raise DataError(f"{self.name_of(cell)} must have a synthetic value if it is suppressed, and only then")

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """1 for a listed cell whose code in some dimension is a sum of other listed ones, else 0.

        The cells with 0 add up to the whole, once: also in a table that ends above the leaves.
        """
        listed = [set(codes) for codes in zip(*self.codes, strict=True)]
        sums = [*map(sums_among, self.dimensions, listed)]
        return tuple(int(any(map(contains, sums, codes))) for codes in self.codes)

    @property
    def columns(self) -> dict[str, Sequence[Any]]:
        """The columns of its files in their order: the dimensions, status, value and what else is published."""
        columns: dict[str, Sequence[Any]] = {
            dimension.name: [codes[axis] for codes in self.codes] for axis, dimension in enumerate(self.dimensions)
        }
        columns |= {"status": self.status, **{each.name: each.value for each in self.measures}}
        for name in OWN_COLUMNS[2:]:
            entries = getattr(self, name)
            if entries is not None:
                columns[name] = entries
        return columns

    @property
    def measures(self) -> tuple[ValueColumn, ...]:
        """The values of each measure, in the order of their columns."""
        return (ValueColumn(self.column, self.decimals, self.value), *self.others)

    @property
    def amounts(self) -> dict[str, int]:
        """The columns that hold amounts of a measure -> its decimals."""
        return amounts_of({each.name: each.decimals for each in self.measures})

    def of(self, measure: ValueColumn) -> "PublishedTable":
        """The table of one measure by itself."""
        return replace(self, column="value", others=(), decimals=measure.decimals, value=measure.value)

    def name_of(self, cell: int) -> str:
        """The codes of a listed cell, for a reader: 'nace KA1, region Total'."""
        return ", ".join(f"{d.name} {code}" for d, code in zip(self.dimensions, self.codes[cell], strict=True))


def amounts_of(values: Mapping[str, int]) -> dict[str, int]:
    """The columns of amounts -> their decimals, of columns of values; what bounds or replaces them is of the first."""
    return {**values, **dict.fromkeys(("lower", "upper", "synthetic"), next(iter(values.values())))}


def sums_among(dimension: Dimension, listed: Collection[str]) -> frozenset[str]:
    """The codes of a dimension that are sums of listed ones, directly or by codes between them."""
    sums: set[int] = set()
    there = {dimension.position[code] for code in listed if code in dimension.position}
    while found := {group for group, parts in dimension.sums if not there.isdisjoint(parts)} - sums:
        sums |= found
        there |= found
    return frozenset(dimension.codes[group] for group in sums)


def published_table(
    cells: Cells,
    status: Statuses,
    name: str,
    table: Table,
    *,
    measures: Mapping[str, Cells] | None = None,
    value: Integers | None = None,
    interval: tuple[Integers, Integers] | None = None,
    synthetic: Integers | None = None,
    tell_primary: bool = False,
    tell_contributors: bool = False,
    tell_totals: bool = False,
) -> PublishedTable:
    """What is published of a table.

    table             : its dimensions, in the order of its columns; of others it holds the totals
    status            : shape (c,), of every cell of the linked tables
    measures          : column -> the same cells by each measure that shares the pattern, `cells` first; one column
                        called value when not given
    value             : shape (c,), what is published instead of the totals (rounded, adjusted, perturbed); numbers of
                        contributors are not published then, as they would undo it in a table of counts
    interval          : from and to, each of shape (c,), published for suppressed cells
    synthetic         : shape (c,), published for suppressed cells in a column of its own
    tell_primary      : primary and secondary cells bear different words; else both are 'suppressed'. That a cell is
                        primary reveals that few contribute to it or one towers over the others, that it is secondary
                        that the rules would have let it out: in a table of counts, that it is no small one.
                        Which rule made a cell primary is never published.
    tell_contributors : of published cells. Numbers of contributors add up like values: where parts are suppressed,
                        those of a suppressed cell may follow, so they must be audited as a linked table of counts.
    tell_totals       : in a column of its own, for users who add up rows; the hierarchies tell the same
    raises            : DataError when the arrays do not fit the cells, a withheld marginal would be published, or an
                        interval misses its cell or has no width
    """
    inside = in_table(cells, table)
    count = len(cells)
    for what, given in (
        ("status", status),
        ("value", value),
        ("synthetic", synthetic),
        *zip(("lower", "upper"), interval or (), strict=False),
    ):
        if given is not None and given.shape != (count,):
            raise DataError(f"{what} must have one entry for each of {count} cells; got shape {given.shape}")
    strange = np.setdiff1d(status, [int(known) for known in Status])
    if len(strange):
        raise DataError(f"status must be one of {', '.join(f'{s.value} ({s.name})' for s in Status)}; got {strange[0]}")
    unfit = np.flatnonzero(~cells.published & (status != Status.WITHHELD))
    if len(unfit):
        raise DataError(f"a marginal that is not published must be withheld; {cells.name(int(unfit[0]))} is not")
    listed = np.flatnonzero(inside & (status != Status.WITHHELD))
    listed = listed[np.argsort(keys_of(cells.dimensions, cells.codes[listed]), kind="stable")]
    hidden = status[listed] != Status.PUBLISHED
    if interval is not None:
        _refuse_bad_interval(cells, listed[hidden], *interval)
    words = {known: word if tell_primary or known is Status.PUBLISHED else SUPPRESSED for known, word in WORDS.items()}
    axes = axes_of(cells, table)
    listed_codes = [[cells.dimensions[axis].codes[code] for code in cells.codes[listed, axis]] for axis in axes]
    made = PublishedTable(
        name=name,
        dimensions=tuple(cells.dimensions[axis] for axis in axes),
        decimals=cells.decimals,
        codes=tuple(zip(*listed_codes, strict=True)),
        status=tuple(words[Status(int(entry))] for entry in status[listed]),
        value=_only_where(~hidden, (cells.total if value is None else value)[listed]),
        contributors=_only_where(~hidden, cells.contributors[listed]) if tell_contributors and value is None else None,
        lower=_only_where(hidden, interval[0][listed]) if interval else None,
        upper=_only_where(hidden, interval[1][listed]) if interval else None,
        synthetic=None if synthetic is None else _only_where(hidden, synthetic[listed]),
    )
    if measures:
        values = (ValueColumn(m, of.decimals, _only_where(~hidden, of.total[listed])) for m, of in measures.items())
        first, *others = values
        made = replace(made, column=first.name, others=tuple(others))
    return replace(made, is_total=made.totals) if tell_totals else made


def discrepancies(
    table: PublishedTable,
    cells: Cells,
    status: Statuses,
    *,
    dimensions: Table | None = None,
    value: Integers | None = None,
    interval: tuple[Integers, Integers] | None = None,
    synthetic: Integers | None = None,
    tell_primary: bool = False,
    tell_contributors: bool = False,
) -> list[str]:
    """What is wrong with a table as it was read back from a file, in words without values; empty when nothing is.

    Every cell that is not withheld must be in it, no other, suppressed ones without value, the others with theirs.

    dimensions : of the table; those that it has, down to the leaves by default
    value      : shape (c,), what is published instead of the totals
    interval   : from and to, each of shape (c,), that may be published of suppressed cells; none may when not given
    synthetic  : shape (c,), likewise
    tell_primary, tell_contributors : see `published_table`
    """
    dimensions = dimensions or [dimension.name for dimension in table.dimensions]
    listed, axes = in_table(cells, dimensions) & (status != Status.WITHHELD), axes_of(cells, dimensions)
    totals = cells.total if value is None else value
    missing = {
        tuple(cells.dimensions[axis].codes[cells.codes[cell, axis]] for axis in axes): int(cell)
        for cell in np.flatnonzero(listed)
    }
    wrong: dict[str, list[str]] = {}
    for at, codes in enumerate(table.codes):
        cell = missing.pop(codes, None)
        if cell is None:
            wrong.setdefault("listed that should not be, or twice", []).append(table.name_of(at))
            continue
        hidden = status[cell] != Status.PUBLISHED
        word = WORDS[Status(status[cell])] if tell_primary or not hidden else SUPPRESSED
        if table.status[at] != word:
            wrong.setdefault("given another status", []).append(table.name_of(at))
        if hidden and (table.value[at] is not None or (table.contributors and table.contributors[at] is not None)):
            wrong.setdefault("suppressed and published", []).append(table.name_of(at))
        for ends, allowed in zip((table.lower, table.upper), interval or (None, None), strict=True):
            if ends is not None and ends[at] != (allowed[cell] if hidden and allowed is not None else None):
                wrong.setdefault("given another interval", []).append(table.name_of(at))
                break
        drawn = synthetic[cell] if hidden and synthetic is not None else None
        if table.synthetic is not None and table.synthetic[at] != drawn:
            wrong.setdefault("given another synthetic value", []).append(table.name_of(at))
        if not hidden and table.value[at] != totals[cell]:
            wrong.setdefault("given another value", []).append(table.name_of(at))
        if not hidden and table.contributors and table.contributors[at] != cells.contributors[cell]:
            wrong.setdefault("given another number of contributors", []).append(table.name_of(at))
    if table.contributors and not tell_contributors:
        given = (at for at, number in enumerate(table.contributors) if number is not None)
        wrong["given a number of contributors, which was not judged"] = [table.name_of(at) for at in given]
    if missing:
        wrong["left out"] = [cells.name(cell) for cell in missing.values()]
    return [
        f"{len(found)} {'cell is' if len(found) == 1 else 'cells are'} {what}: {'; '.join(found[:_NAMED])}"
        f"{'; ...' if len(found) > _NAMED else ''}"
        for what, found in wrong.items()
    ]


def _only_where(kept: Booleans, numbers: Integers) -> Numbers:
    return tuple(int(number) if keep else None for keep, number in zip(kept, numbers, strict=True))


def _refuse_bad_interval(cells: Cells, which: Integers, lower: Integers, upper: Integers) -> None:
    low, high, total = lower[which], upper[which], cells.total[which]
    unfit = which[(low > total) | (high < total) | (low >= high)]
    if len(unfit):
        raise DataError(f"a published interval must hold its cell and have a width; see {cells.name(int(unfit[0]))}")


def in_decimals(units: int | None, decimals: int) -> str:
    """A number of units of the last decimal as text: 1234 with 2 decimals is '12.34'; '' for None."""
    if units is None:
        return ""
    if not decimals:
        return str(units)
    whole, part = divmod(abs(units), 10**decimals)
    return f"{'-' if units < 0 else ''}{whole}.{part:0{decimals}d}"


def units_of(text: str, decimals: int, where: str) -> int | None:
    """The units that `in_decimals` wrote. Raises DataError, naming the place, unless the text has exactly that form."""
    if not text:
        return None
    if not re.fullmatch(rf"-?\d+\.\d{{{decimals}}}" if decimals else r"-?\d+", text, re.ASCII):
        raise DataError(f"must be a number with {decimals} decimals, or empty", field=where)
    return int(text.replace(".", ""))
