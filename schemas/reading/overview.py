"""An overview of a table: what every column holds, and its records as codes, read in one pass."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.reading.missing_codes import with_codes_of
from schemas.reading.usual_names import is_an_answer, is_called_a_count
from schemas.reading.written_dates import WrittenDates, as_written, formats_of
from sluice.ground import values
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind
from sluice.ground.visible_text import unseen
from sluice.reading.kind import ColumnSummary
from sluice.risk.classes.quasi_identifier_search import Combination
from sluice.sources.csv_shape import names_years
from sluice.sources.separate_reading import read_here
from sluice.sources.tabular_source import ColumnDescription, Descriptions, TabularSource

_MOST_SHARED = 150  # different values: more than there are ages, size classes or regions
_MOST_CODES = 2_000  # different values: more are amounts, of which none is looked up as a code
_SHARED_BY = 4  # records a value, of those that have not the most frequent one
MOST_RECORDS = 300_000
"""Records that are kept as codes; of more, so many are drawn. Every record counts for kinds, ranges and categories."""


@dataclass(frozen=True)
class Overview:
    """What a draft is made from. It holds values of the records: nothing of it is shown as it is.

    columns : what was seen of each column, of all records
    codes   : shape (n,), the value of each record that was kept, as its place in `labels`
    labels  : the different values; None for a missing one
    records : of the table; n of them were kept
    described : what the source itself says of its columns
    date_formats : of columns of dates that are not written as 2024-12-31, in which format they are; others after it
                   that read every value as well. `columns` and `labels` have such dates as 2024-12-31
    worst_sets : of columns that were asked for, what the search for those that single people out found
    """

    columns: dict[str, ColumnSummary]
    codes: dict[str, IntArray]
    labels: dict[str, tuple[str | None, ...]]
    records: int
    described: Descriptions = field(default_factory=dict)
    date_formats: dict[str, tuple[str, ...]] = field(default_factory=dict)
    worst_sets: dict[tuple[str, ...], list[Combination]] = field(default_factory=dict, compare=False, repr=False)

    def said(self, name: str) -> ColumnDescription:
        """What the source says of a column; nothing, where it says nothing."""
        return self.described.get(name, ColumnDescription())

    @property
    def kept(self) -> int:
        return len(next(iter(self.codes.values())))

    @property
    def is_whole(self) -> bool:
        """Whether every record was kept."""
        return self.kept == self.records

    def missing(self, name: str) -> BoolArray:
        """Which of the kept records have no value, shape (n,)."""
        absent = np.array([label is None for label in self.labels[name]], dtype=bool)
        return absent[self.codes[name]]

    def is_measured(self, name: str) -> bool:
        """Whether hardly anybody shares a value: what a release of a contract without quasi-identifiers is asked for.

        Ages, codes and classes are not: there are few of them, each of several records.
        """
        times = np.bincount(self.codes[name], minlength=len(self.labels[name]))
        there = np.array([label is not None for label in self.labels[name]], dtype=np.bool_)
        others = np.sort(times[there])[:-1]  # an amount is often 0
        return bool(len(others) >= _MOST_SHARED or _SHARED_BY * len(others) >= others.sum())

    def missing_share(self, name: str) -> float:
        return float(self.missing(name).mean())


def overview(
    source: TabularSource,
    described: Descriptions = MappingProxyType({}),
    seed: int = 0,
    more: Sequence[TabularSource] = (),
) -> Overview:
    """Look at a table.

    more : further records with these columns, among others
    described : what the source says of its columns; what it declares as missing counts as missing
    raises : DataError as the source does, beyond the limits of the operator, and where names look like values
    cost   : one pass over the source; memory for at most 10,000 distinct values a column, MOST_RECORDS codes and one
             batch
    """
    names = source.column_names()
    said = {name: described.get(name, ColumnDescription()) for name in names}

    def summary(name: str) -> ColumnSummary:
        each = said[name]
        meant = [code for code, means in each.labels.items() if not each.is_missing(code) and is_an_answer(means)]
        counted = is_called_a_count(name, each.label)
        return ColumnSummary(source.decimal_mark, each.missing_codes, each.missing_ranges, name, meant, counted)

    columns = {name: summary(name) for name in names}
    dates = {name: WrittenDates(name, partial(summary, name)) for name in names}
    rng = np.random.default_rng(seed)
    kept: list[pa.Table] = []
    drawn: list[FloatArray] = []
    records = waiting = 0
    for batch in chain.from_iterable(read_here(each, names, keep=False) for each in (source, *more)):
        for name in names:
            columns[name].add(batch[name])
            dates[name].add(batch[name])
        records += len(batch)
        waiting += len(batch)
        kept.append(pa.table({f"{at}": _texts(batch[name]) for at, name in enumerate(names)}))
        drawn.append(rng.random(len(batch)))
        if waiting > 2 * MOST_RECORDS:
            kept, drawn = _thinned(kept, drawn)
            waiting = MOST_RECORDS
    for column in columns.values():
        column.settle()
    if not any(column.known for column in columns.values()):
        raise DataError(f"{source.title}: no column has a value in any record, so there is nothing to describe")
    for name, column in columns.items():
        if column.in_a_zone and column.kind is Kind.DATE:
            source.remarks.add("in_a_zone", name, column.in_a_zone)
        if not column.known:
            source.remarks.add("no_value", name, records)
    written = formats_of(dates)
    columns |= {name: each.column for name, each in written.items()}
    if sum(map(len, drawn)) > MOST_RECORDS:  # after the last batch there may be as many already
        kept, drawn = _thinned(kept, drawn)
    table = pa.concat_tables(kept).unify_dictionaries()
    codes, labels = {}, {}
    for name, column in zip(names, table.columns, strict=True):
        absent = {*columns[name].marks, *columns[name].declared}
        form = written[name].formats[0] if name in written else None
        codes[name], labels[name] = _coded(column.combine_chunks(), absent, form)
    says = {name: _as_in_the_data(said[name], columns[name]) for name in names if name in described}
    formats = {name: each.formats for name, each in written.items()}
    return Overview(columns, codes, labels, records, {**described, **says}, formats)


def _as_in_the_data(said: ColumnDescription, column: ColumnSummary) -> ColumnDescription:
    """With its codes as the data have them: 1.0 or 01 where a dictionary writes 1, and the other way round; and where
    the data have what it says that codes mean, since it renames them or since which is which was not to be seen."""
    there = [*column.declared, *(column.labels if len(column.labels) <= _MOST_CODES else ())]
    said = with_codes_of(said, there, column.decimal_mark)
    turned = {means: code for code, means in said.labels.items()}
    if len(turned) == len(said.labels) and len({*turned} & {*there}) > len({*said.labels} & {*there}):
        words = sum(any(map(str.isalpha, label)) for label in turned)
        return said.model_copy(update={"labels": {} if 2 * words > len(turned) else turned})  # words mean themselves
    return said


def _thinned(kept: list[pa.Table], drawn: list[FloatArray]) -> tuple[list[pa.Table], list[FloatArray]]:
    """Of records with a random number each, those with the smallest: a sample of all that came so far."""
    numbers = np.concatenate(drawn)
    chosen = np.sort(np.argpartition(numbers, MOST_RECORDS)[:MOST_RECORDS])
    return [pa.concat_tables(kept).unify_dictionaries().take(pa.array(chosen))], [numbers[chosen]]


def _texts(series: "pd.Series[Any]") -> pa.Array:
    return pc.dictionary_encode(values.trimmed_texts(values.plain_array(series)))


def _coded(column: pa.Array, marks: set[str], form: str | None) -> tuple[IntArray, tuple[str | None, ...]]:
    read = column.dictionary if form is None else as_written(column.dictionary, form)
    texts: list[str | None] = [None if text in marks else text for text in read.to_pylist()]
    codes = pc.fill_null(column.indices.cast(pa.int64()), len(texts)).to_numpy(zero_copy_only=False)
    places: dict[str | None, int] = {}
    found = [*texts, None] if column.null_count else texts
    moved = np.array([places.setdefault(text, len(places)) for text in found], dtype=np.int64)
    return moved[codes], tuple(places)


def refuse_values_as_names(source: TabularSource) -> None:
    """Raise DataError where the first line seems to be a record, one cell holds all names, or a name cannot be seen."""
    names = source.column_names()
    for number, name in enumerate(names, start=1):
        if character := unseen(name, one_line=True):
            raise DataError(f"{source.title}: the name of column {number} holds {character}; give it another name")
    numbers = any(re.fullmatch(f"{values.NUMBER}|{values.LEADING_ZERO}", name) for name in names)
    if numbers and not names_years(names):
        raise DataError(f"{source.title}: a column is named by a number. Is the first line a record, not the header?")
    if len(names) == 1 and (other := re.search(r"[,;|\t]", names[0])):
        raise DataError(f"{source.title}: there is one column, whose name holds {other[0]!r}. Is that the separator?")
