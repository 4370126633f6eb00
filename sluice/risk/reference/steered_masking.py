"""Steered masking: what was done to a record tells a value that its file hides.

Whoever is ill loses a key, 'to protect them', and the illness is removed: all whose key is blank are ill. A blank, an
'other', a coarser category than others got are seen by everybody, so those who share one are a group. What most of a
group have, and far fewer by their keys, was told by the masking. So does the form of what is left: amounts of the ill
that end in 0 or 5 where others' end as they come, decimals that others have not, two answers that are equal; and, for
whoever knows what a person answered, whether it was altered at all (`value_forms`).

That a rare combination is blank is no news: its keys tell as much. What they tell is learned from the original keys of
everybody: by the others with the same keys, where they are many, else by the others of the same leaf of a tree over the
keys and over how many people share them.

Source: Wong, Fu, Wang and Pei (2007), who read sensitive values off what a known method did to groups. Differs from
them: whatever the method was, any mark of a record is looked at, and judged by the people's true values.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray, learnable
from sluice.ground.comparable_values import PlainArray, plain_values
from sluice.risk.attacks.attack_success import LEVEL, AttackSuccess
from sluice.risk.reference.value_forms import Form
from sluice.risk.row_groups import row_groups
from sluice.risk.small_groups import chance_of_so_many
from sluice.risk.spread import on_one_grid

MORE_THAN_HALF = 0.5  # of a group have the value: whoever claims it is more often right than wrong
_FEWEST = 5
_FULL = 20  # people who share their keys, or a leaf, tell how frequent a value is among the like
_LEAVES = 400
_LEARNED_FROM = 20_000
_LEVELS = 60  # values of a variable, and categories in which a column was released, that are told apart
_PARTS = 5  # of the numbers, from low to high
_PILE = 30  # records with the same number, at least, for a mark
_LEAF, _JOINT = 10, 100  # people of a leaf by forms, at least; leaves, at most
_COUNTS = 0.02  # of what a tree explains: a form that explains less is not named

Near = Callable[[str], IntArray]


@dataclass(frozen=True)
class Mark:
    """What everybody sees that masking did to one column, or several.

    state  : (n,) 0: nothing, 1: blank, from 2: a value that some with the same original one got, and others not, or a
             form of values; -1: such a value too, of those to whom none but it was given, or not looked at
    before : (n,) the state that the original itself has: what that tells was not told by the masking
    own    : give codes of near original values, each of shape (n,), where these are no key: nor was what they tell
    form   : whether it is one of values that are there; such are looked at within keys jointly alone
    joint  : whether `before` tells of everybody, and not only of those whose state is still the same
    """

    columns: tuple[str, ...]
    state: IntArray
    before: IntArray
    own: tuple[Callable[[], IntArray], ...] = ()
    form: bool = False
    joint: bool = False

    @property
    def blanks(self) -> "Mark":
        """The same without what values became."""
        return replace(self, state=np.where(self.state == 1, 1, 0), own=())

    @property
    def natural(self) -> BoolArray:
        """(n,) who has the mark in the original, too."""
        return np.asarray((self.before == self.state) & (self.state > 0))

    def within(self, codes: IntArray) -> "Mark":
        """The same within each value of a released key, unmarked records left out."""
        wide = int(codes.max(initial=0)) + 1
        state, before = (np.where(each > 0, each * wide + codes, -1) for each in (self.state, self.before))
        return replace(self, state=state, before=before)


@dataclass(frozen=True)
class Steered:
    """A group of records with the same marks, most of whom have one value that is hidden.

    columns  : that were marked, or not, and by what others
    within   : released keys among them, within one category of which the marks are looked at
    share    : of the people of the group who have the value, and that with which their keys tell it
    lowest   : what the share is at least, whatever chance did, for all groups that were looked at
    rows     : the records of the group, whose value is known
    value    : the code of the value
    """

    columns: tuple[str, ...]
    people: int
    share: float
    by_keys: float
    lowest: float
    rows: IntArray = field(repr=False)
    value: int
    within: tuple[str, ...] = ()

    def is_beyond(self, excess: float) -> bool:
        """Whether surely more than half have the value, and by more than this beyond what keys tell."""
        return self.lowest > max(MORE_THAN_HALF, self.by_keys + excess)


def marks_of(name: str, original: "pd.Series[Any] | None", masked: "pd.Series[Any]", is_key: bool) -> Mark | None:
    """The marks of one column; None where masking left none. A column that the original has not is marked where blank.

    original, masked : typed, row i of both is of the same person
    cost             : O(n), and a sort where values were changed
    """
    blank = masked.isna().to_numpy(bool)
    natural = blank & original.isna().to_numpy(bool) if original is not None else np.zeros(len(blank), np.bool_)
    state = np.where(blank & bool((blank & ~natural).any()), 1, 0)
    own: tuple[Callable[[], IntArray], ...] = ()
    if original is not None and (levels := _levels(original, masked, blank)) is not None:
        state = np.where(levels > 0, levels + 1, np.where(levels < 0, levels, state))
        own = () if is_key else (partial(near_values, original),)
    return Mark((name,), state, natural.astype(np.int64), own) if (state > 0).any() else None


def _levels(original: "pd.Series[Any]", masked: "pd.Series[Any]", blank: BoolArray) -> IntArray | None:
    """Released values as codes from 1: those that some with the same original one got, and others not; -1 for people of
    whose own original one all got it. 0 for the others, and for rare ones; None where the original determines all.

    Of a 0, too, nobody sees whether its original determines it: that of all who are alone with theirs does.
    """
    before, after = plain_values(original), plain_values(masked)
    if before.dtype.kind == after.dtype.kind:
        before, after = on_one_grid(before, after)
        if ((before == after) | blank).all():
            return None
    rows = np.flatnonzero(~blank)
    old = pd.factorize(before[rows], use_na_sentinel=False)[0]
    new, values = pd.factorize(after[rows], use_na_sentinel=False)
    pairs = row_groups([old, new])
    ways = np.bincount(old[pairs.first])
    several = ways[old] > 1
    if not several.any():
        return None
    count = np.bincount(new[several], minlength=len(values))
    piles = np.argsort(-count, kind="stable")[:_LEVELS]
    piles = piles[count[piles] >= (_PILE if after.dtype.kind == "f" else _FEWEST)]
    code = np.zeros(len(values), np.int64)
    code[piles] = np.arange(1, len(piles) + 1)
    found = np.zeros(len(blank), np.int64)
    found[rows] = np.where(several | (code[new] == 0), code[new], -1)
    return found if (found > 0).any() else None


def near_values(column: "pd.Series[Any]") -> IntArray:
    """Codes from 0 of equal values, and of numbers in order by twenties, equal ones together."""
    values: PlainArray = plain_values(column)
    if values.dtype.kind == "f":
        _, of, count = np.unique(values, return_inverse=True, return_counts=True)
        values = ((np.cumsum(count) - count) // _FULL)[of]
    return pd.factorize(values, use_na_sentinel=False)[0].astype(np.int64)


def truth_of(values: "pd.Series[Any]") -> tuple[IntArray, int]:
    """True values as codes from 0, a missing one -1, and how many there are: many numbers in fifths, of many categories
    the rare ones as one."""
    plain = plain_values(values)
    codes, distinct = pd.factorize(plain, sort=plain.dtype.kind == "f")
    if len(distinct) > 2 * _PARTS and plain.dtype.kind == "f":
        inner = np.quantile(plain[codes >= 0], np.arange(1, _PARTS) / _PARTS)
        return np.where(codes >= 0, np.searchsorted(inner, plain, side="right"), -1), _PARTS
    if len(distinct) > _LEVELS:
        rank = np.argsort(np.argsort(-np.bincount(codes[codes >= 0]), kind="stable"))
        codes = np.where(codes >= 0, np.minimum(rank[codes], _LEVELS - 1), -1)
    return codes.astype(np.int64), min(len(distinct), _LEVELS)


def steered_by(
    truth: IntArray,
    levels: int,
    known: "KnownByKeys",
    marks: Sequence[Mark],
    shown: Mapping[str, IntArray],
    units: IntArray,
    least: float,
    harmless: Collection[int] = (),
) -> Iterator[Steered]:
    """Groups by marks most of whom have one value, beyond what keys tell by more than chance; in no order.

    truth, levels : by `truth_of`
    known         : what keys, and the file itself, tell of it
    marks         : of columns, by `marks_of`, and joint ones
    shown         : released keys as codes from 0, within which marks are looked at, too
    units         : (n,) who belongs together
    least         : how many more than keys tell, a share of the group, others are passed over
    harmless      : values that may be known of anybody
    cost          : O(n) for each mark and key
    """
    looked_at, found = 0, []
    for mark, within in _groups(marks, shown):
        group = mark.state
        rows = np.flatnonzero((truth >= 0) & (group >= 0))
        count = np.bincount(group[rows] * levels + truth[rows], minlength=levels)
        count = np.append(count, np.zeros(-len(count) % levels, np.int64)).reshape(-1, levels)
        size, most = count.sum(axis=1), count.argmax(axis=1)
        looked_at += int(np.count_nonzero(size >= _FEWEST))
        told = (size >= _FEWEST) & (count.max(axis=1) > MORE_THAN_HALF * size) & ~np.isin(most, [*harmless])
        rows = rows[told[group[rows]]]
        if not len(rows):
            continue
        chances = known.chances(rows, most[group[rows]], mark)
        expected = np.bincount(group[rows], chances, len(size)) / np.maximum(size, 1)
        found += [
            ((*mark.columns, *within), within, rows[group[rows] == each], int(most[each]), float(expected[each]))
            for each in np.flatnonzero(told & (count.max(axis=1) > (expected + least) * size))
        ]
    allowed = (1 - LEVEL) / max(1, looked_at * levels)
    for names, within, of, value, expected in found:
        right = (truth[of] == value).astype(np.float64)
        success = AttackSuccess.of(len(of), right, units[of])
        cases = success.cases or len(of)
        if chance_of_so_many(success.share * cases, cases, expected) < allowed:
            lowest = success.exact(1 - allowed)[0]
            yield Steered(names, len(of), success.share, expected, lowest, of, value, within)


def _groups(marks: Sequence[Mark], shown: Mapping[str, IntArray]) -> Iterator[tuple[Mark, tuple[str, ...]]]:
    """Each mark, by itself and within each key that it is not of, whose name comes with it; and all blanks together."""
    for mark in marks:
        yield mark, ()
        if not mark.joint and not mark.form:
            yield from ((mark.within(codes), (name,)) for name, codes in shown.items() if name not in mark.columns)
    blank = [mark for mark in marks if (mark.state == 1).any() and not mark.joint and not mark.form]
    if len(blank) > 1:
        pairs = ([(each == 1) * 1 for each in (mark.state, mark.before)] for mark in blank)
        state, before = np.split(row_groups(map(np.concatenate, pairs)).of, 2)
        yield Mark(tuple(dict.fromkeys(name for mark in blank for name in mark.columns)), state, before, joint=True), ()


def form_marks(forms: Sequence[Form], near: Near) -> Iterator[Mark]:
    """The marks of forms one by one; blanks are `marks_of` columns.

    forms : by `forms_of`
    near  : codes of near original values of a column, by its name
    """
    for form in forms:
        if form.what != "blank":
            state, before = (np.where(each < 0, 0, each + 2) for each in (form.state, form.before))
            yield Mark(form.columns, state, before, tuple(partial(near, name) for name in form.columns), True)


def joint_marks(
    forms: Sequence[Form],
    near: Near,
    truth: IntArray,
    shown: Mapping[str, IntArray],
    units: IntArray,
    rng: np.random.Generator,
) -> Iterator[Mark]:
    """What forms of several columns, and keys, tell together: the leaves of a tree that learned them from half of the
    people, in which the others are; both ways.

    forms    : by `forms_of`
    near     : codes of near original values of a column, by its name
    truth    : by `truth_of`, of which the missing are not looked at
    shown    : released keys as codes from 0
    units    : (n,) who belongs together is of one half
    cost     : two trees of 20,000 people at most
    """
    from sklearn.tree import DecisionTreeClassifier  # loaded where it is needed

    known = np.flatnonzero(truth >= 0)
    people, names = pd.factorize(units[known])
    if not forms or len(names) < 4 * _LEAF:
        return
    place = rng.permutation(len(names))[people]
    some = place < 2 * _LEARNED_FROM
    rows, side = known[some], place[some] % 2
    keys = [codes[rows] for codes in shown.values()]
    after, before = (
        np.column_stack([*(each[rows] for each in states), *keys]).astype(np.float32)
        for states in ([form.state for form in forms], [form.before for form in forms])
    )
    for half in (0, 1):
        learned, read = side == half, side != half
        tree = DecisionTreeClassifier(min_samples_leaf=_LEAF, max_leaf_nodes=_JOINT, random_state=0)
        tree.fit(after[learned], learnable(truth[rows[learned]]))
        used = [form for form, weight in zip(forms, tree.feature_importances_, strict=False) if weight > _COUNTS]
        if not used:
            continue
        state, was = np.full((2, len(truth)), -1)
        state[rows[read]], was[rows[read]] = tree.apply(after[read]), tree.apply(before[read])
        columns = tuple(dict.fromkeys(name for form in used for name in form.columns))
        together = partial(_by_values, near, columns, [*shown.values()], truth)
        yield Mark(columns, state, was, (together, *(partial(near, name) for name in columns)), joint=True)


def _by_values(near: Near, columns: Sequence[str], keys: Sequence[IntArray], truth: IntArray) -> IntArray:
    """Who is alike by all original values of these columns and the keys, as leaves of a tree; shape (n,)."""
    return _leaves([*map(near, columns), *keys], truth)


def _leaves(columns: Sequence[Any], truth: IntArray) -> IntArray:
    """The leaf of everybody in a tree that predicts the truth, as codes from 0, shape (n,)."""
    from sklearn.tree import DecisionTreeClassifier  # loaded where it is needed

    table = np.column_stack(columns).astype(np.float32)
    rows = np.flatnonzero(truth >= 0)
    rows = rows[:: max(1, len(rows) // _LEARNED_FROM)]
    tree = DecisionTreeClassifier(min_samples_leaf=_FULL, max_leaf_nodes=_LEAVES, random_state=0)
    return np.unique(tree.fit(table[rows], learnable(truth[rows])).apply(table), return_inverse=True)[1]


class KnownByKeys:
    """How frequent each value is among those who are like a person by their keys, the person left out.

    keys  : (n,) original keys as codes from 0, in the order of the values where they have one
    truth : (n,) codes of the values, -1 for a missing one
    own   : (n,) what the file tells of the variable itself, NaN where nothing; None where it tells nothing of anybody
    cost  : a tree of at most 20,000 people, and O(n)
    """

    def __init__(self, keys: Sequence[IntArray], truth: IntArray, levels: int, own: FloatArray | None = None) -> None:
        self._truth = truth
        valued = truth[truth >= 0]
        self._share = np.bincount(valued, minlength=levels) / max(1, len(valued))
        self._places: list[tuple[IntArray, IntArray, IntArray]] = []  # group, people with each value, people
        cell = row_groups(keys) if keys else None
        columns = [*keys, *([cell.size[cell.of]] if cell is not None else [])]
        if columns:
            self._places.append(self._counted(_leaves(columns, truth), levels))
        if cell is not None:
            self._places.append(self._counted(cell.of, levels))
        if own is not None:
            shown = np.isfinite(own)
            rough = self._counted(_leaves([*columns, np.where(shown, own, 0.0), shown], truth), levels)
            self._places.append((np.where(shown, rough[0], -1), *rough[1:]))

    def _counted(self, group: IntArray, levels: int) -> tuple[IntArray, IntArray, IntArray]:
        rows = np.flatnonzero(self._truth >= 0)
        groups = int(group.max(initial=0)) + 1
        count = np.bincount(group[rows] * levels + self._truth[rows], minlength=groups * levels)
        count = count.reshape(groups, levels)
        return group, count, count.sum(axis=1)

    def chances(self, rows: IntArray, value: IntArray, mark: Mark) -> FloatArray:
        """The chance of a value of each of these people, whose truth is known, by all but what masking did."""
        right = (self._truth[rows] == value).astype(np.float64)
        found = self._share[value]
        for place in self._places:
            chance, people = self._left(place, rows, value, right)
            found = np.where(people >= _FULL - 1, chance, found)
        levels = len(self._share)
        before = np.where(mark.before >= 0, mark.before, int(mark.before.max(initial=0)) + 1)
        by_own = [self._left(self._counted(own(), levels), rows, value, right)[0] for own in mark.own]
        by_before = self._left(self._counted(before, levels), rows, value, right)[0]
        if mark.joint:
            return reduce(np.maximum, [*by_own, by_before], found)
        found = reduce(np.maximum, by_own, found)
        return np.where(mark.natural[rows], np.maximum(found, by_before), found)

    def _left(
        self, place: tuple[IntArray, IntArray, IntArray], rows: IntArray, value: IntArray, right: FloatArray
    ) -> tuple[FloatArray, IntArray]:
        """The share among the others of each person's group, of whom one more is as all are; and how many they are."""
        group, count, people = place
        of = group[rows]
        others = people[of] - 1
        return (count[of, value] - right + self._share[value]) / (others + 1), np.where(of >= 0, others, 0)
