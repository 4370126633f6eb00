import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import SameRank
from sluice.risk.transparency.linear_change import LinearChange
from sluice.risk.transparency.linkage import LearnedCloseness, Strongest

NAMES = ("a", "b", "c", "d")
VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in NAMES}


def test_what_finds_most_people_is_taken() -> None:
    rng = np.random.default_rng(1)
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    original = pd.DataFrame(rng.standard_normal((600, 4)), columns=list(NAMES))
    masked = pd.DataFrame(original.to_numpy() @ rotation, columns=list(NAMES))  # no value is near its own
    pairs = Pairs(original, VARIABLES, original, masked, VARIABLES, np.arange(300), rng)
    closeness, linear = LearnedCloseness(NAMES), LinearChange(NAMES, "the rotation")
    identified, _ = Strongest(NAMES, (closeness, linear)).play(pairs)
    assert identified.measured.value == 1
    assert closeness.play(pairs)[0].measured.value < 0.2
    only = Strongest(NAMES, (closeness, linear)).restricted(("a",))
    assert [choice.columns for choice in only.choices] == [("a",), ("a",)]


def test_choices_are_tried_on_people_who_are_not_attacked() -> None:
    rng = np.random.default_rng(2)
    original = pd.DataFrame(rng.standard_normal((600, 4)), columns=list(NAMES))
    masked = original**3  # every value has the rank that it had
    pairs = Pairs(original, VARIABLES, original, masked, VARIABLES, np.arange(0, 600, 3), rng)
    ranks, closeness = SameRank(NAMES), LearnedCloseness(NAMES)
    assert ranks.play(pairs)[0].measured.value == 1
    assert Strongest(NAMES, (closeness, ranks)).play(pairs)[0].measured.value == 1


def test_bounds_are_told_of_nobody_but_those_attacked() -> None:
    people = pd.DataFrame(np.random.default_rng(3).standard_normal((20, 4)), columns=list(NAMES))
    likelihood = SameRank(NAMES).likelihood(
        Pairs(people, VARIABLES, people, people, VARIABLES, np.array([2, 9]), np.random.default_rng(3))
    )
    assert likelihood(np.array([2]))[0, 2] == 0
    with pytest.raises(AssertionError, match="who is not attacked"):
        likelihood(np.array([5]))  # else it would be taken for the next one
