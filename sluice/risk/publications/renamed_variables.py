"""Renamed variables: one variable that two files call, or write, otherwise: ages as years of birth, labels as codes.

People who are in both files show by which rule values were rewritten. Before they are known, the shares of the values
tell: a code that is as frequent as a label may stand for it, and two spreads how one number follows from the other.
What is only guessed so is believed where it finds more people again than chance would.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import column_hashes, plain_values, scrambled
from sluice.risk.spread import resolution

_RULE = 0.9  # of the people, whose values became what one rule says
_SHOWN = 30  # people who show a rule
_ALIKE = 0.5  # of the records, whose values two columns have in common from which they are one variable
_REWRITTEN = 0.8  # the same where values are written otherwise
_MOST_VALUES = 20_000  # by which columns are compared
_MANY_VALUES = 1_000  # from which a sample of them will do; no code is guessed of so many
_UNITS = (1.0, 7.0, 12.0, 52.0, 60.0, 365.25, 2.54, 2.2046, *(10.0**power for power in range(1, 7)))
_NEAR_A_UNIT = 0.05  # of it, that the ratio of two spreads may be off
_STEPS_OFF = 3  # of the values' resolution, that a constant may be off


def one_rule(given: "npt.NDArray[Any]", other: "npt.NDArray[Any]") -> "pd.Series[Any] | None":
    """What each value became, if one rule says so for nearly everybody; None where nothing shows a rule.

    given, other : shape (p,), values of the same people
    returns      : by the values of `given` that have one partner, or nearly; missing ones have none
    """
    times = pd.DataFrame({"given": given, "other": other}).dropna().value_counts().reset_index()
    times["of"] = times.groupby("given")["count"].transform("sum")
    usual = times.drop_duplicates("given")  # the most frequent of each
    several = usual[usual["of"] > 1]  # one case shows no rule
    if several["of"].sum() < _SHOWN or several["count"].sum() < _RULE * several["of"].sum():
        return None
    clear = usual[usual["count"] >= _RULE * usual["of"]]
    return pd.Series(clear["other"].to_numpy(), pd.Index(clear["given"]))


def linear_rule(before: FloatArray, after: FloatArray) -> Callable[[Any], Any] | None:
    """How a number was written before, by what is written now, where it is a multiple and a constant more."""
    known = np.isfinite(before) & np.isfinite(after)
    before, after = before[known], after[known]
    apart = after != np.roll(after, 1)
    if apart.sum() < _SHOWN:
        return None
    slope = float(np.median((before - np.roll(before, 1))[apart] / (after - np.roll(after, 1))[apart]))
    constant = float(np.median(before - slope * after))
    near = np.abs(before - constant - slope * after) <= resolution(before) / 2 + 1e-9 * np.abs(before)
    return (lambda values: np.round(constant + slope * values, 9)) if near.mean() >= _RULE else None


def same_columns(
    earlier: pd.DataFrame, later: pd.DataFrame, names: Sequence[str], later_names: Sequence[str]
) -> dict[str, str]:
    """Which column of the later file has the values of which one of the earlier, by the shares of their values.

    names, later_names : columns to be looked at
    returns            : earlier name -> later name, each once; the most alike first, none that differ in half
    cost               : O(c n log n) for c columns, and of each pair of columns a merge of at most 20,000 values
    """
    found: dict[str, str] = {}
    alike = _in_common(earlier, later, names, later_names)
    for (name, other), share in sorted(alike.items(), key=lambda item: (-item[1], item[0])):
        if share >= _ALIKE and name not in found and other not in found.values():
            found[name] = other
    return found


def _in_common(
    earlier: pd.DataFrame, later: pd.DataFrame, names: Sequence[str], later_names: Sequence[str]
) -> dict[tuple[str, str], float]:
    """Of each pair of columns, the share of the records whose values are the same in both."""
    every = max(1, max(len(earlier), len(later)) // _MOST_VALUES)
    shares = [_shares(frame, which, every) for frame, which in ((earlier, names), (later, later_names))]
    return {
        (name, other): float(np.minimum(*mine.align(theirs, fill_value=0.0)).sum())
        for name, mine in shares[0].items()
        for other, theirs in shares[1].items()
    }


def _shares(frame: pd.DataFrame, names: Sequence[str], every: int) -> "dict[str, pd.Series[float]]":
    """Of each column, the shares of its values; of very many, those of one in `every`, the same in each file."""
    found = {}
    for name in names:
        counts = pd.Series(column_hashes(frame[name])).value_counts()
        if len(counts) > _MANY_VALUES:
            counts = counts[scrambled(counts.index.to_numpy(np.uint64)) % np.uint64(every) == 0]
        found[name] = (counts / max(counts.sum(), 1)).astype(float)
    return found


def in_later_codes(
    earlier: pd.DataFrame, later: pd.DataFrame, names: Sequence[str], later_names: Sequence[str]
) -> pd.DataFrame:
    """Columns of the earlier file that may be variables of the later one, named and written as there.

    names, later_names : columns to be looked at
    returns            : same index as the earlier file; each column of either file at most once, the most alike first.
                         A value that the later file has no code for is missing
    cost               : that of `same_columns`, and of each other pair of columns O(n)
    """
    ways = list[_Way]()
    for (name, other), share in _in_common(earlier, later, names, later_names).items():
        ways.append(_Way(name, other, share, 0 if share >= _REWRITTEN else 3, earlier[name]))
        if share < _REWRITTEN:
            ways += _rewritten(name, other, plain_values(earlier[name]), plain_values(later[other]), earlier.index)
    taken = set[str]()
    found: dict[str, pd.Series[Any]] = {}
    for way in sorted(ways, key=lambda each: (each.rank, -each.alike, each.name, each.other)):
        if way.name not in taken and way.other not in found and way.alike >= (_REWRITTEN if way.rank < 3 else _ALIKE):
            taken.add(way.name)
            found[way.other] = way.values
    return pd.DataFrame(found, earlier.index)


@dataclass(frozen=True)
class _Way:
    """An earlier column as one of a later one, and the share of records in which they agree."""

    name: str
    other: str
    alike: float
    rank: int  # how much a high share means: of equal values most, of equally frequent ones little
    values: "pd.Series[Any]"


def _rewritten(
    name: str, other: str, before: npt.NDArray[Any], after: npt.NDArray[Any], index: pd.Index
) -> Iterator[_Way]:
    """By a line, if both are numbers and one fits, and by how frequent the values are."""
    if before.dtype.kind == after.dtype.kind == "f":
        alike, values = _by_line(before, after)
        yield _Way(name, other, alike, 1, pd.Series(values, index))
    shares = [pd.Series(values).value_counts(normalize=True) for values in (before, after)]
    fewest, most = sorted(map(len, shares))
    if 2 <= fewest <= most <= min(_MANY_VALUES, fewest * 1.1 + 1):
        alike = float(np.minimum(*(each.to_numpy()[:fewest] for each in shares)).sum())
        code = dict(zip(shares[0].index, shares[1].index, strict=False))
        yield _Way(name, other, alike, 2, pd.Series(pd.Series(before).map(code).to_numpy(after.dtype), index))


def _by_line(before: FloatArray, after: FloatArray) -> tuple[float, FloatArray]:
    """As a multiple that a change of units or of direction explains, and a constant more."""
    best, written = 0.0, before
    known = before[np.isfinite(before)], after[np.isfinite(after)]
    if min(map(len, known)) < _SHOWN or not known[0].std() or not known[1].std():
        return best, written
    ratio = float(known[1].std() / known[0].std())
    unit = min((*_UNITS, *(1 / each for each in _UNITS)), key=lambda each: abs(ratio / each - 1))
    if abs(ratio / unit - 1) > _NEAR_A_UNIT:
        return best, written
    step = float(np.diff(np.unique(known[1])).min())
    shares = pd.Series(known[1].round(9)).value_counts(normalize=True)
    for slope in (unit, -unit):
        middle = np.rint(float(np.median(known[1]) - np.median(slope * known[0])) / step)
        for constant in dict.fromkeys((0.0, *(step * (middle + off) for off in range(-_STEPS_OFF, _STEPS_OFF + 1)))):
            values = (constant + slope * before).round(9)
            mine = pd.Series(values).value_counts(normalize=True)
            alike = float(np.minimum(*mine.align(shares, fill_value=0.0)).sum())
            if alike > best:
                best, written = alike, values
    return best, written


def is_renamed(before: "pd.Series[Any]", after: "pd.Series[Any]") -> bool:
    """Whether two columns of the same people, in one order, are one variable, by its values or by a rule on these."""
    mine, theirs = column_hashes(before), column_hashes(after)
    if not len(mine):
        return False
    needed = max(_RULE, (1 + float(pd.Series(mine).value_counts(normalize=True).iloc[0])) / 2)
    if float((mine == theirs).mean()) >= needed:
        return True
    was, became = plain_values(before), plain_values(after)
    if was.dtype.kind == became.dtype.kind == "f" and linear_rule(was, became) is not None:
        return True
    kinds = [pd.Series(each).nunique() for each in (mine, theirs)]
    if max(kinds) > min(_MANY_VALUES, min(kinds) * 1.1 + 1) or (rule := one_rule(theirs, mine)) is None:
        return False
    return float((rule.reindex(theirs).to_numpy() == mine).mean()) >= needed
