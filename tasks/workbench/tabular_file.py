"""A file outside any release, read as a typed frame; and its numbers, where they have a decimal comma."""

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa

from schemas.contract import Contract
from schemas.reading.typing import SourceTyping
from sluice.custody.shelf import refuse_to_overwrite
from sluice.ground.errors import DataError, MeasureChoiceError
from sluice.ground.frame_columns import with_columns
from sluice.ground.remarks import BELOW, Remark, Remarks
from sluice.ground.values import count_blanks, plain_array
from sluice.ground.variables import Kind, Role, Variable
from sluice.reading.kind import summary_of
from sluice.sources.csv_source import CsvSource, described_csv
from sluice.sources.cube_source import CubeSource, is_cube
from sluice.sources.separate_reading import read_here
from sluice.sources.tabular_source import TabularSource
from sluice.sources.text_encoding import likely_encoding
from sluice.sources.total_row import LOOKED_AT, remark_on_totals

_WITH_COMMA = re.compile(r"[+-]?[0-9]*(,[0-9]+)?")
_SURELY = re.compile(r"[+-]?([0-9]*,([0-9]{1,2}|[0-9]{4,})|0?,[0-9]+|[0-9]{4,},[0-9]+)")


class _NamedFileError(DataError):
    """An error that says which of several files it is about."""


@contextmanager
def errors_of(file: Path | pd.DataFrame, read: TabularSource | pd.DataFrame | None = None) -> Iterator[None]:
    """Lets a DataError name the file that is at fault, and the options of the commands; of a frame it stays.

    read : the same, once it was read: a total or a note among its records is likelier at fault than they are
    """
    try:
        yield
    except _NamedFileError:
        raise
    except DataError as error:
        if isinstance(file, pd.DataFrame):
            raise
        says = error.for_command if isinstance(error, MeasureChoiceError) else str(error)
        for remark in read.remarks.all() if isinstance(read, TabularSource) else ():
            if remark.code in BELOW:
                says = f"{says.rstrip('.')}. {remark.says[:1].upper()}{remark.says[1:]}."
        says = says.removeprefix(f"{file.absolute()}: ")  # which it was recognised by
        raise _NamedFileError(says if says.startswith(str(file)) else f"{file}: {says}") from None


def table_source(path: Path) -> TabularSource:
    """The file as a source: Parquet and tables of web pages by their names, others by what they hold, as `sluice init`
    finds it. Raises DataError."""
    if path.suffix == ".parquet":
        from sluice.sources.sources import ParquetSource  # knows databases, too, which takes time to load

        return ParquetSource(path=str(path))
    if not _is_called_csv(path) and is_cube(path):
        return CubeSource(path=str(path))
    from sluice.sources.recognition import recognise

    if not _is_called_csv(path):
        return recognise(path).records
    return _of_text(path) or described_csv(path)  # which says what is wrong when it is read


def _of_text(path: Path, header_row: int | None = None) -> TabularSource | None:
    """A text, whose decimal mark may be anybody's guess: that of a column such as 1,234. None where it is no table."""
    from sluice.sources.recognition import recognise

    for decimal in (None, "."):
        with suppress(DataError):
            return recognise(path, decimal=decimal, header_row=header_row).records
    return None


def cells_source(path: Path, header_row: int | None = None) -> TabularSource:
    """The same of a table of cells or codes, whose first line names the columns, though these be years.

    header_row : the line or row that does, from 1, of a file that has a title above them
    """
    if header_row is not None:
        from sluice.sources.recognition import recognise

        return _of_text(path, header_row) or recognise(path, header_row=header_row).records
    return described_csv(path, encoding=likely_encoding(path)) if _is_called_csv(path) else table_source(path)


def _is_called_csv(path: Path) -> bool:
    return path.name.endswith((".csv", ".csv.gz"))


def read_text(path: Path, columns: Sequence[str] | None = None, header_row: int | None = None) -> pd.DataFrame:
    """All cells of a table as text, missing ones as empty texts; all columns when none are named. Raises DataError."""
    table = cells_source(path, header_row)
    frame = pd.concat(read_here(table, columns or table.column_names()), ignore_index=True)
    return frame if isinstance(table, CsvSource) else frame.astype("object").where(frame.notna(), "").astype(str)


def read_records(table: TabularSource, contract: Contract | None, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The cells as they stand in the file, but for decimal commas of numbers: of those that the contract declares,
    where they can be nothing else, or where the file writes decimals so. Of columns that are named there are no more
    records than the contract allows; when none are named, all columns of what somebody made of such records. Raises
    DataError."""
    most = contract.rows.maximum if contract and columns else None
    raw = pd.concat(read_here(table, list(columns or table.column_names()), most=most), ignore_index=True)
    mark = table.decimal_mark
    if contract is not None:
        numbers = [v.name for v in contract.by_name.values() if v.kind.is_numeric]
    else:
        numbers = [] if mark == "." else [str(name) for name in raw if summary_of([raw[name]], mark).kind.is_numeric]
    return with_points(raw, numbers, certain=mark == ",")


def remarks_on(frame: pd.DataFrame, columns: Iterable[str] | None = None) -> tuple[Remark, ...]:
    """What of these columns of a frame, or of all, is not read as it stands, or as it should be. Cost: O(n) a column
    of texts."""
    remarks = Remarks()
    plain = {str(name): plain_array(frame[name]) for name in (frame.columns if columns is None else columns)}
    for name, column in plain.items():
        if count := count_blanks(column):
            remarks.add("blanks", name, count)
    if 0 < len(frame) <= LOOKED_AT:
        remark_on_totals([pa.table(plain)], remarks)
    return remarks.all()


def typed_table(
    raw: pd.DataFrame, contract: Contract, key: int, remarks: Remarks | None = None
) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """The typed frame without identifiers, and its variables with the categories that were found.

    remarks : to which what is not handed on as it stands is added
    key    : names of households and contributors are hashed with it; equal names are equal under the same key
    raises : DataError with every column and check that fails
    """
    secret = hashlib.sha256(str(key).encode()).digest()

    def pseudonym(name: str, text: str) -> str:
        return hmac.new(secret, f"{name}\n{text}".encode(), hashlib.sha256).hexdigest()[:16]

    typing = SourceTyping(contract, pseudonym, remarks=remarks)
    frame = typing.type_batch(raw)
    variables = {name: v for name, v in typing.variables().items() if v.role is not Role.IDENTIFIER}
    for name, variable in variables.items():  # a batch names its categories in the order of their appearance
        if variable.kind is Kind.ITEMS:
            frame[name] = frame[name].cat.reorder_categories(sorted(frame[name].cat.categories))
        elif variable.kind.is_categorical and contract.by_name[name].categories is None:
            frame[name] = frame[name].cat.set_categories(list(variable.categories or ()))
    return frame[list(variables)], variables


def refuse_unfit_csv(output: Path, inputs: Sequence[Path | None], option: str = "--output") -> None:
    """Raise DataError for an output that is no CSV file, is in no folder, or is one of the files that are read."""
    if output.suffix != ".csv":
        raise DataError(f"{option} {output}: must end in .csv")
    if output.is_dir():
        raise DataError(f"{option} {output}: is a folder")
    if not output.resolve().parent.is_dir():
        raise DataError(f"{option} {output}: there is no folder {output.parent}")
    refuse_to_overwrite(output, inputs, option=option)


def with_points(frame: pd.DataFrame, columns: Sequence[str], certain: bool = False) -> pd.DataFrame:
    """The frame with points before the decimals of those columns of text in which commas certainly stand before them.

    A comma before three digits may stand between thousands. So at least one number of the column must have another
    count of decimals, or too many digits before them, and none may have a point or two commas; otherwise the column is
    left as it is, and refused by whoever reads numbers.

    certain : whether the file is known to write its decimals so
    """
    changed = {}
    for name in columns:
        if name not in frame or pd.api.types.is_numeric_dtype(frame[name].dtype):
            continue
        texts = [str(each) for each in frame[name].dropna().unique() if "," in str(each) or "." in str(each)]
        if texts and (certain or any(map(_SURELY.fullmatch, texts))) and all(map(_WITH_COMMA.fullmatch, texts)):
            changed[name] = frame[name].str.replace(",", ".", regex=False)
    return with_columns(frame, changed)
