"""The reference standard: taking part must not cost a person more than staying out would have.

Source: 000_bbb18fa80793c128.txt, section II.A: a release is safe enough when the three prediction measures of the
original records are distributed no lower than they would be for a file of other people from the same population. That
file is a holdout, or for each record the original without it (leave-one-out). Added to the source: three answers
instead of one p-value, a floor under the number of records, and rules for the few records that a tolerated excess of
some per cent would hide.
"""

from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.stats import binom

from sluice.risk.coding import Coding, plain_values
from sluice.risk.copies import CopyCount, count_copies, exact_copies, unexplained_duplicates
from sluice.risk.curve import Curve, curve_grid, shares_at
from sluice.risk.equivalence_test import EquivalenceTest, equivalence_test
from sluice.risk.reference_attack import ReferenceAttack, attack, some_of
from sluice.risk.resolution import on_one_grid
from sluice.risk.row_groups import row_groups
from sluice.variables import Role, Variables
from sluice.verdict import Finding, Verdict

Column = npt.NDArray[Any]
Measure = Literal["distance", "ambiguity", "uncertainty"]

_MEASURES: tuple[Measure, ...] = ("distance", "ambiguity", "uncertainty")
_ADVANTAGE: dict[Measure, tuple[str, str]] = {  # what an intruder gains, and does not gain
    "distance": ("gets closer to it", "gets no closer to it"),
    "ambiguity": (
        "can tell the best match better from the next best ones",
        "can tell the best match no better from the next best ones",
    ),
    "uncertainty": (
        "finds best matches that agree more with each other",
        "finds best matches that agree no more with each other",
    ),
}
_MOST_COORDINATES = 600_000_000  # 5 GB; a file that is too large to be judged is not judged
_TIED = 1e-9  # distances that differ by no more are equal
NAMES_OF_GROUPS = (Role.HOUSEHOLD, Role.CONTRIBUTOR)
_LEAST_WEIGHT = 0.01  # of the largest; a variable that counts less is not compared in earnest
_UNREAD_SHARE = 0.001  # so few values that cannot be compared hide nobody; they count as if suppressed


class ReferenceStandard(BaseModel):
    """How the standard is applied, and what is tolerated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reference: Literal["leave_one_out", "holdout"] = "leave_one_out"
    holdout_share: float | None = Field(
        default=None, gt=0, lt=0.5, description="share of the records set aside before masking, never released"
    )
    neighbours: int = Field(default=5, ge=2, description="released records around a person that are looked at")
    margin: float = Field(default=0.05, ge=0, lt=1, description="tolerated excess, a share of the records")
    alpha: float = Field(default=0.05, gt=0, lt=0.5, description="an excess above the margin fails beyond this chance")
    binding: tuple[Measure, ...] = Field(
        default=("distance", "ambiguity"), min_length=1, description="measures that decide; the others are reported"
    )
    minimum_records: int = Field(default=1000, ge=1, description="fewer original or held-out records tell too little")
    when_fewer: Literal["unknown", "review", "judge"] = "unknown"
    tail_quantile: float = Field(default=0.01, gt=0, lt=0.5, description="the reference's closest records")
    tail_share: float = Field(default=0.02, gt=0, lt=1, description="share of records that may be closer than those")
    copies_excess: float = Field(
        default=0.002, ge=0, lt=1, description="share of records copied or nearly so, beyond the reference and chance"
    )
    records: int = Field(default=20_000, ge=1, description="at most so many original records, at random, are attacked")
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="how much a variable counts in the distance, 1 when not named"
    )

    finding_names: ClassVar[tuple[str, ...]] = (
        "reference_size",
        "comparable_values",
        *(f"prediction_{measure}" for measure in _MEASURES),
        "closest_records",
        "near_copies",
        "exact_copies",
        "duplicate_records",
        "lenient_standard",
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.reference == "holdout") != (self.holdout_share is not None):
            hint = "Give it, such as 0.25" if self.holdout_share is None else "Take it out, or write reference: holdout"
            raise ValueError(
                f"holdout_share and 'reference: holdout' belong together; got reference {self.reference} "
                f"{'without' if self.holdout_share is None else 'with'} holdout_share. {hint}"
            )
        if len(set(self.binding)) != len(self.binding):
            raise ValueError("binding names a measure twice")
        if self.tail_share < self.tail_quantile:
            raise ValueError(
                f"tail_share must be at least tail_quantile, {self.tail_quantile}: so many are that close in the "
                f"reference itself; got {self.tail_share}"
            )
        return self

    def describe(self) -> str:
        """The standard in one plain sentence."""
        other = (
            f"a file of other people ({self.holdout_share:.0%} of the records, set aside beforehand)"
            if self.holdout_share
            else "the same data without that person"
        )
        return (
            f"An intruder who knows a person's whole record may learn no more from the release than from {other}: by "
            f"prediction {' and '.join(self.binding)} among the {self.neighbours} nearest records, up to a difference "
            f"of {self.margin:.1%} of the people, and with no more copied records than chance and "
            f"{self.copies_excess:.1%}."
        )

    def judge(
        self,
        original: pd.DataFrame,
        recoded: pd.DataFrame,
        masked: pd.DataFrame,
        holdout: pd.DataFrame | None,
        variables: Variables,
        released: Variables,
        rng: np.random.Generator,
        minimum_cell: int = 10,
    ) -> tuple[list[Finding], list[Curve]]:
        """Attack the masked file and the reference, and compare.

        original     : typed by `variables`; any index, any order of rows
        recoded      : the same records in the same order after the recodings alone, typed by `released`
        masked       : typed by `released`, any number of rows in any order
        holdout      : typed by `variables`; None for leave-one-out
        rng          : draws the records attacked, and a part of the larger file where the sizes differ
        minimum_cell : no count of records below this is told
        raises       : DocumentError when a weight names no variable
        cost         : that of nearest_neighbours, twice, for at most `records` queries
        """
        held = holdout if self.reference == "holdout" else None
        size = self._judge_size(original, masked, held)
        # The attack needs one more record than it looks at: in the reference the person's own is left out.
        if size.completed == 0:
            return [size], []
        coding = Coding.fit(original, recoded, variables, released, self.weights)
        records = len(original) + len(masked) + (0 if held is None else len(held))
        if not 0 < records * coding.dimensions <= _MOST_COORDINATES:
            return [size, _incomparable(coding)], []
        released_points, unread = coding.released(masked)
        found = attack(
            coding.original(original),
            released_points,
            None if held is None else coding.original(held),
            self.neighbours,
            self.records,
            rng,
        )
        judged = [self._judge_measure(measure, found, size.verdict, minimum_cell) for measure in _MEASURES]
        findings = [
            size,
            _judge_reading(coding, unread, len(masked) * len(coding.names), self._unmeasured(released)),
            *(finding for finding, _ in judged),
            self._judge_closest(found, minimum_cell),
            self._judge_near_copies(found, minimum_cell),
            self._judge_exact_copies(*coding.labels(recoded, masked), rng, minimum_cell),
            _judge_duplicates(coding, original if held is None else pd.concat([original, held], ignore_index=True)),
            self._judge_leniency(),
        ]
        return findings, [curve for _, curve in judged if curve]

    def _unmeasured(self, released: Variables) -> list[str]:
        """Released variables that the comparison passes over: names of groups, and those that hardly weigh."""
        largest = max((self.weights.get(name, 1.0) for name in released), default=1.0)
        return [
            name
            for name, variable in released.items()
            if variable.role in NAMES_OF_GROUPS or self.weights.get(name, 1.0) < _LEAST_WEIGHT * largest
        ]

    def _judge_leniency(self) -> Finding:
        """What this policy tolerates beyond all with which the standard could still be said to hold."""
        lenient = [
            says
            for is_so, says in (
                (self.margin > 0.1, f"margin {self.margin:g}"),
                (self.tail_share > 0.1, f"tail_share {self.tail_share:g}"),
                (self.tail_quantile < 0.001, f"tail_quantile {self.tail_quantile:g}"),
                (self.copies_excess > 0.1, f"copies_excess {self.copies_excess:g}"),
                (self.minimum_records < 100, f"minimum_records {self.minimum_records}"),
                (self.records < self.minimum_records, f"only {self.records} people are attacked"),
                (self.when_fewer == "judge", "a file of fewer records is judged all the same"),
                ("distance" not in self.binding, "the prediction distance does not decide"),
            )
            if is_so
        ]
        verdict, says = Verdict.PASS, "The policy's own settings do not undo the standard."
        if lenient:
            verdict = Verdict.REVIEW
            says = f"The policy's own settings leave little of the standard: {'; '.join(lenient)}."
        return Finding(rule="lenient_standard", verdict=verdict, says=says, stage="reference")

    def _judge_size(self, original: pd.DataFrame, masked: pd.DataFrame, held: pd.DataFrame | None) -> Finding:
        counts = {"original": len(original)}
        if self.reference == "holdout":
            counts["held-out"] = 0 if held is None else len(held)
        which, fewest = min(counts.items(), key=lambda item: item[1])
        possible = min(fewest, len(masked)) > self.neighbours
        if not possible:
            verdict, says = Verdict.UNKNOWN, "There are too few records to compare the release with a reference at all."
        elif fewest >= self.minimum_records:
            verdict, says = Verdict.PASS, f"There are enough {which} records for the comparison to tell something."
        else:
            verdict = {"unknown": Verdict.UNKNOWN, "review": Verdict.REVIEW, "judge": Verdict.PASS}[self.when_fewer]
            says = (
                f"There are {fewest:,} {which} records, fewer than the {self.minimum_records:,} below which chance "
                "decides whether a release meets the reference standard."
                f"{' A larger holdout_share sets more aside.' if which == 'held-out' else ''}"
            )
        return Finding(
            rule="reference_size", verdict=verdict, says=says, stage="reference", observed=fewest,
            limit=self.minimum_records, attempted=fewest, completed=fewest if possible else 0,
        )  # fmt: skip

    def _judge_measure(
        self, measure: Measure, found: ReferenceAttack, size: Verdict, minimum_cell: int
    ) -> tuple[Finding, Curve | None]:
        release, reference = getattr(found.released, measure), getattr(found.reference, measure)
        binding, margin = measure in self.binding, self.margin * found.sampled
        test = equivalence_test(release, reference, margin, self.alpha)
        verdict, says = test.verdict, _say(measure, test, margin)
        # Few records prove no release safe; an excess that is beyond chance in spite of them counts.
        if size > verdict and verdict is not Verdict.FAIL:
            verdict, says = size, f"{says} Of so few records this proves nothing."
        if measure == "uncertainty" and np.mean(release == 0) > 0.99 and np.mean(reference == 0) < 0.5:
            verdict = Verdict.UNKNOWN if binding else Verdict.REVIEW
            says = (
                "The released records nearest to a person are copies of one another, by construction of the masking. "
                "This measure then says nothing of whether the person's values are safe: who finds the right group "
                "reads its values without any doubt."
            )
        finding = Finding(
            rule=f"prediction_{measure}", verdict=verdict, says=says, stage="reference", observed=test.statistic,
            limit=margin, attempted=found.records, completed=found.attacked, binding=binding,
        )  # fmt: skip
        grid = curve_grid(release, reference, minimum_cell)
        if not grid:
            return finding, None
        curve = Curve(
            measure=measure, grid=grid, masked=shares_at(release, grid), reference=shares_at(reference, grid),
            statistic=test.statistic, at=min(grid, key=lambda value: abs(value - test.at)), margin=margin,
            p_value=test.p_value, verdict=verdict, binding=binding,
        )  # fmt: skip
        return finding, curve

    def _judge_closest(self, found: ReferenceAttack, minimum_cell: int) -> Finding:
        """The tail of the distance curve, where the margin would hide the people who are hit hardest."""
        close = np.quantile(found.reference.distance, self.tail_quantile / found.size_ratio)
        count = int((found.whole < close - _TIED).sum())
        limit = self.tail_quantile + (self.tail_share - self.tail_quantile) * found.sampled
        if count <= limit * found.attacked:
            verdict = Verdict.PASS
        else:
            by_chance = binom.sf(count - 1, found.attacked, limit) >= self.alpha
            verdict = Verdict.REVIEW if by_chance else Verdict.FAIL
        share, said = _tellable(count, found.attacked, minimum_cell)
        return Finding(
            rule="closest_records", verdict=verdict,
            says=f"{said} of the people have a released record closer to them than the closest "
            f"{self.tail_quantile:.1%} would find in a file they are not in; {limit:.1%} may.",
            stage="reference", observed=share, limit=limit, attempted=found.records, completed=found.attacked,
        )  # fmt: skip

    def _judge_near_copies(self, found: ReferenceAttack, minimum_cell: int) -> Finding:
        # Near is half as far as the closest of the reference, natural twins apart: chance hardly brings anybody there.
        apart = found.reference.distance[found.reference.distance > _TIED]
        near = float(np.quantile(apart, self.tail_quantile / found.size_ratio)) / 2 if len(apart) else 0.0
        count = count_copies(found.whole <= near + _TIED, found.reference.distance <= near + _TIED, found.size_ratio)
        how = "have a nearly equal record in the release"
        return self.judge_copies("near_copies", how, count, found.sampled, found.records, minimum_cell)

    def _judge_exact_copies(
        self, recoded: list[Column], masked: list[Column], rng: np.random.Generator, minimum_cell: int
    ) -> Finding:
        # Over all records. The reference is other people's records of the original even where there is a holdout, which
        # has no recoded form: both hold as many natural twins.
        n, m = len(recoded[0]), len(masked[0])
        pairs = [on_one_grid(before, after) for before, after in zip(recoded, masked, strict=True)]
        recoded, masked = [before for before, _ in pairs], [after for _, after in pairs]
        count = count_copies(*exact_copies(recoded, masked, some_of(n, min(n, m), rng)), m / n)
        how = "stand in the release value for value"
        return self.judge_copies("exact_copies", how, count, min(1.0, m / n), n, minimum_cell)

    def judge_copies(
        self, rule: str, how: str, count: CopyCount, sampled: float, records: int, minimum_cell: int
    ) -> Finding:
        """Whether there are more copies than chance and the policy allow."""
        tolerated = self.copies_excess * sampled
        share, said = _tellable(count.found, count.records, minimum_cell)
        return Finding(
            rule=rule, verdict=Verdict.PASS if count.excess <= tolerated else Verdict.FAIL,
            says=f"{said} of the people {how}; {count.expected:.2%} would have such a twin in a file they are not in, "
            f"and chance and policy allow {count.chance + tolerated:.2%} more.",
            stage="reference", observed=share, limit=min(1.0, count.expected + count.chance + tolerated),
            attempted=records, completed=count.records,
        )  # fmt: skip


def _say(measure: Measure, test: EquivalenceTest, margin: float) -> str:
    gains, gains_nothing = _ADVANTAGE[measure]
    intruder, than = "An intruder who knows a person's true record", "than with a file the person is not in"
    excess = f"{test.statistic:.1%}"
    if test.verdict is Verdict.UNKNOWN:
        return f"The prediction {measure} could not be computed for every record, so the release cannot be compared."
    if test.verdict is Verdict.PASS:
        return (
            f"{intruder} {gains_nothing} with this release {than}: the difference concerns at most {excess} of the "
            f"people; {margin:.1%} is tolerated."
        )
    if test.verdict is Verdict.REVIEW:
        return (
            f"{intruder} perhaps {gains} with this release {than}: the difference concerns up to {excess} of the "
            f"people, more than the {margin:.1%} tolerated but not beyond chance."
        )
    return (
        f"{intruder} {gains} with this release {than}: the prediction {measure} is at most {test.at:.3g} for "
        f"{test.release_share:.1%} of the people, against {test.reference_share:.1%} there; a difference of at most "
        f"{margin:.1%} is tolerated."
    )


def _tellable(count: int, n: int, minimum_cell: int) -> tuple[float | None, str]:
    """A share as a number and in words; of a few people only that they are few."""
    return (None, f"Fewer than {minimum_cell}") if 0 < count < minimum_cell else (count / n, f"{count / n:.2%}")


def _incomparable(coding: Coding) -> Finding:
    says = "The files are too large to be compared record by record."
    if not coding.dimensions:
        says = "No released variable can be compared with the original data."
    return Finding(rule="comparable_values", verdict=Verdict.UNKNOWN, says=says, stage="reference", completed=0)


def _judge_reading(coding: Coding, unread: int, values: int, passed_over: list[str]) -> Finding:
    if unread > _UNREAD_SHARE * values:
        verdict = Verdict.UNKNOWN
        says = "Released labels occur that stand for no original record, so what they tell cannot be measured."
    elif unmeasured := list(dict.fromkeys([*coding.left_out, *passed_over])):
        verdict = Verdict.REVIEW
        says = f"Nobody has measured what these released variables tell of a person: {', '.join(unmeasured)}."
    else:
        verdict, says = Verdict.PASS, "All released variables can be compared with the original ones."
    return Finding(
        rule="comparable_values", verdict=verdict, says=says, stage="reference", observed=unread / values,
        limit=_UNREAD_SHARE, attempted=values, completed=values - unread,
    )  # fmt: skip


def _judge_duplicates(coding: Coding, records: pd.DataFrame) -> Finding:
    duplicates = unexplained_duplicates(row_groups(plain_values(records[name]) for name in coding.names).size)
    if duplicates.unexplained:
        says = (
            "More original records are equal in all released variables than different people would be. Where a person "
            "stands twice, the reference holds that person too and cannot tell whether the release is safe."
        )
    else:
        says = "No more original records are equal in all released variables than different people can be."
    return Finding(
        rule="duplicate_records", verdict=Verdict.UNKNOWN if duplicates.unexplained else Verdict.PASS, says=says,
        stage="reference", observed=duplicates.share, attempted=len(records), completed=len(records),
    )  # fmt: skip
