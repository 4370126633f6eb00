"""Shares as so many in every 1,000 people."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reported_shares import natural_frequency as told
from sluice.ground.sentence import Sentence, per, text_of
from tests.golden import golden

IN = {base: Sentence(f"test.in_{base}", f"{{share:people_{base}}}") for base in (1000, 10_000)}


def natural_frequency(share: float, people: int, cell: int, base: int = 1000) -> str:
    return text_of(IN[base](share=told(share, people, cell, base)))


def test_a_share_is_so_many_of_a_thousand() -> None:
    assert natural_frequency(0.4968, 6366, 10) == "497 in every 1,000 people"
    assert natural_frequency(0.0024, 20_000, 10, 10_000) == "24 in every 10,000 people"
    golden(natural_frequency(0, 2000, 10))
    golden(natural_frequency(1, 2000, 10))
    assert per(0.05) == "50"
    assert per(0.0025) == "2.5"
    assert (per(0.00994), per(0.00996), per(0.0104)) == ("9.9", "10", "10")


@pytest.mark.parametrize("count", [3, 1997, 10])
def test_of_few_people_only_a_bound_is_said(count: int) -> None:
    golden(natural_frequency(count / 2000, 2000, 10))


@given(st.integers(1, 30_000), st.data(), st.integers(3, 50), st.sampled_from([1000, 10_000]))
def test_no_two_counts_of_few_people_are_told_apart(people: int, data: st.DataObject, cell: int, base: int) -> None:
    """The attacker knows how many were counted, and asks whether one or some of them were found."""
    count = data.draw(st.integers(1, min(cell - 1, people)))
    says = natural_frequency(count / people, people, cell, base)
    if people - count > 0:
        assert says == natural_frequency(1 / people, people, cell, base) or says.startswith("more than")
    assert (re.match("none|0 of", says)) is None


@given(st.floats(0, 1), st.integers(1, 30_000))
def test_nothing_is_none_and_all_is_all_alone(share: float, people: int) -> None:
    says = natural_frequency(share, people, 3)
    assert not says.startswith("none") or share * people < 1e-8
    assert not says.startswith("all") or (1 - share) * people < 1e-8
    assert not says.startswith("0 ")
