"""TransparencyLimits: what an intruder may reach who knows the masking plan and its published parameters."""

from pydantic import BaseModel, ConfigDict, Field


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
