"""What tables show: their dimensions, what a cell holds, and in which form they are published."""

from typing import Annotated, Literal, Self

from pydantic import Field, WithJsonSchema, model_validator

from sluice.ground.errors import DataError
from sluice.ground.variables import Label
from sluice.ground.visible_text import Name
from sluice.tabular.model.measure import MOST_DECIMALS, Duplicates, Measure, Missing, Negative
from tasks.release.definition import StrictModel

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
    total: Label = Field(default="Total", description="the code of the total, where there is no hierarchy")
    withheld: tuple[Label, ...] = Field(default=(), description="codes that are not published, in any table")
    withheld_levels: tuple[int, ...] = Field(default=(), description="levels not published; 0 is the total")


class Weighting(StrictModel):
    """The sampling weight of a record, and how the rules take it into account."""

    variable: str
    rule: Literal["argus", "gconfid_exact"] = Field(
        description="argus: a contribution of weight w counts as w contributors of that size; gconfid_exact: as one "
        "of w times that size"
    )


class Requested(StrictModel):
    """How a record tells that its contributor asked for protection; for the request rule."""

    variable: str
    value: Label = Field(default="true", description="of the variable, by which a contributor asks")


class TableMeasure(StrictModel):
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
