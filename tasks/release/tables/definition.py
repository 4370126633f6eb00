"""The definition of a release of tables: what every definition says, and what is added up and protected how."""

from typing import Self

from pydantic import Field, model_validator

from sluice.ground.visible_text import Name
from sluice.tabular.editions.summed_editions import MOST_PARTS
from tasks.release.release_definition import Definition
from tasks.release.tables.protection_method import CellKey, SecondarySuppression
from tasks.release.tables.specification import TableMeasure, TableSpecification, WantedTable, without_level


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
    def _every_dimension_is_shown(self) -> Self:
        shown = {without_level(name) for table in self.tables for name in table.dimensions}
        for dimension in self.dimensions:
            if dimension.variable not in shown:
                raise ValueError(f"dimensions: no table has '{dimension.variable}'")
        return self

    @property
    def tells_contributors(self) -> bool:
        """Whether numbers of contributors are published: not of counts, nor where values are changed."""
        suppressed = isinstance(self.protection, SecondarySuppression)
        of_amounts = self.measure.variable is not None or bool(self.measures)
        return self.form.tell_contributors and suppressed and of_amounts
