"""Differencing: what two files of nearly the same people tell together that neither tells alone.

Of two editions that differ by one person, the second less the first is that person: methods that keep a variable's
values give the newcomer's values away however well each file protects them. Ten other changes elsewhere do not hide
it, so the difference is taken within each class of quasi-identifiers.

Source: Hundepool and others (2012), who describe differencing for tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.value_hashes import column_hashes
from sluice.risk.publications.publication import Publication
from sluice.risk.publications.same_people import SamePeople
from sluice.risk.resolution import COARSE, on_grid, resolution

_KEPT = 0.9  # share of the values that a method leaves (nearly) as they are, from which a released value is believed
_KNOWN = 0.95  # share of a class with one value from which everybody would have guessed it


@dataclass(frozen=True)
class Differences:
    """What the difference of the cross-tabulations gives away of those who came, left or changed.

    changed  : people in one file only, or with another original value in a variable that is released in both
    attempted: people of whom the difference of some class shows one value only
    told     : of these, people whose value so becomes known for certain, and was not what everybody would have guessed
    guessed  : values that the difference names, of variables that masking changes: right ones,
    by_chance: and how many would be right by the shares of the values in the class
    """

    changed: int
    attempted: int
    told: int
    guessed: int
    by_chance: float


def differencing(
    earlier: Publication, later: Publication, same: SamePeople, keys: Sequence[str], values: Sequence[str]
) -> Differences:
    """Subtract the cross-tabulations of two files, of each value by all keys, by each one and by none.

    keys, values : variables released in both; an intruder knows of a person the keys (but for the value itself), and
                   that the person came, left or changed
    cost         : O(values keys (n + m) log(n + m))

    A value's difference tells something where exactly as many entries differ as people did: then no noise is between.
    Of a number with very little noise, the difference of a class's sums tells nearly as much.
    Where the files are recoded differently, the classes are the finest that are unions of classes in both.
    """
    files = (earlier, later)
    changed = [
        _changed(file, rows, other, others, [*keys, *values]) for file, rows, other, others in _sides(files, same)
    ]
    labels = {name: _common_labels(files, same, name) for name in keys}
    told = [np.zeros(len(file.original), np.bool_) for file in files]
    attempted = [np.zeros(len(file.original), np.bool_) for file in files]
    guessed, by_chance = 0, 0.0
    levels = [list(keys), *([name] for name in keys if len(keys) > 1), []]
    for name in values:
        codes = _common_values(files, name)
        believed = [_kept(file, name) for file in files]
        open_to = [np.ones(len(file.original), np.bool_) for file in files]  # one guess a person, in the finest class
        for level in [[key for key in level if key != name] for level in levels]:
            classes = _combined(files, [labels[key] for key in level])
            for side, found in enumerate(_named(files, same, classes, codes, changed)):
                attempted[side][found.people] = True
                if believed[side]:
                    told[side][found.people[found.exact & (found.share < _KNOWN)]] = True
                    told[side][_summed(files, same, side, name, classes, changed)] = True
                    continue
                new = open_to[side][found.people]
                guessed += int(found.right[new].sum())
                by_chance += float(found.share[new].sum())
                open_to[side][found.people] = False
    return Differences(
        changed=int(max(change.sum() for change in changed)),
        attempted=int(max(side.sum() for side in attempted)),
        told=int(max(side.sum() for side in told)),
        guessed=guessed,
        by_chance=by_chance,
    )


def _sides(
    files: tuple[Publication, Publication], same: SamePeople
) -> list[tuple[Publication, IntArray, Publication, IntArray]]:
    return [(files[0], same.earlier, files[1], same.later), (files[1], same.later, files[0], same.earlier)]


def _changed(
    file: Publication, rows: IntArray, other: Publication, others: IntArray, names: Sequence[str]
) -> BoolArray:
    """Shape (n,): who is not in the other file, or has another original value in one of the variables."""
    changed = np.ones(len(file.original), np.bool_)
    changed[rows] = False
    for name in names:
        if name in file.original and name in other.original:
            mine, theirs = column_hashes(file.original[name]), column_hashes(other.original[name])
            changed[rows[mine[rows] != theirs[others]]] = True
    return changed


def _common_labels(files: tuple[Publication, Publication], same: SamePeople, name: str) -> tuple[IntArray, IntArray]:
    """The released labels of a key in both files, numbered alike; labels that share people in both are one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components  # loaded where they are needed

    plain = [plain_values(file.masked[name]) for file in files]
    both = np.concatenate([values.astype(object) for values in plain])
    codes, found = pd.factorize(both)
    codes = np.where(codes < 0, len(found), codes)
    first, second = codes[: len(plain[0])], codes[len(plain[0]) :]
    rows = [_row_of(file) for file in files]
    mine, theirs = rows[0][same.earlier], rows[1][same.later]
    unchanged = (mine >= 0) & (theirs >= 0)
    if all(name in file.original for file in files):
        before, after = (column_hashes(file.original[name]) for file in files)
        unchanged &= before[same.earlier] == after[same.later]
    linked = first[mine[unchanged]], second[theirs[unchanged]]
    present = (linked[0] < len(found)) & (linked[1] < len(found))  # a suppressed value would make all labels one
    shape = (len(found) + 1, len(found) + 1)
    graph = coo_array((np.ones(present.sum()), (linked[0][present], linked[1][present])), shape=shape)
    component = connected_components(graph, directed=False)[1].astype(np.int64)
    return component[first], component[second]


def _row_of(file: Publication) -> IntArray:
    """The masked record of each person, -1 for none."""
    row = np.full(len(file.original), -1, np.int64)
    row[file.people] = np.arange(len(file.people))
    return row


@dataclass(frozen=True)
class _Values:
    """One variable in one file, numbered alike in both files: as released, and as it was."""

    released: IntArray  # (m,)
    original: IntArray  # (m,), -1 where no released value of either file is equal to it


def _common_values(files: tuple[Publication, Publication], name: str) -> tuple[_Values, _Values]:
    """Numbers that nobody would tell apart are one value."""
    released = [plain_values(file.masked[name]) for file in files]
    originals = [
        plain_values(file.original[name])[file.people] if name in file.original else np.full(len(file.people), np.nan)
        for file in files
    ]
    if all(values.dtype.kind == "f" for values in (*released, *originals)):
        width = resolution(np.concatenate(released))
        released, originals = ([on_grid(values, width) for values in part] for part in (released, originals))
    codes, found = pd.factorize(np.concatenate([values.astype(object) for values in released]))
    codes = np.where(codes < 0, len(found), codes)
    before = [pd.Index(found).get_indexer(pd.Index(values.astype(object))) for values in originals]
    split = len(files[0].masked)
    return _Values(codes[:split], before[0]), _Values(codes[split:], before[1])


def _combined(
    files: tuple[Publication, Publication], labels: Sequence[tuple[IntArray, IntArray]]
) -> tuple[IntArray, IntArray]:
    combined = np.zeros(sum(len(file.masked) for file in files), np.int64)
    for pair in labels:
        both = np.concatenate(pair)
        combined = np.unique(combined * (both.max(initial=0) + 1) + both, return_inverse=True)[1].astype(np.int64)
    return combined[: len(files[0].masked)], combined[len(files[0].masked) :]


def _kept(file: Publication, name: str) -> bool:
    """Whether a released value may be believed: equal to the original, near it, or a group in which that lies."""
    if name not in file.original or not len(file.people):
        return False
    before, after = plain_values(file.original[name])[file.people], plain_values(file.masked[name])
    present = ~pd.isna(after)
    before, after = before[present], after[present]
    if not len(after):
        return False
    if before.dtype.kind == "f" and after.dtype.kind == "f":
        near = np.abs(before - after) <= resolution(before, COARSE) / 2 + 1e-12
        if near.mean() >= _KEPT:
            return True
    originals, groups = pd.factorize(before)[0], pd.factorize(after)[0]
    several = np.bincount(originals[originals >= 0], minlength=1)
    pairs, times = np.unique(np.column_stack([originals, groups]), axis=0, return_counts=True)
    most = np.zeros(len(several), np.int64)
    np.maximum.at(most, pairs[pairs[:, 0] >= 0, 0], times[pairs[:, 0] >= 0])
    repeated = several > 1
    # By values that occur several times alone: a value that occurs once has one group, whatever was done to it.
    return bool(repeated.any() and most[repeated].sum() >= _KEPT * several[repeated].sum())


@dataclass(frozen=True)
class _Named:
    """People of one file whose value the difference of a class names."""

    people: IntArray  # rows of the original
    right: BoolArray  # the value named is their original one
    share: FloatArray  # of their class that is released with this value
    exact: BoolArray  # nobody else of the class was released otherwise in the other file


def _named(
    files: tuple[Publication, Publication],
    same: SamePeople,
    classes: tuple[IntArray, IntArray],
    values: tuple[_Values, _Values],
    changed: Sequence[BoolArray],
) -> list[_Named]:
    """Whom the difference of one cross-tabulation names a value of, in the earlier and in the later file."""
    width = int(max(part.released.max(initial=0) for part in values)) + 1
    total = int(max(part.max(initial=0) for part in classes)) + 1
    both = np.concatenate([group * width + each.released for group, each in zip(classes, values, strict=True)])
    cells, place = np.unique(both, return_inverse=True)
    counts = [np.bincount(part, minlength=len(cells)) for part in np.split(place, [len(classes[0])])]
    holder, value = np.divmod(cells, width)
    unsteady = _unsteady(files, same, np.split(place, [len(classes[0])]), classes, changed[0], total)
    answers = []
    for side, file in enumerate(files):
        excess = (counts[side] - counts[1 - side]).clip(0)
        concerned = changed[side][file.people]
        people = np.bincount(classes[side][concerned], minlength=total)
        single = np.bincount(holder, excess > 0, minlength=total) == 1
        named = single & (people > 0) & (np.bincount(holder, excess, minlength=total) == people)
        named_value = np.full(total, -2, np.int64)
        shown = (excess > 0) & named[holder]
        named_value[holder[shown]] = value[shown]
        group = classes[side]
        alike = np.bincount(group, values[side].released == named_value[group], minlength=total)
        share = alike / np.maximum(np.bincount(group, minlength=total), 1)
        rows = np.flatnonzero(concerned & named[group])
        right = values[side].original[rows] == named_value[group[rows]]
        answers.append(_Named(file.people[rows], right, share[group[rows]], ~unsteady[group[rows]]))
    return answers


def _unsteady(
    files: tuple[Publication, Publication],
    same: SamePeople,
    cells: Sequence[IntArray],
    classes: tuple[IntArray, IntArray],
    changed: BoolArray,
    total: int,
) -> BoolArray:
    """Classes with people who did not change and are in another cell, or in none, in the other file."""
    rows = [_row_of(file) for file in files]
    stayed = ~changed[same.earlier]
    mine, theirs = rows[0][same.earlier[stayed]], rows[1][same.later[stayed]]
    before, after = cells
    moved = (mine < 0) | (theirs < 0) | (before[mine] != after[theirs])
    unsteady = np.zeros(total, np.bool_)
    unsteady[classes[0][mine[moved & (mine >= 0)]]] = True
    unsteady[classes[1][theirs[moved & (theirs >= 0)]]] = True
    return unsteady


def _summed(
    files: tuple[Publication, Publication],
    same: SamePeople,
    side: int,
    name: str,
    classes: tuple[IntArray, IntArray],
    changed: Sequence[BoolArray],
) -> IntArray:
    """Who is alone in having come or left a class, and whose number the difference of its two sums so gives away.

    Near enough is a twentieth of the spread, and so large the noise of all others in the class may be together.
    """
    none = np.zeros(0, np.int64)
    file, values = files[side], [plain_values(each.masked[name]) for each in files]
    if name not in file.original or any(each.dtype.kind != "f" for each in values):
        return none
    original = plain_values(file.original[name])
    if original.dtype.kind != "f":
        return none
    near = resolution(original, COARSE) / 2
    rows = [_row_of(each) for each in files]
    stayed = ~changed[0][same.earlier]
    mine, theirs = rows[0][same.earlier[stayed]], rows[1][same.later[stayed]]
    both = (mine >= 0) & (theirs >= 0)
    apart = values[0][mine[both]] - values[1][theirs[both]]
    noise = float(np.nanstd(apart)) if np.isfinite(apart).any() else np.inf
    total = int(max(part.max(initial=0) for part in classes)) + 1
    concerned = [change[each.people] for change, each in zip(changed, files, strict=True)]
    people = sum(np.bincount(group[one], minlength=total) for group, one in zip(classes, concerned, strict=True))
    sums = [np.bincount(group, each, minlength=total) for group, each in zip(classes, values, strict=True)]
    size = np.bincount(classes[side], minlength=total)
    alone = np.flatnonzero(concerned[side])
    group = classes[side][alone]
    alone = alone[(np.asarray(people)[group] == 1) & (noise * np.sqrt(size[group]) <= near)]
    group = classes[side][alone]
    truth = original[file.people[alone]]
    right = np.abs(sums[side][group] - sums[1 - side][group] - truth) <= near
    told = []
    for row, place, value in zip(alone[right], group[right], truth[right], strict=True):
        alike = np.abs(values[side][classes[side] == place] - value) <= near
        if alike.mean() < _KNOWN:
            told.append(file.people[row])
    return np.array(told, dtype=np.int64)
