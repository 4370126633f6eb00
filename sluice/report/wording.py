"""How verdicts, rules, figures, shares and what masking did to a variable are written for the reader of a report."""

import math
import re
from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from sluice.ground.verdict import Finding, Verdict
from sluice.utility.variable_summary import VariableSummary

_NOTABLE = 0.005  # a share, or a number of standard deviations, from which on a change is told
_ORDINALS = ("most", "second most", "third most")

Rows = Sequence[tuple[str, int | None, int | None]]


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


def interval(finding: Finding) -> tuple[float, float] | None:
    """The confidence interval of a finding's figure, where it says that its limit lies within."""
    for said in finding.saying:
        low, high = said.data.get("low"), said.data.get("high")
        if isinstance(low, int | float) and isinstance(high, int | float):
            return float(low), float(high)
    return None


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


class InTables(NamedTuple):
    """How far a variable's tables with other released ones lie from the original's: mean loss, place of how many."""

    loss: float
    place: int
    of: int


def caption(summary: VariableSummary, rows: Rows, original: int, released: int, tables: InTables | None) -> str:
    """One to four sentences, the most telling first.

    rows               : group, count before and after; None where it is not shown
    original, released : records of the two files
    """
    told = [*_bits(summary), *_moments(summary), *_shift(rows, original, released), *_together(tables)]
    return " ".join(told) or "As far as its figures show, it is as it was."


def _bits(summary: VariableSummary) -> list[str]:
    before, after = summary.entropy_before, summary.entropy_after
    if not before or after is None:
        return []
    lost = 1 - after / before
    if abs(lost) < _NOTABLE:
        return [f"Its {before:.2g} bits are all there."]
    word = "lost" if lost > 0 else "gained"
    return [f"It {word} {percent(min(1.0, abs(lost)))} of its {before:.2g} bits."]


def _moments(summary: VariableSummary) -> list[str]:
    mean, deviation = summary.mean_before, summary.deviation_before
    if mean is None or summary.mean_after is None or not deviation or summary.deviation_after is None:
        return []
    moved, spread = (summary.mean_after - mean) / deviation, summary.deviation_after / deviation - 1
    if not (isfinite(moved) and isfinite(spread)):
        return []
    if abs(moved) < _NOTABLE and abs(spread) < _NOTABLE:
        return ["Mean and spread are the same."]
    parts = []
    if abs(moved) >= _NOTABLE:
        parts.append(
            f"the mean is {figure(round(abs(moved), 3))} standard deviations {'higher' if moved > 0 else 'lower'}"
        )
    if abs(spread) >= _NOTABLE:
        parts.append(f"the spread {percent(abs(spread))} {'wider' if spread > 0 else 'narrower'}")
    text = ", ".join(parts)
    return [f"{text[0].upper()}{text[1:]}."]


def _shift(rows: Rows, original: int, released: int) -> list[str]:
    """The group whose share moved most, of those that are shown."""
    if not original or not released:
        return []
    shares = [
        (name, one / original, other / released) for name, one, other in rows if one is not None and other is not None
    ]
    if not shares:
        return []
    name, before, after = max(shares, key=lambda row: abs(row[2] - row[1]))
    if abs(after - before) < _NOTABLE:
        return ["The groups that are shown hold the same shares of the records as before."]
    return [f"Most moved: {name}, from {percent(before)} to {percent(after)} of the records."]


def _together(tables: InTables | None) -> list[str]:
    if tables is None:
        return []
    place = f", the {_ORDINALS[tables.place]} of {tables.of} variables" if tables.place < len(_ORDINALS) else ""
    return [
        f"In tables with another released variable {percent(tables.loss)} of the records stand in another cell{place}."
    ]
