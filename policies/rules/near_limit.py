"""What a finding adds where its interval lies on both sides of the limit."""

from sluice.verdict import Verdict


def if_near(verdict: Verdict) -> str:
    """A sentence with a blank before it when the figure cannot decide; else ''."""
    near = " That is too near the limit to rule out chance, so a person must decide."
    return near if verdict is Verdict.REVIEW else ""
