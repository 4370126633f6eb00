"""The profile of a release and the drift of the next one."""

from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cityblock

from schemas.checks.profile import MOST_LABELS, Distribution, Profile, compared, count, distance, profile
from schemas.contract import Contract
from sluice.ground.variables import Kind, Variable
from tests.golden import golden

AGE = Variable(name="age", kind=Kind.INTEGER, nullable=True)
AREA = Variable(name="area", kind=Kind.NOMINAL, categories=("1", "2", "3"), nullable=True)
TOWN = Variable(name="town", kind=Kind.NOMINAL, nullable=True)
SEEN = Variable(name="seen", kind=Kind.DATE, nullable=True)
VARIABLES = {variable.name: variable for variable in (AGE, AREA, TOWN, SEEN)}

COUNTS = st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(any)


def frame(n: int = 100) -> pd.DataFrame:
    i = np.arange(n)
    return pd.DataFrame(
        {
            "age": pd.array([pd.NA if k % 10 == 0 else k % 50 for k in i], dtype="Int64"),
            "area": pd.Categorical([None if k % 4 == 0 else str(k % 4) for k in i], ["1", "2", "3"]),
            "town": pd.Categorical([f"town {k % 7}" for k in i]),
            "seen": pd.Series(pd.Timestamp("2026-01-01") + pd.to_timedelta(i, unit="D")).astype("datetime64[us]"),
        }
    )


def test_distance_by_its_definition() -> None:
    """Levin, Peres, Wilmer, Markov Chains and Mixing Times, (4.1): the largest |P(A) - Q(A)| over all events A."""
    old, new = (40, 30, 20, 10), (1, 2, 3, 4)
    p, q = np.array(old) / 100, np.array(new) / 10
    events = chain.from_iterable(combinations(range(4), size) for size in range(5))
    largest = max(abs(p[list(event)].sum() - q[list(event)].sum()) for event in events)
    assert distance(old, new) == pytest.approx(largest) == pytest.approx(0.4)


@given(COUNTS, COUNTS)
def test_distance_is_half_of_scipys_city_block(old: list[int], new: list[int]) -> None:
    p, q = np.array(old) / sum(old), np.array(new) / sum(new)
    assert distance(old, new) == pytest.approx(cityblock(p, q) / 2, abs=1e-12)
    assert distance(old, new) == distance(new, old)
    assert 0 <= distance(old, new) <= 1 + 1e-12
    assert distance(old, [3 * n for n in old]) == pytest.approx(0, abs=1e-12)


def moved(old: Profile, new: pd.DataFrame, name: str) -> float:
    cells = old.distributions[name]
    return distance(cells.counts, count(new[name], cells))


@given(st.integers(0, 2**32 - 1))
def test_any_order_and_index_give_the_same_profile(seed: int) -> None:
    whole = frame()
    shuffled = whole.sample(frac=1, random_state=seed).set_axis([1] * len(whole), axis=0)
    old = profile(whole, VARIABLES)
    assert profile(shuffled, VARIABLES) == old
    assert {moved(old, shuffled, name) for name in VARIABLES} == {0.0}


def test_every_record_is_in_one_cell() -> None:
    made = profile(frame(), VARIABLES)
    assert made.records == 100
    assert {sum(cells.counts) for cells in made.distributions.values()} == {100}
    assert made.distributions["age"].missing_share == 0.1
    assert made.distributions["area"].counts == (25, 25, 25, 0, 25)  # 1, 2, 3, any other, missing
    assert Profile.model_validate_json(made.model_dump_json()) == made


def test_bins_are_closed_above() -> None:
    cells = Distribution(edges=(10.0, 20.0), counts=(0, 0, 0, 0))
    values = pd.Series([9.9, 10, 10.1, 20, 20.1, np.inf, np.nan])
    assert count(values, cells) == (2, 2, 2, 1)


@pytest.mark.parametrize(("usual", "other"), [(0, -5), (0, 5), (100, 60)])
def test_what_most_records_have_cannot_become_another_value_unseen(usual: int, other: int) -> None:
    income = [usual] * 850 + list(range(1, 151)) if usual == 0 else [usual] * 850 + list(range(-100, 50))
    old = profile(pd.DataFrame({"age": pd.array(income, dtype="Int64")}), {"age": AGE})
    assert old.records == 1000
    assert (
        moved(old, pd.DataFrame({"age": pd.array([other if each == usual else each for each in income])}), "age") > 0.8
    )
    assert Profile.model_validate_json(old.model_dump_json()) == old


def test_dates_are_counted_in_days() -> None:
    cells = Distribution(edges=(1.0,), counts=(0, 0, 0))
    moments = pd.Series(pd.to_datetime(["1970-01-02 00:00:00", "1970-01-02 00:00:01", None])).astype("datetime64[us]")
    assert count(moments, cells) == (1, 1, 1)


def test_a_shift_by_known_shares() -> None:
    """Half of area 1 becomes 2, and 5 more of 100 are missing: 12 + 5 records of 100 have moved."""
    old = profile(frame(), VARIABLES)
    new = frame()
    new.loc[new.index[new["area"] == "1"][:12], "area"] = "2"
    new.loc[new.index[new["area"] == "3"][:5], "area"] = None
    assert moved(old, new, "area") == pytest.approx(0.17)


def test_edges_are_rounded_and_missing_alone_has_none() -> None:
    incomes = pd.DataFrame({"income": [12_345.67, 23_456.78, 34_567.89]})
    edges = profile(incomes, {"income": Variable(name="income", kind=Kind.CONTINUOUS)}).distributions["income"].edges
    assert edges is not None
    assert not set(edges) & set(incomes["income"])
    alone = pd.DataFrame({"age": pd.array([pd.NA, pd.NA], dtype="Int64")})
    assert profile(alone, {"age": AGE}).distributions["age"] == Distribution(edges=(), counts=(0, 2))


def test_rare_labels_share_a_cell() -> None:
    towns = [f"town {k:03}" for k in range(MOST_LABELS + 20)]
    many = pd.DataFrame({"town": pd.Categorical(towns + towns[: MOST_LABELS - 1])})
    cells = profile(many, {"town": TOWN}).distributions["town"]
    assert cells.labels == tuple(towns[:MOST_LABELS])
    assert cells.counts[-2:] == (20, 0)


def test_disjoint_is_one_and_no_record_is_undefined() -> None:
    old = profile(frame(), {"town": TOWN})
    elsewhere = pd.DataFrame({"town": pd.Categorical(["far away"])})
    assert moved(old, elsewhere, "town") == 1.0
    assert np.isnan(moved(old, frame(0), "town"))
    assert np.isnan(profile(frame(0), {"age": AGE}).distributions["age"].missing_share)


def test_a_variable_of_another_form_does_not_fit() -> None:
    cells = profile(frame(), {"age": AGE}).distributions["age"]
    assert cells.fits(AGE)
    assert not cells.fits(Variable(name="age", kind=Kind.NOMINAL))


def test_keys_and_texts_are_not_compared() -> None:
    document = {
        "dataset": "d",
        "version": 1,
        "record_key": ["row"],
        "drift": {},
        "variables": [
            {"name": "row", "kind": "integer"},
            {"name": "house", "kind": "integer", "role": "household"},
            {"name": "remark", "kind": "text"},
            {"name": "age", "kind": "integer"},
        ],
    }
    assert list(compared(Contract.model_validate(document))) == ["age"]
    named = Contract.model_validate({**document, "drift": {"columns": ["row", "age"]}})
    assert list(compared(named)) == ["row", "age"]
    for name in ("remark", "house"):
        with golden.raises(ValueError):
            Contract.model_validate({**document, "drift": {"columns": [name]}})


def test_cells_and_counts_must_agree() -> None:
    with golden.raises(ValueError):
        Distribution(labels=("a",), counts=(1,))
    with golden.raises(ValueError):
        Distribution(counts=(1,))
