"""Advice: what a finding may name has advice of its own, which names what there is; see the contracts of the rules."""

import json
import re
from collections import Counter

import pytest

from flows.json_schemas import DOCUMENTS, json_schema
from policies.advice import ADVICE, UNMEASURED, advice_on, with_advice
from policies.policy import load_policy, shipped_policies
from policies.rules.catalogue import rules
from policies.rules.rules import AttackPolicyRule, PolicyRule
from policies.several_publications import RULES as SEVERAL
from policies.standard.checks import PARTS
from policies.utility_limits import UtilityLimits
from schemas.checks.frame_check import _STRUCTURE
from sluice.ground.verdict import Finding, Verdict

RULES = rules(PolicyRule) | rules(AttackPolicyRule)
# What is looked at under every policy, or of every release of a kind.
LOOKED_AT = [
    *("sentinels", "few_changes", "overlooked_keys", "impossible_records", "utility", "reference_standard", "drift"),
    *("expectations", "freshness", "data_docs", "released_table", "contributor_numbers", "table_audit", "table_files"),
    *("a_priori", "waiver", "identifiers_removed", "unknown_columns", "holdout_of_others", "pairs", "formula_cells"),
    *("pruned_publications", "reassessment", "several_publications", "earlier_editions", "other_measures"),
    *("columns", "row_count", "type", "missing_share", "range", "categories", "unique"),  # expectations
    *("records_and_tables", "contract.kind", "contract.rule", "contract.minimum", "contract.maximum"),
    *(f"contract.{check}" for check in (*_STRUCTURE, "rows_minimum", "rows_maximum")),
]
WAIVABLE = {name for path in shipped_policies().values() for name in load_policy(path).waivable}
NAMED = {*RULES, *(part.rule for part in PARTS), *UtilityLimits.model_fields, *SEVERAL, *LOOKED_AT, *WAIVABLE}
ALWAYS_UNKNOWN = {("duplicate_records", Verdict.REVIEW), ("duplicate_records", Verdict.FAIL)}


@pytest.mark.parametrize("rule", sorted(NAMED))
def test_every_rule_that_a_finding_may_name_has_advice(rule: str) -> None:
    for verdict in (Verdict.REVIEW, Verdict.FAIL, Verdict.UNKNOWN):
        if (rule, verdict) not in ALWAYS_UNKNOWN:
            assert advice_on(Finding(rule=rule, verdict=verdict, says=".")).endswith(".")


def test_no_advice_is_for_a_rule_that_there_is_not() -> None:
    of_contract = {name for name in ADVICE if name.partition(".")[0] == "contract"}
    assert {*ADVICE, *UNMEASURED} - NAMED - of_contract == set()


def test_methods_and_settings_that_an_advice_names_exist() -> None:
    """Words with an underscore are names: of methods, settings and rules, as the documents of an office write them."""
    known = {*ADVICE, *re.findall(r'"(\w+)"', json.dumps([json_schema(model) for model in DOCUMENTS.values()]))}
    text = " ".join((*ADVICE.values(), *UNMEASURED.values()))
    assert {*re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)} - known == set()


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
    crash = advice_on(Finding(rule="utility", verdict=Verdict.UNKNOWN, says="."))
    assert crash.startswith("Find out why the check could not be completed")
    assert crash.endswith("A waiver cannot excuse what was not measured.")


def test_only_what_did_not_pass_gets_advice() -> None:
    passed = Finding(rule="k_anonymity", verdict=Verdict.PASS, says=".")
    failed = passed.model_copy(update={"verdict": Verdict.FAIL})
    assert [finding.advice for finding in with_advice([passed, failed])] == ["", RULES["k_anonymity"].advice]
