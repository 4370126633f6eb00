"""KeyedRule: a rule on the quasi-identifiers, or on the columns that it names."""

from typing import Annotated

import pandas as pd
from pydantic import Field

from policies.rules.microdata_rule import Columns, MicrodataRule
from sluice.ground.document_parts import Share
from sluice.ground.sentence import Saying, Sentence
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding

_AT_MOST = Sentence("at_most", "; the policy allows at most {limit:percent}.")

PositiveShare = Annotated[Share, Field(gt=0)]


class KeyedRule(MicrodataRule):
    """A rule on the quasi-identifiers, or on the columns that it names."""

    columns: Columns | None = Field(default=None, description="all quasi-identifiers, when not given")

    def keys(self, variables: Variables) -> list[str]:
        return super().keys(variables) if self.columns is None else list(self.columns)

    def limited(
        self, observed: float, limit: float, frame: pd.DataFrame, says: Saying, stage: str, scope: str
    ) -> Finding:
        """A finding on a share or chance that may be `limit` at most; which the finding states."""
        said = says + _AT_MOST(limit=limit)
        return self.finding(observed <= limit, observed, limit, len(frame), said, stage, scope)


def refuse_no_limit(rule: str, *limits: object) -> None:
    if all(limit is None for limit in limits):
        raise ValueError(f"{rule} needs at least one limit; without any nothing could fail")
