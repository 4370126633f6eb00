import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.synthesis.multiple_imputation import MultipleImputation
from sluice.risk.transparency.attack import NoAttack, Pairs
from sluice.risk.transparency.synthetic_values import KeptValues
from tests.golden import golden

VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "abc"}


def test_what_is_not_replaced_is_read_off() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(500, 3)), columns=list("abc"))
    step = MultipleImputation(columns=("a", "b"), given=("c",), share=0.4)
    masked = step.mask(frame, VARIABLES, np.random.default_rng(2))
    (kept,) = (attack for attack in step.attacks() if isinstance(attack, KeptValues))
    (leak,) = kept.play(Pairs(frame, VARIABLES, frame, masked, VARIABLES, np.arange(500), rng))
    assert leak.kind == "reconstructed"
    assert leak.measured.value == pytest.approx(0.6, abs=0.001)
    assert leak.measured.baseline == 0
    golden(kept.knows)


def test_all_replaced_or_only_blanks_filled_is_another_matter() -> None:
    everything = MultipleImputation(columns=("a",), given=("c",)).attacks()
    assert not any(isinstance(attack, KeptValues) for attack in everything)
    (none,) = MultipleImputation(columns=("a",), what="missing").attacks()
    assert isinstance(none, NoAttack)


def test_a_variable_that_left_the_file_tells_nothing() -> None:
    frame, rest = pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"b": [1.0, 2.0]})
    (leak,) = KeptValues(("a",), 0.5).play(
        Pairs(frame, VARIABLES, rest, rest, VARIABLES, np.arange(2), np.random.default_rng(0))
    )
    assert leak.measured.value == 0
