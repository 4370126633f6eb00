"""How verdicts, rules, figures and shares are written for the reader of a report."""

import math
import re
from typing import NamedTuple

from sluice.ground.verdict import Verdict


class Word(NamedTuple):
    mark: str  # so that no verdict depends on colour alone
    word: str
    style: str


VERDICT_WORDS = {
    Verdict.PASS: Word("✓", "meets the rule", "pass"),
    Verdict.REVIEW: Word("!", "needs a decision", "review"),
    Verdict.FAIL: Word("✗", "breaks the rule", "fail"),
    Verdict.UNKNOWN: Word("?", "could not be judged, therefore blocked", "unknown"),
}

# Of a plan as a whole.
PLAN_WORDS = {
    Verdict.PASS: Word("✓", "meets the policy", "pass"),
    Verdict.REVIEW: Word("!", "needs a decision", "review"),
    Verdict.FAIL: Word("✗", "does not meet the policy", "fail"),
    Verdict.UNKNOWN: Word("?", "could not be judged", "unknown"),
}


def figure(value: float | None) -> str:
    """A number for reading: thousands separated, four digits otherwise; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if float(value).is_integer() or abs(value) >= 1000:
        text = f"{value + 0.0:,.0f}"  # -0.0 is 0
    else:
        text = f"{value:.4g}" if abs(value) >= 1e-4 else f"{value:.1e}"
    return text.replace("-", "−")


def percent(share: float | None) -> str:
    """A share in per cent with one decimal; never 0 or 100 for what is not none or all."""
    if share is None:
        return "not shown"
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.1f} %"


def rule_words(rule: str) -> str:
    """'sample_uniques_share' as 'sample uniques share', 'k_anonymity' as 'k-anonymity'."""
    return re.sub(r"\b([a-z]) (?=[a-z]{2})", r"\1-", rule.replace("_", " "))
