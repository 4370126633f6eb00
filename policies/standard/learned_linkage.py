"""Learned linkage: whom an intruder finds who chooses the ruler, and learned it from examples.

It belongs to the reference standard, and needs to know which released record is whose. The reference is a file without
the person: chance finds one record in m there, and no claim made on it is right.
"""

import numpy as np

from policies.rules.near_limit import if_near
from policies.standard.intruders import LearnedLimits, LinkageLimits
from policies.standard.natural_frequency import reported_share
from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentence, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.attacks.attack_success import AttackSuccess
from sluice.risk.coded_points import CodedPoints
from sluice.risk.coding import Coding
from sluice.risk.linkage.learned_intruder import LearnedIntruder, Reached
from sluice.risk.linkage.learned_variable import compared_variables
from sluice.risk.people import groups_of_people
from sluice.risk.reference.prediction import equivalence_test
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "learned_linkage",
    not_played="{who} could not be played: there are too few people to learn from, or no variable to compare.",
    finds="{who}, and has learned from examples how well each variable tells people apart, finds the own record of "
    "{share:.2%} of {n:,} {unit}. Chance finds {chance:.2%}; the policy allows {limit:pct} more.",
)
_CLAIMS = Sentence(
    "learned_claims.claims",
    "{who} is sure of a match for {claimed:.2%} of {n:,} {unit}, and right for {right:.2%}; the policy allows "
    "{limit:pct}. Without the person's own record, {without:.2%} would be claimed, all wrongly.",
)
_NEARER = Sentence(
    "learned_distance.nearer",
    "By the ruler that was learned ({ruler}), the release is nearer to up to {share:.1%} more of the people than the "
    "same file without their own records.",
)

ASKS = {
    "learned_linkage": (
        "An intruder who learned which variables tell finds no larger share of people than chance and the policy allow."
    ),
    "learned_claims": (
        "An intruder who learned when to be sure claims no more matches that are right than the policy allows."
    ),
    "learned_distance": "By the learned ruler, too, people's best matches are no nearer than in a file without them.",
}
ADVICE = {
    "learned_linkage": (
        "People can be found by somebody who weighs the variables by examples: release fewer or coarser variables, or "
        "mask them together (spectral_swapping, sequential_trees) instead of each by itself. With many variables, more "
        "noise hardly helps."
    ),
    "learned_claims": (
        "Whoever is found stands out, so that the intruder knows it: make records alike (coarser categories, larger "
        "groups), or mask variables together, so that wrong matches look as good as right ones."
    ),
    "learned_distance": (
        "By the learned ruler, people's best matches are nearer than others' would be: see what learned_linkage says."
    ),
}
UNMEASURED = {
    "learned_linkage": "Judge a file of more people: half of them are needed to learn from.",
}

_FEWEST = 100  # people of both halves; what chance explains of so few asks for a decision anyway
EVERYTHING = "An intruder who knows all variables of a person"


def learned_intruder(files: Comparison, people: int) -> LearnedIntruder | None:
    """An intruder who has learned from half of the people; None where there are too few, or nothing to compare.

    raises : DataError when the files differ in length, and so are not paired
    cost   : that of LearnedIntruder.fit
    """
    if not len(files.original) == len(files.recoded) == len(files.masked):
        raise DataError("Learned linkage needs the released record of each original one; the files differ in length.")
    units = groups_of_people(files.original, files.variables)
    if len(np.unique(units)) < _FEWEST:
        return None
    compared = compared_variables(files.original, files.recoded, files.masked, files.variables, files.released)
    if not compared:
        return None
    coding = Coding.fit(files.original, files.recoded, files.variables, files.released)
    sides = coding.original_points(files.original), coding.released_points(files.masked)[0]
    by_name = dict(zip(coding.names, zip(*(side.by_variable() for side in sides), strict=True), strict=True))
    nothing = CodedPoints([], len(files.original))
    spaces = [by_name.get(each.name, (nothing, nothing)) for each in compared]  # none: probabilities of one label
    return LearnedIntruder.fit(compared, spaces, units, files.rng, people)


def judge_learned_linkage(
    limits: LearnedLimits, margin: float, files: Comparison, intruder: LearnedIntruder | None
) -> list[Finding]:
    """Findings on the intruder who knows everything: people found, confident right claims, and the learned D+.

    margin   : largest D+ that the standard tolerates; that of the learned ruler is reported
    intruder : from `learned_intruder`; None where nothing could be learned
    """
    if intruder is None:
        says = _SAYS.not_played(who=EVERYTHING)
        return [_finding("learned_linkage", Verdict.UNKNOWN, says, limits, "", attempted=len(files.original))]
    reached = intruder.play()
    return [*judge_reached(limits, reached, EVERYTHING, files, "everything"), _judge_distance(margin, reached, files)]


def judge_reached(limits: LinkageLimits, reached: Reached, knows: str, files: Comparison, scope: str) -> list[Finding]:
    """Whom an intruder finds, and of whom it is claimed rightly.

    knows : who that is, the beginning of the sentence, such as "An intruder who knows a person's age, sex and region"
    """
    units = groups_of_people(files.original, files.variables)[reached.rows]
    n, chance = len(reached.rows), 1 / len(files.masked)
    found, said = reported_share(round(float(reached.found.sum())), n, files.minimum_cell)
    _, claimed = reported_share(int(reached.claimed.sum()), n, files.minimum_cell)
    right, known = reported_share(int(reached.right.sum()), n, files.minimum_cell)
    _, anyway = reported_share(int(reached.claimed_without.sum()), n, files.minimum_cell)
    says = _SAYS.finds(who=knows, share=said, n=n, unit=files.unit, chance=chance, limit=limits.found)
    sure = _CLAIMS(who=knows, claimed=claimed, n=n, unit=files.unit, right=known, limit=limits.claims, without=anyway)
    findings = []
    for rule, success, allowed, sentence, share in (
        ("learned_linkage", reached.found, limits.found + chance, says, found),
        ("learned_claims", reached.right.astype(np.float64), limits.claims, sure, right),
    ):
        low, high = _interval(success, units)
        verdict = Verdict.PASS if high <= allowed else Verdict.FAIL if low > allowed else Verdict.REVIEW
        near = if_near(verdict, float(success.mean()), allowed, None if share is None else (low, high))
        found_of = {"attempted": len(files.original), "completed": n}
        findings.append(
            _finding(rule, verdict, sentence + near, limits, scope, observed=share, limit=allowed, **found_of)
        )
    return findings


def _judge_distance(margin: float, reached: Reached, files: Comparison) -> Finding:
    """D+ by the learned ruler: best matches in the released file, against those in it without the own record."""
    others = reached.candidates.scores[:, 0]
    test = equivalence_test(-np.maximum(reached.candidates.own, others), -others, margin)
    says = _NEARER(ruler=reached.ruler, share=test.statistic)
    return Finding(
        rule="learned_distance", verdict=test.verdict, **as_fields(says), stage="reference", binding=False,
        observed=test.statistic, limit=margin, attempted=len(files.original), completed=len(reached.rows),
    )  # fmt: skip


def _interval(success: FloatArray, units: IntArray) -> tuple[float, float]:
    """Wilson's interval of the share, of as many independent cases as these are worth."""
    cases = _independent(success, units)
    centre, half = AttackSuccess(cases, cases, float(success.mean()) * cases).wilson()
    return max(0.0, centre - half), min(1.0, centre + half)


def _independent(success: FloatArray, units: IntArray) -> int:
    """As many independent cases as tell what these tell, of whom households succeed or fail together (Kish 1965)."""
    n, share = len(success), float(success.mean())
    totals = np.bincount(np.unique(units, return_inverse=True)[1], success - share)
    clustered, simple = float((totals**2).sum()), float(((success - share) ** 2).sum())
    return max(1, min(n, round(n * simple / clustered))) if clustered > 0 else n


def _finding(
    rule: str, verdict: Verdict, says: Saying, limits: LinkageLimits, scope: str, *, observed: float | None = None,
    limit: float | None = None, attempted: int = 0, completed: int = 0,
) -> Finding:  # fmt: skip
    return Finding(
        rule=rule, verdict=verdict, **as_fields(says), scope=scope, stage="reference", observed=observed,
        limit=limit, attempted=attempted, completed=completed, binding=limits.binding,
    )  # fmt: skip
