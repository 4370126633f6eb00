"""Information loss of sets of items: what was generalised, what was left out, and what is left of the combinations.

Source: Terrovitis, Mamoulis and Kalnis (2008), section 3, for the normalised certainty penalty (NCP) of generalised
items; Terrovitis, Liagouris, Mamoulis and Skiadopoulos (2012), section 6, for tKd, the share of the top K combinations
that are no longer among them, and for re, the relative error of the counts of pairs.
"""

from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.variables import Kind, Variable
from sluice.items.item_sets import ItemSets, ItemTree, combination_counts
from sluice.utility.comparison import Comparison
from sluice.utility.measured import WORST, Found, Measured, figure
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion, ShareMeasure

_SAYS = Sentences(
    "items",
    none="Sets of items are not compared: the file has none",
    not_all_compared=": not every set could be compared",
)
_LOSSES = {
    measure: Sentence(f"{measure}.loss", words)
    for measure, words in (
        ("item_penalty", "A released item stands for {loss:percent} of all items on average"),
        ("items_left_out", "Among the items of sets, {loss:percent} were left out"),
        ("top_items", "Among the most frequent items and pairs, {loss:percent} are no longer among them"),
        ("pair_counts", "The count of a frequent pair of items is off by {loss:.3g} in the middle case"),
    )
}

_PENALTY = ShareMeasure(
    "item_penalty",
    "of sets of items: mean share of all items that a released item stands for (NCP)",
    "The share of all items that a released item stands for",
    "Items were replaced by wide groups: use a smaller m or k in item_generalization, or a hierarchy with more levels.",
    where_any=True,
)
_LEFT_OUT = ShareMeasure(
    "items_left_out",
    "of sets of items: occurrences left out",
    "The share of items that were left out",
    "Many items were left out: give item_generalization a hierarchy with a wider top level, or a smaller left_out.",
    where_any=True,
)
_TOP = ShareMeasure(
    "top_items",
    "of sets of items: the 100 most frequent items and pairs that no longer are (tKd)",
    "How many of the most frequent items and pairs no longer are",
    "Frequent combinations were generalised or left out: use a smaller m, or a hierarchy with more levels.",
    where_any=True,
)
_PAIRS = Measure(
    "pair_counts",
    "of sets of items: median relative error of the counts of pairs, 0 to 2",
    "How far counts of pairs of items are off",
    "Counts of pairs of items are lost in wide groups: use a smaller m or k, or a hierarchy with more levels.",
    where_any=True,
    largest=2.0,
)

TOP = 100
"""Combinations that tKd looks for."""

_FREQUENT = 0.001  # share of the records from which on a pair of items is compared


@dataclass(frozen=True)
class ItemLoss:
    """What sets of items lost. Each figure is 0 for no loss; NaN where nothing can be compared.

    penalty  : mean NCP of the original occurrences, 0 to 1: of a generalised item the share of all items that its group
               stands for, 1 of one that was left out
    left_out : share of the original occurrences for which nothing in the released set stands
    top      : tKd, share of the 100 most frequent single items and pairs that are not among the 100 most frequent ones
               of the released file; items that were generalised are others
    pairs    : median relative error of the counts of pairs that at least 0.1 % of the original sets hold, 0 to 2:
               |a - b| / ((a + b) / 2). A count of groups is shared out evenly among the pairs that it may stand for;
               a pair within one group is lost
    records  : of the original that hold an item
    """

    penalty: float
    left_out: float
    top: float
    pairs: float
    records: int = field(default=0, compare=False)


LOST = ItemLoss(penalty=1.0, left_out=1.0, top=1.0, pairs=2.0)
"""Of a variable that was removed."""


def item_loss(
    original: "pd.Series[Any]", masked: "pd.Series[Any]", before: Variable, after: Variable, paired: bool = True
) -> ItemLoss:
    """What the released sets lost against the original ones.

    original, masked : columns of kind items, typed by `before` and `after`; where `paired`, row i is the same record
    raises : DataError if `paired` and the numbers of rows differ, or if a released item is neither item nor group
    cost   : O(occurrences x levels), and the pairs of all records
    """
    known, released = ItemSets.of(original, before.between_items), ItemSets.of(masked, after.between_items)
    if paired and len(known) != len(released):
        raise DataError(f"sets are compared record by record; got {len(known):,} and {len(released):,} records")
    leaves = known.names if before.hierarchy is None else tuple(before.hierarchy.rows)
    leaves = tuple(dict.fromkeys((*leaves, *(released.names if before.hierarchy is None else ()))))
    tree = ItemTree.of(leaves, before.hierarchy)
    known = known.replaced(tree.places(known.names), tree.names)
    released = released.replaced(tree.places(released.names), tree.names)
    penalty = left_out = float("nan")
    if paired and len(known.items):
        stands = _standing(known, released, tree)
        left_out = float((stands < 0).mean())
        penalty = float(np.append(tree.penalty, 1.0)[stands].mean())
    return ItemLoss(
        penalty,
        left_out,
        _top_lost(known, released),
        _pair_error(known, released, tree),
        len(np.unique(known.rows)),
    )


def _standing(known: ItemSets, released: ItemSets, tree: ItemTree) -> IntArray:
    """The narrowest released item or group that stands for each original occurrence; -1 where nothing does."""
    width = len(tree.names)
    held = released.rows * width + released.items
    stands = np.full(len(known.items), -1, dtype=np.int64)
    for level in range(tree.depth, -1, -1):
        above = tree.chains[known.items, level]
        stands = np.where(np.isin(known.rows * width + above, held), above, stands)
    return stands


def _top_lost(known: ItemSets, released: ItemSets) -> float:
    before, after = _top(known), _top(released)
    return float("nan") if not before else len(before - after) / len(before)


def _top(sets: ItemSets) -> set[tuple[int, ...]]:
    """The most frequent items and pairs; those that are as frequent as the last one are among them."""
    found = [combination_counts(sets, size) for size in (1, 2)]
    counts = np.concatenate([each.counts for each in found])
    if not len(counts):
        return set()
    least = np.sort(counts)[-min(TOP, len(counts))]
    return {tuple(row) for each in found for row in each.items[each.counts >= least].tolist()}


def _pair_error(known: ItemSets, released: ItemSets, tree: ItemTree) -> float:
    pairs = combination_counts(known, 2)
    asked = pairs.counts >= max(1, _FREQUENT * len(known))
    if not asked.any():
        return float("nan")
    true = pairs.counts[asked] / len(known)
    told = np.zeros(len(true))
    found = combination_counts(released, 2)
    count = dict(zip(map(tuple, found.items.tolist()), found.counts.tolist(), strict=True))
    sizes = tree.sizes
    for at, (one, other) in enumerate(pairs.items[asked].tolist()):
        for a in _distinct(tree.chains[one]):
            for b in _distinct(tree.chains[other]):
                told[at] += count.get((min(a, b), max(a, b)), 0) / (sizes[a] * sizes[b]) if a != b else 0.0
    told /= max(len(released), 1)
    return float(np.median(np.abs(true - told) / ((true + told) / 2)))


def _distinct(chain: IntArray) -> list[int]:
    return list(dict.fromkeys(chain.tolist()))


def items(files: Comparison) -> Found:
    """Of sets of items, the worst variable by each measure, a removed one having lost everything; nothing where the
    original has no sets."""
    expected = [name for name, variable in files.variables.items() if variable.kind is Kind.ITEMS]
    aligned = files.paired and len(files.original) == len(files.masked)
    losses = {
        name: item_loss(files.original[name], files.masked[name], files.variables[name], files.released[name], aligned)
        for name in expected
        if name in files.released and files.released[name].kind is Kind.ITEMS and len(files.masked)
    } | {name: LOST for name in expected if name not in files.released}

    held = (loss.records for loss in losses.values() if loss is not LOST)
    records = min(held, default=len(files.original))

    def judged(measure: Measure, which: str) -> Measured:
        says = _LOSSES[measure.name]
        known = {name: float(getattr(loss, which)) for name, loss in losses.items()}
        not_known = says(loss="an unknown share") + _SAYS.not_all_compared()

        def found() -> Figure:
            if len(known) < len(expected) or any(map(isnan, known.values())):
                return Figure(nan, not_known, len(known))
            worst = max(known, key=lambda name: known[name])
            return Figure(known[worst], says(loss=figure(known[worst])) + WORST(name=worst), len(known), worst)

        few = files.of_few & {*expected}
        occasion = Occasion(len(expected), _SAYS.none(), not_known, records=min(records, len(files.masked)), few=few)
        return measure.judge(files, occasion, found)

    of_measures = {_PENALTY: "penalty", _LEFT_OUT: "left_out", _TOP: "top", _PAIRS: "pairs"}
    return Found({measure.name: judged(measure, which) for measure, which in of_measures.items()})


SETS = Family(items, (_PENALTY, _LEFT_OUT, _TOP, _PAIRS), weighs=False)
