"""Duplicate records: people who stand twice in the original, so that the reference holds them, too."""

import pandas as pd

from sluice.ground.comparable_values import comparable_values
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.coding import Coding
from sluice.risk.reference.copies import unexplained_duplicates
from sluice.risk.row_groups import row_groups

_SAYS = Sentences(
    "duplicate_records",
    unexplained="More original records are equal in all released variables than different people would be. Where a "
    "person stands twice, the reference holds that person too and cannot tell whether the release is safe.",
    explained="No more original records are equal in all released variables than different people can be.",
)

ASKS = {
    "duplicate_records": "No more people stand twice in the original than their values explain.",
}
ADVICE: dict[str, str] = {}  # it passes or cannot be judged
UNMEASURED = {
    "duplicate_records": (
        "People stand twice in the source, or rows were repeated: find out why and remove the doubles before masking, "
        "or release more variables; no masking cures it."
    ),
}


def judge_duplicates(coding: Coding, records: pd.DataFrame) -> Finding:
    duplicates = unexplained_duplicates(
        row_groups(comparable_values(records[name], records[name])[0] for name in coding.names).size
    )
    return Finding(
        rule="duplicate_records", verdict=Verdict.UNKNOWN if duplicates.unexplained else Verdict.PASS,
        **as_fields(_SAYS.unexplained() if duplicates.unexplained else _SAYS.explained()),
        stage="reference", observed=duplicates.share, attempted=len(records), completed=len(records),
    )  # fmt: skip
