"""A policy that nothing could pass is refused when it loads; each limit that something can keep is not."""

from typing import Any

import pytest

from policies.policy import Policy
from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DocumentError

LEAST: dict[str, Any] = {
    "name": "least",
    "version": 1,
    "rules": [{"rule": "k_anonymity", "k": 5}],
    "approvals": {"count": 1},
}
TABLES = {"rule": "minimum_frequency", "n": 3}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rules": [*LEAST["rules"], TABLES]}, "minimum_frequency judges tables and k_anonymity records"),
        ({"reference_standard": {"binding": ["distance", "uncertainty"]}}, "uncertainty is 0 where records are made"),
        ({"reference_standard": {"learned": {"found": 0}}}, "reference_standard.learned.found: where 2,000 people"),
        ({"reference_standard": {"learned": {"people": 100}}}, r"claims: where 100 .* may still be 3.62%, so 2.00%"),
        ({"reference_standard": {"transparency": {"confident": 0.001}}}, "reference_standard.transparency.confident"),
        ({"reference_standard": {"intruders": [{"knows": {"any": 2}, "claims": 0}]}}, r"intruders.0.claims"),
        ({"attacks": [{"rule": "distance_linkage", "excess": 0}]}, r"attacks.0.excess: 0 can never be shown"),
        ({"attacks": [{"rule": "membership", "limit": 0}]}, r"attacks.0.limit: 0 can never be shown"),
    ],
    ids=str,
)
def test_what_nothing_could_pass_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        parse_document(Policy, LEAST | changes, "policy.yaml")


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
