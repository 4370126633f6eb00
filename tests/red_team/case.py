"""A case: a file that must not pass, the attack that works on it, and the rule that has to stop it.

To add one, write a file in `tests/red_team/cases` with a tuple `CASES`; `test_cases.py` finds it.
"""

from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from policies.policy import Policy, load_policy
from policies.standard.standard_checks import checks_of
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.comparison import Comparison
from tasks.release.crashed_measures import findings_of
from tasks.release.records.record_findings import check_masked, risk_findings

_POLICIES = Path(__file__).parents[2] / "policies"

Attack = Callable[[Comparison], float]
"""The share of the people, or of their values, that it reaches, 0 to 1. Written for the case, not the product's own."""


@dataclass(frozen=True)
class Case:
    """One file, its attack and the rules of which one at least must FAIL.

    name    : a few words, also the test's name
    make    : the file, paired or not
    attack  : plays the intruder
    reaches : the share that the attack reaches at least
    chance  : the share that it would reach without the file, at most
    rules   : names of findings; one of them must FAIL, whatever else does
    verdict : that at least, of one of the rules: REVIEW keeps a file back, too
    policy  : the shipped policy under which the file would be published
    more    : shows on one more file what another case shows
    rarely  : takes so long that only `make exhaustive` plays it
    maps    : is found by maps over several columns alone, the dearest rulers; others are looked for without them
    """

    name: str
    make: Callable[[], Comparison]
    attack: Attack
    reaches: float
    chance: float = 0.01
    rules: tuple[str, ...] = ("transparency",)
    policy: str = "public-use-file"
    more: bool = False
    rarely: bool = False
    maps: bool = False
    verdict: Verdict = Verdict.FAIL


def judge(files: Comparison, policy: Policy | str) -> Iterator[Finding]:
    """All findings on a file, as a release has them, but for those on its use; each measured when it is asked for."""
    policy = _loaded(policy)
    yield from check_masked(policy, files)
    yield from risk_findings(policy, files)


def _looked_for(files: Comparison, policy: Policy, until: Collection[str]) -> Iterator[Finding]:
    """What a release finds of these rules by the checks that bear their names, or by intruders who learn from pairs.

    The same figures as in a release: each check has the draws that it has there.
    """
    standard = policy.reference_standard
    if standard is None or not files.paired:
        return
    wanted = {*until, *(["learned_linkage"] if _BY_LEARNING & {*until} else [])}
    checks = checks_of(standard, files, [], policy.attacks, policy.rules)
    for each, rng in zip(checks, files.rng.spawn(len(checks)), strict=True):
        drawing = files.drawing(rng)
        for part in each.parts(drawing):
            if part.rule in wanted:
                for finding in findings_of(part.rule, part.stage, part.find):
                    yield each.adding(finding) if each.adding else finding


_BY_LEARNING = {"learned_claims", "small_groups", "attribute_gain"}  # found with `learned_linkage`


def failures(
    files: Comparison, policy: Policy | str, until: Collection[str], verdict: Verdict = Verdict.FAIL
) -> dict[str, str]:
    """The binding findings that FAIL (or are at least of another verdict), up to the first of the rules `until`: rule
    -> what it says. What could not be judged, as where a rule crashed, has found nothing.

    One that fails stops the file; what else there is to find takes longest. So what is looked for comes first, and all
    else, as in a release, where that does not fail.
    """
    found: dict[str, str] = {}
    loaded, draws = _loaded(policy), deepcopy(files.rng)
    for each in chain(_looked_for(replace(files, rng=draws), loaded, until), judge(files, loaded)):
        if verdict <= each.verdict < Verdict.UNKNOWN and each.binding:
            found[each.rule] = each.says
            if each.rule in until:
                break
    return found


def _loaded(policy: Policy | str) -> Policy:
    return load_policy(_POLICIES / f"{policy}.yaml") if isinstance(policy, str) else policy
