"""Who knows a whole set, and that items were taken out, finds what is left of it."""

from math import log

import numpy as np
import pandas as pd
import pytest

from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.suppressed_values import SetsWithin
from tests.items.brute_force import read
from tests.items.set_columns import column_of, variable

PLAIN = {"basket": variable(hierarchy=None)}


def pairs(before: list[set[str]], after: list[set[str]]) -> Pairs:
    known, released = (pd.DataFrame({"basket": column_of(sets)}) for sets in (before, after))
    rows = np.arange(len(before))
    return Pairs(known, PLAIN, known, released, PLAIN, rows, np.random.default_rng(0))


def test_the_rarest_set_within_is_taken() -> None:
    """c and e are left to one person each; those with b alone are three alike."""
    before = [{"a", "b", "c"}, {"b", "d"}, {"b", "d"}, {"b", "d"}, {"a", "e"}]
    file = pairs(before, [{"b", "c"}, {"b"}, {"b"}, {"b"}, {"a", "e"}])
    identified, confident = SetsWithin(("basket",)).play(file)
    assert identified.measured.value == pytest.approx((1 + 3 * 1 / 3 + 1) / 5)
    assert identified.measured.completed == 5
    assert confident.measured.value == pytest.approx(2 / 5)


def test_it_finds_whom_a_search_of_all_sets_finds() -> None:
    rng = np.random.default_rng(3)
    items = np.array(list("abcdefgh"))
    before = [set(rng.choice(items, rng.integers(1, 6), replace=False)) for _ in range(60)]
    after = [{item for item in each if rng.random() < 0.7} for each in before]
    left = sum(map(len, after)) / sum(map(len, before))
    share = {item: sum(item in each for each in after) / 60 for item in items}

    def speaks(released: set[str]) -> float:
        return sum(log(left / share[item]) - log((1 - left) / (1 - share[item])) for item in released)

    right = []
    for person, known in enumerate(before):
        fits = [row for row, each in enumerate(after) if each <= known]
        most = max(speaks(after[row]) for row in fits)
        best = [row for row in fits if speaks(after[row]) > most - 1e-9]
        right.append((person in best) / len(best))
    file = pairs(before, after)
    assert read(file.masked["basket"]) == after
    assert SetsWithin(("basket",)).play(file)[0].measured.value == pytest.approx(np.mean(right))


def test_a_set_that_does_not_lie_within_is_ruled_out() -> None:
    logs = SetsWithin(("basket",)).likelihood(pairs([{"a"}, {"b"}], [{"a"}, {"b"}]))(np.array([0]))
    assert np.isneginf(logs[0, 1])
    assert np.isfinite(logs[0, 0])
