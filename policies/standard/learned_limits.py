"""What an intruder who learns may reach."""

from pydantic import BaseModel, ConfigDict, Field


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
