"""Individual risk: the chance that a record is named rightly by who looks it up in the population, by its weight.

Source: Benedetti and Franconi (1998); Franconi and Polettini (2004), section 3.

A combination of keys that f sampled people share is shared by F people of the population. Given f, F is f plus a
negative binomial number with success probability p = f / F-hat, where F-hat is the sum of the sampling weights of the
class. The intruder picks one of the F, so the risk is E(1/F | f). Higher is worse; a record of a class risks the same
as every other. A missing key is a category of its own: it makes classes smaller, and so never a risk smaller.

The weights tell nothing of how common a combination is, so that the sum of the risks is too low where most records are
alone: half and less of the true figure for samples of Adult (see the tests of published figures). The log-linear risk,
which learns from the other records how common it is, keeps near the truth there: report both.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentence, Sentences, percent
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.equivalence_classes import EquivalenceClasses
from sluice.risk.classes.microdata_rule import KeyedRecords, PositiveShare, refuse_no_limit
from sluice.risk.measurement import Measurement
from sluice.risk.population.loglinear_risk import fewer, loglinear_risk
from sluice.risk.population.population_rule import PopulationEstimate

_BY_MODEL = Sentence(
    "individual_risk.by_model",
    " Where many records are alone with their keys, as {alone:percent} are here, this figure tells half of the risk "
    "and less; by a {model}, {share:percent} of the {unit} are unique in the file and named rightly.",
)

_SAYS = Sentences(
    "record_risk",
    highest="Among all {unit}, the one most at risk is {found} with a chance of {chance:percent}",
    expected="{share:Percent} of the {unit} are expected to be {found}",
)

Formula = Literal["exact", "approximate"]

_FEW = 32  # below, the recurrence takes few steps; above, the series takes few terms
_TERMS = 64  # the series' terms fall below 1e-16 of its sum: its ratios are below 1/2, or k / (32 + k)


def estimated_population(classes: EquivalenceClasses, weights: FloatArray) -> FloatArray:
    """How many people of the population share each class's combination: the sum of the weights, but no fewer than f.

    weights : shape (n,), sampling weights, people of the population that a record stands for
    returns : shape (c,)
    raises  : DataError if a weight is missing, infinite, 0 or less, or the lengths differ
    """
    if len(weights) != len(classes.labels):
        raise DataError(f"classes and weights must have one length; got {len(classes.labels)} and {len(weights)}.")
    wrong = int((~(np.isfinite(weights) & (weights > 0))).sum())
    if wrong:
        raise DataError(f"sampling weights must be finite and more than 0; {wrong:,} of {len(weights):,} are not.")
    sums = np.bincount(classes.labels, weights=weights, minlength=len(classes.sizes))
    return np.maximum(sums, classes.sizes)


def individual_risk(sizes: IntArray, population: FloatArray, formula: Formula = "exact") -> FloatArray:
    """E(1/F | f) of each class.

    sizes      : shape (c,), records of the class in the file, at least 1
    population : shape (c,), F-hat, at least `sizes`; equal to it, everybody was sampled and the risk is 1/f
    formula    : exact is the integral of p u^(f-1) / (p + q u) over u from 0 to 1, with q = 1 - p, to 12 digits;
                 approximate is exact up to f = 2 and p / (f - q) above, as sdcMicro's `indivRisk` has it: it is at most
                 a few percent too large
    returns    : shape (c,), more than 0 and at most 1/f
    cost       : O(c), a fifth of a second for a million classes
    """
    if len(sizes) != len(population):
        raise DataError(f"sizes and population must have one length; got {len(sizes)} and {len(population)}.")
    if len(sizes) and (sizes.min() < 1 or not (population >= sizes).all()):
        raise DataError("a class must have at least 1 record and at least as many people as records.")
    f = sizes.astype(np.float64)
    p = f / population
    risk = p / (f - (1 - p))
    computed = np.full(len(f), True) if formula == "exact" else f <= 2
    few = computed & (p < 0.5) & (f < _FEW)
    risk[few] = _by_recurrence(f[few], p[few])
    computed &= ~few
    risk[computed] = _by_series(f[computed], p[computed])
    return risk


def expected_share(risks: FloatArray) -> Measurement:
    """Expected share of the records that are named rightly; times their number, the expected re-identifications.

    risks  : shape (n,), of each record
    raises : DataError if there is no record or a risk is no number
    """
    if not len(risks):
        raise DataError("the expected share of re-identifications needs at least one record; got none.")
    if not np.isfinite(risks).all():
        raise DataError("a risk is not a number.")
    return Measurement(value=float(risks.mean()), attempted=len(risks), completed=len(risks))


def _by_recurrence(f: FloatArray, p: FloatArray) -> FloatArray:
    """r_1 = (p/q) log(1/p), r_(f+1) = (p/q) (1/f - r_f): stable while p/q is at most 1."""
    odds = p / (1 - p)
    risk = -odds * np.log(p)
    for step in range(1, int(f.max(initial=1))):
        onward = f > step
        risk[onward] = odds[onward] * (1 / step - risk[onward])
    return risk


def _by_series(f: FloatArray, p: FloatArray) -> FloatArray:
    """(p/f) times the sum of k! q^k / ((f+1) ... (f+k)): Gauss's series 2F1(1, 1; f+1; q), all terms positive."""
    term = np.ones_like(f)
    total = np.ones_like(f)
    for k in range(1, _TERMS):
        term *= (1 - p) * k / (f + k)
        total += term
    return p / f * total


class RecordRiskRule(PopulationEstimate):
    """A rule on one risk a record, with a limit on the highest and one on the mean."""

    largest: ClassVar[Mapping[str, float]] = {"highest_at_most": 1.0, "expected_at_most": 1.0}
    highest_at_most: PositiveShare | None = Field(default=None, description="chance for the record most at risk")
    expected_at_most: PositiveShare | None = Field(
        default=None, description="expected share of the records that are named rightly"
    )

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        refuse_no_limit(self.rule, self.highest_at_most, self.expected_at_most)
        return self

    def estimate(self, file: KeyedRecords) -> list[Finding]:
        risks, by, who = self.risks(file), f"by {file.scope}", {"unit": file.unit, "found": self.found}
        highest, expected = float(risks.max()), expected_share(risks).value
        says_highest, says_expected = _SAYS.highest(**who, chance=highest), _SAYS.expected(**who, share=expected)
        return [
            *self.limited(file, f"highest {by}", highest, self.highest_at_most, says_highest),
            *self.limited(file, f"expected {by}", expected, self.expected_at_most, says_expected),
        ]

    def describe(self) -> str:
        limits = []
        if self.highest_at_most is not None:
            limits.append(f"with a chance of at most {percent(self.highest_at_most)} for the record most at risk")
        if self.expected_at_most is not None:
            limits.append(f"for at most {percent(self.expected_at_most)} of all records on average")
        return f"A record is {self.found} {', and '.join(limits)}."

    def risks(self, file: KeyedRecords) -> FloatArray:
        """The individual risk of each record, shape (n,)."""
        people = estimated_population(file.classes, self.weights(file))
        return individual_risk(file.classes.sizes, people)[file.classes.labels]

    @property
    @abstractmethod
    def found(self) -> str:
        """What happens to a record, in words."""


class IndividualRisk(RecordRiskRule):
    """The chance that a record is identified in the population, by its sampling weight.

    It says too little where most records are alone with their keys: half of the risk and less. So the expected share is
    held to its limit by a log-linear model of the keys as well, and the finding gives both figures.
    """

    rule: Literal["individual_risk"] = "individual_risk"
    example: ClassVar[str] = "{rule: individual_risk, highest_at_most: 0.5}"
    advice: ClassVar[str] = (
        "Suppress a key locally for the records most at risk; where the mean is too high, recode the keys. A record "
        "with a sampling weight near 1 stands for nobody else and needs it most."
    )

    @property
    def found(self) -> str:
        return "named rightly by who looks it up in the population"

    def estimate(self, file: KeyedRecords) -> list[Finding]:
        findings = super().estimate(file)
        if self.expected_at_most is None:
            return findings
        *others, expected = findings
        alone = float((file.classes.frequencies == 1).mean())
        model = loglinear_risk(file.codes, 1 / np.fmax(self.weights(file), 1))
        guessed = model.correct_guesses.value
        says = _BY_MODEL(alone=alone, model=f"log-linear model{fewer(model)}", share=guessed, unit=file.unit)
        worst = max(guessed, expected.observed or 0.0)
        verdict = Verdict.PASS if worst <= self.expected_at_most else Verdict.FAIL
        return [*others, expected.adding(says).model_copy(update={"observed": worst, "verdict": verdict})]
