from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.linkage import Likelihood, Linkage, Together, links


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
    return Pairs(frame, {}, frame, frame, {}, np.arange(n), np.random.default_rng(0))


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
