"""PolicyRule: every disclosure rule that a policy may name, told apart by `rule`."""

from typing import Annotated

from pydantic import Field

from policies.attack_rule import AttackRule
from policies.microdata_rules import KAnonymity, LDiversity, SampleUniquesShare, TCloseness
from policies.table_rules import Dominance, MinimumFrequency, PPercent

PolicyRule = Annotated[
    KAnonymity | LDiversity | TCloseness | SampleUniquesShare | MinimumFrequency | Dominance | PPercent,
    Field(discriminator="rule"),
]

AttackPolicyRule = AttackRule
