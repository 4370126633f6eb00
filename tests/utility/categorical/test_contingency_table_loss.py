from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.utility.categorical.category_losses import contingency_table_loss
from sluice.utility.common_bins import common_bins
from tests.typed_frame import typed_frame


def plainly(original: pd.DataFrame, masked: pd.DataFrame, order: int) -> int:
    """Torra (2013): the sum of |x - x'| over the cells of all tables of up to `order` variables."""
    lost = 0
    for size in range(1, order + 1):
        for names in combinations(original, size):
            before, after = (frame.groupby(list(names)).size() for frame in (original, masked))
            lost += int(before.sub(after, fill_value=0).abs().sum())
    return lost


def towns(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.choice(list("abc"), n) for name in ("x", "y", "z")})


@pytest.mark.chain
@given(st.integers(20, 60), st.integers(0, 9), st.integers(1, 3))
def test_the_sum_is_that_of_the_tables_themselves(n: int, seed: int, order: int) -> None:
    original, masked = towns(n, seed), towns(n, seed + 100)
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    found = contingency_table_loss(common_bins(before, before, after, variables, released), order)
    assert found.total == pytest.approx(plainly(original, masked, order))
    assert found.normalised == pytest.approx(found.total / (2 * n * found.tables))
    assert (found.tables, found.counted) == ({1: 3, 2: 6, 3: 7}[order],) * 2


def test_an_unchanged_file_and_half_of_it_twice_lose_nothing() -> None:
    original, variables = typed_frame(towns(50, 0))
    twice = pd.concat([original, original], ignore_index=True)
    assert contingency_table_loss(common_bins(original, original, original, variables, variables), 2).total == 0
    found = contingency_table_loss(common_bins(twice, twice, original, variables, variables), 2)
    assert found.total == pytest.approx(0, abs=1e-9)


def test_extremes() -> None:
    original, variables = typed_frame(towns(50, 0))
    suppressed = original.copy()
    for name in original:
        suppressed[name] = pd.Categorical([None] * 50, categories=original[name].cat.categories)
    found = contingency_table_loss(common_bins(original, original, suppressed, variables, variables), 9)
    assert (found.normalised, found.tables) == (1, 7)
    assert np.isnan(contingency_table_loss((), 2).total)
