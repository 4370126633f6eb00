"""What an intruder who learns may reach."""

from pydantic import BaseModel, ConfigDict, Field


class LearnedLimits(BaseModel):
    """Limits on the learned linker, in shares of the people beyond what chance finds."""

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
    people: int = Field(default=2_000, ge=100, description="at most so many people, at random, are judged")
    binding: bool = Field(default=True, description="false: reported, but does not decide")
