"""A case: a file that must not pass, the attack that works on it, and the rule that has to stop it.

To add one, write a file in `tests/red_team/cases` with a tuple `CASES`; `test_cases.py` finds it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from policies.original_and_masked import OriginalAndMasked
from policies.policy import Policy, load_policy
from sluice.verdict import Finding, Verdict
from tasks.release.records.judgement import check_masked, evaluate_file

_POLICIES = Path(__file__).parents[2] / "policies"

Attack = Callable[[OriginalAndMasked], float]
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
    policy  : the shipped policy under which the file would be published
    """

    name: str
    make: Callable[[], OriginalAndMasked]
    attack: Attack
    reaches: float
    chance: float
    rules: tuple[str, ...]
    policy: str = "public-use-file"


def judge(files: OriginalAndMasked, policy: Policy | str) -> list[Finding]:
    """All findings on a file, as a release has them."""
    if isinstance(policy, str):
        policy = load_policy(_POLICIES / f"{policy}.yaml")
    evaluation = evaluate_file(policy, files, files.variables, files.released)
    return [*check_masked(policy, files), *evaluation.findings]


def failed(findings: list[Finding]) -> dict[str, str]:
    """The binding findings that FAIL: rule -> what it says."""
    return {each.rule: each.says for each in findings if each.verdict is Verdict.FAIL and each.binding}
