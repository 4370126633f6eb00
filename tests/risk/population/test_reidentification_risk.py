"""The risks of prosecutor, journalist and marketer as a rule."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.verdict import Verdict
from sluice.risk.classes.equivalence_classes import equivalence_classes
from sluice.risk.population.reidentification_risk import ReidentificationRisk, journalist_risk, prosecutor_risk
from tests.golden import golden
from tests.risk.population.weighted_survey import LIST, READING, SURVEY, VARIABLES, one, typed


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


@pytest.fixture
def population(tmp_path: Path) -> str:
    path = tmp_path / "population.csv"
    path.write_text(LIST, encoding="utf-8")
    return str(path)


def test_each_limit_of_the_prosecutor_is_a_finding() -> None:
    rule = ReidentificationRisk(
        model="prosecutor", highest_at_most=0.5, average_at_most=0.75, records_above={"risk": 0.5, "at_most": 0.4}
    )
    highest, average, above = rule.find(SURVEY, VARIABLES, "masked", "women", READING)
    assert [finding.verdict for finding in (highest, average, above)] == [Verdict.FAIL, Verdict.PASS, Verdict.FAIL]
    assert [finding.observed for finding in (highest, average, above)] == [1, 0.75, 0.5]
    golden(highest.says)
    golden(average.says)
    golden(above.says)
    assert highest.scope == "highest by sex, age"


def test_journalist_and_marketer_look_in_the_population(population: str) -> None:
    journalist = one(ReidentificationRisk(model="journalist", highest_at_most=0.2, population=population))
    assert (journalist.verdict, journalist.observed) == (Verdict.PASS, 0.2)
    marketer = one(ReidentificationRisk(model="marketer", average_at_most=0.1, population=population))
    assert (marketer.verdict, marketer.observed) == (Verdict.FAIL, pytest.approx((2 / 20 + 1 / 8 + 1 / 5) / 4))


def test_a_missing_key_of_the_file_matches_any_where_the_policy_says_so() -> None:
    frame = typed([("f", 30), ("f", 30), ("f", None)])
    assert one(ReidentificationRisk(model="prosecutor", highest_at_most=0.5), frame).observed == 1
    lenient = ReidentificationRisk(model="prosecutor", highest_at_most=0.5, missing_matches="any")
    assert one(lenient, frame).observed == 0.5
    alone = typed(
        [("f", 30), ("f", None), ("f", None)]
    )  # records that show less do not hide the one that shows its age
    assert one(lenient, alone).observed == 1
