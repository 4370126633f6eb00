"""How verdicts, rules, figures, shares and what masking did to a variable are written for the reader of a report."""

import math
import re
from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from sluice.ground.sentence import Statement, written
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.measurement import NEAR, NEAR_WITH_ENDS
from sluice.utility.variable_summary import VariableSummary

_NOTABLE = 0.005  # a share, or a number of standard deviations, from which on a change is told
_LEADS_ON = (  # words after which no sentence is cut
    " a an the of by to in on at for from with and or than that which whose who as is are be was were more less under "
    "over above below between its their no not only per this these any every each "
)
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


def near_limit(finding: Finding) -> Statement | None:
    """What the finding says where its interval crosses the limit: on which side its figure lies, and the ends."""
    return next((said for said in finding.saying if said.code in (NEAR.code, NEAR_WITH_ENDS.code)), None)


def deciding_figure(finding: Finding) -> tuple[str, str] | None:
    """The figure that decided and its limit, as the finding writes figures; None where it has or tells none."""
    observed, limit = finding.observed, finding.limit
    if observed is None or limit is None:
        return None
    ends = (written(finding.saying, one, like=other) for one, other in ((observed, limit), (limit, observed)))
    found, allowed = (words or figure(value) for words, value in zip(ends, (observed, limit), strict=True))
    return found, allowed


def brief(text: str, words: int) -> str:
    """The first sentences of a text that have so many words together; the beginning of the first where it is longer."""
    sentences = text.replace(". ", ".\n").split("\n")
    kept, used = [], 0
    for sentence in sentences:
        used += len(sentence.split())
        if used > words:
            break
        kept.append(sentence)
    if kept:
        return " ".join(kept)
    return f"{_cut(sentences[0].split(), words)} …"


def _cut(told: Sequence[str], words: int) -> str:
    """So many words at most: none that leads on to the next is the last, no bracket is open, no figure without its
    unit."""
    kept = [*told[:words]]
    if " ".join(kept).count("(") > " ".join(kept).count(")"):
        last = max(at for at, each in enumerate(kept) if "(" in each)
        kept = kept[:last] or kept
    while len(kept) > 1 and (f" {kept[-1].lower()} " in _LEADS_ON or told[len(kept) :][:1] == ["%"]):
        kept.pop()
    return " ".join(kept).rstrip(",;:")


def quoted(finding: Finding, words: int) -> str:
    """What a finding says, cut to so many words; in short where that would lose the figure that decided."""
    says, decided = brief(finding.says, words), deciding_figure(finding)
    if says == finding.says or decided is None or _tells(says, decided[0]):
        return says
    return in_short(finding)


def _tells(says: str, figure: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(figure)}(?! ?%|[.,]?\d)", says) is not None


def in_short(finding: Finding) -> str:
    """'Learned linkage: 5.2 %, limit 5 %.', or the part of its words that tells both; '' where it has or tells none."""
    decided = deciding_figure(finding)
    if decided is None:
        return ""
    rule = rule_words(finding.rule)
    parts = (said.text.strip() for said in finding.notes if all(_tells(said.text, each) for each in decided))
    tells = next((part for part in parts if part[:1].islower()), f"{decided[0]}, limit {decided[1]}")
    crossed = "; its interval crosses that" if near_limit(finding) else ""
    return f"{rule[:1].upper()}{rule[1:]}: {tells}{crossed}."


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
    lost, bits = 1 - after / before, f"{before:.2g}"
    bits += " bit" if bits == "1" else " bits"
    if abs(lost) < _NOTABLE:
        return [f"Its values differ from each other as much as before (entropy {bits})."]
    how = "differ less" if lost > 0 else "are spread more evenly"
    by = f"{percent(min(1.0, abs(lost)))} {'lower' if lost > 0 else 'higher'}"
    return [f"Its values {how} than before (entropy {by} than {bits})."]


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
        parts.append(f"the spread is {percent(abs(spread))} {'wider' if spread > 0 else 'narrower'}")
    text = " and ".join(parts)
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
    if after == before:
        return ["The groups that are shown hold the same shares of the records as before."]
    if percent(before) == percent(after):
        return ["The share of no group that is shown moved by as much as 0.1 points."]
    return [f"Most moved: {name}, from {percent(before)} to {percent(after)} of the records."]


def _together(tables: InTables | None) -> list[str]:
    if tables is None:
        return []
    place = f", the {_ORDINALS[tables.place]} of {tables.of} variables" if tables.place < len(_ORDINALS) else ""
    return [
        f"In tables with another released variable {percent(tables.loss)} of the records stand in another cell{place}."
    ]
