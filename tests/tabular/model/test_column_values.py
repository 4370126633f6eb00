"""Whole numbers of units.

What is said of records that fit no table: the nearest code, and why numbers are no codes.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError, MeasureChoiceError
from sluice.tabular.model.column_values import (
    duplicates,
    halves_to_even,
    missing_value,
    negative_value,
    no_leaf,
    too_fine,
)
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden


@given(st.integers(-(10**6), 10**6), st.sampled_from([1, 2, 10, 1000]))
def test_halves_go_to_the_even_one(numerator: int, denominator: int) -> None:
    assert halves_to_even(np.array([numerator]), denominator)[0] == round(Fraction(numerator, denominator))


@pytest.mark.parametrize(
    ("refusal", "document", "command"),
    [
        (missing_value("turnover", 3), "(missing: leave_out)", "(--set measure.missing=leave_out)"),
        (negative_value("turnover", 3), "(negative: absolute)", "(--set measure.negative=absolute)"),
        (duplicates("firm", 3), "(duplicates: add)", "(--set measure.duplicates=add)"),
        (too_fine("turnover"), "(decimals)", "(--set measure.decimals=...)"),
    ],
)
def test_another_setting_is_named_as_documents_and_commands_write_it(
    refusal: DataError, document: str, command: str
) -> None:
    assert isinstance(refusal, MeasureChoiceError)
    assert document in str(refusal)
    assert command in refusal.for_command


def test_a_code_that_lost_its_zeros_is_found_again() -> None:
    nace = Dimension.of("nace", [("Total", ""), ("01.1", "Total"), ("10.1", "Total"), ("02", "Total")])
    says = no_leaf(nace, {"1.1": 3, "2": 1, "10.11": 1})
    golden(says)
