"""Intruders: what somebody knows of a person before the file is out, and what the file may then tell them.

One may learn from examples, and one may know the masking plan and its published parameters.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator


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


class AnyOf(BaseModel):
    """Somebody who knows a few variables, whichever are worst."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    any: int = Field(ge=1, description="so many variables: those by which most people are found")


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
    people: int = Field(default=2000, ge=100, description="at most so many people, at random, are attacked")
    binding: bool = Field(default=True, description="false: reported, but does not decide")
