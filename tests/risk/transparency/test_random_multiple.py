import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.recoding.random_rounding import RandomRounding
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import RandomMultiple

VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "abcd"}


def pairs(original: pd.DataFrame, masked: pd.DataFrame) -> Pairs:
    return Pairs(original, VARIABLES, original, masked, VARIABLES, np.arange(len(original)), np.random.default_rng(0))


def test_the_nearer_multiple_is_likelier_and_others_are_impossible() -> None:
    original = pd.DataFrame({"a": [12.0, 20.0, np.nan]})
    masked = pd.DataFrame({"a": [10.0, 20.0, np.nan]})
    likelihood = np.exp(RandomMultiple(("a",), 10).likelihood(pairs(original, masked))(np.arange(3)))
    assert likelihood == pytest.approx(np.array([[0.8, 0.2, 0], [0, 1, 0], [0, 0, 1]]))


def test_a_tiny_base_hides_nobody_and_a_wide_one_nearly_all() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.uniform(0, 100, (400, 4)), columns=list("abcd"))
    reached = []
    for base in (1, 200):
        step = RandomRounding(columns=tuple("abcd"), base=base)
        masked = step.mask(frame, VARIABLES, np.random.default_rng(2))
        reached.append(step.attacks()[0].play(pairs(frame, masked))[0].measured.value)
    assert reached[0] > 0.99
    assert reached[1] < 0.06


def test_the_own_record_is_never_ruled_out_by_rounding_of_the_arithmetic() -> None:
    frame = pd.DataFrame({"a": np.arange(1, 200) * 0.1})
    step = RandomRounding(columns=("a",), base=0.1)
    masked = step.mask(frame, VARIABLES, np.random.default_rng(2))
    logs = step.attacks()[0].likelihood(pairs(frame, masked))(np.arange(199))
    assert np.isfinite(logs.diagonal()).all()
