"""Crowds: blanks widen the crowd of their own record and hide nobody else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.classes import classes_with_missing_keys as module
from sluice.risk.classes.classes_with_missing_keys import candidates, frequencies_with_missing_keys, matching_records
from sluice.risk.classes.equivalence_classes import classes_of

Row = tuple[str | None, str | None]
KEYS = ["age", "sex"]


def typed(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=KEYS).astype(
        {"age": pd.CategoricalDtype(["30", "41"]), "sex": pd.CategoricalDtype(["f", "m"])}
    )


def test_counts_by_hand() -> None:
    """Two women of 30, one man of 30 whose sex is suppressed, one man of 41, one record without anything."""
    known: list[Row] = [("30", "f"), ("30", "f"), ("30", "m"), ("41", "m"), ("41", "f")]
    shown: list[Row] = [("30", "f"), ("30", "f"), ("30", None), ("41", "m"), (None, None)]
    assert matching_records(typed(shown), KEYS).tolist() == [2, 2, 3, 1, 5]
    # The woman of 30 fits both records of her kind; the one without a sex fits 3 people and hers 2, the blank one 5.
    expected = [2 + 2 / 3 + 2 / 5] * 2 + [1 + 3 / 5] + [1 + 1 / 5] + [1]
    np.testing.assert_allclose(candidates(typed(known), typed(shown), KEYS), expected)
    assert frequencies_with_missing_keys(typed(shown), KEYS, typed(known)).tolist() == [2, 2, 1, 1, 1]


def test_a_key_missing_at_the_source_may_be_anything() -> None:
    """Nobody finds the third by a sex that the file never had."""
    rows: list[Row] = [("30", "f"), ("30", "m"), ("30", None)]
    assert frequencies_with_missing_keys(typed(rows), KEYS, typed(rows)).tolist() == [1, 1, 3]


def test_changed_keys_are_not_looked_up() -> None:
    assert candidates(typed([("30", "f")]), typed([("41", "f")]), KEYS).tolist() == [np.inf]
    assert frequencies_with_missing_keys(typed([("41", "f")]), KEYS, typed([("30", "f")])).tolist() == [1]


def test_many_patterns_of_missing_keys_agree_with_the_join_of_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        np.where(rng.random((400, 7)) < 0.3, np.nan, rng.integers(0, 3, (400, 7))), columns=list("abcdefg")
    )
    monkeypatch.setattr(module, "_JOIN", 0)
    joined = matching_records(frame, list(frame))
    monkeypatch.setattr(module, "_JOIN", 1e12)
    for bits in (2**29, 64):  # at once and 64 at a time
        monkeypatch.setattr(module, "_BITS", bits)
        np.testing.assert_array_equal(matching_records(frame, list(frame)), joined)


def test_several_records_of_one_person_are_no_crowd() -> None:
    shown: list[Row] = [("30", "f"), ("30", "f"), ("30", None), ("30", "f")]
    known: list[Row] = [("30", "f")] * 4
    one, two = np.zeros(4, dtype=np.int64), np.array([0, 0, 0, 1])
    assert matching_records(typed(shown), KEYS, one).tolist() == [1] * 4
    assert candidates(typed(known), typed(shown), KEYS, one).tolist() == [1] * 4
    assert matching_records(typed(shown), KEYS, two).tolist() == [2] * 4
    assert candidates(typed(known), typed(shown), KEYS, two).tolist() == [2, 2, 2, 2]


rows = st.lists(
    st.tuples(st.sampled_from(["30", "41", None]), st.sampled_from(["f", "m", None])), min_size=1, max_size=12
)


@given(rows, st.data())
def test_agrees_with_comparing_every_pair(known: list[Row], data: st.DataObject) -> None:
    hide = data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=len(known), max_size=len(known)))
    shown = [(None if a else x, None if b else y) for (x, y), (a, b) in zip(known, hide, strict=True)]
    agree = [sum(all(x in (None, y) for x, y in zip(r, s, strict=True)) for s in shown) for r in shown]
    assert matching_records(typed(shown), KEYS).tolist() == agree

    def fit(keys: list[int], person: Row) -> int:
        return sum(all(other[key] == person[key] for key in keys) for other in known)

    for at, found in enumerate(candidates(typed(known), typed(shown), KEYS)):
        person, total = known[at], 1.0
        there = [key for key in (0, 1) if person[key] is not None]
        for other, record in enumerate(shown):
            common = [key for key in there if record[key] is not None]
            if other != at and all(record[key] == person[key] for key in common):
                own = [key for key in there if shown[at][key] is not None]
                total += min(1, fit(own, person) / fit(common, person))
        assert abs(found - total) < 1e-9


@pytest.mark.parametrize("is_of_people", [False, True])
@pytest.mark.parametrize("records", [1, 2, 12, 40])
def test_pattern_by_pattern_and_record_by_record_the_same_is_found(
    monkeypatch: pytest.MonkeyPatch, records: int, is_of_people: bool
) -> None:
    rng = np.random.default_rng(records)
    known = pd.DataFrame(
        {"age": rng.choice(["30", "41"], records), "sex": rng.choice(["f", "m"], records)}, dtype=object
    )
    known = known.mask(rng.random(known.shape) < 0.2, None)
    shown = known.mask(rng.random(known.shape) < 0.3, None)
    files = [typed(list(frame.itertuples(index=False, name=None))) for frame in (known, shown)]
    people = rng.integers(0, 1 + records // 2, records) if is_of_people else None
    found = [candidates(*files, KEYS, people)]
    for rows in (0, 1e12):
        monkeypatch.setattr(module, "_ROWS", rows)
        found.append(candidates(*files, KEYS, people))
    np.testing.assert_allclose(found[1], found[0])
    np.testing.assert_allclose(found[2], found[0])


@given(rows)
def test_where_missing_is_a_category_and_k_share_all_the_crowd_is_no_smaller(known: list[Row]) -> None:
    frame = typed(known)
    assert (frequencies_with_missing_keys(frame, KEYS, frame) >= classes_of(frame, KEYS).frequencies).all()
