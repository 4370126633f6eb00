"""FrequencyRule: a rule on how many records share each record's combination of key values."""

from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field

from policies.rules.microdata_rule import Columns, MicrodataRule
from sluice.ground.arrays import IntArray
from sluice.ground.rule import Background
from sluice.ground.sentence import Saying, Sentence, listed
from sluice.ground.variables import Variables
from sluice.risk.classes import crowds, equivalence_classes
from sluice.risk.people import people_of

MissingMatches = Literal["category", "any"]
MISSING_MATCHES = (
    "category: a missing key is a category of its own; any: it may stand for any value, which widens the crowd of its "
    "own record but hides no other"
)


ALONE = Sentence("alone", "{alone:,} of {n:,} {unit} {alone:is} alone with {alone:its} combination of {keys:listed}")
_MISSING = Sentence("missing_matches_any", " (a missing value may stand for any, but hides its own record only)")
_PEOPLE = Sentence("people_count_once", " Several records of one person count as one.")


class FrequencyRule(MicrodataRule):
    """A rule on how many records share each record's combination."""

    missing_matches: MissingMatches = Field(default="category", description=MISSING_MATCHES)
    columns: Columns | None = Field(default=None, description="all quasi-identifiers, when not given")

    def keys(self, variables: Variables) -> list[str]:
        return super().keys(variables) if self.columns is None else list(self.columns)

    def frequencies(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], background: Background
    ) -> IntArray:
        """How many records, or people where they are known, share each record's combination; shape (n,)."""
        return key_frequencies(frame, variables, keys, self.missing_matches, background)

    @property
    def of_what(self) -> str:
        named = "the quasi-identifiers" if self.columns is None else listed(self.columns)
        return named + (", a missing value matching any" if self.missing_matches == "any" else "")


def key_frequencies(
    frame: pd.DataFrame, variables: Variables, keys: list[str], missing_matches: MissingMatches, background: Background
) -> IntArray:
    """How many records, or people where they are known, share each record's combination; shape (n,)."""
    people = people_of(frame, variables)
    if missing_matches == "any":
        known = background.original is not None and set(keys) <= set(background.original)
        return crowds.crowds(frame, keys, background.original if known else None, people, background.times)
    classes = equivalence_classes.classes_of(frame, keys, people)
    if background.times is None:
        return classes.frequencies
    return np.bincount(classes.labels, weights=background.times).astype(np.int64)[classes.labels]


def people_note(frame: pd.DataFrame, variables: Variables) -> Saying:
    return () if people_of(frame, variables) is None else _PEOPLE()


def missing_note(missing_matches: str) -> Saying:
    return _MISSING() if missing_matches == "any" else ()
