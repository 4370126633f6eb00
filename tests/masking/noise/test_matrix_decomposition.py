"""Matrix decomposition. Not checked: the rows with d of Yamazoe and Omote's Tables 1 to 4, whose coding is not
given.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.microaggregation import Microaggregation
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.noise.matrix_decomposition import MatrixDecomposition, low_rank, non_negative_low_rank
from sluice.masking.plan import apply_plan
from tests.golden import golden
from tests.masking.survey import drawn


@given(n=st.integers(2, 60), m=st.integers(1, 8), data=st.data(), seed=st.integers(0, 1000))
def test_the_error_is_what_the_small_singular_values_hold(n: int, m: int, data: st.DataObject, seed: int) -> None:
    """Eckart and Young, by NumPy's singular values: no matrix of this rank is nearer, and column means are kept."""
    rank = data.draw(st.integers(1, m))
    values = np.random.default_rng(seed).normal(size=(n, m)) * np.arange(1, m + 1) + 7
    near = low_rank(values, rank)
    assert near.mean(axis=0) == pytest.approx(values.mean(axis=0))
    left_out = np.linalg.svd(values - values.mean(axis=0), compute_uv=False)[rank:]
    assert ((near - values) ** 2).sum() == pytest.approx((left_out**2).sum(), abs=1e-9)
    assert np.linalg.matrix_rank(near - near.mean(axis=0), tol=1e-6) <= rank


def test_principal_components_of_scikit_learn_give_the_same_matrix() -> None:
    values = np.random.default_rng(0).normal(size=(200, 6)) @ np.random.default_rng(1).normal(size=(6, 6))
    for rank in (1, 3, 5):
        model = PCA(n_components=rank)
        assert low_rank(values, rank) == pytest.approx(model.inverse_transform(model.fit_transform(values)))


def test_the_full_rank_changes_nothing() -> None:
    values = np.random.default_rng(0).lognormal(size=(30, 4))
    assert low_rank(values, 4) == pytest.approx(values)


def test_non_negative_factors_find_a_product_of_their_kind() -> None:
    rng = np.random.default_rng(0)
    product = rng.uniform(size=(60, 2)) @ rng.uniform(size=(2, 6))
    near = non_negative_low_rank(product, 2, rng)
    assert (near >= 0).all()
    assert near == pytest.approx(product, abs=0.02)
    rough = non_negative_low_rank(product, 1, rng)
    assert np.linalg.matrix_rank(rough, tol=1e-9) == 1
    # Of rank 1 the nearest matrix of all has no negative entries (Perron and Frobenius), so it is found.
    left, sizes, right = np.linalg.svd(product)
    assert rough == pytest.approx(sizes[0] * np.outer(left[:, 0], right[0]), abs=0.01)


# --- the step -------------------------------------------------------------------------------------------------------

SIZES = ("none", "small", "medium", "large")
VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, nullable=True),
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90, nullable=True),
    "balance": Variable(name="balance", kind=Kind.CONTINUOUS),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=SIZES, nullable=True),
    "smoker": Variable(name="smoker", kind=Kind.BINARY, categories=("no", "yes")),
    "note": Variable(name="note", kind=Kind.TEXT),
}
NUMBERS = ("income", "age", "balance")
ALL = (*NUMBERS, "size", "smoker")  # coded in 3 + 4 + 2 columns


def survey(n: int, missing: bool = False, seed: int = 0) -> pd.DataFrame:
    frame = drawn(VARIABLES, n, seed, 0.2 if missing else 0)
    return frame.assign(balance=1e8 * np.random.default_rng(seed).normal(size=n) + 3e5 * frame["balance"])


def test_adult_is_coded_in_107_columns(reference_data: Path) -> None:
    """Yamazoe and Omote (2021), section 5: Adult has more than 100 attributes when one-hot encoded: 107 without fnlwgt,
    '?' a category.
    """
    read = {"header": None, "skipinitialspace": True, "comment": "|"}
    both = [pd.read_csv(reference_data / "adult" / file, **read) for file in ("adult.data.gz", "adult.test.gz")]
    adult = pd.concat(both, ignore_index=True).drop(columns=[2, 14]).add_prefix("x")
    numeric = ["x0", "x4", "x10", "x11", "x12"]
    texts = [name for name in adult if name not in numeric]
    adult = adult.astype(dict.fromkeys(numeric, "float64") | dict.fromkeys(texts, "category")).head(10_000)
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in numeric}
    variables |= {name: Variable(name=name, kind=Kind.NOMINAL) for name in texts}
    rng = np.random.default_rng(0)
    with golden.raises(PlanError):
        MatrixDecomposition(columns=tuple(adult), rank=108).mask(adult, variables, rng)
    released = [
        MatrixDecomposition(columns=tuple(adult), rank=rank).mask(adult, variables, rng) for rank in (3, 30, 107)
    ]
    agreement = [(masked[texts] == adult[texts]).mean(axis=None) for masked in released]
    assert agreement[0] < agreement[1] < agreement[2] == 1


def test_columns_count_alike_unless_not_standardised() -> None:
    """`balance` is far larger than the others: it alone makes the first direction, unless it is put on their scale."""
    frame, rng = survey(500), np.random.default_rng(0)
    raw = MatrixDecomposition(columns=NUMBERS, rank=1, standardise=False).mask(frame, VARIABLES, rng)
    assert raw["balance"].to_numpy() == pytest.approx(frame["balance"].to_numpy(), rel=1e-6)
    scaled = MatrixDecomposition(columns=NUMBERS, rank=1).mask(frame, VARIABLES, rng)
    assert abs(np.corrcoef(scaled["balance"], frame["balance"])[0, 1]) < 0.95
    assert np.corrcoef(scaled["age"], frame["age"].astype(float))[0, 1] > 0.75
    for name in NUMBERS:
        assert scaled[name].mean() == pytest.approx(frame[name].mean())
        assert scaled[name].std() < frame[name].std()


def test_categories_come_back_as_the_most_probable() -> None:
    frame, rng = survey(500), np.random.default_rng(0)
    full = MatrixDecomposition(columns=ALL, rank=9).mask(frame, VARIABLES, rng)
    assert full[["size", "smoker"]].equals(frame[["size", "smoker"]])
    assert full["balance"].to_numpy() == pytest.approx(frame["balance"].to_numpy())
    near = MatrixDecomposition(columns=ALL, rank=2).mask(frame, VARIABLES, rng)
    assert 0.3 < (near["size"] == frame["size"]).mean() < 1
    assert (near["smoker"] == frame["smoker"]).mean() > 0.6


@pytest.mark.parametrize(
    "then",
    [
        Microaggregation(columns=NUMBERS, k=5),
        AdditiveNoise(columns=NUMBERS, kind="correlated", amount=0.2, corrected=True),
    ],
)
def test_it_goes_before_microaggregation_or_noise(then: Microaggregation | AdditiveNoise) -> None:
    """Yamazoe and Omote (2021), section 3.1: matrix decomposition combined with k-anonymization or noise addition."""
    frame = survey(200)
    first = MatrixDecomposition(columns=ALL, rank=3)
    masked, carried_out = apply_plan([first, then], frame, VARIABLES, np.random.SeedSequence(0))
    alone, _ = apply_plan([first], frame, VARIABLES, np.random.SeedSequence(0))
    assert [step.method for step in carried_out] == ["matrix_decomposition", then.method]
    assert masked[["size", "smoker"]].equals(alone[["size", "smoker"]])
    assert masked["income"].mean() == pytest.approx(frame["income"].mean())
    assert not np.allclose(masked["income"], alone["income"])
    if isinstance(then, Microaggregation):
        assert masked.groupby(list(NUMBERS)).size().min() >= 5


@pytest.mark.parametrize(
    ("step", "balance"),
    [
        ({"columns": ("balance", "smoker"), "rank": 4}, np.arange(20.0)),
        ({"rank": 1, "factorisation": "non_negative"}, np.resize([-1.0, 1.0], 20)),
        ({"rank": 1, "standardise": False}, 1e200 * np.arange(20.0)),
    ],
)
def test_what_cannot_be_factorised_is_refused(step: dict[str, Any], balance: np.ndarray) -> None:
    with golden.raises(PlanError):
        MatrixDecomposition.model_validate({"columns": ("balance",)} | step).mask(
            survey(20).assign(balance=balance), VARIABLES, np.random.default_rng(0)
        )
