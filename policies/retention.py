"""Retention: how long a vault keeps what a release left in it.

The documents of a release, its report, dossier and history in the ledger are evidence, and kept for ever. So is all
that no rule names. A rule never shortens what a release was judged under; see `kept_until`.
"""

from datetime import datetime, timedelta
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field

LEAST_DAYS = 30  # as long as one person's act waits for another's: nobody can adopt a rule and delete within it

Part: TypeAlias = Literal["staged_data", "masked_files", "seeds"]
PARTS: tuple[Part, ...] = get_args(Part)

_Days: TypeAlias = Annotated[int, Field(ge=LEAST_DAYS, le=36_525)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KeptDays(_Strict):
    """Days for each part; one that is not named is kept for ever."""

    staged_data: _Days | None = Field(
        default=None, description="the records as received, with the sums over them: what everything is measured by"
    )
    masked_files: _Days | None = Field(default=None, description="the masked file or the tables, and what led to them")
    seeds: _Days | None = Field(
        default=None, description="what the noise and the order of the records were drawn from; then nobody can undo it"
    )


class Retention(_Strict):
    """When what a release left in the vault is deleted."""

    published: KeptDays = Field(
        default=KeptDays(),
        description="days after publication, or after the release was superseded or withdrawn. Later publications of "
        "the same people then need a decision: nobody can compare them any more",
    )
    unpublished: KeptDays = Field(
        default=KeptDays(), description="days after the last that happened to a release that was never published"
    )

    def days(self, published: bool, part: Part) -> int | None:
        """Days that a part is kept; None: for ever."""
        found: int | None = getattr(self.published if published else self.unpublished, part)
        return found


def kept_until(
    part: Part,
    published: bool,
    ended: datetime,
    judged_under: Retention | None,
    in_force: Retention | None,
    since: datetime | None,
) -> datetime | None:
    """The time until which a part is kept; None: for ever.

    ended        : when its days begin
    judged_under : the rules of the policy that the release was judged by, if that was adopted
    in_force     : those of the policy of the same name that is in force now; what it does not name is kept for ever
    since        : when the policy in force was adopted: its days do not begin before; None where none is in force

    So a release is kept at least as long as was promised when it was judged, a rule that came later gives notice of
    all its days, and a policy in force that names no days stops all deletion.
    """
    promised = judged_under.days(published, part) if judged_under else None
    now = in_force.days(published, part) if in_force else None
    if since is not None and now is None:
        return None
    ends = [ended + timedelta(days=promised)] if promised is not None else []
    if since is not None and now is not None:
        ends.append(max(ended, since) + timedelta(days=now))
    return max(ends, default=None)
