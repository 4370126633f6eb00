"""k-map as a rule."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.risk.classes.classes_with_missing_keys import matching_records
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.population.k_map import KMap, k_map
from sluice.risk.population.population_rule import population_frequencies
from tests.golden import golden
from tests.risk.population.weighted_survey import LIST, one, typed

KEYS = ["sex", "age"]


def frame_of(rows: list[tuple[Any, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=KEYS)
    return frame.assign(sex=frame["sex"].astype("category"), age=pd.array(frame["age"], dtype="Int64"))


POPULATION = frame_of([("f", 30), ("f", 30), ("f", 41), ("m", 30), ("m", 41), ("m", None)])
FILE = frame_of([("f", 30), ("m", 41), ("f", 50), ("m", None)])


def test_counts_by_hand() -> None:
    np.testing.assert_array_equal(population_frequencies(FILE, POPULATION, KEYS), [2, 1, 0, 1])
    # A record without an age fits anybody: ('m', None) all three men. The man of the list without one vouches for none.
    np.testing.assert_array_equal(population_frequencies(FILE, POPULATION, KEYS, missing_matches="any"), [2, 1, 0, 3])


def test_counts_of_a_table_stand_for_people() -> None:
    table = POPULATION.drop_duplicates()
    for missing in ("category", "any"):
        np.testing.assert_array_equal(
            population_frequencies(FILE, table, KEYS, np.array([2, 1, 1, 1, 1]), missing),
            population_frequencies(FILE, POPULATION, KEYS, missing_matches=missing),
        )


rows = st.lists(st.tuples(st.sampled_from(["f", "m", None]), st.sampled_from([1, 2, None])), min_size=1, max_size=15)


@given(rows, rows)
def test_agrees_with_comparing_every_pair(ours: list[tuple[Any, Any]], theirs: list[tuple[Any, Any]]) -> None:
    def fits(a: tuple[Any, Any], b: tuple[Any, Any], any_value: bool) -> bool:
        return all(x == y or (any_value and x is None) for x, y in zip(a, b, strict=True))

    for missing in ("category", "any"):
        found = population_frequencies(
            frame_of(ours).set_axis([0] * len(ours)), frame_of(theirs), KEYS, missing_matches=missing
        )
        assert found.tolist() == [sum(fits(a, b, missing == "any") for b in theirs) for a in ours]


@given(rows)
def test_a_file_that_is_its_own_population_has_k_map_equal_to_k_anonymity(ours: list[tuple[Any, Any]]) -> None:
    frame = frame_of(ours)
    np.testing.assert_array_equal(population_frequencies(frame, frame, KEYS), classes_of(frame, KEYS).frequencies)
    np.testing.assert_array_equal(
        population_frequencies(frame, frame, KEYS, missing_matches="any"), matching_records(frame, KEYS)
    )


def test_other_types_that_hold_the_same_values_fit() -> None:
    """A list read from a text file: texts beside categories, plain numbers beside nullable ones."""
    plain = pd.DataFrame({"sex": pd.array(["f", "f", None], dtype="str"), "age": [30.0, np.nan, 30.0]})
    np.testing.assert_array_equal(population_frequencies(FILE, plain, KEYS), [1, 0, 0, 0])
    np.testing.assert_array_equal(population_frequencies(FILE, plain, KEYS, missing_matches="any"), [1, 0, 0, 0])


@pytest.mark.parametrize("missing", ["category", "any"])
def test_an_empty_population_and_all_missing_keys(missing: str) -> None:
    assert population_frequencies(FILE, POPULATION.head(0), KEYS, missing_matches=missing).tolist() == [0] * 4
    nothing = frame_of([(None, None)])
    assert population_frequencies(nothing, POPULATION, KEYS, missing_matches=missing).tolist() == [
        6 if missing == "any" else 0
    ]


def test_the_smallest_frequency_is_k_and_lower_is_worse() -> None:
    measured = k_map(np.array([7, 3, 9]))
    assert (measured.value, measured.worse, measured.completed) == (3, "lower", 3)


def test_what_cannot_be_joined_is_refused() -> None:
    golden.refused(DataError, population_frequencies, FILE, POPULATION.rename(columns={"age": "agee"}), KEYS)
    golden.refused(DataError, population_frequencies, FILE, POPULATION.assign(age="30-39"), KEYS)
    golden.refused(DataError, population_frequencies, FILE, POPULATION, KEYS, np.array([1, 1, 1, 1, 1, -1]))
    golden.refused(DataError, population_frequencies, FILE, POPULATION, KEYS, np.array([1]))
    golden.refused(DataError, k_map, np.zeros(0, int))


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
