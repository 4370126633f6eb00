"""Checks: what they cannot judge without is said beforehand, and nothing is refused that could be judged."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from pydantic import TypeAdapter

from policies.check import at_hand, unmet
from policies.policy import Policy, load_policy, shipped_policies
from policies.rules.attack_rule import AttackRule
from policies.rules.rules import AttackPolicyRule, PolicyRule, rules
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.rule import Need, Rule
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.red_team.files import files_of

RULES: list[Any] = [
    TypeAdapter(union).validate_python(yaml.safe_load(model.example))
    for union in (PolicyRule, AttackPolicyRule)
    for model in rules(union).values()
]
APPROVALS = {"count": 2, "roles": ["methodologist"], "valid_days": 30, "identity": "declared"}
ALL = [need for need in Need if need not in (Need.CELLS, Need.POPULATION)]


def files_without(*roles: Role) -> Comparison:
    """Sixty people by numbers and a category that have these roles, and nobody set aside."""
    draws = np.random.default_rng(1)
    names = [f"v{at}" for at in range(6)]
    frame = pd.DataFrame({name: draws.normal(size=60).round(1) for name in names})
    frame["v1"] = frame["v0"].round()  # what can be guessed, with whatever else is there
    given = dict(zip(names, roles, strict=False))
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=given.get(name, Role.OTHER)) for name in names}
    return files_of(frame, frame, variables)


def found_by(rule: Rule | AttackRule, files: Comparison) -> list[Finding]:
    """None where the rule breaks down, which is reported as UNKNOWN."""
    try:
        if isinstance(rule, AttackRule):
            return rule.find(files)
        return rule.find(files.masked, files.released, "masked")
    except DataError:
        return []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.rule))
def test_a_rule_that_lacks_what_it_needs_is_unknown(rule: Any) -> None:
    """Refused is only what would be UNKNOWN, whatever else is there."""
    roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.WEIGHT, Role.HOUSEHOLD)
    for without in (None, *roles):
        kept = [role for role in roles if without is not None and role is not without]
        files = files_without(*kept)
        if unmet(rule.requirements, at_hand(files.variables, holdout=False), True, "argument"):
            assert (
                max((finding.verdict for finding in found_by(rule, files)), default=Verdict.UNKNOWN) is Verdict.UNKNOWN
            )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.rule))
def test_nothing_is_refused_where_all_is_there(rule: Any) -> None:
    cells = [each for each in rule.requirements if each.any_of == (Need.CELLS,)]
    assert unmet([each for each in rule.requirements if each not in cells], ALL, True, "argument") == []
    assert len(unmet(cells, ALL, True, "option")) == bool(cells)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.rule))
def test_a_rule_of_which_nothing_is_lacking_is_not_unknown_for_want_of_a_role(rule: Any) -> None:
    """What is UNKNOWN though nothing is unmet is so with all roles, too."""
    roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.WEIGHT, Role.HOUSEHOLD)

    def unknown(*given: Role) -> bool:
        files = files_without(*given)
        if unmet(rule.requirements, at_hand(files.variables, holdout=False), True, "argument"):
            return False
        verdicts = {finding.verdict for finding in found_by(rule, files)}
        return not verdicts or Verdict.UNKNOWN in verdicts

    without = [kept for number in range(4) for kept in combinations(roles, number)]
    assert unknown(*roles) or not any(unknown(*kept) for kept in without)


def test_what_a_policy_lacks_is_said_at_once_and_once_a_need() -> None:
    for how in ("argument", "option", "document"):
        for path in shipped_policies().values():
            golden("\n".join(unmet(load_policy(path).requirements, [], True, how)))  # type: ignore[arg-type]


def test_sets_that_an_intruder_knows_are_needed_where_pairs_are_known() -> None:
    policy = Policy.model_validate(
        {
            "name": "known",
            "version": "1",
            "reference_standard": {"intruders": [{"knows": "register"}, {"knows": {"any": 2}}]},
            "approvals": {"count": 1},
        }
    )
    given = at_hand(files_without(Role.QUASI_IDENTIFIER).variables, holdout=False, knowledge=False)
    assert unmet(policy.requirements, given, False, "document") == []
    golden(*unmet(policy.requirements, given, True, "document"))


@pytest.mark.parametrize("rule", ["k_anonymity, k: 5", "l_diversity, l: 2", "t_closeness, t: 0.5"])
def test_a_column_that_the_file_will_not_have_is_named_beforehand(rule: str) -> None:
    """Before, the whole release ran, and the rule could not be judged."""
    rules = yaml.safe_load(f"[{{rule: {rule}, columns: [v0, wages]}}]")
    policy = Policy.model_validate({"name": "own", "version": 1, "rules": rules, "approvals": APPROVALS})
    variables = files_without(Role.QUASI_IDENTIFIER, Role.SENSITIVE).variables
    (said,) = policy.unmet(variables, holdout=False, knowledge=(), paired=True, how="document")
    golden(said)
    known = variables | {"wages": variables["v0"].model_copy(update={"name": "wages"})}
    assert policy.unmet(known, holdout=False, knowledge=(), paired=True, how="document") == []


@pytest.mark.parametrize(
    "rule",
    [
        "t_closeness, t: 0.5, ground_distance: hierarchical",
        "t_closeness, t: 0.5, ground_distance: ordered",
        "alpha_k, alpha: 0.8, k: 2, values: [plague]",
        "population_uniques, at_most: 0.05, weight: illness",
        "population_uniques, at_most: 0.05, weight: wait",
    ],
)
def test_what_a_rule_names_and_no_file_of_the_contract_has_is_said_beforehand(rule: str) -> None:
    """Before, all records were read, and the rule could not be judged."""
    rules = yaml.safe_load(f"[{{rule: {rule}}}]")
    policy = Policy.model_validate({"name": "own", "version": 1, "rules": rules, "approvals": APPROVALS})
    age = Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER)
    illness = Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE, categories=("flu", "measles"))
    golden("\n".join(_unmet(policy, age, illness)))
    fitting = (
        Variable(
            name="illness",
            kind=Kind.ORDINAL,
            role=Role.SENSITIVE,
            categories=("flu", "plague"),
            hierarchy=Hierarchy(rows={"flu": ("any",), "plague": ("any",)}),
        ),
        Variable(name="wait", kind=Kind.INTEGER, role=Role.WEIGHT),
    )
    assert _unmet(policy, age, *fitting) == [] or "weight: illness" in rule


def _unmet(policy: Policy, *variables: Variable) -> list[str]:
    known = {variable.name: variable for variable in variables}
    return policy.unmet(known, holdout=False, knowledge=(), paired=True, how="document")
