"""k-map as a rule."""

from pathlib import Path

import pytest

from sluice.ground.verdict import Verdict
from sluice.risk.population.k_map import KMap
from tests.golden import golden
from tests.policies.rules.weighted_survey import LIST, one, typed


@pytest.fixture
def population(tmp_path: Path) -> str:
    path = tmp_path / "population.csv"
    path.write_text(LIST, encoding="utf-8")
    return str(path)


def test_k_map_passes_with_enough_people_and_fails_with_too_few(population: str) -> None:
    passed = one(KMap(k=5, population=population))
    assert (passed.verdict, passed.observed, passed.completed) == (Verdict.PASS, 5, 4)
    golden(passed.says)
    failed = one(KMap(k=6, population=population))
    assert failed.verdict is Verdict.FAIL
    golden(failed.says)


def test_k_map_fails_where_the_list_lacks_a_record_and_nobody_of_unknown_age_vouches_for_it(population: str) -> None:
    stranger = typed([("m", 77)])
    failed = one(KMap(k=2, population=population), stranger)
    assert (failed.verdict, failed.observed) == (Verdict.FAIL, 0)
    golden.words(failed.says)
    assert (
        one(KMap(k=2, population=population, missing_matches="any"), stranger).observed == 0
    )  # a man of no age is there
