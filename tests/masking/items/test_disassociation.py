"""Disassociation: an intruder who tries every file that may be the original finds k candidates for what he knows."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.items.item_sets import ItemSets
from sluice.masking.items.disassociation import Cluster, Disassociated, RecordChunk, disassociate
from tests.golden import golden
from tests.items.set_columns import baskets, column_of

Sets = Sequence[frozenset[str]]


def taken_apart(sets: Sets, k: int, m: int, largest: int | None = None, seed: int = 1) -> Disassociated:
    return disassociate(ItemSets.of(column_of(sets), ";"), k, m, np.random.default_rng(seed), largest)


def known_items(sets: Sets, m: int) -> set[frozenset[str]]:
    """What an intruder may know who knows at most m items of somebody."""
    return {frozenset(some) for each in sets for size in range(1, m + 1) for some in combinations(sorted(each), size)}


def worlds(cluster: Cluster) -> Iterator[list[frozenset[str]]]:
    """Every way in which the sub-records of a cluster may belong together, listed items in every record.

    More records cannot hold an item, so that no other file has more candidates; files with an empty set are none.
    """
    arrangements = []
    for chunk in cluster.chunks:
        padded = [*chunk.sub_records, *[()] * (cluster.records - len(chunk.sub_records))]
        arrangements.append(sorted(set(permutations(padded))))
    for chosen in product(*arrangements):
        records = [
            frozenset(cluster.listed).union(*parts) for parts in zip(*chosen, [()] * cluster.records, strict=False)
        ]
        if not chosen:
            records = [frozenset(cluster.listed)] * cluster.records
        if all(records):
            yield records


def candidates(cluster: Cluster, known: set[frozenset[str]]) -> Counter[frozenset[str]]:
    """For each known set the records that hold it, in the file with the most of them."""
    most: Counter[frozenset[str]] = Counter()
    for records in worlds(cluster):
        most |= Counter({some: sum(some <= record for record in records) for some in known})
    return most


def rare_in_chunks(released: Disassociated) -> list[tuple[str, ...]]:
    """Combinations of at most m items of a sub-record that fewer than k sub-records of its chunk hold."""
    rare: list[tuple[str, ...]] = []
    for cluster in released.clusters:
        for chunk in cluster.chunks:
            held: Counter[tuple[str, ...]] = Counter()
            for sub_record in chunk.sub_records:
                for size in range(1, released.m + 1):
                    held.update(combinations(sub_record, size))
            rare += [some for some, count in held.items() if count < released.k]
    return rare


def supports(released: Disassociated) -> tuple[Counter[str], Counter[str]]:
    """Of each item the sub-records that hold it, and the clusters that list it."""
    held = Counter(
        item for cluster in released.clusters for chunk in cluster.chunks for sub in chunk.sub_records for item in sub
    )
    return held, Counter(item for cluster in released.clusters for item in cluster.listed)


SEARCHES = [
    "itunes flu madonna ikea ruby", "madonna flu viagra ruby audi sony", "itunes madonna audi ikea sony",
    "itunes flu viagra", "itunes flu madonna audi sony", "madonna camera panic playboy", "iphone madonna ikea ruby",
    "iphone camera madonna playboy", "iphone camera panic", "iphone camera madonna ikea ruby",
]  # fmt: skip


def test_the_running_example_of_the_source() -> None:
    """Terrovitis, Liagouris, Mamoulis and Skiadopoulos (2012), figure 2: both clusters, k = 3 and m = 2. How the ten
    records are divided between the clusters was not checked."""
    file = [frozenset(each.split()) for each in SEARCHES]
    (first,) = taken_apart(file[:5], 3, 2).clusters
    assert {frozenset(chunk.items) for chunk in first.chunks} == {
        frozenset({"itunes", "flu", "madonna"}),
        frozenset({"audi", "sony"}),
    }
    assert first.listed == ("ikea", "ruby", "viagra")
    assert sorted(len(chunk.sub_records) for chunk in first.chunks) == [3, 5]
    (second,) = taken_apart(file[5:], 3, 2).clusters
    assert [chunk.items for chunk in second.chunks] == [("camera", "iphone", "madonna")]
    assert second.listed == ("ikea", "panic", "playboy", "ruby")


def test_chunks_alone_do_not_hide_whom_nobody_may_replace() -> None:
    """Lemma 2: two records with both items leave nothing for the third, so that only one may have had both."""
    file = [frozenset("ab"), frozenset("a"), frozenset("b")]
    naive = Cluster(3, (RecordChunk(("a",), (("a",),) * 2), RecordChunk(("b",), (("b",),) * 2)), ())
    assert candidates(naive, known_items(file, 2))[frozenset("ab")] == 1
    (cluster,) = taken_apart(file, 2, 2).clusters
    assert [chunk.items for chunk in cluster.chunks] == [("a",)]
    assert cluster.listed == ("b",)
    assert candidates(cluster, known_items(file, 2))[frozenset("ab")] == 2


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("records", [3, 4])
def test_no_file_of_few_records_lets_anybody_be_found(records: int, m: int) -> None:
    """All files with at most three items."""
    sets = [frozenset(some) for size in (1, 2, 3) for some in combinations("abc", size)]
    for file in combinations_with_replacement(sets, records):
        (cluster,) = taken_apart(file, 2, m).clusters
        known = known_items(file, m)
        found = candidates(cluster, known)
        assert min(found[some] for some in known) >= 2


@pytest.mark.chain
@given(baskets(names="abcd", least=3, most=5), st.integers(2, 3), st.integers(1, 3), st.integers(0, 9))
def test_an_intruder_who_tries_every_original_finds_k_candidates(sets: Sets, k: int, m: int, seed: int) -> None:
    if sum(map(bool, sets)) < k:
        return
    released = taken_apart(sets, k, m, 2 * k - 1, seed)
    known = known_items(sets, m)
    found: Counter[frozenset[str]] = Counter()
    for cluster in released.clusters:
        found.update(candidates(cluster, known))
    assert min(found[some] for some in known) >= k


@given(baskets(), st.integers(1, 4), st.integers(1, 4), st.integers(0, 8), st.integers(0, 9))
def test_counts_of_items_are_true_and_no_item_is_lost(sets: Sets, k: int, m: int, more: int, seed: int) -> None:
    filled = [each for each in sets if each]
    if len(filled) < k:
        return
    largest = 2 * k - 1 + more
    released = taken_apart(sets, k, m, largest, seed)
    assert rare_in_chunks(released) == []
    assert (len(released), released.without_items) == (len(sets), len(sets) - len(filled))
    assert all(k <= cluster.records <= largest for cluster in released.clusters)
    held, listed = supports(released)
    rebuilt = released.reconstruction(np.random.default_rng(seed))
    assert Counter(rebuilt.names[item] for item in rebuilt.items) == held + listed
    assert len(rebuilt) == len(sets)
    for item, count in Counter(item for each in sets for item in each).items():
        assert held[item] + listed[item] <= count
        assert listed[item] or held[item] == count
    for cluster in released.clusters:
        names = [item for chunk in cluster.chunks for item in chunk.items] + list(cluster.listed)
        assert len(names) == len(set(names))
        for chunk in cluster.chunks:
            assert set(chunk.items) == {item for sub in chunk.sub_records for item in sub}
            assert all(chunk.sub_records)
            for some in known_items([frozenset(sub) for sub in chunk.sub_records], 4):
                assert sum(some <= each for each in sets) >= sum(some <= set(sub) for sub in chunk.sub_records)


def test_k_of_one_leaves_records_whole_and_k_of_all_leaves_what_all_have() -> None:
    sets = [frozenset("ab"), frozenset("abc"), frozenset("b"), frozenset()]
    (whole,) = taken_apart(sets, 1, 2).clusters
    assert sorted(whole.chunks[0].sub_records) == [("a", "b"), ("a", "b", "c"), ("b",)]
    assert whole.listed == ()
    (cluster,) = taken_apart(sets, 3, 2).clusters
    assert cluster == Cluster(3, (RecordChunk(("b",), (("b",),) * 3),), ("a", "c"))


def test_who_reads_chunks_side_by_side_learns_nothing() -> None:
    """p goes with y and q with x, but for one record each: row by row the chunks must not say so."""
    sets = [frozenset("py")] * 199 + [frozenset("px"), frozenset("qy")] + [frozenset("qx")] * 199
    (cluster,) = taken_apart(sets, 5, 2).clusters
    first, second = (chunk.sub_records for chunk in cluster.chunks)
    assert (set(first), set(second)) == ({("p",), ("q",)}, {("x",), ("y",)})
    together = sum((one, other) == (("p",), ("y",)) for one, other in zip(first, second, strict=True))
    assert 70 < together < 130  # 100 by chance, with a standard deviation of 5; 199 in the file
    assert taken_apart(sets, 5, 2, seed=2).clusters[0] != cluster


def test_text_and_frames_hold_all_of_it() -> None:
    released = taken_apart([frozenset(each.split()) for each in SEARCHES], 2, 2, 4)
    text = json.loads(released.to_json())
    assert [each["records"] for each in text["clusters"]] == [each.records for each in released.clusters]
    frame = released.sub_record_frame()
    assert [tuple(items.split(";")) for items in frame["items"]] == [
        tuple(sub) for cluster in text["clusters"] for chunk in cluster["chunks"] for sub in chunk["sub_records"]
    ]
    assert [(frame["cluster"] == at).sum() for at in (1, 2, 3)] == [
        sum(len(chunk.sub_records) for chunk in each.chunks) for each in released.clusters
    ]
    assert released.cluster_frame()["listed"].tolist() == [";".join(each.listed) for each in released.clusters]


@pytest.mark.chain
@pytest.mark.parametrize("largest", [None, 50])
def test_groceries_keep_their_counts(reference_data: Path, largest: int | None) -> None:
    lines = (reference_data / "groceries" / "groceries.csv").read_text(encoding="utf-8").splitlines()
    sets = [frozenset(item.strip() for item in line.split(",")) for line in lines]
    released = taken_apart(sets, 5, 2, largest)
    assert rare_in_chunks(released) == []
    held, listed = supports(released)
    true = Counter(item for each in sets for item in each)
    assert set(held) | set(listed) == set(true)
    assert all(held[item] == count for item, count in true.items() if not listed[item])
    assert released.linked_items() == held.total()
    pairs = sum(comb(len(each), 2) for each in sets)
    if largest is None:
        assert set(listed) == {item for item, count in true.items() if count < 5}
        assert released.linked_pairs() / pairs == pytest.approx(0.635, abs=0.001)  # consistency
    else:
        assert max(cluster.records for cluster in released.clusters) <= largest


@pytest.mark.parametrize(("k", "m", "largest"), [(4, 2, None), (0, 2, None), (2, 0, None), (2, 5, None), (3, 2, 4)])
def test_what_cannot_be_hidden_is_refused(k: int, m: int, largest: int | None) -> None:
    with golden.raises(DataError):
        taken_apart([frozenset("a"), frozenset("b"), frozenset("c"), frozenset()], k, m, largest)
