"""Changed subgroups: what the report shows of declared categories, those first in which most changed."""

from collections.abc import Sequence
from math import isfinite
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

_WORST = 10  # that are shown


class Change(Protocol):
    """One category of one variable; `moved` is the number of records by which the change may have come about."""

    @property
    def variable(self) -> str: ...

    @property
    def category(self) -> str: ...

    @property
    def change(self) -> float: ...

    @property
    def moved(self) -> float: ...


class ChangedSubgroup(BaseModel):
    """One declared category, as the report shows it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variable: str
    category: str
    change: float | None = Field(description="in the unit of the measure, from 0; higher is worse. None: all is lost")


class ChangedSubgroups(BaseModel):
    """Those where most changed, the largest change first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    compared: int = Field(description="subgroups with enough records")
    worst: tuple[ChangedSubgroup, ...]


def changed_subgroups(found: Sequence[Change], minimum_cell: int) -> ChangedSubgroups:
    """What is shown of them, in two digits, without those where fewer records than the minimum cell made the change."""
    shown = [
        ChangedSubgroup(
            variable=each.variable,
            category=each.category,
            change=round(each.change, 2) if isfinite(each.change) else None,
        )
        for each in found
        if each.moved >= minimum_cell
    ]
    # By what is told of them: in their own order equal figures would tell which change is the larger one.
    shown.sort(key=lambda each: (each.change is not None, -(each.change or 0.0), each.variable, each.category))
    return ChangedSubgroups(compared=len(found), worst=tuple(shown[:_WORST]))
