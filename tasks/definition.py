"""The release definition: which data, under which contract and policy, masked or tabulated how, published where."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self
from zoneinfo import available_timezones

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sluice.documents.documents import Written, parse_document, read_yaml
from sluice.errors import DocumentError, did_you_mean
from sluice.masking import KMemberClustering, Step, TopBottomCoding
from sluice.masking.microaggregation.microaggregation_step import MicroaggregationStep
from sluice.sources.sources import Source
from tasks.crontab import refuse_wrong_crontab
from tasks.table_terms import (
    Protection,
    PublishedForm,
    SecondarySuppression,
    TableDimension,
    TableMeasure,
    WantedTable,
    with_tables_files,
)

LEAST_GROUP = 3  # records behind a published mean


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Schedule(_Strict):
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


class Trigger(_Strict):
    """Which event starts the release: the warehouse says that a table was loaded."""

    event: str = "warehouse.table.loaded"
    resource: str = Field(description="id of the resource that the event speaks of, such as warehouse.survey.fair")


class Definition(_Strict):
    """What every release definition says. Paths are relative to the file that holds the definition."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60, description="lower-case letters, digits, dashes")
    title: str = Field(min_length=1)
    owner: str = Field(min_length=1, description="the person who submits this release; never one of its approvers")
    source: Source
    contract: Path
    policy: Path
    people: Path = Field(description="the roster: who may approve, in which role")
    target: Path = Field(description="folder in which each published release gets a folder of its own")
    schedule: Schedule | None = None
    trigger: Trigger | None = None

    def at(self, base: Path) -> Self:
        """The same definition with every path made absolute from `base`."""
        paths = {field: (base / getattr(self, field)).resolve() for field in ("contract", "policy", "people", "target")}
        return self.model_copy(update={**paths, "source": self.source.resolve(base)})


class ReleaseDefinition(Definition):
    """A release of microdata: which data, masked how."""

    plan: tuple[Annotated[Step, Field(discriminator="method")], ...] = Field(
        min_length=1, description="masking steps, in order"
    )
    seed: Literal["keep", "destroy"] = Field(
        default="keep",
        description="keep the seed in the vault, so that authorised people can reproduce the file, "
        "or destroy it on publication, so that nobody can undo the noise",
    )

    @model_validator(mode="after")
    def _no_small_groups(self) -> Self:
        """A mean of one is the person's value, and of a mean of two each can work out the other's."""
        for index, step in enumerate(self.plan):
            for field in ("k", "minimum_tail"):
                least = getattr(step, field, None)
                if (
                    isinstance(step, MicroaggregationStep | KMemberClustering | TopBottomCoding)
                    and least is not None
                    and least < LEAST_GROUP
                ):
                    raise ValueError(
                        f"plan.{index}: {field} of {step.method} must be at least {LEAST_GROUP} in a release: of the "
                        f"mean of two, each can work out the other's value; got {least}"
                    )
        return self

    @model_validator(mode="after")
    def _strata_of_recodings_are_known(self) -> Self:
        """The original is put on the masked file's categories by the recodings alone, which need the same strata."""
        for index, step in enumerate(self.plan):
            if not step.is_recoding:
                continue
            for earlier in self.plan[:index]:
                changed = set() if earlier.is_recoding else set(earlier.columns) & set(step.strata)
                if changed:
                    raise ValueError(
                        f"plan.{index}: {step.method} by strata of '{sorted(changed)[0]}' must come before "
                        f"{earlier.method}, which changes that variable: nobody could then tell how the original "
                        "values were recoded"
                    )
        return self


class TablesDefinition(Definition):
    """A release of tables: which sums of which data, protected how."""

    dimensions: tuple[TableDimension, ...] = Field(min_length=1)
    measure: TableMeasure = Field(description="what a cell holds")
    tables: tuple[WantedTable, ...] = Field(min_length=1, description="all linked by the cells that they share")
    protection: Protection = SecondarySuppression()
    form: PublishedForm = PublishedForm()

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        names = [dimension.variable for dimension in self.dimensions]
        for field, given in (("dimensions", names), ("tables", [table.name for table in self.tables])):
            twice = sorted({name for name in given if given.count(name) > 1})
            if twice:
                raise ValueError(f"{field}: named twice: {', '.join(twice)}")
        for index, table in enumerate(self.tables):
            for name in map(_without_level, table.dimensions):
                if name not in names:
                    raise ValueError(
                        f"tables.{index}.dimensions: '{name}' is no dimension.{did_you_mean(name, names)} "
                        f"Known: {', '.join(names)}."
                    )
        used = {_without_level(name) for table in self.tables for name in table.dimensions}
        idle = [name for name in names if name not in used]
        if idle:
            raise ValueError(f"dimensions: no table has '{idle[0]}'")
        return self


def _without_level(dimension: str) -> str:
    return re.sub(r":\d+$", "", dimension)


def target_of(path: Path) -> Path:
    """The folder that a definition publishes in, though a file that it names be gone. Raises DocumentError."""
    target = read_yaml(path).get("target")
    if not isinstance(target, str):
        raise DocumentError(f"{path}: target: must name a folder")
    return (path.parent / target).resolve()


def load_definition(path: Path) -> ReleaseDefinition | TablesDefinition:
    """The definition in a YAML file, its paths as written: of tables when it has `tables`. Raises DocumentError."""
    written = read_yaml(path)
    if "tables" not in written:
        return parse_document(ReleaseDefinition, written, str(path))
    content = Written(with_tables_files(written, path.parent))
    content.root = written.root
    return parse_document(TablesDefinition, content, str(path))
