"""SPSS's .sav: written and read back by ReadStat, as R's haven reads it.

Sources: IBM SPSS Statistics, Command Syntax Reference, "Variable names"; PSPP, Developers Guide, "System File Format".
"""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from sluice.ground.variables import Kind, Variable, Variables
from sluice.publication.copies.statistics_file import StatisticsFile, codes, cut

_RESERVED = {"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"}
_FIRST_MOMENT = pd.Timestamp(1582, 10, 14)
_MADE_AT = 92  # bytes from the file's begin: day and time of its creation, in 17 characters
_MADE = b"01 Jan 7000:00:00"  # of every file: a time in the header would make other bytes of the same records


class SpssFile(StatisticsFile):
    package, ending = "SPSS", ".sav"
    names = (
        "it may have 64 letters without accents, digits, dots and underscores, begins with a letter, does not end in "
    )
    names += "a dot or underscore, and is no reserved word"
    longest_name, longest_label, longest_title = 64, 256, 64
    longest_text, longest_value_label = 32_767, 120
    largest_number = 1.7e308
    first_day = pd.Timestamp(1582, 10, 15)
    keeps_last_blanks, tells_case_apart = False, False

    def is_name(self, name: str) -> bool:
        return (
            re.fullmatch(r"[A-Za-z]([A-Za-z0-9._]{0,62}[A-Za-z0-9])?", name) is not None
            and name.upper() not in _RESERVED
        )

    def _write(self, columns: pd.DataFrame, path: Path, variables: Variables, title: str) -> None:
        import pyreadstat  # needed by few releases

        pyreadstat.write_sav(
            pd.DataFrame({name: _stored(column) for name, column in columns.items()}),
            path,
            file_label=cut(title, self.longest_title),
            column_labels={name: self.label_of(variable) for name, variable in variables.items()},
            variable_value_labels=self._labels(variables),
            variable_format={
                name: shape for name, each in variables.items() if (shape := _format(columns[name], each)) is not None
            },
            variable_measure={name: _measure(each) for name, each in variables.items()},
        )
        with path.open("r+b") as file:
            file.seek(_MADE_AT)
            file.write(_MADE)

    def _read(self, path: Path) -> tuple[pd.DataFrame, Any]:
        import pyreadstat

        read, known = pyreadstat.read_sav(path, disable_datetime_conversion=True)
        return read, known

    def _moments(self, numbers: "pd.Series[float]", unit: str) -> "pd.Series[pd.Timestamp]":
        passed = pd.to_timedelta((numbers * 1000).round(), unit="ms")
        moments: pd.Series[pd.Timestamp] = _FIRST_MOMENT + passed
        return moments


def _stored(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Texts, and all else as doubles: times in seconds since SPSS's calendar begins."""
    if column.dtype == object:
        return column.astype("str")
    if column.dtype.kind == "M":
        return ((column - _FIRST_MOMENT) // pd.Timedelta(1, "ms")).astype("float64") / 1000
    return column.astype("float64")


def _format(column: "pd.Series[Any]", variable: Variable) -> str | None:
    """How SPSS shows a variable; None: by its default."""
    if variable.kind is Kind.DATE:
        held = column.dropna()
        return "DATE11" if (held == held.dt.normalize()).all() else "DATETIME23.3"
    if variable.kind is Kind.INTEGER or codes(variable) is not None:
        held = column.dropna()
        return f"F{max([len(str(each)) for each in (held.min(), held.max())], default=1) if len(held) else 1}.0"
    return None


def _measure(variable: Variable) -> str:
    if variable.kind is Kind.ORDINAL:
        return "ordinal"
    return "nominal" if variable.kind.is_categorical or variable.kind is Kind.TEXT else "scale"
