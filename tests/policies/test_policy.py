"""The policy as a document: the shipped ones load, and what is wrong is refused with path, hint and nothing else."""

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.policy import Policy, load_policy
from policies.standard.preconditions import judge_leniency
from sluice.documents.document_reading import document_sha256, parse_document
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Verdict, decide
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import SensitivityRule
from tests.golden import golden

POLICIES = Path(__file__).resolve().parents[2] / "policies"
SHIPPED = sorted(POLICIES.glob("*.yaml"))
LEAST: dict[str, Any] = {
    "name": "least",
    "version": 1,
    "rules": [{"rule": "k_anonymity", "k": 5}],
    "approvals": {"count": 1},
}


def refused(**changes: Any) -> str:
    with pytest.raises(DocumentError) as caught:
        parse_document(Policy, LEAST | changes, "policy.yaml")
    return str(caught.value)


def test_a_policy_is_shipped_for_each_kind_of_product() -> None:
    assert [path.stem for path in SHIPPED] == [
        "business-tables",
        "count-tables",
        "perturbed-file",
        "public-use-business",
        "public-use-file",
        "scientific-use-file",
        "small-file",
        "synthetic-file",
    ]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_policy_loads_asks_for_four_eyes_and_explains_each_threshold(path: Path) -> None:
    policy = load_policy(path)
    assert policy.name == path.stem
    assert policy.approvals.count >= 2
    assert policy.approvals.identity == "account"
    thresholds = [line for line in path.read_text().splitlines() if "{rule:" in line]
    for line in thresholds:
        before = path.read_text().split(line)[0].rstrip().splitlines()[-1]
        assert before.lstrip().startswith("#"), f"no comment above: {line}"


def test_a_shipped_policy_is_loaded_by_its_name_wherever_the_user_is(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_policy(Path("scientific-use-file")).name == "scientific-use-file"
    with pytest.raises(DocumentError):
        load_policy(Path("scientific-use-files"))


def test_the_public_policy_is_stricter_than_the_scientific_one() -> None:
    public, scientific = (load_policy(POLICIES / f"{name}-use-file.yaml") for name in ("public", "scientific"))
    k = {policy.name: next(r.k for r in policy.rules if r.rule == "k_anonymity") for policy in (public, scientific)}
    assert k == {"public-use-file": 5, "scientific-use-file": 3}
    assert set(public.reference_standard.binding) > set(scientific.reference_standard.binding)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_policy_for_records_binds_every_intruder_and_is_not_lenient(path: Path) -> None:
    policy = load_policy(path)
    if policy.table_rules:
        return
    standard = policy.reference_standard
    assert judge_leniency(standard).verdict is Verdict.PASS
    assert standard.intruders
    assert all(intruder.binding for intruder in standard.intruders)
    assert standard.transparency.binding
    assert standard.learned.binding == (path.stem != "scientific-use-file")  # whose readers signed not to search


def test_the_business_policy_never_lets_a_microdata_file_out() -> None:
    policy = load_policy(POLICIES / "business-tables.yaml")
    variables = {"size": Variable(name="size", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER)}
    frame = pd.DataFrame({"size": pd.array(np.ones(100, dtype=int), dtype="Int64")})
    findings = [finding for rule in policy.rules for finding in rule.find(frame, variables, "masked")]
    assert len(findings) == len(policy.rules)
    assert decide(findings) is Verdict.UNKNOWN


def test_an_unknown_rule_is_refused_on_load_with_a_hint() -> None:
    text = refused(rules=[{"rule": "k_anonimity", "k": 5}])
    assert "rules.0" in text
    assert "k_anonimity" in text
    golden(text)


def test_an_unknown_key_is_refused_with_its_path_and_a_hint() -> None:
    text = refused(rules=[{"rule": "k_anonymity", "k": 5, "missing_match": "any"}])
    assert "rules.0.k_anonymity.missing_match" in text
    golden(text)


def test_a_policy_that_judges_nothing_or_asks_nobody_is_refused() -> None:
    golden.words(refused(rules=[]))
    assert parse_document(Policy, LEAST | {"rules": [], "reference_standard": {}}, "policy.yaml").rules == ()
    assert "approvals.count" in refused(approvals={"count": 0})
    with pytest.raises(DocumentError, match="approvals"):
        parse_document(Policy, {key: LEAST[key] for key in ("name", "version", "rules")}, "policy.yaml")


def test_a_waiver_for_no_rule_of_the_policy_is_refused() -> None:
    waiver = {
        "rule": "l_diversity",
        "scope": "income",
        "reason": "the owner accepts it for this one edition",
        "owner": "amara",
        "granted": date(2026, 11, 1),
        "expires": date(2026, 12, 1),
    }
    text = refused(waivers=[waiver])
    assert "waivers.0.rule" in text
    assert "k_anonymity" in text
    assert parse_document(Policy, LEAST | {"waivers": [waiver | {"rule": "k_anonymity"}]}, "p").waivers


def test_a_key_given_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text("name: a\nversion: 1\nname: b\n")
    golden.refused(DocumentError, load_policy, path)


def test_the_hash_follows_the_settings_not_the_layout(tmp_path: Path) -> None:
    text = (POLICIES / "public-use-file.yaml").read_text()
    shorter = tmp_path / "policy.yaml"
    shorter.write_text("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")))
    changed = tmp_path / "changed.yaml"
    changed.write_text(text.replace("k: 5", "k: 4"))
    original = document_sha256(load_policy(POLICIES / "public-use-file.yaml"))
    assert document_sha256(load_policy(shorter)) == original
    assert document_sha256(load_policy(changed)) != original


def test_the_shipped_policy_has_several_kinds_of_rule() -> None:
    rules = load_policy(POLICIES / "business-tables.yaml").rules
    assert all(isinstance(rule, SensitivityRule) for rule in rules)
    assert [rule for rule in rules if isinstance(rule, SensitivityRule)] == [
        MinimumFrequency(n=3, protection_percent=10),
        Dominance(n=1, k=75),
        PPercent(p=10, coalition=1),
    ]


# A policy that nothing could pass is refused when it loads; each limit that something can keep is not.


TABLES = {"rule": "minimum_frequency", "n": 3}


@pytest.mark.parametrize(
    "changes",
    [
        {"rules": [*LEAST["rules"], TABLES]},
        {"reference_standard": {"binding": ["distance", "uncertainty"]}},
        {"reference_standard": {"learned": {"found": 0}}},
        {"reference_standard": {"learned": {"people": 100}}},
        {"reference_standard": {"transparency": {"confident": 0.001}}},
        {"reference_standard": {"intruders": [{"knows": {"any": 2}, "claims": 0}]}},
        {"attacks": [{"rule": "distance_linkage", "excess": 0}]},
        {"attacks": [{"rule": "membership", "limit": 0}]},
        {"attacks": [{"rule": "distance_linkage", "excess": 0.01, "alike": 2}]},
    ],
    ids=["two_products", "uncertainty", "found", "people", "confident", "claims", "excess", "limit", "alike"],
)
def test_what_nothing_could_pass_is_refused(changes: dict[str, Any]) -> None:
    golden.refused(DocumentError, parse_document, Policy, LEAST | changes, "policy.yaml")


@pytest.mark.parametrize(
    "changes",
    [
        {"rules": [TABLES]},
        {"rules": [], "reference_standard": {"binding": ["distance", "uncertainty"]}},
        {"reference_standard": {"learned": {"found": 0, "binding": False}}},
        {"reference_standard": {"learned": {"people": 100, "claims": 0.04}}},
        {"attacks": [{"rule": "distance_linkage", "excess": 0, "binding": False}]},
        {"attacks": [{"rule": "distance_linkage", "excess": 0.01}]},
    ],
    ids=str,
)
def test_what_something_can_keep_is_not(changes: dict[str, Any]) -> None:
    parse_document(Policy, LEAST | changes, "policy.yaml")
