"""A file that was recognised: the source that reads it, as a release definition has it, and what was found."""

from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path
from typing import Any

from sluice.sources.csv_source import CsvSource
from sluice.sources.description import Descriptions
from sluice.sources.file_source import FileSource
from sluice.sources.sources import DatabaseFile
from sluice.sources.tabular_source import TabularSource

_ALWAYS_WRITTEN = {"type", "path", "separator", "decimal", "encoding", "quote", "header", "sheet", "header_row"}


@dataclass(frozen=True)
class Recognised:
    """A file, ready to be read.

    source : as a release definition names it
    says   : what was found, a sentence each
    said   : what a layout says of the columns of a CSV file
    """

    source: FileSource | CsvSource | DatabaseFile
    says: tuple[str, ...]
    said: Descriptions = field(default_factory=dict)

    @property
    def records(self) -> TabularSource:
        """What reads the records."""
        if not isinstance(self.source, DatabaseFile):
            return self.source
        from sluice.sources.permission import file_url
        from sluice.sources.sql_source import SqlSource

        return SqlSource(url=file_url(self.source, Path(self.source.path)), table=self.source.table)

    def described(self) -> Descriptions:
        """What the file says of its columns."""
        return self.source.described() if isinstance(self.source, FileSource) else self.said

    def written(self, base: Path) -> dict[str, Any]:
        """The source for a release definition in the folder `base`, with all that was found."""
        found = self.source.model_dump(mode="json")
        default = self.source.model_dump(mode="json", exclude_defaults=True)
        kept = {name: value for name, value in found.items() if name in default or name in _ALWAYS_WRITTEN}
        kept["path"] = relpath(self.source.files[0] if isinstance(self.source, CsvSource) else self.source.path, base)
        kept |= {"layout": relpath(layout, base)} if (layout := kept.get("layout")) else {}
        return {"type": kept.pop("type"), **kept}
