"""A notice: what somebody is told of an event. A name, a state, what to do and a link; never anything of the data."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sluice.ground.errors import SluiceError, TransportError
from sluice.ground.visible_text import one_line

_OneLine = Annotated[str, AfterValidator(one_line)]


class NoticeRefusedError(SluiceError):
    """The other side never takes this notice."""


class NoticeDelayedError(TransportError):
    """The other side did not take it now; it may later."""


class RecipientDelayedError(NoticeDelayedError):
    """The other side does not take this notice for this recipient now; another one it may."""


class Notice(BaseModel):
    """Every field is one line that can be seen: none of them can end a header or begin another one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: _OneLine = Field(description="the same each time the same is told, so that nobody counts it twice")
    at: str = Field(description="when it happened, ISO 8601 in UTC")
    about: _OneLine = Field(description="the release, or what else it is about")
    event: _OneLine = Field(description="of the ledger, or 'reminder', 'escalation', 'run', 'ends', 'sign-in'")
    says: _OneLine
    do: _OneLine = Field(description="what whoever is told can do")
    link: _OneLine = Field(default="", description="where the report is")
    while_state: str = Field(
        default="", description="the state in which the release must be for this to be of use; empty: any"
    )

    @property
    def text(self) -> str:
        """The notice in some lines."""
        return "\n\n".join(filter(None, [self.says, self.do, self.link, f"{self.about}, {self.at[:16]} UTC"])) + "\n"
