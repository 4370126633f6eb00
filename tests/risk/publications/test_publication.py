"""The same people are found whatever the files are called, and other people are not taken for them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.publications import publication
from sluice.risk.publications.publication import same_people
from tests.flows.house import survey

COLUMNS = ["age", "sex", "region", "town", "income"]


def linked(first: pd.DataFrame, second: pd.DataFrame, columns: list[str] = COLUMNS) -> tuple[int, float]:
    """How many were found, and the share of pairs with equal values in all columns."""
    found = same_people(first, second, columns)
    if found is None:
        return 0, 0.0
    mine = first.iloc[found.earlier][columns].to_numpy()
    theirs = second.iloc[found.later][columns].to_numpy()
    assert len(set(found.earlier)) == len(found.earlier)
    assert len(set(found.later)) == len(found.later)
    return len(found.earlier), float((mine == theirs).all(axis=1).mean())


def test_people_in_another_order_with_one_less_are_found_without_a_key() -> None:
    first = survey(2000)
    second = first.drop(index=17).sample(frac=1, random_state=1)
    assert linked(first, second) == (1999, 1.0)
    assert linked(first, second, ["sex", "region", "town"]) == (1999, 1.0)  # though nobody is alone with these


def test_a_changed_value_of_people_who_are_alone_hides_nobody() -> None:
    first = survey(2000).assign(income=lambda each: each["income"] + each.index / 4096)
    second = first.copy()
    second.loc[:99, "town"] = np.where(second.loc[:99, "town"] == "Aldby", "Borgen", "Aldby")
    count, equal = linked(first, second)
    assert (count, equal) == (2000, 0.95)


def test_other_people_are_not_the_same_though_their_keys_are() -> None:
    first, second = survey(2000, 1), survey(2000, 2)
    assert linked(first, second) == (0, 0.0)
    assert linked(first, second, ["sex", "region"]) == (0, 0.0)
    assert same_people(first, second, COLUMNS, first["person"], second["person"]) is None


def test_a_few_of_the_same_people_among_others_are_found() -> None:
    first = survey(2000, 1)
    second = pd.concat([survey(2000, 2), first.iloc[:100]], ignore_index=True)
    count, _ = linked(first, second)
    assert count >= 90


def test_by_their_keys_people_are_found_whose_values_changed() -> None:
    first = survey(2000)
    second = first.assign(income=first["income"] * 1.1, age=first["age"] + 1).sample(frac=1, random_state=1)
    found = same_people(first, second, COLUMNS, first["person"], second["person"])
    assert np.array_equal(first["person"].to_numpy()[found.earlier], second["person"].to_numpy()[found.later])
    assert len(found.earlier) == 2000


@given(st.integers(1, 40), st.integers(0, 1000))
def test_nobody_is_in_two_pairs(values: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = pd.DataFrame({"a": rng.integers(0, values, 60), "b": rng.normal(size=60).round(1)})
    second = first.sample(40, random_state=seed)
    found = same_people(first, second, ["a", "b"])
    if found is not None:
        assert len(set(found.earlier)) == len(found.earlier) == len(set(found.later)) <= 40


@pytest.mark.parametrize("count", [0, 1])
def test_a_file_of_nobody_or_one_holds_nobody_again(count: int) -> None:
    assert same_people(survey(200), survey(200).iloc[:count], COLUMNS) is None


def test_files_that_share_nobody_are_compared_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    """Of groups of one, the squares of floating point may say a variance below 0."""
    first = pd.DataFrame({"income": np.arange(8124.0)})
    assert linked(first, first.iloc[:8000] + 0.5, ["income"]) == (0, 0.0)
    assert [str(each.message) for each in recwarn] == []


@pytest.mark.parametrize(
    "moving", [["month"], ["month", "age"], ["month", "weight", "age"], ["a", "b", "c", "age", "d"]]
)
@pytest.mark.parametrize("count", [300, 3000])
def test_columns_that_differ_for_everybody_hide_nobody(moving: list[str], count: int) -> None:
    rng = np.random.default_rng(1)
    hours = {name: rng.integers(0, 60, (2, count)) for name in "abcd"}  # of the week that an edition is of
    first = survey(count).assign(
        month="May", weight=rng.random(count), **{name: each[0] for name, each in hours.items()}
    )
    changed = {"month": "June", "weight": rng.random(count), "age": first["age"] + 1}
    changed |= {name: each[1] for name, each in hours.items()}
    second = first.assign(**{name: changed[name] for name in moving}).sample(frac=0.98, random_state=1)
    found = same_people(first, second, [*COLUMNS, *(name for name in moving if name not in COLUMNS)])
    assert found is not None
    right = first["person"].to_numpy()[found.earlier] == second["person"].to_numpy()[found.later]
    assert right.sum() >= 0.85 * len(second)


@pytest.mark.parametrize(("share", "columns"), [(0.6, 4), (0.3, 8)])
def test_columns_that_differ_for_some_hide_nobody(share: float, columns: int) -> None:
    """Somebody is equal in all columns, as chance will have it: the others are found by fewer."""
    rng, names = np.random.default_rng(1), [f"answer {number}" for number in range(columns)]
    first = survey(2000).drop(columns="income")
    answers = rng.integers(0, 60, (2, columns, 2000))
    answers[1] = np.where(rng.random((columns, 2000)) < share, answers[1], answers[0])
    before, after = (first.assign(**dict(zip(names, each, strict=True))) for each in answers)
    found = same_people(before, after.drop(index=17), ["age", "sex", "region", "town", *names])
    assert found is not None
    assert len(found.earlier) >= 0.99 * len(first)
    keys = [
        frame[["age", "sex", "region", "town"]].to_numpy()[rows]
        for frame, rows in ((first, found.earlier), (after.drop(index=17), found.later))
    ]
    assert (keys[0] == keys[1]).all()
    others = survey(2000, 5).assign(**dict(zip(names, answers[1], strict=True)))
    assert same_people(before, others, ["age", "sex", "region", "town"]) is None


@pytest.mark.parametrize("seed", range(10))
def test_other_people_are_not_the_same_though_a_column_differs_for_everybody(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (survey(600, at).assign(month=str(at), weight=rng.random(600)) for at in (seed, seed + 100))
    assert same_people(first, second, [*COLUMNS, "month", "weight"]) is None


def test_samples_with_quotas_are_not_the_same_people() -> None:
    """As many of each sex and region in both: what they share is the design, nobody's record."""
    cells = survey(600)[["sex", "region"]]
    first, second = (
        cells.assign(age=survey(600, seed)["age"], income=survey(600, seed)["income"] + seed / 7, month=str(seed))
        for seed in (1, 2)
    )
    assert same_people(first, second, ["sex", "region", "age", "income", "month"]) is None


def test_people_are_found_by_a_sample_of_files_of_unlike_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which records are looked at follows from their values alone: both files leave out the same people."""
    monkeypatch.setattr(publication, "_SAMPLE", 100)
    first = survey(4000).assign(income=lambda each: each["income"] + each.index / 4096)
    second = first.assign(age=first["age"] + 1).sample(700, random_state=1)
    found = same_people(first, second, COLUMNS)
    assert found is not None
    assert len(found.earlier) >= 600


def test_new_keys_and_another_month_do_not_part_people_from_themselves() -> None:
    first = survey(2000).assign(month="May", income=lambda each: each["income"] + each.index / 4096)
    second = first.assign(month="June", person=lambda each: each["person"].where(each.index < 1500, -each.index))
    found = same_people(first, second, [*COLUMNS, "month"], first["person"], second["person"])
    assert found is not None
    assert (len(found.earlier), bool((found.earlier == found.later).all())) == (2000, True)


def test_people_whose_age_grew_in_between_are_found_without_a_key() -> None:
    """They are one of few dozen kinds of people, so that nothing but the amount tells that they moved."""
    first = survey(3000)[["age", "sex", "town"]]
    second = first.assign(age=first["age"] + (np.arange(len(first)) % 12 == 0))
    found = same_people(first, second.iloc[::-1].reset_index(drop=True), list(first))
    assert found is not None
    assert len(found.earlier) > 0.99 * len(first)
    other = survey(3000, 2)[["age", "sex", "town"]]
    apart = same_people(first, pd.concat([second.iloc[:2000], other.iloc[:1000]], ignore_index=True), list(first))
    assert apart is not None
    assert len(apart.earlier) < len(found.earlier)
