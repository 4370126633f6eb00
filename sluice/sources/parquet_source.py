"""A Parquet file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from sluice.errors import DataError
from sluice.reading.listed_texts import is_list, listed_texts
from sluice.sources.file_source import FileSource
from sluice.sources.tabular_source import missing_file


class ParquetSource(FileSource):
    """One Parquet file."""

    type: Literal["parquet"] = "parquet"

    def _open(self) -> pq.ParquetFile:
        if not Path(self.path).is_file():
            raise missing_file(Path(self.path))
        try:
            return pq.ParquetFile(self.path)
        except (pa.ArrowException, OSError):
            raise DataError(f"{self.path}: is not a whole Parquet file") from None

    def _names(self, expected: Sequence[str]) -> list[str]:
        with self._open() as file:
            return list(file.schema_arrow.names)

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        with self._open() as file:
            types = {name: file.schema_arrow.field(name).type for name in columns}
            lists = {name for name in columns if is_list(types[name])}
            nested = [name for name in columns if name not in lists and pa.types.is_nested(types[name])]
            if nested:
                raise DataError(
                    f"{self.path}: a column must hold one value a record, or a list of texts; not so: "
                    f"{', '.join(nested)}"
                )
            try:
                for batch in file.iter_batches(batch_size=size, columns=list(columns)):
                    yield pa.table(
                        {name: listed_texts(batch[name]) if name in lists else batch[name] for name in columns}
                    )
            except (pa.ArrowException, OSError):
                raise DataError(f"{self.path}: is damaged; it cannot be read to its end") from None
