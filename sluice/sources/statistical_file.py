"""Files of Stata, SPSS and SAS. Codes stay codes: labels, missing codes and formats are described, never put in.

pyreadstat (ReadStat) reads them. A number that the file shows with zeros in front arrives as text with these zeros: 01.
Missing values with a letter, of Stata (.a to .z) and SAS (.A to .Z, ._), arrive as these texts.
"""

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from math import floor
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from sluice.ground.errors import DataError
from sluice.ground.values import hours
from sluice.ground.variables import as_label
from sluice.ground.visible_text import Name
from sluice.sources.packed_file import in_memory
from sluice.sources.tabular_source import ColumnDescription, Descriptions, FileSource

_TRANSPORT, _CARD = b"HEADER RECORD", 80  # of SAS: how it begins, and the bytes of each part
_OF_RECORDS = b"HEADER RECORD*******OBS"
_DAY = 86_400  # seconds
_HUGE = 1e300  # SPSS writes its lowest and highest value for a range without an end


class StatisticalFile(FileSource):
    """What the three have in common."""

    program: ClassVar[str]
    zeros: ClassVar[str]  # the format of numbers with zeros in front; its group is their width
    letters: ClassVar[str] = ""  # that a missing value may bear
    origin: ClassVar[datetime] = datetime(1960, 1, 1)  # from which it counts days and moments
    day: ClassVar[int] = 1  # what it counts for a day, in a column of days
    second: ClassVar[int] = 1  # and for a second, in one of moments
    days: ClassVar[str] = r"(?!)"  # formats that show a part of a day, and are no dates to the reader
    of_a_day: ClassVar[str] = r"(?!)"  # formats of times of a day; other times may be of more than 24 hours
    encoding: str | None = Field(
        default=None, description="of its texts, such as cp1252, where the file does not say so, or not rightly"
    )

    @abstractmethod
    def _reader(self, start: bytes) -> Callable[..., Any]:
        """The function of pyreadstat for the form that the file has, by its first bytes."""

    def described(self) -> Descriptions:
        with self._open() as file:
            meta = self._meta(file)
        return {name: self._description(name, meta) for name in meta.column_names}

    def _names(self, expected: Sequence[str]) -> list[str]:
        with self._open() as file:
            return list(self._meta(file).column_names)

    def _meta(self, file: BinaryIO) -> Any:
        try:
            return self._read(file, metadataonly=True)[1]
        except (ValueError, OverflowError):
            raise self._damaged() from None

    def _damaged(self) -> DataError:
        return DataError(f"{self.path}: is damaged, or holds a value that cannot be")

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Each batch is looked up anew: in a compressed file that means to read to it again from the start."""
        with self._open() as file:
            meta = self._meta(file)
            read, promised = 0, self._promised(file, meta)
            while True:
                found = self._records(file, columns, read, size, meta)
                rows = len(found[columns[0]])
                if rows:
                    yield pa.table({name: self._column(found[name], name, meta) for name in columns})
                read += rows
                if rows < size:
                    break
        if promised is not None and read != promised >= 0:
            raise DataError(f"{self.path}: says that it holds {promised} records, and holds {read}; it is not whole")

    def _promised(self, file: BinaryIO, meta: Any) -> int | None:
        """How many records the file says that it holds; None where it does not."""
        promised: int | None = meta.number_rows
        return promised

    def _open(self) -> BinaryIO:
        return in_memory(Path(self.path)) or Path(self.path).open("rb")

    def _read(self, file: BinaryIO, **options: Any) -> tuple[Any, Any]:
        import pyreadstat

        file.seek(0)
        reader = self._reader(file.read(80))
        file.seek(0)
        try:
            found: tuple[Any, Any] = reader(
                file, output_format="dict", encoding=self.encoding, user_missing=True, **options
            )
            return found
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeDecodeError) as error:
            if "allocate memory" in str(error):
                raise MemoryError from None
            if re.search("convert string|character set", str(error)) or isinstance(error, UnicodeDecodeError):
                hint = "its texts are of another encoding than it says; name it, such as encoding: cp1252"
                raise DataError(f"{self.path}: {hint}") from None
            raise DataError(f"{self.path}: is damaged, or no {self.program} file that can be read") from None
        except OSError:
            raise self._damaged() from None

    def _records(
        self, file: BinaryIO, columns: Sequence[str], first: int, size: int, meta: Any
    ) -> Mapping[str, Sequence[Any]]:
        """The values of some records. A date that the calendar does not have is missing, and remarked upon."""
        shown = set(meta.original_variable_types.values())
        extra = [each for each in shown if each and re.fullmatch(self.days, each)]
        rows: dict[str, Any] = {"row_offset": first, "row_limit": size, "extra_date_formats": extra}
        try:
            found: Mapping[str, Sequence[Any]] = self._read(file, usecols=list(columns), **rows)[0]
        except (ValueError, OverflowError):
            found = {name: self._within_calendar(file, name, rows) for name in columns}
        return {
            name: values
            if re.match(self.of_a_day, meta.original_variable_types.get(name) or "")
            else self._lasting(file, name, rows, values)
            for name, values in found.items()
        }

    def _lasting(self, file: BinaryIO, name: str, rows: dict[str, Any], found: Sequence[Any]) -> Sequence[Any]:
        """Of a column of times those beyond one day, too: the reader cuts 30:00 to 06:00. It is read once more."""
        if not any(isinstance(value, time) for value in found):
            return found
        raw = self._read(file, usecols=[name], disable_datetime_conversion=True, **rows)[0][name]
        return [
            timedelta(seconds=number) if isinstance(value, time) and not 0 <= number < _DAY else value
            for value, number in zip(found, raw, strict=True)
        ]

    def _within_calendar(self, file: BinaryIO, name: str, rows: dict[str, Any]) -> Sequence[Any]:
        """One column of them. Cost: it is read once more, or twice where it has such a date."""
        try:
            whole: Sequence[Any] = self._read(file, usecols=[name], **rows)[0][name]
            return whole
        except (ValueError, OverflowError):
            raw = self._read(file, usecols=[name], disable_datetime_conversion=True, **rows)[0][name]
        numbers = {at: value for at, value in enumerate(raw) if isinstance(value, int | float) and value == value}
        found: list[Any] = [value if isinstance(value, str) else None for value in raw]
        nearest = min(numbers, key=lambda at: abs(numbers[at]))
        try:  # what the reader makes of it says whether these are days or moments
            one = rows | {"row_offset": rows["row_offset"] + nearest, "row_limit": 1}
            row = self._read(file, usecols=[name], **one)[0][name]
            is_day, is_moment = not isinstance(row[0], datetime | time), isinstance(row[0], datetime)
        except (ValueError, OverflowError):
            is_day = is_moment = True  # none is within the calendar
        beyond = []
        for at, number in numbers.items():
            try:
                moment = self.origin + self._since_origin(number, is_day)
                found[at] = moment.date() if is_day else moment if is_moment else moment.time()
            except (ValueError, OverflowError):
                beyond.append(at)
        if beyond:
            self.remarks.add("beyond_calendar", name, len(beyond), rows["row_offset"] + beyond[0] + 1)
        return found

    def _since_origin(self, number: float, is_day: bool) -> timedelta:
        """Of a day or moment as the file counts it. Raises ValueError or OverflowError where it is too far."""
        if is_day:
            return timedelta(days=floor(number / self.day) if self.day > 1 else int(number))
        whole, part = divmod(number, self.second)
        return timedelta(seconds=whole, microseconds=round(part * 1_000_000 / self.second))

    def _column(self, found: Sequence[Any], name: str, meta: Any) -> pa.Array:
        if meta.readstat_variable_types.get(name) == "string":
            return pa.array(found, pa.string())
        width = self._width(name, meta)
        if width or any(isinstance(value, str | time | timedelta) for value in found):
            return pa.array([self._text(value, width) for value in found], pa.string())
        return pa.array(found, from_pandas=True)

    def _text(self, value: Any, width: int) -> str | None:
        """A number, day or missing letter as text; None for a value that is missing without one."""
        if value is None or value != value:
            return None
        if isinstance(value, str):
            return f".{value}"
        if isinstance(value, date | time):
            return value.isoformat()
        if isinstance(value, timedelta):
            return hours(value)
        text = str(as_label(value))
        return text.zfill(width) if text.isdigit() else text

    def _width(self, name: str, meta: Any) -> int:
        shown = re.fullmatch(self.zeros, meta.original_variable_types.get(name) or "")
        return int(shown[1]) if shown else 0

    def _description(self, name: str, meta: Any) -> ColumnDescription:
        is_text = meta.readstat_variable_types.get(name) == "string"
        width = self._width(name, meta)

        def code(value: Any) -> str:
            return str(value) if is_text else str(self._text(value, width))

        ranges = meta.missing_ranges.get(name, [])
        return ColumnDescription(
            label=meta.column_names_to_labels.get(name) or "",
            labels={code(value): str(said) for value, said in meta.variable_value_labels.get(name, {}).items()},
            missing_codes=(
                *(code(each["lo"]) for each in ranges if each["lo"] == each["hi"]),
                *(f".{letter}" for letter in ("" if is_text else self.letters)),
            ),
            missing_ranges=tuple(
                (_end(each["lo"]), _end(each["hi"])) for each in ranges if each["lo"] != each["hi"] and not is_text
            ),
            format=meta.original_variable_types.get(name) or "",
            measure=measure if (measure := meta.variable_measure.get(name)) in ("nominal", "ordinal", "scale") else "",
            is_code=bool(width),
        )


class StataSource(StatisticalFile):
    """A Stata file (.dta)."""

    type: Literal["stata"] = "stata"
    program = "Stata"
    zeros = r"%0(\d+)(?:\.0)?[fg]c?"
    letters = "abcdefghijklmnopqrstuvwxyz"
    second = 1000
    of_a_day = ""

    def _reader(self, start: bytes) -> Callable[..., Any]:
        import pyreadstat

        reader: Callable[..., Any] = pyreadstat.read_dta
        return reader


class SpssSource(StatisticalFile):
    """An SPSS file: .sav, .zsav or .por."""

    type: Literal["spss"] = "spss"
    program = "SPSS"
    zeros = r"N(\d+)(?:\.0)?"
    origin = datetime(1582, 10, 14)
    day = 86_400
    days = r"(MOYR|QYR|WKYR)\d+"

    def _reader(self, start: bytes) -> Callable[..., Any]:
        import pyreadstat

        if start[:4] in (b"$FL2", b"$FL3"):
            reader: Callable[..., Any] = pyreadstat.read_sav
            return reader

        def portable(file: Any, encoding: str | None, user_missing: bool, **options: Any) -> Any:
            return pyreadstat.read_por(file, **options)

        return portable


class SasSource(StatisticalFile):
    """A SAS file: .sas7bdat, with its catalogue of value labels (.sas7bcat) if there is one, or a transport file."""

    path_fields = ("path", "catalog")
    type: Literal["sas"] = "sas"
    program = "SAS"
    zeros = r"Z(\d+)(?:\.0?)?"
    of_a_day = "TOD|TIMEAMPM"
    days = (
        r"(MONYY|MMYY[CDNPS]?|YYMM[CDNPS]?|YYMON|YYQR?[CDNPSZ]?|JULIAN|JULDAY|YEAR|QTRR?|MONTH|MONNAME|DAY|WEEKDAY|"
        r"DOWNAME)\d*(\.0?)?"
    )
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
    catalog: Name | None = Field(default=None, description="file of the value labels, .sas7bcat")

    def _reader(self, start: bytes) -> Callable[..., Any]:
        import pyreadstat

        if not start.startswith(_TRANSPORT):
            reader: Callable[..., Any] = pyreadstat.read_sas7bdat
            return reader

        def transport(file: Any, user_missing: bool, **options: Any) -> Any:
            return pyreadstat.read_xport(file, **options)

        return transport

    def _promised(self, file: BinaryIO, meta: Any) -> int | None:
        """Of a transport file by its header, which pyreadstat passes over."""
        file.seek(0)
        if not file.read(_CARD).startswith(_TRANSPORT):
            return super()._promised(file, meta)
        if file.seek(0, os.SEEK_END) % _CARD:
            raise DataError(f"{self.path}: breaks off: of a transport file each part has {_CARD} bytes")
        file.seek(0)
        while (card := file.read(_CARD)) and not card.startswith(_OF_RECORDS):
            pass
        said = card[48:63].strip()  # of version 8
        return int(said) if said.isdigit() and int(said) else None

    def _meta(self, file: BinaryIO) -> Any:
        meta = super()._meta(file)
        if self.catalog is not None:
            import pyreadstat

            try:
                labels = pyreadstat.read_sas7bcat(self.catalog, encoding=self.encoding)[1].value_labels
            except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
                raise DataError(f"{self.catalog}: is damaged, or no SAS catalogue that can be read") from None
            meta.variable_value_labels = {
                name: labels[format_] for name, format_ in meta.variable_to_label.items() if format_ in labels
            }
        return meta


def _end(value: float) -> float:
    return float("inf") if value > _HUGE else float("-inf") if value < -_HUGE else float(value)
