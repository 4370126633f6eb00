"""Prediction distance, ambiguity and uncertainty of release and reference, compared as distributions.

Source: Lasko and Vinterbo (2010), section II.A.
"""

import numpy as np

from policies.standard.natural_frequency import natural_frequency, per
from policies.standard.reference_standard import Measure, ReferenceStandard
from sluice.risk.reference.curve import Curve, curve_grid, shares_at
from sluice.risk.reference.equivalence_test import EquivalenceTest, equivalence_test
from sluice.risk.reference.reference_attack import ReferenceAttack
from sluice.verdict import Finding, Verdict

ASKS = {
    "prediction_distance": (
        "People find no nearer record to their own in the release than they would without being in it; of the share "
        "who do, no more than the margin beyond chance. Distance is how near the best match is."
    ),
    "prediction_ambiguity": (
        "People's best match stands out among the next best no more than it would without them in the file; of the "
        "share for whom it does, no more than the margin beyond chance. Ambiguity is the distance of the best match "
        "over that of the k-th best."
    ),
    "prediction_uncertainty": (
        "The records nearest to people agree with each other no more than they would without them in the file; of the "
        "share for whom they do, no more than the margin beyond chance. Uncertainty is how much those records differ "
        "among themselves."
    ),
}
ADVICE = {
    "prediction_distance": (
        "Released records lie nearer to the people than others' records would: swap over a wider window, "
        "microaggregate larger groups or add more noise on the variables that tell people apart."
    ),
    "prediction_ambiguity": (
        "The best match stands out among the next best: bring records closer to each other, by coarser categories and "
        "larger groups, rather than moving single ones farther."
    ),
    "prediction_uncertainty": (
        "The nearest records agree on one value: mix the values within neighbourhoods by swapping or noise, or decide "
        "by the other two measures where the method makes records alike on purpose."
    ),
}

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
_FIND: dict[Measure, str] = {  # what is counted, of people in the plural
    "distance": "find a record as near to their own",
    "ambiguity": "find a nearest record that stands out as much from the next ones",
    "uncertainty": "find nearest records that agree as much with each other",
}


def judge_measure(
    standard: ReferenceStandard, measure: Measure, found: ReferenceAttack, size: Verdict, minimum_cell: int
) -> tuple[Finding, Curve | None]:
    release, reference = getattr(found.released, measure), getattr(found.reference, measure)
    binding, margin = measure in standard.binding, standard.margin * found.sampled
    test = equivalence_test(release, reference, margin, standard.alpha)
    verdict, says = test.verdict, _say(standard, measure, test, found, margin, minimum_cell)
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


def _say(
    standard: ReferenceStandard, measure: Measure, test: EquivalenceTest, found: ReferenceAttack, margin: float,
    minimum_cell: int,
) -> str:  # fmt: skip
    """The shares as people in every 1,000; of a few people only that they are few."""
    gains, gains_nothing = _ADVANTAGE[measure]
    if test.verdict is Verdict.UNKNOWN:
        return f"The prediction {measure} could not be computed for every record, so the release cannot be compared."
    released = "the released file" if found.size_ratio == 1 else "as large a part of the released file"
    elsewhere, tolerated = "a file that they are not in", f"{per(margin)} in every 1,000 are tolerated"
    intruder, than = "an intruder who knows a person's true record", "with a file the person is not in"
    n = found.attacked
    if test.verdict is not Verdict.FAIL:
        more = natural_frequency(test.statistic, n, minimum_cell)
        more = more if more.startswith("fewer") else f"at most {more}"
        says = f"{more} more {_FIND[measure]} in {released} than in {elsewhere}; {tolerated}. "
        if not test.statistic:
            says = f"no more people {_FIND[measure]} in {released} than in {elsewhere}. "
        says = f"{says[0].upper()}{says[1:]}"
        if test.verdict is Verdict.PASS:
            return f"{says}So {intruder} {gains_nothing} with this release than {than}."
        return f"{says}That is more, but not beyond chance: perhaps {intruder} {gains} with this release than {than}."
    here, there = (natural_frequency(share, n, minimum_cell) for share in (test.release_share, test.reference_share))
    what = {
        "distance": f"{released} holds a record as near to their own as {test.at:.3g} (0 is a copy, 1 a typical "
        "spread of each variable)",
        "ambiguity": f"the nearest record of {released} is at most {test.at:.3g} times as far as number "
        f"{standard.neighbours}, so that it stands out",
        "uncertainty": f"the {standard.neighbours} nearest records of {released} agree with each other to "
        f"{test.at:.3g} (their mean variance, in spreads)",
    }[measure]
    return (
        f"For {here} {what}; in {elsewhere} that is so for {there}, and {per(margin)} in every 1,000 more are "
        f"tolerated. So {intruder} {gains} with this release than {than}."
    )
