"""An item cut: which released item, group or nothing stands for each item, so that a file of sets is k^m-anonymous.

Source: Terrovitis, Mamoulis and Kalnis (2008), section 4: full-subtree recoding, the normalised certainty penalty, an
optimal search of the lattice of cuts, and apriori anonymisation (AA), which makes ever larger combinations frequent.
Differs from it: an item may also be left out where that costs less; of all rare combinations together the change is
made that mends most of them for its cost, where AA takes them one by one; and what a later change made needless is
taken back. Costs are counted on what is released of each occurrence, as in the source.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import PlanError
from sluice.items.item_sets import ItemSets, ItemTree, combination_counts

LEFT_OUT = -1  # in a cut, of an item that is not released

_LEAST = 1e-9  # a change of no cost is better the more it mends
_MOST_CUTS = 2_000  # in trees with no more, all are looked at


@dataclass(frozen=True)
class CutSearch:
    """The search of a cut for one file.

    sets   : items are those of the tree, in its order
    people : shape (n,), whose the records are; None: each is another person's
    k, m   : every combination of at most m released items is had by at least k people
    most   : occurrences that may be left out

    A cut is an array, shape (items,): the name in the tree that stands for each item, or LEFT_OUT.
    """

    sets: ItemSets
    tree: ItemTree
    people: IntArray | None
    k: int
    m: int
    most: int

    def best(self) -> IntArray:
        """The cut of least cost where the tree is small, else one that no single change betters.

        raises : PlanError where even the widest groups are rare, and no more may be left out
        """
        tops = np.unique(self.tree.chains[:, -1])
        if prod(self._number_of_cuts(int(top)) for top in tops) <= _MOST_CUTS:
            cuts = [cut for cut in self._all_cuts() if self._lost(cut) <= self.most]
            for cut in sorted(cuts, key=self.cost):
                if self.is_safe(cut):
                    return cut
            raise self._unreachable()
        found = [self._refined(self._apriori())]
        if self.most:
            with suppress(PlanError):
                whole = replace(self, most=0)
                found.append(whole._refined(whole._apriori()))
        return min(found, key=self.cost)

    def cost(self, cut: IntArray) -> float:
        """What the occurrences lose by a cut, the sum of their penalties; one that is left out loses 1."""
        penalty = np.append(self.tree.penalty, 1.0)
        return float(self._occurrences @ penalty[cut])

    def is_safe(self, cut: IntArray, changed: BoolArray | None = None) -> bool:
        """Whether every combination of at most m released items is had by k people.

        changed : shape (items,), where only combinations with what stands for these items need to be looked at, as
                  after each step from a safe cut to a narrower one
        """
        sets, people = self.sets, self.people
        asked = np.ones(len(self.tree.names), dtype=np.bool_)
        if changed is not None:
            asked[:] = False
            asked[cut[changed & (cut >= 0)]] = True
            name = cut[sets.items]
            rows = np.unique(sets.rows[(name >= 0) & asked[name]])
            sets, people = sets.take(rows), None if people is None else people[rows]
        released = sets.replaced(cut, self.tree.names)
        for size in range(1, self.m + 1):
            found = combination_counts(released, size, people)
            if (asked[found.items].any(axis=1) & (found.counts < self.k)).any():
                return False
        return True

    @property
    def _occurrences(self) -> IntArray:
        return np.bincount(self.sets.items, minlength=self.tree.items)

    def _lost(self, cut: IntArray) -> int:
        return int(self._occurrences[cut == LEFT_OUT].sum())

    def _apriori(self) -> IntArray:
        """A safe cut: combinations of 1 to m items are made frequent by the changes that mend most for their cost."""
        cut = np.arange(self.tree.items)
        for size in range(1, self.m + 1):
            while True:
                released = self.sets.replaced(cut, self.tree.names)
                found = combination_counts(released, size, self.people)
                rare = found.items[found.counts < self.k]
                if not len(rare):
                    break
                cut = self._mended(cut, rare)
        return cut

    def _mended(self, cut: IntArray, rare: IntArray) -> IntArray:
        """The cut after changes of which each rare combination meets one."""
        while len(rare):
            rarity = np.bincount(rare.ravel(), minlength=len(self.tree.names))
            choices = [new for name in np.unique(rare) for new in self._changes(cut, int(name))]
            if not choices:
                raise self._unreachable()
            before = self.cost(cut)
            scores = [(self.cost(new) - before + _LEAST) / rarity[np.unique(cut[new != cut])].sum() for new in choices]
            new = choices[int(np.argmin(scores))]
            changed = np.zeros(len(self.tree.names), dtype=np.bool_)
            changed[cut[new != cut]] = True
            rare = rare[~changed[rare].any(axis=1)]
            cut = new
        return cut

    def _changes(self, cut: IntArray, name: int) -> Iterator[IntArray]:
        """The cut with a released name replaced by the next wider group, or left out."""
        wider = int(self.tree.parent[name])
        if wider >= 0:
            yield np.where((self.tree.chains == wider).any(axis=1), wider, cut)
        without = np.where(cut == name, LEFT_OUT, cut)
        if self._lost(without) <= self.most:
            yield without

    def _refined(self, cut: IntArray) -> IntArray:
        """The cut without the changes that are not needed."""
        bettered = True
        while bettered:
            bettered = False
            for new in self._narrower(cut):
                if self.cost(new) < self.cost(cut) and self.is_safe(new, new != cut):
                    cut, bettered = new, True
                    break
        return cut

    def _narrower(self, cut: IntArray) -> Iterator[IntArray]:
        """Each cut with one group taken apart, or one item released that was left out; the cheapest first."""
        trials = []
        for name in np.unique(cut[cut >= self.tree.items]):
            level = np.argmax(self.tree.chains[cut == name][0] == name)
            trials.append(np.where(cut == name, self.tree.chains[:, max(int(level) - 1, 0)], cut))
        for item in np.flatnonzero((cut == LEFT_OUT) & (self._occurrences > 0)):
            new = cut.copy()
            above = [name for name in self.tree.chains[item] if name in cut]
            new[item] = above[0] if above else item
            trials.append(new)
        yield from sorted(trials, key=self.cost)

    def _all_cuts(self) -> Iterator[IntArray]:
        """Every cut of the tree."""
        tops = np.unique(self.tree.chains[:, -1])
        for parts in product(*(self._cuts_below(int(top)) for top in tops)):
            yield np.max(parts, axis=0)

    def _cuts_below(self, name: int) -> list[IntArray]:
        """The cuts of the items below a name, LEFT_OUT - 1 elsewhere."""
        below = (self.tree.chains == name).any(axis=1)
        whole = np.where(below, name, LEFT_OUT - 1)
        children = np.flatnonzero(self.tree.parent == name)
        if not len(children):
            return [whole, np.where(below, LEFT_OUT, LEFT_OUT - 1)]
        parts = product(*(self._cuts_below(int(child)) for child in children))
        return [*(np.max(each, axis=0) for each in parts), whole]

    def _number_of_cuts(self, name: int) -> int:
        children = np.flatnonzero(self.tree.parent == name)
        return 1 + (prod(self._number_of_cuts(int(child)) for child in children) if len(children) else 1)

    def _unreachable(self) -> PlanError:
        return PlanError(
            f"no cut of the items is k^m-anonymous for k = {self.k} and m = {self.m}: even the widest groups, or "
            "combinations of them, are rare. Give a wider top level, or let more of the occurrences be left out."
        )
