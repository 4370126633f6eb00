"""A Parquet file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from sluice.ground.errors import DataError
from sluice.sources.arrow_source import one_value_a_record, refuse_nested
from sluice.sources.tabular_source import FileSource, missing_file


class ParquetSource(FileSource):
    """One Parquet file."""

    type: Literal["parquet"] = "parquet"

    def _open(self) -> pq.ParquetFile:
        if not Path(self.path).is_file():
            raise missing_file(Path(self.path))
        try:
            return pq.ParquetFile(self.path)
        except MemoryError:  # Arrow's own is an ArrowException, too
            raise
        except (pa.ArrowException, OSError):
            raise DataError(f"{self.path}: is not a whole Parquet file") from None

    def _names(self, expected: Sequence[str]) -> list[str]:
        with self._open() as file:
            return list(file.schema_arrow.names)

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        with self._open() as file:
            refuse_nested(file.schema_arrow, columns, self.path)
            try:
                for batch in file.iter_batches(batch_size=size, columns=list(columns)):
                    yield pa.table({name: one_value_a_record(batch[name]) for name in columns})
            except MemoryError:
                raise
            except (pa.ArrowException, OSError):
                raise DataError(f"{self.path}: is damaged; it cannot be read to its end") from None
