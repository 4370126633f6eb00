import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.linkage import LearnedCloseness

NAMES = ("a", "b", "c", "d", "e")
VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in NAMES}


def found(original: pd.DataFrame, masked: pd.DataFrame) -> tuple[float, float]:
    pairs = Pairs(original, VARIABLES, original, masked, VARIABLES, np.arange(len(original)), np.random.default_rng(0))
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
