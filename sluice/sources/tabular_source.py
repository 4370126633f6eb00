"""Every source of records, whatever it is read from; and what a file itself says of a column, for the contract."""

import resource
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, PrivateAttr

from sluice.ground.errors import DataError, did_you_mean, no_such_file
from sluice.ground.remarks import Remarks
from sluice.ground.values import count_blanks, is_list, within_calendar
from sluice.ground.visible_text import Name
from sluice.sources.total_row import LOOKED_AT, remark_on_totals

if TYPE_CHECKING:  # a process that only reads does without: it takes half a second to load
    import pandas as pd

_MOST_IN_RANGE = 100  # whole numbers of a range that are taken for codes


class NoRecordsError(DataError):
    """A source has columns, and no record."""


class ColumnDescription(BaseModel):
    """One column as its file describes it; codes are texts as `sluice.ground.values.label` writes them.

    labels         : what a code means; codes for missing may be among them
    missing_codes  : codes that the file declares as missing
    guessed_missing : those of them that it does not declare: the words of their labels say so
    missing_ranges : numbers from .. to .. that it declares as missing, both included; may be infinite
    format         : how its program shows the values: F8.2, %td, DATE9
    measure        : nominal, ordinal or scale, where the file says so
    universe       : of whom it was asked, in words, where a dictionary says so
    unit           : what its numbers count, such as years, where a dictionary says so
    role           : weight, household or quasi_identifier, where a layout says so
    absent_list    : the code list that a dictionary names, and that it does not hold
    is_code        : the numbers are shown with zeros in front; they arrive as texts with these zeros
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str = ""
    labels: Mapping[str, str] = {}
    missing_codes: tuple[str, ...] = ()
    guessed_missing: tuple[str, ...] = ()
    missing_ranges: tuple[tuple[float, float], ...] = ()
    format: str = ""
    measure: str = ""
    universe: str = ""
    unit: str = ""
    role: str = ""
    absent_list: str = ""
    is_code: bool = False

    def is_missing(self, code: str) -> bool:
        """Whether a value, by its text, is declared as missing."""
        if code in self.missing_codes:
            return True
        try:
            return any(low <= float(code) <= high for low, high in self.missing_ranges)
        except ValueError:
            return False

    @property
    def declared_missing(self) -> tuple[str, ...]:
        """The codes for missing that can be listed: a range by its whole numbers where these are few, or by labels."""
        codes = dict.fromkeys(self.missing_codes)
        for low, high in self.missing_ranges:
            if -inf < low and high - low < _MOST_IN_RANGE and low == int(low) and high == int(high):
                codes |= dict.fromkeys(str(code) for code in range(int(low), int(high) + 1))
            else:
                codes |= dict.fromkeys(code for code in self.labels if self.is_missing(code))
        return tuple(codes)


Descriptions = Mapping[str, ColumnDescription]
"""Of the columns that a source describes, by name; a column of which nothing is said may be absent."""


BATCH_SIZE = 100_000
NAMELESS = "has no name"
"""Why a column is not read."""
Answer = TypeVar("Answer")


class TabularSource(BaseModel, ABC):
    """A frozen description of one source that can be read.

    A source is read once, front to back, in batches of bounded size. Its errors name files, lines, columns and counts,
    never a cell. A value that arrives here is raw: what it means is the contract's business.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    trims_texts: ClassVar[bool] = False
    """Whether its texts come without blanks around them, where there were any; it says itself where that is of note."""

    _remarks: Remarks = PrivateAttr(default_factory=Remarks)

    @property
    def remarks(self) -> Remarks:
        """What was met in the records that were read last, and not handed on as it stands."""
        return self._remarks

    @property
    @abstractmethod
    def title(self) -> str:
        """What an error calls this source; holds no secret."""

    @property
    def decimal_mark(self) -> str:
        """The sign before the decimals of a number that is written as text."""
        return "."

    @property
    @abstractmethod
    def files(self) -> tuple[Path, ...]:
        """The files that are read."""

    @property
    def ports(self) -> tuple[int, ...] | None:
        """The TCP ports that are connected to: () for none, None where that is not known."""
        return ()

    @property
    def needs_pandas(self) -> bool:
        """Whether what reads it loads pandas, which takes longer than all the rest."""
        return False

    @abstractmethod
    def _names(self, expected: Sequence[str]) -> list[str]:
        """Column names in the source's order; `expected` names the columns of a file that has no header."""

    @abstractmethod
    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        """These columns, in this order, in tables of about `size` records."""

    def _are_names(self, names: Sequence[str], expected: Sequence[str]) -> bool:
        """Whether these are certainly names, which an error may tell, and not the cells of a first record."""
        return True

    def _doubt(self, names: Sequence[str]) -> str:
        """A question on names that are certainly none."""
        return "Is it really the header?"

    def left_out(self) -> dict[str, str]:
        """Why columns of the source are not read, by name or place; they are not among `column_names`."""
        return {}

    def column_names(self, expected: Sequence[str] = ()) -> list[str]:
        """The source's column names. Raises DataError when it cannot be read or a name stands twice."""
        names = self._without_context(lambda: self._names(expected))
        twice = sorted({name for name in names if names.count(name) > 1})
        nameless = [str(place) for place, name in enumerate(names, start=1) if not name.strip()]
        if nameless:
            raise DataError(f"{self.title}: column {', '.join(nameless)} {NAMELESS}. Give it one, in a query by AS.")
        if twice:
            which = ", ".join(twice) if self._are_names(names, expected) else "is the first line really the header?"
            raise DataError(f"{self.title}: column named twice: {which}")
        return names

    def batches(self, columns: Sequence[str], size: int = BATCH_SIZE) -> "Iterator[pd.DataFrame]":
        """Raw batches of at most `size` records with exactly these columns, in this order, index 0.. in each batch.

        dtypes  : pandas.ArrowDtype; text for CSV (an empty cell is ''), the native type otherwise
        raises  : DataError for a source that is absent, unreadable, ragged, without a column or without a record;
                  what shows only at the end (a connection that breaks, the last line) is raised there
        cost    : O(size) memory
        """
        return map(as_frame, self.tables(columns, size))

    def tables(self, columns: Sequence[str], size: int = BATCH_SIZE) -> Iterator[pa.Table]:
        """The same as `batches`, as Arrow has them."""
        names = self.column_names(columns)
        are_names = self._are_names(names, columns)
        hints = names if are_names else []
        missing = [name for name in columns if name not in names]
        unread = self.left_out() if missing else {}
        if found := next((name for name in missing if name in unread), None):
            raise DataError(f"{self.title}: column '{found}' {unread[found]}. Leave it out of the contract.")
        absent = [f"{'No' if i else 'no'} column '{name}'.{_hint(name, hints)}" for i, name in enumerate(missing)]
        if absent:
            hint = f"Its columns are: {', '.join(names)}."
            if not are_names:
                hint = f"Its first line has {len(names)} cells, few of them such names. {self._doubt(names)}"
            raise DataError(f"{self.title}: {' '.join(absent)} {hint}")
        records = 0
        seen: list[pa.Table] = []  # as long as their totals are looked for
        self.remarks.clear()
        tables = self._tables(columns, columns, size)
        while (table := self._without_context(lambda: next(tables, None))) is not None:
            if found := next(
                (f"column '{each.name}' {why}" for each in table.schema if (why := unfit(each.type))), None
            ):
                raise DataError(f"{self.title}: {found}. Leave it out, or give it as text or number.")
            for at, each in enumerate(table.schema):
                if pa.types.is_date(each.type) or pa.types.is_timestamp(each.type):
                    table = table.set_column(at, each.name, self._dates(table[each.name], each.name, records))
            for name in () if self.trims_texts else table.column_names:
                if count := count_blanks(table[name]):
                    self.remarks.add("blanks", name, count)
            records += table.num_rows
            seen = [*seen, table] if records <= LOOKED_AT else []
            for what in ("totals", "notes"):
                self.remarks.drop(what)  # of a table before
            remark_on_totals(seen, self.remarks, self.decimal_mark)
            yield from (table.slice(start, size) for start in range(0, table.num_rows, size))
        if not records:
            raise NoRecordsError(f"{self.title}: holds no record")

    def _dates(self, column: pa.ChunkedArray, name: str, before: int) -> pa.ChunkedArray:
        """Without those that no calendar has. before : the records before these"""
        if getattr(column.type, "tz", None) is not None:
            self.remarks.add("in_a_zone", name, len(column) - column.null_count)
        known = within_calendar(column)
        if pc.all(known).as_py() is not False:
            return column
        self.remarks.add(
            "beyond_calendar", name, pc.sum(pc.invert(known)).as_py(), before + pc.index(known, False).as_py() + 1
        )
        return pc.if_else(known, column, None)

    def _without_context(self, act: Callable[[], Answer]) -> Answer:
        """Do it; a DataError leaves without the exception it arose from, which may hold cells of the data."""
        try:
            return act()
        except MemoryError:
            raise DataError(f"{self.title}: {_too_much_memory()}") from None
        except DataError as error:
            error.__cause__ = error.__context__ = None
            raise


def unfit(kind: pa.DataType) -> str:
    """Why no contract can describe values of this type; '' where one can."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_duration(kind) or pa.types.is_interval(kind):
        return "holds spans of time"
    bytes_ = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    if any(are_bytes(kind) for are_bytes in bytes_):
        return "holds bytes"
    if pa.types.is_nested(kind) and not is_list(kind):
        return "holds neither one value a record nor a list of texts"
    return ""


def unread_columns(schema: pa.Schema) -> dict[str, str]:
    """Why columns of such a table are not read, by name, or by the place of one that has none."""
    found = {}
    for place, each in enumerate(schema, start=1):
        if not each.name.strip():
            found[f"column {place}"] = NAMELESS
        elif why := unfit(each.type):
            found[each.name] = why
    return found


def read_columns(schema: pa.Schema) -> list[str]:
    """The names of the others."""
    return [each.name for each in schema if each.name.strip() and not unfit(each.type)]


def as_frame(table: pa.Table) -> "pd.DataFrame":
    """A batch of raw columns, whose types stay what they are."""
    import pandas as pd

    frame: pd.DataFrame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return frame


def missing_file(path: Path) -> DataError:
    """The error for a path that leads to no file, with the nearest name in the same folder."""
    return DataError(no_such_file(path))


def resolved(path: str, base: Path) -> str:
    """`path` as an absolute path; a relative one starts at `base`, `~` is the home folder."""
    return str((base / Path(path).expanduser()).absolute())


def mostly_expected(names: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether half of the wanted names, at least, are among these: else they may be the cells of a record."""
    wanted, found = ({name.casefold() for name in given} for given in (expected, names))
    return bool(wanted) and 2 * len(wanted & found) >= len(wanted)


def _hint(name: str, known: Sequence[str]) -> str:
    same_but_for_case = [other for other in known if other.casefold() == name.casefold()]
    return did_you_mean(name, known) or "".join(f" Did you mean '{other}'?" for other in same_but_for_case[:1])


def _too_much_memory() -> str:
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]  # of the process that reads apart
    most = "there is" if limit == resource.RLIM_INFINITY else f"the {limit / 1e9:.1f} GB that may be used"
    return (
        f"reading it takes more memory than {most}. What is damaged, or made for it, can ask for so much; if all is "
        "right with it, set SLUICE_MEMORY higher."
    )


class FileSource(TabularSource):
    """One file, perhaps with another that describes it."""

    path_fields: ClassVar[tuple[str, ...]] = ("path",)
    path: Name

    @property
    def title(self) -> str:
        return self.path

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(Path(written) for field in self.path_fields if (written := getattr(self, field)) is not None)

    def resolve(self, base: Path) -> Self:
        return self.relocated(lambda _, written: resolved(written, base))

    def relocated(self, place: Callable[[str, str], str]) -> Self:
        """With each path as `place` says, which gets the field's name and what is written there."""
        written = {field: getattr(self, field) for field in self.path_fields}
        return self.model_copy(
            update={field: place(field, path) for field, path in written.items() if path is not None}
        )

    def described(self) -> Descriptions:
        """What the file says of its columns. Raises DataError where it cannot be read."""
        return {}
