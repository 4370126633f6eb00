"""The files of a table outside any release: one CSV file of all its cells, or in a folder one for each linked table.

In the one file, a cell of a table that leaves out a dimension stands at that dimension's total, and cells that tables
share stand once. In a folder, a file bears the names of its table's dimensions, and has no column for the others.

Columns of a pattern as other programs write them, brought to our form: one word for each status, and a value.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sluice.custody.shelf import refuse_to_overwrite
from sluice.ground.durable import replace
from sluice.ground.errors import DataError, DocumentError, MeasureChoiceError, did_you_mean, no_such_file
from sluice.ground.frame_columns import with_columns
from sluice.ground.values import NUMBER
from sluice.publication.pattern_file import STATUSES, SUPPRESSED, Pattern, read_pattern
from sluice.publication.published_table import OWN_COLUMNS, PublishedTable, in_decimals, published_table
from sluice.tabular.model.cells import Cells, in_tables, levels_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import MOST_DECIMALS
from tasks.release.tables.published_cells import PublishedCells
from tasks.workbench.arguments import column_name
from tasks.workbench.tabular_file import cells_source, errors_of, read_text, refuse_unfit_csv, with_points
from tasks.workbench.tabulation import text_frame

_PERIOD = "part"  # the dimension that a sum of publications has more
OWN_WORDS = (*STATUSES, SUPPRESSED)
_OTHERS = {  # sdcTable's letters, tau-ARGUS's words, and truth values in a column that says what is suppressed
    "s": "published",
    "z": "published",
    "p": "published",
    "safe": "published",
    "u": "primary",
    "unsafe": "primary",
    "x": "secondary",
    "c": SUPPRESSED,  # confidential, wherever it stands
    "true": SUPPRESSED,
    "false": "published",
}
# Eurostat's letters, which tau-ARGUS and rtauargus write: valid, too few contributors, one or two dominate, secondary.
# Without a V, an A may as well be the normal value of SDMX.
_OF_EUROSTAT = {"v": "published", "a": "primary", "b": "primary", "c": "primary", "d": "secondary"}
_OF_SDMX = {"f": "published", "c": "primary", "d": "secondary", "n": SUPPRESSED}  # free, confidential, secondary, not
_MARKS = frozenset(
    ("..", "...", "x", "xx", "xxx", "c", "s", "d", "*", "**", "***", "suppressed", "confidential", "secret")
)
ZERO, ABSENT = "zero", "absent"  # what else a mark in place of a value may stand for
_LIKE_A_NUMBER = re.compile(r"\d")
_CONFIDENTIAL = re.compile(r":\s*c[a-z]*")  # Eurostat: no value, and why
_FLAGGED = re.compile(r"([+-]?[\d.,]*\d)\s+[bdefnprsuz]{1,3}")  # its other flags, behind a value that is there
_BOUNDED = re.compile(  # below 3, from 1 to 4
    r"\(?\s*(?:(?:[<>≤≥]\s*=?|less than|fewer than|under|below|up to|weniger als|unter|moins de|menos de|meno di)\s*"
    r"[\d.,]+|\d+\s*(?:[-–]|to|bis|à|a)\s*\d+)\s*\)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class CellColumns:
    """How a file of cells tells what is suppressed.

    status      : the column; when not given 'status'. Without such a column, and where it says nothing, a cell without
                  a value is suppressed
    value       : the column
    words       : of the status column, or marks in place of values, each with one of ours; those of other programs and
                  truth values are known. Of a mark also 'zero', or 'absent' where the cell is none
    hide_values : the values that the file gives of suppressed cells are not published, and not looked at
    decimals    : of the values, which are rounded to them; as many as they have when not given
    rounded_to  : each value was rounded to a multiple of this by itself, so that sums hold but for that
    header_row  : the line or row that names the columns, of a file with a title above them; the first when not given
    only        : columns with the one code of each that is read, of a file that holds more, such as several years
    """

    status: str | None = None
    value: str = "value"
    words: Mapping[str, str] = field(default_factory=dict)
    hide_values: bool = False
    decimals: int | None = None
    rounded_to: float | None = None
    only: Mapping[str, str] = field(default_factory=dict)
    header_row: int | None = None

    def __post_init__(self) -> None:
        if self.rounded_to is not None and not 0 < self.rounded_to < np.inf:
            raise DataError(f"rounded_to must be above 0; got {self.rounded_to:g}.", field="rounded_to")
        if self.decimals is not None and not 0 <= self.decimals <= MOST_DECIMALS:
            raise DataError(f"decimals must be from 0 to {MOST_DECIMALS}; got {self.decimals}.", field="decimals")

    def pattern(self, texts: pd.DataFrame, dimensions: Sequence[Dimension]) -> Pattern:
        """The pattern in a frame in our words. Raises DataError."""
        try:
            return read_pattern(texts, dimensions, self.decimals, self.rounded_to)
        except MeasureChoiceError as error:
            raise error.by_option("--decimals") from None

    def are_in(self, columns: Sequence[str]) -> bool:
        """Whether a file with these columns is one of cells."""
        return self.value in columns and (self.status or "status") in columns

    def names(self, columns: Sequence[str], dimensions: Sequence[str]) -> list[str]:
        """The columns to read of a file that has these. Raises DataError where another may tell the status, and for a
        file whose columns are codes."""
        if self.value not in columns:
            others = [name for name in columns if name not in (*dimensions, *OWN_COLUMNS, self.status)]
            raise DataError(
                f"has no column '{self.value}'. Its other columns are: {', '.join(others)}. Name that of the values by "
                "--cells-value. Where they are codes of a further dimension, such as years, the file needs a row for "
                "each cell: one column of these codes, and one of the values"
            )
        if self.status is not None or "status" in columns:
            return [self.status or "status", self.value]
        others = [name for name in columns if name not in (*dimensions, self.value, *OWN_COLUMNS)]
        if others:
            raise DataError(
                f"has no column 'status'. Its other columns are: {', '.join(others)}. If one of them tells what is "
                "suppressed, name it by --cells-status; if it has codes of which one is meant, such as years, by "
                "--only COLUMN=CODE"
            )
        return [self.value]

    def read(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A frame of text with `status` and `value` in our words, and the columns of the dimensions."""
        for name, code in self.only.items():
            frame = frame[frame[name] == code]
            if not len(frame):
                raise DataError(f"has no cell with '{code}' in '{name}'.")
        frame = frame.drop(columns=[*self.only])
        status = self.status or ("status" if "status" in frame.columns else None)
        if status is None and (absent := [mark for mark, own in self.words.items() if own == ABSENT]):
            frame = frame[~frame[self.value].isin(absent)]
        value = frame[self.value].str.replace(_FLAGGED, r"\1", regex=True)
        self._refuse_bounds(value)
        told = pd.Series(False, index=frame.index) if status is None else frame[status].ne("")
        untold = self._without_marks(value[~told])  # as in a file without a status
        words = untold.ne("").map({True: "published", False: SUPPRESSED})
        if status is not None and told.any():
            said = self._said(frame.loc[told, status])
            given = value[told]
            untold = pd.concat([untold, given.where(said.eq("published") | given.str.contains(_LIKE_A_NUMBER), "")])
            words = pd.concat([words, said])
        value, words = untold.reindex(frame.index), words.reindex(frame.index)
        if self.hide_values:
            value = value.where(words == "published", "")
        others = frame.drop(columns=[name for name in (status, self.value) if name is not None])
        return others.assign(status=words, value=value)

    def _without_marks(self, value: "pd.Series[str]") -> "pd.Series[str]":
        """Values with what stands in place of a suppressed one taken out. Raises DataError for another text.

        A mark that may as well stand for zero, or for a value that nobody has, is known where somebody says it.
        """
        marks = sorted({text for text in value.unique() if text and not _LIKE_A_NUMBER.search(text)})
        for mark in marks:
            known = mark.strip("()").casefold() in _MARKS or _CONFIDENTIAL.fullmatch(mark)
            own = self.words.get(mark, SUPPRESSED if known else None)
            if own is None or own == "published":
                raise DataError(
                    f"the {self.value} of {int((value == mark).sum()):,} cells is '{mark}'. If that stands for a "
                    f"suppressed one, say so: --status-word {shlex.quote(f'{mark}=suppressed')}; or {mark}=zero, or "
                    f"{mark}=absent of cells that there are not"
                )
        zero = [mark for mark in marks if self.words.get(mark) == ZERO]
        return value.mask(value.isin(zero), "0").where(~value.isin({*marks} - {*zero}), "")

    def _refuse_bounds(self, value: "pd.Series[str]") -> None:
        """Raise DataError for marks that tell readers more than that a cell is suppressed."""
        bounded = value[value.str.fullmatch(_BOUNDED) & ~value.str.fullmatch(NUMBER)]
        if len(bounded):
            mark = str(bounded.iloc[0])
            raise DataError(
                f"the {self.value} of {int((bounded == mark).sum()):,} cells is '{mark}', which bounds it. Leave such "
                "cells empty, and give their bounds by --known, a file of their codes, lower and upper"
            )

    def _said(self, column: "pd.Series[str]") -> "pd.Series[str]":
        words = column.unique()
        known = _OTHERS | (_OF_EUROSTAT if {"V", "v"} & {*words} else _OF_SDMX if "F" in words else {})
        said = {word: self._own(word, known) for word in words}
        return column.map(said)

    def _own(self, word: str, known: Mapping[str, str]) -> str:
        folded = word.casefold()
        own = folded if folded in OWN_WORDS else self.words.get(word, known.get(folded))
        if own is None:
            raise DataError(
                f"status must be {', '.join(OWN_WORDS)}; got '{word}'.{did_you_mean(word, OWN_WORDS)} Of another "
                f"program's word say what it means, such as --status-word {shlex.quote(f'{word}=suppressed')}"
            )
        return own


PLAIN = CellColumns()


def words_given(written: Sequence[str]) -> dict[str, str]:
    """The words of another program, each written as WORD=OURS. Raises DocumentError."""
    meant = {}
    for each in written:
        word, _, own = each.rpartition("=")
        if not word or own not in (*OWN_WORDS, ZERO, ABSENT):
            raise DocumentError(
                f"must be WORD=OURS with one of {', '.join((*OWN_WORDS, ZERO, ABSENT))}; got '{each}'",
                field="--status-word",
            )
        meant[word] = own
    return meant


def codes_given(written: Sequence[str]) -> dict[str, str]:
    """The one code of each column, each written as COLUMN=CODE. Raises DocumentError."""
    found = {}
    for each in written:
        name, equals, code = each.partition("=")
        if not name or not equals or not code:
            raise DocumentError(f"must be COLUMN=CODE, such as year=2025; got '{each}'", field="--only")
        found[name] = code
    return found


Tables = Sequence[Sequence[str]]


def refuse_taken_names(dimensions: Sequence[Dimension]) -> None:
    """Raise DataError for a dimension that bears the name of another column of its file."""
    taken = sorted({dimension.name for dimension in dimensions} & set(OWN_COLUMNS))
    if taken:
        raise DataError(f"a dimension must not be named {taken[0]}: the pattern has a column of that name.")


def refuse_unfit_output(output: Path, inputs: Sequence[Path | None], tables: Tables, option: str = "--output") -> None:
    """Raise DataError for a place where the cells cannot be written; `option` names it."""
    inputs = [file for given in inputs if given for file in (given.iterdir() if given.is_dir() else [given])]
    if not output.is_dir():
        if output.suffix != ".csv":
            raise DataError(f"{option} {output}: must end in .csv, or be a folder, which must be there")
        refuse_unfit_csv(output, inputs, option)
        return
    names = [_file_name(table) for table in tables]
    for name in names:
        if not re.fullmatch(r"[\w .-]+\.csv", name):
            raise DataError(f"{option} {output}: '{name}' cannot be the name of a file. Name one .csv file for all.")
        if names.count(name) > 1:
            raise DataError(f"{option} {output}: two tables would be written to {name}. Name one .csv file for all.")
        refuse_to_overwrite(output / name, inputs, option=option)


def write_cells(output: Path, csv_of: Callable[[Sequence[str] | None], bytes], tables: Tables) -> list[Path]:
    """Write what is published of the cells, and nothing else; the files.

    csv_of : what is published of a table, or of all cells when None is given
    """
    if not output.is_dir():
        replace(output, csv_of(None), 0o644)
        return [output]
    written = []
    for table in tables:
        place = output / _file_name(table)
        replace(place, csv_of(table), 0o644)
        written.append(place)
    return written


def table_of(
    cells: Cells, published: PublishedCells, tell_primary: bool = False, table: Sequence[str] | None = None
) -> PublishedTable:
    """What is published of one table, or of all cells when none is given."""
    return published_table(
        cells,
        published.status,
        "" if table is None else "-".join(table),
        [dimension.name for dimension in cells.dimensions] if table is None else table,
        value=published.value,
        interval=published.interval,
        synthetic=published.synthetic,
        tell_primary=tell_primary,
    )


def frame_of(table: PublishedTable) -> pd.DataFrame:
    """What is published, as a DataFrame: numbers as numbers, missing where there is none."""

    def in_units(entries: Sequence[int | None]) -> "pd.Series[Any]":
        if not table.decimals:
            return pd.Series(entries, dtype="Int64")
        numbers = [np.nan if each is None else float(in_decimals(each, table.decimals)) for each in entries]
        return pd.Series(numbers, dtype="float64")

    numeric = ("value", "lower", "upper")
    return pd.DataFrame(
        {name: in_units(each) if name in numeric else list(each) for name, each in table.columns.items()}
    )


def pattern_of(
    cells: pd.DataFrame, dimensions: Sequence[Dimension], argument: str, read: CellColumns = PLAIN
) -> Pattern:
    """The pattern in a DataFrame with the columns of the dimensions, status and value. Raises DataError."""
    columns = [*(dimension.name for dimension in dimensions), "status", "value"]
    for name in columns:
        column_name(name, argument, cells)
    return read.pattern(text_frame(cells[columns]), dimensions)


def read_cells(
    source: Path, dimensions: Sequence[Dimension], tables: Tables | None, columns: CellColumns = PLAIN
) -> tuple[Pattern, Tables | None]:
    """The pattern in a file, or in a folder with one for each table, and the tables.

    tables  : None for one table of all dimensions; of a folder, the columns and codes of its files tell them
    columns : as another program writes them
    raises  : DataError, which names it, also for cells of no table: what these tell would not be looked at
    """
    if not source.exists() and not source.suffix:
        raise DataError(f"{source}: no such file or folder.")
    with errors_of(source):
        if source.is_dir():
            files = _files_of(source, dimensions, tables, columns)
            tables = list(files)
            texts = _of_folder(files, dimensions, columns)
        else:
            texts = _text(source, [dimension.name for dimension in dimensions], columns)
        pattern = columns.pattern(texts, dimensions)
        others = np.flatnonzero(~in_tables(dimensions, pattern.codes, tables))
        if len(others):
            raise DataError(
                f"holds {len(others):,} cells that are in none of the tables, such as {pattern.name(int(others[0]))}. "
                "Name all tables of which it has cells."
            )
        return pattern, tables


def read_sum_of_parts(
    source: Path, parts: Sequence[Path], dimensions: Sequence[Dimension], columns: CellColumns = PLAIN
) -> Pattern:
    """The pattern of a publication together with those of which it is the sum, such as a year with its quarters: one
    table with a further dimension, whose codes are the parts and whose total is the whole.

    raises : DataError, which names the file
    """
    names = [dimension.name for dimension in dimensions]
    if _PERIOD in names:
        raise DataError(f"a dimension must not be named '{_PERIOD}' where a table is the sum of others.")
    if len({part.stem for part in parts} | {source.stem}) <= len(parts):
        raise DataError("the parts of a sum, and the sum, must be files of different names.")
    period = Dimension.of(_PERIOD, [(source.stem, ""), *((part.stem, source.stem) for part in parts)])
    frames = [with_columns(_text(file, names, columns), {_PERIOD: file.stem}) for file in (source, *parts)]
    if columns.status is None:  # one file may have two words for suppressed cells, another one
        frames = [each.assign(status=each["status"].replace({"primary": SUPPRESSED, "secondary": SUPPRESSED}))
                  for each in frames]  # fmt: skip
    return columns.pattern(pd.concat(frames, ignore_index=True), [*dimensions, period])


def _text(file: Path, names: Sequence[str], columns: CellColumns) -> pd.DataFrame:
    """The columns of a pattern as text, missing values as empty ones."""
    with errors_of(file):
        given = cells_source(file, columns.header_row).column_names()
        _refuse_crossed(given, names, columns)
        wanted = [*names, *columns.names(given, [*names, *columns.only]), *columns.only]
        return columns.read(with_points(read_text(file, wanted, columns.header_row), [columns.value]))


def _refuse_crossed(given: Sequence[str], dimensions: Sequence[str], columns: CellColumns) -> None:
    """Raise DataError for a table that has no column of a dimension, nor one of values: its codes may stand across."""
    absent = [name for name in dimensions if name not in given]
    if not absent or columns.value in given:
        return
    raise DataError(
        f"has no column {' or '.join(map(repr, (*absent, columns.value)))}. Its columns are: {', '.join(given)}. "
        "If these are codes of a dimension, it is a crossed table: reshape it to a row for each cell, with a column "
        "for each dimension and one of the values. If another line names the columns, say which by --header-row"
    )


def _of_folder(
    files: Mapping[tuple[str, ...], Path], dimensions: Sequence[Dimension], columns: CellColumns
) -> pd.DataFrame:
    """The cells of all files, those that tables share once; at the total of the dimensions that a table leaves out."""
    frames = []
    for table, file in files.items():
        levels = levels_of(dimensions, table)
        own = [dimension.name for dimension, level in zip(dimensions, levels, strict=True) if level]
        others = {dimension.name: dimension.codes[0] for dimension in dimensions if dimension.name not in own}
        frames.append(with_columns(_text(file, own, columns), others))
    return pd.concat(frames, ignore_index=True).drop_duplicates()


def _files_of(
    folder: Path, dimensions: Sequence[Dimension], tables: Tables | None, columns: CellColumns
) -> dict[tuple[str, ...], Path]:
    """The file of each table. Raises DataError for a table without a file, and for cells of another table."""
    found = {file: header for file in sorted(folder.glob("*.csv")) if columns.are_in(header := _header(file))}
    if tables is not None:
        given = {tuple(table): folder / _file_name(table) for table in tables}
        lacking = [file for file in given.values() if not file.is_file()]
        if lacking:
            raise DataError(f"{no_such_file(lacking[0])} Leave --table out: the files tell their tables.")
        if more := [file.name for file in found if file not in given.values()]:
            raise DataError(
                f"holds {more[0]}, the cells of a table that is not named; name it, too, or no table at all."
            )
        return given
    if not found:
        raise DataError("holds no CSV file of cells, with the columns status and value.")
    files: dict[tuple[str, ...], Path] = {}
    for file, header in found.items():
        table = _table_in(file, header, dimensions)
        if table in files:
            raise DataError(f"{file.name} and {files[table].name} hold cells of the same table.")
        files[table] = file
    return files


def _table_in(file: Path, header: Sequence[str], dimensions: Sequence[Dimension]) -> tuple[str, ...]:
    """The table whose cells a file holds: its dimensions, each down to the deepest level of a code in it."""
    names = {dimension.name for dimension in dimensions}
    if strange := [name for name in header if name not in names and name not in OWN_COLUMNS]:
        raise DataError(f"{file}: has a column '{strange[0]}', and no --hierarchy is given of it.")
    table = []
    for dimension in dimensions:
        if dimension.name not in header:
            continue
        codes = read_text(file, [dimension.name])[dimension.name].unique()
        known = [dimension.position[code] for code in codes if code in dimension.position]
        level = int(dimension.levels[known].max(initial=0))
        if level:
            table.append(dimension.name if level == dimension.levels.max() else f"{dimension.name}:{level}")
    return tuple(table)


def _header(file: Path) -> list[str]:
    try:
        return cells_source(file).column_names()
    except DataError:
        return []  # no file of cells


def _file_name(table: Sequence[str]) -> str:
    return f"{'-'.join(table).replace(':', ' to level ')}.csv"
