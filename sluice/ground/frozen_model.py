"""Frozen model: what documents and parts of a report are made of."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """Never changed once it is made, and refuses fields that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
