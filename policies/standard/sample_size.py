"""Whether there are enough records for a comparison with the reference to tell something."""

import pandas as pd

from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict

_SAYS = Sentences(
    "reference_size",
    too_few="There are too few records to compare the release with a reference at all.",
    enough="There are enough {which} records for the comparison to tell something.",
    few="There are {records:,} {which} records, fewer than the {asked:,} below which chance decides whether a release "
    "meets the reference standard.",
    set_more_aside=" A larger holdout_share sets more aside.",
)

ASKS = {
    "reference_size": (
        "Original and reference hold as many records as the policy's minimum_records, so that a comparison of the two "
        "tells something."
    ),
}
ADVICE = {
    "reference_size": (
        "The reference standard needs more records: release a larger file, set a larger holdout aside, or let the "
        "policy say review in when_fewer, so that a person decides."
    ),
}
UNMEASURED = ADVICE


def judge_size(
    standard: ReferenceStandard, original: pd.DataFrame, masked: pd.DataFrame, held: pd.DataFrame | None
) -> Finding:
    counts = {"original": len(original)}
    if standard.reference == "holdout":
        counts["held-out"] = 0 if held is None else len(held)
    which, fewest = min(counts.items(), key=lambda item: item[1])
    possible = min(fewest, len(masked)) > standard.neighbours
    if not possible:
        verdict, says = Verdict.UNKNOWN, _SAYS.too_few()
    elif fewest >= standard.minimum_records:
        verdict, says = Verdict.PASS, _SAYS.enough(which=which)
    else:
        verdict = {"unknown": Verdict.UNKNOWN, "review": Verdict.REVIEW, "judge": Verdict.PASS}[standard.when_fewer]
        says = _SAYS.few(records=fewest, which=which, asked=standard.minimum_records)
        says += _SAYS.set_more_aside() if which == "held-out" else ()
    return Finding(
        rule="reference_size", verdict=verdict, **as_fields(says), stage="reference", observed=fewest,
        limit=standard.minimum_records, attempted=fewest, completed=fewest if possible else 0,
    )  # fmt: skip
