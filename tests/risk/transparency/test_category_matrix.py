import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.noise.pram import MISSING, Pram
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.category_matrix import CategoryMatrix
from tests.risk.transparency.paired import paired

VARIABLES = {name: Variable(name=name, kind=Kind.NOMINAL, categories=("a", "b", "c")) for name in ("x", "y")}
MATRIX = {"a": {"a": 0.7, "b": 0.2, "c": 0.1}, "b": {"b": 1.0}, "c": {"a": 0.5, "c": 0.5}}


def labels(text: str) -> pd.Categorical:
    return pd.Categorical([letter if letter != "-" else None for letter in text], categories=["a", "b", "c"])


def test_likelihoods_are_those_of_the_matrix_and_multiply() -> None:
    original = pd.DataFrame({"x": labels("abc-"), "y": labels("acb-")})
    masked = pd.DataFrame({"x": labels("bba-"), "y": labels("aca-")})
    attack = CategoryMatrix(("x", "y"), {"x": MATRIX, "y": MATRIX}, MISSING)
    likelihood = np.exp(attack.likelihood(paired(original, masked, VARIABLES))(np.array([0, 3])))
    assert likelihood[0] == pytest.approx([0.2 * 0.7, 0.2 * 0.1, 0.7 * 0.7, 0])  # (a, a) became (b, a), (b, c), (a, a)
    assert likelihood[1] == pytest.approx([0, 0, 0, 1])


def test_nobody_is_found_by_chance_alone_and_everybody_without_change() -> None:
    rng = np.random.default_rng(1)
    names = [f"v{number}" for number in range(12)]
    variables = {name: Variable(name=name, kind=Kind.NOMINAL, categories=("a", "b", "c")) for name in names}
    frame = pd.DataFrame({name: pd.Categorical.from_codes(rng.integers(0, 3, 300), list("abc")) for name in names})
    reached = []
    for retention in (1.0, 0.9, 1 / 3):
        (step,) = Pram(columns=tuple(names), retention=retention).fit(frame, variables)
        masked = step.mask(frame, variables, np.random.default_rng(2))
        (attack,) = step.attacks()
        file = paired(frame, masked, variables, rng=rng)
        reached.append([leak.measured.value for leak in attack.play(file)])
    assert reached[0] == pytest.approx([1, 1], abs=0.01)
    assert reached[1][0] > 0.8
    assert reached[1][1] > 0.8
    assert reached[2][0] < 0.03
    assert reached[2][1] == 0


def test_categories_that_a_later_recoding_made_are_compared_by_what_pairs_show() -> None:
    original = pd.DataFrame({"x": labels("abcabcabca")})
    wider = pd.DataFrame({"x": pd.Categorical(["ab", "ab", "c"] * 3 + ["ab"])})
    file = Pairs(original, VARIABLES, wider, wider, {"x": Variable(name="x", kind=Kind.NOMINAL)}, np.arange(10),
                 np.random.default_rng(0))  # fmt: skip
    logs = CategoryMatrix(("x",), {"x": MATRIX}, MISSING).likelihood(file)(np.arange(10))
    assert np.isfinite(logs).all()
    assert (logs[0, 0] > logs[0, 2]).all()
