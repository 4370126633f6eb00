"""Advice: every rule that a finding may name says what to do about it, and says it of itself alone."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from policies.advice import ADVICE, advice_on, with_advice
from policies.rules.catalogue import rules
from policies.rules.rules import AttackPolicyRule, PolicyRule
from policies.standard.reference_standard import ReferenceStandard
from policies.utility.limits import UtilityLimits
from schemas.checks.frame_check import _STRUCTURE
from sluice.verdict import Finding, Verdict

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("sluice", "schemas", "policies", "tasks", "flows")
RULE_AT = {
    "findings_of": 0,
    "Clause": 0,
    "_Condition": 0,
    "judge_copies": 1,
    "_of_rule": 0,
}  # calls that take a rule by its place
# Expressions that give a rule its name, with the names that they stand for where no other call writes these.
COMPUTED: dict[str, tuple[str, ...]] = {
    "rule": (),
    "rule.rule": (),
    "self.rule": (),
    "clause.rule": (),
    "name": tuple(UtilityLimits.model_fields),
    "check": tuple(f"contract.{check}" for check in (*_STRUCTURE, "rows_minimum", "rows_maximum")),
    "side": ("contract.minimum", "contract.maximum"),
    "f'rule:{rule.name}'": ("contract.rule",),
    "f'prediction_{measure}'": (),
    "RULE": ("pruned_publications",),
}
ALWAYS_UNKNOWN = {("duplicate_records", Verdict.REVIEW), ("duplicate_records", Verdict.FAIL)}


def rules_named(source: str) -> Iterator[str]:
    """Names of rules that a piece of the product gives to findings, or the expressions that compute them."""
    if not any(call in source for call in ("Finding", *RULE_AT)):  # parsing takes longer
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "attr", getattr(node.func, "id", None))
        given: ast.expr | None = None
        if called == "Finding":
            given = next(keyword.value for keyword in node.keywords if keyword.arg == "rule")
        elif called in RULE_AT:
            given = node.args[RULE_AT[called]]
        if given is None:
            continue
        if isinstance(given, ast.Constant):
            yield f"contract.{given.value}" if called == "_Condition" else str(given.value)
        else:
            yield ast.unparse(given)


RULES = rules(PolicyRule) | rules(AttackPolicyRule)
NAMED = {
    name
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    for name in rules_named(path.read_text(encoding="utf-8"))
}
ASKED = {
    *(NAMED - COMPUTED.keys()),
    *(name for names in COMPUTED.values() for name in names),
    *RULES,
    *ReferenceStandard.finding_names,
}


def test_the_search_finds_rules_that_no_policy_chooses() -> None:
    assert {"few_changes", "table_audit", "table_files", "drift", "pairs", "waiver", "contract.kind"} <= NAMED


@pytest.mark.parametrize("rule", sorted(ASKED))
def test_every_rule_that_a_finding_may_name_has_advice(rule: str) -> None:
    for verdict in (Verdict.REVIEW, Verdict.FAIL, Verdict.UNKNOWN):
        if (rule, verdict) not in ALWAYS_UNKNOWN:
            assert advice_on(Finding(rule=rule, verdict=verdict, says=".")).endswith(".")


def test_an_unknown_rule_has_none() -> None:
    assert advice_on(Finding(rule="something_new", verdict=Verdict.FAIL, says=".")) == ""


def test_no_two_rules_share_a_sentence() -> None:
    sentences = Counter(sentence for advice in ADVICE.values() for sentence in advice.rstrip(".").split(". "))
    assert [sentence for sentence, times in sentences.items() if times > 1] == []


def test_twins_in_the_source_are_looked_for_at_the_source_and_not_perturbed() -> None:
    advice = advice_on(Finding(rule="duplicate_records", verdict=Verdict.UNKNOWN, says="."))
    assert "People stand twice in the source" in advice
    assert "perturb" not in advice.lower()


def test_what_was_not_measured_cannot_be_excused_and_says_what_it_needs() -> None:
    advice = advice_on(Finding(rule="individual_risk", verdict=Verdict.UNKNOWN, says="."))
    assert "role weight" in advice
    assert advice.endswith("A waiver cannot excuse what was not measured.")
    crash = advice_on(Finding(rule="utility", verdict=Verdict.UNKNOWN, says="."))
    assert crash.startswith("Find out why the check could not be completed")


def test_only_what_did_not_pass_gets_advice() -> None:
    passed = Finding(rule="k_anonymity", verdict=Verdict.PASS, says=".")
    failed = passed.model_copy(update={"verdict": Verdict.FAIL})
    assert [finding.advice for finding in with_advice([passed, failed])] == ["", RULES["k_anonymity"].advice]
