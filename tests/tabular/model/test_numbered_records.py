"""Records of columns: values, weights, contributors and holdings, and what is refused."""

from typing import Any

import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Asking, Measure, Requested
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.p_percent import PPercent
from tests.golden import golden

FLAT = Dimension.flat("a", ["x", "y", "z"])


def frame(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def added(given: pd.DataFrame, measure: Measure) -> Cells:
    return records_of(given, [FLAT], measure).cells([FLAT])


def test_negative_contributions() -> None:
    given = frame(a=["x", "x", "y", "y"], value=[-30, 10, 5, 5], id=["one", "two", "one", "three"])
    cells = added(given, Measure("value", "id", negative="absolute"))
    assert cells.total.tolist() == [-10, -20, 10]
    assert cells.contributions.total.tolist() == [40, 40, 10]  # of 'one' 25 in all, of 'two' 10, of 'three' 5
    assert cells.largest[0, :3].tolist() == [25, 10, 5]
    assert cells.largest[1, :2].tolist() == [30, 10]


def test_missing_and_zero_values() -> None:
    given = frame(a=["x", "x", "y"], value=["0", "", "7"], id=["one", "two", "three"])
    made = records_of(given, [FLAT], Measure("value", "id", missing="leave_out"))
    cells = made.cells([FLAT])
    assert made.left_out == 1
    assert len(cells) == 3  # the total, x and y; z is empty
    assert cells.contributors.tolist() == [2, 1, 1]  # who contributes 0 counts


def test_decimals() -> None:
    given = frame(a=["x", "x", "y"], value=["0.1", "2.675", "7"], id=["one", "two", "three"])
    assert records_of(given, [FLAT], Measure("value", "id")).value.tolist() == [100, 2675, 7000]
    rounded = records_of(given, [FLAT], Measure("value", "id", decimals=2))
    assert rounded.value.tolist() == [10, 268, 700]  # exactly half: to the even one, which binary numbers miss
    assert rounded.decimals == 2
    as_numbers = given.assign(value=[0.1, 2.675, 7])
    assert records_of(as_numbers, [FLAT], Measure("value", "id", decimals=2)).value.tolist() == [10, 268, 700]
    fine = given.assign(value=["0.1234567", "1", "1"])
    assert records_of(fine, [FLAT], Measure("value", "id", decimals=6)).value[0] == 123457


def test_counts() -> None:
    given = frame(a=["x", "x", "y"], id=["one", "one", "two"])
    alone = added(given, Measure())
    assert (alone.total.tolist(), alone.contributors.tolist()) == ([3, 2, 1], [3, 2, 1])
    by_id = added(given, Measure(contributor="id"))
    assert (by_id.total.tolist(), by_id.contributors.tolist()) == ([3, 2, 1], [2, 1, 1])
    assert by_id.largest[0].tolist() == [2, 1, 0, 0, 0]


def test_holdings() -> None:
    """{700, 200 | 60, 40, 10}: safe by record and unsafe by enterprise at p = 10, if 700 and 200 are of one."""
    given = frame(a=["x"] * 5, value=[700, 200, 60, 40, 10], id=list("abcde"), holding=["h", "h", "i", "", "b"])
    rule = PPercent(p=10)
    by_record = added(given, Measure("value", "id"))
    by_holding = records_of(given, [FLAT], Measure("value", "id", "holding"))
    cells = by_holding.cells([FLAT])
    assert not rule.sensitive(by_record.contributions)[0]
    assert rule.sensitive(cells.contributions)[0]
    assert cells.contributors[0] == 4  # who belongs to nobody counts alone, and holding 'b' is not contributor 'b'
    assert cells.largest[0].tolist() == [900, 60, 40, 10, 0]
    assert by_holding.added_up == 0  # no contributor twice in a cell


def test_duplicates() -> None:
    given = frame(a=["x", "x", "y"], value=[1, 2, 4], id=["one", "one", "one"])
    made = records_of(given, [FLAT], Measure("value", "id"))
    assert made.added_up == 1
    assert made.cells([FLAT]).largest[:, 0].tolist() == [7, 3, 4]


def test_codes_that_are_no_leaves() -> None:
    tree = Dimension.of("a", [("T", ""), ("A", "T"), ("A01", "A"), ("A02", "A"), ("NA", "T")])
    given = frame(a=["A01", "A", "A1", "A1", "", "NA"])
    with golden.raises(DataError):
        records_of(given, [tree], Measure())
    numbers = frame(a=[1, 1, 2])
    flat = Dimension.flat("a", ["1", "01", "2"])
    counted = records_of(numbers, [flat], Measure()).cells([flat])
    assert counted.total.tolist() == [3, 2, 1]  # the number 1 is the code '1', not '01'


def test_who_asked_for_protection_is_told_by_any_of_its_records() -> None:
    """Also by one without a value; a holding asks by any of its members, and nobody by a record of another's."""
    given = frame(
        a=["x", "x", "y", "z"],
        value=["1", "", "3", "4"],
        id=["one", "one", "two", "three"],
        group=["", "", "g", "g"],
        asks=["no", "yes", "yes", "no"],
    )
    told = records_of(given, [FLAT], Measure("value", "id", missing="leave_out"), Requested("asks", "yes", "no"))
    assert told.names is not None
    assert sorted(told.names[list(told.asking.now)]) == ["one", "two"]
    assert sorted(told.names[list(told.asking.before)]) == ["one", "three"]
    held = records_of(given, [FLAT], Measure("value", "id", "group", missing="leave_out"), Requested("asks", "yes"))
    assert held.names is not None
    assert sorted(held.names[list(held.asking.now)]) == ["contributor one", "holding g"]
    alone = records_of(
        given.drop(columns="id"), [FLAT], Measure("value", missing="leave_out"), Requested("asks", "yes")
    )
    assert alone.asking == Asking((1,))


ARGUS = {"weight": "weight", "weight_rule": "argus"}


@pytest.mark.parametrize(
    ("change", "measure"),
    [
        ({"value": ["1", "x1"]}, ARGUS),
        ({"value": ["1", "NA"]}, ARGUS),
        ({"value": [1.0, float("inf")]}, ARGUS),
        ({"value": ["1", "nan"]}, ARGUS),
        ({"id": ["one", ""]}, ARGUS),
        ({"id": ["one", None]}, ARGUS),
        ({"weight": [1, 0.5]}, ARGUS),
        ({"weight": [1, None]}, ARGUS),
        ({"weight": ["1.000001", "2"], "value": ["0.5", "1"]}, ARGUS),
        ({"a": [0.5, 1.0]}, ARGUS),
        ({"value": [-30, 10]}, {}),
        ({"value": ["0", ""]}, {}),
        ({"value": ["", ""]}, {"missing": "leave_out"}),
        ({"value": ["0.1234567", "1"]}, {}),
        ({"value": ["1e16", "1"]}, {}),
        ({"a": ["x", "x"], "id": ["one", "one"]}, {"duplicates": "refuse"}),
        ({"id": ["one", ""]}, {"contributor": None, "holding": "id"}),
        # Records that were left out, and the index of a frame, move no number.
        (
            {"a": ["x"] * 4, "value": ["", "1", "", "x1"], "id": list("pqrs"), "weight": [1] * 4},
            {"missing": "leave_out"},
        ),
    ],
)
def test_records_that_cannot_be_added_up(change: dict[str, list[object]], measure: dict[str, Any]) -> None:
    given = {"a": ["x", "y"], "value": ["1", "2"], "id": ["one", "two"], "weight": ["1", "2"]} | change
    with golden.raises(DataError) as refusal:
        records_of(frame(**given).set_axis(range(7, 7 + len(given["a"]))), [FLAT],
                   Measure(**{"value": "value", "contributor": "id", **measure}))  # fmt: skip
    assert "30" not in str(refusal.value)


def test_unsigned_numbers_that_are_too_large_are_not_read_as_negative_ones() -> None:
    """By their absolute values they would be protected as other numbers."""
    given = frame(a=["x", "y"], value=[2**64 - 5, 3]).astype({"value": "uint64"})
    with golden.raises(DataError):
        records_of(given, [FLAT], Measure("value", negative="absolute"))
