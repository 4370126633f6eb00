"""A contract for a table that has none: kinds by the values, roles and better knowledge from the user."""

import pandas as pd

from schemas.reading.contract_draft import inferred_contract
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Role
from tests.golden import golden


def test_kinds_are_inferred() -> None:
    table = pd.DataFrame(
        {
            "code": ["01", "02", ""],
            "whole": ["1", "-20", "NA"],
            "number": ["1.5", "2", "1e-3"],
            "day": ["2020-01-01", "2020-01-02", ""],
            "word": ["NA", "x", "?"],
            "empty": ["", "", ""],
            "zero": ["0", "00", "1"],
        }
    ).convert_dtypes(dtype_backend="pyarrow")
    found = inferred_contract(table, "t", {}).by_name
    assert {name: variable.kind for name, variable in found.items()} == {
        "code": Kind.NOMINAL,
        "whole": Kind.INTEGER,
        "number": Kind.CONTINUOUS,
        "day": Kind.DATE,
        "word": Kind.NOMINAL,
        "empty": Kind.NOMINAL,
        "zero": Kind.NOMINAL,
    }
    assert found["whole"].missing_codes == ("NA",)
    assert found["word"].missing_codes == ()
    assert [name for name, variable in found.items() if variable.nullable] == ["code", "whole", "day", "empty"]


def test_the_user_knows_better() -> None:
    table = pd.DataFrame({"floor": ["10", "9", "NA"], "size": ["S", "M", "S"], "weight": ["1.5", "2", "3"]})
    kinds = {"floor": Kind.ORDINAL, "size": Kind.ORDINAL}
    found = inferred_contract(table, "t", {Role.WEIGHT: "weight"}, kinds).by_name
    assert found["floor"].categories == ("9", "10")  # by their numbers
    assert found["floor"].missing_codes == ("NA",)
    assert found["size"].categories == ("M", "S")
    assert found["weight"].role is Role.WEIGHT


def test_truth_values_in_several_spellings_are_two_categories() -> None:
    found = inferred_contract(pd.DataFrame({"x": ["yes", "NO", "true", "off"]}), "t", {}).by_name["x"]
    assert (found.kind, found.categories) == (Kind.BINARY, ("false", "true"))


def test_refusals() -> None:
    with golden.raises(DataError):
        inferred_contract(pd.DataFrame({"x": ["a", "b", "c"]}), "t", {Role.WEIGHT: "x"})
    with golden.raises(DataError):
        inferred_contract(pd.DataFrame({"": ["a"]}), "t", {})
