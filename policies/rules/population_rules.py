"""Rules on a list of the population: how many people in it fit a released record."""

from pathlib import Path
from typing import Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from policies.rules.keyed_rule import OnKeys, PositiveShare, refuse_no_limit
from policies.rules.microdata_rules import listed
from policies.rules.rule import Share
from sluice.errors import DataError, did_you_mean
from sluice.risk.classes.equivalence_classes import IntArray, classes_of, matching_frequencies
from sluice.risk.population import k_map, reidentification_risk
from sluice.variables import Kind, Variable, Variables
from sluice.verdict import Finding

FloatArray = NDArray[np.float64]

_COUNT = "count"


class OnPopulation(OnKeys):
    """A rule on a list of the population: a CSV with the key columns in released categories, a row a person.

    With a column 'count' a row stands for as many people. An empty field is a missing key.
    """

    missing_matches: Literal["category", "any"] = Field(
        default="category", description="a missing key is a category of its own, or matches any value"
    )

    def in_population(self, path: str, frame: pd.DataFrame, variables: Variables, keys: list[str]) -> IntArray:
        """For each record, how many people of the list fit it, shape (n,). Raises DataError."""
        where = f"{self.rule}: the population '{path}'"
        try:
            header = pd.read_csv(Path(path), nrows=0).columns
            used = [*keys, *({_COUNT} & set(header) - set(keys))]
            for name in used:
                if name not in header:
                    raise DataError(f"{where} has no column '{name}'.{did_you_mean(name, header)}")
            table = pd.read_csv(Path(path), usecols=used, dtype="str", keep_default_na=False, na_values=[""])
        except (OSError, ValueError) as error:  # a wrong encoding or an empty file is a ValueError
            raise DataError(f"{where} cannot be read ({type(error).__name__}). Is it a CSV file in UTF-8?") from error
        counts = None
        if _COUNT in used and _COUNT not in keys:
            numbers = pd.to_numeric(table[_COUNT], errors="coerce")
            if not (numbers.ge(0) & numbers.mod(1).eq(0)).all():
                raise DataError(f"{where} must have whole numbers of 0 or more in 'count'.")
            counts = numbers.to_numpy(np.int64)
        typed = pd.DataFrame({name: _typed(table[name], variables[name], where) for name in keys})
        return k_map.population_frequencies(frame, typed, keys, counts, self.missing_matches)


class KMap(OnPopulation):
    """Every record fits at least k people of a population."""

    rule: Literal["k_map"] = "k_map"
    k: int = Field(ge=2, description="people of the population")
    population: str = Field(min_length=1, description="path of a CSV: the key columns in released categories [, count]")

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        frequencies = self.in_population(self.population, frame, variables, keys)
        observed = k_map.k_map(frequencies).value
        below, nobody = float((frequencies < self.k).mean()), float((frequencies == 0).mean())
        says = f"All {unit} share {listed(keys)} with enough people of the population"
        if observed < self.k:
            says = f"{100 * below:.3g} % of the {unit} share {listed(keys)} with too few people of the population"
        if nobody:
            says += f", and {100 * nobody:.3g} % with none at all, so that the list is not one of everybody"
        says += f"; the policy asks that at least {self.k:,} people fit every record."
        return [self.finding(observed >= self.k, observed, self.k, len(frame), says, stage, ", ".join(keys))]

    def describe(self) -> str:
        return f"At least {self.k:,} people of the population in {self.population} fit every record (k-map)."


class RecordsAbove(BaseModel):
    """A chance of re-identification, and the share of the records that may exceed it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    risk: PositiveShare = Field(description="chance of re-identification, more than 0")
    at_most: Share = Field(description="share of the records, not percent")


class ReidentificationRisk(OnPopulation):
    """The chance that an intruder of a stated kind names records rightly."""

    rule: Literal["reidentification_risk"] = "reidentification_risk"
    model: Literal["prosecutor", "journalist", "marketer"] = Field(
        description="who knows that the person is in the file; who looks in the population; who links the whole file"
    )
    highest_at_most: PositiveShare | None = Field(default=None, description="chance for the record most at risk")
    average_at_most: PositiveShare | None = Field(default=None, description="mean chance, or expected share of records")
    records_above: RecordsAbove | None = None
    population: str | None = Field(
        default=None, min_length=1, description="path of a CSV as for k_map; for the journalist and the marketer"
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        refuse_no_limit(self.rule, self.highest_at_most, self.average_at_most, self.records_above)
        if (self.model == "prosecutor") != (self.population is None):
            raise ValueError("population is needed for the journalist and the marketer, and not used by the prosecutor")
        if self.model == "marketer" and (self.highest_at_most is not None or self.records_above is not None):
            raise ValueError("the marketer counts right links alone: give average_at_most and no other limit")
        return self

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        any_value = self.missing_matches == "any"
        in_file = matching_frequencies(frame, keys) if any_value else classes_of(frame, keys).frequencies
        if self.population is None:
            risk = reidentification_risk.prosecutor_risk(in_file)
        else:
            risk = reidentification_risk.journalist_risk(
                in_file, self.in_population(self.population, frame, variables, keys)
            )
        scope, who = ", ".join(keys), f"A {self.model} who knows {listed(keys)}"
        findings = []
        if (limit := self.highest_at_most) is not None:
            value = risk.highest.value
            says = f"{who} names the record most at risk with a chance of {100 * value:.3g} %"
            findings.append(self.limited(value, limit, frame, says, stage, f"highest by {scope}"))
        if (limit := self.average_at_most) is not None:
            value = risk.average.value
            says = f"{who} is expected to name {100 * value:.3g} % of the {unit} rightly"
            findings.append(self.limited(value, limit, frame, says, stage, f"average by {scope}"))
        if (above := self.records_above) is not None:
            value = risk.records_above(above.risk).value
            says = f"{who} names {100 * value:.3g} % of the {unit} with a chance above {100 * above.risk:.3g} %"
            findings.append(self.limited(value, above.at_most, frame, says, stage, f"records above by {scope}"))
        return findings

    def describe(self) -> str:
        limits = []
        if self.highest_at_most is not None:
            limits.append(f"at most {100 * self.highest_at_most:.3g} % for the record most at risk")
        if self.average_at_most is not None:
            limits.append(f"at most {100 * self.average_at_most:.3g} % on average")
        if (above := self.records_above) is not None:
            limits.append(f"above {100 * above.risk:.3g} % for at most {100 * above.at_most:.3g} % of the records")
        return f"The chance that a {self.model} names a record rightly is {', and '.join(limits)}."


def _typed(column: pd.Series, variable: Variable, where: str) -> pd.Series:
    """A column of texts in the type that the file has for the variable."""
    if variable.kind.is_numeric:
        typed = pd.to_numeric(column, errors="coerce")
    elif variable.kind is Kind.DATE:
        typed = pd.to_datetime(column, errors="coerce", format="ISO8601")
    else:
        return column
    if (typed.isna() & column.notna()).any():
        raise DataError(f"{where} holds values of '{variable.name}' that are no {variable.kind}, as the file has them.")
    return typed
