"""Frequencies source: how many records hold each value of some columns, counted by the database itself.

One SQLAlchemy Core expression for each column, the same in every dialect. What the values mean is not the database's to
say: they come as they stand, with their counts, and are read as those of records are.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pyarrow as pa
import sqlalchemy as sa

from sluice.ground.errors import DataError
from sluice.sources.arrow_columns import as_arrow
from sluice.sources.table_summary import TableSummary

COLUMN, VALUE, RECORDS = "column", "value", "records"


class FrequenciesSource(TableSummary):
    """For each column, in turn: its place among `of_columns`, a value, and the number of records that hold it.

    Values of one table are of one type. Missing ones are left out. Of a column with more values than `most` only so
    many are told.
    """

    type: Literal["frequencies"] = "frequencies"
    of_columns: tuple[str, ...]
    most: int = 10_000

    def statement(self, column: str) -> sa.Select[Any]:
        """Its columns have numbers for names: those of a source may be of any length."""
        value: sa.ColumnElement[Any] = sa.column(column)
        counted = sa.select(value.label("f0"), sa.func.count().label("f1")).select_from(self.of.records())
        return counted.group_by(value)

    def _names(self, expected: Sequence[str]) -> list[str]:
        return [COLUMN, VALUE, RECORDS]

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        known = self.of.column_names()
        if absent := [column for column in self.of_columns if column not in known]:
            raise DataError(f"{self.title}: no column '{absent[0]}'.", came=absent[0], allowed=known)
        for place, column in enumerate(self.of_columns):
            rows = self.of.rows(self.statement(column), self.most)
            next(rows)  # the names
            found = [(value, count) for value, count in next(rows, []) if value is not None]
            for kind in dict.fromkeys(type(value) for value, _ in found):  # SQLite keeps several in one column
                values, counts = zip(*((value, count) for value, count in found if type(value) is kind), strict=True)
                table = {COLUMN: pa.array([place] * len(values)), VALUE: as_arrow(values), RECORDS: as_arrow(counts)}
                yield pa.table({name: table[name] for name in columns})
