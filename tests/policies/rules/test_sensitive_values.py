"""The values of a sensitive variable as a rule counts them."""

import numpy as np
import pandas as pd

from sluice.ground.variables import Harmless, Kind, Role, Variable
from sluice.risk.classes.class_values import ClassFigures, Near, SensitiveValues
from sluice.risk.classes.equivalence_classes import equivalence_classes

CLASSES = equivalence_classes([np.array([0, 0, 1, 1, 2])])


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
    assert values.all_harmless.tolist() == [True, False]


def test_the_worst_figure_is_of_the_classes_that_count() -> None:
    low = ClassFigures(np.array([1.0, 2.0, 3.0]), np.array([True, False, False]), worse="lower")
    assert (low.worst(~low.failing), low.worst(np.zeros(3, dtype=bool))) == (2.0, 1.0)
    assert ClassFigures(low.figures, low.failing).worst(~low.failing) == 3.0
