"""Rules on what singles a record out, and on what its look-alikes give away, beyond k-anonymity and l-diversity."""

from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from policies.rules.keyed_rule import OnKeys, PositiveShare
from policies.rules.microdata_rules import (
    ROUNDING,
    OnSensitiveVariables,
    distinguishable,
    groups,
    listed,
    word,
)
from policies.rules.population_rules import OnPopulation
from policies.rules.rule import Share
from sluice.errors import DataError
from sluice.risk.classes import alpha_k, attribute_combinations, beta_likeness, delta_disclosure, delta_presence, suda
from sluice.risk.classes.equivalence_classes import EquivalenceClasses, category_codes, classes_of, matching_frequencies
from sluice.variables import Label, Role, Variable, Variables, with_role
from sluice.verdict import Finding


class Suda(OnKeys):
    """Few records are singled out by few keys. A missing key is a category of its own."""

    rule: Literal["suda"] = "suda"
    size: int = Field(default=3, ge=1, description="most keys that an intruder needs to single a record out")
    sampling_fraction: PositiveShare = Field(description="records per person of the population, more than 0")
    above: Share = Field(description="chance of a right match (DIS-SUDA score) above which a record is at risk")
    at_most: Share = Field(default=0, lt=1, description="share of the records that may be at risk, not percent")

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        scores = suda.suda([category_codes(frame[name]) for name in keys], self.size)
        measured = scores.share_at_risk(self.above, self.sampling_fraction)
        says = (
            f"{100 * measured.value:.3g} % of the {unit} are singled out by so few of {listed(keys)} that a match "
            f"would be right with a chance above {100 * self.above:.3g} %; the policy allows "
            f"{100 * self.at_most:.3g} %."
        )
        passes = measured.value <= self.at_most
        return [self.finding(passes, measured.value, self.at_most, len(frame), says, stage, ", ".join(keys))]

    def describe(self) -> str:
        return (
            f"At most {100 * self.at_most:.3g} % of the records are singled out by up to {self.size} keys with a "
            f"chance of a right match above {100 * self.above:.3g} % (SUDA)."
        )


class AttributeCombinations(OnKeys):
    """No set of a few keys makes many records rare. A missing key is a category of its own."""

    rule: Literal["attribute_combinations"] = "attribute_combinations"
    size: int = Field(default=3, ge=1, description="most keys that an intruder knows")
    k: int = Field(default=2, ge=2, description="a combination with fewer records is rare; 2: with one")
    at_most: Share = Field(default=0, lt=1, description="share of the records, not percent, for the worst set of keys")

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        found = attribute_combinations.attribute_combinations(
            [category_codes(frame[name]) for name in keys], self.size, self.k
        )
        observed, worst = found.share_below.value, [keys[at] for at in found.sets[found.worst()]]
        most = f", and most with {listed(worst)}" if observed else ""
        says = (
            f"Whoever knows up to {self.size:,} of {listed(keys)} puts {100 * observed:.3g} % of the {unit} in a group "
            f"of fewer than {self.k:,}{most}; the policy allows {100 * self.at_most:.3g} %."
        )
        return [
            self.finding(observed <= self.at_most, observed, self.at_most, len(frame), says, stage, ", ".join(keys))
        ]

    def describe(self) -> str:
        return (
            f"No set of up to {self.size:,} quasi-identifiers puts more than {100 * self.at_most:.3g} % of the records "
            f"in a group of fewer than {self.k:,} (attribute combinations)."
        )


class DeltaPresence(OnPopulation):
    """Nobody can be nearly sure that a person is in the file."""

    rule: Literal["delta_presence"] = "delta_presence"
    at_most: Share = Field(gt=0, lt=1, description="largest allowed chance that a person is in the file (delta max)")
    population: str | None = Field(
        default=None,
        min_length=1,
        description="path of a CSV as for k_map; when not given, sampling weights estimate the population",
    )

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        if self.population is not None:
            any_value = self.missing_matches == "any"
            inside = matching_frequencies(frame, keys) if any_value else classes_of(frame, keys).frequencies
            people = self.in_population(self.population, frame, variables, keys)
            observed = float(delta_presence.probability(inside, people).max())
        else:
            weights = with_role(variables, Role.WEIGHT)
            if len(weights) != 1 or self.missing_matches == "any":
                why = "The population is not known: name its list, or one variable with sampling weights"
                return [self.unknown(stage, f"{why} (and a missing key as a category).", len(frame))]
            weight = frame[weights[0]].to_numpy(dtype=np.float64, na_value=np.nan)
            observed = delta_presence.estimated_presence(classes_of(frame, keys), weight).delta_max.value
        by = "by the sampling weights" if self.population is None else "in the population"
        says = (
            f"Of the people with one combination of {listed(keys)}, {by}, up to {100 * observed:.3g} % are in the "
            f"file: so sure is whoever knows it of a person; the policy allows {100 * self.at_most:.3g} %."
        )
        passes = observed <= self.at_most + ROUNDING
        return [self.finding(passes, observed, self.at_most, len(frame), says, stage, ", ".join(keys))]

    def describe(self) -> str:
        return f"Nobody is in the file with a chance above {100 * self.at_most:.3g} % (delta-presence)."


class BetaLikeness(OnSensitiveVariables):
    """No sensitive value is much more likely within a group than in the file."""

    rule: Literal["beta_likeness"] = "beta_likeness"
    beta: float = Field(
        gt=0, allow_inf_nan=False, description="largest allowed (p - q) / q, p in a group, q in the file"
    )
    variant: Literal["basic", "enhanced"] = Field(
        default="enhanced", description="enhanced: at most -ln q as well, which protects frequent values"
    )

    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        codes = category_codes(distinguishable(column))
        gains = beta_likeness.largest_gain(classes, codes)
        failing = gains > self.beta + ROUNDING
        if self.variant == "enhanced":
            failing |= beta_likeness.largest_bounded_gain(classes, codes) > 1 + ROUNDING
        count = int(failing.sum())
        says = (
            f"In {groups(count, len(gains), unit)}, a value of {word(variable.name)} is more likely than in the whole "
            f"file by more than the policy allows, {100 * self.beta:.4g} %"
            + (" and less for frequent values" if self.variant == "enhanced" else "")
            + f" (most in any group: {100 * gains.max():.4g} %)."
        )
        return self.finding(not count, float(gains.max()), self.beta, len(column), says)

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, no value of {self.of_what} is more than {100 * self.beta:.4g} % likelier "
            f"than in the whole file ({self.variant} beta-likeness)."
        )


class DeltaDisclosure(OnSensitiveVariables):
    """No sensitive value is much more or much less likely within a group than in the file."""

    rule: Literal["delta_disclosure"] = "delta_disclosure"
    delta: float = Field(gt=0, allow_inf_nan=False, description="bound of |ln(p / q)|, p in a group, q in the file")
    absent_values: Literal["violate", "ignore"] = Field(
        default="violate", description="by the definition a value that a group lacks violates every delta"
    )

    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        codes = category_codes(distinguishable(column))
        ratios = delta_disclosure.log_ratios(classes, codes, self.absent_values == "violate")
        count, worst = int((ratios >= self.delta).sum()), float(ratios.max())
        says = (
            f"In {groups(count, len(ratios), unit)}, a value of {word(variable.name)} is {np.exp(self.delta):.4g} "
            "times or more as likely, or as unlikely, as in the whole file; the policy allows it in none."
        )
        # A group that lacks a value has no number that a report could hold.
        return self.finding(not count, worst if np.isfinite(worst) else None, self.delta, len(column), says)

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, every value of {self.of_what} is less than {np.exp(self.delta):.4g} times as "
            "likely or unlikely as in the whole file (delta-disclosure privacy)."
        )


class AlphaK(OnSensitiveVariables):
    """Groups of at least k records, in none of which a sensitive value is near certain."""

    rule: Literal["alpha_k"] = "alpha_k"
    alpha: Share = Field(gt=0, lt=1, description="largest allowed share of a sensitive value in a group")
    k: int = Field(ge=2, description="fewest records in a group")
    values: tuple[Label, ...] | None = Field(
        default=None, min_length=1, description="categories that are sensitive; every value, when not given"
    )

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        sizes = classes_of(frame, keys).sizes
        count, smallest = int((sizes < self.k).sum()), int(sizes.min())
        says = (
            f"{count:,} of {len(sizes):,} groups of {unit} that share {listed(keys)} are smaller than the policy asks, "
            f"{self.k:,}."
        )
        size = self.finding(not count, smallest, self.k, len(frame), says, stage, ", ".join(keys))
        return [size, *super().judge(frame, variables, keys, stage, unit)]

    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        column = distinguishable(column)
        shares = alpha_k.largest_share(classes, category_codes(column), self._codes(column, variable.name))
        count = int((shares > self.alpha + ROUNDING).sum())
        which = "a" if self.values is None else "a sensitive"
        says = (
            f"In {groups(count, len(shares), unit)}, more than {100 * self.alpha:.3g} % have the same value of "
            f"{word(variable.name)}, {which} value that others could then tell of them (most in any group: "
            f"{100 * shares.max():.4g} %); the policy allows it in none."
        )
        return self.finding(not count, float(shares.max()), self.alpha, len(column), says)

    def _codes(self, column: "pd.Series[Any]", name: str) -> "np.ndarray[Any, np.dtype[np.int64]] | None":
        if self.values is None:
            return None
        if not isinstance(column.dtype, pd.CategoricalDtype):
            raise DataError(
                f"alpha_k: 'values' names categories; '{name}' has none. Leave out values, or name columns."
            )
        codes = column.cat.categories.get_indexer(pd.Index(self.values))
        if (codes < 0).any():
            raise DataError(f"alpha_k: {(codes < 0).sum()} of 'values' are no categories of '{name}'.")
        return np.asarray(codes, dtype=np.int64)

    def describe(self) -> str:
        return (
            f"At least {self.k:,} records share their quasi-identifiers, and within {self.who_share} at most "
            f"{100 * self.alpha:.3g} % have the same value of {self.of_what} ((alpha,k)-anonymity)."
        )
