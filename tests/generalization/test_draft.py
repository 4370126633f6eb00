"""sluice.generalization.draft, and the intruder who reads a draft and knows all records but one."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemas
from schemas.contract import load_contract
from sluice.generalization.draft import draft_hierarchy
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.variables import Kind, Variable
from tests.golden import golden

CELL = 10
AGE = Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=109)
SCHOOL = Variable(name="school", kind=Kind.ORDINAL, categories=tuple("abcdefgh"))
PLACE = Variable(name="place", kind=Kind.NOMINAL, categories=tuple("abcdefgh"))


def drafted(variable: Variable, counts: dict[str, int]) -> str:
    return draft_hierarchy(variable, counts, CELL).model_dump_json()


def naive(variable: Variable, counts: dict[str, int]) -> str:
    """What the defence is against: quartiles of the values, which lie at values."""
    values = np.repeat([int(value) for value in counts], list(counts.values()))
    return str([*np.quantile(values, [0.25, 0.5, 0.75]), values.max()])


def candidates(draft: Callable[..., str], known: dict[str, int], published: str) -> set[str]:
    """The intruder: for which values of the one unknown record would the draft be the published one?"""
    fits = set()
    for value in range(95, 110):  # she knows that he is very old
        counts = dict(known)
        counts[str(value)] = counts.get(str(value), 0) + 1
        if draft(AGE, counts) == published:
            fits.add(str(value))
    return fits


def test_the_intruder_finds_the_oldest_in_naive_quantiles_and_not_in_a_draft() -> None:
    ages = np.random.default_rng(1).integers(18, 85, 400)
    known = {str(value): int(count) for value, count in zip(*np.unique(ages, return_counts=True), strict=True)}
    truth = known | {"103": 1}
    assert candidates(naive, known, naive(AGE, truth)) == {"103"}
    assert candidates(drafted, known, drafted(AGE, truth)) == {str(value) for value in range(95, 110)}
    assert drafted(AGE, truth) == drafted(AGE, known)  # nor does she learn that he is there


@given(st.sampled_from([SCHOOL, PLACE]), st.lists(st.integers(0, 60), min_size=8, max_size=8))
def test_no_rare_category_changes_a_draft(variable: Variable, given_counts: list[int]) -> None:
    counts = dict(zip(variable.categories or (), given_counts, strict=True))
    frequent = {value: count for value, count in counts.items() if count >= CELL}
    try:
        made = drafted(variable, counts)
    except DataError:
        with pytest.raises(DataError):
            drafted(variable, frequent)
        return
    assert made == drafted(variable, frequent)
    hierarchy = draft_hierarchy(variable, counts, CELL).build(variable)
    for level in range(1, hierarchy.depth + 1):
        records: Counter[str] = Counter()
        for value, group in hierarchy.at_level(level).items():
            records[group] += counts[value]
        assert min(records.values()) >= CELL
    if variable is PLACE:  # a category that is not named may be rare or not
        unnamed = [value for value, group in hierarchy.at_level(1).items() if group == "other"]
        assert len(unnamed) > 1
        assert any(counts[value] >= CELL for value in unnamed)
        assert all(counts[value] >= CELL for value in set(counts) - set(unnamed))


@given(st.dictionaries(st.integers(0, 109).map(str), st.integers(1, 80), max_size=80))
def test_groups_of_numbers_begin_at_round_ones_and_hold_the_minimum_cell(counts: dict[str, int]) -> None:
    try:
        builder = draft_hierarchy(AGE, counts, CELL)
    except DataError:
        return
    hierarchy = builder.build(AGE)
    assert all(cut % 5 == 0 for cuts in builder.model_dump()["cuts"] for cut in cuts)
    for level in range(1, hierarchy.depth + 1):
        records: Counter[str] = Counter()
        for value, group in hierarchy.at_level(level).items():
            records[group] += counts.get(value, 0)
        assert min(records.values()) >= CELL


def test_a_wide_range_is_cut_at_steps_of_the_next_power_of_ten() -> None:
    wide = Variable(name="income", kind=Kind.INTEGER, minimum=0, maximum=9_999)
    cuts = draft_hierarchy(wide, {str(value): 20 for value in range(0, 10_000, 7)}, CELL).model_dump()["cuts"]
    assert cuts[0]
    assert all(cut % 10 == 0 for level in cuts for cut in level)


def test_drafts_of_adult(reference_data: Path) -> None:
    """Every quasi-identifier but the binary one; groups of about equal size where the values allow it."""
    contract = load_contract(Path(schemas.__path__[0]) / "adult.yaml")
    names = list(contract.by_name)
    frame = pd.read_csv(
        reference_data / "adult" / "adult.data.gz", header=None, names=names, dtype=str, skipinitialspace=True
    )
    drafts = {}
    for name in ("age", "education", "occupation", "native_country"):
        counts = frame[name][frame[name] != "?"].value_counts().to_dict()
        drafts[name] = draft_hierarchy(contract.by_name[name], counts).model_dump(exclude_defaults=True)
    assert drafts["age"] == {"cuts": ((25, 30, 35, 40, 45, 50, 60), (30, 40, 50), (40,))}
    assert drafts["education"]["groups"] == ((8, 1, 1, 2, 1, 1, 1, 1), 2, 2)  # the lowest 8 are 13 % of the records
    assert drafts["occupation"]["priority"][-1] == ("Prof-specialty",)
    assert drafts["native_country"]["priority"][0][:3] == ("United-States", "Mexico", "Philippines")


def test_periods_of_dates_follow_from_the_declared_range() -> None:
    seen = Variable(name="seen", kind=Kind.DATE, minimum="2020-01-01", maximum="2024-12-31")
    assert draft_hierarchy(seen, {}).model_dump() == {"periods": ("month", "quarter", "year")}
    longer = seen.model_copy(update={"minimum": "1990-01-01"})
    assert draft_hierarchy(longer, {"2020-02-02": 1}).model_dump()["periods"][-1] == "decade"


@pytest.mark.parametrize(
    ("variable", "counts"),
    [
        (AGE, {"5": 9, "50": 9}),
        (AGE, {"5": 90, "500": 3}),
        (PLACE, {"a": 500, "b": 9}),
        (Variable(name="s", kind=Kind.BINARY, categories=("a", "b")), {"a": 50, "b": 50}),
        (Variable(name="x", kind=Kind.NOMINAL), {"a": 50}),
    ],
)
def test_what_would_tell_of_rare_values_is_refused(variable: Variable, counts: dict[str, int]) -> None:
    with golden.raises(DataError, DocumentError) as refusal:
        draft_hierarchy(variable, counts)
    assert "500" not in str(refusal.value)
