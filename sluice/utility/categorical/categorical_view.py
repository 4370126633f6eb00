"""What masking made of the categories of a file, variable by variable, for the report."""

from pydantic import BaseModel, ConfigDict, Field


class CategoryLoss(BaseModel):
    """One variable; None where it could not be computed. A share below that of the minimum cell is told as 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    released: bool
    distance: float | None = Field(description="mean distance of the released category from the original, 0 to 1")
    entropy: float | None = Field(description="bits of the original variable")
    ebil: float | None = Field(description="bits that a released value leaves open, on average over the records")
    pril: float | None = Field(description="bits that it would take to tell a record's own category, on average")
    matrix: bool = Field(
        description="whether by known probabilities, of PRAM or released in place of labels; else by counting"
    )


class CategoricalView(BaseModel):
    """The variables in the original's order, and the tables of one or two of them together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variables: tuple[CategoryLoss, ...]
    ctbil: float | None = Field(description="mean share of the records in another cell of a table of 1 to K variables")
    order: int = Field(description="K")
    tables: int
    counted: int
