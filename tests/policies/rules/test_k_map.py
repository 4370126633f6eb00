"""k-map as a rule."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from policies.rules.k_map import KMap
from sluice.verdict import Verdict
from tests.policies.rules.weighted_survey import LIST, one, typed


@pytest.fixture
def population(tmp_path: Path) -> str:
    path = tmp_path / "population.csv"
    path.write_text(LIST, encoding="utf-8")
    return str(path)


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


def test_k_map_fails_where_the_list_lacks_a_record_and_nobody_of_unknown_age_vouches_for_it(population: str) -> None:
    stranger = typed([("m", 77)])
    failed = one(KMap(k=2, population=population), stranger)
    assert (failed.verdict, failed.observed) == (Verdict.FAIL, 0)
    assert "with none at all, so that the list is not one of everybody" in failed.says
    assert (
        one(KMap(k=2, population=population, missing_matches="any"), stranger).observed == 0
    )  # a man of no age is there


def test_a_threshold_out_of_bounds_is_refused() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 2"):
        KMap(k=1, population="p.csv")
