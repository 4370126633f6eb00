"""What a release of tables is described with: its dimensions, its measure, its tables and how they are protected."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from sluice.errors import DataError
from sluice.sources.csv_source import CsvSource
from sluice.sources.hierarchy_file import read_rows
from sluice.tabular.model.measure import MOST_DECIMALS, Duplicates, Measure, Missing, Negative
from sluice.variables import Label


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


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


class TableDimension(_Strict):
    """One dimension: a variable of the contract and the sums over its categories."""

    variable: str = Field(min_length=1)
    hierarchy: Rows | None = Field(
        default=None, description="without it: the contract's, or a total over its categories"
    )
    groupings: tuple[Rows, ...] = Field(default=(), description="further groupings of the same leaves, nested or not")
    total: Label = Field(default="Total", description="the code of the total, where there is no hierarchy")
    withheld: tuple[Label, ...] = Field(default=(), description="codes that are not published, in any table")
    withheld_levels: tuple[int, ...] = Field(default=(), description="levels not published; 0 is the total")


class Weighting(_Strict):
    """The sampling weight of a record, and how the rules take it into account."""

    variable: str
    rule: Literal["argus", "gconfid_exact"] = Field(
        description="argus: a contribution of weight w counts as w contributors of that size; gconfid_exact: as one "
        "of w times that size"
    )


class Requested(_Strict):
    """How a record tells that its contributor asked for protection; for the request rule."""

    variable: str
    value: Label = Field(default="true", description="of the variable, by which a contributor asks")


class TableMeasure(_Strict):
    """What a cell holds: the sum of a variable, or the number of records when none is named."""

    variable: str | None = None
    contributor: str | None = Field(default=None, description="whose record it is; each record its own when absent")
    holding: str | None = Field(
        default=None, description="to whom the contributor belongs; rules then look at holdings"
    )
    weight: Weighting | None = None
    requested: Requested | None = None
    decimals: int | None = Field(
        default=None, ge=0, le=MOST_DECIMALS, description="as many as the data show, if absent"
    )
    negative: Negative = Field(
        default="refuse", description="absolute: rules look at the size of a contribution, whatever its sign"
    )
    missing: Missing = Field(default="refuse", description="leave_out: a record without the variable is not counted")
    duplicates: Duplicates = Field(default="add", description="records of one contributor in one innermost cell")

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.variable is None and self.weight is not None:
            raise ValueError("'weight' needs a 'variable': a count has none")
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
            decimals=self.decimals,
            hashed=self.contributor is not None or self.holding is not None,
        )

    def describe(self) -> str:
        """In one plain sentence."""
        what = f"the sum of {self.variable}" if self.variable else "a number of records"
        who = f"; what belongs to one {self.holding or self.contributor} counts as one" if self.contributor else ""
        weighted = f", weighted by {self.weight.variable} (rule {self.weight.rule})" if self.weight else ""
        return f"A cell holds {what}{weighted}{who}."


class WantedTable(_Strict):
    """One table: its name and its dimensions; over all others of the definition it is a total."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)
    title: str = ""
    dimensions: tuple[str, ...] = Field(min_length=1, description="by name; 'nace:2' goes down to level 2 of it only")


class PublishedForm(_Strict):
    """In which form tables are published, beside CSV and Parquet, and what is told of their cells."""

    sdmx_dataflow: str | None = Field(default=None, description="AGENCY:ID(VERSION); without it, no SDMX-CSV is made")
    time_period: str | None = Field(default=None, description="of SDMX-CSV, such as 2026-Q1")
    tell_primary: bool = Field(default=True, description="tell primary from secondary suppression")
    tell_contributors: bool = Field(default=True, description="publish the number of contributors of published cells")


class SecondarySuppression(_Strict):
    """Sensitive cells are left blank, and as many others as it takes."""

    method: Literal["suppression"] = "suppression"
    mode: Literal["fast", "optimise"] = Field(default="fast", description="optimise: slower, with a proven gap")
    cost: Literal["value", "cells", "contributors", "scaled_information"] = Field(
        default="value", description="what is kept as small as possible among the suppressed"
    )
    intervals: bool = Field(default=False, description="publish, for each blank, what anybody could compute anyway")
    a_priori: Annotated[
        tuple[dict[str, str], ...],
        WithJsonSchema(
            {"type": "string", "format": "path", "description": "a CSV of cells with a status, a protection or a cost"}
        ),
    ] = ()
    carry_forward: bool = Field(
        default=True,
        description="keep blank what the last edition of this definition blanked, so that series do not come and go",
    )

    def describe(self) -> str:
        """In one plain sentence."""
        how = "with a proven gap to the least possible" if self.mode == "optimise" else "as few as a fast search finds"
        return (
            f"Sensitive cells are left blank (primary suppression), and further cells, {how} by {self.cost}, so that "
            "no blank can be worked out from the rest (secondary suppression)."
            + (" For each blank the interval is published that anybody could compute." if self.intervals else "")
        )


class ControlledRounding(_Strict):
    """Every cell goes to a multiple of the base next to it, so that all sums still add up."""

    method: Literal["controlled_rounding"]
    base: int = Field(ge=2, description="in units of the measure")

    def describe(self) -> str:
        return f"Every cell is rounded to a multiple of {self.base}, up or down, so that all sums still add up."


class SmallCountRounding(_Strict):
    """Counts below the base go to 0 or to the base, and margins are added up anew."""

    method: Literal["small_count_rounding"]
    base: int = Field(ge=2, description="the smallest count that is published")

    def describe(self) -> str:
        return f"Counts below {self.base} are rounded to 0 or {self.base}, and the margins added up anew."


class ControlledAdjustment(_Strict):
    """Sensitive cells move as far as they must be protected, others as little as it takes to add up."""

    method: Literal["controlled_adjustment"]
    cap: float | None = Field(default=None, gt=0, le=100, description="percent by which other cells may change at most")

    def describe(self) -> str:
        capped = "" if self.cap is None else f", at most by {self.cap:g} %"
        return f"Sensitive cells are moved by the protection that they need, and others as little as adds up{capped}."


class CellKey(_Strict):
    """Every count has noise that its records determine: the same cell has the same figure everywhere."""

    method: Literal["cell_key"]
    maximum: int = Field(ge=1, description="the largest noise, up or down")
    variance: float = Field(gt=0, description="of the noise")
    threshold: int = Field(default=0, ge=0, description="counts from 1 to this are never published")

    def describe(self) -> str:
        return (
            f"Every count has noise of variance {self.variance:g}, at most {self.maximum}, that depends on the records "
            "in it alone."
        )


Protection = Annotated[
    SecondarySuppression | ControlledRounding | SmallCountRounding | ControlledAdjustment | CellKey,
    Field(discriminator="method"),
]


def with_tables_files(written: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """The YAML of a definition of tables with the content of the files that it names in their place.

    So a change of a hierarchy is a change of the definition, and voids approvals. Raises DataError.
    """
    content = dict(written)
    if isinstance(content.get("dimensions"), list):
        content["dimensions"] = [_with_rows(dimension, base) for dimension in content["dimensions"]]
    protection = content.get("protection")
    if isinstance(protection, dict) and isinstance(protection.get("a_priori"), str):
        source = CsvSource(path=(str(base / protection["a_priori"]),))
        batches = source.batches(source.column_names())
        content["protection"] = {**protection, "a_priori": [row for b in batches for row in b.to_dict("records")]}
    return content


def _with_rows(dimension: Any, base: Path) -> Any:
    if not isinstance(dimension, dict):
        return dimension
    read = dict(dimension)
    if isinstance(read.get("hierarchy"), str):
        read["hierarchy"] = read_rows(base / read["hierarchy"])
    if isinstance(read.get("groupings"), list):
        read["groupings"] = [read_rows(base / each) if isinstance(each, str) else each for each in read["groupings"]]
    return read
