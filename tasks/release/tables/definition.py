"""The definition of a release of tables: which sums of which data, protected how."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from sluice.ground.errors import did_you_mean
from sluice.sources.csv_source import described_csv
from sluice.sources.hierarchy_file import read_rows
from sluice.sources.packed_file import refuse_large
from sluice.sources.permission import permitted_file
from tasks.release.definition import Definition
from tasks.release.tables.layout import PublishedForm, TableDimension, TableMeasure, WantedTable
from tasks.release.tables.protection_method import Protection, SecondarySuppression


class TablesDefinition(Definition):
    """A release of tables: which sums of which data, protected how."""

    product = "tables"

    dimensions: tuple[TableDimension, ...] = Field(min_length=1)
    measure: TableMeasure = Field(description="what a cell holds")
    tables: tuple[WantedTable, ...] = Field(min_length=1, description="all linked by the cells that they share")
    protection: Protection = SecondarySuppression()
    form: PublishedForm = PublishedForm()

    @property
    def tells_contributors(self) -> bool:
        """Whether numbers of contributors are published: not of counts, nor where values are changed."""
        suppressed = isinstance(self.protection, SecondarySuppression)
        return self.form.tell_contributors and suppressed and self.measure.variable is not None

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        names = [dimension.variable for dimension in self.dimensions]
        for field, given in (("dimensions", names), ("tables", [table.name for table in self.tables])):
            twice = sorted({name for name in given if given.count(name) > 1})
            if twice:
                raise ValueError(f"{field}: named twice: {', '.join(twice)}")
        for index, table in enumerate(self.tables):
            for name in map(_without_level, table.dimensions):
                if name not in names:
                    raise ValueError(
                        f"tables.{index}.dimensions: '{name}' is not a dimension.{did_you_mean(name, names)} "
                        f"Known: {', '.join(names)}."
                    )
        used = {_without_level(name) for table in self.tables for name in table.dimensions}
        idle = [name for name in names if name not in used]
        if idle:
            raise ValueError(f"dimensions: no table has '{idle[0]}'")
        return self


def _without_level(dimension: str) -> str:
    return re.sub(r":\d+$", "", dimension)


def with_named_files(written: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """The YAML of a definition of tables with the content of the files that it names in their place.

    So a change of a hierarchy is a change of the definition, and voids approvals. Raises DataError, DocumentError.
    """
    content = dict(written)
    if isinstance(content.get("dimensions"), list):
        content["dimensions"] = [_with_rows(dimension, base) for dimension in content["dimensions"]]
    protection = content.get("protection")
    if isinstance(protection, dict) and isinstance(protection.get("a_priori"), str):
        file = permitted_file(base, protection["a_priori"], "protection.a_priori")
        refuse_large(file)
        source = described_csv(file)
        batches = source.batches(source.column_names())
        content["protection"] = {**protection, "a_priori": [row for b in batches for row in b.to_dict("records")]}
    return content


def _with_rows(dimension: Any, base: Path) -> Any:
    if not isinstance(dimension, dict):
        return dimension
    read = dict(dimension)
    if isinstance(read.get("hierarchy"), str):
        read["hierarchy"] = read_rows(permitted_file(base, read["hierarchy"], "hierarchy"))
    if isinstance(read.get("groupings"), list):
        read["groupings"] = [
            read_rows(permitted_file(base, each, "groupings")) if isinstance(each, str) else each
            for each in read["groupings"]
        ]
    return read
