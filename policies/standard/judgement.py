"""The judgement by the reference standard: attack the masked file and the reference, and compare."""

import pandas as pd

from policies.standard.comparable_values import incomparable, judge_reading, unmeasured
from policies.standard.copies import judge_closest, judge_exact_copies, judge_near_copies
from policies.standard.duplicate_records import judge_duplicates
from policies.standard.isolated_people import judge_isolated
from policies.standard.leniency import judge_leniency
from policies.standard.prediction import judge_measure
from policies.standard.reference_standard import MEASURES, ReferenceStandard
from policies.standard.sample_size import judge_size
from policies.standard.subgroups import judge_subgroups
from sluice.ground.verdict import Finding
from sluice.risk.coding import Coding
from sluice.risk.reference.curve import Curve
from sluice.risk.reference.reference_attack import attack
from sluice.utility.comparison import Comparison


def judge_reference_standard(standard: ReferenceStandard, files: Comparison) -> tuple[list[Finding], list[Curve]]:
    """Whether taking part costs a person more than staying out would have; the curves that show it.

    Rows need not be paired: the masked file may have any number of them in any order. The holdout is looked at where
    the standard asks for one.

    raises : DocumentError when a weight or a subgroup names no variable, or a subgroup a text
    cost   : that of nearest_neighbours, twice to three times, for at most `standard.records` queries
    """
    original, masked, minimum_cell = files.original, files.masked, files.minimum_cell
    held = files.holdout if standard.reference == "holdout" else None
    size = judge_size(standard, original, masked, held)
    # The attack needs one more record than it looks at: in the reference the person's own is left out.
    if size.completed == 0:
        return [size], []
    coding = Coding.fit(original, files.recoded, files.variables, files.released, standard.weights)
    if not coding.dimensions:
        return [size, incomparable()], []
    points, others = coding.original_points(original), None if held is None else coding.original_points(held)
    released_points, unread = coding.released_points(masked)
    found = attack(points, released_points, others, standard.neighbours, standard.records, files.rng)
    by_measure = [judge_measure(standard, measure, found, size.verdict, minimum_cell) for measure in MEASURES]
    findings = [
        size,
        judge_reading(coding, masked, unread, unmeasured(standard, files.released)),
        *(finding for finding, _ in by_measure),
        judge_closest(standard, found, minimum_cell),
        judge_near_copies(standard, found, minimum_cell),
        judge_exact_copies(standard, coding, files),
        judge_isolated(standard, points, released_points, others, found, files.rng, minimum_cell),
        *judge_subgroups(standard, found, original, files.variables, minimum_cell),
        judge_duplicates(coding, original if held is None else pd.concat([original, held], ignore_index=True)),
        judge_leniency(standard),
    ]
    return findings, [curve for _, curve in by_measure if curve]
