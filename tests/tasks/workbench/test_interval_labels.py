"""Labels of intervals as other programs write them are read back; anything else is left alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.number_groups import labels
from sluice.masking.recoding.value_groups import interval_codes
from tasks.workbench.masked_file import by_interval

AGES = pd.Series(pd.array([20, 29, 30, 39, None], dtype="Int64"))


@pytest.mark.parametrize(
    "written",
    [
        ["20-29", "30-39"],  # ARX's hierarchies of Adult
        ["[20, 30[", "[30, 40["],  # ARX's intervals
        ["[20,30)", "[30,40]"],  # sdcMicro's globalRecode, closed on the left
        ["(19,29]", "(29,39]"],  # and on the right
        ["20 to 29", "30 to 39"],  # Sluice
        ["under 30", "30 and over"],
        ["<30", ">=30"],
        ["20 to under 30", "30+"],
    ],
    ids=str,
)
def test_each_number_has_the_label_that_holds_it(written: list[str]) -> None:
    found = by_interval(AGES, written)
    assert found is not None
    assert found.tolist()[:4] == [written[0], written[0], written[1], written[1]]
    assert found.isna().tolist() == [False] * 4 + [True]


def test_a_number_that_no_label_holds_is_missing() -> None:
    found = by_interval(AGES, ["20-29"])
    assert found is not None
    assert found.isna().tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("written", [[], ["young", "old"], ["20-39", "30-39"], ["20-29", "other"], ["70-79"]], ids=str)
def test_other_labels_and_overlapping_ones_are_not_read(written: list[str]) -> None:
    assert by_interval(AGES, written) is None


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=5, unique=True).map(sorted), st.booleans())
def test_what_sluice_writes_is_read_as_it_was_meant(cuts: list[int], whole: bool) -> None:
    ends = np.array([-np.inf, *cuts, np.inf])
    written = labels(ends, whole)
    values = np.arange(-60.0, 60.0)
    found = by_interval(pd.Series(values), written)
    assert found is not None
    assert found.cat.codes.tolist() == interval_codes(values, ends, len(written)).tolist()
