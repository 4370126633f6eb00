"""The search for the best full-domain generalisation: of all transformations that satisfy the models, one that loses
least.

Sources: Samarati (2001) and LeFevre, DeWitt and Ramakrishnan (2005) for the lattice, and what a node tells of those
below and above it; El Emam and others (2009) for an optimum among all transformations; Land and Doig (1960) for branch
and bound.

A box is all nodes between a lowest and a highest one. None of them loses less than the lowest one would without
suppression; the records that must be suppressed at the highest one must be so at all others, which costs them at least
what it costs there; and if it breaks what no suppression mends, all others do. The box with the least bound is halved
until that bound is the best loss found: then no other transformation is better. Whenever the search is stopped, the
least bound of the boxes left says how far from the best its result may be.

Nodes are made on request, each of the one with the fewest classes below it that is still at hand: the keys are raised
one after the other, those with many values first, since these unite most classes. Nodes on the way are kept, as many
share the first steps; those that were used longest ago are dropped when classes become too many.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from math import prod

import numpy as np

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node, Population, bottom
from sluice.generalization.lattice.node_suppression import (
    Refinement,
    Requirements,
    Solution,
    certain_suppression,
    failing_alone,
    failures,
    suppression,
)
from sluice.generalization.objectives.key_losses import NonUniformEntropy
from sluice.generalization.objectives.objective import Extra, Measure, Objective
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import InfeasibleError
from sluice.risk.classes.equivalence_classes import Codes
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.privacy_model import PrivacyModel, Suppressed

_MOST = (
    2**23
)  # classes, and their pairs with sensitive values, of all nodes at hand; besides twice those of the records
_NOTHING = np.iinfo(np.int64).max  # classes of a row without a node


def search(
    keys: Sequence[Key],
    codes: Sequence[Codes],
    models: Sequence[PrivacyModel],
    objective: Objective,
    *,
    sensitive: Mapping[str, Codes] | None = None,
    population: Population | None = None,
    people: IntArray | None = None,
    suppression_limit: float = 0.0,
    suppressed: Suppressed = "released",
    ended: Callable[[], bool] = lambda: False,
) -> Solution:
    """The best transformation of the keys, to a level each.

    codes             : for each key, shape (n,), the leaf of each record
    models            : what the released file must satisfy, all of them
    sensitive         : the columns that models name, shape (n,) each: codes from 0, -1 where there is no value
    population        : for models that ask for it
    people            : shape (n,), whose record each is, from 0: models count people. None: they count records
    suppression_limit : share of the records that may be suppressed at most, 0 to 1
    suppressed        : what becomes of them (see `Suppressed`)
    ended             : whether time is up; the best that was found until then is the result, with what is known of the
                        others. Without it the result depends on the data alone
    raises            : InfeasibleError if no transformation satisfies the models, or none was found in time; DataError
                        if codes, columns or limits are wrong
    cost              : as many nodes as have a bound below the best loss, each in the classes of the node below it
    """
    base, member = bottom(keys, codes, dict(sensitive or {}), population, people)
    incomplete = [name for name, histogram in base.histograms.items() if histogram.records.sum() < base.records]
    overlapping = base.is_overlapping
    requirements = Requirements.of(models, base.records, suppression_limit, suppressed, incomplete, overlapping)
    measure = objective.of(base)
    measure.fewest = max((model.k for model in models if isinstance(model, KAnonymityModel)), default=1)
    found = _Search(base, requirements, measure, ended)
    found.run()
    if found.best is None:
        raise _infeasible(base, requirements, found.finished)
    value, levels = found.best
    node, into = base.at(levels)
    return Solution(
        levels=levels,
        value=value,
        bound=value if found.finished else found.bound,
        optimal=found.finished,
        checked=len(found.extras),
        nodes=prod(key.depth + 1 for key in keys),
        suppressed_records=suppression(node, requirements).hidden[into[member]],
        frontier=found.frontier(levels),
    )


Levels = tuple[int, ...]


class _Search:
    """best     : the least loss of a transformation that satisfies the models, and which one that is; None before one
                  is found
    extras   : for each node looked at, what the records that must be suppressed there and below lose by it; None where
               all nodes below are ruled out
    finished : whether `best` is the best of all; else none is better than `bound`
    """

    def __init__(self, base: Node, requirements: Requirements, measure: Measure, ended: Callable[[], bool]) -> None:
        self._base, self._requirements, self._measure, self._ended = base, requirements, measure, ended
        self._nodes = NodeCache(base)
        self._shares = measure.shares or NonUniformEntropy().of(base).shares
        self.best: tuple[float, Levels] | None = None
        self.extras: dict[Levels, Extra | None] = {}
        self.finished = False
        self.bound = 0.0

    def run(self) -> None:
        lowest, top = self._base.levels, tuple(key.depth for key in self._base.keys)
        extra = self._look(top)
        if extra is None:
            self.finished = True
            return
        self._descend(top)
        boxes: list[tuple[float, int, Levels, Levels, Extra]] = []  # bound, number, lowest and highest node, extra
        heappush(boxes, (self._least(lowest, extra), 0, lowest, top, extra))
        number = 0
        while boxes and self._loses_less(boxes[0][0]):
            if self._ended():
                self.bound = boxes[0][0]
                return
            _, _, low, high, extra = heappop(boxes)
            if low == high:
                continue
            for below, above in self._halves(low, high):
                least = self._least(below, extra)
                if above != high and self._loses_less(least):
                    of_half = self._look(above)
                    if of_half is None:
                        continue
                    more = tuple(map(max, extra, of_half))
                    least = self._least(below, more)
                else:
                    more = extra
                if self._loses_less(least):
                    number += 1
                    heappush(boxes, (least, number, below, above, more))
        self.finished = True

    def _descend(self, start: Levels) -> None:
        """Go down to the neighbour that loses least, as long as there is one that satisfies the models."""
        here = start
        while not self._ended():
            before = self.best
            for at, level in enumerate(here):
                if level > 0:
                    self._look((*here[:at], level - 1, *here[at + 1 :]))
            if self.best is None or self.best == before:
                return
            here = self.best[1]

    def _halves(self, low: Levels, high: Levels) -> Iterator[tuple[Levels, Levels]]:
        """The box in two, at about half of what the key with the widest span of losses may lose."""
        spans = [share[then] - share[now] for share, now, then in zip(self._shares, low, high, strict=True)]
        spans = [span if now < then else -1.0 for span, now, then in zip(spans, low, high, strict=True)]
        key = spans.index(max(spans))
        share, level = self._shares[key], low[key]
        while level + 1 < high[key] and share[level + 1] - share[low[key]] < spans[key] / 2:
            level += 1
        yield low, (*high[:key], level, *high[key + 1 :])
        yield (*low[:key], level + 1, *low[key + 1 :]), high

    def _least(self, levels: Levels, extra: Extra) -> float:
        asks = self._measure.by_classes and levels not in self._measure.kept
        return self._measure.least(levels, self._nodes.at(levels) if asks else None, extra)

    def _loses_less(self, least: float) -> bool:
        return self.best is None or least < self.best[0]

    def _loses_more(self, node: Node, hidden: BoolArray) -> bool:
        """Whether the node is none of the better ones once these classes are suppressed, and others perhaps."""
        return not self._loses_less(self._measure.least(node.levels, node, self._measure.extra(node, hidden)))

    def _look(self, levels: Levels) -> Extra | None:
        if levels not in self.extras:
            node = self._nodes.at(levels)
            certain, over = certain_suppression(node, self._requirements)
            if over:
                self.extras[levels] = None
                return None
            extra = self._measure.extra(node, certain) if certain.any() else self._measure.nothing
            if self._loses_less(self._least(levels, extra)):
                failing, lost = failing_alone(node, self._requirements, certain)
                if int(lost.sum()) > self._requirements.limit:
                    self.extras[levels] = None
                    return None
                extra = tuple(map(max, extra, self._measure.extra_at_least(node, lost)))
            self.extras[levels] = extra
            # What no suppression mends is asked last: most nodes are looked at for the sake of those below.
            if self._loses_less(self._least(levels, extra)):
                found = (certain, over), failing
                needed = suppression(node, self._requirements, *found, partial(self._loses_more, node))
                if needed.feasible and self._loses_less(value := self._measure.value(node, needed.hidden)):
                    self.best = value, levels
        return self.extras[levels]

    def frontier(self, levels: Levels) -> tuple[Refinement, ...]:
        """For each key that is generalised, the transformation one level finer in it."""
        found = []
        for at, (key, level) in enumerate(zip(self._base.keys, levels, strict=True)):
            if level > 0:
                node = self._nodes.at((*levels[:at], level - 1, *levels[at + 1 :]))
                needed = suppression(node, self._requirements)
                value = self._measure.value(node, needed.hidden) if needed.feasible else None
                broken = failures(node, self._requirements)
                found.append(Refinement(key.name, node.levels, broken, needed.records, needed.feasible, value))
        return tuple(found)


def _infeasible(base: Node, requirements: Requirements, finished: bool) -> InfeasibleError:
    top, _ = base.at([key.depth for key in base.keys])
    broken = failures(top, requirements)
    if broken and finished:
        first = broken[0]
        hint = ""
        if first.records < top.records and any(key.missing is not None for key in base.keys):
            hint = " Missing values are groups of their own at every level; allow more suppression for such records."
        return InfeasibleError(
            f"no generalisation satisfies {first.model.describe()}: with every key at its highest allowed level, "
            f"{first.records:,} of {top.records:,} records still lie in groups that break it.{hint}"
        )
    names = " and ".join(model.describe() for model in requirements.models)
    if finished:
        return InfeasibleError(f"no generalisation satisfies {names} together with the suppression that is allowed.")
    return InfeasibleError(f"no generalisation that satisfies {names} was found in the time allowed.")


class NodeCache:
    """The nodes above one. Where each is found among thousands is asked of an array: one row of levels for each."""

    def __init__(self, base: Node) -> None:
        self._base = base
        self._order = sorted(range(len(base.keys)), key=lambda at: -base.keys[at].levels.shape[1])
        self._nodes: OrderedDict[Levels, Node] = OrderedDict()
        self._held, self._most = 0, _MOST + 2 * _size(base)
        self._row: dict[Levels, int] = {}
        self._levels = np.zeros((len(base.keys), 64), dtype=np.int16)  # a column for each row: they are compared so
        self._classes = np.full(64, _NOTHING)

    def at(self, levels: Sequence[int]) -> Node:
        """The node of these levels. Cost: the classes of each node on the way to it."""
        found = self._nearest(tuple(levels))
        node = self._base if found is None else found
        if found is not None:
            self._nodes.move_to_end(found.levels)
        for key in self._order:
            if levels[key] != node.levels[key]:
                node, _ = node.raised(key, levels[key])
                if node.levels not in self._nodes:  # one with as many classes may have been chosen
                    self._keep(node)
        while self._held > self._most and len(self._nodes) > 1:
            self._drop()
        return node

    def _nearest(self, levels: Levels) -> Node | None:
        """Of the nodes at hand that lie below these levels the one with the fewest classes."""
        if levels in self._nodes:
            return self._nodes[levels]
        below = np.logical_and.reduce(self._levels <= np.array(levels)[:, None])
        at = int(np.where(below, self._classes, _NOTHING).argmin())
        if not below[at] or self._classes[at] == _NOTHING:
            return None
        return self._nodes[tuple(self._levels[:, at].tolist())]

    def _keep(self, node: Node) -> None:
        if len(self._nodes) == len(self._classes):
            self._levels = np.concatenate([self._levels, np.zeros_like(self._levels)], axis=1)
            self._classes = np.concatenate([self._classes, np.full_like(self._classes, _NOTHING)])
        row = int((self._classes == _NOTHING).argmax())
        self._nodes[node.levels], self._row[node.levels] = node, row
        self._levels[:, row], self._classes[row] = node.levels, len(node.sizes)
        self._held += _size(node)

    def _drop(self) -> None:
        """Let go of the node that was used longest ago."""
        levels, node = self._nodes.popitem(last=False)
        self._classes[self._row.pop(levels)] = _NOTHING
        self._held -= _size(node)


def _size(node: Node) -> int:
    listed = sum(len(each.counted.value) + len(each.code) for each in node.having.values())
    return len(node.sizes) + listed + sum(len(histogram.value) for histogram in node.histograms.values())
