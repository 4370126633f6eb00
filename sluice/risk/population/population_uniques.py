"""Population uniques: how many people are alone in the population with their key values.

Source: Dankar, El Emam, Neisa and Roffey (2012), who choose among the estimators of Hoshino (2001), Zayatz (1991) and
Chen and Keller-McNulty (1998).

Hoshino's is Pitman's; that of Chen and Keller-McNulty the slide negative binomial, with Shlosser's number of classes as
in Haas and Stokes (1998; D_Sh3). All see the sample as drawn at random, each record with the same chance. The estimate
is also the expected share of the records of the file that are alone in the population. Higher is worse. The models tell
no interval.

Behaviour at the edges: a file without sample uniques has no record that is unique in the population: 0, exactly. A
whole population (n = N) has as many uniques as the file: exactly. A model that does not fit (no pairs, all records
unique, no solution) is a DataError, and Dankar's rule then takes Zayatz. A small sampling fraction is no error, but
all estimates extrapolate there: Zayatz, which takes the sample's class sizes for the population's, tends to the square
of the share of sample uniques, far too much.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentences, percent
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.microdata_rule import KeyedRecords, PositiveShare
from sluice.risk.classes.privacy_model import FileModel, PrivacyModel, ReleasedFile
from sluice.risk.measurement import Measurement
from sluice.risk.population.individual_risk import estimated_population
from sluice.risk.population.population_rule import PopulationEstimate

_FEW = 0.001  # of the population: from a smaller sample every estimate of uniques is a guess that a person must weigh
_ESTIMATORS = {
    "dankar": "decision rule of Dankar",
    "pitman": "estimator of Pitman",
    "zayatz": "estimator of Zayatz",
    "snb": "slide negative binomial",
}


_SAYS = Sentences(
    "population_uniques",
    unique="By the {estimator}, {share:percent} of the population are alone with their combination of {keys:listed}, "
    "and so are as many of the {unit}",
    small_sample=" Less than one person in {one_in:,} is in the file, so this needs a decision.",
)

Estimator = Literal["dankar", "pitman", "zayatz", "snb"]

_LARGE_SAMPLE = 0.1  # Dankar et al.: Pitman up to here, the lower of Zayatz and the slide negative binomial above
_BETAS = 4_001  # points at which the slide negative binomial is looked for; the equation is smooth in log-odds of beta


def population_uniques(
    sizes: IntArray, population: float, estimator: Estimator = "dankar"
) -> tuple[Measurement, Estimator]:
    """The estimated share of uniques in the population, and the estimator that gave it.

    sizes      : shape (c,), the records of each class of the sample, at least 1
    population : people in the population, at least as many as records
    raises     : DataError if there is no record, the population is smaller, or the estimator does not fit
    cost       : O(c) to count the classes of each size, then the different sizes alone
    """
    if len(sizes) and sizes.min() < 1:
        raise DataError("a class must have at least 1 record.")
    frequencies = np.bincount(sizes)
    size = np.flatnonzero(frequencies)
    count = frequencies[size].astype(np.float64)
    n = float(size @ count)
    if not n:
        raise DataError("population uniques need at least one record; got none.")
    if not n <= population < np.inf:
        raise DataError(f"population must be at least the {n:,.0f} records of the file; got {population:,.10g}.")
    uniques = float(count[0]) if size[0] == 1 else 0.0
    used = estimator
    if uniques == 0 or n == population:
        share = uniques / n
    elif estimator == "dankar":
        share, used = _dankar(size, count, population)
    else:
        share = {"pitman": _pitman, "zayatz": _zayatz, "snb": _slide_negative_binomial}[estimator](
            size, count, population
        )
    return Measurement(value=min(share, 1.0), attempted=int(n), completed=int(n)), used


def _dankar(size: IntArray, count: FloatArray, population: float) -> tuple[float, Estimator]:
    if size @ count / population <= _LARGE_SAMPLE:
        try:
            return _pitman(size, count, population), "pitman"
        except DataError:
            return _zayatz(size, count, population), "zayatz"
    zayatz = _zayatz(size, count, population)
    try:
        snb = _slide_negative_binomial(size, count, population)
    except DataError:
        return zayatz, "zayatz"
    return (zayatz, "zayatz") if zayatz < snb else (snb, "snb")


def _zayatz(size: IntArray, count: FloatArray, population: float) -> float:
    """By Bayes, with the sample's class sizes as the prior: the chance that a sample unique is one of the population.

    A class of j people shows exactly one of them with the hypergeometric probability h(1; N, j, n), which is
    n j / (N - j + 1) times the product of 1 - n / (N - k) over k = 0 .. j - 2.
    """
    n = float(size @ count)
    possible = size <= population - n + 1  # all but one of the class lie outside the sample
    j, classes = size[possible], count[possible]
    outside = np.exp(np.cumsum(np.log1p(-n / (population - np.arange(j[-1] - 1)))))
    singles = n * j / (population - j + 1) * np.concatenate([[1.0], outside])[j - 1]
    return float(count[0] / n * count[0] * singles[0] / (classes @ singles))


def _pitman(size: IntArray, count: FloatArray, population: float) -> float:
    """Pitman's sampling formula by maximum likelihood; then E(S_1) / N of a population of that law, exactly.

    For each alpha the score in theta has one root; the score in alpha along it falls to -inf at alpha = 1. Where it is
    negative from the start, alpha = 0 is the estimate (Ewens' formula).
    """
    from scipy.optimize import brentq
    from scipy.special import poch, psi

    n, classes = float(size @ count), float(count.sum())
    if classes == n or classes == 1:
        raise DataError("Pitman's estimator needs more than one class and a class of more than one record.")

    def theta_at(alpha: float) -> float:
        def score(log: float) -> float:
            theta = np.exp(log) - alpha
            return _reciprocals(theta, alpha, classes) - _reciprocals(theta, 1.0, n)

        return float(np.exp(brentq(score, -40.0, 3 * np.log(n) + 10, xtol=1e-13))) - alpha

    def score(alpha: float) -> float:
        theta = theta_at(alpha)
        among = (classes - 1 - theta * _reciprocals(theta, alpha, classes)) / alpha
        return float(among - count @ (psi(size - alpha) - psi(1 - alpha)))

    low, high = 1e-7, 1 - 1e-9
    if score(low) <= 0:
        alpha = low
    elif score(high) >= 0:
        raise DataError("Pitman's estimator does not fit: nearly every record is alone.")
    else:
        alpha = float(brentq(score, low, high, xtol=1e-13))
    theta = theta_at(alpha)
    return float(poch(theta + alpha, 1 - alpha) * poch(theta + population, alpha - 1))


def _reciprocals(theta: float, alpha: float, stop: float) -> float:
    """The sum of 1 / (theta + i alpha) over i = 1 .. stop - 1."""
    from scipy.special import psi

    first, last = theta / alpha + 1, theta / alpha + stop
    if first < 1e4:
        return float(psi(last) - psi(first)) / alpha
    # Of nearly equal numbers: Stirling's series of each, so that the logarithms do not cancel.
    tail = (1 / first - 1 / last) / 2 + (first**-2 - last**-2) / 12
    return float(np.log1p((stop - 1) / first) + tail) / alpha


def _slide_negative_binomial(size: IntArray, count: FloatArray, population: float) -> float:
    """K classes of 1 + NB(alpha, beta) people each, of whom a share pi is sampled; K beta^alpha of them have one.

    alpha and beta are those under which f_1 and f_2 are what is expected. The ratio f_2 / f_1 gives alpha for each
    beta as the positive root of a quadratic; f_1 then gives beta. Of several solutions the one whose expected number
    of classes in the sample is nearest to the observed one is taken.
    """
    from scipy.optimize import brentq

    n = float(size @ count)
    singles, pairs = (float(count[size == j].sum()) for j in (1, 2))
    if not pairs:
        raise DataError("the slide negative binomial needs a class of two records; there is none.")
    pi = n / population
    total = _shlosser(size, count, pi)

    def parameters(log_odds: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """alpha, 1 - beta, and the share of the classes of which nobody but the first could have been sampled."""
        beta, rest = 1 / (1 + np.exp(-log_odds)), 1 / (1 + np.exp(log_odds))
        seen = beta + pi * rest  # 1 - d
        d = rest * (1 - pi)
        c = 2 * pairs / singles * seen / (pi * rest)
        b = 2 - d - c * d
        root = np.sqrt(b * b + 4 * d * c * seen)
        alpha = np.where(b > 0, 2 * c * seen / np.where(b > 0, b + root, 1), (root - b) / (2 * d))
        return alpha, rest, np.exp(-alpha * np.log1p(pi * rest / beta))

    def missing_singles(log_odds: FloatArray) -> FloatArray:
        alpha, rest, lone = parameters(log_odds)
        d = rest * (1 - pi)
        return np.asarray(total * pi * lone * (1 + alpha * d / (1 - d)) / singles - 1)

    grid = np.linspace(-30, 30, _BETAS)
    values = missing_singles(grid)
    crossing = np.flatnonzero(np.sign(values[1:]) * np.sign(values[:-1]) < 0)
    if not len(crossing):
        raise DataError("the slide negative binomial does not fit: no parameters explain the uniques and the pairs.")
    roots = [brentq(lambda x: float(missing_singles(x)), grid[at], grid[at + 1], xtol=1e-13) for at in crossing]
    alpha, rest, lone = parameters(np.array(roots))
    nearest = np.argmin(np.abs(total * (1 - (1 - pi) * lone) - count.sum()))
    return float(total * np.exp(alpha * np.log1p(-rest))[nearest] / population)


def _shlosser(size: IntArray, count: FloatArray, pi: float) -> float:
    """Haas and Stokes 1998, D_Sh3: the number of classes in the population."""
    unseen = (1 - pi) ** size
    # (1 - pi)^i ((1 + pi)^i - 1) is written so that no power overflows.
    ratio = (size * pi**2 * (1 - pi**2) ** (size - 1)) @ count / (((1 - pi**2) ** size - unseen) @ count)
    squared = (unseen @ count / ((size * pi * (1 - pi) ** (size - 1)) @ count)) ** 2
    return float(count.sum() + count[0] * ratio * squared)


@dataclass(frozen=True)
class PopulationUniquesModel(FileModel):
    """most       : share of the population, 0 to 1
    population : how many people it has, at least as many as the file records
    estimator  : as there; where it does not fit the classes, nothing is known of the file and it fails

    Not monotone: the estimate follows from how many classes there are of each size. Where pairs are united to classes
    of four while the records that are alone stay so, it rises; and it jumps where another estimator takes over.
    """

    most: float
    population: float
    estimator: Estimator = "dankar"

    monotone = False

    def figure(self, file: ReleasedFile) -> float:
        if file.members > self.population:
            raise DataError(
                f"the population must have at least the {file.members:,} records of the file; "
                f"got {self.population:,.10g}."
            )
        try:
            return population_uniques(file.class_members, self.population, self.estimator)[0].value
        except DataError:
            return inf

    def describe(self) -> str:
        return f"population uniques of at most {self.most:.4g}, estimated by {self.estimator}"


class PopulationUniques(PopulationEstimate):
    """At most a share of the population, and of the records, is alone in the population with its key values."""

    rule: Literal["population_uniques"] = "population_uniques"
    example: ClassVar[str] = "{rule: population_uniques, at_most: 0.05, sampling_fraction: 0.1}"
    advice: ClassVar[str] = (
        "Too many people are estimated to be alone in the population: release a smaller sample of the records, or "
        "recode the quasi-identifiers until fewer sample uniques are left to extrapolate from."
    )
    at_most: Share = Field(lt=1, description="share of the population, not percent")
    estimator: Estimator = Field(
        default="dankar", description="dankar chooses among the others by the sampling fraction"
    )
    population: int | None = Field(default=None, ge=1, description="people in the population")
    sampling_fraction: PositiveShare | None = Field(default=None, description="records by people of the population")

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.population is not None and self.sampling_fraction is not None:
            raise ValueError("give population or sampling_fraction, not both; with neither the weights are summed up")
        return self

    @property
    def uses_weights(self) -> bool:
        return self.population is None and self.sampling_fraction is None

    def estimate(self, file: KeyedRecords) -> list[Finding]:
        sizes = file.classes.sizes
        if self.population is not None:
            people = float(self.population)
        elif self.sampling_fraction is not None:
            people = len(file) / self.sampling_fraction
        else:
            people = float(estimated_population(file.classes, self.weights(file)).sum())
        measured, used = population_uniques(sizes, people, self.estimator)
        says = _SAYS.unique(estimator=_ESTIMATORS[used], share=measured.value, keys=file.keys, unit=file.unit)
        (finding,) = self.limited(file, f"{used} by {file.scope}", measured.value, self.at_most, says)
        if finding.verdict is Verdict.PASS and len(file) < _FEW * people and (sizes == 1).any():
            finding = finding.adding(_SAYS.small_sample(one_in=round(1 / _FEW)))
            return [finding.model_copy(update={"verdict": Verdict.REVIEW})]
        return [finding]

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        if self.columns is not None or self.population is None:
            return [(self.rule, None)]
        return [(self.rule, PopulationUniquesModel(self.at_most, self.population, self.estimator))]

    def describe(self) -> str:
        return (
            f"At most an estimated {percent(self.at_most)} of the population are alone with their "
            f"quasi-identifiers ({_ESTIMATORS[self.estimator]})."
        )
