"""Values in classes: near numbers are one value, and people are counted where they are known."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Harmless, Kind, Role, Variable
from sluice.risk.classes.class_values import Near, SensitiveValues, class_values
from sluice.risk.classes.equivalence_classes import equivalence_classes

CLASSES = equivalence_classes([np.array([0, 0, 1, 1, 2])])


def test_the_span_that_holds_most_comes_first_and_no_border_parts_it() -> None:
    classes = equivalence_classes([np.array([0, 0, 0, 0, 0, 1, 1])])
    numbers = np.array([0.5, 0.98, 0.99, 1.0, 1.48, 1.0, 5.0])
    found = class_values(classes, Near(numbers, 0.5))
    assert found.holder.tolist() == [0, 0, 1, 1]
    assert found.records.tolist() == [4, 1, 1, 1]  # 0.5 to 1.0, the lower one of two spans that hold as many
    assert found.share.tolist() == [0.8, 0.2, 0.5, 0.5]
    np.testing.assert_allclose(found.overall[found.value], [5 / 7, 1 / 7, 3 / 7, 1 / 7])  # of the whole file


def test_a_chain_of_near_numbers_is_as_many_values_as_its_length_has_widths() -> None:
    numbers = np.arange(0, 10, 0.1)
    found = class_values(equivalence_classes([np.zeros(100, dtype=int)]), Near(numbers, 1.0))
    assert 9 <= len(found.holder) <= 10


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20)), min_size=1, max_size=30), st.integers(0, 6))
def test_every_record_is_in_one_span_of_its_class(pairs: list[tuple[int, int]], width: int) -> None:
    label, numbers = (np.array(column) for column in zip(*pairs, strict=True))
    classes = equivalence_classes([label])
    found = class_values(classes, Near(numbers.astype(float), float(width)))
    assert np.bincount(found.holder, found.records).tolist() == classes.sizes.tolist()
    for holder in range(len(classes.sizes)):
        mine = np.sort(numbers[classes.labels == holder])
        most = max(int(((mine >= low) & (mine <= low + width)).sum()) for low in mine)
        assert found.records[found.holder == holder].max() == most
        fewest, beyond = 0, -1
        for number in mine:
            if number > beyond:
                fewest, beyond = fewest + 1, number + width
        assert fewest <= (found.holder == holder).sum() <= 2 * fewest
    assert ((found.overall > 0) & (found.overall <= 1)).all()


def test_people_are_counted_once_for_each_value() -> None:
    classes = equivalence_classes([np.array([0, 0, 0, 0])]).of_people(np.array([0, 0, 1, 1]))
    found = class_values(classes, np.array([0, 0, 0, 1]))
    assert (found.records.tolist(), found.share.tolist()) == ([2, 1], [1.0, 0.5])
    near = class_values(classes, Near(np.array([1.0, 1.1, 1.2, 9.0]), 0.5))
    assert near.share.tolist() == [1.0, 0.5]


def test_records_without_a_value_are_left_out() -> None:
    variable = Variable(name="pay", kind=Kind.CONTINUOUS, role=Role.SENSITIVE)
    values = SensitiveValues.of(CLASSES, pd.Series([1.0, np.nan, 2.0, 3.0, np.nan]), variable, 0.1)
    assert isinstance(values.values, Near)
    assert (values.rows.tolist(), values.values.numbers.tolist()) == ([0, 2, 3], [1.0, 2.0, 3.0])
    assert values.classes.sizes.tolist() == [1, 2]
    assert values.records_of(np.array([False, True])).tolist() == [3]
    assert values.sizes(np.array([True, True])) == [1, 2]


def test_dates_are_near_by_days_and_categories_are_themselves() -> None:
    day = Variable(name="day", kind=Kind.DATE, role=Role.SENSITIVE)
    dates = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"]))
    near = SensitiveValues.of(CLASSES, dates, day, 0.1).values
    assert isinstance(near, Near)
    assert np.diff(near.numbers).tolist() == [1.0] * 4
    assert isinstance(SensitiveValues.of(CLASSES, dates, day, None).values, np.ndarray)
    never = pd.Series(np.array(["2024-01-01", "9999-12-31", "0001-01-01", "2024-01-02", "NaT"], "datetime64[us]"))
    far = SensitiveValues.of(CLASSES, never, day, 0.1).values  # beyond what nanoseconds hold
    assert isinstance(far, Near)
    assert far.numbers[1] - far.numbers[0] == (np.datetime64("9999-12-31") - np.datetime64("2024-01-01")).astype(int)


def test_a_class_is_harmless_where_all_its_values_are() -> None:
    harmless = Harmless(values=("0",), why="most people have none")
    variable = Variable(name="gain", kind=Kind.INTEGER, role=Role.SENSITIVE, harmless=harmless)
    values = SensitiveValues.of(CLASSES, pd.Series([0, 0, 0, 5, None], dtype="Int64"), variable, 0.1)
    found = values.in_classes
    assert found.has_harmful.tolist() == [False, True]
    assert found.harmless is not None
    assert sorted(found.records[found.harmless].tolist()) == [1, 2]


def test_a_harmless_number_is_near_no_other() -> None:
    """Nothing earned, and next to nothing: within one width, and yet two answers."""
    harmless = Harmless(values=("0",), why="most people have none")
    plain = Variable(name="gain", kind=Kind.INTEGER, role=Role.SENSITIVE)
    gains = pd.Series([0, 1, 1000, 0, 1], dtype="Int64")
    different = [
        SensitiveValues.of(CLASSES, gains, variable, 0.1).in_classes.different.tolist()
        for variable in (plain, plain.model_copy(update={"harmless": harmless}))
    ]
    assert different == [[1, 2, 1], [2, 2, 1]]
