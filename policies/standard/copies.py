"""Copies: people to whom a released record is closer, or more nearly equal, than the reference and chance explain."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from policies.reported_shares import natural_frequency, reported_share
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.sentence import Sentence, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.coding import Coding
from sluice.risk.reference.copies import CopyCount, count_copies, exact_copies
from sluice.risk.reference.reference_attack import ReferenceAttack, some_of
from sluice.risk.spread import EXACT, FINE, on_one_grid
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "closest_records",
    not_beyond_chance=" More than that, but not beyond chance, so a person must decide.",
    found="For {share:people_1000} the released file holds a record as near as only the nearest "
    "{tail_quantile:per_1000} in every 1,000 would find in a file that they are not in; for {limit:per_1000} in every "
    "1,000 it may.",
)

ASKS = {
    "closest_records": (
        "As near as only the nearest few of the reference come, a released record comes to no more people than the "
        "policy's tail_share."
    ),
    "near_copies": (
        "Nearly equal released records are held by no more people than reference, chance and the policy's "
        "copies_excess allow."
    ),
    "exact_copies": (
        "People occur in the release value for value no oftener than reference, chance and the policy's copies_excess "
        "allow."
    ),
}
ADVICE = {
    "closest_records": (
        "The closest few are too close although most people are safe: look for records with few values, zeros or "
        "defaults that masking leaves alone, and recode or suppress these."
    ),
    "near_copies": (
        "Some records came through almost unchanged: treat the variables that the report shows as hardly changed, for "
        "small noise on a single variable hides nobody."
    ),
    "exact_copies": (
        "Some records stand in the file value for value: mask at least one more variable of theirs, and recode "
        "categories further (spectral_swapping takes them)."
    ),
}
TWINS = (
    "; {expected:per_10000} would have such a duplicate in a file that they are not in, and chance and policy allow "
    "{allowed:per_10000} more."
)
_NEAR = Sentence("near_copies.found", f"{{share:People_10000}} have a nearly equal record in the release{TWINS}")
_EXACT = Sentence("exact_copies.found", f"{{share:People_10000}} occur in the release value for value{TWINS}")

Column = npt.NDArray[Any]

TEN_THOUSAND = 10_000  # people of whom copies are counted: they are rare
_TIED = 1e-9  # distances that differ by no more are equal


def judge_closest(standard: ReferenceStandard, found: ReferenceAttack, minimum_cell: int) -> Finding:
    """The tail of the distance curve, where the margin would hide the people who are hit hardest."""
    close = np.quantile(found.reference.distance, standard.tail_quantile / found.size_ratio)
    count = int((found.whole < close - _TIED).sum())
    limit = standard.tail_quantile + (standard.tail_share - standard.tail_quantile) * found.sampled
    if count <= limit * found.attacked:
        verdict = Verdict.PASS
    else:
        from scipy.stats import binom  # loaded where it is needed

        by_chance = binom.sf(count - 1, found.attacked, limit) >= standard.alpha
        verdict = Verdict.REVIEW if by_chance else Verdict.FAIL
    share, _ = reported_share(count, found.attacked, minimum_cell)
    said = natural_frequency(count / found.attacked, found.attacked, minimum_cell)
    chance = _SAYS.not_beyond_chance() if verdict is Verdict.REVIEW else ()
    return Finding(
        rule="closest_records", verdict=verdict,
        **as_fields(_SAYS.found(share=said, tail_quantile=standard.tail_quantile, limit=limit) + chance),
        stage="reference", observed=share, limit=limit, attempted=found.records, completed=found.attacked,
    )  # fmt: skip


def judge_near_copies(standard: ReferenceStandard, found: ReferenceAttack, minimum_cell: int) -> Finding:
    # Near is half as far as the closest of the reference, natural twins apart: chance hardly brings anybody there.
    apart = found.reference.distance[found.reference.distance > _TIED]
    near = float(np.quantile(apart, standard.tail_quantile / found.size_ratio)) / 2 if len(apart) else 0.0
    count = count_copies(found.whole <= near + _TIED, found.reference.distance <= near + _TIED, found.size_ratio)
    return judge_copies(standard, "near_copies", _NEAR, count, found.sampled, found.records, minimum_cell)


def judge_exact_copies(standard: ReferenceStandard, coding: Coding, files: Comparison) -> Finding:
    # Over all records. The reference is other people's records of the original even where there is a holdout, which
    # has no recoded form: both hold as many natural twins.
    n, m = len(files.recoded), len(files.masked)
    reference, counts = some_of(n, min(n, m), files.rng), []
    for share in (EXACT, FINE):
        pairs = (on_one_grid(*pair, share) for pair in coding.labels(files.recoded, files.masked))
        counts.append(count_copies(*exact_copies(pairs, n, reference), m / n))
    count = max(counts, key=lambda each: each.excess)
    return judge_copies(standard, "exact_copies", _EXACT, count, min(1.0, m / n), n, files.minimum_cell)


def judge_copies(
    standard: ReferenceStandard,
    rule: str,
    sentence: Sentence,
    count: CopyCount,
    sampled: float,
    records: int,
    minimum_cell: int,
    names: Sequence[str] = (),
) -> Finding:
    """Whether there are more copies than chance and the policy allow."""
    tolerated = standard.copies_excess * sampled
    share, _ = reported_share(count.found, count.records, minimum_cell)
    said = natural_frequency(count.found / count.records, count.records, minimum_cell, TEN_THOUSAND)
    return Finding(
        rule=rule, verdict=Verdict.PASS if count.excess <= tolerated else Verdict.FAIL,
        **as_fields(
            sentence(share=said, names=names, expected=count.expected, allowed=count.chance + tolerated)
        ),
        stage="reference", observed=share, limit=min(1.0, count.expected + count.chance + tolerated),
        attempted=records, completed=count.records,
    )  # fmt: skip
