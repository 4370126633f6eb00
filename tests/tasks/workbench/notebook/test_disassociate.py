"""`sluice.disassociate` on a column of texts."""

from collections import Counter
from itertools import combinations
from typing import Any

import pandas as pd
import pytest

import sluice
from sluice.errors import DataError

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
    assert found.says == (
        "For any 2 items of a record at least 2 of the 8 records may hold them. Of the items 86% stand in sub-records, "
        "and of the pairs of items 56% in one."
    )


def test_a_seed_repeats_it_and_the_index_does_not_matter() -> None:
    again = BASKETS.set_index(pd.Index(list("hgfedcba")))
    texts = [sluice.disassociate(frame, "basket", k=2, seed=7).released.to_json() for frame in (BASKETS, again)]
    assert texts[0] == texts[1]
    assert texts[0] != sluice.disassociate(BASKETS, "basket", k=2, seed=8).released.to_json()


def test_records_of_one_item_have_no_pairs() -> None:
    found = sluice.disassociate(pd.DataFrame({"x": ["a", "a", "b", "b"]}), "x", k=2, m=1, seed=1)
    assert found.linked_items == 1
    assert pd.isna(found.linked_pairs)
    assert found.says.endswith("Of the items 100% stand in sub-records; no record has two.")


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"column": "baskets"}, DataError, "no column 'baskets'. Did you mean 'basket'"),
        ({"k": 8}, DataError, "k of disassociation must be from 1 to the number of records with items, 7; got 8"),
        ({"k": 1}, DataError, "k must be at least 2; got 1"),
        ({"m": 0}, DataError, "m must be at least 1; got 0"),
        ({"largest": 8}, DataError, "largest of disassociation must be at least 2 k - 1, 9; got 8"),
        ({"separator": ""}, DataError, "separator must be at least 1 character"),
        ({"separator": 5}, TypeError, "separator must be a text; got int"),
        ({"frame": pd.DataFrame({"basket": ["a", ["b"]]})}, TypeError, "'basket' must hold texts of items; 1 of 2 are"),
    ],
)
def test_what_cannot_be_done_is_said(changes: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        sluice.disassociate(**{"frame": BASKETS, "column": "basket", **changes})
