"""Linkage: the share of records that an intruder links to their own released record, by one attack a rule.

The intruder takes the nearest record, weighs on what two records agree, or knows the masking method and so the few
masked records that a known one can have become.
"""

from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from policies.reported_shares import disclosed_share
from policies.rules.attack_rule import RANKED, PairedRule, Window, ranks_or_numbers
from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.sentence import END, Saying, Sentence, Sentences
from sluice.ground.variables import Kind, Role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.attacks.attack_success import share_at_risk
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.coded_points import side_by_side
from sluice.risk.linkage.candidate_sets import CandidateSets, microaggregation_linkage, rank_swapping_linkage
from sluice.risk.linkage.probabilistic_linkage import agreement_values, probabilistic_linkage
from sluice.risk.linkage.record_linkage import (
    AT_ONCE,
    Distance,
    Links,
    linkage_coordinates,
    linkage_scenarios,
    record_linkage,
)
from sluice.risk.measurement import Measurement
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.reference.reference_attack import some_of
from sluice.risk.spread import spread
from sluice.utility.comparison import Comparison

_GROUPS = Sentence("microaggregation_linkage.groups", " that each of these was microaggregated by itself")

_WINDOW = Sentence("rank_swapping_linkage.window", " how far ranks were swapped ({window:g} % of the records)")

_WEIGHS = Sentence("probabilistic_linkage.agreement", " weighs on which of these two records agree")

Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_NEAREST = {
    "all": Sentence("distance_linkage.all", " takes the nearest"),
    "average": Sentence(
        "distance_linkage.average", " takes the nearest, on average over knowing the first to knowing all of these"
    ),
    "worst": Sentence("distance_linkage.worst", " takes the nearest by as many of these as serve best"),
}

_ALIKE = Sentence(
    "distance_linkage.alike",
    "; a link to {alike} or more {unit} whose released values are equal names nobody and is not counted",
)

_ONLY_ONE = Sentence("linkage.only_one", "; for {share:percent} it was the only one left")

_SAYS = Sentences(
    "linkage",
    linked="Among {completed:,} {unit}, {linked:percent} were linked to their own masked record by somebody who knows "
    "their {names:commas} and",
    not_compared=" Not compared: {left_out:commas}.",
    needs=" Give what the intruder knows in 'columns', or release the others so that they can be compared.",
)


class LinkageRule(PairedRule):
    """A rule on the share of records that are linked to their own released record."""

    records: int = Field(
        default=20_000, ge=1, description="original records attacked, drawn at random if there are more"
    )

    def attack(self, files: Comparison, names: list[str]) -> Finding:
        n = len(files.masked)
        rows = some_of(n, min(n, self.records), files.rng)
        measured, how = self.link(files, names, rows)
        linked = disclosed_share(measured.value, measured.completed, files.minimum_cell)
        says = _SAYS.linked(completed=measured.completed, unit=files.unit, linked=linked, names=names)
        says += how + END() + self._not_compared(files, names)
        finding = self.judge(measured, says, ", ".join(names), files.minimum_cell)
        if self._not_compared(files, names) and finding.verdict is not Verdict.FAIL and self._takes_any_kind:
            return finding.adding(_SAYS.needs()).model_copy(update={"verdict": Verdict.UNKNOWN})
        return finding

    @property
    def _takes_any_kind(self) -> bool:
        """Whether a variable that was not compared is a gap, and not of a kind that the attack is not made for."""
        return True

    @abstractmethod
    def link(self, files: Comparison, names: list[str], rows: IntArray) -> tuple[Measurement, Saying]:
        """The share linked, of the attacked rows, and how the intruder does it, to follow 'knows ... and'."""

    def _not_compared(self, files: Comparison, names: list[str]) -> Saying:
        """A sentence on released quasi-identifiers that the figure says nothing of."""
        left_out = [
            name
            for name, variable in files.variables.items()
            if variable.role is Role.QUASI_IDENTIFIER
            and name not in names
            and any(column == name or column.startswith(f"{name}=") for column in files.released)
        ]
        return _SAYS.not_compared(left_out=left_out) if left_out and self.columns is None else ()

    def _share_linked(self, correct: FloatArray, files: Comparison) -> Measurement:
        # Ties are shared, so that guessing finds one record in n whatever the data.
        return share_at_risk(correct, len(files.masked), baseline=1 / len(files.masked))


class CandidateRule(LinkageRule):
    """A rule on an intruder who knows the method, and so the few masked records that a known one can have become."""

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        return RANKED

    @property
    def _takes_any_kind(self) -> bool:
        return False

    def link(self, files: Comparison, names: list[str], rows: IntArray) -> tuple[Measurement, Saying]:
        original, masked = (ranks_or_numbers(files, names, which) for which in ("recoded", "masked"))
        found = self.candidates(original, masked, rows)
        sure = disclosed_share(float(((found.size == 1) & found.links.is_first).mean()), len(rows), files.minimum_cell)
        measured = self._share_linked(found.links.correct(), files)
        return measured, self._knows + _ONLY_ONE(share=sure)

    @abstractmethod
    def candidates(self, original: FloatArray, masked: FloatArray, rows: IntArray) -> CandidateSets:
        """The candidate sets of the attacked rows."""

    @property
    @abstractmethod
    def _knows(self) -> Saying:
        """What the intruder knows of the method, to follow 'knows ... and'."""


class DistanceLinkage(LinkageRule):
    """Few original records lie nearest to their own masked record."""

    rule: Literal["distance_linkage"] = "distance_linkage"
    example: ClassVar[str] = "{rule: distance_linkage, excess: 0.01}"
    about: ClassVar[str] = "Distance-based record linkage."
    source: ClassVar[str] = 'Source: Torra (2013), "Rank swapping: Example II" and "Experiments for IPSO-A,B,C".'
    advice: ClassVar[str] = (
        "Masked records lie nearest to their originals: swap or add noise over wider distances on the quasi-"
        "identifiers that the scope names, or microaggregate them in larger groups."
    )
    distance: Distance = Field(default="robust", description="how nearness is measured")
    scenario: Literal["all", "average", "worst"] = Field(
        default="all",
        description="all: the intruder knows all variables; average, worst: of intruders who know the first, the first "
        "two, and so on",
    )
    alike: int | None = Field(
        default=None,
        ge=2,
        exclude_if=lambda alike: alike is None,  # a policy without it stays the one that was adopted
        description="a link to at least this many people who are alike names nobody and does not count. Alike are "
        "those whose released values are equal, as far as the intruder knows them; a household is one of them. Not "
        "below the k of the policy's k_anonymity. When not given, a link to one of t that are equally near counts 1/t",
    )

    def link(self, files: Comparison, names: list[str], rows: IntArray) -> tuple[Measurement, Saying]:
        known = [
            linkage_coordinates(files.recoded[name], files.masked[name], files.released[name].kind) for name in names
        ]
        if self.scenario == "all":
            everything = [side_by_side([pair[side] for pair in known], AT_ONCE) for side in (0, 1)]
            scenarios = [record_linkage(everything[0], everything[1], self.distance, rows)]
        else:
            scenarios = linkage_scenarios(known, self.distance, rows)
        known_first = len(names) if self.scenario == "all" else 1
        correct = np.array(
            [self._naming(links, files, names[:count], rows) for count, links in enumerate(scenarios, known_first)]
        )
        chosen = correct[correct.mean(axis=1).argmax()] if self.scenario == "worst" else correct.mean(axis=0)
        how = _NEAREST[self.scenario]()
        if self.alike is not None:
            how += _ALIKE(alike=self.alike, unit=files.unit)
        return self._share_linked(chosen, files), how

    def _naming(self, links: Links, files: Comparison, names: list[str], rows: IntArray) -> FloatArray:
        """Success of each attacked record, shape (q,), 0 to 1; 0 where the own record stands in a crowd.

        The crowd is of equal released values, not of equal distances: what lies as near on another side, or is read
        as near because it is missing, is told apart by its values.
        """
        correct = links.correct()
        if self.alike is None:
            return correct
        crowd = classes_of(files.masked, names, groups_of_people(files.original, files.variables)).frequencies
        return np.where(crowd[rows] < self.alike, correct, 0.0)

    def describe(self) -> str:
        return (
            f"An intruder who knows {self._of_what} and takes the nearest masked record is seldom right "
            "(distance-based record linkage)."
        )


class ProbabilisticLinkage(LinkageRule):
    """Few original records are linked to their own masked record by the variables on which they agree."""

    rule: Literal["probabilistic_linkage"] = "probabilistic_linkage"
    example: ClassVar[str] = "{rule: probabilistic_linkage, excess: 0.01}"
    about: ClassVar[str] = "Probabilistic record linkage."
    source: ClassVar[str] = 'Source: Fellegi and Sunter (1969); Jaro (1989); Torra (2013), "Rank swapping: Example II".'
    advice: ClassVar[str] = (
        "Too many values agree with the original ones: categories that came through unchanged give the link away, so "
        "recode them or use PRAM, and move numbers by more than the tolerances."
    )
    records: int = Field(
        default=5_000, ge=1, description="original records attacked, drawn at random if there are more"
    )
    tolerances: Annotated[tuple[Tolerance, ...], Field(min_length=1)] = Field(
        default=(0.0, 0.05, 0.1, 0.2, 0.4),
        description="spreads (robust standard deviations) up to which two numbers or dates agree; the most successful "
        "one counts. Categories agree when they are equal",
    )

    def link(self, files: Comparison, names: list[str], rows: IntArray) -> tuple[Measurement, Saying]:
        kinds = [files.released[name].kind for name in names]
        pairs = [
            agreement_values(files.recoded[name], files.masked[name], kind)
            for name, kind in zip(names, kinds, strict=True)
        ]
        widths = np.array(
            [0.0 if kind.is_categorical else spread(before) for (before, _), kind in zip(pairs, kinds, strict=True)]
        )
        tried = self.tolerances if widths.any() else self.tolerances[:1]
        original, masked = (np.column_stack([pair[side] for pair in pairs]) for side in (0, 1))
        correct = (probabilistic_linkage(original, masked, share * widths, rows).correct for share in tried)
        return self._share_linked(max(correct, key=np.mean), files), _WEIGHS()

    def describe(self) -> str:
        return (
            f"An intruder who weighs on how much of {self._of_what} two records agree is seldom right "
            "(probabilistic record linkage)."
        )


class RankSwappingLinkage(CandidateRule):
    """Few records are found by an intruder who knows the window of rank swapping."""

    rule: Literal["rank_swapping_linkage"] = "rank_swapping_linkage"
    example: ClassVar[str] = "{rule: rank_swapping_linkage, window: 0.2, excess: 0.05}"
    about: ClassVar[str] = "Record linkage against rank swapping."
    source: ClassVar[str] = (
        'Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping"; Nin, Herranz and Torra '
        "(2008)."
    )
    advice: ClassVar[str] = (
        "Knowing the window narrows each record to a few candidates: use a variant of rank_swapping whose window is "
        "not a bound (p-distribution or p-buckets), widen the window, or swap fewer variables."
    )
    window: Window = Field(description="how far a value may have moved in rank: share of the records, not percent")

    def candidates(self, original: FloatArray, masked: FloatArray, rows: IntArray) -> CandidateSets:
        return rank_swapping_linkage(original, masked, self.window, rows)

    @property
    def _knows(self) -> Saying:
        return _WINDOW(window=100 * self.window)

    def describe(self) -> str:
        return (
            f"An intruder who knows {self._of_what} and that ranks were swapped over {100 * self.window:g} % of the "
            "records is seldom right (rank swapping record linkage)."
        )


class MicroaggregationLinkage(CandidateRule):
    """Few records are found by an intruder who knows that each variable was microaggregated by itself."""

    rule: Literal["microaggregation_linkage"] = "microaggregation_linkage"
    example: ClassVar[str] = "{rule: microaggregation_linkage, excess: 0.05}"
    about: ClassVar[str] = "Record linkage against microaggregation of single variables."
    source: ClassVar[str] = 'Source: Torra (2013), "Rank swapping record linkage (RS-RL)", Discussion.'
    advice: ClassVar[str] = (
        "Groups formed variable by variable intersect in single records: microaggregate the variables together with "
        "microaggregation instead of univariate_microaggregation, or use a larger k."
    )

    def candidates(self, original: FloatArray, masked: FloatArray, rows: IntArray) -> CandidateSets:
        return microaggregation_linkage(original, masked, rows)

    @property
    def _knows(self) -> Saying:
        return _GROUPS()

    def describe(self) -> str:
        return (
            f"An intruder who knows {self._of_what} and that each variable was microaggregated by itself is seldom "
            "right."
        )
