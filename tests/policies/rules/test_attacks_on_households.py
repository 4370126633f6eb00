"""What holds of every attack on a file of households: members who share a value are no sign that the file tells it.

Whoever is left out of what an attack is compared with is left out with the household, and none of it is learned from
where another is attacked. A new attack is added to `ATTACKS`.
"""

from typing import Any

import pytest
from pydantic import TypeAdapter

from policies.rules.attack_rule import AttackRule
from policies.rules.rules import AttackPolicyRule
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tests.policies.rules.household_files import judged

_SHARED, _KEYS = ("weight", "heat", "rent"), ("age", "sex", "area")
_APART, _TORN, _PAIRS = judged(control=True), judged(), judged(paired=True)
_TOLD, _TOLD_ALONE = judged(_SHARED, control=True), judged(_SHARED)
_TOLD_OF_PAIRS, _COPIED = judged((*_SHARED, *_KEYS), paired=True), judged((*_SHARED, *_KEYS, "wage", "ill"), True)

# Each with its settings, a file that tells nothing, and one that tells a value of households, or where that does not
# show a rule anything, all values.
ATTACKS: list[tuple[str, dict[str, Any], Comparison, Comparison]] = [
    ("subset_inference", {"limit": 0.1}, _TORN, _TOLD_ALONE),
    ("subset_inference", {"limit": 0.1}, _APART, _TOLD),
    ("participant_inference", {"limit": 0.1}, _APART, _COPIED),
    ("membership", {"limit": 0.1, "attacks": 200}, _APART, _COPIED),
    ("rare_combinations", {"limit": 0.1}, _APART, _COPIED),
    ("singling_out", {"limit": 0.15}, _APART, _COPIED),
    ("linkability", {"limit": 0.1, "known": (("weight", "heat"), ("rent", "area")), "k": 5}, _APART, _COPIED),
    ("attribute_inference", {"excess": 0.1, "trees": 5, "known": ("weight", "rent"), "columns": ("heat",)}, _PAIRS,
     _TOLD_OF_PAIRS),
    ("distance_linkage", {"excess": 0.05}, _PAIRS, _TOLD_OF_PAIRS),
    ("probabilistic_linkage", {"excess": 0.05}, _PAIRS, _TOLD_OF_PAIRS),
]  # fmt: skip
_RULE: TypeAdapter[AttackRule] = TypeAdapter(AttackPolicyRule)


@pytest.mark.parametrize(
    ("name", "settings", "harmless", "telling"), ATTACKS, ids=[f"{name} {at}" for at, (name, *_) in enumerate(ATTACKS)]
)
def test_a_shuffled_file_is_not_stopped_and_one_that_tells_is(
    name: str, settings: dict[str, Any], harmless: Comparison, telling: Comparison
) -> None:
    rule = _RULE.validate_python({"rule": name} | settings)
    # So few households leave some figures open.
    assert [each.says for each in rule.find(harmless) if each.verdict is Verdict.FAIL] == []
    assert max(each.verdict for each in rule.find(telling)) is Verdict.FAIL
