"""Sentinels: extreme values that probably mean something else, such as 'unknown' or 'no end', and are not declared.

A 999999 among incomes is nobody's income, and 9999-12-31 nobody's date. Left as it is, such a value spoils means, and
it is masked, compared and published as if it were one. Whoever owns the data knows; so it is asked, not decided here.
"""

from typing import Any

import numpy as np
import pandas as pd

from schemas.contract import Contract
from sluice.ground.arrays import FloatArray
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.variables import NAMES, Kind, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.spread import spread

_SAYS = Sentences(
    "sentinels",
    none="No number or date looks as if it stood for something else.",
    looks_like_one="'{name}': its {end} {kind} lies far from all others and may be no {kind} of anybody, but stand "
    "for missing or unlimited. If so, declare it in missing_codes; if it is meant, declare it as the {bound}.",
)

_NINES = tuple(float("9" * digits) for digits in range(2, 16))
_TOP = frozenset((*_NINES, *(nines + part for nines in _NINES for part in (0.9, 0.99)), *(n - 1 for n in _NINES)))
_BOTTOM = frozenset((-1.0, -7.0, -8.0, -9.0, -66.0, -77.0, -88.0, *(-value for value in _TOP)))
_DATES = ("0001-01-01", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1970-01-01",
          "2099-12-31", "2999-12-31", "9999-12-31")  # fmt: skip
_YEARS = (1850, 2150)  # nobody's records are older or newer
_MICROSECONDS_A_YEAR = 365.2425 * 86_400e6
_MOST_CODES = 4  # different codes at one end: refused, not asked, does not know, inapplicable
_FEWEST = 20  # values, to know what is far from the others


SENTINELS = (
    Declaration(
        "sentinels",
        helps="Ask the owner of the data what the value stands for: declare it in the contract's missing_codes, or as "
        "the minimum or maximum where it is meant.",
    ),
)


def check_sentinels(frame: pd.DataFrame, contract: Contract) -> list[Finding]:
    """One REVIEW for each end of a variable that holds such values, else one PASS; no value is told.

    frame : typed as `contract.staged`
    cost  : a sort of each number and date

    Asked about is a number written in nines (or one below), or a small negative one where all others are 0 or more, and
    a date that systems set by default, if it lies at least one spread from all other values; and a date outside of the
    years 1850 to 2150. Declared as `maximum` or `minimum`, the value itself is meant; a wider bound may be caution.
    """
    findings = [
        _finding(variable, end, len(frame))
        for name, variable in contract.staged.items()
        if variable.role not in NAMES and (variable.kind.is_numeric or variable.kind is Kind.DATE)
        for end in _suspects(frame[name], variable)
    ]
    if findings:
        return findings
    says = _SAYS.none()
    return [Finding(rule="sentinels", verdict=Verdict.PASS, stage="contract", **as_fields(says), attempted=len(frame),
                    completed=len(frame))]  # fmt: skip


def _finding(variable: Variable, end: str, records: int) -> Finding:
    kind, bound = "date" if variable.kind is Kind.DATE else "number", "maximum" if end == "largest" else "minimum"
    return Finding(
        rule="sentinels", verdict=Verdict.REVIEW, stage="contract", scope=variable.name, attempted=records,
        completed=records,
        **as_fields(_SAYS.looks_like_one(name=variable.name, end=end, kind=kind, bound=bound)),
    )  # fmt: skip


def _suspects(column: "pd.Series[Any]", variable: Variable) -> list[str]:
    """The ends at which there is what looks like a sentinel."""
    values, defaults = _numbers(column, variable.kind)
    if variable.kind is Kind.DATE:
        low, high = ((year - 1970) * _MICROSECONDS_A_YEAR for year in _YEARS)
        by_end = {"largest": defaults, "smallest": defaults}
        impossible = {"largest": values > high, "smallest": values < low}
    else:
        by_end = {"largest": _TOP, "smallest": _BOTTOM}
        impossible = {end: np.zeros(len(values), np.bool_) for end in by_end}
    found = []
    for end, bound in (("largest", variable.maximum), ("smallest", variable.minimum)):
        if len(values) < _FEWEST or _is_meant(bound, values.max() if end == "largest" else values.min(), variable.kind):
            continue
        away = values if end == "largest" else -values
        codes = by_end[end] if end == "largest" else frozenset(-code for code in by_end[end])
        if impossible[end].any() or _lie_apart(away, codes, signed=end == "smallest" and not defaults):
            found.append(end)
    return found


def _is_meant(bound: float | str | None, extreme: float, kind: Kind) -> bool:
    if bound is None:
        return False
    return (_microseconds(str(bound)) if kind is Kind.DATE else float(bound)) == extreme


def _microseconds(day: str) -> float:
    return float(np.datetime64(day[:10], "us").astype(np.int64))


def _lie_apart(values: FloatArray, codes: frozenset[float], signed: bool) -> bool:
    """Whether the largest values are codes, and lie apart from all that are none.

    signed : the codes are negative numbers, turned round: they count wherever all others are 0 or more, however near
    """
    different, counts = np.unique(values, return_counts=True)
    is_code = np.isin(different, list(codes))
    last = len(different) - 1
    while last >= 0 and is_code[last]:
        last -= 1
    if last < 0 or not 0 < len(different) - 1 - last <= _MOST_CODES:
        return False
    others = np.repeat(different[: last + 1], counts[: last + 1])
    apart = different[last + 1] - different[last] >= spread(others)
    if signed:
        apart = different[last] <= 0 < different[last + 1] and len(others) >= _FEWEST
    return bool(apart and spread(others) > 0)


def _numbers(column: "pd.Series[Any]", kind: Kind) -> tuple[FloatArray, frozenset[float]]:
    """The values that are present, dates in microseconds; and the default dates on that scale."""
    present = column.dropna()
    if kind is not Kind.DATE:
        numbers = present.to_numpy(np.float64)
        return numbers[np.isfinite(numbers)], frozenset()
    moments = present.to_numpy("datetime64[us]").astype(np.int64).astype(np.float64)
    days = np.floor(moments / 86_400e6) * 86_400e6  # a default may come with any time of its day
    return days, frozenset(map(_microseconds, _DATES))
