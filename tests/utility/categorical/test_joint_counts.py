import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.utility.categorical.category_losses import joint_counts
from sluice.utility.common_bins import CommonBins
from tests.golden import golden


def variable(original: list[int], masked: list[int], size: int = 4) -> CommonBins:
    labels = (*map(str, range(size - 1)), "missing")
    return CommonBins(
        "town", np.array(original, dtype=np.int64), np.array(masked, dtype=np.int64), np.eye(size), labels
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9)), max_size=40))
def test_the_counts_are_those_of_a_cross_table(rows: list[tuple[int, int, int]]) -> None:
    original, masked, weight = ([row[at] for row in rows] for at in range(3))
    expected = np.zeros((4, 4))
    for before, after, weighs in rows:
        expected[before, after] += weighs
    assert joint_counts(variable(original, masked), np.array(weight, dtype=float)).tolist() == expected.tolist()
    crossed = pd.crosstab(pd.Series(original, dtype=int), pd.Series(masked, dtype=int))
    crossed = crossed.reindex(index=range(4), columns=range(4), fill_value=0)
    assert joint_counts(variable(original, masked)).tolist() == crossed.to_numpy().tolist()


def test_no_record_counts_nothing_and_other_lengths_are_refused() -> None:
    assert joint_counts(variable([], [])).sum() == 0
    golden.refused(DataError, joint_counts, variable([0, 1], [0]))
    golden.refused(DataError, joint_counts, variable([0, 1], [0, 1]), np.ones(1))
