"""Transparency: what an intruder reaches who knows the masking plan and its published parameters.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping": an attack is to be built on what is
known of the method. Each step of the plan declares its own.
"""

import numpy as np

from policies.original_and_masked import OriginalAndMasked
from policies.rules.near_limit import if_near
from policies.rules.paired_rule import share_in_words
from policies.standard.transparency_limits import TransparencyLimits
from sluice.errors import DataError
from sluice.masking.transparency import MethodAttack, attacks_on
from sluice.risk.transparency.attack import Leak
from sluice.risk.transparency.pairs import Pairs
from sluice.verdict import Finding, Verdict

ASKS = {
    "transparency": (
        "Who knows the plan and its published parameters finds no more people, and reads no more values, than the "
        "policy allows."
    ),
}
ADVICE = {
    "transparency": (
        "Who knows the method undoes it: mask more strongly, mask fewer variables by a method that treats each by "
        "itself, or take one that mixes all of them (spectral_swapping, microaggregation of all together, "
        "sequential_trees). The finding names method and variables."
    ),
}

_CELLS = 300_000_000  # people times records that are compared at most, as long as a thousand people are attacked


def judge_transparency(limits: TransparencyLimits, files: OriginalAndMasked) -> list[Finding]:
    """A finding for each method of the plan that an attack is known for, and for all of them together."""
    if files.carried_out is None:
        says = "Nobody said how the file was masked, so no attack that uses the method was played."
        return [Finding(rule="transparency", verdict=Verdict.REVIEW, stage="attack", binding=False, says=says)]
    attacks = attacks_on(files.carried_out, files.variables, files.released)
    if not attacks:
        says = "No attack is known that would use what is published of the plan's methods."
        return [Finding(rule="transparency", verdict=Verdict.PASS, stage="attack", binding=limits.binding, says=says)]
    pairs = pairs_of(files, limits.people)
    return [_judged(limits, attack, pairs, files) for attack in attacks]


def pairs_of(files: OriginalAndMasked, people: int) -> Pairs:
    """The files record by record, and at most so many people at random who are attacked."""
    n, rng = len(files.masked), files.rng
    attacked = min(n, people, max(1000, _CELLS // max(n, 1)))
    rows = np.sort(rng.choice(n, attacked, replace=False)) if attacked < n else np.arange(n)
    return Pairs(
        files.original, files.variables, files.recoded, files.masked, files.released, rows, rng, files.recoded_holdout
    )


def _judged(limits: TransparencyLimits, of: MethodAttack, pairs: Pairs, files: OriginalAndMasked) -> Finding:
    """The worst of the figures of one attack decides; all of them are said."""
    scope = f"{of.method}: {', '.join(of.attack.columns)}"
    try:
        leaks = of.attack.play(pairs)
    except DataError as error:
        return Finding(
            rule="transparency", verdict=Verdict.UNKNOWN, stage="attack", scope=scope, binding=limits.binding,
            attempted=len(files.masked), completed=0, says=f"The attack on {of.method} could not be played: {error}",
        )  # fmt: skip
    person = f"a person's {', '.join(of.attack.columns)} and " if of.attack.knows_person else ""
    verdicts = [_verdict(limits, leak) for leak in leaks]
    worst = leaks[max(range(len(leaks)), key=lambda at: verdicts[at])]
    return Finding(
        rule="transparency", verdict=max(verdicts), stage="attack", scope=scope, binding=limits.binding,
        observed=_observed(worst, files.minimum_cell), limit=_limit(limits, worst),
        attempted=worst.measured.attempted, completed=worst.measured.completed,
        says=f"An intruder who knows {person}{of.attack.knows} "
        + "; ".join(_says(limits, leak, of.attack.columns, files) for leak in leaks) + "."
        + if_near(max(verdicts), worst.measured.value, _limit(limits, worst), _interval(worst, files.minimum_cell)),
    )  # fmt: skip


def _observed(leak: Leak, minimum_cell: int) -> float | None:
    """The figure, unless it tells of a few people."""
    share = leak.measured.value
    return None if 0 < share * leak.measured.completed < minimum_cell else share


def _interval(leak: Leak, minimum_cell: int) -> str:
    """Its ends in words; '' where they would tell of a few people."""
    ends = leak.measured.interval
    if ends is None or _observed(leak, minimum_cell) is None:
        return ""
    return " to ".join(f"{100 * end:.3g} %" for end in ends)


def _limit(limits: TransparencyLimits, leak: Leak) -> float:
    allowed: float = getattr(limits, leak.kind)
    return min(1.0, allowed + (leak.measured.baseline or 0.0))


def _verdict(limits: TransparencyLimits, leak: Leak) -> Verdict:
    """PASS when the whole interval keeps the limit, FAIL when none of it does, REVIEW between."""
    measured, limit = leak.measured, _limit(limits, leak)
    if measured.completed == 0:
        return Verdict.UNKNOWN
    low, high = measured.interval or (measured.value, measured.value)
    return Verdict.PASS if high <= limit else Verdict.FAIL if low > limit else Verdict.REVIEW


def _says(limits: TransparencyLimits, leak: Leak, columns: tuple[str, ...], files: OriginalAndMasked) -> str:
    of, cell = leak.measured.completed, files.minimum_cell
    share = share_in_words(leak.measured.value, of, cell)
    may = f"{100 * _limit(limits, leak):.3g} %"
    said = {
        "identified": f"finds the own record of {share} of the {files.unit} ({may} may be found)",
        "confident": f"is rightly sure for {share} of the {files.unit} ({may} may be)"
        if leak.claims is None
        else f"is more than half sure for {share_in_words(leak.claims, of, cell)} of the {files.unit}, and right for "
        f"{share} ({may} may be)",
        "reconstructed": f"computes {share} of the values of {', '.join(columns)} closely ({may} may be)",
        "participation": f"gets {share} more right of those who took part than of others ({may} may be)",
    }[leak.kind]
    return f"{said}: {leak.says}" if leak.says else said
