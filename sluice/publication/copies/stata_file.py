"""Stata's .dta, version 118 (Stata 14 and later): written by pandas, and read back by ReadStat, as R's haven reads it.

Source: Stata's help, `dta`: the file format for Stata 14 to 18; `limits`; `varname`.
"""

import re
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from sluice.ground.variables import Kind, Variables
from sluice.publication.copies.statistics_file import StatisticsFile, cut

_RESERVED = {
    "_all", "_b", "_coef", "_cons", "_n", "_N", "_pi", "_pred", "_rc", "_skip", "byte", "double", "float", "if", "in",
    "int", "long", "strL", "using", "with",
}  # fmt: skip
_MADE = datetime(1970, 1, 1)  # of every file: a time in the header would make other bytes of the same records
_LONG = 2_147_483_620  # beyond are Stata's missing values


class StataFile(StatisticsFile):
    package, ending = "Stata", ".dta"
    names = (
        "it may have 32 letters without accents, digits and underscores, begins with no digit, and is no reserved word"
    )
    longest_name, longest_label, longest_title = 32, 80, 80
    longest_text, longest_value_label = 2045, 32_000
    largest_number = 8.988e307
    first_day = pd.Timestamp(100, 1, 1)
    keeps_last_blanks, tells_case_apart = True, True

    def is_name(self, name: str) -> bool:
        return (
            re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,31}", name) is not None
            and name not in _RESERVED
            and re.fullmatch(r"str[0-9]+", name) is None
        )

    def _write(self, columns: pd.DataFrame, path: Path, variables: Variables, title: str) -> None:
        dates = [name for name, variable in variables.items() if variable.kind is Kind.DATE]
        stored = pd.DataFrame({name: _stored(column) for name, column in columns.items()})
        stored.to_stata(
            path,
            write_index=False,
            version=118,
            time_stamp=_MADE,
            data_label=cut(title, self.longest_title),
            variable_labels={name: self.label_of(variable) for name, variable in variables.items()},
            value_labels=self._labels(variables),
            convert_dates={name: "td" if _are_days(columns[name]) else "tc" for name in dates},
        )

    def _read(self, path: Path) -> tuple[pd.DataFrame, Any]:
        import pyreadstat  # needed by few releases

        read, known = pyreadstat.read_dta(path, disable_datetime_conversion=True)
        return read, known

    def _moments(self, numbers: "pd.Series[float]", unit: str) -> "pd.Series[pd.Timestamp]":
        step: Literal["D", "ms"] = "D" if unit.startswith("%td") else "ms"
        moments: pd.Series[pd.Timestamp] = pd.Timestamp(1960, 1, 1) + pd.to_timedelta(numbers, unit=step)
        return moments


def _stored(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Whole numbers in 32 bits where they fit and there are any, else as doubles."""
    if column.dtype != "Int64":
        return column
    return column.astype("Int32" if column.notna().any() and column.abs().max() <= _LONG else "float64")


def _are_days(times: "pd.Series[pd.Timestamp]") -> bool:
    held = times.dropna()
    return bool((held == held.dt.normalize()).all())
