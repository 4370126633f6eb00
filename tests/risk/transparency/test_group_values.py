import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.swapping.anatomization import Anatomization
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.permuted_values import GroupValues

VARIABLES = {
    "illness": Variable(name="illness", kind=Kind.NOMINAL),
    "group": Variable(name="group", kind=Kind.INTEGER),
}


def played(illness: list[str], released: list[str], group: list[int]) -> tuple[float, float | None]:
    original = pd.DataFrame({"illness": pd.Categorical(illness)})
    masked = pd.DataFrame({"illness": pd.Categorical(released), "group": pd.array(group, dtype="Int64")})
    rows = np.arange(len(illness))
    file = Pairs(original, VARIABLES, original, masked, VARIABLES, rows, np.random.default_rng(0))
    (leak,) = GroupValues(("illness",), ("group",)).play(file)
    return leak.measured.value, leak.measured.baseline


def test_the_most_frequent_of_a_group_is_guessed() -> None:
    """Group 1: flu twice, gout once; group 2: all gout. Of the file, gout is the most frequent: 4 of 6."""
    value, baseline = played(
        ["flu", "gout", "flu", "gout", "gout", "gout"], ["gout", "flu", "flu", "gout", "gout", "gout"],
        [1, 1, 1, 2, 2, 2],
    )  # fmt: skip
    assert value == pytest.approx(5 / 6)
    assert baseline == pytest.approx(4 / 6)


def test_equally_frequent_values_are_shared() -> None:
    value, _ = played(["flu", "gout", "none", "flu"], ["gout", "flu", "flu", "none"], [1, 1, 2, 2])
    assert value == pytest.approx(0.5)


def test_groups_of_l_different_values_are_guessed_to_one_in_l() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"illness": pd.Categorical(rng.choice(["flu", "gout", "none", "cold"], 400))})
    step = Anatomization(columns=("illness",), l=3)
    variables = {"illness": VARIABLES["illness"]}
    masked = step.mask(frame, variables, np.random.default_rng(2))
    (attack,) = step.attacks()
    file = Pairs(frame, variables, frame, masked, step.released(variables), np.arange(400), rng)
    assert attack.play(file)[0].measured.value == pytest.approx(1 / 3, abs=0.01)
