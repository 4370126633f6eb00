"""Every reader of records, with how a small frame is written for it, and what of it the format can hold."""

import gzip
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
import sqlalchemy as sa
from pyarrow import feather

from sluice.ground.databases import database_url
from sluice.ground.errors import DataError
from sluice.sources.sources import (
    ArrowSource,
    CsvSource,
    ExcelSource,
    FixedWidthSource,
    ParquetSource,
    SasSource,
    SpssSource,
    StataSource,
)
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import TabularSource

SECRET = "geheim-4711"


def records(count: int = 12) -> pd.DataFrame:
    """Codes with zeros in front, letters and signs of all kinds, numbers, truths and times, each with gaps."""
    towns = ["Zürich", "Łódź", 'a "b", c;d|e', "NA", FORMULA, "'; --"]
    times = [pd.Timestamp("2024-02-29 23:59:59"), pd.Timestamp("1999-12-31"), pd.Timestamp("1970-01-01 00:00:01")]
    of = range(count)
    return pd.DataFrame(
        {
            "code": [f"{at:03d}" for at in of],
            "town": [None if at % 7 == 1 else towns[at % len(towns)] for at in of],
            "number": pd.array([None if at % 5 == 1 else (2**53 - 1 if at == 2 else at - 4) for at in of], "Int64"),
            "pay": [None if at % 4 == 1 else [1.5, 0.1, -1e-9, 12345678.9][at % 4] for at in of],
            "yes": pd.array([None if at % 3 == 1 else at % 2 == 0 for at in of], "boolean"),
            "seen": pd.Series([None if at % 6 == 1 else times[at % 3] for at in of], dtype="datetime64[us]"),
        }
    )


Write = Callable[[pd.DataFrame, Path], object]
NATURAL = {
    "code": "string",
    "town": "string",
    "number": "int64",
    "pay": "double",
    "yes": "bool",
    "seen": "timestamp[us]",
}
TEXTS = dict.fromkeys(NATURAL, "string")
DOUBLES = NATURAL | {"number": "double", "yes": "double"}
STATA = DOUBLES | {"yes": "int64"}
FORMULA = "=1+1"
WESTERN = {"Łódź": "Besançon"}  # Latin-1 has the second
ANY_NAME = ['the "name"', "a,b;c|d", "größe", "{x} %s :y", "'; DROP TABLE records; --", FORMULA, "select", "a.b", "<b>"]
PLAIN_NAMES = ["x_1", "Name", "NaN", "n" * 30]


@dataclass(frozen=True)
class Reader:
    """write : of a frame, at a path; `source` is what reads it there, of a server by its address
    types    : of the columns, as Arrow names them; a text format has texts, in which '' is missing
    names    : of columns that the format can hold, strange ones among them
    lacks    : texts that the format or its encoding does not have, and what stands in their place
    notices  : damage within the file, which a format without sums of its parts takes for values
    """

    write: Write
    source: Callable[[Any], TabularSource]
    types: Mapping[str, str] = field(default_factory=lambda: NATURAL)
    names: list[str] = field(default_factory=lambda: ANY_NAME)
    lacks: Mapping[str, str] = field(default_factory=dict)
    notices: bool = True

    def records(self, count: int = 12) -> pd.DataFrame:
        """The records, as far as the format has them."""
        return records(count).replace({"town": dict(self.lacks)})


def _packed(write: Write) -> Write:
    def packed(frame: pd.DataFrame, path: Path) -> None:
        write(frame, path)
        path.write_bytes(gzip.compress(path.read_bytes()))

    return packed


def _zip(frame: pd.DataFrame, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside/people.csv", frame.to_csv(index=False, sep="|"))


def _excel(frame: pd.DataFrame, path: Path) -> None:
    """Without the time at which it was written: what falls on a damage is always the same."""
    written = BytesIO()
    frame.to_excel(written, index=False, engine="openpyxl")
    with zipfile.ZipFile(written) as made, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as fixed:
        for name in made.namelist():
            content = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2020-01-01T00:00:00Z", made.read(name))
            fixed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def _stream(frame: pd.DataFrame, path: Path) -> None:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.OSFile(str(path), "w") as file, pa.ipc.new_stream(file, table.schema) as stream:
        for start in range(0, max(len(frame), 1), 5):
            stream.write_table(table.slice(start, 5))


def _fixed_width(frame: pd.DataFrame, path: Path) -> None:
    texts = as_text(frame)
    widths = texts.map(len).max().fillna(0).astype(int) + 1
    rows = ("".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in texts.to_numpy())
    path.write_text("".join(f"{row}\n" for row in rows))
    places = zip(texts, widths.cumsum() - widths + 1, widths, strict=True)
    named = [f'"{name.replace(chr(34), chr(34) * 2)}";{start};{length}\n' for name, start, length in places]
    path.with_name("layout.csv").write_text("name;start;length\n" + "".join(named))


def _database(kind: str) -> Write:
    def write(frame: pd.DataFrame, place: Any) -> None:
        engine = sa.create_engine(database_url(place if "://" in str(place) else f"{kind}:///{place}"))
        frame.to_sql("records", engine, index=False)
        engine.dispose()

    return write


def _table(kind: str) -> Callable[[Any], SqlSource]:
    return lambda place: SqlSource(url=place if "://" in str(place) else f"{kind}:///{place}", table="records")


def _csv(**said: Any) -> Write:
    return lambda frame, path: frame.to_csv(path, index=False, **said)


def _read(model: Any, **said: Any) -> Callable[[Any], TabularSource]:
    return lambda path: model(path=str(path), **said)


def _sql(kind: str, **types: str) -> Reader:
    return Reader(_database(kind), _table(kind), NATURAL | types)


READERS = {
    "csv": Reader(_csv(), _read(CsvSource), TEXTS),
    "csv of an office": Reader(
        _csv(sep=";", encoding="cp1252"), _read(CsvSource, separator=";", encoding="cp1252"), TEXTS,
        lacks=WESTERN,
    ),
    "csv of a spreadsheet": Reader(
        _csv(sep="\t", encoding="utf-16"), _read(CsvSource, separator="\t", encoding="utf-16"), TEXTS
    ),
    "csv, gzip": Reader(_packed(_csv()), _read(CsvSource), TEXTS),
    "csv, zip": Reader(_zip, _read(CsvSource, separator="|"), TEXTS),
    "fixed width": Reader(
        _fixed_width, lambda path: FixedWidthSource(path=str(path), layout=str(path.with_name("layout.csv"))), TEXTS,
        notices=False,
    ),
    "parquet": Reader(lambda frame, path: frame.to_parquet(path), _read(ParquetSource)),
    "arrow": Reader(lambda frame, path: feather.write_feather(frame, str(path)), _read(ArrowSource)),
    "arrow stream": Reader(_stream, _read(ArrowSource)),
    "excel": Reader(
        _excel, _read(ExcelSource), names=[name for name in ANY_NAME if name != FORMULA], lacks={FORMULA: "1+1="}
    ),
    "stata": Reader(pyreadstat.write_dta, _read(StataSource), STATA, PLAIN_NAMES, notices=False),
    "stata, gzip": Reader(_packed(pyreadstat.write_dta), _read(StataSource), STATA, PLAIN_NAMES),
    "spss": Reader(pyreadstat.write_sav, _read(SpssSource), DOUBLES, PLAIN_NAMES, notices=False),
    "spss, packed": Reader(partial(pyreadstat.write_sav, compress=True), _read(SpssSource), DOUBLES, PLAIN_NAMES),
    "sas transport": Reader(
        partial(pyreadstat.write_xport, file_format_version=8), _read(SasSource), DOUBLES, PLAIN_NAMES, notices=False
    ),
    "duckdb": _sql("duckdb"),
    "sqlite": _sql("sqlite", yes="int64", seen="string"),
    "postgresql": _sql("postgresql", code="string"),
    "mariadb": replace(_sql("mariadb", yes="int64"), lacks=WESTERN),
}  # fmt: skip
SERVERS = ("postgresql", "mariadb")
DATABASES = ("duckdb", "sqlite", *SERVERS)
OF_FILES = [name for name in READERS if name not in SERVERS]


def marked(*names: str) -> list[Any]:
    """Readers as parameters; those of servers start one."""
    return [pytest.param(name, marks=pytest.mark.servers) if name in SERVERS else name for name in names]


def place_of(name: str, request: pytest.FixtureRequest, folder: Path) -> Any:
    """Where a reader's frame is written: a path, whose name says nothing, or the address of an empty database."""
    return request.getfixturevalue(name) if name in SERVERS else folder / "data"


def cells(source: TabularSource, *columns: str, size: int = 100) -> list[list[Any]]:
    """The cells of all records as they come, those that are missing as None."""
    batches = [batch.astype(object) for batch in source.batches(columns, size)]
    return [record for batch in batches for record in batch.where(batch.notna(), None).to_numpy().tolist()]


def refusal(source: TabularSource, *columns: str) -> str:
    """The sentence of the DataError, which holds no cell and carries no other exception with it."""
    with pytest.raises(DataError) as raised:
        cells(source, *columns)
    assert raised.value.__context__ is raised.value.__cause__ is None
    assert SECRET not in str(raised.value)
    return str(raised.value)


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Every cell as text, missing ones as ''; numbers, truths and times in one spelling, whatever their type is."""

    def text(cell: Any) -> str:
        if cell is None or cell is pd.NA or cell != cell or cell == "":
            return ""
        if isinstance(cell, str) and cell in ("True", "False"):
            return str(int(cell == "True"))
        if isinstance(cell, bool):
            return str(int(cell))
        if isinstance(cell, pd.Timestamp):
            return cell.isoformat(" ").removesuffix(" 00:00:00")
        return str(cell).removesuffix(".0").removesuffix(".000000").removesuffix(" 00:00:00")

    return frame.astype(object).map(text).reset_index(drop=True)
