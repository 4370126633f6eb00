"""Rules on uniqueness in the population, estimated from the file: is a record alone among all people, too?"""

from abc import abstractmethod
from typing import Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, model_validator

from policies.rules.keyed_rule import OnKeys, PositiveShare, refuse_no_limit
from policies.rules.microdata_rules import listed
from policies.rules.rule import Share
from sluice.errors import DataError
from sluice.risk.classes.equivalence_classes import category_codes, classes_of
from sluice.risk.population import individual_risk, loglinear_risk, population_uniques
from sluice.risk.population.attribute_risk import attribute_risk
from sluice.risk.population.household_risk import household_risk
from sluice.variables import Role, Variables, with_role
from sluice.verdict import Finding, Verdict

FloatArray = NDArray[np.float64]

_FEW = 0.001  # of the population: from a smaller sample every estimate of uniques is a guess that a person must weigh


class _Estimate(OnKeys):
    """A rule on an estimate for the population. What cannot be estimated is UNKNOWN."""

    weight: str | None = Field(
        default=None, description="variable with the sampling weights; the one with the role weight, when not given"
    )

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        try:
            return self.estimate(frame, variables, keys, stage, unit)
        except DataError as error:
            return [self.unknown(stage, str(error), len(frame))]

    @abstractmethod
    def estimate(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str
    ) -> list[Finding]:
        """The findings; DataError says why nothing can be estimated."""

    def weights(self, frame: pd.DataFrame, variables: Variables) -> FloatArray:
        """Sampling weights, shape (n,). Raises DataError where one is missing or it is not clear which they are."""
        names = with_role(variables, Role.WEIGHT) if self.weight is None else [self.weight]
        if len(names) != 1:
            raise DataError(
                f"The file declares {'no variable' if not names else 'several variables'} with the role weight; "
                "this rule needs one that tells how many people a record stands for, or its name in 'weight'."
            )
        if names[0] not in frame or not pd.api.types.is_numeric_dtype(frame[names[0]].dtype):
            raise DataError(f"The weight '{names[0]}' is not a column of numbers in the file.")
        weights = frame[names[0]].to_numpy(np.float64, na_value=np.nan)
        if not (np.isfinite(weights) & (weights > 0)).all():
            raise DataError(f"The weight '{names[0]}' is missing or not more than 0 for some records.")
        return weights

    def risks(self, frame: pd.DataFrame, variables: Variables, keys: list[str]) -> FloatArray:
        """The individual risk of each record, shape (n,)."""
        classes = classes_of(frame, keys)
        people = individual_risk.estimated_population(classes, self.weights(frame, variables))
        return individual_risk.individual_risk(classes.sizes, people)[classes.labels]


class AttributeRisk(OnKeys):
    """No variable by itself tells whose record it is: its values are few beside the people who hold them.

    It ranks variables by what they give away, and is meant for the original: of a perturbed file it says nothing.
    """

    rule: Literal["attribute_risk"] = "attribute_risk"
    at_most: PositiveShare = Field(
        description="chance, from 0 to 1, that an intruder who sees a record's value knows by it whose it is"
    )

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        found = []
        for name in keys:
            measured = attribute_risk(frame[name]).measurement
            if not measured.completed:
                found.append(self.unknown(stage, f"All values of {name} are missing.", len(frame)))
                continue
            says = f"Whoever sees a value of {listed([name])} knows whose it is with a chance of {measured.value:.3g}"
            limited = self.limited(measured.value, self.at_most, frame, says, stage, name)
            found.append(limited.model_copy(update={"completed": measured.completed}))
        return found

    def describe(self) -> str:
        return f"No variable alone tells whose record it is with a chance above {100 * self.at_most:.3g} %."


class PopulationUniques(_Estimate):
    """At most a share of the population, and of the records, is alone in the population with its key values."""

    rule: Literal["population_uniques"] = "population_uniques"
    at_most: Share = Field(lt=1, description="share of the population, not percent")
    estimator: population_uniques.Estimator = Field(
        default="dankar", description="dankar chooses among the others by the sampling fraction"
    )
    population: int | None = Field(default=None, ge=1, description="people in the population")
    sampling_fraction: PositiveShare | None = Field(default=None, description="records by people of the population")

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.population is not None and self.sampling_fraction is not None:
            raise ValueError("give population or sampling_fraction, not both; with neither the weights are summed up")
        return self

    def estimate(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str
    ) -> list[Finding]:
        classes = classes_of(frame, keys)
        if self.population is not None:
            people = float(self.population)
        elif self.sampling_fraction is not None:
            people = len(frame) / self.sampling_fraction
        else:
            people = float(individual_risk.estimated_population(classes, self.weights(frame, variables)).sum())
        measured, used = population_uniques.population_uniques(classes.sizes, people, self.estimator)
        says = (
            f"By the {_ESTIMATORS[used]}, {100 * measured.value:.3g} % of the population are alone with their "
            f"combination of {listed(keys)}, and so are as many of the {unit}"
        )
        limit = self.at_most
        finding = self.limited(measured.value, limit, frame, says, stage, f"{used} by {', '.join(keys)}")
        if finding.verdict is Verdict.PASS and len(frame) < _FEW * people and (classes.sizes == 1).any():
            says = f"{finding.says} Less than one person in {1 / _FEW:,.0f} is in the file: a person must decide."
            return [finding.model_copy(update={"verdict": Verdict.REVIEW, "says": says})]
        return [finding]

    def describe(self) -> str:
        return (
            f"At most an estimated {100 * self.at_most:.3g} % of the population are alone with their "
            f"quasi-identifiers ({_ESTIMATORS[self.estimator]})."
        )


class LoglinearRisk(_Estimate):
    """Few sample uniques are alone in the population, or named rightly, under a log-linear model of the keys."""

    rule: Literal["loglinear_risk"] = "loglinear_risk"
    uniques_at_most: Share | None = Field(default=None, description="tau 1 by the records: alone in the population")
    guesses_at_most: Share | None = Field(default=None, description="tau 2 by the records: uniques named rightly")
    interactions: Literal["none", "selected"] = Field(
        default="selected", description="of two keys in the model: none, or those that it needs"
    )
    sampling_fraction: PositiveShare | None = Field(
        default=None, description="records by people of the population; one by the record's weight, when not given"
    )

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        refuse_no_limit(self.rule, self.uniques_at_most, self.guesses_at_most)
        return self

    def estimate(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str
    ) -> list[Finding]:
        # A weight below 1 stands for the record itself.
        fraction = self.sampling_fraction or 1 / np.fmax(self.weights(frame, variables), 1)
        codes = [category_codes(frame[name]) for name in keys]
        measured = loglinear_risk.loglinear_risk(codes, fraction, self.interactions)
        findings, scope = [], ", ".join(keys)
        if (limit := self.uniques_at_most) is not None:
            value = measured.population_uniques.value
            says = (
                f"By a log-linear model, {100 * value:.3g} % of the {unit} are alone in the population with their keys"
            )
            findings.append(self.limited(value, limit, frame, says, stage, f"uniques by {scope}"))
        if (limit := self.guesses_at_most) is not None:
            value = measured.correct_guesses.value
            says = (
                f"By a log-linear model, {100 * value:.3g} % of the {unit} are unique in the file and guessed rightly"
            )
            findings.append(self.limited(value, limit, frame, says, stage, f"guesses by {scope}"))
        return findings

    def describe(self) -> str:
        limits = []
        if self.uniques_at_most is not None:
            limits.append(f"at most {100 * self.uniques_at_most:.3g} % of the records are alone in the population")
        if self.guesses_at_most is not None:
            limits.append(f"at most {100 * self.guesses_at_most:.3g} % are unique in the file and guessed rightly")
        return f"By a log-linear model of the keys, {', and '.join(limits)}."


class _OnRisks(_Estimate):
    """A rule on one risk a record, with a limit on the highest and one on the mean."""

    highest_at_most: PositiveShare | None = Field(default=None, description="chance for the record most at risk")
    expected_at_most: PositiveShare | None = Field(
        default=None, description="expected share of the records that are named rightly"
    )

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        refuse_no_limit(self.rule, self.highest_at_most, self.expected_at_most)
        return self

    def estimate(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str
    ) -> list[Finding]:
        risks = self.risks(frame, variables, keys)
        findings, scope = [], ", ".join(keys)
        if (limit := self.highest_at_most) is not None:
            value = float(risks.max())
            says = f"Of all {unit}, the one most at risk is {self.found} with a chance of {100 * value:.3g} %"
            findings.append(self.limited(value, limit, frame, says, stage, f"highest by {scope}"))
        if (limit := self.expected_at_most) is not None:
            value = individual_risk.expected_share(risks).value
            says = f"{100 * value:.3g} % of the {unit} are expected to be {self.found}"
            findings.append(self.limited(value, limit, frame, says, stage, f"expected by {scope}"))
        return findings

    def describe(self) -> str:
        limits = []
        if self.highest_at_most is not None:
            limits.append(f"with a chance of at most {100 * self.highest_at_most:.3g} % for the record most at risk")
        if self.expected_at_most is not None:
            limits.append(f"for at most {100 * self.expected_at_most:.3g} % of all records on average")
        return f"A record is {self.found} {', and '.join(limits)}."

    @property
    @abstractmethod
    def found(self) -> str:
        """What happens to a record, in words."""


class IndividualRisk(_OnRisks):
    """The chance that a record is named rightly by who looks it up in the population, by its sampling weight.

    It tells too little where most records are alone with their keys; set `loglinear_risk` beside it.
    """

    rule: Literal["individual_risk"] = "individual_risk"

    @property
    def found(self) -> str:
        return "named rightly by who looks it up in the population"


class HouseholdRisk(_OnRisks):
    """The chance that any member of a record's household is named rightly, which gives the others away."""

    rule: Literal["household_risk"] = "household_risk"

    @property
    def found(self) -> str:
        return "given away by a member of the household whom somebody looks up in the population"

    def risks(self, frame: pd.DataFrame, variables: Variables, keys: list[str]) -> FloatArray:
        names = with_role(variables, Role.HOUSEHOLD)
        if len(names) != 1 or names[0] not in frame:
            raise DataError("The file needs one variable with the role household.")
        return household_risk(super().risks(frame, variables, keys), frame[names[0]])


_ESTIMATORS = {
    "dankar": "decision rule of Dankar",
    "pitman": "estimator of Pitman",
    "zayatz": "estimator of Zayatz",
    "snb": "slide negative binomial",
}
