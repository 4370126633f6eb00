"""Doubt: a published release of which the last reassessment says that it would not pass, or that nobody can tell."""

from collections.abc import Sequence

from sluice.custody.ledger import Entry
from sluice.custody.states import IN_DOUBT, REASSESSED


def doubt_of(entries: Sequence[Entry]) -> str:
    """The doubt in words, without a figure; '' where the release would pass, or was never judged again."""
    judged = next((entry for entry in reversed(entries) if entry.event in (IN_DOUBT, REASSESSED)), None)
    verdict = judged.body.get("verdict_now", "UNKNOWN") if judged else "PASS"
    return f"in doubt: judged again on {judged.at[:10]}, verdict {verdict}" if judged and verdict != "PASS" else ""
