"""Same people: which records of two files are one person's, whatever the files are called.

Two releases of the same people tell together what neither tells alone, so they must be found where the name of the
data set, the key or a few values were changed in between.

Publication: a file of records that was or would be published, with the people behind it, and how much two differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import Hashes, column_hashes, scrambled
from sluice.ground.variables import Variables

_KEYS_AGREE = 0.25  # of the way from pairs drawn at random to equal records
_SIGMAS = 4.0  # standard errors that chance passes about once in thirty thousand times
_UNLIKELY = 3e-5  # the same chance
_EXACT = 60  # records of one kind up to which the binomial distribution is summed, not approximated


@dataclass(frozen=True)
class SamePeople:
    """Pairs of rows, shape (p,), each row at most once."""

    earlier: IntArray
    later: IntArray


def same_people(
    earlier: pd.DataFrame,
    later: pd.DataFrame,
    columns: Sequence[str],
    earlier_keys: "pd.Series[Any] | None" = None,
    later_keys: "pd.Series[Any] | None" = None,
) -> SamePeople | None:
    """The people of both files; None where the files seem to hold other people.

    earlier, later : typed frames, any index
    columns        : variables of both, without names and keys
    ..._keys       : what names a record in each file, where both name it alike, shape (n,)
    cost           : O(c (n + m) log(n + m)) for c columns

    Equal keys count where the records that they join are more alike than any two records: files that number their
    records from 1 have equal keys and other people. Then records are joined that are equal in all columns (equal ones
    among themselves in any order), or equal in all columns but one and alone with that; but only if more of them are
    equal than two samples of one population would have.
    """
    mixed = [_mixed(earlier, columns), _mixed(later, columns)]
    pairs = SamePeople(np.zeros(0, np.int64), np.zeros(0, np.int64))
    if earlier_keys is not None and later_keys is not None:
        joined = _joined(_key_hashes(earlier_keys), _key_hashes(later_keys), alone=True)
        if len(joined.earlier) and _are_alike(mixed, joined):
            pairs = joined
    if len(columns) and min(len(earlier), len(later)):
        whole = [hashes.sum(axis=0, dtype=np.uint64) for hashes in mixed]
        if len(pairs.earlier):
            pairs = _with(pairs, _joined(whole[0], whole[1], alone=True), len(earlier), len(later))
        elif _more_equal_than_chance(whole[0], whole[1]):
            pairs = _joined(whole[0], whole[1])
            for position in range(len(columns)):  # a sum of hashes less one of them: all columns but that one
                others = [total - hashes[position] for total, hashes in zip(whole, mixed, strict=True)]
                pairs = _with(pairs, _joined(others[0], others[1], alone=True), len(earlier), len(later))
    return pairs if len(pairs.earlier) else None


def _mixed(frame: pd.DataFrame, columns: Sequence[str]) -> Hashes:
    """Shape (c, n): a hash of each value, another in each column, so that sums over columns are hashes of records."""
    with np.errstate(over="ignore"):
        each = [
            scrambled(column_hashes(frame[name]) + np.uint64(2 * place + 1) * np.uint64(0x9E3779B97F4A7C15))
            for place, name in enumerate(columns)
        ]
    return np.array(each, dtype=np.uint64).reshape(len(columns), len(frame))


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


def _more_equal_than_chance(earlier: Hashes, later: Hashes) -> bool:
    """Whether the files share more equal records than two samples of one population would.

    Of t equal records in both files together, as many lie in the earlier one as of t throws of a coin show heads, if
    the files hold other people; how far the numbers in the two files lie apart is then known in mean and variance.
    """
    codes, values = pd.factorize(np.concatenate([earlier, later]))
    counts = [np.bincount(part, minlength=len(values)) for part in np.split(codes, [len(earlier)])]
    if _too_much_alike(counts[0], counts[1], len(earlier) / len(codes)):
        return True
    together, kinds = np.unique(counts[0] + counts[1], return_counts=True)
    mean, variance = _apart(together, len(earlier) / len(codes))
    expected, spread = float(mean @ kinds), float(np.sqrt(variance @ kinds))
    return expected - float(np.abs(counts[0] - counts[1]).sum()) > _SIGMAS * max(spread, 1.0)


def _too_much_alike(earlier: IntArray, later: IntArray, share: float) -> bool:
    """Whether large groups differ less between the files than two samples could: of few kinds of records, all are."""
    from scipy.stats import chi2

    together = earlier + later
    large = together >= _EXACT
    deviation = (earlier - share * together)[large] ** 2 / (share * (1 - share) * together[large])
    return large.sum() > 1 and bool(chi2.cdf(deviation.sum(), large.sum() - 1) < _UNLIKELY)


def _apart(together: IntArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of |x - (t - x)| for x of a binomial distribution of t throws, for each t."""
    from scipy.stats import binom, foldnorm  # loaded where they are needed

    mean, variance = np.empty(len(together)), np.empty(len(together))
    for place, t in enumerate(together):
        if t <= _EXACT:
            x = np.arange(t + 1)
            probability, apart = binom.pmf(x, t, share), np.abs(2 * x - t)
            mean[place] = probability @ apart
            variance[place] = probability @ (apart - mean[place]) ** 2  # as a difference it may fall below 0
        else:
            scale = 2 * np.sqrt(t * share * (1 - share))
            near = foldnorm(abs(t * (2 * share - 1)) / scale, scale=scale)
            mean[place], variance[place] = near.mean(), near.var()
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


def changed_records(earlier: pd.DataFrame, later: pd.DataFrame) -> int:
    """How many records came, left or changed: the larger number of records that only one of the two files holds.

    earlier, later : typed frames with the same columns, in any order of rows; equal records are counted
    cost           : O(n + m), by 64-bit hashes of the rows
    """
    rows = [pd.util.hash_pandas_object(frame, index=False).to_numpy() for frame in (earlier, later)]
    codes, values = pd.factorize(np.concatenate(rows))
    before, after = (np.bincount(part, minlength=len(values)) for part in np.split(codes, [len(earlier)]))
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
