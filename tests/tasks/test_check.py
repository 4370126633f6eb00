"""The policy's rules on the original are reported; on the masked file they decide."""

from collections.abc import Callable

import pytest

from sluice.ground.verdict import Verdict
from tasks.failure import StepFailed
from tasks.record_steps import check, mask
from tasks.release.product import AnyRelease
from tasks.release.running_step import listening
from tests.flows.house import House
from tests.golden import golden

Bring = Callable[[House], AnyRelease]


def test_what_is_found_of_the_original_does_not_decide(house: House, validated: Bring) -> None:
    findings = check(validated(house))
    (anonymity,) = (finding for finding in findings if finding.rule == "k_anonymity")
    assert (anonymity.verdict, anonymity.binding, anonymity.stage) == (Verdict.FAIL, False, "original")
    assert not any(finding.binding for finding in findings)


def test_what_can_be_told_is_said_before_masking(house: House, validated: Bring) -> None:
    heard: list[str] = []
    with listening(lambda step, seconds: None, heard.append):
        findings = check(validated(house))
    (power,) = (finding for finding in findings if finding.rule == "power")
    assert (power.stage, power.binding, heard) == ("original", False, [power.says])


def test_the_masked_file_must_keep_the_rules(house: House, validated: Bring) -> None:
    release = validated(house)
    findings = check(release, mask(release))
    assert {finding.stage for finding in findings} == {"masked"}
    (anonymity,) = (finding for finding in findings if finding.rule == "k_anonymity")
    assert (anonymity.verdict, anonymity.binding) == (Verdict.PASS, True)
    house.policy["rules"][0]["k"] = 1000
    strict = validated(house)
    (anonymity,) = (finding for finding in check(strict, mask(strict)) if finding.rule == "k_anonymity")
    assert (anonymity.verdict, anonymity.binding) == (Verdict.FAIL, True)


def test_people_are_counted_although_the_file_no_longer_names_them(house: House, validated: Bring) -> None:
    (household,) = (each for each in house.contract["variables"] if each["name"] == "household")
    household["role"] = "person"
    release = validated(house)
    found = {finding.rule: finding for finding in check(release, mask(release))}
    golden.words(found["k_anonymity"].says)
    golden.words(found["l_diversity"].says)


def test_a_key_that_no_rule_looks_at_needs_a_decision_and_editions_are_always_compared(
    house: House, validated: Bring
) -> None:
    house.policy["rules"] = [{"rule": "k_anonymity", "k": 2, "columns": ["sex"]}]
    release = validated(house)
    found = {finding.rule: finding for finding in check(release, mask(release))}
    assert found["overlooked_keys"].verdict is Verdict.REVIEW
    assert "region" in found["overlooked_keys"].says
    assert found["few_changes"].verdict is Verdict.PASS


@pytest.mark.parametrize(
    "rule",
    [
        {"rule": "k_map", "k": 2},
        {"rule": "delta_presence", "at_most": 0.9},
        {"rule": "reidentification_risk", "model": "journalist", "highest_at_most": 0.5},
    ],
)
def test_the_population_is_read_where_the_operator_lets_files_be_read(
    house: House, validated: Bring, monkeypatch: pytest.MonkeyPatch, rule: dict[str, object]
) -> None:
    """A policy that names another file has its columns told in an error, and its rows counted."""
    there = house.root / "there"
    there.mkdir()
    secret = house.root / "secret.csv"
    secret.write_text("sex,regoin\nf,geheim\n")
    (there / "link.csv").symlink_to(secret)
    monkeypatch.chdir(there)
    monkeypatch.setenv("SLUICE_HOME", str(house.home))
    for named in (str(secret), "../secret.csv", "link.csv"):
        house.policy["rules"] = [rule | {"population": named, "columns": ["sex", "region"]}]
        with pytest.raises(StepFailed) as refused:
            validated(house)
        golden.words(refused.value.detail)
        assert "regoin" not in refused.value.detail
    secret.write_text("sex,region,count\nf,north,9999\nf,south,9999\nm,north,9999\nm,south,9999\n")
    operator = house.home / "connections.yaml"
    operator.touch(mode=0o600)
    operator.write_text(f"files: [{house.documents}, {house.root}]\n")
    found = check(validated(house))
    assert next(each for each in found if each.rule == rule["rule"]).observed is not None
