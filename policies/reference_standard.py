"""The reference standard: taking part must not cost a person more than staying out would have.

Source: 000_bbb18fa80793c128.txt, section II.A: a release is safe enough when the three prediction measures of the
original records are distributed no lower than they would be for a file of other people from the same population. That
file is a holdout, or for each record the original without it (leave-one-out). Added to the source: three answers
instead of one p-value, a floor under the number of records, and rules for the few records that a tolerated excess of
some per cent would hide.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.stats import binom

from sluice.risk.coding import Coding, plain_values
from sluice.risk.copies import CopyCount, count_copies, exact_copies, unexplained_duplicates
from sluice.risk.curve import Curve, curve_grid, shares_at
from sluice.risk.equivalence_test import DECIMALS, EquivalenceTest, equivalence_test
from sluice.risk.prediction import Prediction, prediction
from sluice.risk.row_groups import row_groups
from sluice.variables import Variables
from sluice.verdict import Finding, Verdict

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Measure = Literal["distance", "ambiguity", "uncertainty"]

_MEASURES: tuple[Measure, ...] = ("distance", "ambiguity", "uncertainty")
_ADVANTAGE: dict[Measure, str] = {
    "distance": "gets closer to it",
    "ambiguity": "can tell the best match better from the next best ones",
    "uncertainty": "finds best matches that agree more with each other",
}
_MOST_COORDINATES = 600_000_000  # 5 GB; a file that is too large to be judged is not judged
_UNREAD_SHARE = 0.001  # so few values that cannot be compared hide nobody; they count as if suppressed


@dataclass(frozen=True)
class _Attack:
    """What the attacks on the released file and on the reference found, a value a record attacked."""

    rows: IntArray  # (n,) the original records attacked
    released: Prediction  # a released file of the reference's size
    whole: FloatArray  # (n,) prediction distance to all released records
    reference: Prediction
    reference_rows: IntArray  # the rows that make up the reference
    size_ratio: float  # all released records / records of the reference, at least 1
    sampled: float  # all released records / original records, at most 1


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
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.reference == "holdout") != (self.holdout_share is not None):
            raise ValueError(
                "holdout_share belongs to 'reference: holdout' and must then be given; "
                f"got reference {self.reference}, holdout_share {self.holdout_share}"
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
            f"prediction {' and '.join(self.binding)} over {self.neighbours} nearest records, for all but "
            f"{self.margin:.3g} of the records, and with no copies of records beyond chance and "
            f"{self.copies_excess:.2%}."
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
        smallest = min(len(original), len(masked), len(original) if held is None else len(held))
        if smallest <= self.neighbours or (self.reference == "holdout" and held is None):
            return [size], []
        coding = Coding.fit(original, recoded, variables, released, self.weights)
        everything = (len(original) + len(masked) + (0 if held is None else len(held))) * coding.dimensions
        if not 0 < everything <= _MOST_COORDINATES:
            return [size, _incomparable(coding.dimensions)], []
        points, (released_points, unread) = coding.original(original), coding.released(masked)
        attack = self._attack(points, released_points, None if held is None else coding.original(held), rng)
        findings, curves = [size], []
        for measure in _MEASURES:
            finding, curve = self._judge_measure(measure, attack, len(original), size.verdict, minimum_cell)
            findings.append(finding)
            curves += [curve] if curve else []
        findings += [
            _judge_reading(unread, len(masked) * len(coding.names)),
            self._judge_tail(attack, len(original), minimum_cell),
            self._judge_near_copies(attack, len(original), minimum_cell),
            self._judge_exact_copies(
                [plain_values(recoded[name]) for name in coding.names],
                [plain_values(masked[name]) for name in coding.names],
                rng,
                minimum_cell,
            ),
            _judge_duplicates(
                [
                    plain_values(original[name] if held is None else pd.concat([original[name], held[name]]))
                    for name in coding.names
                ]
            ),
        ]
        return findings, curves

    def _attack(
        self, points: FloatArray, released: FloatArray, held: FloatArray | None, rng: np.random.Generator
    ) -> _Attack:
        n, m = len(points), len(released)
        rows = np.arange(n) if n <= self.records else np.sort(rng.choice(n, self.records, replace=False))
        others = points if held is None else held
        # In a larger file every record has a nearer neighbour by its size alone. The curves therefore compare files of
        # equal size: of the larger one a random part. Copies must not hide in the part left out; the rules for the few
        # look at all released records and take the sizes into account.
        size = min(m, len(others))
        reference_rows = _part(len(others), size, rng)
        own_row = None
        if held is None:
            place = np.full(n, -1)
            place[reference_rows] = np.arange(size)
            own_row = place[rows]
        whole = prediction(points[rows], released, self.neighbours)
        part = whole
        if m > size:
            part = prediction(points[rows], released[_part(m, size, rng)], self.neighbours)
        return _Attack(
            rows=rows,
            released=part,
            whole=np.round(whole.distance, DECIMALS),
            reference=prediction(points[rows], others[reference_rows], self.neighbours, own_row),
            reference_rows=reference_rows,
            size_ratio=m / size,
            # Of a file of half the records at most half the people can be hit: what is tolerated shrinks with it.
            sampled=min(1.0, m / n),
        )

    def _judge_size(self, original: pd.DataFrame, masked: pd.DataFrame, held: pd.DataFrame | None) -> Finding:
        counts = {"original": len(original)}
        if self.reference == "holdout":
            counts["held-out"] = 0 if held is None else len(held)
        which, fewest = min(counts.items(), key=lambda item: item[1])
        if fewest <= self.neighbours or len(masked) <= self.neighbours:
            verdict, says = Verdict.UNKNOWN, "There are too few records to compare the release with a reference at all."
        elif fewest >= self.minimum_records:
            verdict, says = Verdict.PASS, f"There are enough {which} records for the comparison to tell something."
        else:
            verdict = {"unknown": Verdict.UNKNOWN, "review": Verdict.REVIEW, "judge": Verdict.PASS}[self.when_fewer]
            says = (
                f"There are fewer {which} records than the {self.minimum_records:,} below which chance alone decides "
                "whether a release meets the reference standard."
            )
        return Finding(
            rule="reference_size", verdict=verdict, says=says, stage="reference", observed=fewest,
            limit=self.minimum_records,
        )  # fmt: skip

    def _judge_measure(
        self, measure: Measure, attack: _Attack, records: int, size: Verdict, minimum_cell: int
    ) -> tuple[Finding, Curve | None]:
        release, reference = getattr(attack.released, measure), getattr(attack.reference, measure)
        margin = self.margin * attack.sampled
        test = equivalence_test(release, reference, margin, self.alpha)
        # Few records prove no release safe, but an excess that is beyond chance in spite of them counts.
        verdict = size if test.verdict is Verdict.PASS else test.verdict
        says = _say(measure, test, margin)
        # k copies of one record in place of each group: the k nearest agree by construction, whatever the data.
        if measure == "uncertainty" and np.mean(release == 0) > 0.99 and np.mean(reference == 0) < 0.5:
            verdict = Verdict.UNKNOWN if measure in self.binding else Verdict.REVIEW
            says = (
                "The released records nearest to a person are copies of one another by construction of the masking, so "
                "this measure cannot tell whether the person's values are safe: whoever reaches the right group reads "
                "its values without any doubt."
            )
        finding = Finding(
            rule=f"prediction_{measure}", verdict=verdict, says=says, stage="reference", observed=test.statistic,
            limit=margin, attempted=records, completed=len(attack.rows), binding=measure in self.binding,
        )  # fmt: skip
        grid = curve_grid(release, reference, minimum_cell)
        if not grid:
            return finding, None
        curve = Curve(
            measure=measure,
            grid=grid,
            masked=shares_at(release, grid),
            reference=shares_at(reference, grid),
            statistic=test.statistic,
            at=min(grid, key=lambda value: abs(value - test.at)),
            margin=margin,
            p_value=test.p_value,
            verdict=verdict,
            binding=measure in self.binding,
        )
        return finding, curve

    def _judge_tail(self, attack: _Attack, records: int, minimum_cell: int) -> Finding:
        reference = np.round(attack.reference.distance, DECIMALS)
        close = float(np.quantile(reference, self.tail_quantile / attack.size_ratio))
        count, n = int((attack.whole < close).sum()), len(attack.rows)
        limit = self.tail_quantile + (self.tail_share - self.tail_quantile) * attack.sampled
        if count / n <= limit:
            verdict = Verdict.PASS
        else:
            verdict = Verdict.FAIL if binom.sf(count - 1, n, limit) < self.alpha else Verdict.REVIEW
        return Finding(
            rule="closest_records",
            verdict=verdict,
            says=f"{_share(count, n, minimum_cell)} of the records have a released record closer to them than the "
            f"closest {self.tail_quantile:.1%} would find in a file they are not in; at most {limit:.1%} may.",
            stage="reference", observed=_observed(count, n, minimum_cell), limit=limit, attempted=records, completed=n,
        )  # fmt: skip

    def _judge_near_copies(self, attack: _Attack, records: int, minimum_cell: int) -> Finding:
        # Near: half as far as the closest of the reference, its natural twins apart. In many dimensions nobody else
        # comes so near by chance.
        reference = np.round(attack.reference.distance, DECIMALS)
        apart = reference[reference > 0]
        near = float(np.quantile(apart, self.tail_quantile / attack.size_ratio)) / 2 if len(apart) else 0.0
        count = count_copies(attack.whole <= near, reference <= near, attack.size_ratio)
        return self._copies(
            "near_copies", "have a nearly equal record in the release", count, attack.sampled, records,
            len(attack.rows), minimum_cell,
        )  # fmt: skip

    def _judge_exact_copies(
        self,
        recoded: list[npt.NDArray[np.generic]],
        masked: list[npt.NDArray[np.generic]],
        rng: np.random.Generator,
        minimum_cell: int,
    ) -> Finding:
        # Other people's records of the original file are the reference here in any case: a holdout has no recoded
        # form, and both expect the same number of natural twins.
        n, m = len(recoded[0]), len(masked[0])
        in_release, in_reference = exact_copies(recoded, masked, _part(n, min(n, m), rng))
        count = count_copies(in_release, in_reference, m / n)
        return self._copies(
            "exact_copies", "stand in the release value for value", count, min(1.0, m / n), n, n, minimum_cell
        )

    def _copies(
        self, rule: str, how: str, count: CopyCount, sampled: float, records: int, completed: int, minimum_cell: int
    ) -> Finding:
        tolerated = self.copies_excess * sampled
        found = round(count.share * completed)
        return Finding(
            rule=rule,
            verdict=Verdict.PASS if count.excess <= tolerated else Verdict.FAIL,
            says=f"{_share(found, completed, minimum_cell)} of the original records {how}; "
            f"{count.expected:.2%} would have a twin among other people, and chance and policy allow "
            f"{count.chance + tolerated:.2%} more.",
            stage="reference", observed=_observed(found, completed, minimum_cell),
            limit=min(1.0, count.expected + count.chance + tolerated), attempted=records, completed=completed,
        )  # fmt: skip


def _part(n: int, size: int, rng: np.random.Generator) -> IntArray:
    """`size` of n rows at random, all of them without a draw; in rising order."""
    return np.arange(n) if size == n else np.sort(rng.choice(n, size, replace=False))


def _say(measure: Measure, test: EquivalenceTest, margin: float) -> str:
    advantage, excess = _ADVANTAGE[measure], f"{test.statistic:.1%}"
    file = "than with a file the person is not in"
    if test.verdict is Verdict.UNKNOWN:
        return f"The prediction {measure} could not be computed for every record, so the release cannot be compared."
    if test.verdict is Verdict.PASS:
        return (
            f"It does not hold that an intruder who knows a person's true record {advantage} with this release {file}: "
            f"the difference is at most {excess} of the records; {margin:.1%} is tolerated."
        )
    if test.verdict is Verdict.REVIEW:
        return (
            f"An intruder who knows a person's true record perhaps {advantage} with this release {file}: the "
            f"difference is up to {excess} of the records, more than the {margin:.1%} tolerated but not beyond chance."
        )
    return (
        f"An intruder who knows a person's true record {advantage} with this release {file}: the measure is at most "
        f"{test.at:.3g} for {test.release_share:.1%} of the records, and for {test.reference_share:.1%} without taking "
        f"part; a difference of at most {margin:.1%} is tolerated."
    )


def _share(count: int, n: int, minimum_cell: int) -> str:
    return f"Fewer than {minimum_cell}" if 0 < count < minimum_cell else f"{count / n:.2%}"


def _observed(count: int, n: int, minimum_cell: int) -> float | None:
    return None if 0 < count < minimum_cell else count / n


def _incomparable(dimensions: int) -> Finding:
    says = (
        "The files are too large to be compared record by record."
        if dimensions
        else "No released variable can be compared with the original data."
    )
    return Finding(rule="comparable_values", verdict=Verdict.UNKNOWN, says=says, stage="reference", completed=0)


def _judge_reading(unread: int, values: int) -> Finding:
    few = unread <= _UNREAD_SHARE * values
    return Finding(
        rule="comparable_values",
        verdict=Verdict.PASS if few else Verdict.UNKNOWN,
        says="The released values can be compared with the original ones."
        if few
        else "Released labels occur that stand for no original record, so what they tell cannot be measured.",
        stage="reference", observed=unread / values, limit=_UNREAD_SHARE, attempted=values, completed=values - unread,
    )  # fmt: skip


def _judge_duplicates(columns: list[npt.NDArray[np.generic]]) -> Finding:
    duplicates = unexplained_duplicates(row_groups(columns).size)
    says = (
        "More original records are equal in all released variables than different people would have in common; where "
        "a person stands twice, the reference holds the person too and cannot judge the release."
        if duplicates.unexplained
        else "The original records that are equal in all released variables are no more than people have in common."
    )
    return Finding(
        rule="duplicate_records", verdict=Verdict.UNKNOWN if duplicates.unexplained else Verdict.PASS, says=says,
        stage="reference", observed=duplicates.share, attempted=len(columns[0]), completed=len(columns[0]),
    )  # fmt: skip
