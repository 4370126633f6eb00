"""Rule: what every disclosure rule of a policy is, what it may need, and what it may know beside the file."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pandas as pd
from pydantic import BaseModel, ConfigDict

from sluice.ground.arrays import IntArray
from sluice.ground.errors import did_you_mean
from sluice.ground.sentence import Saying, Sentence, as_fields
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict

NO_RECORDS = Sentence("no_records", "The file holds no {unit}.")
NOT_JUDGED = Sentence("not_judged", " Nothing was judged by this rule.")
NO_ESTIMATE = Sentence("no_estimate", "{why}")


class Need(StrEnum):
    """What a check may need besides the released file, in the reader's words."""

    QUASI_IDENTIFIERS = "quasi-identifiers, by which people could be recognised"
    SENSITIVE = "a sensitive variable"
    WEIGHT = "sampling weights"
    HOUSEHOLD = "the household of each person"
    ITEMS = "sets of items"
    KNOWLEDGE = "the sets of variables that an intruder knows"
    HOLDOUT = "people who were set aside, a holdout"
    POPULATION = "a list of the population"
    CELLS = "the cells of tables"


FileOf = Callable[[Path, str, str], Path]
"""The file that a document in a folder names in a field, or an error: by folder, path and where that stands."""

AnyOf = tuple[Need, ...]
"""Needs of which one is enough."""


class Requirement(NamedTuple):
    """What a check that decides cannot do without: where it is lacking, the check is UNKNOWN and nothing passes."""

    check: str
    any_of: AnyOf
    of_pairs: bool = False  # where nobody knows whose record is whose, a person decides without it


@dataclass(frozen=True)
class Background:
    """What lies behind a file of records.

    original     : the same records in the same order before masking, on the released categories and typed like the
                   file; None where nobody knows which record is whose, and of an original
    minimum_cell : no smaller group is named
    file_of      : the file that a rule names, by the folder from which it is named, its path and where that stands;
                   raises if it may not be read. None: no rule may read any
    times        : for how many equal records each stands, where a file holds the different ones alone; shape (n,)
    numbers_alone : whether the contract says that every variable is a measured number, and none a quasi-identifier
    withheld_keys : the quasi-identifiers that the contract declares, where the file tells nothing of any of them
    """

    original: pd.DataFrame | None = None
    minimum_cell: int = 10
    file_of: FileOf | None = None
    times: IntArray | None = None
    numbers_alone: bool = False
    withheld_keys: tuple[str, ...] = ()


NO_BACKGROUND = Background()


class DisclosureRule(BaseModel, ABC):
    """A frozen rule with its thresholds; `rule` is its name in the policy, in findings and in waivers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    example: ClassVar[str]  # a line of a policy, in YAML
    advice: ClassVar[str]  # what to do when the rule is broken
    needs: ClassVar[str]  # what to do when it could not be measured
    about: ClassVar[str] = ""  # what is measured; empty: the first paragraph of the module's docstring
    source: ClassVar[str] = ""  # "Source: ..."; empty: that paragraph of the module's docstring
    largest: ClassVar[Mapping[str, float]] = {}  # by the field of a limit: the largest figure that it is compared with

    rule: str

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        """What the rule cannot judge without: of each entry, one is enough."""
        return ()

    @property
    def requirements(self) -> list[Requirement]:
        """The same by the rule's name; none of a rule that does not decide."""
        return [Requirement(self.rule, any_of) for any_of in self.requires] if self.decides else []

    @property
    def decides(self) -> bool:
        return True

    @property
    def bounds(self) -> Mapping[str, float]:
        """By the field of a limit, as 'records_above.at_most': the largest figure that its measure can have. At this or
        above it a limit could never fail."""
        return self.largest

    @property
    def named_columns(self) -> list[str]:
        """The columns of the file that it names, rather than roles."""
        named = (getattr(self, field, None) for field in ("columns", "known", "weight"))
        return [name for each in named for name in ([each] if isinstance(each, str) else _flat(each or ()))]

    def misfits(self, variables: Variables) -> list[str]:
        """A sentence for each thing that it names and a file of these variables does not have, before one is read."""
        return [
            f"looks at '{name}', which is no variable of the file.{did_you_mean(name, variables)} Take it out of the "
            "rule, or let the contract have it and the plan release it."
            for name in dict.fromkeys(self.named_columns)
            if name not in variables
        ]

    @abstractmethod
    def describe(self) -> str:
        """The rule in one plain sentence."""


def _flat(names: Iterable[Any]) -> Iterator[str]:
    for each in names:
        yield from [each] if isinstance(each, str) else _flat(each)


class Rule(DisclosureRule):
    """A rule on one file of records, by itself."""

    @abstractmethod
    def find(
        self,
        frame: pd.DataFrame,
        variables: Variables,
        stage: str,
        unit: str = "records",
        background: Background = NO_BACKGROUND,
    ) -> list[Finding]:
        """What the rule says of a file of records: at least one finding.

        frame  : typed by `variables`, any order of rows, any index; with whose record each is (role person), where that
                 is known, also where it is not released
        stage  : copied to the findings: original, masked or reference
        unit   : what a record is, in the plural and in the reader's words
        background : what the agency knows of the records beside the file
        raises : DataError if a column that the rule looks at is not in the file
        """

    def unknown(self, stage: str, why: Saying, records: int) -> Finding:
        return Finding(
            rule=self.rule,
            verdict=Verdict.UNKNOWN,
            stage=stage,
            attempted=records,
            completed=0,
            **as_fields(why + NOT_JUDGED()),
        )
