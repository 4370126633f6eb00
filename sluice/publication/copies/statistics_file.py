"""A file of a statistics package: what all packages share.

What a package cannot hold is refused: of the documents before anything is read, of the values before anything is
judged. What was written is read back by another library than wrote it, where there is one, and compared value by value.

Categories are whole numbers with a text for each. Only declared ones become numbers: those that were merely found in
the data stay text, as a list of them would name categories that masking took out of the file.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable, Variables
from sluice.publication.records_file import read_typed

_EXACT = 2**53  # whole numbers up to it are exact as doubles
_RENAME = "Give the column another name where it comes from, in a view or a query"


class StatisticsFile(ABC):
    """One format: its limits, how it is written and how it is read back.

    ending         : of the file's name
    names          : what a name of a variable may be, in words; longest_name in characters, which are of ASCII
    longest_label, longest_title : of a variable and of the file, in bytes; what is longer is cut, the codebook has it
    longest_text, longest_value_label : of a value and of what it stands for, in bytes; what is longer is refused
    largest_number : beyond which its numbers stand for missing
    first_day      : before which it has no dates
    """

    package: ClassVar[str]
    ending: ClassVar[str]
    longest_name: ClassVar[int]
    names: ClassVar[str]
    longest_label: ClassVar[int]
    longest_title: ClassVar[int]
    longest_text: ClassVar[int]
    longest_value_label: ClassVar[int]
    largest_number: ClassVar[float]
    first_day: ClassVar[pd.Timestamp]
    keeps_last_blanks: ClassVar[bool]
    tells_case_apart: ClassVar[bool]

    @abstractmethod
    def is_name(self, name: str) -> bool:
        """Whether a variable may be called so."""

    @abstractmethod
    def _write(self, columns: pd.DataFrame, path: Path, variables: Variables, title: str) -> None: ...

    @abstractmethod
    def _read(self, path: Path) -> tuple[pd.DataFrame, Any]:
        """The columns as numbers and texts, and what pyreadstat says of them."""

    @abstractmethod
    def _moments(self, numbers: "pd.Series[float]", unit: str) -> "pd.Series[pd.Timestamp]":
        """The times that numbers of a date variable stand for. unit : what the file says of the variable's format."""

    def unfit(self, variables: Variables) -> list[str]:
        """Why variables cannot be in such a file, one sentence each, by what is declared of them."""
        found = [
            f"'{name}' cannot be the name of a variable of {self.package}: {self.names}. {_RENAME}"
            for name in variables
            if not self.is_name(name)
        ]
        if not self.tells_case_apart:
            known: dict[str, str] = {}
            for name in variables:
                if (other := known.setdefault(self._folded(name), name)) != name:
                    found.append(f"'{other}' and '{name}' are one name to {self.package}. {_RENAME}")
        for name, variable in variables.items():
            if any(len(text.encode()) > self.longest_value_label for text in value_labels(variable).values()):
                found.append(
                    f"'{name}' has a category whose label, with the category, has more than {self.longest_value_label} "
                    f"bytes, the most that {self.package} holds. Shorten it in the contract"
                )
        return found

    def names_for(self, names: Sequence[str]) -> dict[str, str]:
        """Name -> the nearest that the package takes: itself, or with underscores in the place of what it does not."""
        taken: set[str] = set()
        found: dict[str, str] = {}
        for name in sorted(names, key=self.is_name, reverse=True):  # those that can stay do
            base, number = name, 1
            if not self.is_name(name):
                plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[: self.longest_name - 8].strip("_")
                base = plain if self.is_name(plain) else f"v_{plain}".rstrip("_")
            found[name] = base
            while self._folded(found[name]) in taken:
                number += 1
                found[name] = f"{base[: self.longest_name - 8]}_{number}"
            taken.add(self._folded(found[name]))
        return {name: found[name] for name in names}

    def _folded(self, name: str) -> str:
        return name if self.tells_case_apart else name.casefold()

    def write(self, parquet: Path, path: Path, variables: Variables, title: str) -> None:
        """Write the copy of a file that `write_parquet` wrote, and compare it with that. The same gives the same bytes.

        variables : as declared, with only such categories as may be known
        raises    : DataError, naming the variable, when the package cannot hold its values; then no file is left
        cost      : memory for the file twice
        """
        if unfit := self.unfit(variables):
            raise DataError(unfit[0])
        frame = read_typed(parquet, variables)
        for problem in self._unheld(frame, variables):
            raise DataError(problem)
        try:
            self._write(_plain(frame, variables), path, variables, title)
            if differing := self._differing(frame, path, variables):
                raise DataError(f"the copy for {self.package} does not give back {', '.join(differing)}")
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def differing(self, parquet: Path, path: Path, variables: Variables) -> list[str]:
        """Variables whose values or labels in the copy at `path` are not those of the Parquet file."""
        return self._differing(read_typed(parquet, variables), path, variables)

    def _differing(self, frame: pd.DataFrame, path: Path, variables: Variables) -> list[str]:
        read, known = self._read(path)
        if list(read.columns) != list(variables) or len(read) != len(frame):
            return ["the columns and records"]
        formats = known.original_variable_types
        return [
            f"'{name}'"
            for name, variable in variables.items()
            if not self._is_equal(frame[name], read[name], variable, formats[name])
            or (known.column_names_to_labels[name] or "") != self.label_of(variable)
            or _as_whole(known.variable_value_labels.get(name, {})) != dict(value_labels(variable))
        ]

    def _is_equal(self, expected: "pd.Series[Any]", read: "pd.Series[Any]", variable: Variable, unit: str) -> bool:
        missing = expected.isna().to_numpy()
        found: pd.Series[Any]
        if (numbers := codes(variable)) is not None:
            categories = {code: category for category, code in numbers.items()}
            found = pd.to_numeric(read).map(categories)
        elif variable.kind.is_numeric:
            found = pd.to_numeric(read)
        elif variable.kind is Kind.DATE:
            found = self._moments(pd.to_numeric(read), unit)
        else:
            found = read.astype(object).where(read.astype(object) != "", None)
        if not np.array_equal(found.isna().to_numpy(), missing):
            return False
        left, right = expected[~missing].to_numpy(), found[~missing].to_numpy()
        return bool((left.astype(object) == right.astype(object)).all())

    def label_of(self, variable: Variable) -> str:
        """What the file says of a variable: its description and unit, as much of them as the package holds."""
        unit = f" ({variable.unit})" if variable.unit else ""
        return cut(" ".join(f"{variable.description or variable.name}{unit}".split()), self.longest_label)

    def _labels(self, variables: Variables) -> dict[Any, Any]:
        """Variable -> number -> what it stands for, of those variables that have labelled codes."""
        return {name: dict(labels) for name, variable in variables.items() if (labels := value_labels(variable))}

    def _unheld(self, frame: pd.DataFrame, variables: Variables) -> Iterator[str]:
        """What is in the values that the package cannot hold, without a value."""
        for name, variable in variables.items():
            held = frame[name].dropna()
            if codes(variable) is not None or held.empty:
                continue
            why = ""
            if variable.kind is Kind.INTEGER:
                why = "whole numbers beyond 2^53, which are not exact there" if (held.abs() > _EXACT).any() else ""
            elif variable.kind is Kind.CONTINUOUS:
                too_large = (held.abs() > self.largest_number).any()
                why = "numbers so large that it takes them for missing" if too_large else ""
            elif variable.kind is Kind.DATE:
                if (held < self.first_day).any():
                    why = f"dates before {self.first_day:%Y-%m-%d}, where its calendar begins"
                elif (held != held.dt.floor("ms")).any():
                    why = "times finer than a millisecond"
            else:
                texts = [str(text) for text in held.unique()]
                if any("\0" in text for text in texts):
                    why = "texts with the character U+0000, at which it ends them"
                elif any(len(text.encode()) > self.longest_text for text in texts):
                    why = f"texts longer than {self.longest_text:,} bytes"
                elif not self.keeps_last_blanks and any(text.endswith(" ") for text in texts):
                    why = "texts that end in a blank, which it drops"
            if why:
                yield (
                    f"'{name}' cannot be in a copy for {self.package}: it has {why}. Mask it so that the file has "
                    f"none, or take {self.package} out of 'copies'"
                )


def cut(text: str, longest: int) -> str:
    """As much of a text as fits into so many bytes of UTF-8; what was cut ends in an ellipsis."""
    if len(text.encode()) <= longest:
        return text
    return text.encode()[: longest - 3].decode(errors="ignore").rstrip() + "…"


def _plain(frame: pd.DataFrame, variables: Variables) -> pd.DataFrame:
    """The columns as numbers, texts and times: whole numbers and codes as Int64, a missing text is empty."""
    return pd.DataFrame({name: _plain_column(frame[name], each) for name, each in variables.items()})


def _plain_column(column: "pd.Series[Any]", variable: Variable) -> "pd.Series[Any]":
    if (numbers := codes(variable)) is not None:
        return column.astype(object).map(numbers).astype("Int64")
    if variable.kind.is_numeric or variable.kind is Kind.DATE:
        return column
    return column.astype(object).where(column.notna(), "")


def _as_whole(labels: Mapping[Any, str]) -> dict[int, str]:
    return {int(code): text for code, text in labels.items()}


_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,8}")  # within 32 bits; with a leading zero it is a name, no number


def codes(variable: Variable) -> dict[str, int] | None:
    """Category -> number, in the order of the categories; None: its values stay text, or are no categories.

    Where all categories are whole numbers these are the codes; else they are numbered from 1.
    """
    if variable.categories is None:
        return None
    if _are_numbers(variable):
        return {category: int(category) for category in variable.categories}
    return {category: place for place, category in enumerate(variable.categories, start=1)}


def value_labels(variable: Variable) -> Mapping[int, str]:
    """Number -> what it stands for: the label; where the number is none of the data's own, the category comes first."""
    if variable.kind.is_numeric:
        return {int(code): means for code, means in variable.labels_of_values.items() if _WHOLE.fullmatch(code)}
    numbers = codes(variable) or {}
    if _are_numbers(variable):
        return {code: variable.labels[category] for category, code in numbers.items() if category in variable.labels}
    return {
        code: f"{category}: {variable.labels[category]}" if category in variable.labels else category
        for category, code in numbers.items()
    }


def _are_numbers(variable: Variable) -> bool:
    return all(_WHOLE.fullmatch(category) for category in variable.categories or ())
