"""`sluice.disassociate`: sets of items in parts that are not linked."""

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.sentence import percent
from sluice.ground.variables import Kind, Variable
from sluice.items.item_sets import ItemSets, combination_counts
from sluice.masking.items.disassociation import Disassociated
from sluice.masking.items.disassociation import disassociate as taken_apart
from sluice.utility.item_loss import item_loss
from tasks.workbench.arguments import Seed, column_name, data_frame, entropy, whole_number
from tasks.workbench.result import COLOURS, Figure, Result, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Disassociation(Result):
    """What may be released, and what it lost.

    released        : clusters, chunks and listed items; `to_json()` is a text of all of it
    clusters        : columns cluster, records, listed: items that at least one of the records has
    sub_records     : columns cluster, chunk, items, in random order; chunks of a cluster are not linked
    reconstruction  : one column of sets: the parts put together at random, for analyses of whole records
    """

    records: Annotated[int, Figure("records", "looked at")]
    k: Annotated[int, Figure("records", "that may hold any m items of a record, at least")]
    m: Annotated[int, Figure("items", "that an intruder knows at most")]
    parts: Annotated[int, Figure("chunks", "of the records, not linked with each other")]
    linked_items: Annotated[float, Figure("share, 0 to 1", "of the items of all records that stand in a sub-record")]
    linked_pairs: Annotated[float, Figure("share, 0 to 1", "of the pairs of items that stand in one sub-record")]
    top: Annotated[float, Figure("share, 0 to 1", "of the 100 most frequent items and pairs lost in a reconstruction")]
    pairs: Annotated[float, Figure("0 to 2", "median relative error of the counts of frequent pairs in it")]
    released: Disassociated
    clusters: pd.DataFrame
    sub_records: pd.DataFrame
    reconstruction: pd.DataFrame

    @property
    def says(self) -> str:
        items = "any item of a record" if self.m == 1 else f"any {self.m} items of a record"
        them = "it" if self.m == 1 else "them"
        pairs = f", and of the pairs of items {percent(self.linked_pairs)} in one."
        pairs = "; no record has two." if isnan(self.linked_pairs) else pairs
        return (
            f"For {items} at least {self.k:,} of the {self.records:,} records may hold {them}. Of the items "
            f"{percent(self.linked_items)} stand in sub-records{pairs}"
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """What share of the items, and of their pairs, is still linked."""
        ax = axes(ax)
        ax.bar(["items", "pairs of items"], [100 * self.linked_items, 100 * self.linked_pairs], color=COLOURS["masked"])
        ax.set_ylabel("% in one sub-record")
        return ax


def disassociate(
    frame: pd.DataFrame,
    column: str,
    k: int = 5,
    m: int = 2,
    *,
    largest: int | None = None,
    separator: str = ";",
    seed: Seed = None,
) -> Disassociation:
    """Take the sets of a column apart so that for any m items of a record k records may hold them.

    frame     : records, each another person's
    column    : texts of items with `separator` between them; a missing text is a set without items
    k, m      : at least 2; 1 to 4
    largest   : records of a cluster of similar records at most, at least 2 k - 1; all are one cluster when not given
    seed      : a whole number or a numpy Generator, for the random order
    raises    : TypeError, DataError
    source    : Terrovitis, Liagouris, Mamoulis and Skiadopoulos (2012); see `sluice.masking.items.disassociation`
    cost      : Groceries, 9,835 records, take a second of the processor
    """
    name = column_name(column, "column", data_frame(frame, "frame"))
    fewest, known = whole_number(k, "k", 2), whole_number(m, "m", 1)
    most = None if largest is None else whole_number(largest, "largest", 1)
    if not isinstance(separator, str):
        raise TypeError(f"separator must be a text; got {type(separator).__name__}.")
    if not separator:
        raise DataError("separator must be at least 1 character; got none.")
    rng = np.random.default_rng(entropy(seed))
    texts = _texts(frame[name], name)
    sets = ItemSets.of(texts, separator)
    released = taken_apart(sets, fewest, known, rng, most)
    rebuilt = released.reconstruction(rng).column(separator, pd.RangeIndex(len(released)))
    variable = Variable(name=name, kind=Kind.ITEMS, nullable=True, separator=separator)
    lost = item_loss(texts, rebuilt, variable, variable, paired=False)
    pairs = int(combination_counts(sets, 2).counts.sum())
    return Disassociation(
        records=len(sets),
        k=fewest,
        m=known,
        parts=sum(len(cluster.chunks) for cluster in released.clusters),
        linked_items=released.linked_items() / len(sets.items),
        linked_pairs=released.linked_pairs() / pairs if pairs else float("nan"),
        top=lost.top,
        pairs=lost.pairs,
        released=released,
        clusters=released.cluster_frame(separator),
        sub_records=released.sub_record_frame(separator),
        reconstruction=pd.DataFrame({name: rebuilt.astype("str")}),
    )


def _texts(column: "pd.Series[Any]", name: str) -> "pd.Series[Any]":
    given = column.dropna()
    others = sum(not isinstance(each, str) for each in given)
    if others:
        raise TypeError(f"column '{name}' must contain texts of items; {others:,} of {len(given):,} are not texts.")
    return column.astype("str").astype("category")
