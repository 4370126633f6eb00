"""Nearest records: isolated people, whom noise hardly hides, and those nearest to their own record."""

import numpy as np

from policies.reported_shares import natural_frequency, reported_share
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.arrays import IntArray
from sluice.ground.declaration import Declaration
from sluice.ground.errors import DataError
from sluice.ground.sentence import END, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.coded_points import Points
from sluice.risk.coding import Coding
from sluice.risk.measurement import if_near, verdict_within
from sluice.risk.reference.isolated_records import isolated_records
from sluice.risk.reference.reference_attack import ReferenceAttack, some_of
from sluice.risk.reference.reidentification import reidentification
from sluice.utility.comparison import Comparison

_MATCHES = (
    "For {share:people_1000} the nearest released record is their own, where a blind guess is right for "
    "{blind:per_1000} in every 1,000; an intruder"
)
_REIDENTIFIED = Sentences(
    "reidentification",
    too_few="There are too few records, or no variable, to match people with their records by.",
    can_tell=f"{_MATCHES} can tell which of these matches are correct",
    cannot_tell=f"{_MATCHES} cannot tell which of these matches are correct",
    areas=" (area under the curve: distance {distance:.2f}, ambiguity {ambiguity:.2f}, uncertainty {uncertainty:.2f}; "
    "0.5 is chance)",
    allows=" The policy allows {limit:percent}.",
)

REIDENTIFICATION = (
    Declaration(
        "reidentification",
        about="Reidentification: how many people's nearest released record is their own, and whether an intruder could "
        "know it.",
        asks="The nearest released record is their own for no more people than the policy's reidentified_share; "
        "without a limit it is reported.",
        helps="Too many people are nearest to their own record: break the link between original and released rows by "
        "stronger swapping or by synthesis, and attack again.",
    ),
)

_TELLS = 0.6  # area under the curve from which a measure tells correct matches from wrong ones

_SAYS = Sentences(
    "isolated_records",
    found="Among the {records} people who are farthest from all others, {share:percent} have a released record less "
    "than a quarter as far from them as other people are; {expected:percent} would in a file they are not in, and "
    "chance and policy allow {allowed:percent} more.",
    nobody="No person stands apart from all others.",
)

ISOLATED_PEOPLE = (
    Declaration(
        "isolated_records",
        about="Isolated people: those far from all others, whom noise that hides the many hardly hides.",
        asks="The most isolated people are found no better in the release than in a file without them.",
        helps="People with unusual values can be found: top- and bottom-code the large values, use noise in proportion "
        "to the value, or leave the few outliers out.",
    ),
)


def judge_isolated(
    standard: ReferenceStandard,
    original: Points,
    released: Points,
    holdout: Points | None,
    found: ReferenceAttack,
    rng: np.random.Generator,
    minimum_cell: int,
    units: IntArray | None = None,
    paired: bool = False,
) -> Finding:
    """The people far from all others, whom noise that hides the many hardly hides; points as in `attack`."""
    count = isolated_records(original, released, holdout, found.rows, standard.isolated_share, rng, units, paired)
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


def judge_reidentification(standard: ReferenceStandard, files: Comparison) -> Finding:
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
        return Finding(
            rule="reidentification", verdict=Verdict.UNKNOWN, stage="reference", attempted=n, completed=0,
            binding=bound, **as_fields(_REIDENTIFIED.too_few()),
        )  # fmt: skip
    rows = some_of(n, min(n, standard.records), files.rng)
    points, _ = coding.released_points(masked)
    found = reidentification(coding.original_points(original), points, rows, standard.neighbours)
    share, _ = reported_share(round(found.correct.sum()), len(rows), files.minimum_cell)
    said = natural_frequency(found.correct.sum() / len(rows), len(rows), files.minimum_cell)
    tells = not np.isnan(found.best) and found.best >= _TELLS
    areas = {"distance": found.distance, "ambiguity": found.ambiguity, "uncertainty": found.uncertainty}
    says = (_REIDENTIFIED.can_tell if tells else _REIDENTIFIED.cannot_tell)(
        share=said, blind=found.rate.baseline or 0.0
    )
    says += (() if np.isnan(found.best) else _REIDENTIFIED.areas(**areas)) + END()
    interval = found.rate.interval or (found.rate.value, found.rate.value)
    verdict = Verdict.PASS
    if standard.reidentified_share is not None:
        verdict = verdict_within(interval, standard.reidentified_share)
        says += _REIDENTIFIED.allows(limit=standard.reidentified_share)
        ends = None if share is None else interval
        says += if_near(verdict, found.rate.value, standard.reidentified_share, ends)
    return Finding(
        rule="reidentification", verdict=verdict,
        **as_fields(says),
        stage="reference", observed=share, limit=standard.reidentified_share, attempted=n, completed=len(rows),
        binding=bound,
    )  # fmt: skip
