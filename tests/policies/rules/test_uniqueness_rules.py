from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from policies.rules.attribute_risk import AttributeRisk
from policies.rules.household_risk import HouseholdRisk
from policies.rules.individual_risk import IndividualRisk
from policies.rules.k_map import KMap
from policies.rules.loglinear_risk import LoglinearRisk
from policies.rules.population_uniques import PopulationUniques
from policies.rules.reidentification_risk import ReidentificationRisk
from sluice.errors import DataError
from sluice.variables import Kind, Role, Variable
from sluice.verdict import Finding, Verdict

QUASI = Role.QUASI_IDENTIFIER
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="sex", kind=Kind.NOMINAL, role=QUASI),
        Variable(name="age", kind=Kind.INTEGER, role=QUASI),
        Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT),
        Variable(name="household", kind=Kind.TEXT, role=Role.HOUSEHOLD),
    )
}
LIST = "sex,age,count\nf,30,20\nf,41,8\nm,30,5\nm,,1\n"


def typed(rows: list[tuple[Any, Any]], weight: float | list[float] = 10.0) -> pd.DataFrame:
    n = len(rows)
    return pd.DataFrame(
        {
            "sex": pd.Categorical([sex for sex, _ in rows]),
            "age": pd.array([age for _, age in rows], dtype="Int64"),
            "weight": weight,
            "household": pd.array([str(i // 2) for i in range(n)], dtype="str"),
        },
        index=[0] * n,
    )


SURVEY = typed([("f", 30), ("f", 30), ("f", 41), ("m", 30)])


def without(role: Role) -> dict[str, Variable]:
    return {name: variable for name, variable in VARIABLES.items() if variable.role is not role}


def one(rule: Any, frame: pd.DataFrame = SURVEY, variables: dict[str, Variable] = VARIABLES) -> Finding:
    (finding,) = rule.find(frame, variables, "masked", "women")
    assert finding.rule == rule.rule
    assert finding.stage == "masked"
    return finding


@pytest.fixture
def population(tmp_path: Path) -> str:
    path = tmp_path / "population.csv"
    path.write_text(LIST, encoding="utf-8")
    return str(path)


# k-map


def test_k_map_passes_with_enough_people_and_fails_with_too_few(population: str) -> None:
    passed = one(KMap(k=5, population=population))
    assert (passed.verdict, passed.observed, passed.completed) == (Verdict.PASS, 5, 4)
    assert passed.says == (
        "All women share sex and age with enough people of the population; the policy asks that at least 5 people fit "
        "every record."
    )
    failed = one(KMap(k=6, population=population))
    assert failed.verdict is Verdict.FAIL
    assert failed.says.startswith("25 % of the women share sex and age with too few people of the population; ")


def test_k_map_fails_where_the_list_lacks_a_record_unless_a_missing_key_fits(population: str) -> None:
    stranger = typed([("m", 77)])
    failed = one(KMap(k=2, population=population), stranger)
    assert (failed.verdict, failed.observed) == (Verdict.FAIL, 0)
    assert "with none at all, so that the list is not one of everybody" in failed.says
    assert one(KMap(k=2, population=population, missing_matches="any"), stranger).observed == 1  # the man of no age


def test_a_list_of_one_row_a_person_and_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text("sex,age\n" + "f,30\n" * 3, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert one(KMap(k=3, population="people.csv"), SURVEY.head(2)).verdict is Verdict.PASS


def test_dates_and_texts_in_a_list(tmp_path: Path) -> None:
    variables = {
        "born": Variable(name="born", kind=Kind.DATE, role=QUASI),
        "town": Variable(name="town", kind=Kind.TEXT, role=QUASI),
    }
    frame = pd.DataFrame(
        {"born": np.array(["2001-05-17", "NaT"], "datetime64[us]"), "town": pd.array(["x", None], dtype="str")}
    )
    path = tmp_path / "people.csv"
    path.write_text("town,born\nx,2001-05-17\nx,2001-05-17\n,\n,\n", encoding="utf-8")
    assert one(KMap(k=2, population=str(path)), frame, variables).observed == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("", "cannot be read"),
        ("sex,aeg\nf,30\n", r"no column 'age'\. Did you mean 'aeg'"),
        ("sex,age\nf,thirty\n", "values of 'age' that are no integer"),
        ("sex,age,count\nf,30,-1\n", "whole numbers of 0 or more in 'count'"),
        ("sex,age,count\nf,30,\n", "whole numbers of 0 or more in 'count'"),
    ],
)
def test_a_list_that_cannot_be_used_is_an_error(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "population.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=said) as error:
        KMap(k=2, population=str(path)).find(SURVEY, VARIABLES, "masked")
    assert "thirty" not in str(error.value)


# prosecutor, journalist, marketer


def test_each_limit_of_the_prosecutor_is_a_finding() -> None:
    rule = ReidentificationRisk(
        model="prosecutor", highest_at_most=0.5, average_at_most=0.75, records_above={"risk": 0.5, "at_most": 0.4}
    )
    highest, average, above = rule.find(SURVEY, VARIABLES, "masked", "women")
    assert [finding.verdict for finding in (highest, average, above)] == [Verdict.FAIL, Verdict.PASS, Verdict.FAIL]
    assert [finding.observed for finding in (highest, average, above)] == [1, 0.75, 0.5]
    assert "names the record most at risk with a chance of 100 %; the policy allows at most 50 %." in highest.says
    assert "expected to name 75 % of the women rightly" in average.says
    assert "names 50 % of the women with a chance above 50 %" in above.says
    assert highest.scope == "highest by sex, age"


def test_journalist_and_marketer_look_in_the_population(population: str) -> None:
    journalist = one(ReidentificationRisk(model="journalist", highest_at_most=0.2, population=population))
    assert (journalist.verdict, journalist.observed) == (Verdict.PASS, 0.2)
    marketer = one(ReidentificationRisk(model="marketer", average_at_most=0.1, population=population))
    assert (marketer.verdict, marketer.observed) == (Verdict.FAIL, pytest.approx((2 / 20 + 1 / 8 + 1 / 5) / 4))


def test_a_missing_key_of_the_file_matches_any_where_the_policy_says_so() -> None:
    frame = typed([("f", 30), ("f", None)])
    assert one(ReidentificationRisk(model="prosecutor", highest_at_most=0.5), frame).observed == 1
    lenient = ReidentificationRisk(model="prosecutor", highest_at_most=0.5, missing_matches="any")
    assert one(lenient, frame).observed == 0.5


# population uniques


def test_population_uniques_passes_fails_and_takes_the_population_from_the_weights() -> None:
    frame = typed([("f", age // 2) for age in range(40)] + [("m", age) for age in range(10)], 4.0)
    stated = one(PopulationUniques(at_most=0.5, population=200), frame)
    weighed = one(PopulationUniques(at_most=0.5), frame)
    fraction = one(PopulationUniques(at_most=0.5, sampling_fraction=0.25), frame)
    assert stated.verdict is weighed.verdict is fraction.verdict is Verdict.PASS
    assert stated.observed == weighed.observed == fraction.observed
    assert "of the population are alone with their combination of sex and age" in stated.says
    failed = one(PopulationUniques(at_most=0.01, estimator="zayatz", population=200), frame)
    assert failed.verdict is Verdict.FAIL
    assert failed.scope == "zayatz by sex, age"


def test_a_tiny_sample_with_uniques_needs_a_person_and_one_without_does_not() -> None:
    rule = PopulationUniques(at_most=0.9, population=10_000_000)
    tiny = one(rule)
    assert tiny.verdict is Verdict.REVIEW
    assert "Less than one person in 1,000 is in the file: a person must decide." in tiny.says
    assert one(rule, SURVEY.head(2)).verdict is Verdict.PASS


def test_an_estimator_that_does_not_fit_is_unknown() -> None:
    finding = one(PopulationUniques(at_most=0.5, estimator="pitman", population=200), typed([("f", 1), ("f", 2)]))
    assert (finding.verdict, finding.completed) == (Verdict.UNKNOWN, 0)
    assert "Pitman's estimator needs more than one class" in finding.says
    fewer = one(PopulationUniques(at_most=0.5, population=3))
    assert "at least the 4 records" in fewer.says


# log-linear model


def test_loglinear_risk_tells_both_figures() -> None:
    # Main effects: the unique (f, 41) has mu = 3/4, (m, 30) has 3/4; pi = 0.2.
    rule = LoglinearRisk(uniques_at_most=0.02, guesses_at_most=0.2, interactions="none", sampling_fraction=0.2)
    uniques, guesses = rule.find(SURVEY, VARIABLES, "masked", "women")
    assert uniques.observed == pytest.approx(2 * np.exp(-3) / 4)
    assert guesses.observed == pytest.approx(2 * (1 - np.exp(-3)) / 3 / 4)
    assert (uniques.verdict, guesses.verdict) == (Verdict.FAIL, Verdict.PASS)
    assert "are alone in the population with their keys; the policy allows at most 2 %." in uniques.says


def test_loglinear_risk_takes_the_fraction_from_the_weights() -> None:
    weighed = one(LoglinearRisk(uniques_at_most=0.5), SURVEY.assign(weight=5.0))
    stated = one(LoglinearRisk(uniques_at_most=0.5, sampling_fraction=0.2))
    assert weighed.observed == pytest.approx(stated.observed)
    census = one(LoglinearRisk(uniques_at_most=0.1), SURVEY.assign(weight=0.5))  # stands for itself
    assert (census.verdict, census.observed) == (Verdict.FAIL, 0.5)


# individual and household risk


def test_individual_risk_has_a_limit_on_the_highest_and_on_the_mean() -> None:
    highest, expected = IndividualRisk(highest_at_most=0.3, expected_at_most=0.1).find(SURVEY, VARIABLES, "masked")
    alone = 0.1 / 0.9 * np.log(10)
    assert (highest.verdict, highest.observed) == (Verdict.PASS, pytest.approx(alone))
    assert (expected.verdict, expected.completed) == (Verdict.FAIL, 4)
    assert "are expected to be named rightly by who looks it up in the population" in expected.says


def test_household_risk_is_above_the_individual_risks() -> None:
    finding = one(HouseholdRisk(highest_at_most=0.3))  # the last two records are one household
    assert finding.verdict is Verdict.FAIL
    assert finding.observed == pytest.approx(1 - (1 - 0.1 / 0.9 * np.log(10)) ** 2)
    assert one(HouseholdRisk(expected_at_most=0.5)).verdict is Verdict.PASS


# what cannot be judged

ESTIMATES: list[Any] = [
    PopulationUniques(at_most=0.9),
    LoglinearRisk(uniques_at_most=0.9),
    IndividualRisk(highest_at_most=0.9),
    HouseholdRisk(highest_at_most=0.9),
]


@pytest.mark.parametrize("rule", ESTIMATES, ids=lambda rule: rule.rule)
def test_without_usable_weights_nothing_is_judged(rule: Any) -> None:
    two = {**VARIABLES, "age": VARIABLES["age"].model_copy(update={"name": "age", "role": Role.WEIGHT})}
    gap = SURVEY.assign(weight=[1.0, np.nan, 1.0, 1.0])
    for frame, variables, why in (
        (SURVEY, without(Role.WEIGHT), "declares no variable with the role weight"),
        (SURVEY, two, "declares several variables with the role weight"),
        (gap, VARIABLES, "'weight' is missing or not more than 0 for some records"),
        (SURVEY.assign(weight="ten"), VARIABLES, "'weight' is not a column of numbers"),
    ):
        finding = one(rule, frame, variables)
        assert (finding.verdict, finding.attempted, finding.completed) == (Verdict.UNKNOWN, 4, 0)
        assert why in finding.says
    assert one(rule.model_copy(update={"weight": "weight"}), SURVEY, two).verdict is not Verdict.UNKNOWN


def test_without_a_household_or_with_a_gap_in_it_nothing_is_judged() -> None:
    rule = HouseholdRisk(highest_at_most=0.9)
    assert "one variable with the role household" in one(rule, SURVEY, without(Role.HOUSEHOLD)).says
    gap = one(rule, SURVEY.assign(household=pd.array(["a", None, "b", "b"], dtype="str")))
    assert gap.verdict is Verdict.UNKNOWN
    assert "1 of 4 have none" in gap.says


@pytest.mark.parametrize(
    "rule",
    [
        *ESTIMATES,
        KMap(k=2, population="nowhere.csv"),
        ReidentificationRisk(model="prosecutor", highest_at_most=0.5),
    ],
    ids=lambda rule: rule.rule,
)
def test_no_key_and_no_record_are_unknown_and_every_rule_describes_itself(rule: Any) -> None:
    assert one(rule, SURVEY, without(QUASI)).verdict is Verdict.UNKNOWN
    assert one(rule, SURVEY.head(0)).verdict is Verdict.UNKNOWN
    with pytest.raises(DataError, match="has no column 'aeg'"):
        rule.model_copy(update={"columns": ("aeg",)}).find(SURVEY, VARIABLES, "masked")
    assert rule.describe().endswith(".")
    assert type(rule).model_validate(rule.model_dump(mode="json")) == rule


@pytest.mark.parametrize(
    ("rule", "options", "said"),
    [
        (KMap, {"k": 1, "population": "p.csv"}, "greater than or equal to 2"),
        (ReidentificationRisk, {"model": "prosecutor"}, "needs at least one limit"),
        (ReidentificationRisk, {"model": "journalist", "highest_at_most": 0.1}, "population is needed"),
        (ReidentificationRisk, {"model": "prosecutor", "highest_at_most": 0.1, "population": "p"}, "not used by"),
        (ReidentificationRisk, {"model": "marketer", "highest_at_most": 0.1, "population": "p"}, "right links alone"),
        (ReidentificationRisk, {"model": "prosecutor", "highest_at_most": 20}, "Use 0.2"),
        (PopulationUniques, {"at_most": 0.1, "population": 9, "sampling_fraction": 0.1}, "not both"),
        (PopulationUniques, {"at_most": 5}, "less than 1"),
        (LoglinearRisk, {}, "needs at least one limit"),
        (IndividualRisk, {}, "needs at least one limit"),
        (HouseholdRisk, {"expected_at_most": 0}, "greater than 0"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        rule(**options)


def test_attribute_risk_judges_each_variable_by_itself() -> None:
    """Of 4 records, 1 area and 3 ages: the chance is the number of values over the number of records."""
    variables = {
        "area": Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER),
        "age": Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER),
        "blank": Variable(name="blank", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER),
    }
    frame = pd.DataFrame(
        {
            "area": pd.Categorical(["a"] * 4),
            "age": pd.array([30, 30, 40, 50], dtype="Int64"),
            "blank": [float("nan")] * 4,
        }
    )
    area, age, blank = AttributeRisk(at_most=0.25).find(frame, variables, "masked")
    assert (area.verdict, area.observed) == (Verdict.PASS, 0.25)
    assert (age.verdict, age.observed) == (Verdict.FAIL, 0.75)
    assert "age knows whose it is with a chance of 0.75; the policy allows at most 25 %" in age.says
    assert (blank.verdict, blank.completed) == (Verdict.UNKNOWN, 0)
