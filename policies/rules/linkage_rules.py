"""Rules on linkage: how many people an intruder finds in the masked file, knowing some of their original values."""

from abc import abstractmethod
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from policies.original_and_masked import OriginalAndMasked
from policies.rules.attack_rule import AttackRule
from sluice.errors import DataError, did_you_mean
from sluice.risk.linkage import interval_disclosure as intervals
from sluice.risk.linkage.candidate_sets import CandidateSets
from sluice.risk.linkage.microaggregation_linkage import microaggregation_linkage
from sluice.risk.linkage.probabilistic_linkage import agreement_values, probabilistic_linkage
from sluice.risk.linkage.rank_swapping_linkage import rank_swapping_linkage
from sluice.risk.linkage.record_linkage import Distance, linkage_coordinates, linkage_scenarios
from sluice.risk.linkage.share_at_risk import share_at_risk
from sluice.risk.measurement import Measurement
from sluice.risk.reference.reference_attack import some_of
from sluice.variables import Kind, Role
from sluice.verdict import Finding

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_RANKED = (Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL)
_COMPARABLE = tuple(kind for kind in Kind if kind is not Kind.TEXT)

Columns = Annotated[tuple[str, ...], Field(min_length=1)]
Window = Annotated[float, Field(gt=0, le=1)]


class _PairedRule(AttackRule):
    """A rule that needs to know which masked record is whose, to tell a right link from a wrong one."""

    columns: Columns | None = Field(
        default=None, description="what the intruder knows; all quasi-identifiers that can be compared, when not given"
    )

    def find(self, files: OriginalAndMasked) -> list[Finding]:
        if not files.paired:
            return [
                self.unknown("The masked rows belong to nobody, so no link can be right or wrong.", len(files.masked))
            ]
        if not len(files.recoded) == len(files.masked):
            raise DataError(
                f"{self.rule} compares record by record; got {len(files.recoded):,} original and "
                f"{len(files.masked):,} masked records."
            )
        names = self._known(files)
        if not names:
            return [self.unknown(f"The release has no variable that {self._needs}.", len(files.masked))]
        if not len(files.masked):
            return [self.unknown(f"The files hold no {files.unit}.")]
        return [self.attack(files, names)]

    @abstractmethod
    def attack(self, files: OriginalAndMasked, names: list[str]) -> Finding:
        """The finding on paired files with at least one record and one variable."""

    def _known(self, files: OriginalAndMasked) -> list[str]:
        """The variables that are compared: those named, or all fit ones in the roles that the rule looks at."""
        if self.columns is None:
            return [
                name
                for name, variable in files.variables.items()
                if variable.role in self._roles
                and name in files.released
                and files.released[name].kind in self._kinds
                and not files.recoded[name].isna().all()
            ]
        for name in self.columns:
            if name not in files.variables or name not in files.released:
                raise DataError(
                    f"columns of {self.rule} must be in the original and the release; '{name}' is not."
                    f"{did_you_mean(name, files.released)}"
                )
            if files.released[name].kind not in self._kinds:
                raise DataError(
                    f"columns of {self.rule} must be {', '.join(self._kinds)}; '{name}' is released as "
                    f"{files.released[name].kind}."
                )
        return list(self.columns)

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        return _COMPARABLE

    @property
    def _roles(self) -> tuple[Role, ...]:
        return (Role.QUASI_IDENTIFIER,)

    @property
    def _needs(self) -> str:
        return f"is a quasi-identifier and {' or '.join(self._kinds)}"

    @property
    def _of_what(self) -> str:
        return "the quasi-identifiers" if self.columns is None else ", ".join(self.columns)


class _LinkageRule(_PairedRule):
    """A rule on the share of records that are linked to their own released record."""

    records: int = Field(
        default=20_000, ge=1, description="original records that are attacked, drawn at random when there are more"
    )

    def attack(self, files: OriginalAndMasked, names: list[str]) -> Finding:
        n = len(files.masked)
        rows = some_of(n, min(n, self.records), files.rng)
        measured, how = self.link(files, names, rows)
        linked = _share(measured.value, measured.completed, files.minimum_cell)
        says = (
            f"Of {measured.completed:,} {files.unit}, {linked} were linked to their own masked record by somebody "
            f"who knows their {', '.join(names)} and {how}.{self._not_compared(files, names)}"
        )
        return self.judge(measured, says, scope=", ".join(names))

    @abstractmethod
    def link(self, files: OriginalAndMasked, names: list[str], rows: IntArray) -> tuple[Measurement, str]:
        """The share linked, of the attacked rows, and how the intruder does it, to follow 'knows ... and'."""

    def _not_compared(self, files: OriginalAndMasked, names: list[str]) -> str:
        """A sentence on released quasi-identifiers that the figure says nothing of."""
        left_out = [
            name
            for name, variable in files.variables.items()
            if variable.role is Role.QUASI_IDENTIFIER
            and name not in names
            and any(column == name or column.startswith(f"{name}=") for column in files.released)
        ]
        return f" Not compared: {', '.join(left_out)}." if left_out and self.columns is None else ""

    def _share_linked(self, correct: FloatArray, files: OriginalAndMasked) -> Measurement:
        # Ties are shared, so that guessing finds one record in n whatever the data.
        return share_at_risk(correct, len(files.masked), baseline=1 / len(files.masked))


class DistanceLinkage(_LinkageRule):
    """Few original records lie nearest to their own masked record."""

    rule: Literal["distance_linkage"] = "distance_linkage"
    distance: Distance = Field(default="each_standardised", description="how nearness is measured")
    scenario: Literal["all", "average", "worst"] = Field(
        default="all",
        description="all: the intruder knows all variables; average, worst: over intruders who know the first, the "
        "first two, and so on to all, in the order of the columns",
    )

    def link(self, files: OriginalAndMasked, names: list[str], rows: IntArray) -> tuple[Measurement, str]:
        known = [
            linkage_coordinates(files.recoded[name], files.masked[name], files.released[name].kind) for name in names
        ]
        if self.scenario == "all":
            known = [(np.hstack([pair[0] for pair in known]), np.hstack([pair[1] for pair in known]))]
        correct = np.array([links.correct() for links in linkage_scenarios(known, self.distance, rows)])
        how = {
            "all": "takes the nearest",
            "average": "takes the nearest, on average over knowing the first to knowing all of these",
            "worst": "takes the nearest by as many of these as serve best",
        }[self.scenario]
        chosen = correct[correct.mean(axis=1).argmax()] if self.scenario == "worst" else correct.mean(axis=0)
        return self._share_linked(chosen, files), how

    def describe(self) -> str:
        return (
            f"An intruder who knows {self._of_what} and takes the nearest masked record is seldom right "
            "(distance-based record linkage)."
        )


class ProbabilisticLinkage(_LinkageRule):
    """Few original records are linked to their own masked record by the variables on which they agree."""

    rule: Literal["probabilistic_linkage"] = "probabilistic_linkage"
    records: int = Field(
        default=5_000, ge=1, description="original records that are attacked, drawn at random when there are more"
    )
    tolerance: float = Field(
        default=0.2,
        ge=0,
        allow_inf_nan=False,
        description="standard deviations up to which two numbers or dates agree; categories agree when they are equal",
    )

    def link(self, files: OriginalAndMasked, names: list[str], rows: IntArray) -> tuple[Measurement, str]:
        kinds = [files.released[name].kind for name in names]
        pairs = [
            agreement_values(files.recoded[name], files.masked[name], kind)
            for name, kind in zip(names, kinds, strict=True)
        ]
        tolerance = np.array(
            [
                0.0 if kind.is_categorical or np.isnan(before).all() else self.tolerance * float(np.nanstd(before))
                for (before, _), kind in zip(pairs, kinds, strict=True)
            ]
        )
        original, masked = (np.column_stack([pair[side] for pair in pairs]) for side in (0, 1))
        links = probabilistic_linkage(original, masked, tolerance, rows)
        return self._share_linked(links.correct, files), "weighs on which of these two records agree"

    def describe(self) -> str:
        return (
            f"An intruder who weighs on how much of {self._of_what} two records agree is seldom right "
            "(probabilistic record linkage)."
        )


class _CandidateRule(_LinkageRule):
    """A rule on an intruder who knows the method, and so the few masked records that a known one can have become."""

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        return _RANKED

    def link(self, files: OriginalAndMasked, names: list[str], rows: IntArray) -> tuple[Measurement, str]:
        original, masked = (_ranks_or_numbers(files, names, which) for which in ("recoded", "masked"))
        found = self.candidates(original, masked, rows)
        sure = _share(float(((found.size == 1) & found.links.is_first).mean()), len(rows), files.minimum_cell)
        measured = self._share_linked(found.links.correct(), files)
        return measured, f"{self._knows}; for {sure} it was the only one left"

    @abstractmethod
    def candidates(self, original: FloatArray, masked: FloatArray, rows: IntArray) -> CandidateSets:
        """The candidate sets of the attacked rows."""

    @property
    @abstractmethod
    def _knows(self) -> str:
        """What the intruder knows of the method, to follow 'knows ... and'."""


class RankSwappingLinkage(_CandidateRule):
    """Few records are found by an intruder who knows the window of rank swapping."""

    rule: Literal["rank_swapping_linkage"] = "rank_swapping_linkage"
    window: Window = Field(description="how far a value may have moved in rank: share of the records, not percent")

    def candidates(self, original: FloatArray, masked: FloatArray, rows: IntArray) -> CandidateSets:
        return rank_swapping_linkage(original, masked, self.window, rows)

    @property
    def _knows(self) -> str:
        return f"how far ranks were swapped ({100 * self.window:g} % of the records)"

    def describe(self) -> str:
        return (
            f"An intruder who knows {self._of_what} and that ranks were swapped over {100 * self.window:g} % of the "
            "records is seldom right (rank swapping record linkage)."
        )


class MicroaggregationLinkage(_CandidateRule):
    """Few records are found by an intruder who knows that each variable was microaggregated by itself."""

    rule: Literal["microaggregation_linkage"] = "microaggregation_linkage"

    def candidates(self, original: FloatArray, masked: FloatArray, rows: IntArray) -> CandidateSets:
        return microaggregation_linkage(original, masked, rows)

    @property
    def _knows(self) -> str:
        return "that each of these was microaggregated by itself"

    def describe(self) -> str:
        return (
            f"An intruder who knows {self._of_what} and that each variable was microaggregated by itself is seldom "
            "right."
        )


class IntervalDisclosure(_PairedRule):
    """Few original values lie in a narrow interval around their masked value."""

    rule: Literal["interval_disclosure"] = "interval_disclosure"
    columns: Columns | None = Field(
        default=None, description="numbers and ordinal categories; all quasi-identifiers and sensitive ones by default"
    )
    by: Literal["rank", "standard_deviation"] = Field(
        default="rank", description="what the widths are shares of: the records in order, or a standard deviation"
    )
    widths: Annotated[tuple[Window, ...], Field(min_length=1)] = Field(
        default=intervals.WIDTHS, description="half widths of the intervals over which the share is averaged, in (0, 1]"
    )

    def attack(self, files: OriginalAndMasked, names: list[str]) -> Finding:
        original, masked = (_ranks_or_numbers(files, names, which) for which in ("recoded", "masked"))
        measured = intervals.interval_disclosure(original, masked, self.by, self.widths)
        if not measured.completed:
            return self.unknown(
                "No value is present both before and after masking.", measured.attempted, ", ".join(names)
            )
        share = _share(measured.value, measured.completed, files.minimum_cell)
        says = (
            f"{share[0].upper()}{share[1:]} of the original values of {', '.join(names)} lie in a narrow interval "
            f"around their masked value ({self._interval})."
        )
        return self.judge(measured, says, scope=", ".join(names))

    @property
    def _interval(self) -> str:
        of = "the records in order" if self.by == "rank" else "a standard deviation"
        low, high = 100 * min(self.widths), 100 * max(self.widths)
        return f"{low:g} % of {of} to either side" if low == high else f"{low:g} to {high:g} % of {of} to either side"

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        return _RANKED

    @property
    def _roles(self) -> tuple[Role, ...]:
        return (Role.QUASI_IDENTIFIER, Role.SENSITIVE)

    @property
    def _needs(self) -> str:
        return "is a quasi-identifier or sensitive, and a number or ordinal"

    def describe(self) -> str:
        what = "quasi-identifiers and sensitive variables" if self.columns is None else ", ".join(self.columns)
        return f"Few original values of {what} lie near their masked value ({self._interval}; interval disclosure)."


def _ranks_or_numbers(files: OriginalAndMasked, names: list[str], which: Literal["recoded", "masked"]) -> FloatArray:
    """Numbers, and ordinal categories by position, shape (n, len(names)), NaN where missing."""
    frame = getattr(files, which)
    columns = []
    for name in names:
        if files.released[name].kind is Kind.ORDINAL:
            codes = frame[name].cat.codes.to_numpy().astype(np.float64)
            columns.append(np.where(codes < 0, np.nan, codes))
        else:
            columns.append(frame[name].to_numpy(np.float64, na_value=np.nan))
    return np.column_stack(columns)


def _share(share: float, of: int, minimum_cell: int) -> str:
    """A share in words that does not tell a small count."""
    if of and 0 <= share * of < minimum_cell:
        return f"at most {100 * min(1.0, minimum_cell / of):.2g} %"
    return f"{100 * share:.3g} %"
