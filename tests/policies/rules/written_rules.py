"""Rules as a policy writes them: what is read, and what is said of one that is refused."""

from typing import Any

import pytest
from pydantic import BaseModel

from policies.rules.rule import Rule
from policies.rules.rules import PolicyRule
from policies.rules.table_rule import TableRule
from sluice.documents.documents import parse_document
from sluice.errors import DocumentError
from sluice.tabular.rules.contributions import Values, one_cell


class Rules(BaseModel):
    rules: tuple[PolicyRule, ...]


def load(**rule: Any) -> Rule:
    return parse_document(Rules, {"rules": [rule]}, "policy").rules[0]


def refusal(**rule: Any) -> str:
    with pytest.raises(DocumentError) as error:
        load(**rule)
    return str(error.value)


def is_sensitive(rule: TableRule, contributions: Values) -> bool:
    """Whether the cell that adds up these contributions may not be published."""
    return bool(rule.sensitivity().sensitive(one_cell(contributions, rule.rule))[0])
