"""Rules as a policy writes them: what is read, and what is said of one that is refused."""

from typing import Any

import pytest
from pydantic import BaseModel

from policies.rules.rule import Rule
from policies.rules.rules import PolicyRule
from sluice.documents.documents import parse_document
from sluice.errors import DocumentError


class Rules(BaseModel):
    rules: tuple[PolicyRule, ...]


def load(**rule: Any) -> Rule:
    return parse_document(Rules, {"rules": [rule]}, "policy").rules[0]


def refusal(**rule: Any) -> str:
    with pytest.raises(DocumentError) as error:
        load(**rule)
    return str(error.value)
