"""All checks by their names: what each asks, why, and what helps; see the contracts of the rules."""

import json
import re
from collections import Counter

import pytest

from flows.json_schemas import DOCUMENTS, json_schema
from policies.policy import load_policy, shipped_policies
from policies.rules.rules import AttackPolicyRule, PolicyRule, rules
from policies.several_publications import RULES as SEVERAL
from policies.standard.standard_checks import PARTS
from policies.utility_limits import UtilityLimits
from schemas.checks.frame_check import _STRUCTURE
from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Finding, Verdict
from tasks.checks import advice_on, declarations, explain, explained, explained_by_kind, with_advice
from tests.golden import golden

RULES = rules(PolicyRule) | rules(AttackPolicyRule)
# What is looked at under every policy, or of every release of a kind.
LOOKED_AT = [
    *("sentinels", "few_changes", "overlooked_keys", "impossible_records", "utility", "reference_standard", "drift"),
    "turned_coefficients",
    *("expectations", "freshness", "data_docs", "released_table", "contributor_numbers", "table_audit", "table_files"),
    *(
        "a_priori",
        "waiver",
        "identifiers_removed",
        "unknown_columns",
        "holdout_of_others",
        "pairs",
        "row_order",
        "unread_marks",
        "formula_cells",
    ),
    *(
        "power",
        "pruned_publications",
        "reassessment",
        "several_publications",
        "earlier_editions",
        "other_measures",
        "measures",
        "cells_added_up",
    ),
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
    of_contract = {name for name in explained() if name.partition(".")[0] == "contract"}
    assert {*explained()} - NAMED - of_contract == set()


def test_methods_and_settings_that_an_advice_names_exist() -> None:
    """Words with an underscore are names: of methods, settings and rules, as the documents of an office write them."""
    known = {*explained(), *re.findall(r'"(\w+)"', json.dumps([json_schema(model) for model in DOCUMENTS.values()]))}
    text = " ".join(f"{each.helps} {each.needs}" for each in declarations())
    assert {*re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)} - known == set()


def test_an_unknown_rule_has_none() -> None:
    assert advice_on(Finding(rule="something_new", verdict=Verdict.FAIL, says=".")) == ""


def test_no_two_rules_share_a_sentence() -> None:
    advice = [each.helps.rstrip(".") for each in declarations() if each.helps]
    sentences = Counter(sentence for text in advice for sentence in text.split(". "))
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


def test_a_rule_speaks_by_its_own_words() -> None:
    found = explain("k_anonymity")
    golden(found.asks)
    golden(found.about)
    assert found.example == "{rule: k_anonymity, k: 5}"
    assert found.helps == RULES["k_anonymity"].advice
    assert "Sweeney (2002)" in found.source


@pytest.mark.parametrize("name", ["k-anonymity", "K anonymity", " k_anonymity "])
def test_it_is_found_as_a_report_writes_it(name: str) -> None:
    assert explain(name) == explain("k_anonymity")


def test_every_rule_part_of_the_standard_and_limit_says_what_it_is_about_and_what_helps() -> None:
    for name in (*RULES, *(part.rule for part in PARTS), *UtilityLimits.model_fields):
        found = explain(name)
        assert found.about or found.asks, name
        assert found.helps or found.needs, name
    assert all(explain(name).rule == name for name in explained())
    assert explain("contract.kind").helps


def test_of_two_checks_of_one_name_both_are_told() -> None:
    golden(explain("worst_subgroup").asks)
    golden(explain("worst_subgroup").helps)


def test_no_rule_and_no_part_of_the_standard_lacks_a_part_of_its_explanation() -> None:
    for name in RULES:
        found = explain(name)
        lacking = [part for part, text in vars(found).items() if text == ""]
        assert not lacking, (name, lacking)
    parts = explained_by_kind()["Parts of the reference standard"]
    assert {"prediction_ambiguity", "exact_copies", "unique_values"} <= {*parts}
    said = [explain(name) for name in [*parts, "worst_subgroup"]]
    assert all(found.about and found.asks and (found.helps or found.needs) for found in said)
    assert len({found.asks for found in said}) == len(said), (
        "parts that have a document in common ask for different things"
    )
    golden.words(explain("prediction_ambiguity").asks)


@pytest.mark.parametrize("name", ["k_anonimity", "prediction_distanc", "", "\x1b[2Jk_anonymity"])
def test_an_unknown_one_is_refused_with_the_nearest_and_no_escape_reaches_the_terminal(name: str) -> None:
    golden.refused(SluiceError, explain, name)


def test_a_limit_and_a_part_of_the_standard_of_one_name_each_have_their_own_advice() -> None:
    failed = {"rule": "worst_subgroup", "verdict": Verdict.FAIL, "says": "."}
    of_people, of_utility = (advice_on(Finding(**failed, stage=stage)) for stage in ("reference", "utility"))
    assert "protected less" in of_people
    assert "most of the masking" in of_utility
