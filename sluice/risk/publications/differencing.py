"""Differencing: what two files of nearly the same people tell together that neither tells alone.

Of two editions that differ by one person, the second less the first is that person: methods that keep a variable's
values give the newcomer's values away however well each file protects them. Ten other changes elsewhere do not hide
it, so the difference is taken within each class of quasi-identifiers.

Source: Hundepool and others (2012), who describe differencing for tables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import column_hashes, plain_values
from sluice.ground.frame_columns import with_columns
from sluice.risk.publications.publication import Publication, SamePeople
from sluice.risk.publications.renamed_variables import linear_rule, one_rule
from sluice.risk.spread import COARSE, on_grid, resolution

_KEPT = 0.9  # share of the values that a method leaves (nearly) as they are, from which a released value is believed
_FOR_ALL = 0.9  # share of the people for whom a variable changed, from which it changed for everybody
_ALL_CHOICES = 5  # keys of which every choice is a class
_NOTHING = -2  # in place of a value
_MOST_CUTS = 120  # places in the order of a key's labels, below which all are subtracted
_KNOWN = 0.95  # share of a class with one value from which everybody would have guessed it


@dataclass(frozen=True)
class Differences:
    """What the difference of the cross-tabulations gives away of those who came, left or changed.

    changed  : people in one file only, or with another original value in a variable that is released in both; not one
               that changed for nearly everybody, such as the month of an edition
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
    """Subtract the cross-tabulations of two files, of each value by every choice of keys.

    keys, values : variables released in both; an intruder knows of a person the keys (but for the value itself), and
                   that the person came, left or changed
    cost         : O(values choices (n + m) log(n + m)); of more than five keys all, all but one, two, one and none are
                   the choices. Where somebody moved by a key with an order, two choices more for each of its labels;
                   of more than 120, where the fewest people crossed

    Of a key that has an order, people below each of its values are classes as well: where people move up, as by
    birthdays, some leave and others come in every class between, but only those who cross it change who is below it.

    A value's difference tells something where exactly as many entries differ as people did: then no noise is between.
    Whoever moved from one class to another has one of the values that the first lost and the second won.
    Of a number with very little noise, the difference of a class's sums tells nearly as much.
    Where the files are recoded differently, the classes are the finest that are unions of classes in both. Of values
    that are written otherwise for everybody, as in capitals or in thousands, those of the earlier file are taken.
    """
    files = (earlier, _as_written_before(earlier, later, same, values))
    gone = [_gone(earlier, same.earlier), _gone(later, same.later)]
    changes = {name: _changes(files, same, name) for name in dict.fromkeys([*keys, *values])}
    labels = {name: _common_labels(files, same, name, changes[name]) for name in keys}
    moved = {name: _other_label(files, same, labels[name], changes[name]) for name in keys}
    told = [np.zeros(len(file.original), np.bool_) for file in files]
    attempted = [np.zeros(len(file.original), np.bool_) for file in files]
    guessed, by_chance = 0, 0.0
    sizes = range(len(keys), -1, -1) if len(keys) <= _ALL_CHOICES else (len(keys), len(keys) - 1, 2, 1, 0)
    levels = [level for size in sizes for level in combinations(keys, size)]
    parted = dict.fromkeys(keys, "")  # what a cut is one of
    for key in [each for each in keys if moved[each].any()]:
        for at, cut in enumerate(_cuts(files, same, key, labels[key])):
            crossed = _other_label(files, same, cut, changes[key])
            if crossed.any():
                below = f"{key} below {at}"  # beside all other keys, and by itself
                labels[below], moved[below], parted[below] = cut, crossed, key
                levels += [(below, *(other for other in keys if other != key)), (below,)]
    for name in values:
        codes = _common_values(files, name)
        believed = [_kept(file, name) for file in files]
        open_to = [np.ones(len(file.original), np.bool_) for file in files]  # one guess a person, in the finest class
        other_value = _other_label(files, same, (codes[0].released, codes[1].released), changes[name])
        finest = _combined(files, [labels[key] for key in keys if key != name])
        for level in dict.fromkeys(tuple(key for key in level if name not in (key, parted[key])) for level in levels):
            classes = _combined(files, [labels[key] for key in level])
            concerned = _either(files, same, gone, [*(moved[key] for key in level), other_value])
            for side, found in enumerate(_named(files, same, classes, finest, codes, concerned)):
                attempted[side][found.people] = True
                if believed[side]:
                    told[side][found.people[found.exact & (found.share < _KNOWN)]] = True
                    told[side][_summed(files, same, side, name, classes, concerned)] = True
                    continue
                new = open_to[side][found.people]
                guessed += int(found.right[new].sum())
                by_chance += float(found.share[new].sum())
                open_to[side][found.people] = False
    events = [change for change in changes.values() if not _is_for_all(change)]
    changed = _either(files, same, gone, events)
    return Differences(
        changed=int(max(change.sum() for change in changed)),
        attempted=int(max(side.sum() for side in attempted)),
        told=int(max(side.sum() for side in told)),
        guessed=guessed,
        by_chance=by_chance,
    )


def _as_written_before(earlier: Publication, later: Publication, same: SamePeople, names: Sequence[str]) -> Publication:
    """The later file with values as the earlier one writes them, where one rule says how they are written now."""
    original, masked = later.original, later.masked
    for name in names:
        if name not in original or name not in earlier.original:
            continue
        before, after = plain_values(earlier.original[name]), plain_values(original[name])
        if before.dtype.kind != "f" or after.dtype.kind != "f":
            rule = _renaming(before[same.earlier], after[same.later])
        elif _is_for_all(_changes((earlier, later), same, name)):
            rule = linear_rule(before[same.earlier], after[same.later])
        else:
            continue
        if rule is not None:
            original = with_columns(original, {name: rule(after)})
            masked = with_columns(masked, {name: rule(plain_values(masked[name]))})
    return replace(later, original=original, masked=masked)


def _renaming(before: Any, after: Any) -> Callable[[Any], Any] | None:
    """How a category was written before, by what is written now, where that has another name; None where none has."""
    rule = one_rule(after, before)
    was = {} if rule is None else {now: then for now, then in rule.items() if now != then}
    return (lambda values: np.array([was.get(value, value) for value in values], dtype=object)) if was else None


def _gone(file: Publication, rows: IntArray) -> BoolArray:
    """Shape (n,): who is not in the other file's data."""
    gone = np.ones(len(file.original), np.bool_)
    gone[rows] = False
    return gone


def _changes(files: tuple[Publication, Publication], same: SamePeople, name: str) -> BoolArray:
    """Shape (pairs,): who has another original value; nobody, where a file has no originals of the variable."""
    if any(name not in file.original for file in files):
        return np.zeros(len(same.earlier), np.bool_)
    before, after = (column_hashes(file.original[name]) for file in files)
    return np.asarray(before[same.earlier] != after[same.later])


def _is_for_all(changed: BoolArray) -> bool:
    """Whether a variable changed for nearly everybody: that it did is then nothing that happened to anybody."""
    return len(changed) > 0 and float(changed.mean()) >= _FOR_ALL


def _other_label(
    files: tuple[Publication, Publication], same: SamePeople, labels: tuple[IntArray, IntArray], changed: BoolArray
) -> BoolArray:
    """Shape (pairs,): whose change shows, for the two files have other labels of them."""
    rows = [_row_of(file) for file in files]
    mine, theirs = rows[0][same.earlier], rows[1][same.later]
    both = (mine >= 0) & (theirs >= 0)
    shows = changed.copy()
    shows[both] &= labels[0][mine[both]] != labels[1][theirs[both]]
    return shows


def _either(
    files: tuple[Publication, Publication], same: SamePeople, gone: Sequence[BoolArray], changes: Sequence[BoolArray]
) -> list[BoolArray]:
    """Of both files, shape (n,): who came or left, or whom one of the changes, shape (pairs,), concerns."""
    concerned = [each.copy() for each in gone]
    for change in changes:
        concerned[0][same.earlier[change]] = True
        concerned[1][same.later[change]] = True
    return concerned


def _common_labels(
    files: tuple[Publication, Publication], same: SamePeople, name: str, changed: BoolArray
) -> tuple[IntArray, IntArray]:
    """The released labels of a key in both files, numbered alike; labels that share people in both are one.

    Where the key changed for nearly everybody, as an age does in a year, a label of the later file is that of the
    earlier one which most of its people had.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components  # loaded where they are needed

    plain = [plain_values(file.masked[name]) for file in files]
    both = np.concatenate([values.astype(object) for values in plain])
    codes, found = pd.factorize(both)
    codes = np.where(codes < 0, len(found), codes)
    first, second = codes[: len(plain[0])], codes[len(plain[0]) :]
    rows = [_row_of(file) for file in files]
    mine, theirs = rows[0][same.earlier], rows[1][same.later]
    there = (mine >= 0) & (theirs >= 0)
    steps = len(found) + 1
    if _is_for_all(changed):
        linked = _most_frequent(first[mine[there]], second[theirs[there]], steps)
        second = second + steps  # of its own, unless most of its people say which label it was
    else:
        linked = first[mine[there & ~changed]], second[theirs[there & ~changed]]
        present = (linked[0] < len(found)) & (linked[1] < len(found))  # a suppressed value would make all labels one
        linked = linked[0][present], linked[1][present]
    graph = coo_array((np.ones(len(linked[0])), linked), shape=(2 * steps, 2 * steps))
    component = connected_components(graph, directed=False)[1].astype(np.int64)
    return component[first], component[second]


def _cuts(
    files: tuple[Publication, Publication], same: SamePeople, name: str, labels: tuple[IntArray, IntArray]
) -> list[tuple[IntArray, IntArray]]:
    """For each place between two labels of a key in their order that somebody crossed, the records of both files that
    are below it (0), above it (1) or have a label without an order (2); none where the key has no order.

    Of very many places those that the fewest crossed: these are the likeliest to have one value.
    """
    codes = np.concatenate(labels)
    values = np.concatenate([_in_order(file.original, name)[file.people] for file in files])
    middle = pd.Series(values).groupby(codes).median().dropna().sort_values()
    rank = np.full(int(codes.max(initial=0)) + 1, -1, np.int64)
    rank[middle.index.to_numpy(np.int64)] = np.arange(len(middle))
    ranks = [rank[side] for side in labels]
    rows = [_row_of(file) for file in files]
    mine, theirs = rows[0][same.earlier], rows[1][same.later]
    there = (mine >= 0) & (theirs >= 0)
    moved = np.sort([ranks[0][mine[there]], ranks[1][theirs[there]]], axis=0)
    moved = moved[:, (moved[0] >= 0) & (moved[0] < moved[1])]
    starts, stops = (np.bincount(end, minlength=len(middle)) for end in moved)
    crossing = np.cumsum(starts - stops)[: max(len(middle) - 1, 0)]  # between a label and the next
    places = np.flatnonzero(crossing)
    places = np.sort(places[np.argsort(crossing[places], kind="stable")[:_MOST_CUTS]])
    sides = [[np.where(side < 0, 2, side > place).astype(np.int64) for side in ranks] for place in places]
    return [(first, second) for first, second in sides]


def _in_order(frame: pd.DataFrame, name: str) -> FloatArray:
    """The values of a variable as numbers that rise with them; NaN where one is missing or has no order."""
    if name in frame and isinstance(frame[name].dtype, pd.CategoricalDtype):
        codes = frame[name].cat.codes.to_numpy(np.float64)
        return np.where((codes >= 0) & bool(frame[name].cat.ordered), codes, np.nan)
    values = plain_values(frame[name]) if name in frame else np.empty(0)
    return values if values.dtype.kind == "f" and len(values) else np.full(len(frame), np.nan)


def _most_frequent(first: IntArray, second: IntArray, steps: int) -> tuple[IntArray, IntArray]:
    """Each label of the later file with the label of the earlier one that most of its people had; the later ones are
    numbered from `steps` on."""
    pairs, times = np.unique(first * steps + second, return_counts=True)
    was, became = np.divmod(pairs, steps)
    most = np.zeros(steps, np.int64)
    np.maximum.at(most, became, times)
    usual = (2 * times > np.bincount(became, times, steps)[became]) & (was < steps - 1) & (became < steps - 1)
    return was[usual], became[usual] + steps


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
    share: FloatArray  # of those with the same keys that are released with this value, from which one would guess it
    exact: BoolArray  # nobody else of the class was released otherwise in the other file


def _named(
    files: tuple[Publication, Publication],
    same: SamePeople,
    classes: tuple[IntArray, IntArray],
    finest: tuple[IntArray, IntArray],
    values: tuple[_Values, _Values],
    changed: Sequence[BoolArray],
) -> list[_Named]:
    """Whom the difference of one cross-tabulation names a value of, in the earlier and in the later file.

    finest : the classes by all keys, by which a value would be guessed without the difference
    """
    width = int(max(part.released.max(initial=0) for part in values)) + 1
    total = int(max(part.max(initial=0) for part in classes)) + 1
    both = np.concatenate([group * width + each.released for group, each in zip(classes, values, strict=True)])
    cells, place = np.unique(both, return_inverse=True)
    counts = [np.bincount(part, minlength=len(cells)) for part in np.split(place, [len(classes[0])])]
    holder, value = np.divmod(cells, width)
    unsteady = _unsteady(files, same, np.split(place, [len(classes[0])]), classes, changed[0], total)
    excess = [(counts[side] - counts[1 - side]).clip(0) for side in (0, 1)]
    concerned = [change[file.people] for change, file in zip(changed, files, strict=True)]
    known = np.zeros((2, total), np.bool_)  # whose excess is the values of those concerned, and nothing else
    named_value = np.full((2, total), _NOTHING)
    for side in (0, 1):
        people = np.bincount(classes[side][concerned[side]], minlength=total)
        known[side] = (people > 0) & (np.bincount(holder, excess[side], minlength=total) == people)
        single = known[side] & (np.bincount(holder, excess[side] > 0, minlength=total) == 1)
        shown = (excess[side] > 0) & single[holder]
        named_value[side, holder[shown]] = value[shown]
    of_people = [named_value[side, classes[side]] for side in (0, 1)]
    moved, of_moved = _in_two_classes(files, same, classes, values, known, [cells[each > 0] for each in excess], width)
    for side in (0, 1):
        of_people[side][moved[side]] = np.where(of_moved == _NOTHING, of_people[side][moved[side]], of_moved)
    answers = []
    for side, file in enumerate(files):
        rows = np.flatnonzero(concerned[side] & (of_people[side] != _NOTHING))
        group, said = classes[side][rows], of_people[side][rows]
        share = _share(finest[side], values[side].released, rows, said) if len(rows) else np.zeros(0)
        answers.append(_Named(file.people[rows], values[side].original[rows] == said, share, ~unsteady[group]))
    return answers


def _share(classes: IntArray, released: IntArray, rows: IntArray, said: IntArray) -> FloatArray:
    """The share of the classes of these rows that is released with the values that were named."""
    width = int(max(released.max(initial=0), said.max(initial=0))) + 1
    cells, counts = np.unique(classes * width + released, return_counts=True)
    wanted = classes[rows] * width + said
    cell = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    return np.asarray(np.where(cells[cell] == wanted, counts[cell], 0) / np.bincount(classes)[classes[rows]])


def _in_two_classes(
    files: tuple[Publication, Publication],
    same: SamePeople,
    classes: tuple[IntArray, IntArray],
    values: tuple[_Values, _Values],
    known: BoolArray,
    surplus: Sequence[IntArray],
    width: int,
) -> tuple[tuple[IntArray, IntArray], IntArray]:
    """What is read of people who moved: the one value that their old class has lost, and their new one has won.

    known   : shape (2, classes)
    surplus : of both files, the cells, class * `width` + value, that hold more than in the other
    returns : the rows of these people in both files, and the values, _NOTHING where there are several or none
    cost    : O(moves entries of a class), a move being a pair of classes
    """
    rows = [_row_of(file) for file in files]
    mine, theirs = rows[0][same.earlier], rows[1][same.later]
    there = (mine >= 0) & (theirs >= 0)
    mine, theirs = mine[there], theirs[there]
    stays = values[0].released[mine] == values[1].released[theirs]
    old, new = classes[0][mine], classes[1][theirs]
    moved = stays & (old != new) & known[0, old] & known[1, new]
    mine, theirs, old, new = mine[moved], theirs[moved], old[moved], new[moved]
    if not len(mine):
        return (mine, theirs), np.zeros(0, np.int64)
    moves, move = np.unique(np.column_stack([old, new]), axis=0, return_inverse=True)
    lost = pd.DataFrame({"old": surplus[0] // width, "value": surplus[0] % width})
    found = pd.DataFrame({"old": moves[:, 0], "new": moves[:, 1], "move": np.arange(len(moves))}).merge(lost, on="old")
    found = found[np.isin(found["new"].to_numpy() * width + found["value"].to_numpy(), surplus[1])]
    times = np.bincount(found["move"], minlength=len(moves))
    single = np.full(len(moves), _NOTHING)
    single[found["move"]] = found["value"]
    single[times != 1] = _NOTHING
    return (mine, theirs), single[move.reshape(-1)]


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
    total = int(max(part.max(initial=0) for part in classes)) + 1
    concerned = [change[each.people] for change, each in zip(changed, files, strict=True)]
    people = sum(np.bincount(group[one], minlength=total) for group, one in zip(classes, concerned, strict=True))
    alone = np.flatnonzero(concerned[side])
    alone = alone[np.asarray(people)[classes[side][alone]] == 1]
    if not len(alone):
        return none
    near = resolution(original, COARSE) / 2
    rows = [_row_of(each) for each in files]
    stayed = ~changed[0][same.earlier]
    mine, theirs = rows[0][same.earlier[stayed]], rows[1][same.later[stayed]]
    both = (mine >= 0) & (theirs >= 0)
    apart = values[0][mine[both]] - values[1][theirs[both]]
    noise = float(np.nanstd(apart)) if np.isfinite(apart).any() else np.inf
    sums = [np.bincount(group, each, minlength=total) for group, each in zip(classes, values, strict=True)]
    size = np.bincount(classes[side], minlength=total)
    alone = alone[noise * np.sqrt(size[classes[side][alone]]) <= near]
    group = classes[side][alone]
    truth = original[file.people[alone]]
    right = np.abs(sums[side][group] - sums[1 - side][group] - truth) <= near
    told = []
    for row, place, value in zip(alone[right], group[right], truth[right], strict=True):
        alike = np.abs(values[side][classes[side] == place] - value) <= near
        if alike.mean() < _KNOWN:
            told.append(file.people[row])
    return np.array(told, dtype=np.int64)
