"""Which columns go with nothing, and which of them may be the original ones, moved or drawn anew."""

import numpy as np
import pandas as pd
import pytest

from sluice.risk.reference.idle_columns import alone_share, idle_columns, is_drawn_alike, is_tied

N = 2_000
RNG = np.random.default_rng(1)
AGE = RNG.integers(18, 90, N).astype(float)
INCOME = np.round(np.exp(8 + AGE / 60 + RNG.normal(0, 0.7, N)), 2)
NUMBER = RNG.permutation(N)
CIPHER = NUMBER * 741_457 % 1_000_003
SEX = pd.Series(pd.Categorical(RNG.choice(["f", "m"], N)))


def test_a_cipher_goes_with_nothing() -> None:
    bent = (AGE - 50) ** 2 + RNG.normal(0, 50, N)  # no rank correlation
    columns = {"age": AGE, "income": INCOME, "bent": bent, "cipher": CIPHER, "noise": RNG.normal(size=N)}
    found = idle_columns({name: pd.Series(values) for name, values in columns.items()} | {"sex": SEX})
    assert found == {"cipher", "noise", "sex"}
    assert idle_columns({"one": pd.Series(np.ones(N))}) == {"one"}


@pytest.mark.parametrize(
    ("released", "original", "tied"),
    [
        (INCOME + RNG.normal(0, 0.5 * INCOME.std(), N), INCOME, True),
        (INCOME + RNG.normal(0, 2 * INCOME.std(), N), INCOME, True),
        (np.round(INCOME, -3), INCOME, True),
        (-INCOME, INCOME, True),
        (RNG.permutation(INCOME), INCOME, False),
        (CIPHER, NUMBER, False),
        (NUMBER * 3 % 2003, NUMBER, False),  # correlated by a third, and no noise
    ],
)
def test_ties(released: np.ndarray, original: np.ndarray, tied: bool) -> None:
    assert is_tied(pd.Series(released), pd.Series(original)) is tied


@pytest.mark.parametrize(
    ("released", "original", "alike"),
    [
        (RNG.permutation(INCOME), INCOME, True),
        (INCOME * np.exp(RNG.normal(0, 0.05, N)), INCOME, True),
        (CIPHER, NUMBER, False),
        (RNG.permutation(NUMBER), NUMBER, False),  # running numbers again
        (NUMBER % 1000, np.arange(N) % 1000, False),  # half of one, evenly spread
        (RNG.permutation(AGE), AGE, False),  # as even as a cipher's part
        (RNG.permutation(AGE // 10), AGE // 10, True),
        (np.full(N, np.nan), AGE, False),
    ],
)
def test_drawn_alike(released: np.ndarray, original: np.ndarray, alike: bool) -> None:
    assert is_drawn_alike(pd.Series(released), pd.Series(original)) is alike


def test_labels_drawn_alike() -> None:
    hashes = pd.Series(pd.Categorical([f"{code:x}" for code in CIPHER]))
    assert not is_drawn_alike(hashes, hashes.sample(frac=1, random_state=1))
    assert is_drawn_alike(SEX.sample(frac=1, random_state=1), SEX)
    assert not is_drawn_alike(SEX.cat.rename_categories({"f": "x", "m": "y"}), SEX)


def test_who_is_alone() -> None:
    frame = pd.DataFrame({"one": [1, 1, 2, 2], "two": [1, 2, 1, 1]})
    assert alone_share(frame, ["one"]) == 0
    assert alone_share(frame, ["one", "two"]) == 0.5
