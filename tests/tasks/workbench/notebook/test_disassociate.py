"""`sluice.disassociate` on a column of texts."""

from collections import Counter
from itertools import combinations
from typing import Any

import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError
from tests.golden import golden

BASKETS = pd.DataFrame(
    {"basket": ["beer;crisps", "beer;crisps;nuts", "beer; crisps", "tea;milk", "milk;tea;cake", "tea", "milk", None]}
)


def test_figures_are_those_of_what_is_released() -> None:
    found = sluice.disassociate(BASKETS, "basket", k=2, seed=1)
    sub_records = [set(text.split(";")) for text in found.sub_records["items"]]
    assert found.clusters["listed"].tolist() == ["cake;nuts"]
    assert (found.records, found.released.without_items, found.parts) == (8, 1, 1)
    assert found.linked_items == sum(map(len, sub_records)) / 14 == 12 / 14
    pairs = Counter(pair for each in sub_records for pair in combinations(sorted(each), 2))
    assert pairs == {("beer", "crisps"): 3, ("milk", "tea"): 2}
    assert found.linked_pairs == 5 / 9
    assert len(found.reconstruction) == 8
    golden(found.says)


def test_a_seed_repeats_it_and_the_index_does_not_matter() -> None:
    again = BASKETS.set_index(pd.Index(list("hgfedcba")))
    texts = [sluice.disassociate(frame, "basket", k=2, seed=7).released.to_json() for frame in (BASKETS, again)]
    assert texts[0] == texts[1]
    assert texts[0] != sluice.disassociate(BASKETS, "basket", k=2, seed=8).released.to_json()


def test_records_of_one_item_have_no_pairs() -> None:
    found = sluice.disassociate(pd.DataFrame({"x": ["a", "a", "b", "b"]}), "x", k=2, m=1, seed=1)
    assert found.linked_items == 1
    assert pd.isna(found.linked_pairs)
    golden(found.says)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"column": "baskets"}, DataError),
        ({"k": 8}, DataError),
        ({"k": 1}, DataError),
        ({"m": 0}, DataError),
        ({"largest": 8}, DataError),
        ({"separator": ""}, DataError),
        ({"separator": 5}, TypeError),
        ({"frame": pd.DataFrame({"basket": ["a", ["b"]]})}, TypeError),
    ],
)
def test_what_cannot_be_done_is_said(changes: dict[str, Any], error: type[Exception]) -> None:
    golden.refused(error, sluice.disassociate, **{"frame": BASKETS, "column": "basket", **changes})
