"""Rules as a policy writes them: what is read, and what is said of one that is refused."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from policies.policy import Policy
from policies.rules.rules import AttackPolicyRule, PolicyRule, rules
from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DocumentError
from sluice.ground.rule import Rule
from sluice.tabular.rules.contributions import Values, one_cell
from sluice.tabular.rules.sensitivity import SensitivityRule

DOCS = (Path(__file__).parents[3] / "docs" / "rules.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^### `(\w+)`\n.*?^```yaml\n(.*?)^```$", DOCS, re.DOTALL | re.MULTILINE))


class Rules(BaseModel):
    rules: tuple[PolicyRule, ...] = ()
    attacks: tuple[AttackPolicyRule, ...] = ()


def load(**rule: Any) -> Rule:
    return parse_document(Rules, {"rules": [rule]}, "policy").rules[0]


def documented(name: str) -> Any:
    """The rule or attack as its example in docs/rules.md has it, in a policy with nothing else."""
    needed = {"name": "example", "version": 1, "approvals": {}, "rules": [{"rule": "k_anonymity", "k": 3}]}
    assert name in EXAMPLES, f"docs/rules.md has no example of {name}; run: sluice rules > docs/rules.md"
    policy = parse_document(Policy, needed | yaml.safe_load(EXAMPLES[name]), "example")
    (rule,) = policy.attacks or policy.rules
    assert rule.rule == name
    return rule


def refusal(**rule: Any) -> str:
    """What is said of a rule or an attack."""
    part = "attacks" if rule["rule"] in rules(AttackPolicyRule) else "rules"
    with pytest.raises(DocumentError) as error:
        parse_document(Rules, {part: [rule]}, "policy")
    return str(error.value)


def is_sensitive(rule: SensitivityRule, contributions: Values) -> bool:
    """Whether the cell that adds up these contributions may not be published."""
    return bool(rule.sensitive(one_cell(contributions, rule.rule))[0])
