"""What every release definition says: which data, under which contract and policy, published where and when.

A schedule has the five fields of crontab(5): minute, hour, day, month, weekday. Prefect takes more forms (seconds,
`@daily`, `L`, `5/15`), which others read in other ways or not at all. A definition may use the common ones; and it is
read without importing Prefect, which takes its settings when it is imported.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self
from zoneinfo import available_timezones

from pydantic import BaseModel, ConfigDict, Field, field_validator

from sluice.ground.errors import did_you_mean
from sluice.ground.visible_text import Name, PathName
from sluice.publication.license import known_license
from sluice.sources.sources import Source
from tasks.release.vault.seed_names import dice_of

if TYPE_CHECKING:
    from policies.policy import Policy

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (  # name, least and largest value, names of the values
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("weekday", 0, 7, _WEEKDAYS),  # 0 and 7 are both Sunday
)
_PART = re.compile(r"(?:\*|(\w{1,3})-(\w{1,3}))(?:/([1-9]\d?))?|(\w{1,3})", re.ASCII)
_LONGEST = dict(enumerate((31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), 1))  # days of each month


class StrictModel(BaseModel):
    """A part of a definition: it never changes, and refuses fields that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Schedule(StrictModel):
    """When the release runs by itself."""

    cron: str = Field(description="five fields, as in crontab: minute hour day month weekday")
    timezone: str = "UTC"

    @field_validator("cron")
    @classmethod
    def _is_crontab(cls, cron: str) -> str:
        refuse_wrong_crontab(cron)
        return cron

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, timezone: str) -> str:
        known = available_timezones()
        if timezone not in known:
            raise ValueError(
                "must be a name of the IANA time zone database, such as Europe/Vienna or UTC; "
                f"got '{timezone}'.{did_you_mean(timezone, known)}"
            )
        return timezone


class Trigger(StrictModel):
    """Which event starts the release: the warehouse says that a table was loaded."""

    event: Name = "warehouse.table.loaded"
    resource: Name = Field(description="id of the resource that the event speaks of, such as warehouse.survey.fair")


class Poll(StrictModel):
    """By what `sluice poll` sees that a table was loaded, where the warehouse itself says so to nobody."""

    table: Name | None = Field(
        default=None,
        min_length=1,
        description="a table of the same connection in which each finished load is a row; if not given, the source "
        "itself is looked at, and must be the same twice before it counts as loaded",
    )
    column: Name | None = Field(default=None, min_length=1, description="whose largest value a load changes: its time")


class PublishTo(StrictModel):
    """A schema of a database in which a table of each edition, and a view of the current one, are published, too."""

    connection: Name = Field(min_length=1, description="the name that connections.yaml has under 'publication'")
    into: str = Field(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=60, description="the schema; of MySQL the database"
    )


class Definition(StrictModel):
    """What every release definition says. Paths are relative to the file that holds the definition."""

    product: ClassVar[str]  # what is released, as the ledger names it

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60, description="lower-case letters, digits, dashes")
    title: Name = Field(min_length=1)
    owner: Name = Field(min_length=1, description="the person who submits this release; never one of its approvers")
    source: Source
    contract: PathName
    policy: PathName
    target: PathName = Field(description="folder in which each published release gets a folder of its own")
    publisher: Name | None = Field(default=None, description="the organisation that publishes, for citations")
    doi: str | None = Field(
        default=None, pattern=r"^10\.\d{4,9}/\S+$", description="of this edition, where one is registered: 10.1234/abc"
    )
    license: Name | None = Field(
        default=None,
        description="under which users have the data: an SPDX identifier, such as CC-BY-4.0, or an address",
    )
    publish_to: PublishTo | None = Field(default=None, description="where it is published beside the files")
    schedule: Schedule | None = None
    trigger: Trigger | None = None
    poll: Poll | None = None

    @field_validator("license")
    @classmethod
    def _is_license(cls, license_: str | None) -> str | None:
        return None if license_ is None else known_license(license_)

    def decides_dice(self) -> dict[str, Any]:
        """What of the definition decides how the data are masked or protected: no name, title, person or place.

        The seed depends on it and on the data: with another title nobody can try until the dice fall well.
        """
        return dice_of(self.model_dump(mode="json"))

    def at(self, base: Path) -> Self:
        """The same definition with every path made absolute from `base`."""
        paths = {field: (base / getattr(self, field)).resolve() for field in ("contract", "policy", "target")}
        return self.model_copy(update={**paths, "source": self.source.resolve(base)})

    @property
    def population_lists(self) -> tuple[str, ...]:
        """The files of the population that it names, from the current folder."""
        return ()

    def under(self, policy: "Policy") -> Self:
        """The same definition with whatever of it looks at the policy; nothing, unless a product says otherwise."""
        return self


def refuse_wrong_crontab(expression: str) -> None:
    """Raise ValueError, which names the field, when it is no such expression, or none of its days ever comes."""
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f"must be five fields as in crontab: {' '.join(name for name, *_ in _FIELDS)}")
    _, _, days, months, _ = (_values(*field) for field in zip(fields, _FIELDS, strict=True))
    if min(days) > max(_LONGEST[month] for month in months):  # Prefect's scheduler fails on it
        raise ValueError("must mean a day that there is; none of its months is that long")


def _values(text: str, field: tuple[str, int, int, tuple[str, ...]]) -> set[int]:
    """The values that a field stands for, such as {0, 15, 30, 45} for the minute `*/15`."""
    name, least, largest, names = field
    ranges = [_range(part, least, largest, names) for part in text.lower().split(",")]
    if not all(ranges):
        raise ValueError(
            f"must have as {name} *, values from {least} to {largest}{' or ' if names else ''}{', '.join(names)}, "
            f"ranges such as {least}-{least + 2}, or several with commas; * and ranges may have a step, such as */2"
        )
    return {value for values in ranges for value in values}


def _range(part: str, least: int, largest: int, names: tuple[str, ...]) -> range:
    """The values of one part of a field; none when it is wrong."""
    found = _PART.fullmatch(part)
    if not found:
        return range(0)
    first, last, step, alone = found.groups()

    def value(word: str) -> int:
        if word in names:
            return least + names.index(word)
        return int(word) if word.isdigit() else -1

    low, high = value(alone or first or str(least)), value(alone or last or str(largest))
    return range(low, high + 1, int(step or 1)) if least <= low <= high <= largest else range(0)
