"""Limits that nothing can exceed are refused when a policy is loaded, with field, what is allowed and what came."""

from typing import Any

import pytest
from pydantic import ValidationError

from policies.idle_limits import idle_limits
from policies.policy import Policy, load_policy, shipped_policies
from policies.utility_limits import FAMILIES, UtilityLimits
from sluice.utility.measured import ShareLimit
from sluice.utility.utility_measures import measures
from tasks.checks import RULES
from tests.golden import golden, says

BASE: dict[str, Any] = {
    "name": "own",
    "version": 1,
    "approvals": {"count": 1},
    "rules": [{"rule": "k_anonymity", "k": 3}],
}
RECORDS: dict[str, list[dict[str, Any]]] = {
    "rules": [
        {"rule": "attribute_risk", "at_most": 1},
        {"rule": "individual_risk", "highest_at_most": 1},
        {"rule": "household_risk", "expected_at_most": 1},
        {"rule": "reidentification_risk", "model": "prosecutor", "average_at_most": 1},
        {"rule": "reidentification_risk", "model": "prosecutor", "records_above": {"risk": 1, "at_most": 0.1}},
        {"rule": "reidentification_risk", "model": "prosecutor", "records_above": {"risk": 0.2, "at_most": 1}},
        {"rule": "loglinear_risk", "uniques_at_most": 1, "sampling_fraction": 0.1},
        {"rule": "suda", "sampling_fraction": 0.1, "above": 1},
    ],
    "attacks": [
        {"rule": "distance_linkage", "limit": 1.038},
        {"rule": "distance_linkage", "excess": 1},
        {"rule": "probabilistic_linkage", "limit": 7},
        {"rule": "interval_disclosure", "limit": 1},
        {"rule": "linkage_score", "limit": 1},
        {"rule": "data_invasion", "limit": 1},
        {"rule": "attribute_inference", "excess": 1},
        {"rule": "maximum_knowledge", "limit": 1.2},
        {"rule": "membership", "limit": 1},
        {"rule": "singling_out", "limit": 1},
    ],
}
UTILITY: dict[str, Any] = {
    "pair_marginals": {"at_most": 1},
    "suppressed_share": {"at_most": 1.0},
    "correlation": {"at_most": 2},
    "cramers_v": {"at_most": 1.038},
    "pair_counts": {"at_most": 2},
    "models": [{"name": "pay", "kind": "linear", "formula": "pay ~ age", "overlap": {"at_least": 0}}],
    "predictions": [{"name": "who", "target": "sex", "ratio": {"at_least": 0}}],
}


def refused(**given: Any) -> str:
    with pytest.raises(ValidationError) as error:
        Policy.model_validate(BASE | given)
    return says(error.value)


@pytest.mark.parametrize("part", RECORDS)
def test_a_share_of_which_everybody_is_allowed_is_refused(part: str) -> None:
    golden([refused(**{part: [rule]}) for rule in RECORDS[part]])


@pytest.mark.parametrize("name", ["dominance", "request_rule"])
def test_nobody_has_more_than_all_of_a_cell(name: str) -> None:
    rule = {"rule": name, "k": 100} | ({"n": 1} if name == "dominance" else {})
    golden(refused(rules=[rule]))


def test_a_loss_that_no_file_can_have_is_refused() -> None:
    golden([refused(utility={name: limit}) for name, limit in UTILITY.items()])


def test_a_share_of_all_that_an_intruder_who_knows_the_method_finds_is_refused() -> None:
    golden(refused(reference_standard={"reference": "leave_one_out", "transparency": {"identified": 1}}))
    Policy.model_validate(
        BASE
        | {"reference_standard": {"reference": "leave_one_out", "transparency": {"identified": 1, "binding": False}}}
    )


def test_what_is_only_reported_decides_nothing_and_what_can_fail_stays() -> None:
    Policy.model_validate(
        BASE
        | {
            "attacks": [
                {"rule": "distance_linkage", "limit": 1, "binding": False},
                {"rule": "linkage_score", "limit": 1.2, "of": "score"},
                {"rule": "maximum_knowledge", "limit": 3, "comparison": "jensen_shannon"},
                {"rule": "membership", "limit": 0.99},
            ],
            "utility": {"pair_marginals": {"at_most": 1, "binding": False}, "mean": {"at_most": 5}},
        }
    )


def test_every_limit_that_is_a_share_has_a_largest_figure() -> None:
    """Of each rule and measure whose field takes a share of 1: so that a new one cannot be forgotten."""
    for each in measures(FAMILIES):
        if issubclass(each.limit, ShareLimit):
            assert each.largest == 1, each.name
    for name, rule in RULES.items():
        limits = {field for field in rule.model_fields if field in ("limit", "excess") or field.endswith("at_most")}
        declared = {field.partition(".")[0] for field in rule.largest}
        open_ended = {field for field in limits - declared if not _below_one(rule, field)}
        assert open_ended <= {"limit", "excess"} if name == "attribute_divergence" else not open_ended, name


def _below_one(rule: Any, field: str) -> bool:
    return any(getattr(each, "lt", 2) <= 1 for each in rule.model_fields[field].metadata)


@pytest.mark.parametrize("name", shipped_policies())
def test_the_shipped_policies_have_none(name: str) -> None:
    policy = load_policy(shipped_policies()[name])
    assert idle_limits(policy.rules, policy.attacks, policy.reference_standard, policy.utility) == []
    assert idle_limits((), (), None, UtilityLimits()) == []
