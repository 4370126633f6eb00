"""Figures source: counts and extremes of a table, computed by the database itself, so that no record leaves it.

They are read as records are, by the process apart with its walls and permissions.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pyarrow as pa
import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict

from sluice.ground.errors import DataError
from sluice.sources.arrow_columns import as_arrow
from sluice.sources.table_summary import TableSummary


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
