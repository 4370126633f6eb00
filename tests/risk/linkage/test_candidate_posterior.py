"""The posterior of candidates, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.linkage.learned_linker import CandidatePosterior, Candidates


def posterior(
    own: list[float], scores: list[list[float]], ties: list[int], temperature: float = 1.0
) -> CandidatePosterior:
    rows = np.arange(100, 100 + len(scores[0]) * len(own)).reshape(len(own), -1)
    given_ = Candidates(np.array(own), rows, np.array(scores), np.array(ties))
    return CandidatePosterior.of(np.arange(len(own)), given_, temperature)


def test_probabilities_of_three_people_by_hand() -> None:
    three, nine = np.log(3), np.log(9)
    found = posterior([nine, 0.0, 0.0], [[0.0, 0.0], [three, 0.0], [0.0, 0.0]], [2, 1, 8])
    # Nine to one and one; one of five; tied with eight, of whom two are listed.
    assert found.shares[:, 0] == pytest.approx([9 / 11, 1 / 5, 1 / 9])
    assert found.without[:, 1] == pytest.approx([1 / 2, 3 / 4, 1 / 8])
    assert found.sure.tolist() == [True, True, False]
    assert found.sure_without.tolist() == [False, True, False]


def test_a_temperature_makes_scores_less_sure() -> None:
    assert posterior([np.log(9)], [[0.0]], [1], temperature=2.0).shares[0, 0] == pytest.approx(3 / 4)


def test_an_own_record_below_the_list_is_not_read() -> None:
    found = posterior([-1.0], [[1.0, 0.0]], [1])
    assert found.shares[0, 0] == 0
    assert found.shares[0] == pytest.approx(found.without[0])


def test_a_missing_candidate_has_no_probability() -> None:
    found = posterior([0.0], [[0.0, -np.inf]], [1])
    assert found.shares[0].tolist() == [0.5, 0.5, 0]
    assert found.without[0].tolist() == [0, 1, 0]


@given(st.lists(st.floats(-50, 50), min_size=3, max_size=6))
def test_shares_are_probabilities(scores: list[float]) -> None:
    own, *others = scores
    ranked = sorted(others, reverse=True)
    found = posterior([own], [ranked], [ranked.count(ranked[0])])
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)
    assert found.without.sum() == pytest.approx(1)
