"""FrequencyRule: a rule on how many records share each record's combination of key values."""

from collections.abc import Sequence
from typing import Literal

import pandas as pd
from pydantic import Field

from policies.rules.microdata_rule import Columns, MicrodataRule
from policies.rules.words import listed
from sluice.arrays import IntArray
from sluice.risk.classes import equivalence_classes
from sluice.variables import Variables


class FrequencyRule(MicrodataRule):
    """A rule on how many records share each record's combination."""

    missing_matches: Literal["category", "any"] = Field(
        default="category", description="a missing key is a category of its own, or matches any value"
    )
    columns: Columns | None = Field(default=None, description="all quasi-identifiers, when not given")

    def keys(self, variables: Variables) -> list[str]:
        return super().keys(variables) if self.columns is None else list(self.columns)

    def frequencies(self, frame: pd.DataFrame, keys: list[str]) -> IntArray:
        if self.missing_matches == "any":
            return equivalence_classes.matching_frequencies(frame, keys)
        return equivalence_classes.classes_of(frame, keys).frequencies

    @property
    def of_what(self) -> str:
        named = "the quasi-identifiers" if self.columns is None else listed(self.columns)
        return named + (", a missing value matching any" if self.missing_matches == "any" else "")


def alone_with(count: int, n: int, unit: str, keys: Sequence[str]) -> str:
    whose = "its" if count == 1 else "their"
    return f"{count:,} of {n:,} {unit} {are(count)} alone with {whose} combination of {listed(keys)}"


def are(count: int) -> str:
    return "is" if count == 1 else "are"


def missing_note(missing_matches: str) -> str:
    return " (a missing value counts as matching any)" if missing_matches == "any" else ""
