"""The classes of a node are those of the generalised records, however many words their keys take."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from sluice.generalization.lattice import search
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Layout, Population, bottom
from sluice.generalization.lattice.search import NodeCache
from sluice.ground.errors import DataError
from sluice.risk.classes.privacy_model import NO_CLASS
from tests.generalization.small_files import tables
from tests.golden import golden


def wide_keys(keys: int) -> list[Key]:
    """Keys of 300 values, which take nine bits each, in groups of ten and of a hundred."""
    leaves = np.arange(300)
    return [Key(f"key{at}", np.array([leaves, leaves // 10, leaves // 100])) for at in range(keys)]


@pytest.mark.parametrize(("keys", "words"), [(1, 1), (7, 1), (8, 2), (30, 5)])
def test_classes_sizes_and_histograms_are_those_that_pandas_counts(keys: int, words: int) -> None:
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 300, 40)[rng.integers(0, 40, 500)] for _ in range(keys)]
    values = rng.integers(-1, 5, 500)
    base, member = bottom(wide_keys(keys), codes, {"a": values})
    assert base.layout.words == words
    levels = rng.integers(1, 3, keys).tolist()
    node, into = base.at(levels)
    shown = pd.DataFrame({at: code // (10, 100)[level - 1] for at, (code, level) in enumerate(zip(codes, levels))})  # noqa: B905
    shown["class"] = into[member]
    assert len(shown.drop_duplicates()) == len(shown.drop(columns="class").drop_duplicates()) == len(node.sizes)
    assert node.sizes.tolist() == shown["class"].value_counts().sort_index().tolist()
    for at in range(keys):
        assert (node.shown(at)[into[member]] == shown[at]).all()
    expected = shown[values >= 0].groupby(["class", values[values >= 0]]).size()
    histogram = node.histograms["a"]
    assert list(zip(histogram.holder, histogram.value, strict=True)) == list(expected.index)
    assert histogram.records.tolist() == expected.tolist()


def test_a_word_is_filled_before_the_next_one_is_begun() -> None:
    layout = Layout.of(wide_keys(8))
    assert layout.fields[6] == (0, 54, 511)
    assert layout.fields[7] == (1, 0, 511)


@given(tables())
def test_nodes_do_not_depend_on_what_was_at_hand(table: tuple) -> None:
    keys, codes, sensitive = table
    base, _ = bottom(keys, codes, sensitive)
    cache = NodeCache(base)
    every = [()]
    for key in keys:
        every = [(*levels, level) for levels in every for level in range(key.depth + 1)]
    for levels in every[::-1] + every:
        node, expected = cache.at(levels), base.at(levels)[0]
        order, expected_order = (np.lexsort(one.words.T) for one in (node, expected))
        assert (node.words[order] == expected.words[expected_order]).all()
        assert (node.sizes[order] == expected.sizes[expected_order]).all()
        assert (node.unknown == NO_CLASS) == (expected.unknown == NO_CLASS)
        for name, histogram in node.histograms.items():
            assert (histogram.sizes[order] == expected.histograms[name].sizes[expected_order]).all()


def test_nodes_used_longest_ago_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_MOST", 0)
    rng = np.random.default_rng(2)
    base, _ = bottom(wide_keys(3), [rng.integers(0, 300, 200) for _ in range(3)], {})
    cache = NodeCache(base)
    for levels in [(a, b, c) for a in range(3) for b in range(3) for c in range(3)]:
        assert sorted(cache.at(levels).sizes) == sorted(base.at(levels)[0].sizes)
    assert sum(len(node.sizes) for node in cache._nodes.values()) <= 2 * len(base.sizes)


def test_the_population_has_classes_without_records() -> None:
    key = Key("place", np.array([[0, 1, 2], [0, 0, 1]]))
    base, member = bottom([key], [np.array([1, 1])], {}, Population((np.array([0, 1, 2]),), np.array([1, 2, 1])))
    assert base.sizes[member[0]] == 2
    assert sorted(base.sizes) == [0, 0, 2]
    node, _ = base.at([1])
    assert sorted(zip(node.sizes, node.population, strict=True)) == [(0, 1), (2, 3)]


def test_no_key_and_no_record_are_refused() -> None:
    with golden.raises(DataError):
        bottom([], [], {})
    with golden.raises(DataError):
        bottom(wide_keys(1), [np.zeros(0, dtype=np.int64)], {})
