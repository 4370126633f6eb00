"""Every shipped policy with every shipped definition: what could not be judged is refused before a record is read."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.policy import load_policy, shipped_policies
from schemas.contract import load_contract
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Role
from tasks.release.products import load_definition
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_product import unmet_needs
from tasks.release.records.record_variables import variables_after
from tasks.release.tables.feasibility_checks import refuse_unfit_tables
from tests.golden import golden

OF_DEMO = Path("deployments", "demo").glob("*policy.yaml")
POLICIES = {path.stem: load_policy(path) for path in (*shipped_policies().values(), *OF_DEMO)}
DEFINITIONS = [
    path
    for folder in ("releases", "demo")
    for path in sorted(Path("deployments", folder).glob("*.yaml"))
    if {"plan", "tables"} & {*yaml.safe_load(path.read_text(encoding="utf-8"))}
]


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.stem)
def test_each_pair_can_be_judged_or_is_refused_with_check_need_and_how_to_give_it(path: Path) -> None:
    definition: Any = load_definition(path)
    contract = load_contract(path.parent / definition.contract)
    definition = definition.under(load_policy(path.parent / definition.policy))
    refused = {}
    for name, policy in POLICIES.items():
        if isinstance(definition, RecordsDefinition):
            declared = {each: known for each, known in contract.staged.items() if known.role is not Role.IDENTIFIER}
            described = variables_after(definition.plan, declared, str(path))
            lacking = unmet_needs(policy, contract, declared, described)
        else:
            try:
                refuse_unfit_tables(path, definition, contract, policy)
                lacking = []
            except DocumentError as error:
                lacking = [str(error)]
        named = {rule.rule for rule in (*policy.rules, *policy.attacks)} | {"reference_standard", "learned_linkage"}
        assert all(any(rule in says for rule in named) for says in lacking), (name, lacking)
        if lacking:
            refused[name] = " / ".join(lacking)
    assert (path.parent / definition.policy).stem not in refused
    golden("\n".join(f"{name}: {says}" for name, says in sorted(refused.items())) or "none")
