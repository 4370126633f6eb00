"""Columns of a pattern as other programs write them, brought to our form: one word for each status, and a value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from sluice.ground.errors import DataError, did_you_mean
from sluice.publication.pattern_file import STATUSES, SUPPRESSED
from sluice.publication.published_table import OWN_COLUMNS

OWN_WORDS = (*STATUSES, SUPPRESSED)
_OTHERS = {  # sdcTable's letters, tau-ARGUS's words, and truth values in a column that says what is suppressed
    "s": "published",
    "z": "published",
    "safe": "published",
    "u": "primary",
    "unsafe": "primary",
    "x": "secondary",
    "true": SUPPRESSED,
    "false": "published",
}


@dataclass(frozen=True)
class CellColumns:
    """How a file of cells tells what is suppressed.

    status      : the column; when not given 'status', and without such a column a cell without a value is suppressed
    value       : the column
    words       : of the status column, each with one of ours; sdcTable's and truth values are known
    hide_values : the values that the file gives of suppressed cells are not published, and not looked at
    """

    status: str | None = None
    value: str = "value"
    words: Mapping[str, str] = field(default_factory=dict)
    hide_values: bool = False

    def are_in(self, columns: Sequence[str]) -> bool:
        """Whether a file with these columns is one of cells."""
        return self.value in columns and (self.status or "status") in columns

    def names(self, columns: Sequence[str], dimensions: Sequence[str]) -> list[str]:
        """The columns to read of a file that has these. Raises DataError where another may tell the status."""
        if self.status is not None or "status" in columns:
            return [self.status or "status", self.value]
        others = [name for name in columns if name not in (*dimensions, self.value, *OWN_COLUMNS)]
        if others:
            raise DataError(
                f"has no column 'status'. Its other columns are: {', '.join(others)}. If one of them tells what is "
                "suppressed, name it by --cells-status"
            )
        return [self.value]

    def read(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A frame of text with `status` and `value` in our words, and the columns of the dimensions."""
        status = self.status or ("status" if "status" in frame.columns else None)
        value = frame[self.value]
        words = (
            value.ne("").map({True: "published", False: SUPPRESSED}) if status is None else self._said(frame[status])
        )
        if self.hide_values:
            value = value.where(words == "published", "")
        others = frame.drop(columns=[name for name in (status, self.value) if name is not None])
        return others.assign(status=words, value=value)

    def _said(self, column: "pd.Series[str]") -> "pd.Series[str]":
        said = {word: self._own(word) for word in column.unique()}
        return column.map(said)

    def _own(self, word: str) -> str:
        own = word if word in OWN_WORDS else self.words.get(word, _OTHERS.get(word.casefold()))
        if own is None:
            raise DataError(
                f"status must be {', '.join(OWN_WORDS)}; got '{word}'.{did_you_mean(word, OWN_WORDS)} Of another "
                f"program's word say what it means, such as --status-word {word or 'WORD'}=suppressed"
            )
        return own


PLAIN = CellColumns()
