"""What a database says of a table or query, in place of its records."""

from pathlib import Path

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
