"""Reidentification: how many people's nearest released record is their own, and whether an intruder could know it.

It belongs to the reference standard, and needs to know which released record is whose.
"""

import numpy as np

from policies.original_and_masked import OriginalAndMasked
from policies.rules.near_limit import if_near
from policies.standard.natural_frequency import natural_frequency, per
from policies.standard.reference_standard import ReferenceStandard
from policies.standard.reported_share import reported_share
from sluice.errors import DataError
from sluice.risk.coding import Coding
from sluice.risk.reference.reference_attack import some_of
from sluice.risk.reference.reidentification import reidentification
from sluice.verdict import Finding, Verdict

ASKS = {
    "reidentification": (
        "The nearest released record is their own for no more people than the policy's reidentified_share; without a "
        "limit it is reported."
    ),
}
ADVICE = {
    "reidentification": (
        "Too many people are nearest to their own record: break the link between original and released rows by "
        "stronger swapping or by synthesis, and attack again."
    ),
}

_TELLS = 0.6  # area under the curve from which a measure tells correct matches from wrong ones


def judge_reidentification(standard: ReferenceStandard, files: OriginalAndMasked) -> Finding:
    """The reidentification rate, held to the standard's `reidentified_share` where it has one, else only reported.

    files  : paired; the rng draws the records matched, at most `records` of the standard
    raises : DataError when the files differ in length, and so are not paired
    cost   : that of nearest_neighbours, twice, for at most `records` queries
    """
    original, recoded, masked = files.original, files.recoded, files.masked
    if not len(original) == len(recoded) == len(masked):
        raise DataError("Reidentification needs the released record of each original one; the files differ in length.")
    bound = standard.reidentified_share is not None
    coding = Coding.fit(original, recoded, files.variables, files.released, standard.weights)
    n = len(original)
    if coding.dimensions == 0 or n <= standard.neighbours:
        says = "There are too few records, or no variable, to match people with their records by."
        return Finding(
            rule="reidentification", verdict=Verdict.UNKNOWN, says=says, stage="reference", attempted=n, completed=0,
            binding=bound,
        )  # fmt: skip
    rows = some_of(n, min(n, standard.records), files.rng)
    points, _ = coding.released_points(masked)
    found = reidentification(coding.original_points(original), points, rows, standard.neighbours)
    share, _ = reported_share(round(found.correct.sum()), len(rows), files.minimum_cell)
    said = natural_frequency(found.correct.sum() / len(rows), len(rows), files.minimum_cell)
    tells = not np.isnan(found.best) and found.best >= _TELLS
    areas = "" if np.isnan(found.best) else (
        f" (area under the curve: distance {found.distance:.2f}, ambiguity {found.ambiguity:.2f}, uncertainty "
        f"{found.uncertainty:.2f}; 0.5 tells nothing)"
    )  # fmt: skip
    knows = f"an intruder {'can' if tells else 'cannot'} tell which of these matches are correct{areas}"
    low, high = found.rate.interval or (found.rate.value, found.rate.value)
    verdict = Verdict.PASS
    if standard.reidentified_share is not None and high > standard.reidentified_share:
        verdict = Verdict.FAIL if low > standard.reidentified_share else Verdict.REVIEW
    near = ""
    if standard.reidentified_share is not None:
        ends = "" if share is None else f"{low:.1%} to {high:.1%}"
        near = if_near(verdict, found.rate.value, standard.reidentified_share, ends)
    allowed = f" The policy allows {standard.reidentified_share:.1%}." if bound else ""
    return Finding(
        rule="reidentification", verdict=verdict,
        says=f"For {said} the nearest released record is their own, where a blind guess is right for "
        f"{per(found.rate.baseline or 0.0)} in every 1,000; {knows}.{allowed}{near}",
        stage="reference", observed=share, limit=standard.reidentified_share, attempted=n, completed=len(rows),
        binding=bound,
    )  # fmt: skip
