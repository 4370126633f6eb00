"""Attribute gain: by hand, nought where nobody is found, and all there is to know where everybody is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.attacks.attribute_gain import (
    AttributeGain,
    OtherVariable,
    Reading,
    attribute_gains,
    gain_interval,
    gains_of_people,
    strongest_readings,
)
from sluice.risk.linkage.learned_linker import CandidatePosterior, Candidates

NAMES = np.array(["a", "b", "c"], dtype=object)


def certain_of(rows: list[int], others: list[int]) -> CandidatePosterior:
    """Person i is certain to be in `rows[i]`, or without the own record in `others[i]`."""
    both = np.column_stack([rows, others])
    own = np.tile([1.0, 0.0], (len(rows), 1))
    return CandidatePosterior(both, own, own[:, ::-1])


def gain_of(variable: OtherVariable, people: list[int], found: CandidatePosterior, reading: Reading) -> AttributeGain:
    return gains([variable], np.array(people), found, {variable.name: reading}, np.array(people))[0]


def gains(variables, people, found, readings, units) -> list[AttributeGain]:
    return attribute_gains(variables, gains_of_people(variables, people, found, readings), readings, units)


def test_the_share_read_with_and_without_the_own_record() -> None:
    variable = OtherVariable.of("area", NAMES[[0, 1, 2, 0]], NAMES[[0, 1, 2, 0]], number=False)
    found = gain_of(variable, [0, 1, 2, 3], certain_of([0, 1, 2, 3], [3, 0, 0, 0]), Reading(0.0, False))
    assert (found.right, found.without, found.gain) == (1.0, 0.5, 0.5)  # two people share a value
    assert found.interval[0] < 0.5 < found.interval[1]


def test_what_the_household_shows_is_read_only_where_the_household_is() -> None:
    """Person 1 lives with person 0 and shares the value; person 2 does not, and has another one."""
    variable = OtherVariable.of("rent", NAMES[[0, 0, 1]], NAMES[[0, 0, 1]], number=False)
    given_ = Candidates(np.array([3.0]), np.array([[1, 2]]), np.array([[2.0, 1.0]]), np.array([0]))

    def gain(units: list[int]) -> float:
        found = CandidatePosterior.of(np.array([0]), given_, 0.1, np.array(units))
        return gain_of(variable, [0], found, Reading(0.0, False)).gain

    assert gain([0, 0, 1]) == pytest.approx(1.0, abs=1e-3)
    assert gain([0, 1, 1]) == pytest.approx(0.0, abs=1e-3)  # a neighbour with the same value, who is no mate


def test_what_is_missing_is_not_learned() -> None:
    variable = OtherVariable.of("area", np.array(["a", None], dtype=object), NAMES[[0, 0]], number=False)
    found = gain_of(variable, [0, 1], certain_of([0, 1], [1, 0]), Reading(0.0, False))
    assert found.right == 0.5


@pytest.mark.parametrize(("within", "right"), [(0.0, 0.0), (0.01, 1.0)])
def test_a_number_is_read_when_few_people_lie_between(within: float, right: float) -> None:
    values = np.arange(1000.0) ** 3  # no scale is assumed
    variable = OtherVariable.of("income", values, values + 0.5, number=True)
    found = gain_of(variable, [10, 900], certain_of([10, 900], [500, 500]), Reading(within, False))
    assert found.right == right


def test_the_fall_back_is_what_most_records_are_near() -> None:
    variable = OtherVariable.of("area", NAMES[[0, 1, 1]], NAMES[[2, 1, 1]], number=False)
    found = CandidatePosterior(np.array([[0, 1]] * 3), np.full((3, 2), 0.5), np.full((3, 2), 0.5))
    assert gain_of(variable, [0, 1, 2], found, Reading(0.0, True)).right == pytest.approx(2 / 3)


def test_the_reading_that_gains_most_is_chosen() -> None:
    values = np.arange(200.0)
    variable = OtherVariable.of("income", values, values + 0.4, number=True)
    people = list(range(0, 200, 7))
    readings = strongest_readings([variable], np.array(people), certain_of(people, [199 - each for each in people]))
    assert readings["income"].within > 0  # nothing is verbatim


@given(st.lists(st.integers(0, 2), min_size=4, max_size=30), st.integers(0, 2**32 - 1))
def test_somebody_who_is_not_found_loses_nothing(codes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(codes)
    variable = OtherVariable.of("area", NAMES[codes], NAMES[rng.permutation(codes)], number=False)
    others = np.column_stack([np.arange(n), rng.integers(0, n, (n, 2))])
    same = np.tile([0.0, 0.6, 0.4], (n, 1))
    found = gain_of(variable, list(range(n)), CandidatePosterior(others, same, same), Reading(0.0, False))
    assert found.gain == 0
    assert found.interval[0] < 0 < found.interval[1]


def test_many_variables_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    values = NAMES[rng.integers(0, 3, 100)]
    several = [OtherVariable.of(f"v{at}", values, values, number=False) for at in range(20)]
    people, found = np.arange(100), certain_of(list(range(100)), list(rng.permutation(100)))
    readings = {each.name: Reading(0.0, False) for each in several}
    one = gains(several[:1], people, found, readings, people)[0]
    among = gains(several, people, found, readings, people)[0]
    assert among.interval[1] > one.interval[1]


def test_people_of_one_household_tell_less_than_as_many_strangers() -> None:
    rng = np.random.default_rng(0)
    values = NAMES[rng.integers(0, 3, 100)]
    variable = OtherVariable.of("area", values, values, number=False)
    people, found = np.arange(100), certain_of(list(range(100)), [(at + 50) % 100 for at in range(100)])
    reading = {"area": Reading(0.0, False)}
    strangers = gains([variable], people, found, reading, people)[0]
    couples = gains([variable], people, found, reading, people % 50)[0]  # both lose, or neither
    assert couples.gain == strangers.gain
    assert couples.interval[1] - couples.gain > 1.3 * (strangers.interval[1] - strangers.gain)


def test_where_nobody_gains_units_are_counted_and_not_their_people() -> None:
    """0 of 100 households of three is as uncertain as 0 of 100 people."""
    households = gain_interval(np.zeros(300), np.repeat(np.arange(100), 3), 0.95)
    assert households == pytest.approx(gain_interval(np.zeros(100), np.arange(100), 0.95))


@pytest.mark.parametrize("values", [1, 127, 128, 129, 32_768, 32_769])
def test_codes_are_as_small_as_the_values_are_few_and_stay_apart(values: int) -> None:
    codes = np.arange(float(values))
    variable = OtherVariable.of("income", codes, codes[::-1].copy(), number=True)
    assert (variable.truth == np.arange(values)).all()
    assert (variable.released == np.arange(values)[::-1]).all()
    assert variable.truth.dtype.itemsize == (1 if values <= 128 else 2 if values <= 32_768 else 4)
