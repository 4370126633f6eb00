"""Disassociation: sets of items are cut into parts that are released unlinked, so that no few items find anybody.

Source: Terrovitis, Liagouris, Mamoulis and Skiadopoulos (2012), sections 3 and 4. Similar records form clusters. In
each cluster the frequent items are divided among record chunks, each k^m-anonymous by itself, and the others are only
listed (the term chunk). Every item is released as it is; what is lost is which parts belong to the same record.

The guarantee (section 3): for any m items of a record there is a file that may be the original, without empty sets, in
which at least k records hold them. The k sub-records of each chunk that hold the known items may be those of the same k
records, to which any listed item may belong. Where no item is listed, enough sub-records must remain for the other
records (Lemma 2); else the rarest item is listed.

Differs from the source: a cluster is only divided where each part keeps k records, by the most frequent item that
allows it, or else in halves; unless a largest cluster is asked for, all records are one. Clusters are not refined by
joint ones (section 4), which would link more items.

What it does not withstand: that a file may be the original does not make it likely. Whoever knows this method knows
that a listed item has fewer than k records in its cluster (but for the one of Lemma 2); among the sub-records of any
chunk still at least k fit. An item that all the sub-records share that fit is disclosed. So is one that only records
with a known item can have: the cover problem of Barakat, Al Bouna, Nassar and Guyeux (2016). Whoever knows more than m
items of one chunk may find the sub-record.
"""

import json
from dataclasses import asdict, dataclass
from functools import reduce
from operator import or_

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.items.item_sets import ItemSets
from sluice.risk.classes.km_anonymity import MOST_KNOWN


@dataclass(frozen=True)
class RecordChunk:
    """Parts of the records of a cluster, in random order.

    items       : the items of the chunk, sorted; no other chunk of the cluster has any of them
    sub_records : what each record has of them, sorted; records without any are left out
    """

    items: tuple[str, ...]
    sub_records: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Cluster:
    """Similar records, taken apart.

    records : how many, at least k
    chunks  : record chunks
    listed  : the term chunk: items that at least one of the records has, sorted
    """

    records: int
    chunks: tuple[RecordChunk, ...]
    listed: tuple[str, ...]


@dataclass(frozen=True)
class Disassociated:
    """A file of sets as it is released.

    clusters      : in random order
    without_items : records without items, which are in no cluster
    """

    k: int
    m: int
    clusters: tuple[Cluster, ...]
    without_items: int

    def __len__(self) -> int:
        return sum(cluster.records for cluster in self.clusters) + self.without_items

    def to_json(self) -> str:
        """All of it as JSON text, with the names of the attributes as keys."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def cluster_frame(self, separator: str = ";") -> pd.DataFrame:
        """One row a cluster: cluster, from 1; records; listed, the canonical text of its listed items."""
        rows = [(at, each.records, separator.join(each.listed)) for at, each in enumerate(self.clusters, 1)]
        return pd.DataFrame(rows, columns=["cluster", "records", "listed"])

    def sub_record_frame(self, separator: str = ";") -> pd.DataFrame:
        """One row a sub-record: cluster and chunk, each from 1; items, its canonical text."""
        rows = [
            (at, number, separator.join(sub_record))
            for at, cluster in enumerate(self.clusters, 1)
            for number, chunk in enumerate(cluster.chunks, 1)
            for sub_record in chunk.sub_records
        ]
        return pd.DataFrame(rows, columns=["cluster", "chunk", "items"])

    def reconstruction(self, rng: np.random.Generator) -> ItemSets:
        """Sets of parts put together at random, for analyses that need whole records (section 3).

        The sub-records of a cluster are joined at random and each listed item goes to one record. Different chunks are
        therefore independent within a cluster, listed items are too rare, and some sets may be without items.
        """
        rows: list[int] = []
        items: list[str] = []
        first = 0
        for cluster in self.clusters:
            for chunk in cluster.chunks:
                places = rng.permutation(cluster.records)[: len(chunk.sub_records)]
                for place, sub_record in zip(places.tolist(), chunk.sub_records, strict=True):
                    rows += [first + place] * len(sub_record)
                    items += sub_record
            rows += (first + rng.integers(cluster.records, size=len(cluster.listed))).tolist()
            items += cluster.listed
            first += cluster.records
        names = sorted(set(items))
        place_of = {name: at for at, name in enumerate(names)}
        codes = np.array([place_of[item] for item in items], dtype=np.int64)
        return ItemSets.from_pairs(np.array(rows, dtype=np.int64), codes, len(self), tuple(names))

    def linked_items(self) -> int:
        """Occurrences of items in sub-records; the others are listed only."""
        return sum(len(sub) for cluster in self.clusters for chunk in cluster.chunks for sub in chunk.sub_records)

    def linked_pairs(self) -> int:
        """Occurrences of two items in the same sub-record; those of other pairs are not told."""
        return sum(
            len(sub) * (len(sub) - 1) // 2
            for cluster in self.clusters
            for chunk in cluster.chunks
            for sub in chunk.sub_records
        )


def disassociate(sets: ItemSets, k: int, m: int, rng: np.random.Generator, largest: int | None = None) -> Disassociated:
    """Take sets apart so that for any m items of a record k records may hold them.

    sets    : each another person's; those without items are only counted
    k       : 1 to the number of records with items; 1 leaves the records whole
    m       : 1 to 4
    largest : records of a cluster at most, at least 2 k - 1; when not given all are one cluster. In larger clusters
              fewer items are listed, and more of the others stand in different chunks
    raises  : DataError for other parameters
    cost    : O(occurrences x depth of the clusters) and, in each cluster, one operation on as many bits as it has
              records for each combination of at most m of its frequent items; as many bits for each item are held. Half
              a million occurrences of 200 items in 100,000 records take 5 seconds of the processor for m = 2
    """
    filled = np.flatnonzero(sets.sizes)
    if not 1 <= m <= MOST_KNOWN:
        raise DataError(f"m of disassociation must be from 1 to {MOST_KNOWN}; got {m}.")
    if not 1 <= k <= len(filled):
        raise DataError(
            f"k of disassociation must be from 1 to the number of records with items, {len(filled):,}; got {k}."
        )
    largest = max(len(filled), 2 * k - 1) if largest is None else largest
    if largest < 2 * k - 1:
        raise DataError(f"largest of disassociation must be at least 2 k - 1, {2 * k - 1}; got {largest}.")
    shuffled = sets.take(rng.permutation(filled))
    clusters = [_taken_apart(shuffled.take(places), k, m, rng) for places in _similar(shuffled, k, largest)]
    order = rng.permutation(len(clusters)).tolist()
    return Disassociated(k, m, tuple(clusters[at] for at in order), len(sets) - len(filled))


def _similar(sets: ItemSets, k: int, largest: int) -> list[IntArray]:
    """Horizontal partitioning: places of the records of each cluster, k to `largest`."""
    found, too_large = [], [np.arange(len(sets))]
    while too_large:
        places = too_large.pop()
        if len(places) <= largest:
            found.append(places)
            continue
        part = sets.take(places)
        support = np.bincount(part.items, minlength=len(sets.names))
        support[(support < k) | (support > len(places) - k)] = 0
        having = np.zeros(len(places), dtype=np.bool_)
        if support.any():
            having[part.rows[part.items == support.argmax()]] = True
        else:
            having[: len(places) // 2] = True
        too_large += [places[having], places[~having]]
    return found


def _taken_apart(sets: ItemSets, k: int, m: int, rng: np.random.Generator) -> Cluster:
    """Vertical partitioning of one cluster. A bit of `having[item]` stands for each record that has the item."""
    by_item = np.argsort(sets.items, kind="stable")
    items, starts = np.unique(sets.items[by_item], return_index=True)
    rows = dict(zip(items.tolist(), np.split(sets.rows[by_item], starts[1:]), strict=True))
    having = {item: _bits(rows[item], len(sets)) for item in rows}
    order = sorted(rows, key=lambda item: (-len(rows[item]), item))
    left = [item for item in order if len(rows[item]) >= k]
    listed = order[len(left) :]
    chunks: list[list[int]] = []
    while left:
        chunk: list[int] = []
        for item in left:
            if _frequent_with(having[item], [having[other] for other in chunk], k, m - 1):
                chunk.append(item)
        taken = set(chunk)
        left = [item for item in left if item not in taken]
        chunks.append(chunk)
    if not listed and not _enough([[having[item] for item in chunk] for chunk in chunks], len(sets), k, m):
        listed = [order[-1]]
        chunks = [[item for item in chunk if item != order[-1]] for chunk in chunks]
    return Cluster(
        len(sets),
        tuple(_chunk(sorted(chunk), rows, sets, rng) for chunk in chunks if chunk),
        tuple(sorted(sets.names[item] for item in listed)),
    )


def _bits(rows: IntArray, records: int) -> int:
    found = np.zeros(records, dtype=np.bool_)
    found[rows] = True
    return int.from_bytes(np.packbits(found, bitorder="little").tobytes(), "little")


def _frequent_with(having: int, others: list[int], k: int, more: int) -> bool:
    """Whether k of these records, or none, have each combination of at most `more` other items."""
    if more == 0:
        return True
    for at, other in enumerate(others):
        both = having & other
        if both and (both.bit_count() < k or not _frequent_with(both, others[:at], k, more - 1)):
            return False
    return True


def _enough(chunks: list[list[int]], records: int, k: int, m: int) -> bool:
    """Lemma 2: whether k records may share sub-records of min(m, chunks) chunks, and each other record has one left."""
    sub_records = sum(reduce(or_, chunk).bit_count() for chunk in chunks)
    return sub_records >= records + k * (min(m, len(chunks)) - 1)


def _chunk(items: list[int], rows: dict[int, IntArray], sets: ItemSets, rng: np.random.Generator) -> RecordChunk:
    of_records: list[list[str]] = [[] for _ in range(len(sets))]
    for item in items:
        for row in rows[item].tolist():
            of_records[row].append(sets.names[item])
    parts = [tuple(part) for part in of_records if part]
    order = rng.permutation(len(parts)).tolist()
    return RecordChunk(tuple(sets.names[item] for item in items), tuple(parts[at] for at in order))
