"""The risks of prosecutor, journalist and marketer as a rule."""

from pathlib import Path

import pytest

from sluice.ground.verdict import Verdict
from sluice.risk.population.reidentification_risk import ReidentificationRisk
from tests.golden import golden
from tests.policies.rules.weighted_survey import LIST, READING, SURVEY, VARIABLES, one, typed


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
