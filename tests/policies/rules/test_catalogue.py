"""The examples in docs/rules.md: each is a line of a policy that loads, and that judges a small file or cell."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from policies.original_and_masked import OriginalAndMasked
from policies.policy import Policy
from policies.rules.attack_rule import AttackRule
from policies.rules.catalogue import rules
from policies.rules.rules import AttackPolicyRule, PolicyRule
from policies.rules.table_rule import TableRule
from sluice.documents.documents import parse_document
from sluice.variables import Kind, Role, Variable
from sluice.verdict import Verdict

DOCS = (Path(__file__).parents[3] / "docs" / "rules.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^### `(\w+)`\n.*?^```yaml\n(.*?)^```$", DOCS, re.DOTALL | re.MULTILINE))
RULES = rules(PolicyRule) | rules(AttackPolicyRule)
NAMES = sorted(RULES)
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER),
        Variable(name="height", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER),
        Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=("north", "south")),
        Variable(name="income", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
        Variable(name="household", kind=Kind.INTEGER, role=Role.HOUSEHOLD),
        Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT),
        Variable(name="places", kind=Kind.ITEMS),
    )
}


def people(records: int, seed: int) -> pd.DataFrame:
    """Ages in steps of five years, heights in centimetres, and incomes that go with age and are anybody's own."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, records) // 5 * 5
    return pd.DataFrame(
        {
            "age": pd.array(age, dtype="Int64"),
            "height": np.round(rng.normal(170, 10, records)),
            "area": pd.Categorical(rng.choice(["north", "south"], records), categories=["north", "south"]),
            "income": np.round(age * 1000 + rng.normal(0, 20_000, records), -3),
            "household": pd.array(np.arange(records) // 2, dtype="Int64"),
            "weight": np.full(records, 20.0),
            "places": pd.Categorical(rng.choice(["lake", "lake;moor", "moor"], records)),
        }
    )


ORIGINAL = people(400, 1)
MASKED = ORIGINAL.assign(income=ORIGINAL["income"] + np.random.default_rng(3).normal(0, 2000, 400))
HOLDOUT = people(400, 2)


def load(name: str) -> Any:
    """The rule as a policy with nothing but the example has it."""
    needed = {"name": "example", "version": 1, "approvals": {}, "rules": [{"rule": "k_anonymity", "k": 3}]}
    policy = parse_document(Policy, needed | yaml.safe_load(EXAMPLES[name]), "example")
    (rule,) = policy.attacks or policy.rules
    assert rule.rule == name
    return rule


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_every_rule_loads_and_judges(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keys = people(4000, 4)[["age", "height", "area"]]
    pd.concat([keys, ORIGINAL[["age", "height", "area"]]]).to_csv("population.csv", index=False)
    rule = load(name)
    if isinstance(rule, TableRule):
        return  # a rule on cells judges them in the contract
    if isinstance(rule, AttackRule):
        files = OriginalAndMasked(
            ORIGINAL, ORIGINAL, MASKED, HOLDOUT, VARIABLES, VARIABLES, np.random.default_rng(5), recoded_holdout=HOLDOUT
        )
        findings = rule.find(files)
    else:
        findings = rule.find(MASKED, VARIABLES, "masked")
    assert findings
    assert [finding.says for finding in findings if finding.verdict is Verdict.UNKNOWN] == []
    assert {finding.rule for finding in findings} == {name}
