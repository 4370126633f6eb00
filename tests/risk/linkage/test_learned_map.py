"""Maps over several columns: learned from few people, of numbers and categories, and within strata."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Variable
from sluice.risk.linkage.learned_map import LearnedMap
from sluice.risk.linkage.learned_rulers import by_distance, by_product
from sluice.risk.linkage.mapped_columns import MappedColumns
from tests.typed_frame import typed_frame

PEOPLE = 600
NAMES = list("abcdef")
RNG = np.random.default_rng(8)
VALUES = np.exp(0.4 * RNG.normal(size=(PEOPLE, 3)) @ RNG.normal(size=(3, 6)) + 0.3 * RNG.normal(size=(PEOPLE, 6)))
NUMBERS = {name: Variable(name=name, kind="continuous") for name in NAMES}
FRAME = pd.DataFrame(VALUES, columns=NAMES)
ROTATION = np.linalg.qr(np.random.default_rng(2).normal(size=(6, 6)))[0]
FACTOR = np.exp(np.random.default_rng(3).normal(size=(PEOPLE, 1)))


def found(masked: pd.DataFrame, scale: str, learners: int = 300, frame=FRAME, variables=NUMBERS) -> float:
    """The share of the last 300 people whose own record is nearest to where a map expects it."""
    columns = MappedColumns.of(frame, masked, variables, variables)
    learned = LearnedMap.learn(columns, scale, np.arange(learners))
    assert learned is not None
    people = np.arange(300, PEOPLE)
    expected = learned.expected(people)
    by_search = by_distance(expected, learned.all_points(at_once=0), people, 5)  # worked out when asked for
    there = by_product(expected, learned.points(np.arange(PEOPLE)), np.arange(PEOPLE), people, 5)
    assert by_search.found == pytest.approx(there.found)
    return float(there.found.mean())


@pytest.mark.parametrize("learners", [10, 40, 300])
def test_a_rotation_is_undone_by_ten_people(learners: int) -> None:
    assert found(pd.DataFrame(VALUES @ ROTATION, columns=NAMES), "values", learners) > 0.99


@pytest.mark.parametrize("learners", [25, 300])
def test_a_factor_of_each_record_hides_no_ratio(learners: int) -> None:
    assert found(pd.DataFrame(VALUES * FACTOR, columns=NAMES), "logarithms", learners) > 0.6
    assert found(pd.DataFrame(VALUES * FACTOR, columns=NAMES), "logarithms", 300) > 0.95


def test_products_are_seen_as_logarithms() -> None:
    products = pd.DataFrame(VALUES * np.roll(VALUES, 1, axis=1), columns=NAMES)
    assert found(products, "logarithms", 40) > 0.95


def test_records_of_others_are_found_by_chance_alone() -> None:
    others = FRAME.sample(frac=1, random_state=1).reset_index(drop=True)
    for scale in ("values", "normal scores", "logarithms", "values on three scales"):
        assert found(others, scale) < 0.02


def test_each_stratum_may_have_a_map_of_its_own() -> None:
    group = np.random.default_rng(4).integers(0, 3, PEOPLE)
    values = VALUES.copy()
    for each in range(3):
        turn = np.linalg.qr(np.random.default_rng(each).normal(size=(6, 6)))[0]
        values[group == each] = VALUES[group == each] @ turn
    labels, variables = typed_frame(pd.DataFrame({"group": list("xyz")}).iloc[group].reset_index(drop=True))
    frame, masked = (pd.concat([labels, pd.DataFrame(each, columns=NAMES)], axis=1) for each in (VALUES, values))
    assert found(masked, "values", 300, frame, {**variables, **NUMBERS}) > 0.95


def test_a_category_that_two_others_make_is_found_by_their_table() -> None:
    codes = np.random.default_rng(5).integers(0, 5, (PEOPLE, 6))
    mixed = (codes + np.roll(codes, 1, axis=1)) % 5
    texts = [pd.DataFrame(each, columns=NAMES).map(lambda code: f"label {code}") for each in (codes, mixed)]
    frame, variables = typed_frame(texts[0])
    masked = texts[1].astype({name: frame[name].dtype for name in NAMES})
    # Alternating sums are the same for two people of 5, so not everybody is alone.
    assert found(masked, "values", 300, frame, variables) > 0.5


def test_what_does_not_vary_teaches_nothing() -> None:
    still = pd.DataFrame(np.ones((PEOPLE, 6)), columns=NAMES)
    columns = MappedColumns.of(FRAME, still, NUMBERS, NUMBERS)
    assert LearnedMap.learn(columns, "values", np.arange(300)) is None
    nobody = MappedColumns.of(FRAME, FRAME, NUMBERS, NUMBERS).knowing([])
    assert LearnedMap.learn(nobody, "values", np.arange(300)) is None


UNITS = np.repeat(np.arange(PEOPLE), np.random.default_rng(6).integers(1, 5, PEOPLE))[:PEOPLE]
NUMBER = np.random.default_rng(7).permutation(PEOPLE)[UNITS].astype(float)
OF_UNIT = FRAME["a"].groupby(UNITS)
TOLD = {
    "total": OF_UNIT.transform("sum"),
    "lowest": OF_UNIT.transform("min"),
    "share": FRAME["a"] / OF_UNIT.transform("sum"),
    "how many are above the middle": (FRAME["a"] > FRAME["a"].quantile(0.6)).groupby(UNITS).transform("sum"),
    "the order of names": pd.Series(NUMBER),
}


@pytest.mark.parametrize("told", TOLD)
def test_what_follows_from_all_members_of_a_household_is_worked_out(told: str) -> None:
    values = TOLD[told]
    masked = FRAME.sample(frac=1, random_state=1).reset_index(drop=True).assign(a=values.to_numpy(float))
    alone = MappedColumns.of(FRAME, masked, NUMBERS, NUMBERS)
    households = alone.of_units(UNITS, NUMBER)
    assert households is not None
    people, reached = np.arange(300, PEOPLE), []
    for columns in (alone, households):
        learned = LearnedMap.learn(columns, "values", np.arange(300))
        assert learned is not None
        ranked = by_distance(learned.expected(people), learned.all_points(at_once=0), people, 1)
        reached.append(float(ranked.found.mean()))
    possible = values.nunique() / PEOPLE  # of records that show one value any may be the own one
    assert reached[1] > max(0.5 * possible, 2 * reached[0])


def test_nobody_with_others_makes_no_household() -> None:
    alone = np.arange(PEOPLE)
    assert MappedColumns.of(FRAME, FRAME, NUMBERS, NUMBERS).of_units(alone, alone.astype(float)) is None


def of_labels(codes: np.ndarray) -> pd.DataFrame:
    """Six categories of four labels, missing where the code is -1."""
    labels = np.array([*"pqrs", None], object)[codes]
    return pd.DataFrame(labels, columns=NAMES).astype(pd.CategoricalDtype(list("pqrs")))


def test_a_label_that_no_example_has_outweighs_nothing() -> None:
    rng = np.random.default_rng(7)
    codes, others = rng.integers(0, 3, (PEOPLE, 6)), rng.integers(0, 3, (PEOPLE, 6))
    others[PEOPLE - 3 :, 0] = [3, -1, -1]
    categories = {name: Variable(name=name, kind="nominal", categories=tuple("pqrs")) for name in NAMES}
    columns = MappedColumns.of(of_labels(codes), of_labels(others), categories, categories)
    learned = LearnedMap.learn(columns, "values", np.arange(300), linear=True)
    assert learned is not None
    assert np.abs(learned.points(np.arange(PEOPLE))).max() < 1e3


def test_what_categories_have_in_common_is_seen_under_codes_of_each_record() -> None:
    rng = np.random.default_rng(6)
    codes = rng.integers(-1, 4, (PEOPLE, 6))
    categories = {name: Variable(name=name, kind="nominal", categories=tuple("pqrs"), nullable=True) for name in NAMES}
    by_one = np.where(codes < 0, -1, (codes + rng.integers(0, 4, (PEOPLE, 1))) % 4)
    tables = rng.random((PEOPLE, 4)).argsort(axis=1)
    by_table = np.where(codes < 0, -1, np.take_along_axis(tables, np.maximum(codes, 0), axis=1))
    frame = of_labels(codes)
    apart, alike = "the differences of each record's codes", "which codes of each record are alike"
    assert found(of_labels(by_one), apart, frame=frame, variables=categories) > 0.5
    assert found(of_labels(by_table), alike, frame=frame, variables=categories) > 0.3
    assert found(of_labels(by_one), "values", frame=frame, variables=categories) < 0.2  # what is missing tells


def test_orders_of_some_rows_are_those_of_all() -> None:
    codes = np.random.default_rng(6).integers(-1, 4, (PEOPLE, 6))
    categories = {name: Variable(name=name, kind="nominal", categories=tuple("pqrs"), nullable=True) for name in NAMES}
    columns = MappedColumns.of(of_labels(codes), of_labels(codes), categories, categories)
    numbers = MappedColumns.of(FRAME, FRAME, NUMBERS, NUMBERS)
    rows = np.array([3, 17, 400])
    for all_of, order in ((numbers, "in_order"), (columns, "in_differences"), (columns, "in_patterns")):
        whole, some = getattr(all_of, order), getattr(all_of.take(rows), order)
        for one, other in zip(whole.known, some.known, strict=True):
            assert one.name == other.name
            assert one.values[rows].tolist() == other.values.tolist()


def test_two_categories_have_too_little_in_common() -> None:
    frame, two = of_labels(np.zeros((PEOPLE, 6), np.int64))[["a", "b"]], ("a", "b")
    variables = {name: Variable(name=name, kind="nominal", categories=tuple("pqrs")) for name in two}
    columns = MappedColumns.of(frame, frame, variables, variables)
    assert columns.in_differences is None
    assert columns.in_patterns is None
    assert LearnedMap.learn(columns, "which codes of each record are alike", np.arange(50)) is None
