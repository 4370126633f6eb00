"""LevelsFound: what a search of levels says for itself, for people who judge what it chose."""

import math
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field


class Finer(BaseModel):
    """The same levels, but one finer in one variable: why they were not chosen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    breaks: tuple[str, ...] = Field(description="models that break, that of the most records first; none: loses more")
    records: int | None = Field(description="in groups that break the first of them, before any is suppressed")
    group: Mapping[str, str] = Field(default_factory=dict, description="the largest of these groups, by its values")
    group_records: int | None = Field(default=None, description="in that group")

    def reported(self, minimum_cell: int) -> "Finer":
        """Without counts below `minimum_cell`, and without a group that is smaller."""
        changes: dict[str, object] = {}
        if self.records is not None and self.records < minimum_cell:
            changes["records"] = None
        if self.group_records is None or self.group_records < minimum_cell:
            changes |= {"group": {}, "group_records": None}
        return self.model_copy(update=changes)


class KeyLevel(BaseModel):
    """One variable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    level: int = Field(description="chosen; 0: the values as they are")
    groups: tuple[int, ...] = Field(description="how many groups there are at each level, from 0 to the highest")
    lowest: int = Field(default=0, description="level that the search could choose")
    highest: int
    loss: float = Field(description="normalised certainty penalty of its values, 0 to 1, suppressed records included")
    finer: Finer | None = None
    shares: tuple[float, ...] = Field(
        default=(), description="of the records that are not suppressed, at each level from `lowest`, where refined"
    )

    def reported(self, minimum_cell: int, records: int) -> "KeyLevel":
        """Without counts below `minimum_cell`, and without shares that would tell one.

        records : that the shares are of
        """
        few = any(0 < share * records < minimum_cell for share in self.shares)
        finer = None if self.finer is None else self.finer.reported(minimum_cell)
        return self.model_copy(update={"finer": finer} | ({"shares": ()} if few else {}))


class LevelsFound(BaseModel):
    """The levels, what they lose, and how much less any other choice could lose at best."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: tuple[KeyLevel, ...]
    objective: str = Field(description="what was made small, in words")
    value: float
    before: float | None = Field(default=None, description="value before groups were refined; None: none were")
    excess: float | None = Field(
        description="share by which the best levels for all records may lose less; 0: none do; None: unknown"
    )
    checked: int = Field(description="choices of levels that were looked at")
    choices: int = Field(description="that there are")
    suppressed: int | None = Field(description="records; None: fewer than may be told")
    records: int
    left: bool = Field(default=False, description="whether those suppressed were left to a later step instead")
    unsearched: tuple[str, ...] = Field(default=(), description="rules of the policy that were left to its judgement")

    def reported(self, minimum_cell: int) -> "LevelsFound":
        """Without counts below `minimum_cell`."""
        keys = (key.reported(minimum_cell, self.records - (self.suppressed or 0)) for key in self.keys)
        # A loss counts the suppressed records, too: it is given no more closely than so many of them make it.
        digits = max(0, math.floor(math.log10(max(self.records / minimum_cell, 1))))
        changes: dict[str, object] = {
            "keys": tuple(key.model_copy(update={"loss": round(key.loss, digits)}) for key in keys)
        }
        if self.suppressed is not None and 0 < self.suppressed < minimum_cell:
            changes["suppressed"] = None
        for field in ("value", "before"):
            figure = getattr(self, field)
            if figure is not None and figure <= 1:
                changes[field] = round(figure, digits)
        return self.model_copy(update=changes)
