"""Isolated people: those far from all others, whom noise that hides the many hardly hides."""

import numpy as np

from policies.standard.natural_frequency import reported_share
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.coded_points import Points
from sluice.risk.reference.isolated_records import isolated_records
from sluice.risk.reference.reference_attack import ReferenceAttack

_SAYS = Sentences(
    "isolated_records",
    found="Among the {records} people who are farthest from all others, {share:.2%} have a released record less than a "
    "quarter as far from them as other people are; {expected:.0%} would in a file they are not in, and chance and "
    "policy allow {allowed:.0%} more.",
    nobody="No person stands apart from all others.",
)

ASKS = {
    "isolated_records": "The most isolated people are found no better in the release than in a file without them.",
}
ADVICE = {
    "isolated_records": (
        "People with unusual values can be found: top- and bottom-code the large values, use noise in proportion to "
        "the value, or leave the few outliers out."
    ),
}


def judge_isolated(
    standard: ReferenceStandard,
    original: Points,
    released: Points,
    holdout: Points | None,
    found: ReferenceAttack,
    rng: np.random.Generator,
    minimum_cell: int,
) -> Finding:
    """The people far from all others, whom noise that hides the many hardly hides; points as in `attack`."""
    count = isolated_records(original, released, holdout, found.rows, standard.isolated_share, rng)
    if count is None:
        return Finding(
            rule="isolated_records", verdict=Verdict.PASS, **as_fields(_SAYS.nobody()),
            stage="reference", observed=0.0, attempted=found.records, completed=found.attacked,
        )  # fmt: skip
    tolerated = standard.isolated_excess * found.sampled
    share, said = reported_share(count.found, count.records, minimum_cell)
    return Finding(
        rule="isolated_records", verdict=Verdict.PASS if count.excess <= tolerated else Verdict.FAIL,
        **as_fields(
            _SAYS.found(
                records=count.records, share=said, expected=count.expected, allowed=count.chance + tolerated
            )
        ),
        stage="reference", observed=share, limit=min(1.0, count.expected + count.chance + tolerated),
        attempted=found.records, completed=count.records,
    )  # fmt: skip
