import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.classes.equivalence_classes import equivalence_classes
from sluice.risk.population.reidentification_risk import journalist_risk, prosecutor_risk


def test_five_records_by_hand() -> None:
    """Classes of 1, 2 and 2 records among 4, 10 and 2 people: 1/4, 1/10, 1/10, 1/2 and 1/2 for the journalist."""
    frequencies, population = np.array([1, 2, 2, 2, 2]), np.array([4, 10, 10, 2, 2])
    prosecutor, journalist = prosecutor_risk(frequencies), journalist_risk(frequencies, population)
    assert prosecutor.highest.value == 1
    assert prosecutor.average.value == pytest.approx(3 / 5)  # classes by records
    assert prosecutor.records_above(0.5).value == pytest.approx(1 / 5)  # one that equals it is not above
    assert journalist.highest.value == 0.5
    assert journalist.average.value == pytest.approx(1.45 / 5)
    assert journalist.records_above(0.2).value == pytest.approx(3 / 5)
    assert journalist.average.completed == 5


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20)), min_size=1, max_size=30))
def test_the_average_is_the_number_of_classes_and_a_population_never_adds_risk(rows: list[tuple[int, int]]) -> None:
    keys, population = np.array(rows).T
    classes = equivalence_classes([keys])
    prosecutor = prosecutor_risk(classes.frequencies)
    assert prosecutor.average.value == pytest.approx(len(classes.sizes) / len(keys))
    assert (journalist_risk(classes.frequencies, population).risks <= prosecutor.risks).all()


def test_all_alone_all_alike_and_one_record() -> None:
    assert prosecutor_risk(np.ones(9, int)).average.value == 1
    alike = prosecutor_risk(np.full(8, 8))
    assert (alike.highest.value, alike.average.value, alike.records_above(0.2).value) == (1 / 8, 1 / 8, 0)
    assert prosecutor_risk(np.ones(1, int)).highest.value == 1


def test_a_list_that_lacks_the_records_is_not_believed() -> None:
    assert journalist_risk(np.array([2]), np.array([0])).highest.value == 0.5
