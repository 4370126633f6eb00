"""What a file itself says of a column: label, labels of codes, codes for missing, format. It goes into the contract."""

from collections.abc import Mapping
from math import inf

from pydantic import BaseModel, ConfigDict

_MOST_IN_RANGE = 100  # whole numbers of a range that are taken for codes


class ColumnDescription(BaseModel):
    """One column as its file describes it; codes are texts as `sluice.ground.values.label` writes them.

    labels         : what a code means; codes for missing may be among them
    missing_codes  : codes that the file declares as missing
    missing_ranges : numbers from .. to .. that it declares as missing, both included; may be infinite
    format         : how its program shows the values: F8.2, %td, DATE9
    measure        : nominal, ordinal or scale, where the file says so
    role           : weight, household or quasi_identifier, where a layout says so
    is_code        : the numbers are shown with zeros in front; they arrive as texts with these zeros
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str = ""
    labels: Mapping[str, str] = {}
    missing_codes: tuple[str, ...] = ()
    missing_ranges: tuple[tuple[float, float], ...] = ()
    format: str = ""
    measure: str = ""
    role: str = ""
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
