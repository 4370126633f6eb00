"""The definition of a release of tables: what every definition says, and what is added up and protected how."""

from typing import Self

from pydantic import Field, model_validator

from policies.policy import Policy
from policies.rules.rules import TablePolicyRule
from policies.table_attackers import FurtherKnowledge
from sluice.ground.visible_text import Name
from sluice.tabular.editions.summed_editions import MOST_PARTS
from tasks.release.release_definition import Definition
from tasks.release.tables.protection_method import CellKey, SecondarySuppression
from tasks.release.tables.specification import (
    TableMeasure,
    TableSpecification,
    WantedTable,
    refuse_other_measures,
    without_level,
)


class TablesDefinition(TableSpecification, Definition):
    """A release of tables: which sums of which data, protected how."""

    product = "tables"

    measure: TableMeasure = Field(description="what a cell holds")
    tables: tuple[WantedTable, ...] = Field(min_length=1, description="all linked by the cells that they share")
    adds_up: tuple[Name, ...] = Field(
        default=(),
        max_length=MOST_PARTS,
        description="names of definitions whose publications add up to these tables, such as those of the quarters of "
        "a year: protected and audited together. Of editions with a reference period, those within that of these data",
    )

    rules_of: dict[str, tuple[TablePolicyRule, ...]] = Field(
        default={},
        exclude_if=lambda rules: not rules,
        description="of several measures: by its name, rules on the cells of one of them, beside those of the policy",
    )
    table_attackers_of: dict[str, FurtherKnowledge] = Field(
        default={},
        exclude_if=lambda attackers: not attackers,
        description="of several measures: by its name, what readers know of one of them, beside what the policy says",
    )

    @model_validator(mode="after")
    def _asks_more_of_its_own_measures(self) -> Self:
        refuse_other_measures("rules_of", self.rules_of, self.measures)
        refuse_other_measures("table_attackers_of", self.table_attackers_of, self.measures)
        return self

    @model_validator(mode="after")
    def _is_no_part_of_itself(self) -> Self:
        if self.name in self.adds_up:
            raise ValueError(f"adds_up: these tables cannot be a part of themselves; got '{self.name}'")
        return self

    @model_validator(mode="after")
    def _keys_are_secret(self) -> Self:
        if isinstance(self.protection, CellKey) and self.protection.record_key is not None:
            raise ValueError("protection.record_key: in a release keys are made of a secret of the vault; leave it out")
        return self

    @model_validator(mode="after")
    def _of_cells(self) -> Self:
        if self.cells is None:
            return self
        if self.cells.status is not None:
            raise ValueError("cells.status: in a release protection.a_priori says what is asked of cells; leave it out")
        if self.cells.key is not None or isinstance(self.protection, CellKey):
            raise ValueError("protection: the keys of cell_key are made of records; these are cells")
        return self

    @model_validator(mode="after")
    def _every_dimension_is_shown(self) -> Self:
        shown = {without_level(name) for table in self.tables for name in table.dimensions}
        for dimension in self.dimensions:
            if dimension.variable not in shown:
                raise ValueError(f"dimensions: no table has '{dimension.variable}'")
        return self

    @property
    def by_measure(self) -> dict[str, Self]:
        """The definition of each measure by itself, with what is asked of it alone."""
        if not self.measures:
            return super().by_measure
        return {
            name: each.model_copy(
                update={
                    "rules_of": {name: self.rules_of[name]} if name in self.rules_of else {},
                    "table_attackers_of": {of: known for of, known in self.table_attackers_of.items() if of == name},
                }
            )
            for name, each in super().by_measure.items()
        }

    def stricter(self, policy: Policy) -> Policy:
        """The policy with what the definition asks beside it, of one measure or of all: it takes nothing away."""
        rules = (*policy.rules, *(rule for rules in self.rules_of.values() for rule in rules))
        attackers = policy.table_attackers
        for known in self.table_attackers_of.values():
            attackers = attackers.joined(known)
        return policy.model_copy(update={"rules": rules, "table_attackers": attackers})

    def asked_beside(self, policy: Policy) -> list[tuple[str, str]]:
        """What is asked of a measure beside the policy: its name, and a plain sentence."""
        rules = [(name, rule.describe()) for name, rules in self.rules_of.items() for rule in rules]
        attackers = [
            (n, policy.table_attackers.joined(known).describe()) for n, known in self.table_attackers_of.items()
        ]
        return [*rules, *attackers]

    @property
    def tells_contributors(self) -> bool:
        """Whether numbers of contributors are published: not of counts, nor where values are changed."""
        suppressed = isinstance(self.protection, SecondarySuppression)
        of_amounts = self.measure.variable is not None or bool(self.measures)
        return self.form.tell_contributors and suppressed and of_amounts
