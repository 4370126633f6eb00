"""What is said of records that fit no table: the nearest code, and why numbers are no codes."""

import pytest

from sluice.ground.errors import DataError, MeasureChoiceError
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.refusals import duplicates, missing_value, negative_value, no_leaf, too_fine
from tests.golden import golden


@pytest.mark.parametrize(
    ("refusal", "document", "command"),
    [
        (missing_value("turnover", 3), "(missing: leave_out)", "(--missing leave_out)"),
        (negative_value("turnover", 3), "(negative: absolute)", "(--negative absolute)"),
        (duplicates("firm", 3), "(duplicates: add)", "(--duplicates add)"),
        (too_fine("turnover"), "(decimals)", "(--decimals)"),
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
    assert "'10.11' (Did you mean '10.1'?)" in says
