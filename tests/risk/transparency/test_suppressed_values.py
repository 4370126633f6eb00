import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.recoding.local_suppression import LocalSuppression
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.suppressed_values import WhySuppressed

VARIABLES = {
    "sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
    "area": Variable(name="area", kind=Kind.NOMINAL),
}


def file(original: pd.DataFrame, masked: pd.DataFrame) -> Pairs:
    rows = np.arange(len(original))
    return Pairs(original, VARIABLES, original, masked, VARIABLES, rows, np.random.default_rng(0))


def people(sex: str, area: str) -> pd.DataFrame:
    return pd.DataFrame({"sex": pd.Categorical(list(sex), categories=["f", "m"]), "area": pd.Categorical(list(area))})


def test_of_two_values_the_rare_one_was_suppressed() -> None:
    """In area x there are five women and three without a sex: had they been women, nothing had been suppressed."""
    original = people("fffffmmmffffmmmm", "xxxxxxxxyyyyyyyy")
    masked = original.copy()
    masked.loc[5:7, "sex"] = None
    (leak,) = WhySuppressed(("sex", "area"), 4, 2).play(file(original, masked))
    assert leak.kind == "confident"
    assert leak.measured.value == pytest.approx(3 / 16)
    assert leak.measured.baseline == 0  # by the others of area x they would be women


def test_a_value_that_could_be_any_is_not_told() -> None:
    """Records of both sexes are without it in area z, and nobody else lives there."""
    original = people("ffffmmmmffmm", "xxxxyyyyzzzz")
    masked = original.copy()
    masked.loc[8:, "sex"] = None
    (leak,) = WhySuppressed(("sex", "area"), 4, 2).play(file(original, masked))
    assert leak.measured.value == 0


def test_the_step_declares_it_with_its_k() -> None:
    rng = np.random.default_rng(1)
    frame = people("".join(rng.choice(["f", "m"], 500, p=[0.98, 0.02])), "".join(rng.choice(list("uvwxyz"), 500)))
    step = LocalSuppression(columns=("sex", "area"), k=5, missing_matches="any")
    masked = frame.copy()  # as other programs do it: the rare value alone, however few lose it
    masked.loc[frame.groupby(["sex", "area"], observed=True)["sex"].transform("size") < 5, "sex"] = None
    lost = masked["sex"].isna().mean()
    assert lost > 0
    (attack,) = step.attacks()
    (leak,) = attack.play(file(frame, masked))
    assert leak.measured.value == pytest.approx(lost)
    assert leak.measured.baseline == 0


def test_nothing_suppressed_tells_nothing() -> None:
    frame = people("fmfm", "xxyy")
    assert WhySuppressed(("sex", "area"), 1, 2).play(file(frame, frame))[0].measured.value == 0
    rest = frame[[]]
    (leak,) = WhySuppressed(("sex",), 1, 1).play(
        Pairs(frame, VARIABLES, rest, rest, {}, np.arange(4), np.random.default_rng(0))
    )
    assert leak.measured.value == 0
