"""The policy's rules on the original are reported; on the masked file they decide."""

from collections.abc import Callable

import pytest

from sluice.verdict import Verdict
from tasks.check import check
from tasks.mask import mask
from tasks.release.product import AnyRelease
from tests.flows.house import House

Bring = Callable[[House], AnyRelease]


@pytest.mark.slow
def test_what_is_found_of_the_original_does_not_decide(house: House, validated: Bring) -> None:
    findings = check(validated(house))
    (anonymity,) = (finding for finding in findings if finding.rule == "k_anonymity")
    assert (anonymity.verdict, anonymity.binding, anonymity.stage) == (Verdict.FAIL, False, "original")
    assert not any(finding.binding for finding in findings)


@pytest.mark.slow
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


@pytest.mark.slow
def test_people_are_counted_although_the_file_no_longer_names_them(house: House, validated: Bring) -> None:
    (household,) = (each for each in house.contract["variables"] if each["name"] == "household")
    household["role"] = "person"
    release = validated(house)
    found = {finding.rule: finding for finding in check(release, mask(release))}
    assert found["k_anonymity"].says.endswith("Several records of one person count as one.")
    assert found["l_diversity"].says.endswith("Counted are the original values of those who share a released group.")


@pytest.mark.slow
def test_a_key_that_no_rule_looks_at_needs_a_decision_and_editions_are_always_compared(
    house: House, validated: Bring
) -> None:
    house.policy["rules"] = [{"rule": "k_anonymity", "k": 2, "columns": ["sex"]}]
    release = validated(house)
    found = {finding.rule: finding for finding in check(release, mask(release))}
    assert found["overlooked_keys"].verdict is Verdict.REVIEW
    assert "region" in found["overlooked_keys"].says
    assert found["few_changes"].verdict is Verdict.PASS
