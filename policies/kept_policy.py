"""What a policy that the vault keeps asks of people: who must approve, and what was waived. It loads no rule.

The commands that show who is waited for, and that record what people decide, read each release's policy; they need none
of what judges data, and start without it. What judges or publishes reads the policy whole (`policies.policy`).
"""

from pydantic import BaseModel, ConfigDict

from policies.approvals import Approvals
from policies.waivers import Waiver


class KeptPolicy(BaseModel):
    """The part of `policies.policy.Policy` that is about people."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    approvals: Approvals
    waivers: tuple[Waiver, ...] = ()
