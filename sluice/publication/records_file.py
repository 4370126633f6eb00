"""Records as files: Parquet in the vault and on the shelf, and CSV (RFC 4180). The same records give the same bytes.

A CSV holds the values as they are. A spreadsheet that opens it may run a cell that begins with = + - @ as a formula; a
quote in front would protect the spreadsheet and falsify the value for every other reader ('- 50000.' is a category of
the US census income data), so the cells stay, unless the policy asks for that form (see `spreadsheet_text`).
"""

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import DataError
from sluice.ground.frame_columns import with_columns
from sluice.ground.values import has_nanoseconds, wall_clock
from sluice.ground.variables import Kind, Variable, Variables
from sluice.settings import settings

_ROW_GROUP = 131_072  # fixed, so that the bytes do not depend on the size of the batches
_FEW = 20_000  # records that are put in order at once: before DuckDB has begun
_TYPES = {Kind.CONTINUOUS: pa.float64(), Kind.INTEGER: pa.int64(), Kind.DATE: pa.timestamp("us")}


def write_parquet(
    batches: pd.DataFrame | Iterable[pd.DataFrame],
    path: Path,
    variables: Variables,
    metadata: Mapping[str, str] | None = None,
    types: Mapping[str, pa.DataType] = MappingProxyType({}),
) -> int:
    """Write a typed frame, or its batches in order; returns the number of records.

    metadata : texts for the file's own key-value metadata
    types    : of columns that have another type than that of their variable; then the file tells Arrow's types
    The file holds the columns of `variables` in that order, categories as text, no index and no metadata of pandas; the
    caller syncs it to disk. Raises DataError when the disk is full; then no file is left. Cost: O(n) time, one row
    group and one batch of memory.
    """
    usual = {name: _TYPES.get(variable.kind, pa.string()) for name, variable in variables.items()}
    schema = pa.schema(list((usual | {name: types[name] for name in usual if name in types}).items()))
    frames = [batches] if isinstance(batches, pd.DataFrame) else batches
    records = 0
    with (
        _whole_or_nothing(path),
        path.open("wb") as file,
        pq.ParquetWriter(file, schema, compression="zstd", version="2.6", store_schema=bool(types)) as writer,
    ):
        for group in _row_groups(frames, schema):
            writer.write_table(group, row_group_size=_ROW_GROUP)
            records += group.num_rows
        if metadata:
            writer.add_key_value_metadata(dict(metadata))
    return records


def write_in_order(source: Path, path: Path, variables: Variables, first: Sequence[str] = ()) -> int:
    """Write a table of `write_parquet` again, its records in the order of their values; returns their number.

    The same records give the same bytes, in whatever order they came.

    first : columns to go by before the others, such as a key
    cost  : O(n log n); what does not fit into the memory of the settings waits in files in the folder of `path`
    """
    names = [*first, *(name for name in variables if name not in first)]
    with pq.ParquetFile(source) as file:
        if file.metadata.num_rows <= _FEW:
            records = file.read()
            records = records.take(pc.sort_indices(records, [(name, "ascending") for name in names]))
            return write_parquet(records.to_pandas(types_mapper=pd.ArrowDtype), path, variables)
    import duckdb  # not for those who only read or write a table, nor for few records

    order = ", ".join('"' + name.replace('"', '""') + '" NULLS LAST' for name in names)
    with duckdb.connect(config=settings().duckdb(path.parent)) as sorter:
        sorter.execute("SET enable_progress_bar = false")  # it writes to standard output, where JSON may be awaited
        rows = sorter.sql(f"SELECT * FROM read_parquet(?) ORDER BY {order}", params=[str(source)])
        reader: pa.RecordBatchReader = rows.to_arrow_reader(_ROW_GROUP)
        return write_parquet((batch.to_pandas(types_mapper=pd.ArrowDtype) for batch in reader), path, variables)


def write_replaced(source: Path, path: Path, variables: Variables, texts: Mapping[str, Mapping[str, str]]) -> None:
    """Write a table of `write_parquet` again, with other texts in some columns: by column, what replaces which.

    cost : O(n) time, one row group of memory
    """
    with pq.ParquetFile(source) as file:
        batches = (batch.to_pandas(types_mapper=pd.ArrowDtype) for batch in file.iter_batches(_ROW_GROUP))
        replaced = (
            with_columns(batch, {name: batch[name].replace(dict(other)) for name, other in texts.items()})
            for batch in batches
        )
        write_parquet(replaced, path, variables)


def read_typed(path: Path, variables: Variables, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The typed frame (see sluice.ground.variables) that `write_parquet` wrote, or some of its columns.

    Categories are in the order of `variables`; where none are declared, those found, sorted. Raises DataError for a
    file that is damaged, lacks a column or holds a category that is not declared. Cost: O(n) time; memory for the frame
    and for one column as Arrow holds it, with four bytes for a category; for all of them where they are one row group.
    """
    names = list(variables) if columns is None else list(columns)
    categorical = [name for name in names if variables[name].kind.is_categorical]
    try:
        with pq.ParquetFile(path, read_dictionary=categorical) as file:
            absent = [name for name in names if name not in file.schema_arrow.names]
            if absent:
                raise DataError(f"{path}: has no column {', '.join(absent)}")
            # One by one takes half as long again, which of few records is more than anything else done with them.
            held = file.read(columns=names) if file.metadata.num_rows <= _ROW_GROUP else None
            read = ((name, (file.read(columns=[name]) if held is None else held)[name]) for name in names)
            typed = {name: _typed(column, variables[name], path) for name, column in read}
    except (pa.ArrowException, OSError):
        raise DataError(f"{path}: is not a whole Parquet file") from None
    pa.default_memory_pool().release_unused()
    return pd.DataFrame(typed, copy=False)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a typed frame as CSV (RFC 4180: comma, CR LF, quotes where needed) in UTF-8 without byte order mark.

    A missing value is an empty cell; numbers read back exactly; dates are ISO, without the time where none has one.
    The caller syncs it to disk. Raises DataError when the disk is full; then no file is left.
    """
    with_time = columns_with_time(frame)
    header = [csv_texts(pa.array([str(name)])) for name in frame.columns]
    with _whole_or_nothing(path), path.open("wb") as file:
        file.write(csv_lines(header))
        for start in range(0, len(frame), _ROW_GROUP):
            part = frame.iloc[start : start + _ROW_GROUP]
            cells = [_cells(part.iloc[:, at], str(name) in with_time) for at, name in enumerate(frame.columns)]
            file.write(csv_lines(cells))


def columns_with_time(frame: pd.DataFrame) -> list[str]:
    """Columns of dates of which one has a time of day, so that all are written with one."""
    dates = {name: frame[name].dropna() for name in _dates(frame)}
    return [name for name, each in dates.items() if not (each == each.dt.normalize()).all()]


def _dates(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name in frame.columns[frame.dtypes.map(lambda dtype: dtype.kind == "M")]]


def _cells(column: "pd.Series[Any]", with_time: bool) -> pa.Array:
    """The texts of a column's cells; each different value is made one once."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = pa.array(codes_of(column), mask=column.isna().to_numpy())
        values = pa.DictionaryArray.from_arrays(codes, [str(category) for category in column.cat.categories])
    else:
        values = pa.Array.from_pandas(column)
        values = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    kind = values.dictionary.type
    if pa.types.is_timestamp(kind):
        texts = _moments(values.dictionary, with_time)
    elif pa.types.is_float64(kind):
        texts = pa.array([repr(number) for number in values.dictionary.to_pylist()], pa.string())
    else:
        texts = values.dictionary.cast(pa.string())
        if pa.types.is_time(kind):
            texts = pc.replace_substring_regex(texts, r"[.]0+$", "")
    if pa.types.is_floating(kind):
        texts = pc.if_else(pc.is_nan(values.dictionary), None, texts)
    return pa.DictionaryArray.from_arrays(values.indices, csv_texts(texts)).cast(pa.string())


def _moments(moments: pa.Array, with_time: bool) -> pa.Array:
    """As calendar and clock showed them; finer than a microsecond where one is."""
    if not with_time:
        return pc.strftime(wall_clock(moments), "%Y-%m-%d")
    finer = pc.any(has_nanoseconds(moments)).as_py()
    local = pc.local_timestamp(moments) if moments.type.tz is not None else moments
    return pc.strftime(local if finer else wall_clock(moments), "%Y-%m-%dT%H:%M:%S")


def _row_groups(frames: Iterable[pd.DataFrame], schema: pa.Schema) -> Iterator[pa.Table]:
    waiting = schema.empty_table()
    for frame in frames:
        absent = [name for name in schema.names if name not in frame.columns]
        if absent:
            raise DataError(f"the table to be written has no column {', '.join(absent)}")
        for start in range(0, len(frame), _ROW_GROUP):  # texts of a whole file take many times its categories
            part = frame.iloc[start : start + _ROW_GROUP]
            arrays = [pa.Array.from_pandas(part[field.name]).cast(field.type) for field in schema]
            waiting = pa.concat_tables([waiting, pa.table(arrays, schema=schema)])
            while waiting.num_rows >= _ROW_GROUP:
                yield waiting.slice(0, _ROW_GROUP).combine_chunks()
                waiting = waiting.slice(_ROW_GROUP)
    if waiting.num_rows:
        yield waiting.combine_chunks()


def _typed(column: pa.ChunkedArray, variable: Variable, path: Path) -> Any:
    if not variable.kind.is_categorical:
        dtypes = {pa.int64(): pd.Int64Dtype(), pa.string(): pd.StringDtype(na_value=np.nan)}
        return column.cast(_TYPES.get(variable.kind, pa.string())).to_pandas(types_mapper=dtypes.get)
    encoded = column.unify_dictionaries().combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    found = encoded.dictionary.to_pylist()
    categories = sorted(found) if variable.categories is None else list(variable.categories)
    place = {category: code for code, category in enumerate(categories)}
    if not place.keys() >= set(found):
        raise DataError(f"{path}: '{variable.name}' holds a category that is not declared")
    codes = np.array([*(place[label] for label in found), -1], dtype=np.int32)
    indices = encoded.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
    ordered = variable.kind is Kind.ORDINAL
    index = pd.Index(categories, dtype="str")
    return pd.Series(pd.Categorical.from_codes(codes[indices], index, ordered=ordered))


@contextmanager
def _whole_or_nothing(path: Path) -> Iterator[None]:
    """Remove what was written when it is not finished; a full disk is a DataError."""
    try:
        yield
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(f"{path}: no space left on the disk; nothing was written") from None
        raise


_TEXT = pa.large_string()  # a line may be long
_COMMA, _LINE_END, _NOTHING = (pa.scalar(text, _TEXT) for text in (",", "\r\n", ""))
_EMPTY = pa.scalar('""', _TEXT)  # a line without a sign would be no record


def csv_texts(texts: pa.Array) -> pa.Array:
    """These texts as they stand in a CSV: in quotes where they hold a comma, a quote or the end of a line."""
    to_quote = pc.fill_null(pc.match_substring_regex(texts, r'[,"\r\n]'), False)
    if not pc.any(to_quote).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(to_quote, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


def csv_lines(columns: list[pa.Array]) -> pa.Buffer:
    """The records of columns of such texts, a line each, in UTF-8; a missing one is an empty cell."""
    cells = [column.cast(_TEXT) for column in columns]
    lines = pc.binary_join_element_wise(*cells, _COMMA, null_handling="replace", null_replacement="")
    if len(columns) == 1:
        lines = pc.if_else(pc.equal(lines, _NOTHING), _EMPTY, lines)
    lines = pc.binary_join_element_wise(lines, _LINE_END, _NOTHING)
    *_, signs = lines.buffers()
    return signs.slice(0, pc.sum(pc.binary_length(lines)).as_py() or 0)
