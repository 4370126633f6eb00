"""Groups of equal rows: beside pandas, whatever the order, with missing values, and refused without a column."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.row_groups import row_groups
from tests.golden import golden


def test_agrees_with_pandas():
    # Independent implementation: DataFrame.groupby(dropna=False), whose groups come in lexicographic order, too.
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 4, (500, 4)))
    groups = row_groups([frame[c].to_numpy() for c in frame])
    by = frame.groupby(list(frame), dropna=False)
    np.testing.assert_array_equal(groups.of, by.ngroup())
    np.testing.assert_array_equal(groups.size, by.size())


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", np.nan]), st.sampled_from([0.0, 1.5, np.nan])), min_size=1),
    st.randoms(use_true_random=False),
)
def test_missing_equals_missing_and_order_does_not_show(rows, random):
    def groups_of(rows):
        return row_groups([np.array([r[0] for r in rows], dtype=object), np.array([r[1] for r in rows])])

    groups = groups_of(rows)
    assert len(groups.size) == len({(str(a), str(b)) for a, b in rows})
    assert groups.size.sum() == len(rows)
    shuffled = random.sample(rows, len(rows))
    np.testing.assert_array_equal(groups_of(shuffled).size, groups.size)
    assert [str(shuffled[i]) for i in groups_of(shuffled).first] == [str(rows[i]) for i in groups.first]


def test_many_rows_are_grouped_as_few_are(monkeypatch):
    rng = np.random.default_rng(2)
    columns = [
        rng.choice([0.5, 1.5, np.nan], 3000), rng.normal(size=3000).round(1), rng.integers(0, 3, 3000),
        np.where(rng.random(3000) < 0.1, np.nan, rng.integers(0, 2**40, 3000)),
    ]  # fmt: skip
    for some in (columns[:1], columns[:3], columns):
        few = row_groups(some)
        monkeypatch.setattr("sluice.risk.row_groups._MANY", 100)
        for one, other in zip(vars(few).values(), vars(row_groups(some)).values(), strict=True):
            np.testing.assert_array_equal(one, other)
        monkeypatch.undo()
    assert len(few.size) > 2500


def test_one_row_and_no_column():
    assert row_groups([np.array([3.0])]).size.tolist() == [1]
    golden.refused(ValueError, row_groups, [])
