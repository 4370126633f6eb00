"""Joint moves: from one edition to the next people come into a file, leave it or change only as groups.

Whoever is alone in having left is the difference of two files. So who leaves takes others along, and who comes waits
for others: all who have the same classes in the editions so far, and are in the same of them, are k or more with more
than one value of each variable. Two of them could be exchanged, and every published file would be the same.

Sources: Byun, Sohn, Bertino and Li (2006), who let newcomers wait until k of them can be published; Xiao and Tao
(2007), m-invariance, by which a record meets the same values in every edition. Differs from them: there are no
counterfeit records, and nobody changes class; who cannot stay in it is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, IntArray

_ABSENT = -1
_KNOWN = 0.98  # share of a group with one value from which everybody would have guessed it
_FOR_ALL = 0.9  # share of those who stay whose value changed, from which it changed for everybody


@dataclass(frozen=True)
class Edition:
    """One edition as its readers have it, by people: shape (p,), the same people in the same places in each.

    classes : the released class, by all quasi-identifiers; -1 of whoever is not in the edition
    values  : by the names of the other variables, codes that are equal for equal released values of any edition
    """

    classes: IntArray
    values: Mapping[str, IntArray]


def stay_together(
    earlier: Sequence[Edition],
    now: Edition,
    order: IntArray,
    k: int,
    newcomers: int | None = None,
    sensitive: Sequence[str] = (),
) -> BoolArray:
    """Who stays in an edition, shape (p,): nobody comes, leaves or changes in it with fewer than k of the same kind.

    earlier   : the editions that were published, in their order
    now       : the edition as it would be with everybody
    order     : shape (p,), a random permutation: whom those who leave take along is drawn by it
    newcomers : who was in no edition waits until so many of a class do; k, if not given
    sensitive : a class that is left with one value of one of these variables leaves
    cost      : O(e v p log p) for e editions in which a value of v variables changed, a few times over

    People of one kind have the same class in, or are absent from, each edition. Where k or more of a kind leave, and
    their values are not all the same, nobody is taken along. A value that changed for some, and not for nearly
    everybody, makes a group of those whose value it is, too, beside each edition.
    """
    kept = now.classes != _ABSENT
    kind = np.zeros(len(kept), np.int64)
    for edition in earlier:
        kind = _combined(kind, edition.classes)
    ever = np.any([edition.classes != _ABSENT for edition in earlier], axis=0) if earlier else np.zeros_like(kept)
    kind = np.where(ever, kind, _combined(kind, now.classes) + kind.max(initial=0) + 1)
    kind = np.unique(kind, return_inverse=True)[1].astype(np.int64)
    columns = list(_columns([*earlier, now]))
    while True:
        before = kept.copy()
        for edition in earlier:
            kept &= ~_changed_alone(edition, now, kept, k)
        for name in sensitive:
            kept &= ~_uniform(now.classes + 1, kept, now.values[name])[now.classes + 1]
        told = [_telling(values, kind, ever, now.classes + 1, kept) for values in columns]
        kept &= ~_few(kind, now.classes, kept, ever, told, k, newcomers or k)
        kept &= ~_taken_along(kind, kept, ever, told, order, k)
        if np.array_equal(kept, before):
            return np.asarray(kept)


def _combined(kind: IntArray, classes: IntArray) -> IntArray:
    codes = kind * (int(classes.max(initial=0)) + 2) + classes + 1
    return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.int64)


def _columns(editions: Sequence[Edition]) -> Iterator[IntArray]:
    """The different columns of values, -1 where nobody is in an edition: one for all editions that agree about it."""
    for name in dict.fromkeys(name for edition in editions for name in edition.values):
        found: list[IntArray] = []
        for edition in editions:
            if name not in edition.values:
                continue
            values = np.where(edition.classes == _ABSENT, _ABSENT, edition.values[name])
            if found and (np.minimum(found[-1], values) == _ABSENT)[found[-1] != values].all():
                found[-1] = np.maximum(found[-1], values)
            else:
                found.append(values)
        yield from found


def _telling(values: IntArray, kind: IntArray, ever: BoolArray, classes: IntArray, kept: BoolArray) -> IntArray:
    """The values without those of people of whom nearly everybody would have guessed them: shape (p,), -1 for none.

    They are guessed from all of their kind, and those of newcomers from all of their class.
    """
    guessed = np.where(ever, _guessed(kind, ever, values)[kind], _guessed(classes, kept, values)[classes])
    return np.where(guessed, _ABSENT, values)


def _few(
    kind: IntArray, classes: IntArray, kept: BoolArray, ever: BoolArray, told: Sequence[IntArray], k: int, first: int
) -> BoolArray:
    """Of those who would be in the edition, whose part of their kind is too small for it, or has one value only."""
    part = _combined(kind, np.where(kept, classes, _ABSENT))
    size = np.bincount(part[kept], minlength=int(part.max(initial=0)) + 1)
    few = size[part] < np.where(ever, k, max(first, k))
    for values in told:
        few |= _uniform(part, kept, values)[part]
    return np.asarray(kept & few)


def _uniform(part: IntArray, among: BoolArray, values: IntArray) -> BoolArray:
    """Shape (parts,): in which of them all of these people who have a value have the same."""
    low, high = _ends(part, among, values)
    return np.asarray(low == high)


def _ends(part: IntArray, among: BoolArray, values: IntArray) -> tuple[IntArray, IntArray]:
    """The least and the largest value of each part, shape (parts,); where there is none, the least is the larger."""
    parts = int(part.max(initial=0)) + 1
    low, high = np.full(parts, np.iinfo(np.int64).max), np.full(parts, _ABSENT)
    rows = np.flatnonzero(among & (values != _ABSENT))
    rows = rows[np.lexsort((values[rows], part[rows]))]
    starts = np.flatnonzero(np.diff(part[rows], prepend=_ABSENT) != 0)
    ends = np.r_[starts[1:], len(rows)] - 1
    low[part[rows[starts]]] = values[rows[starts]]
    high[part[rows[starts]]] = values[rows[ends[: len(starts)]]]
    return low, high


def _guessed(kind: IntArray, among: BoolArray, values: IntArray) -> BoolArray:
    """Shape (kinds,): in which of them nearly everybody has one value, so that it tells nothing of who has it."""
    rows = np.flatnonzero(among & (values != _ABSENT))
    kinds, steps = int(kind.max(initial=0)) + 1, int(values.max(initial=0)) + 1
    cells, times = np.unique(kind[rows] * steps + values[rows], return_counts=True)
    most = np.zeros(kinds, np.int64)
    np.maximum.at(most, cells // steps, times)
    return np.asarray(most >= _KNOWN * np.bincount(kind[rows], minlength=kinds))


def _taken_along(
    kind: IntArray, kept: BoolArray, ever: BoolArray, told: Sequence[IntArray], order: IntArray, k: int
) -> BoolArray:
    """Whom those who are not in the edition, and were in one, take along so that they are k of several values."""
    gone = ever & ~kept
    kinds = int(kind.max(initial=0)) + 1
    lost = np.bincount(kind[gone], minlength=kinds)
    rows = np.flatnonzero(kept & ever)
    rows = rows[np.lexsort((order[rows], kind[rows]))]
    place = np.arange(len(rows)) - np.searchsorted(kind[rows], kind[rows])  # in the queue of its kind
    last = np.where(lost > 0, k - lost, 0) - 1  # the place of the last who goes
    for values in told:
        low, high = _ends(kind, gone, values)
        other = (low == high)[kind[rows]] & (values[rows] != _ABSENT) & (values[rows] != low[kind[rows]])
        nearest = np.full(kinds, len(kept))
        np.minimum.at(nearest, kind[rows[other]], place[other])
        last = np.where(nearest < len(kept), np.maximum(last, nearest), last)
    taken = np.zeros_like(kept)
    taken[rows[place <= last[kind[rows]]]] = True
    return taken


def _changed_alone(earlier: Edition, now: Edition, kept: BoolArray, k: int) -> BoolArray:
    """Whose value changed since an edition, where it did for fewer than k of the same classes, or in one way only."""
    alone = np.zeros_like(kept)
    stayed = kept & (earlier.classes != _ABSENT)
    classes = _combined(np.where(stayed, earlier.classes, _ABSENT), now.classes)
    for name in now.values.keys() & earlier.values.keys():
        before, after = earlier.values[name], now.values[name]
        changed = stayed & (before != after)
        if changed.sum() >= _FOR_ALL * stayed.sum():
            continue
        few = np.bincount(classes[changed], minlength=int(classes.max(initial=0)) + 1) < k
        for values in (before, after):
            few |= _uniform(classes, changed, values) & ~_guessed(classes, stayed, values)
        alone |= changed & few[classes]
    return alone
