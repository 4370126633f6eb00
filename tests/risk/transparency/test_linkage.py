from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import SameRank
from sluice.risk.transparency.linear_change import LinearChange
from sluice.risk.transparency.linkage import LearnedCloseness, Likelihood, Linkage, Strongest, Together, links
from tests.risk.transparency.paired import paired


@dataclass(frozen=True)
class Given(Linkage):
    """A linkage with likelihoods as they are given."""

    logs: tuple[tuple[float, ...], ...] = ()

    @property
    def knows(self) -> str:
        return "the likelihoods"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        return lambda rows: np.array(self.logs)[rows]


def people(n: int) -> Pairs:
    frame = pd.DataFrame(index=range(n))
    return paired(frame, frame, {})


NEVER = -np.inf


def test_ties_are_shared_and_claims_are_counted_with_their_precision() -> None:
    logs = (
        (0.0, 0.0, NEVER, NEVER),  # one of two: half right, sure of neither
        (0.0, NEVER, NEVER, NEVER),  # sure and wrong
        (NEVER, NEVER, 0.0, -3.0),  # sure and right
        (NEVER, NEVER, NEVER, NEVER),  # every record ruled out: no claim
    )
    identified, confident = links(Given(("a",), logs), people(4))
    assert identified.measured.value == pytest.approx((0.5 + 0 + 1 + 0) / 4)
    assert confident.measured.value == pytest.approx(1 / 4)
    assert confident.claims == pytest.approx(2 / 4)


def test_what_was_masked_independently_is_combined() -> None:
    one = Given(("a",), ((0.0, 0.0, NEVER),) * 3)
    other = Given(("b",), ((0.0, NEVER, 0.0),) * 3)
    both = Together.of([one, other])
    assert both.columns == ("a", "b")
    assert both.knows == "the likelihoods"
    assert [leak.measured.value for leak in both.play(people(3))] == [pytest.approx(1 / 3)] * 2
    assert Together.of([one]) is one


NAMES = ("a", "b", "c", "d", "e")


def found(original: pd.DataFrame, masked: pd.DataFrame) -> tuple[float, float]:
    pairs = paired(original, masked)
    identified, confident = LearnedCloseness(NAMES).play(pairs)
    return identified.measured.value, confident.measured.value


def test_small_changes_are_learned_whatever_their_scale() -> None:
    rng = np.random.default_rng(1)
    original = pd.DataFrame(np.exp(4 * rng.standard_normal((600, 5))), columns=list(NAMES))
    masked = original * np.exp(0.2 * rng.standard_normal((600, 5)))
    assert min(found(original, masked)) > 0.9


def test_unrelated_records_are_found_by_chance_and_nobody_is_sure_and_right() -> None:
    rng = np.random.default_rng(2)
    original, masked = (pd.DataFrame(rng.standard_normal((600, 5)), columns=list(NAMES)) for _ in range(2))
    identified, confident = found(original, masked)
    assert identified < 0.015
    assert confident < 0.005


FOUR = ("a", "b", "c", "d")


def test_what_finds_most_people_is_taken() -> None:
    rng = np.random.default_rng(1)
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    original = pd.DataFrame(rng.standard_normal((600, 4)), columns=list(FOUR))
    masked = pd.DataFrame(original.to_numpy() @ rotation, columns=list(FOUR))  # no value is near its own
    pairs = paired(original, masked, rows=np.arange(300), rng=rng)
    closeness, linear = LearnedCloseness(FOUR), LinearChange(FOUR, "the rotation")
    identified, _ = Strongest(FOUR, (closeness, linear)).play(pairs)
    assert identified.measured.value == 1
    assert closeness.play(pairs)[0].measured.value < 0.2
    only = Strongest(FOUR, (closeness, linear)).restricted(("a",))
    assert [choice.columns for choice in only.choices] == [("a",), ("a",)]


def test_choices_are_tried_on_people_who_are_not_attacked() -> None:
    rng = np.random.default_rng(2)
    original = pd.DataFrame(rng.standard_normal((600, 4)), columns=list(FOUR))
    masked = original**3  # every value has the rank that it had
    pairs = paired(original, masked, rows=np.arange(0, 600, 3), rng=rng)
    ranks, closeness = SameRank(FOUR), LearnedCloseness(FOUR)
    assert ranks.play(pairs)[0].measured.value == 1
    assert Strongest(FOUR, (closeness, ranks)).play(pairs)[0].measured.value == 1


def test_bounds_are_told_of_nobody_but_those_attacked() -> None:
    people = pd.DataFrame(np.random.default_rng(3).standard_normal((20, 4)), columns=list(FOUR))
    likelihood = SameRank(FOUR).likelihood(paired(people, people, rows=np.array([2, 9]), rng=np.random.default_rng(3)))
    assert likelihood(np.array([2]))[0, 2] == 0
    with pytest.raises(AssertionError, match="who is not attacked"):
        likelihood(np.array([5]))  # else it would be taken for the next one
