"""Numbers of documents that are shares or percentages: which of the two was meant is asked where it can be seen.

Frozen model: what documents and parts of a report are made of.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        hint = f" Is it a percentage? Use {value / 100:g}." if 1 < value <= 100 else ""
        raise ValueError(f"must be a share from 0 to 1; got {value:g}.{hint}")
    return value


def _percent(value: float) -> float:
    if not 1 <= value <= 100:
        hint = f" Is it a share? Use {100 * value:g}." if 0 < value < 1 else ""
        raise ValueError(f"must be a percentage from 1 to 100; got {value:g}.{hint}")
    return value


Share = Annotated[float, AfterValidator(_share)]
Percent = Annotated[float, AfterValidator(_percent)]


class FrozenModel(BaseModel):
    """Never changed once it is made, and refuses fields that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
