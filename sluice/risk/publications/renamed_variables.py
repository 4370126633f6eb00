"""Renamed variables: one variable that two files call, or write, otherwise: ages as years of birth, labels as codes.

People who are in both files show by which rule values were rewritten. Before they are known, the shares of the values
tell: a code that is as frequent as a label may stand for it, and two spreads how one number follows from the other.
What is only guessed so is believed where it finds more people again than chance would.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import Hashes, column_hashes, plain_values, scrambled
from sluice.risk.spread import resolution

_RULE = 0.9  # of the people, whose values became what one rule says
_SHOWN = 30  # people who show a rule
_ALIKE = 0.5  # of the records, whose values two columns have in common from which they are one variable
_REWRITTEN = 0.8  # the same where values are written otherwise
_MOST_VALUES = 20_000  # by which columns are compared
_MANY_VALUES = 1_000  # from which a sample of them will do; no code is guessed of so many
_UNITS = (1.0, 7.0, 12.0, 52.0, 60.0, 365.25, 2.54, 2.2046, *(10.0**power for power in range(1, 7)))
_NEAR_A_UNIT = 0.05  # of it, that the ratio of two spreads may be off
_SPREAD_ALIKE = 0.1  # standard deviations, by which quantiles of one variable may be off
_PEOPLE = 5_000  # who are in both files and tell whether two columns are one variable
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
    alike = _in_common(Described(earlier), Described(later), names, later_names)
    for (name, other), share in sorted(alike.items(), key=lambda item: (-item[1], item[0])):
        if share >= _ALIKE and name not in found and other not in found.values():
            found[name] = other
    return found


class Described:
    """A file whose columns are described once, with however many others it is compared."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._shares: dict[str, _Shares] = {}
        self._values: dict[str, _Values] = {}
        self._hashes: dict[str, Hashes] = {}

    @classmethod
    def of(cls, file: "pd.DataFrame | Described") -> "Described":
        return file if isinstance(file, Described) else cls(file)

    def hashes(self, name: str) -> Hashes:
        if name not in self._hashes:
            self._hashes[name] = column_hashes(self.frame[name])
        return self._hashes[name]

    def shares(self, name: str, every: int) -> "_Shares":
        """Shares of a column's values; of very many, those of one in `every`, the same in each file."""
        if name not in self._shares:
            self._shares[name] = _Shares(*np.unique(self.hashes(name), return_counts=True))
        return self._shares[name].some(every)

    def values(self, name: str) -> "_Values":
        if name not in self._values:
            self._values[name] = _Values.of(self.frame[name])
        return self._values[name]


@dataclass(frozen=True)
class _Shares:
    """Different values of a column, as hashes in rising order, and how many records have each."""

    hashes: Hashes
    counts: IntArray

    def some(self, every: int) -> "_Shares":
        if every == 1 or len(self.hashes) <= _MANY_VALUES:
            return self
        kept = scrambled(self.hashes) % np.uint64(every) == 0
        return _Shares(self.hashes[kept], self.counts[kept])

    def in_common(self, other: "_Shares") -> float:
        """The share of the records that could have a partner with the same value."""
        if not len(self.hashes) or not len(other.hashes):
            return 0.0
        place = np.minimum(np.searchsorted(other.hashes, self.hashes), len(other.hashes) - 1)
        both = other.hashes[place] == self.hashes
        mine, theirs = (each.counts / max(each.counts.sum(), 1) for each in (self, other))
        return float(np.minimum(mine[both], theirs[place[both]]).sum())


def _in_common(
    earlier: Described, later: Described, names: Sequence[str], later_names: Sequence[str]
) -> dict[tuple[str, str], float]:
    """For each pair of columns, the share of the records whose values are the same in both."""
    every = max(1, max(len(earlier.frame), len(later.frame)) // _MOST_VALUES)
    after = {other: later.shares(other, every) for other in later_names}
    return {
        (name, other): earlier.shares(name, every).in_common(theirs)
        for name in names
        for other, theirs in after.items()
    }


def in_later_codes(
    earlier: pd.DataFrame, later: pd.DataFrame | Described, names: Sequence[str], later_names: Sequence[str]
) -> pd.DataFrame:
    """Columns of the earlier file that may be variables of the later one, named and written as there.

    names, later_names : columns to be looked at
    returns            : same index as the earlier file; each column of either file at most once, the most alike first.
                         A value that the later file has no code for is missing
    cost               : that of `same_columns`; of each other pair of columns O(1), and O(n log n) of numbers that are
                         spread alike
    """
    ways = list[_Way]()
    before, after = Described(earlier), Described.of(later)
    for (name, other), share in _in_common(before, after, names, later_names).items():
        ways.append(_Way(name, other, share, 0 if share >= _REWRITTEN else 3, lambda values: values))
        if share < _REWRITTEN:
            ways += _rewritten(name, other, before.values(name), after.values(other))
    taken = set[str]()
    found: dict[str, pd.Series[Any]] = {}
    for way in sorted(ways, key=lambda each: (each.rank, -each.alike, each.name, each.other)):
        if way.name not in taken and way.other not in found and way.alike >= (_REWRITTEN if way.rank < 3 else _ALIKE):
            taken.add(way.name)
            found[way.other] = earlier[way.name] if way.rank in (0, 3) else pd.Series(
                way.rule(before.values(way.name).all), earlier.index
            )  # fmt: skip
    return pd.DataFrame(found, earlier.index)


@dataclass(frozen=True)
class _Way:
    """An earlier column as one of a later one, and the share of records in which they agree."""

    name: str
    other: str
    alike: float
    rank: int  # how much a high share means: of equal values most, of equally frequent ones little
    rule: Callable[[Any], Any]  # of the later values, by the earlier ones


@dataclass(frozen=True)
class _Values:
    """A column.

    all    : shape (n,), as `plain_values` has them
    shares : of the records with each value
    spread : of numbers that vary, 41 quantiles in standard deviations from the mean; None of others
    """

    all: npt.NDArray[Any]
    shares: "pd.Series[float]"
    spread: FloatArray | None

    @classmethod
    def of(cls, column: "pd.Series[Any]") -> "_Values":
        values, spread = plain_values(column), None
        if values.dtype.kind == "f":
            values = values.round(9)
            known = values[np.isfinite(values)]
            if len(known) >= _SHOWN and known.std() > 0:
                spread = (np.quantile(known, np.linspace(0.01, 0.99, 41)) - known.mean()) / known.std()
        return cls(values, pd.Series(values).value_counts(normalize=True), spread)


def _rewritten(name: str, other: str, before: _Values, after: _Values) -> Iterator[_Way]:
    """By a line, if both are numbers and one fits, and by how frequent the values are."""
    if before.spread is not None and after.spread is not None:
        for sign, spread in ((1.0, before.spread), (-1.0, -before.spread[::-1])):
            if np.abs(spread - after.spread).mean() <= _SPREAD_ALIKE:
                yield from _by_line(name, other, before, after, sign)
    shares = before.shares, after.shares
    fewest, most = sorted(map(len, shares))
    if 2 <= fewest <= most <= min(_MANY_VALUES, fewest * 1.1 + 1):
        alike = float(np.minimum(*(each.to_numpy()[:fewest] for each in shares)).sum())
        code = dict(zip(shares[0].index, shares[1].index, strict=False))
        kind = after.all.dtype
        yield _Way(name, other, alike, 2, lambda values: pd.Series(values).map(code).to_numpy(kind))


def _by_line(name: str, other: str, before: _Values, after: _Values, sign: float) -> Iterator[_Way]:
    """As a multiple that a change of units or of direction explains, and a constant more."""
    known = [each.all[np.isfinite(each.all)] for each in (before, after)]
    ratio = float(known[1].std() / known[0].std())
    unit = min((*_UNITS, *(1 / each for each in _UNITS)), key=lambda each: abs(ratio / each - 1))
    if abs(ratio / unit - 1) > _NEAR_A_UNIT:
        return
    ordered = [each.shares.sort_index() for each in (before, after)]
    levels, shares = [each.index.to_numpy(np.float64) for each in ordered], [each.to_numpy() for each in ordered]
    slope, step = sign * unit, float(np.diff(levels[1]).min())
    middle = np.rint(float(np.median(known[1]) - np.median(slope * known[0])) / step)
    for constant in dict.fromkeys((0.0, *(step * (middle + off) for off in range(-_STEPS_OFF, _STEPS_OFF + 1)))):
        rule = partial(_on_line, slope, constant)
        values = rule(levels[0])
        place = np.minimum(np.searchsorted(levels[1], values), len(levels[1]) - 1)
        alike = float(np.minimum(shares[0], shares[1][place])[levels[1][place] == values].sum())
        yield _Way(name, other, alike, 1, rule)


def _on_line(slope: float, constant: float, values: FloatArray) -> FloatArray:
    return (constant + slope * values).round(9)


def is_renamed(before: "pd.Series[Any]", after: "pd.Series[Any]") -> bool:
    """Whether two columns of the same people, in one order, are one variable, by its values or by a rule on these."""
    every = max(1, len(before) // _PEOPLE)
    before, after = before.iloc[::every], after.iloc[::every]
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
