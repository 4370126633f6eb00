"""The specification of tables: which sums of which data, what tables show them in which form, protected how.

One model, wherever a table is specified: as part of a release's definition, in a file of the commands that protect,
audit and redesign tables, and by the arguments of `sluice.protect` and `sluice.audit`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, WithJsonSchema, model_validator

from sluice.ground.errors import DataError, did_you_mean
from sluice.ground.rule import FileOf
from sluice.ground.variables import Label
from sluice.ground.visible_text import Name
from sluice.publication.published_table import OWN_COLUMNS
from sluice.sources.csv_source import CsvSource, document_csv
from sluice.sources.hierarchy_file import read_rows
from sluice.sources.packed_file import refuse_large
from sluice.sources.perturbation_file import read_intervals
from sluice.sources.tabular_source import NoRecordsError
from sluice.tabular.model.dimension import TOTAL, Dimension
from sluice.tabular.model.measure import MOST_DECIMALS, Duplicates, Measure, Missing, Negative, Requested
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.release_definition import StrictModel
from tasks.release.tables.protection_method import Protection, SecondarySuppression

_OF_RECORDS = ("contributor", "holding", "weight", "requested")

Rows = Annotated[
    tuple[tuple[str, str], ...],
    WithJsonSchema(
        {
            "type": "string",
            "format": "path",
            "description": "a CSV file with the columns code and parent, the total without a parent",
        }
    ),
]


class TableDimension(StrictModel):
    """One dimension: a variable of the contract and the sums over its categories."""

    variable: str = Field(min_length=1)
    hierarchy: Rows | None = Field(
        default=None, description="without it: the contract's, or a total over its categories"
    )
    groupings: tuple[Rows, ...] = Field(default=(), description="further groupings of the same leaves, nested or not")
    total: Label = Field(
        default=TOTAL, description="the code of the total, where there is no hierarchy, or its file calls it Total"
    )
    withheld: tuple[Label, ...] = Field(default=(), description="codes that are not published, in any table")
    withheld_levels: tuple[int, ...] = Field(default=(), description="levels not published; 0 is the total")

    def dimension(self, otherwise: Callable[[], Iterable[tuple[str, str]]]) -> Dimension:
        """Its codes and sums. Raises DataError where the rows are no hierarchy.

        otherwise : (code, parent) where no hierarchy is named
        """
        if self.hierarchy is None:
            return Dimension.of(self.variable, otherwise(), *self.groupings)
        return Dimension.of(self.variable, *(self._called(rows) for rows in (self.hierarchy, *self.groupings)))

    def _called(self, rows: Rows) -> Rows:
        """The same with the total called as somebody said, in place of what a file without one has."""
        if "total" not in self.model_fields_set or (TOTAL, "") not in rows:
            return rows
        called = {TOTAL: self.total}
        return tuple((called.get(code, code), called.get(parent, parent)) for code, parent in rows)


class Weighting(StrictModel):
    """The sampling weight of a record, and how the rules take it into account."""

    variable: str
    rule: Literal["argus", "gconfid_exact"] = Field(
        description="argus: a contribution of weight w counts as w contributors of that size; gconfid_exact: as one "
        "of w times that size"
    )


class RequestedBy(StrictModel):
    """How a record tells that its contributor asked for protection; for the request rule."""

    variable: str
    value: Label = Field(default="true", description="of the variable, by which a contributor asks")
    before: Label | None = Field(
        default=None, description="by which one asks whose cells were unsafe before: the rule's k_before holds"
    )

    @property
    def asked(self) -> Requested:
        """As the aggregation takes it."""
        return Requested(self.variable, self.value, self.before)


Decimals = Annotated[int, Field(ge=0, le=MOST_DECIMALS)]


class TableMeasure(StrictModel):
    """What a cell holds: the sum of a variable, or the number of records when none is named."""

    variable: str | None = None
    contributor: str | None = Field(default=None, description="whose record it is; each record its own when absent")
    holding: str | None = Field(
        default=None, description="to whom the contributor belongs; rules then look at holdings"
    )
    weight: Weighting | None = None
    requested: RequestedBy | None = None
    decimals: Decimals | dict[str, Decimals] | None = Field(
        default=None,
        description="of totals, to which each value is rounded; a release needs them unless the variable is integer. "
        "Of several measures one number, or one for each by its name",
    )
    negative: Negative = Field(
        default="refuse", description="absolute: rules look at the size of a contribution, whatever its sign"
    )
    missing: Missing = Field(default="refuse", description="leave_out: a record without the variable is not counted")
    duplicates: Duplicates = Field(default="add", description="records of one contributor in one innermost cell")

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        try:
            _ = self.measure
        except DataError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def measure(self) -> Measure:
        """As the aggregation takes it."""
        return Measure(
            value=self.variable,
            contributor=self.contributor,
            holding=self.holding,
            weight=self.weight.variable if self.weight else None,
            weight_rule=self.weight.rule if self.weight else "none",
            negative=self.negative,
            missing=self.missing,
            duplicates=self.duplicates,
            decimals=None if isinstance(self.decimals, dict) else self.decimals,  # see `by_measure`
        )

    def describe(self, several: Sequence[str] = ()) -> str:
        """In one or two plain sentences. several: variables that share a pattern, in place of the one"""
        what = f"the sum of {self.variable}" if self.variable else "a number of records"
        if several:
            what = f"the sums of {', '.join(several[:-1])} and {several[-1]}, all suppressed or all published"
        who = f"; what belongs to one {self.holding or self.contributor} counts as one" if self.contributor else ""
        weighted = f", weighted by {self.weight.variable} (rule {self.weight.rule})" if self.weight else ""
        return f"A cell holds {what}{weighted}{who}."


class CellsAddedUp(StrictModel):
    """The columns of cells that come added up already; `measure.variable` names that of their values."""

    frequency: str = Field(description="how many contributors a cell has")
    largest: tuple[str, ...] = Field(default=(), description="its largest contributions, in falling order")
    status: str | None = Field(
        default=None, description="outside a release, what was decided of a cell: S safe, U unsafe, P protected"
    )
    key: str | None = Field(
        default=None, description="outside a release, its cell key, from 0 to 1, for the method cell_key"
    )

    def refuse_few_largest(self, rules: Iterable[SensitivityRule], is_count: bool) -> None:
        """Raise DataError where a rule looks at more of the largest contributions than are named.

        is_count : whether cells hold numbers of contributors; then each is 1, and none need be named. Of amounts
                   without any, one contributor is taken to have all of a cell
        """
        if is_count and not self.largest:
            return
        for rule in rules:  # a frequency is known whoever is on the list; how far to protect it, the largest one says
            needed = min(rule.largest_needed, 1) if rule.rule == "minimum_frequency" else rule.largest_needed
            if max(len(self.largest), 1) < needed:
                raise DataError(
                    f"{rule.rule} looks at the {needed} largest contributions of each cell; the file was said to have "
                    f"{len(self.largest)} (--largest, cells.largest)."
                )


class WantedTable(StrictModel):
    """One table: its name and its dimensions; over all others of the definition it is a total."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)
    title: Name = ""
    dimensions: tuple[str, ...] = Field(min_length=1, description="by name; 'nace:2' goes down to level 2 of it only")


class PublishedForm(StrictModel):
    """In which form tables are published, in addition to CSV and Parquet, and what is said of their cells."""

    sdmx_dataflow: str | None = Field(default=None, description="AGENCY:ID(VERSION); without it, no SDMX-CSV is made")
    time_period: str | None = Field(default=None, description="of SDMX-CSV, such as 2026-Q1")
    tell_primary: bool = Field(
        default=False, description="distinguish primary from secondary suppression; else one word stands for both"
    )
    tell_contributors: bool = Field(
        default=False, description="publish the number of contributors of published cells; audited as a linked table"
    )

    def describe(self) -> str:
        """What is said of suppressed cells, in plain sentences."""
        told = (
            "The files tell which suppressed cells are sensitive themselves (primary) and which protect others."
            if self.tell_primary
            else "One word stands for all suppressed cells: the files do not tell which of them are sensitive."
        )
        return f"{told} Numbers of contributors are published." if self.tell_contributors else told


class TableSpecification(StrictModel):
    """Which sums of which data, protected how."""

    dimensions: tuple[TableDimension, ...] = Field(min_length=1)
    measure: TableMeasure = Field(default=TableMeasure(), description="what a cell holds")
    measures: tuple[str, ...] = Field(
        default=(), description="in place of measure.variable: several variables, protected with one pattern"
    )
    tables: tuple[WantedTable, ...] = Field(
        default=(), description="all linked by the cells that they share; without any, one of all dimensions"
    )
    protection: Protection = SecondarySuppression()
    form: PublishedForm = PublishedForm()
    cells: CellsAddedUp | None = Field(
        default=None,
        exclude_if=lambda cells: cells is None,
        description="where the data are cells that are added up already, totals too, and not records",
    )

    @model_validator(mode="after")
    def _of_cells_or_records(self) -> Self:
        if self.cells is None:
            return self
        if self.measures:
            raise ValueError("measures: cells that are added up already are of one measure; give records")
        for field in _OF_RECORDS:
            if getattr(self.measure, field) is not None:
                raise ValueError(f"measure.{field}: cells that are added up already do not tell it; give records")
        if self.protection.method == "noise_multipliers":
            raise ValueError("protection: noise_multipliers needs the records; these are cells")
        return self

    @property
    def withheld(self) -> dict[str, tuple[str | int, ...]]:
        """By dimension the codes and levels that are not published."""
        return {each.variable: (*each.withheld, *each.withheld_levels) for each in self.dimensions}

    @property
    def linked(self) -> list[tuple[str, ...]] | None:
        """The dimensions of each table; None for one of all dimensions."""
        return [table.dimensions for table in self.tables] or None

    @property
    def all_tables(self) -> list[tuple[str, ...]]:
        """The dimensions of each table."""
        return self.linked or [tuple(each.variable for each in self.dimensions)]

    @property
    def by_measure(self) -> dict[str, Self]:
        """The specification of each measure by itself, under the name of its variable; of one measure, itself."""
        if not self.measures:
            return {self.measure.variable or "": self}
        decimals = self.measure.decimals
        own = decimals if isinstance(decimals, dict) else dict.fromkeys(self.measures, decimals)
        return {
            name: self.model_copy(
                update={
                    "measures": (),
                    "measure": self.measure.model_copy(update={"variable": name, "decimals": own.get(name)}),
                }
            )
            for name in self.measures
        }

    @model_validator(mode="after")
    def _one_pattern_for_all(self) -> Self:
        """What a pattern of several measures cannot have."""
        of = self.measure.decimals
        if strange := [name for name in of if name not in self.measures] if isinstance(of, dict) else []:
            raise ValueError(f"measure.decimals: '{strange[0]}' is not among 'measures'")
        if not self.measures:
            return self
        if len(set(self.measures)) < max(len(self.measures), 2) or self.measure.variable:
            raise ValueError("measures: must name two variables or more, each once, and measure.variable none")
        method = self.protection
        if not isinstance(method, SecondarySuppression):
            raise ValueError(f"measures: several share a pattern of suppressed cells; got the method {method.method}")
        for field in ("intervals", "synthetic"):
            if getattr(method, field):
                raise ValueError(f"protection.{field}: it is of one measure; leave it out of a pattern for several")
        if self.form.tell_primary:
            raise ValueError("form.tell_primary: it tells which cells of one measure are sensitive; leave it out")
        if self.form.sdmx_dataflow:
            raise ValueError("form.sdmx_dataflow: an observation of SDMX-CSV has one measure; leave it out for several")
        if any(row.get(level) for row in method.a_priori for level in ("lower", "upper")):
            raise ValueError("protection.a_priori: lower and upper are of one measure; give none for several")
        taken = {*OWN_COLUMNS, *(dimension.variable for dimension in self.dimensions)} - {"value"}
        if name := next((name for name in self.measures if name in taken), None):
            raise ValueError(f"measures: must not name '{name}': the table has a column of that name")
        return self

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.measure.weight is not None and self.measure.variable is None and not self.measures:
            raise ValueError("measure.weight: needs 'measure.variable': a count has none")
        names = [dimension.variable for dimension in self.dimensions]
        for field, given in (("dimensions", names), ("tables", [table.name for table in self.tables])):
            twice = sorted({name for name in given if given.count(name) > 1})
            if twice:
                raise ValueError(f"{field}: named twice: {', '.join(twice)}")
        for index, table in enumerate(self.tables):
            for name in map(without_level, table.dimensions):
                if name not in names:
                    raise ValueError(
                        f"tables.{index}.dimensions: '{name}' is not a dimension.{did_you_mean(name, names)} "
                        f"Known: {', '.join(names)}."
                    )
        return self


def refuse_other_measures(field: str, named: Iterable[str], measures: Sequence[str]) -> None:
    """Raise ValueError for a name that is not among several measures."""
    if strange := next((name for name in named if name not in measures), None):
        raise ValueError(
            f"{field}: '{strange}' is not among 'measures'.{did_you_mean(strange, measures)} For a single measure "
            "use 'rules' and 'table_attackers', in a release those of the policy"
        )


def without_level(dimension: str) -> str:
    """The name of a dimension of a table, which may say how far down it goes."""
    return re.sub(r":\d+$", "", dimension)


def with_named_files(written: Mapping[str, Any], base: Path, file_of: FileOf) -> dict[str, Any]:
    """The YAML of a specification of tables with the content of the files that it names in their place.

    So a change of a hierarchy is a change of the definition, and voids approvals.

    base    : the folder of the YAML
    file_of : whom a named file is asked of; see `permitted_file`
    raises  : DataError, DocumentError
    """
    content = dict(written)
    if isinstance(content.get("dimensions"), list):
        content["dimensions"] = [_with_rows(dimension, base, file_of) for dimension in content["dimensions"]]
    protection = content.get("protection")
    if isinstance(protection, dict) and isinstance(protection.get("a_priori"), str):
        file = file_of(base, protection["a_priori"], "protection.a_priori")
        refuse_large(file)
        content["protection"] = {**protection, "a_priori": _rows_of(document_csv(file))}
    elif isinstance(protection, dict) and isinstance(protection.get("p_table"), str):
        file = file_of(base, protection["p_table"], "protection.p_table")
        content["protection"] = {**protection, "p_table": read_intervals(file)}
    return content


def _rows_of(source: CsvSource) -> list[dict[str, str]]:
    """All rows as text; none of a file that has a header alone: nobody asked for anything."""
    names = source.column_names()
    try:
        return [
            {name: str(text) for name, text in zip(names, row, strict=True)}
            for batch in source.batches(names)
            for row in batch[names].itertuples(index=False)
        ]
    except NoRecordsError:
        return []


def _with_rows(dimension: Any, base: Path, file_of: FileOf) -> Any:
    if not isinstance(dimension, dict):
        return dimension
    read = dict(dimension)
    if isinstance(read.get("hierarchy"), str):
        read["hierarchy"] = read_rows(file_of(base, read["hierarchy"], "hierarchy"))
    if isinstance(read.get("groupings"), list):
        read["groupings"] = [
            read_rows(file_of(base, each, "groupings")) if isinstance(each, str) else each for each in read["groupings"]
        ]
    return read
