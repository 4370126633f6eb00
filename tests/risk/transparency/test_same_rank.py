import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.masking.synthesis.data_distortion import DataDistortion
from sluice.masking.synthesis.resampling import Resampling
from sluice.risk.transparency.attack import NoAttack, Pairs
from sluice.risk.transparency.bounds import SameRank

VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "ab"}


def pairs(original: pd.DataFrame, masked: pd.DataFrame) -> Pairs:
    return Pairs(original, VARIABLES, original, masked, VARIABLES, np.arange(len(original)), np.random.default_rng(0))


def test_the_own_record_is_never_ruled_out_and_is_found_by_its_rank() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": np.exp(rng.normal(size=300)), "b": rng.integers(0, 40, 300).astype(float)})
    frame.loc[:4, "a"] = np.nan
    for step in (Resampling(columns=("a", "b"), samples=2), DataDistortion(columns=("a",))):
        masked = step.mask(frame, VARIABLES, np.random.default_rng(1))
        (attack,) = step.attacks()
        assert isinstance(attack, SameRank)
        logs = attack.likelihood(pairs(frame, masked))(np.arange(300))
        assert np.isfinite(logs.diagonal()).all()
        assert attack.play(pairs(frame, masked))[0].measured.value > 0.9


def test_equal_values_share_their_ranks() -> None:
    original, masked = pd.DataFrame({"a": [1.0, 1, 2, 3]}), pd.DataFrame({"a": [7.0, 8, 9, 10]})
    logs = SameRank(("a",)).likelihood(pairs(original, masked))(np.arange(4))
    assert np.isfinite(logs).tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_draws_in_random_order_are_tied_to_nobody() -> None:
    (none,) = DataDistortion(columns=("a",), map_by_rank=False).attacks()
    assert isinstance(none, NoAttack)
