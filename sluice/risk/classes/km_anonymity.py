"""km-anonymity: how many people fit what an intruder knows who saw a few items of a person's set.

Source: Terrovitis, Mamoulis and Kalnis (2008), section 3: a file of sets is k^m-anonymous if no intruder who knows at
most m items of a set can find fewer than k sets in it that fit. The combination of this with known quasi-identifiers is
that of Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos (2013), (k, k^m)-anonymity.

An item is known by the name under which it is released: whoever knows the plan knows which group stands for apples,
and that no group does where apples are released as such. Who does not know that finds no fewer: whatever items fit a
record, they fit every record with the same names. An item that is not in a released set does not fit it, also where it
was suppressed: an intruder takes the file as it reads.

Differs from the source: people are counted, not sets, where it is known whose the sets are.
"""

from collections.abc import Sequence

import numpy as np

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.items.item_sets import ItemSets

MOST_KNOWN = 4
"""Items that an intruder may know: the combinations of more are too many to be counted."""


def side_by_side(parts: Sequence[ItemSets]) -> ItemSets:
    """The sets of several variables of the same records as one: an item of one variable is none of another."""
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0, *(len(part.names) for part in parts)])
    rows = np.concatenate([part.rows for part in parts])
    items = np.concatenate([part.items + offset for part, offset in zip(parts, offsets, strict=False)])
    names = tuple(f"{number}: {name}" for number, part in enumerate(parts) for name in part.names)
    return ItemSets.from_pairs(rows, items, len(parts[0]), names)


def united(sets: ItemSets, together: IntArray) -> ItemSets:
    """One set for each code of `together`, shape (n,), from 0: what a reader sees who puts these records together."""
    return ItemSets.from_pairs(together[sets.rows], sets.items, int(together.max(initial=-1)) + 1, sets.names)


def smallest_crowds(sets: ItemSets, m: int, groups: IntArray | None = None, people: IntArray | None = None) -> IntArray:
    """For each record, the fewest people who fit one of its combinations of at most m items.

    sets    : as released
    m       : 1 to 4; a set of fewer items has fewer to know. Knowing none of them is among the combinations
    groups  : shape (n,), from 0: records that agree on what is known beside the items; None: nothing is known
    people  : shape (n,), from 0: whose the records are; None: each is another person's
    returns : shape (n,), at least 1; lower is worse
    raises  : DataError for another m
    cost    : O(sum over the records of the combinations of at most m of their items) time, O(m occurrences) memory: a
              million sets of 4 items take 1.2 seconds of the processor for m = 2
    """
    from sluice.risk.classes import km_anonymity_kernel as kernel

    if not 1 <= m <= MOST_KNOWN:
        raise DataError(f"m of km-anonymity must be from 1 to {MOST_KNOWN}; got {m}")
    n = len(sets)
    groups = np.zeros(n, np.int64) if groups is None else groups
    people = np.arange(n) if people is None else people
    order = np.lexsort((people, groups))
    # Rare items first: their few records are then parted no further than needed.
    frequency = np.bincount(sets.items, minlength=len(sets.names))
    rank = np.argsort(np.argsort(frequency, kind="stable"))
    ranked = sets.take(order).replaced(rank, sets.names)
    ordered = groups[order]
    bounds = (
        np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])) if n else np.zeros(1, np.int64)
    )
    crowds = np.empty(n, np.int64)
    crowds[order] = kernel.smallest_crowds(
        ranked.starts, ranked.items, people[order].astype(np.int64), bounds, len(sets.names), m
    )
    return crowds
