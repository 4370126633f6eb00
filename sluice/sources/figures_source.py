"""Counts, extremes and frequencies of a table, computed by the database itself, so that no record leaves it.

They are read as records are, by the process apart with its walls and permissions. One SQLAlchemy Core expression for
each column, the same in every dialect. What the values mean is not the database's to say: they come as they are, with
their counts, and are read as those of records are.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict

from sluice.ground.errors import DataError
from sluice.sources.reading_engine import as_arrow
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import TabularSource


class TableSummary(TabularSource):
    """Figures or counts of a source in a database: it is read as that source is, by the same doors."""

    of: SqlSource

    @property
    def title(self) -> str:
        return self.of.title

    @property
    def files(self) -> tuple[Path, ...]:
        return self.of.files

    @property
    def ports(self) -> tuple[int, ...] | None:
        return self.of.ports

    @property
    def needs_pandas(self) -> bool:
        return self.of.needs_pandas


class Figure(BaseModel):
    """One figure. Of texts an extreme depends on the database's order, so it tells only that they are texts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: Literal["records", "missing", "smallest", "largest"]
    column: str = ""

    @property
    def name(self) -> str:
        return f"{self.what} {self.column}".strip()

    def expression(self) -> sa.ColumnElement[Any]:
        """The same figure in every dialect."""
        column: sa.ColumnElement[Any] = sa.column(self.column)
        match self.what:
            case "records":
                return sa.func.count()
            case "missing":
                return sa.func.count() - sa.func.count(column)
            case "smallest":
                return sa.func.min(column)
            case "largest":
                return sa.func.max(column)


class FiguresSource(TableSummary):
    """One record: the figures of a table or query, each in a column of its name."""

    type: Literal["figures"] = "figures"
    figures: tuple[Figure, ...]

    def statement(self) -> sa.Select[Any]:
        """One select without groups. Its columns have numbers for names: those of a source may be of any length."""
        asked = [figure.expression().label(f"f{place}") for place, figure in enumerate(self.figures)]
        return sa.select(*asked).select_from(self.of.records())

    def _names(self, expected: Sequence[str]) -> list[str]:
        return [figure.name for figure in self.figures]

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        known = self.of.column_names()  # SQLite takes the name of no column for a text, and finds nothing wrong
        if absent := [figure.column for figure in self.figures if figure.column and figure.column not in known]:
            raise DataError(f"{self.title}: no column '{absent[0]}'.", came=absent[0], allowed=known)
        rows = self.of.rows(self.statement(), 1)
        next(rows)  # the names
        by_name = dict(zip(self._names(expected), *next(rows), strict=True))
        yield pa.table([as_arrow((by_name[name],)) for name in columns], names=list(columns))


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
