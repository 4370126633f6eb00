"""Intruders: what somebody knows of a person before the file is out, and what the file may then tell them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator

from policies.standard.learned_limits import LinkageLimits


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
