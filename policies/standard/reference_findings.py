"""Findings of the reference standard: what each comparison came to, in words that a reader of the report understands.

Source: Lasko and Vinterbo (2010), section II.A. The thresholds are those of `policies.standard.reference_standard`.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binom

from sluice.risk.coding import Coding, plain_values
from sluice.risk.reference.copies import CopyCount, count_copies, exact_copies, unexplained_duplicates
from sluice.risk.reference.curve import Curve, curve_grid, shares_at
from sluice.risk.reference.equivalence_test import EquivalenceTest, equivalence_test
from sluice.risk.reference.isolated_records import isolated_records
from sluice.risk.reference.reference_attack import ReferenceAttack, some_of
from sluice.risk.resolution import on_one_grid
from sluice.risk.row_groups import row_groups
from sluice.variables import GROUPS, Variables
from sluice.verdict import Finding, Verdict

if TYPE_CHECKING:
    from policies.standard.reference_standard import ReferenceStandard

Column = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
Measure = Literal["distance", "ambiguity", "uncertainty"]

MEASURES: tuple[Measure, ...] = ("distance", "ambiguity", "uncertainty")
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
_TIED = 1e-9  # distances that differ by no more are equal
_LEAST_WEIGHT = 0.01  # of the largest; a variable that counts less is not compared in earnest
_UNREAD_SHARE = 0.001  # so few values that cannot be compared hide nobody; they count as if suppressed


def judge_size(
    standard: "ReferenceStandard", original: pd.DataFrame, masked: pd.DataFrame, held: pd.DataFrame | None
) -> Finding:
    counts = {"original": len(original)}
    if standard.reference == "holdout":
        counts["held-out"] = 0 if held is None else len(held)
    which, fewest = min(counts.items(), key=lambda item: item[1])
    possible = min(fewest, len(masked)) > standard.neighbours
    if not possible:
        verdict, says = Verdict.UNKNOWN, "There are too few records to compare the release with a reference at all."
    elif fewest >= standard.minimum_records:
        verdict, says = Verdict.PASS, f"There are enough {which} records for the comparison to tell something."
    else:
        verdict = {"unknown": Verdict.UNKNOWN, "review": Verdict.REVIEW, "judge": Verdict.PASS}[standard.when_fewer]
        says = (
            f"There are {fewest:,} {which} records, fewer than the {standard.minimum_records:,} below which chance "
            "decides whether a release meets the reference standard."
            f"{' A larger holdout_share sets more aside.' if which == 'held-out' else ''}"
        )
    return Finding(
        rule="reference_size", verdict=verdict, says=says, stage="reference", observed=fewest,
        limit=standard.minimum_records, attempted=fewest, completed=fewest if possible else 0,
    )  # fmt: skip


def judge_measure(
    standard: "ReferenceStandard", measure: Measure, found: ReferenceAttack, size: Verdict, minimum_cell: int
) -> tuple[Finding, Curve | None]:
    release, reference = getattr(found.released, measure), getattr(found.reference, measure)
    binding, margin = measure in standard.binding, standard.margin * found.sampled
    test = equivalence_test(release, reference, margin, standard.alpha)
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


def judge_closest(standard: "ReferenceStandard", found: ReferenceAttack, minimum_cell: int) -> Finding:
    """The tail of the distance curve, where the margin would hide the people who are hit hardest."""
    close = np.quantile(found.reference.distance, standard.tail_quantile / found.size_ratio)
    count = int((found.whole < close - _TIED).sum())
    limit = standard.tail_quantile + (standard.tail_share - standard.tail_quantile) * found.sampled
    if count <= limit * found.attacked:
        verdict = Verdict.PASS
    else:
        by_chance = binom.sf(count - 1, found.attacked, limit) >= standard.alpha
        verdict = Verdict.REVIEW if by_chance else Verdict.FAIL
    share, said = tellable(count, found.attacked, minimum_cell)
    return Finding(
        rule="closest_records", verdict=verdict,
        says=f"{said} of the people have a released record closer to them than the closest "
        f"{standard.tail_quantile:.1%} would find in a file they are not in; {limit:.1%} may.",
        stage="reference", observed=share, limit=limit, attempted=found.records, completed=found.attacked,
    )  # fmt: skip


def judge_near_copies(standard: "ReferenceStandard", found: ReferenceAttack, minimum_cell: int) -> Finding:
    # Near is half as far as the closest of the reference, natural twins apart: chance hardly brings anybody there.
    apart = found.reference.distance[found.reference.distance > _TIED]
    near = float(np.quantile(apart, standard.tail_quantile / found.size_ratio)) / 2 if len(apart) else 0.0
    count = count_copies(found.whole <= near + _TIED, found.reference.distance <= near + _TIED, found.size_ratio)
    how = "have a nearly equal record in the release"
    return judge_copies(standard, "near_copies", how, count, found.sampled, found.records, minimum_cell)


def judge_exact_copies(
    standard: "ReferenceStandard",
    recoded: list[Column],
    masked: list[Column],
    rng: np.random.Generator,
    minimum_cell: int,
) -> Finding:
    # Over all records. The reference is other people's records of the original even where there is a holdout, which
    # has no recoded form: both hold as many natural twins.
    n, m = len(recoded[0]), len(masked[0])
    pairs = [on_one_grid(before, after) for before, after in zip(recoded, masked, strict=True)]
    recoded, masked = [before for before, _ in pairs], [after for _, after in pairs]
    count = count_copies(*exact_copies(recoded, masked, some_of(n, min(n, m), rng)), m / n)
    how = "stand in the release value for value"
    return judge_copies(standard, "exact_copies", how, count, min(1.0, m / n), n, minimum_cell)


def judge_isolated(
    standard: "ReferenceStandard",
    original: FloatArray,
    released: FloatArray,
    holdout: FloatArray | None,
    found: ReferenceAttack,
    rng: np.random.Generator,
    minimum_cell: int,
) -> Finding:
    """The people far from all others, whom noise that hides the many hardly hides; points as in `attack`."""
    count = isolated_records(original, released, holdout, found.rows, standard.isolated_share, rng)
    if count is None:
        return Finding(
            rule="isolated_records", verdict=Verdict.PASS, says="No person stands apart from all others.",
            stage="reference", observed=0.0, attempted=found.records, completed=found.attacked,
        )  # fmt: skip
    tolerated = standard.isolated_excess * found.sampled
    share, said = tellable(count.found, count.records, minimum_cell)
    return Finding(
        rule="isolated_records", verdict=Verdict.PASS if count.excess <= tolerated else Verdict.FAIL,
        says=f"Of the {count.records} people who are farthest from all others, {said[0].lower()}{said[1:]} have a "
        f"released record less than a quarter as far from them as other people are; {count.expected:.0%} would in a "
        f"file they are not in, and chance and policy allow {count.chance + tolerated:.0%} more.",
        stage="reference", observed=share, limit=min(1.0, count.expected + count.chance + tolerated),
        attempted=found.records, completed=count.records,
    )  # fmt: skip


def judge_copies(
    standard: "ReferenceStandard",
    rule: str,
    how: str,
    count: CopyCount,
    sampled: float,
    records: int,
    minimum_cell: int,
) -> Finding:
    """Whether there are more copies than chance and the policy allow."""
    tolerated = standard.copies_excess * sampled
    share, said = tellable(count.found, count.records, minimum_cell)
    return Finding(
        rule=rule, verdict=Verdict.PASS if count.excess <= tolerated else Verdict.FAIL,
        says=f"{said} of the people {how}; {count.expected:.2%} would have such a twin in a file they are not in, "
        f"and chance and policy allow {count.chance + tolerated:.2%} more.",
        stage="reference", observed=share, limit=min(1.0, count.expected + count.chance + tolerated),
        attempted=records, completed=count.records,
    )  # fmt: skip


def unmeasured(standard: "ReferenceStandard", released: Variables) -> list[str]:
    """Released variables that the comparison passes over: names of groups, and those that hardly weigh."""
    largest = max((standard.weights.get(name, 1.0) for name in released), default=1.0)
    return [
        name
        for name, variable in released.items()
        if variable.role in GROUPS or standard.weights.get(name, 1.0) < _LEAST_WEIGHT * largest
    ]


def judge_leniency(standard: "ReferenceStandard") -> Finding:
    """What this policy tolerates beyond all with which the standard could still be said to hold."""
    lenient = [
        says
        for is_so, says in (
            (standard.margin > 0.1, f"margin {standard.margin:g}"),
            (standard.tail_share > 0.1, f"tail_share {standard.tail_share:g}"),
            (standard.tail_quantile < 0.001, f"tail_quantile {standard.tail_quantile:g}"),
            (standard.copies_excess > 0.1, f"copies_excess {standard.copies_excess:g}"),
            (standard.minimum_records < 100, f"minimum_records {standard.minimum_records}"),
            (standard.records < standard.minimum_records, f"only {standard.records} people are attacked"),
            (standard.when_fewer == "judge", "a file of fewer records is judged all the same"),
            ("distance" not in standard.binding, "the prediction distance does not decide"),
        )
        if is_so
    ]
    verdict, says = Verdict.PASS, "The policy's own settings do not undo the standard."
    if lenient:
        verdict = Verdict.REVIEW
        says = f"The policy's own settings leave little of the standard: {'; '.join(lenient)}."
    return Finding(rule="lenient_standard", verdict=verdict, says=says, stage="reference")


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


def tellable(count: int, n: int, minimum_cell: int) -> tuple[float | None, str]:
    """A share as a number and in words; of a few people only that they are few."""
    return (None, f"Fewer than {minimum_cell}") if 0 < count < minimum_cell else (count / n, f"{count / n:.2%}")


def incomparable(coding: Coding) -> Finding:
    says = "The files are too large to be compared record by record."
    if not coding.dimensions:
        says = "No released variable can be compared with the original data."
    return Finding(rule="comparable_values", verdict=Verdict.UNKNOWN, says=says, stage="reference", completed=0)


def judge_reading(coding: Coding, unread: int, values: int, passed_over: list[str]) -> Finding:
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


def judge_duplicates(coding: Coding, records: pd.DataFrame) -> Finding:
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
