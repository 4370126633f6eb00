"""The reference standard: taking part must not cost a person more than staying out would have.

Source: Lasko and Vinterbo (2010), section II.A: a release is safe enough when the three prediction measures of the
original records are distributed no lower than they would be for a file of other people from the same population. That
file is a holdout, or for each record the original without it (leave-one-out). Added to the source: three answers
instead of one p-value, a floor under the number of records, and rules for the few records that a tolerated excess of
some per cent, or an average over all people, would hide.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from sluice.ground.rule import Need, Requirement
from sluice.ground.sentence import percent


class LinkageLimits(BaseModel):
    """Limits on whom an intruder finds who learned from examples, in shares of the people beyond what chance finds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    found: float = Field(
        default=0.09, ge=0, lt=1,
        description="people whose own record ranks first, ties shared; 0.09, one in eleven, is what the European "
        "Medicines Agency (2018) asks of what it publishes",
    )  # fmt: skip
    claims: float = Field(
        default=0.02, ge=0, lt=1,
        description="people who are found by an intruder who is sure of it, and right: a group of look-alikes is found "
        "by luck, and nobody can be sure",
    )  # fmt: skip
    binding: bool = Field(default=True, description="false: reported, but does not decide")


class LearnedLimits(LinkageLimits):
    """Limits on the intruder who knows all variables of a person, and how many people are judged."""

    people: int = Field(default=2_000, ge=100, description="at most so many people, at random, are judged")


class UnitLimits(LinkageLimits):
    """Limits on whom an intruder finds who knows the quasi-identifiers of all records of a household, a person or a
    firm, and puts its records together by what else is released; beyond what each record's own tell."""

    people: int = Field(default=2_000, ge=100, description="at most about so many people, in whole units, are judged")


class AnyOf(BaseModel):
    """Somebody who knows a few variables, whichever are worst."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    any: int = Field(
        ge=1,
        description="so many variables: those by which most people are found; repeated measurements of one count as "
        "one",
    )


def _form(knows: object) -> str:
    return "set" if isinstance(knows, str) else "any"


Knowledge = Annotated[Annotated[AnyOf, Tag("any")] | Annotated[str, Tag("set")], Discriminator(_form)]


class Intruder(LinkageLimits):
    """An intruder who knows some variables of a person, and the limits on what they reach."""

    knows: Knowledge = Field(
        description="{any: 5}: the worst five variables; or the name of a set in the contract's 'knowledge'"
    )
    gain: float = Field(
        default=0.05, ge=0, lt=1,
        description="people of whom one more value is read rightly than from a file they are not in, for the variable "
        "where that is most",
    )  # fmt: skip

    @field_validator("knows")
    @classmethod
    def _less_than_everything(cls, knows: AnyOf | str) -> AnyOf | str:
        if knows == "everything":
            raise ValueError("the limits on an intruder who knows everything are the standard's 'learned'")
        return knows

    @property
    def name(self) -> str:
        return f"any {self.knows.any}" if isinstance(self.knows, AnyOf) else self.knows


class TransparencyLimits(BaseModel):
    """Limits on the attacks that are known for the methods of the plan; these are played on every release."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    identified: float = Field(
        default=0.09,
        gt=0,
        le=1,
        description="share of the people whose own record is found, ties shared; 0.09, one in eleven, is what the "
        "European Medicines Agency (2018) asks of what it publishes",
    )
    confident: float = Field(
        default=0.02,
        gt=0,
        le=1,
        description="share of the people whose own record is found by an intruder who is rightly more than half sure",
    )
    reconstructed: float = Field(
        default=0.2,
        gt=0,
        le=1,
        description="share of the values that are computed closely, beyond what the released values alone show",
    )
    participation: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="by how much the share of those who took part that an intruder tells, finds or reads off a "
        "synthetic file may exceed that of people who did not",
    )
    people: int = Field(default=2000, ge=100, description="most people attacked, drawn at random")
    binding: bool = Field(default=True, description="false: reported, but does not decide")


Measure = Literal["distance", "ambiguity", "uncertainty"]

MEASURES: tuple[Measure, ...] = ("distance", "ambiguity", "uncertainty")


class ReferenceStandard(BaseModel):
    """How the standard is applied, and what is tolerated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reference: Literal["leave_one_out", "holdout"] = "leave_one_out"
    holdout_share: float | None = Field(
        default=None, gt=0, lt=0.5, description="share of the records set aside before masking, never released"
    )
    neighbours: int = Field(default=5, ge=2, description="released records around a person that are looked at")
    margin: float = Field(default=0.05, ge=0, lt=1, description="tolerated excess, a share of the records")
    alpha: float = Field(default=0.05, gt=0, lt=0.5, description="an excess above the margin fails beyond this chance")
    binding: tuple[Measure, ...] = Field(
        default=("distance", "ambiguity"), min_length=1, description="measures that decide; the others are reported"
    )
    minimum_records: int = Field(
        default=1000, ge=1, description="people: of fewer, original or held-out records tell too little"
    )
    when_fewer: Literal["unknown", "review", "judge"] = "unknown"
    tail_quantile: float = Field(default=0.01, gt=0, lt=0.5, description="the reference's closest records")
    tail_share: float = Field(default=0.02, gt=0, lt=1, description="share of records that may be closer than those")
    copies_excess: float = Field(
        default=0.002, ge=0, lt=1, description="share of records copied or nearly so, beyond the reference and chance"
    )
    unique_values_excess: float = Field(
        default=0.01,
        ge=0,
        lt=1,
        description="share of records found by a unique value, beyond the reference and chance",
    )
    records: int = Field(default=20_000, ge=1, description="at most so many original records, at random, are attacked")
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="how much a variable counts in the distance, 1 when not named"
    )

    isolated_share: float = Field(
        default=0.01, gt=0, le=0.5, description="share of the records, the farthest from all others, that are isolated"
    )
    isolated_excess: float = Field(
        default=0.1, ge=0, lt=1, description="share of the isolated records found near, beyond the reference and chance"
    )
    subgroups: tuple[str, ...] = Field(
        default=(), description="variables whose categories, or quarters of a number, are judged each by itself"
    )
    subgroup_records: int = Field(
        default=1000, ge=30, description="subgroups of fewer attacked records are passed over"
    )
    subgroups_bind: bool = Field(default=True, description="whether the worst subgroup decides, or is reported only")
    reidentified_share: float | None = Field(
        default=None, gt=0, lt=1, description="share of people that may be nearest to their own record; none: reported"
    )
    learned: LearnedLimits = Field(default=LearnedLimits(), description="what an intruder who learns may reach")
    intruders: tuple[Intruder, ...] = Field(
        default=(), description="who knows only some variables of a person, and what they may find and learn"
    )
    units: UnitLimits = Field(
        default=UnitLimits(),
        description="who knows the quasi-identifiers of a whole household, person or firm and puts it together again",
    )
    transparency: TransparencyLimits = Field(
        default=TransparencyLimits(), description="what an intruder may reach who knows how the file was masked"
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.reference == "holdout") != (self.holdout_share is not None):
            hint = "Give it, such as 0.25" if self.holdout_share is None else "Take it out, or write reference: holdout"
            raise ValueError(
                f"holdout_share and 'reference: holdout' belong together; got reference {self.reference} "
                f"{'without' if self.holdout_share is None else 'with'} holdout_share. {hint}"
            )
        if len(set(self.binding)) != len(self.binding):
            raise ValueError("binding names a measure twice")
        if len(set(self.subgroups)) != len(self.subgroups):
            raise ValueError("subgroups names a variable twice")
        names = [intruder.name for intruder in self.intruders]
        if len(set(names)) != len(names):
            raise ValueError("intruders names one of them twice")
        if self.tail_share < self.tail_quantile:
            raise ValueError(
                f"tail_share must be at least tail_quantile, {self.tail_quantile}: so many are that close in the "
                f"reference itself; got {self.tail_share}"
            )
        return self

    @property
    def requirements(self) -> list[Requirement]:
        """What it cannot judge without."""
        found = [Requirement("reference_standard", (Need.HOLDOUT,))] if self.reference == "holdout" else []
        return found + [Requirement("learned_linkage", (Need.KNOWLEDGE,), of_pairs=True)] * bool(self.sets_known)

    @property
    def sets_known(self) -> frozenset[str]:
        """Names of the sets of variables, of the contract, that an intruder knows who decides."""
        deciding = (intruder.knows for intruder in self.intruders if intruder.binding)
        return frozenset(knows for knows in deciding if isinstance(knows, str))

    def describe(self) -> str:
        """The standard in one plain sentence."""
        other = (
            f"a file of other people ({percent(self.holdout_share)} of the records, set aside beforehand)"
            if self.holdout_share
            else "the same data without that person"
        )
        binds = "also holds" if self.subgroups_bind else "is also reported"
        by_group = f" This {binds} for each larger group by {', '.join(self.subgroups)}." if self.subgroups else ""
        return (
            f"An intruder who knows a person's whole record may learn no more from the release than from {other}: by "
            f"prediction {' and '.join(self.binding)} among the {self.neighbours} nearest records, up to a difference "
            f"of {percent(self.margin)} of the people, and with no more copied records than chance and "
            f"{percent(self.copies_excess)}, nor more people found by a value that they alone have than chance and "
            f"{percent(self.unique_values_excess)}.{by_group}"
        )
