"""A mark is what masking did to some and not to others; what it tells counts beyond what keys tell."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.arrays import BoolArray, IntArray
from sluice.risk.reference.steered_masking import (
    KnownByKeys,
    Mark,
    Steered,
    form_marks,
    joint_marks,
    marks_of,
    near_values,
    steered_by,
    truth_of,
)
from sluice.risk.reference.value_forms import forms_of

N = 4_000
RNG = np.random.default_rng(1)
KEY = RNG.integers(0, 4, N)
ILL = (RNG.random(N) < np.array([0.02, 0.05, 0.1, 0.2])[KEY]).astype(np.int64)
NOBODY, EVERYBODY = np.zeros(N, np.bool_), np.arange(N)


def steered(
    marks: list[Mark], own: BoolArray | None = None, units: IntArray | None = None, harmless: tuple[int, ...] = ()
) -> list[Steered]:
    known = KnownByKeys([KEY], ILL, 2, None if own is None else np.where(own, ILL, np.nan))
    found = steered_by(ILL, 2, known, marks, {"key": KEY}, EVERYBODY if units is None else units, 0.2, harmless)
    return [each for each in found if each.is_beyond(0.2)]


def blank(of: BoolArray, name: str = "answer", natural: BoolArray = NOBODY) -> Mark:
    return Mark((name,), of.astype(np.int64), natural.astype(np.int64))


def test_by_hand() -> None:
    found = next(each for each in steered([blank(ILL == 1)]) if each.columns == ("answer",))
    assert (found.people, found.share) == (ILL.sum(), 1.0)
    assert found.by_keys == pytest.approx((np.array([0.02, 0.05, 0.1, 0.2])[KEY] * ILL).sum() / ILL.sum(), abs=0.02)
    assert 0.95 < found.lowest < 1
    assert found.is_beyond(0.2)
    assert not found.is_beyond(0.9)


@pytest.mark.parametrize("seed", range(5))
def test_random_blanks_and_those_of_a_key_tell_nothing(seed: int) -> None:
    random = np.random.default_rng(seed).random(N) < 0.05
    assert not steered([blank(random), blank(KEY == 3, "other")])


def test_what_a_rare_combination_tells_is_known_by_its_keys() -> None:
    """Of the few with a rare key all are ill, and they alone are blank."""
    key = np.where(np.arange(N) < 40, 9, KEY)
    ill = np.where(key == 9, 1, ILL)
    known = KnownByKeys([key], ill, 2)
    assert not list(steered_by(ill, 2, known, [blank(key == 9)], {}, EVERYBODY, 0.2))


def test_only_both_blanks_together_tell() -> None:
    one, two = RNG.random((2, N)) < 0.3
    marks = [blank((one & ~two) | (ILL == 1), "one"), blank((two & ~one) | (ILL == 1), "two")]
    assert {each.columns for each in steered(marks)} == {("one", "two")}


def test_those_who_are_blank_within_one_key() -> None:
    random = RNG.random(N) < 0.3
    found = steered([blank(np.where(KEY == 3, ILL == 1, random))])
    assert {each.columns for each in found} == {("answer", "key")}


def test_that_all_but_the_ill_are_blank() -> None:
    assert any(each.share == 1 and each.people == ILL.sum() for each in steered([blank(ILL == 0)]))


def test_who_did_not_answer_was_not_blanked() -> None:
    """The ill did not answer; masking blanked three more."""
    more = np.isin(np.arange(N), np.flatnonzero(ILL == 0)[:3])
    assert not steered([blank((ILL == 1) | more, natural=ILL == 1)])
    assert steered([blank((ILL == 1) | more)])


def test_that_masking_filled_the_blanks_of_the_others() -> None:
    """One in five did not answer; only the ill are still blank."""
    gone = (RNG.random(N) < 0.2) | (ILL == 1)
    assert steered([blank(ILL == 1, natural=gone)])
    assert not steered([blank(gone, natural=gone)])


def test_blanks_that_tell_by_themselves_tell_no_more_beside_others() -> None:
    """The ill did not answer, three more were blanked, and another answer is blank for half of the people."""
    more = np.isin(np.arange(N), np.flatnonzero(ILL == 0)[:3])
    assert not steered([blank((ILL == 1) | more, natural=ILL == 1), blank(RNG.random(N) < 0.5, "other")])


def jointly(masked: pd.DataFrame, original: pd.DataFrame) -> list[Steered]:
    forms = forms_of(original, masked)
    rng = np.random.default_rng(5)

    def near(name: str) -> IntArray:
        return near_values(original[name])

    return steered([*form_marks(forms, near), *joint_marks(forms, near, ILL, {"key": KEY}, EVERYBODY, rng)])


def test_forms_of_several_columns_together() -> None:
    """Neither the third of the others whose one amount is in fives nor that whose other one is: who has both is ill."""
    amounts = pd.DataFrame(2 * RNG.integers(100, 900, (N, 2)) + 1.0, columns=["pay", "rent"])
    chosen = RNG.random(N) < 0.5
    where = np.column_stack([chosen | (ILL == 1), ~chosen | (ILL == 1)])
    found = jointly(amounts.where(~where, (amounts / 10).round() * 10), amounts)
    assert any(each.columns == ("pay", "rent") and each.share > 0.9 for each in found)
    assert not jointly(amounts.where(RNG.random((N, 2)) < 0.5, (amounts / 10).round() * 10), amounts)


def test_the_form_that_the_size_explains_tells_nothing() -> None:
    """The ill are paid most, and what is large is rounded."""
    pay = pd.DataFrame({"pay": RNG.integers(1_000, 2_000, N) + 5_000.0 * ILL})
    assert not jointly(pay.where(pay < 3_000, (pay / 100).round() * 100), pay)
    even = pay - 5_000.0 * ILL[:, None]
    assert jointly(even.where(ILL[:, None] == 0, (even / 100).round() * 100), even)


def test_what_the_file_shows_of_the_variable_itself() -> None:
    assert steered([blank(ILL == 1)], own=NOBODY)
    assert not steered([blank(ILL == 1)], own=~NOBODY)


def test_records_of_one_person_are_one_case() -> None:
    assert not steered([blank(ILL == 1)], units=np.where(ILL == 1, N, np.arange(N)))


def test_what_may_be_known_of_anybody() -> None:
    assert not steered([blank(ILL == 1)], harmless=(1,))
    assert steered([blank(ILL == 1)], harmless=(0,))


def test_marks() -> None:
    area = pd.Series(pd.Categorical(["a", "b", "c", None] * 30))
    assert marks_of("area", area, area, True) is None
    whole = area.cat.rename_categories({"a": "A", "b": "B", "c": "C"})
    assert marks_of("area", area, whole, True) is None  # everybody's alike
    assert marks_of("area", area, area.where(area != "a"), True).state.tolist() == [1, 0, 0, 1] * 30
    assert marks_of("area", area, area.where(area != "a"), True).natural.tolist() == [False] * 3 + [True] + [
        False, False, False, True,
    ] * 29  # fmt: skip
    some = pd.Series(pd.Categorical(["a", "b", "c", None] * 15 + ["a or b", "a or b", "c", None] * 15))
    found = marks_of("area", area, some, False)
    assert len({*found.state[:2], found.state[60]}) == 3  # a, b, and either
    assert (found.state[2::4] == 0).all()
    assert len(found.own) == 1
    assert not found.blanks.state.any()
    assert marks_of("new", None, area, False).state.tolist() == [0, 0, 0, 1] * 30


@pytest.mark.parametrize("is_key", [True, False])
def test_who_could_get_no_other_value_hides_nobody_who_could(is_key: bool) -> None:
    """All of the third area, and the ill of the second, are 'elsewhere': of whom it is known that they live in the
    second one, they are ill. How rare a value was tells nothing: nobody else has what they have."""
    area = pd.Series(pd.Categorical.from_codes(np.arange(N) % 3, ["a", "b", "c"]))
    elsewhere = (area == "c") | ((area == "b") & (ILL == 1))
    mark = marks_of("area", area, area.astype(str).where(~elsewhere, "elsewhere"), is_key)
    assert (mark.state[area == "a"] == 0).all()
    assert (mark.state[area == "c"] == -1).all()
    (found,) = (each for each in steered([mark]) if each.value == 1 and each.columns == ("area",))
    assert (found.people, found.share) == ((area == "b")[ILL == 1].sum(), 1.0)
    codes = pd.Series(np.where(np.arange(N) < 40, np.arange(N), 100.0 + KEY))
    others = codes.sample(frac=1, random_state=1).reset_index(drop=True)
    alone = marks_of("code", codes, others, is_key).state[:40]
    assert (alone[others[:40] >= 100] == -1).all()
    assert (alone[others[:40] < 100] == 0).all()


def test_a_number_is_marked_where_many_share_it_and_its_value_does_not_tell() -> None:
    pay = pd.Series(RNG.lognormal(8, 1, N))
    assert marks_of("pay", pay, pay.clip(upper=9_000), False) is None
    assert marks_of("pay", pay, pay + RNG.normal(size=N) * pay.std(), False) is None
    in_fives = pay.round(-3)
    found = marks_of("pay", in_fives, in_fives.where(ILL == 0, 99_000.0), False)
    assert ((found.state > 1) & (ILL == 1)).sum() > 0.9 * ILL.sum()


def test_numbers_in_fifths_and_rare_categories_as_one() -> None:
    codes, levels = truth_of(pd.Series([*RNG.normal(size=99), np.nan]))
    assert (levels, np.bincount(codes[:99]).tolist(), codes[99]) == (5, [20, 20, 19, 20, 20], -1)
    assert truth_of(pd.Series([1.0, 2.0, 2.0]))[1] == 2
    many = pd.Series(pd.Categorical([f"code {number}" for number in range(100)] + ["code 0"]))
    codes, levels = truth_of(many)
    assert (levels, codes[0], (codes == 59).sum()) == (60, 0, 41)
