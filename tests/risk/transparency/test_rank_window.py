import numpy as np
import pandas as pd
import pytest

from sluice.risk.linkage.candidate_sets import rank_swapping_linkage
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import RankWindow


def pairs(original: pd.DataFrame, masked: pd.DataFrame) -> Pairs:
    return Pairs(original, {}, original, masked, {}, np.arange(len(original)), np.random.default_rng(0))


def test_the_candidates_are_those_of_the_published_attack() -> None:
    rng = np.random.default_rng(4)
    original = pd.DataFrame(rng.integers(0, 30, (80, 3)).astype(float), columns=list("abc"))
    masked = original.sample(frac=1, random_state=1).reset_index(drop=True)
    original.loc[5:9, "a"] = masked.loc[[3, 40], "a"] = np.nan
    for window in (0.02, 0.1, 0.5):
        logs = RankWindow(tuple("abc"), window).likelihood(pairs(original, masked))(np.arange(80))
        found = rank_swapping_linkage(original.to_numpy(), masked.to_numpy(), window)
        np.testing.assert_array_equal((logs == 0).sum(axis=1), found.size)


def test_a_window_over_all_records_rules_nothing_out() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    identified, confident = RankWindow(("a",), 1.0).play(pairs(frame, frame))
    assert identified.measured.value == pytest.approx(1 / 3)
    assert confident.measured.value == 0
