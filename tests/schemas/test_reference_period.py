"""The reference period of a data set: declared, found in the data, or refused."""

from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from schemas.contract import Contract
from schemas.reference_period import ReferencePeriod, period_of
from sluice.ground.errors import DataError
from tests.golden import golden

MONTH = {"length": "month", "column": "month"}


def contract(asked: dict[str, Any], **column: Any) -> Contract:
    variables = [{"name": "age", "kind": "integer"}, {"name": "month", "kind": "text", **column}]
    return Contract.model_validate(
        {"dataset": "people", "version": 1, "variables": variables, "reference_period": asked}
    )


@pytest.mark.parametrize("kind", ["text", "integer", "date", "nominal"])
def test_a_column_that_tells_of_nobody_may_hold_it(kind: str) -> None:
    assert contract(MONTH, kind=kind).reference_period == ReferencePeriod(length="month", column="month")


@pytest.mark.parametrize("role", ["quasi_identifier", "sensitive", "identifier", "household", "weight"])
def test_what_tells_of_somebody_is_refused(role: str) -> None:
    """The newest of many dates of discharge is one patient's; the period is published."""
    kind = "integer" if role == "weight" else "text"
    with golden.raises(ValidationError):
        contract(MONTH | {"of": "latest"}, role=role, kind=kind)


@pytest.mark.parametrize(
    "asked",
    [
        {"length": "month"},
        MONTH | {"fixed": "2025-03"},
        {"length": "month", "column": "mnth"},
        {"length": "month", "fixed": 2025},
        {"length": "year", "fixed": 2025, "of": "latest"},
        {"length": "fortnight", "column": "month"},
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(asked: dict[str, Any]) -> None:
    with golden.raises(ValidationError):
        contract(asked)


def test_a_continuous_number_is_no_period() -> None:
    with golden.raises(ValidationError):
        contract(MONTH, kind="continuous")


def found(values: list[Any], of: str = "all", length: str = "month", dtype: str | None = None) -> str:
    asked = ReferencePeriod.model_validate({"length": length, "column": "month", "of": of})
    return period_of(asked, pd.Series(values, dtype=dtype or "str")).text


def test_the_period_of_the_data() -> None:
    assert found(["2025-03", "2025-03"]) == "2025-03"
    assert found([202503, 202503], dtype="Int64") == "2025-03"
    assert found(["2025-03", "2025-M03"]) == "2025-03"  # two spellings, one month
    assert found(["2025-03", "2025-11", None], of="latest") == "2025-11"
    dates = [pd.Timestamp("2025-03-01"), pd.Timestamp("2025-03-31 23:59")]
    assert found(dates, dtype="datetime64[us]") == "2025-03"
    assert period_of(ReferencePeriod(length="year", fixed=2025), None).text == "2025"


@pytest.mark.parametrize(
    ("values", "of"),
    [
        (["2025-03", "2025-04"], "all"),
        (["2025-03", None], "all"),
        ([None, None], "latest"),
        ([], "latest"),
        (["2025-03", "hidden-7193"], "latest"),
    ],
)
def test_data_that_say_no_period_are_refused_without_a_value(values: list[Any], of: str) -> None:
    with golden.raises(DataError) as refused:
        found(values, of)
    assert "7193" not in str(refused.value)
    assert "2025-04" not in str(refused.value)
