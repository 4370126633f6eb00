"""Files of Arrow: a Parquet file, an Arrow file (IPC, Feather version 2), or a stream of Arrow written to a file, which
says where it ends."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from sluice.ground.errors import DataError
from sluice.ground.values import is_list, listed_texts, without_views
from sluice.ground.visible_text import one_line
from sluice.sources.tabular_source import FileSource, missing_file, read_columns, unread_columns

_FILE = b"ARROW1"
_END = b"\xff\xff\xff\xff\0\0\0\0"  # of a stream; Arrow takes one that breaks off between two batches for whole


class ArrowSource(FileSource):
    """One Arrow file, of which a batch at a time is in memory."""

    type: Literal["arrow"] = "arrow"

    def _names(self, expected: Sequence[str]) -> list[str]:
        with self._open() as (schema, _):
            return read_columns(schema)

    def left_out(self) -> dict[str, str]:
        with self._open() as (schema, _):
            return unread_columns(schema)

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        with self._open() as (_, batches):
            for batch in batches:
                yield _checked(self.path, batch, columns)

    @contextmanager
    def _open(self) -> Iterator[tuple[pa.Schema, Iterator[Any]]]:
        path = Path(self.path)
        if not path.is_file():
            raise missing_file(path)
        try:
            with pa.OSFile(self.path) as file:
                if file.read(len(_FILE)) == _FILE:
                    reader = pa.ipc.open_file(file)
                    yield reader.schema, map(reader.get_batch, range(reader.num_record_batches))
                else:
                    file.seek(max(0, file.size() - len(_END)), os.SEEK_SET)
                    is_whole = file.read() == _END
                    file.seek(0)
                    stream = pa.ipc.open_stream(file)
                    if not is_whole:
                        raise DataError(
                            f"{self.path}: is a stream of Arrow that does not say where it ends, so records may be "
                            "missing. Close what writes it, or write an Arrow file"
                        )
                    yield stream.schema, iter(stream)
        except MemoryError:  # Arrow's own is an ArrowException, too
            raise
        except (pa.ArrowException, OSError, ValueError):
            raise DataError(f"{self.path}: is damaged, or no whole Arrow file") from None


def _checked(path: str, batch: pa.RecordBatch, columns: Sequence[str]) -> pa.Table:
    """These columns. What a file says of its own lengths is not believed, nor that its texts are of UTF-8.

    raises : DataError, which names the column
    """
    for name in columns:
        try:
            batch[name].validate(full=True)
        except pa.ArrowInvalid:
            says = "is damaged, or holds texts that are not of UTF-8. Write the file anew, in UTF-8"
            raise DataError(f"{path}: column '{one_line(name)}' {says}") from None
    return pa.table({name: one_value_a_record(batch[name]) for name in columns})


def one_value_a_record(column: pa.Array) -> pa.Array:
    """The column, a list of texts as one text."""
    column = without_views(column)
    if pa.types.is_dictionary(column.type) and _is_no_category(column.type.value_type):
        column = column.dictionary_decode()
    return listed_texts(column) if is_list(column.type) else column


def _is_no_category(kind: pa.DataType) -> bool:
    """Dates and decimals, which a dictionary only stores more shortly."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_decimal(kind))


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
            return read_columns(file.schema_arrow)

    def left_out(self) -> dict[str, str]:
        with self._open() as file:
            return unread_columns(file.schema_arrow)

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        with self._open() as file:
            try:
                for batch in file.iter_batches(batch_size=size, columns=list(columns)):
                    yield _checked(self.path, batch, columns)
            except MemoryError:
                raise
            except (pa.ArrowException, OSError):
                raise DataError(f"{self.path}: is damaged; it cannot be read to its end") from None
