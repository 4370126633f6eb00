"""The reference period of a data set: where it stands in the data, and which one they are of."""

from collections.abc import Mapping
from typing import Literal, Self

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, model_validator

from sluice.ground.errors import DataError, did_you_mean
from sluice.ground.variables import Kind, Label, Role, Variable
from sluice.ground.visible_text import Name
from sluice.reading.period import EXAMPLES, Length, Period, period_of_day, read_period

_KINDS = (Kind.DATE, Kind.INTEGER, Kind.TEXT, Kind.NOMINAL, Kind.ORDINAL)


class ReferencePeriod(BaseModel):
    """What the data say of the time that they are about. Editions are ordered by it; it is published with them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    length: Length = Field(description="of the period; a date in the column stands for the one that it belongs to")
    column: Name | None = Field(default=None, description="a variable with the role 'other' that holds it")
    of: Literal["all", "latest"] = Field(
        default="all", description="all: every record has the same period; latest: the newest of all records counts"
    )
    fixed: Label | None = Field(default=None, description="the period itself, where no column holds it")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.column is None) == (self.fixed is None):
            raise ValueError("give either 'column' or 'fixed'")
        if self.fixed is not None:
            if self.of != "all":
                raise ValueError("'of' is for a 'column'")
            try:
                read_period(self.fixed, self.length)
            except ValueError as error:
                raise ValueError(f"'fixed' {error}; got '{self.fixed}'") from None
        return self

    def refuse_unfit(self, staged: Mapping[str, Variable], names: list[str]) -> None:
        """Raise ValueError where the contract has no such column, or one that tells of somebody.

        The newest of many dates is the date of one record: what is published of a column must be about nobody.
        """
        if self.column is None:
            return
        if self.column not in names:
            hint = did_you_mean(self.column, names)
            raise ValueError(f"reference_period.column: the contract has no variable '{self.column}'.{hint}")
        given = staged.get(self.column)
        if given is None or given.role is not Role.OTHER or given.kind not in _KINDS:
            is_now = f"{given.kind} with role {given.role}" if given else f"an {Role.IDENTIFIER}"
            raise ValueError(
                f"reference_period.column: '{self.column}' must be a date, a whole number, a text or a category with "
                f"the role '{Role.OTHER}', as the period is published; it is {is_now}"
            )


def period_of(asked: ReferencePeriod, values: pd.Series | None) -> Period:
    """The period that data are of.

    values : of the column, typed; None where the period is fixed
    raises : DataError, without a value, where there is none, more than one, or what is no period of this length
    cost   : one pass over the values
    """
    if values is None:
        assert asked.fixed is not None
        return read_period(asked.fixed, asked.length)
    where = f"reference_period: the column '{asked.column}'"
    if values.empty or values.isna().all() or (asked.of == "all" and values.isna().any()):
        wanted = "every record must have the same period" if asked.of == "all" else "a record must have one"
        raise DataError(f"{where} is missing in records; {wanted}")
    found = {_period(value, asked, where) for value in values.dropna().unique()}
    if asked.of == "all" and len(found) > 1:
        raise DataError(
            f"{where} holds {len(found)} different periods; every record must have the same. Where the newest is the "
            "period of the data, say so in the contract: of: latest"
        )
    return max(found, key=lambda period: (period.last, period.first))


def _period(value: object, asked: ReferencePeriod, where: str) -> Period:
    if isinstance(value, pd.Timestamp):
        return period_of_day(value.date(), asked.length)
    try:
        return read_period(str(value), asked.length)
    except ValueError:
        raise DataError(
            f"{where} has a value that is not a {asked.length.replace('_', '-')}, as in {EXAMPLES[asked.length]}"
        ) from None
