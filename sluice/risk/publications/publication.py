"""Publications: files of records with the people behind them, how much two differ, and which records are one person's.

Two releases of the same people tell together what neither tells alone, so they must be found where the name of the
data set, the key or a few values were changed in between.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import Hashes, plain_values, scrambled
from sluice.ground.variables import Variables
from sluice.risk.publications.renamed_variables import Described, is_renamed, one_rule

_KEYS_AGREE = 0.25  # of the way from pairs drawn at random to equal records
_SIGMAS = 4.0  # standard errors that chance passes about once in thirty thousand times
_SIGMAS_OF_MANY = 6.0  # the same where many choices of columns are looked at
_AS_MUCH = 0.7  # of the people found by some columns, whom a further one leaves
_STARTS = 3  # columns from which others are added
_NEARLY_ALL = 0.95  # of the people are found by all columns: no fewer would find more
_AS_MANY = 0.05  # of the people more, beyond which fewer columns are a better choice
_UNLIKELY = 3e-5  # the same chance
_COMMON = 0.01  # of the records; a column with fewer common values differs for everybody
_FEWEST_MOVED = 10  # records left over, of which an amount is looked for
_MOVED_ALIKE = 0.8  # of them, which moved by one amount, or a few times as much
_STEPS = 4
_SMALL_GROUP = 50  # records left over that are equal in all other columns
_FEW_EQUAL = 4  # records of one kind that are rare enough to speak of people, not of a quota
_SAMPLE = 100_000  # records by which a choice of columns, or an amount, is judged
_EXACT = 60  # records of one kind up to which the binomial distribution is summed, not approximated


@dataclass(frozen=True)
class SamePeople:
    """Pairs of rows, shape (p,), each row at most once."""

    earlier: IntArray
    later: IntArray


def same_people(
    earlier: pd.DataFrame,
    later: pd.DataFrame | Described,
    columns: Sequence[str],
    earlier_keys: "pd.Series[Any] | None" = None,
    later_keys: "pd.Series[Any] | None" = None,
) -> SamePeople | None:
    """The people of both files; None where the files seem to hold other people.

    earlier, later : typed frames, any index
    columns        : variables of both, without names and keys
    ..._keys       : what names a record in each file, where both name it alike, shape (n,)
    cost           : O(c (n + m) log(n + m)) for c columns; where few are found by all of them, some times as much

    Equal keys count where the records that they join are more alike than any two records: files that number their
    records from 1 have equal keys and other people. Then records are joined that are equal in all columns (equal ones
    among themselves in any order), or equal in all columns but one and alone with that; but only if more of them are
    equal than two samples of one population would have. Of the records left over, those are joined that differ in one
    number alone, if nearly all do by one amount. Columns that differ for many, such as the month of an edition, an age
    or what was asked anew, join nobody: of all columns, those without common values, and those with which the files
    agree, the choice counts by which most people are in both. What follows one rule for everybody counts again by its
    rule.
    """
    files = [Described.of(each) for each in (earlier, later)]
    sizes = [len(each.frame) for each in files]
    mixed = [_mixed(each, columns) for each in files]
    pairs = SamePeople(np.zeros(0, np.int64), np.zeros(0, np.int64))
    if earlier_keys is not None and later_keys is not None:
        joined = _joined(_key_hashes(earlier_keys), _key_hashes(later_keys), alone=True)
        if len(joined.earlier) and _are_alike(mixed, joined):
            pairs = joined
    if len(columns) and min(sizes):
        whole = _sums(mixed, range(len(columns)))
        if len(pairs.earlier):
            whole = _sums(mixed, _common(mixed))  # whose key is another, with a month that is another for everybody
            pairs = _with(pairs, _joined(whole[0], whole[1], alone=True), *sizes)
        elif steady := _steady(mixed):
            mixed[0], steady = _as_later(mixed, steady)
            whole = _sums(mixed, steady)
            pairs = _joined(whole[0], whole[1])
            for position in steady:  # a sum of hashes less one of them: all columns but that one
                others = [total - hashes[position] for total, hashes in zip(whole, mixed, strict=True)]
                pairs = _with(pairs, _joined(others[0], others[1], alone=True), *sizes)
                values = [plain_values(each.frame[columns[position]]) for each in files]
                if all(each.dtype.kind == "f" for each in values):
                    pairs = _with(pairs, _moved_alike(others, values, pairs), *sizes)
    return pairs if len(pairs.earlier) else None


def _mixed(file: Described, columns: Sequence[str]) -> Hashes:
    """Shape (c, n): a hash of each value, another in each column, so that sums over columns are hashes of records."""
    with np.errstate(over="ignore"):
        each = [
            scrambled(file.hashes(name) + np.uint64(2 * place + 1) * np.uint64(0x9E3779B97F4A7C15))
            for place, name in enumerate(columns)
        ]
    return np.array(each, dtype=np.uint64).reshape(len(columns), len(file.frame))


def _key_hashes(keys: "pd.Series[Any]") -> Hashes:
    return pd.util.hash_array(keys.astype(str).to_numpy(object))


def _joined(earlier: Hashes, later: Hashes, alone: bool = False) -> SamePeople:
    """Rows with equal hashes, one to one; with `alone`, only those that are alone with theirs in both files."""
    codes, values = pd.factorize(np.concatenate([earlier, later]))
    mine, theirs = codes[: len(earlier)], codes[len(earlier) :]
    counts = [np.bincount(part, minlength=len(values)) for part in (mine, theirs)]
    if alone:
        single = (counts[0] == 1) & (counts[1] == 1)
        kept = np.flatnonzero(single[mine]), np.flatnonzero(single[theirs])
    else:
        both = np.minimum(*counts)
        kept = np.flatnonzero(_rank(mine) < both[mine]), np.flatnonzero(_rank(theirs) < both[theirs])
    return SamePeople(
        kept[0][np.argsort(mine[kept[0]], kind="stable")], kept[1][np.argsort(theirs[kept[1]], kind="stable")]
    )


def _moved_alike(others: Sequence[Hashes], values: Sequence[FloatArray], pairs: SamePeople) -> SamePeople:
    """Of the records that nobody is paired with, those that differ in one number alone, and nearly all by one amount,
    as by a birthday; equal ones among themselves in any order. None where no amount is that of nearly all.

    others : a hash of all other columns, of both files
    """
    none, free = SamePeople(np.zeros(0, np.int64), np.zeros(0, np.int64)), []
    for each, rows in zip(values, (pairs.earlier, pairs.later), strict=True):
        unpaired = np.isfinite(each)
        unpaired[rows] = False
        free.append(np.flatnonzero(unpaired))
    if min(map(len, free)) < _FEWEST_MOVED:
        return none
    parts = [
        pd.DataFrame({"others": others[side][rows], "value": values[side][rows]}) for side, rows in enumerate(free)
    ]
    # Of everybody in small groups: a large one shows hardly more, and has a square of differences.
    every = np.uint64(max(1, min(map(len, free)) // _SAMPLE))
    some = [each[scrambled(each["others"].to_numpy(np.uint64)) % every == 0] for each in parts]
    small = [each[each.groupby("others")["value"].transform("size") <= _SMALL_GROUP] for each in some]
    both = small[0].merge(small[1], on="others")
    amounts = (both["value_y"] - both["value_x"]).round(9).value_counts()
    if not len(amounts):
        return none
    amount, found = float(amounts.index[0]), none
    # Whoever moves to a value may be taken for somebody who had it and moved on: two such steps are one twice as long.
    for times in range(1, _STEPS + 1):
        by_amount = [
            pd.util.hash_array((each["value"].to_numpy() + moved).round(9)) + each["others"].to_numpy(np.uint64)
            for each, moved in zip(parts, (times * amount, 0.0), strict=True)
        ]
        found = _with(found, _joined(by_amount[0], by_amount[1]), *map(len, free))
    if len(found.earlier) < max(_FEWEST_MOVED, _MOVED_ALIKE * min(map(len, free))):
        return none
    return SamePeople(free[0][found.earlier], free[1][found.later])


def _rank(codes: IntArray) -> IntArray:
    """How many equal codes stand before each."""
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    rank = np.empty(len(codes), np.int64)
    rank[order] = np.arange(len(codes)) - np.r_[0, ends][codes[order]]
    return rank


def _with(pairs: SamePeople, more: SamePeople, earlier: int, later: int) -> SamePeople:
    """The pairs and those of `more` whose rows are both free."""
    taken: tuple[BoolArray, BoolArray] = np.zeros(earlier, np.bool_), np.zeros(later, np.bool_)
    taken[0][pairs.earlier], taken[1][pairs.later] = True, True
    free = ~taken[0][more.earlier] & ~taken[1][more.later]
    return SamePeople(np.r_[pairs.earlier, more.earlier[free]], np.r_[pairs.later, more.later[free]])


def _are_alike(mixed: Sequence[Hashes], pairs: SamePeople) -> bool:
    """Whether joined records agree in more of their values than records that are joined at random."""
    earlier, later = mixed[0][:, pairs.earlier], mixed[1][:, pairs.later]
    if not len(earlier):
        return True
    by_chance = float((earlier == np.roll(later, len(pairs.later) // 2 or 1, axis=1)).mean())
    if len(pairs.later) == 1:
        by_chance = 0.0
    return float((earlier == later).mean()) - by_chance >= _KEYS_AGREE * (1 - by_chance)


def _sums(mixed: Sequence[Hashes], columns: Sequence[int]) -> list[Hashes]:
    """A hash of each record of both files by some columns."""
    return [hashes[list(columns)].sum(axis=0, dtype=np.uint64) for hashes in mixed]


def _steady(mixed: Sequence[Hashes]) -> list[int]:
    """The columns in which both files hold more equal records than two samples of one population would.

    returns : positions; of all columns, those without values that differ for everybody, and those that are found from
              the column on whose values both files agree best, by every other one with which they still agree as well,
              the choice by which most people are in both files; none, if no choice shows anybody
    """
    everything, common = list(range(len(mixed[0]))), _common(mixed)
    choices = []
    for columns in [everything, *([common] if common != everything and len(common) > 1 else [])]:
        sums = _sums(mixed, columns)
        if _more_equal_than_chance(*sums):
            choices.append((_in_both(*_some(sums)), columns))
            break
    if len(common) > 1 and not (choices and choices[0][0] >= _NEARLY_ALL):
        choices += _agreeing(mixed, common)
    most = max((share for share, _ in choices), default=0.0)
    return next((sorted(columns) for share, columns in choices if share >= most - _AS_MANY), [])


def _agreeing(mixed: Sequence[Hashes], common: Sequence[int]) -> "list[tuple[float, list[int]]]":
    """Sets of columns in which both files agree, with the share of the people who are then in both."""
    shown = {column: _in_both(*_some(_sums(mixed, [column]))) for column in common}
    alike = sorted(common, key=lambda each: -shown[each])
    found = []
    for first in alike[:_STARTS]:
        columns, total, share = [first], _sums(mixed, [first]), shown[first]
        for column in (each for each in alike if each != first):
            with_it = [sums + hashes[column] for sums, hashes in zip(total, mixed, strict=True)]
            reached = _in_both(*_some(with_it))
            if reached >= _AS_MUCH * share:
                columns, total, share = [*columns, column], with_it, reached
                if _surplus(*_some(total)) > _SIGMAS_OF_MANY:
                    found.append((share, columns))
    return found[::-1]


def _in_both(earlier: Hashes, later: Hashes) -> float:
    """The share of the smaller file's people who are in both, by how many more records are equal than chance makes."""
    if not len(earlier) or not len(later):
        return 0.0
    codes, values = pd.factorize(np.concatenate([earlier, later]))
    counts = [np.bincount(part, minlength=len(values)) for part in np.split(codes, [len(earlier)])]
    together, kinds = np.unique(counts[0] + counts[1], return_counts=True)
    more = abs(len(earlier) - len(later))
    by_chance = float(_apart(together, len(earlier) / len(codes))[0] @ kinds) - more
    return 1 - (float(np.abs(counts[0] - counts[1]).sum()) - more) / max(by_chance, 1.0)


def _common(mixed: Sequence[Hashes]) -> list[int]:
    """The columns of which both files hold some of the same values; all others differ for everybody."""
    columns = range(len(mixed[0]))
    return [each for each in columns if _share_in_common(mixed[0][each], mixed[1][each]) >= _COMMON]


def _as_later(mixed: Sequence[Hashes], steady: Sequence[int]) -> tuple[Hashes, list[int]]:
    """The earlier file's values as they would be in the later one, and the columns by which people are found then.

    Whoever is alone with the steady columns in both files shows what became of a value: an age of 40 is one of 41.
    """
    earlier, later = _sums(mixed, steady)
    pairs = _joined(earlier, later, alone=True)
    translated, found = mixed[0].copy(), list(steady)
    for column in sorted({*range(len(mixed[0]))} - {*steady}):
        rule = one_rule(mixed[0][column][pairs.earlier], mixed[1][column][pairs.later])
        if rule is not None:
            place = rule.index.get_indexer(pd.Index(mixed[0][column]))
            translated[column] = np.where(place >= 0, rule.to_numpy()[place], mixed[0][column])
            found.append(column)
    return translated, sorted(found)


def _counts(earlier: "npt.NDArray[Any]", later: "npt.NDArray[Any]") -> tuple[IntArray, IntArray]:
    """How many records of each file have each value."""
    codes, values = pd.factorize(np.concatenate([earlier, later]))
    first, second = (np.bincount(part, minlength=len(values)) for part in np.split(codes, [len(earlier)]))
    return first, second


def _share_in_common(earlier: Hashes, later: Hashes) -> float:
    """How many records of the smaller file could have a partner with the same value."""
    return float(np.minimum(*_counts(earlier, later)).sum()) / min(len(earlier), len(later))


def _some(files: Sequence[Hashes]) -> list[Hashes]:
    """A sample of the records of both files, which has equal ones of both or none of them."""
    every = max(1, min(len(records) for records in files) // _SAMPLE)
    if every == 1:
        return list(files)
    return [records[scrambled(records) % np.uint64(every) == 0] for records in files]


def _surplus(earlier: Hashes, later: Hashes) -> float:
    """By how many standard errors more records are equal than chance would make, among those of which few are equal.

    Large groups say nothing here: in samples with quotas they are as large in each.
    """
    if not len(earlier) or not len(later):
        return 0.0
    first, second = _counts(earlier, later)
    few = first + second <= _FEW_EQUAL
    return _nearer_than_chance(first[few], second[few], len(earlier) / (len(earlier) + len(later)))


def _more_equal_than_chance(earlier: Hashes, later: Hashes) -> bool:
    """Whether the files share more equal records than two samples of one population would."""
    first, second = _counts(earlier, later)
    share = len(earlier) / (len(earlier) + len(later))
    return _too_much_alike(first, second, share) or _nearer_than_chance(first, second, share) > _SIGMAS


def _nearer_than_chance(earlier: IntArray, later: IntArray, share: float) -> float:
    """By how many standard errors the numbers of equal records in the two files lie nearer than chance would make.

    Of t equal records in both files together, as many lie in the earlier one as of t throws of a coin show heads, if
    the files hold other people; how far the numbers in the two files lie apart is then known in mean and variance.
    """
    together, kinds = np.unique(earlier + later, return_counts=True)
    mean, variance = _apart(together, share)
    expected, spread = float(mean @ kinds), float(np.sqrt(variance @ kinds))
    return (expected - float(np.abs(earlier - later).sum())) / max(spread, 1.0)


def _too_much_alike(earlier: IntArray, later: IntArray, share: float) -> bool:
    """Whether large groups differ less between the files than two samples could: of few kinds of records, all are."""
    from scipy.stats import chi2

    together = earlier + later
    large = together >= _EXACT
    deviation = (earlier - share * together)[large] ** 2 / (share * (1 - share) * together[large])
    return large.sum() > 1 and bool(chi2.cdf(deviation.sum(), large.sum() - 1) < _UNLIKELY)


def _apart(together: IntArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of |x - (t - x)| for x of a binomial distribution of t throws, for each t."""
    from scipy.special import erf

    few = together <= _EXACT
    mean, variance = np.empty(len(together)), np.empty(len(together))
    mean[few], variance[few] = (each[together[few]] for each in _apart_of_few(share))
    t = together[~few].astype(np.float64)
    scale = 2 * np.sqrt(t * share * (1 - share))
    middle = np.abs(t * (2 * share - 1)) / scale  # of a normal distribution that is folded at 0
    folded = np.sqrt(2 / np.pi) * np.exp(-(middle**2) / 2) + middle * erf(middle / np.sqrt(2))
    mean[~few], variance[~few] = scale * folded, scale**2 * (middle**2 + 1 - folded**2)
    return mean, variance


@lru_cache(maxsize=64)
def _apart_of_few(share: float) -> tuple[FloatArray, FloatArray]:
    """The same, summed, for each t up to those of which it need not be; shape (t + 1,)."""
    from scipy.stats import binom  # loaded where it is needed

    t, x = np.arange(_EXACT + 1)[:, None], np.arange(_EXACT + 1)
    probability, apart = binom.pmf(x, t, share), np.abs(2 * x - t)
    mean = (probability * apart).sum(axis=1)
    variance = (probability * (apart - mean[:, None]) ** 2).sum(axis=1)  # as a difference it may fall below 0
    return mean, variance


@dataclass(frozen=True)
class Publication:
    """One file, record by record with its original.

    original  : all people of its data, typed by `variables`, index 0..n-1
    masked    : typed by `released`; row i is the masked record of the person in row `people[i]` of `original`
    people    : shape (m,), different rows; whoever was held out or not sampled is not among them
    """

    original: pd.DataFrame
    masked: pd.DataFrame
    people: IntArray
    variables: Variables
    released: Variables


def named_alike(earlier: Publication, later: Publication, same: SamePeople) -> Publication:
    """The earlier file with the later one's names of variables that were called otherwise, whatever their codes."""
    new: dict[str, str] = {}
    unknown = [str(name) for name in later.original if name not in earlier.original and name in later.released]
    for name in map(str, earlier.original):
        if name in later.original or name not in earlier.released:
            continue
        mine = earlier.original[name].iloc[same.earlier]
        for other in (each for each in unknown if each not in new.values()):
            if is_renamed(mine, later.original[other].iloc[same.later]):
                new[name] = other
                break
    if not new:
        return earlier

    def renamed(variables: Variables) -> Variables:
        return {new.get(n, n): v.model_copy(update={"name": new.get(n, n)}) for n, v in variables.items()}

    return Publication(
        earlier.original.rename(columns=new), earlier.masked.rename(columns=new), earlier.people,
        renamed(earlier.variables), renamed(earlier.released),
    )  # fmt: skip


def changed_records(earlier: pd.DataFrame, later: pd.DataFrame) -> int:
    """How many records came, left or changed: the larger number of records that only one of the two files holds.

    earlier, later : typed frames with the same columns, in any order of rows; equal records are counted
    cost           : O(n + m), by 64-bit hashes of the rows
    """
    rows = [pd.util.hash_pandas_object(frame, index=False).to_numpy() for frame in (earlier, later)]
    before, after = _counts(rows[0], rows[1])
    return int(max((before - after).clip(0).sum(), (after - before).clip(0).sum()))


def rows_within(part: pd.DataFrame, whole: pd.DataFrame) -> IntArray:
    """The row of `whole` that each record of `part`, which is some of it, stands in, each row at most once.

    cost : O(n log n), by 64-bit hashes of the rows
    """
    rows = [pd.util.hash_pandas_object(frame, index=False).to_numpy() for frame in (part, whole)]
    places = [pd.DataFrame({"row": each}) for each in rows]
    for place in places:
        place["times"] = place.groupby("row").cumcount()
        place["at"] = np.arange(len(place))
    found = places[0].merge(places[1], on=["row", "times"], how="left", suffixes=("", "_of_whole"))
    return found["at_of_whole"].to_numpy(np.int64)
