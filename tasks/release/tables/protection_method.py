"""The ways in which tables can be protected, as a definition names them."""

from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, WithJsonSchema, model_validator

from sluice.ground.document_parts import Percent
from sluice.ground.errors import DataError
from sluice.tabular.alternatives.perturbation_table import NoiseInterval, PerturbationTable
from tasks.release.release_definition import StrictModel


class SecondarySuppression(StrictModel):
    """Sensitive cells are suppressed, and as many others as it takes."""

    method: Literal["suppression"] = "suppression"
    mode: Literal["fast", "optimise"] = Field(default="fast", description="optimise: slower, with a proven gap")
    cost: Literal["value", "cells", "contributors", "scaled_information"] = Field(
        default="value", description="what is kept as small as possible among the suppressed"
    )
    seconds: float | None = Field(
        default=None,
        gt=0,
        description="a budget: safe in any case, as cheap as the search gets meanwhile; without it always the same",
    )
    intervals: bool = Field(
        default=False, description="publish for each suppressed cell the interval that anybody could compute anyway"
    )
    synthetic: bool = Field(
        default=False,
        description="publish for each suppressed cell, in a column of its own, a synthetic value that fits all others",
    )
    a_priori: Annotated[
        tuple[dict[str, str], ...],
        WithJsonSchema(
            {"type": "string", "format": "path", "description": "a CSV of cells with a status, a protection or a cost"}
        ),
    ] = ()
    manual_percent: Percent = Field(
        default=20,
        description="of its value by which a cell stays uncertain that a_priori alone calls sensitive, unless the file "
        "says how far",
    )
    carry_forward: bool = Field(
        default=True,
        description="suppress again what the last edition of this definition did, so that series do not come and go",
    )

    def describe(self) -> str:
        """In one plain sentence."""
        how = "with a proven gap to the least possible" if self.mode == "optimise" else "as few as a fast search finds"
        return (
            f"Sensitive cells are suppressed (primary suppression), and further cells, {how} by {self.cost}, so that "
            "none of them can be worked out from the rest (secondary suppression)."
            + (" For each of them the interval is published that anybody could compute." if self.intervals else "")
            + (
                " For each a synthetic value stands in a column of its own, drawn from the published ones alone."
                if self.synthetic
                else ""
            )
        )


class ControlledRounding(StrictModel):
    """Every cell goes to a multiple of the base next to it, so that all sums still add up."""

    method: Literal["controlled_rounding"]
    base: int = Field(ge=2, description="in units of the measure")

    def describe(self) -> str:
        return f"Every cell is rounded to a multiple of {self.base}, up or down, so that all sums still add up."


class SmallCountRounding(StrictModel):
    """Counts below the base go to 0 or to the base, and margins are added up anew."""

    method: Literal["small_count_rounding"]
    base: int = Field(ge=2, description="the smallest count that is published")

    def describe(self) -> str:
        return f"Counts below {self.base} are rounded to 0 or {self.base}, and the margins added up anew."


class ControlledAdjustment(StrictModel):
    """Sensitive cells move by more than they must be protected, as drawn, others as little as it takes to add up."""

    method: Literal["controlled_adjustment"]
    cap: float | None = Field(default=None, gt=0, le=100, description="percent by which other cells may change at most")
    spread: float = Field(
        default=1.0, gt=0, le=10, description="by how many protection levels a sensitive cell moves further, on average"
    )

    def describe(self) -> str:
        capped = "" if self.cap is None else f", at most by {self.cap:g} %"
        return (
            "Sensitive cells are moved up or down by the protection that they need and a drawn part more, "
            f"{self.spread:g} times as much on average, and others as little as adds up{capped}."
        )


class CellKey(StrictModel):
    """Every count has noise that its records determine: the same cell has the same figure everywhere."""

    method: Literal["cell_key"]
    maximum: int | None = Field(default=None, ge=1, description="the largest noise, up or down")
    variance: float | None = Field(default=None, gt=0, description="of the noise")
    threshold: int = Field(default=0, ge=0, description="counts from 1 to this are never published")
    p_table: Annotated[
        tuple[NoiseInterval, ...],
        WithJsonSchema(
            {"type": "string", "format": "path", "description": "a perturbation table as R's ptable exports it, in "
             "place of maximum, variance and threshold"}
        ),
    ] = ()  # fmt: skip
    record_key: str | None = Field(
        default=None,
        description="the column of each record's own key, from 0 to 1; else keys are made of a secret, as in a release",
    )

    @model_validator(mode="after")
    def _one_table(self) -> Self:
        """Parameters, or a perturbation table, which must be one."""
        parameters = [name for name in ("maximum", "variance", "threshold") if getattr(self, name)]
        if self.p_table and parameters:
            raise ValueError(f"{parameters[0]}: p_table tells it; give one of the two")
        lacking = [name for name in ("maximum", "variance") if getattr(self, name) is None]
        if lacking and not self.p_table:
            raise ValueError(f"{lacking[0]}: must be given, or a p_table in its place")
        try:
            _ = self.p_table and self.table
        except DataError as error:
            raise ValueError(f"p_table: {error}") from None
        return self

    @cached_property
    def table(self) -> PerturbationTable:
        """With what probability a count gets which noise. Raises DataError where there is no such table."""
        if self.p_table:
            return PerturbationTable.of_intervals(self.p_table)
        assert self.maximum is not None
        assert self.variance is not None
        return PerturbationTable.of_largest_entropy(self.maximum, self.variance, self.threshold)

    def describe(self) -> str:
        table = self.table if self.p_table else self
        return (
            f"Every count has noise of variance {table.variance:g}, at most {table.maximum}, that depends on the "
            "records in it alone."
        )


class NoiseMultipliers(StrictModel):
    """Every record's value is multiplied by a factor of its own, and tables are sums of the products."""

    method: Literal["noise_multipliers"]
    least: float = Field(ge=1, le=50, description="percent by which a value changes at least")
    spread: float = Field(
        default=1.0, gt=0, le=10, description="by how many times as much a value changes further, on average"
    )

    def describe(self) -> str:
        return (
            f"Every record's value is multiplied by a secret factor of its own, at least {self.least:g} % above or "
            f"below 1 and {self.least * (1 + self.spread):g} % on average, and tables are sums of the products."
        )


Alteration = ControlledRounding | SmallCountRounding | ControlledAdjustment | CellKey | NoiseMultipliers
Protection = Annotated[SecondarySuppression | Alteration, Field(discriminator="method")]
