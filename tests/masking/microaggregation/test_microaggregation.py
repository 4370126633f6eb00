"""Microaggregation by MDAV, and by its example what all methods of microaggregation share: variable groups, missing
values, restored variances. Published figures: tests/published/test_xiong_mdav.py.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.microaggregation import Microaggregation, mdav_groups
from tests.golden import golden
from tests.masking.survey import drawn


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


SIZES = ("none", "small", "medium", "large")
VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, maximum=1e6, unit="EUR", missing_codes=("-9",)),
    "age": Variable(
        name="age", kind=Kind.INTEGER, minimum=0, maximum=120, hierarchy=Hierarchy(rows={"30": ("30-39",)})
    ),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=SIZES),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south")),
}
ALL = tuple(VARIABLES)


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, n, seed)


@given(n=st.integers(8, 60), k=st.integers(2, 8), seed=st.integers(0, 1000))
def test_a_group_has_the_mean_of_all_or_the_values_of_one(n: int, k: int, seed: int) -> None:
    frame = survey(n, seed)
    means = Microaggregation(columns=ALL, k=k).mask(frame, VARIABLES, generator())
    assert means["income"].mean() == pytest.approx(frame["income"].mean(), rel=1e-12)
    one = Microaggregation(columns=ALL, k=k, representative="random").mask(frame, VARIABLES, generator())
    assert set(one.itertuples(index=False)) <= set(frame.itertuples(index=False))
    for name in ("income", "age"):
        assert means[name].dropna().between(frame[name].min(), frame[name].max()).all()


def test_variable_groups_are_masked_by_themselves() -> None:
    frame = survey(60)
    columns = ("income", "age", "size")
    groups = (("age", "income"), ("size",))
    sets = Microaggregation(columns=columns, k=5, variable_groups=groups).mask(frame, VARIABLES, generator())
    alone = Microaggregation(columns=("income", "age"), k=5).mask(frame, VARIABLES, generator())
    assert sets["income"].to_list() == pytest.approx(alone["income"].to_list())
    assert sets.groupby("size", observed=True).size().min() >= 5
    singly = Microaggregation(columns=columns, k=5, variable_groups="one_at_a_time")
    masked = singly.mask(frame, VARIABLES, generator())
    for name in columns:
        assert masked.groupby(name, observed=True).size().min() >= 5
    assert masked.groupby(list(columns), observed=True).size().min() < 5
    groups_of_age = mdav_groups(frame[["age"]].to_numpy(dtype=float), 5)
    assert masked["age"].to_list() == pytest.approx(frame.groupby(groups_of_age)["age"].transform("mean").to_list())


def test_a_random_member_gives_all_columns_of_its_set() -> None:
    frame = survey(60)
    step = Microaggregation(columns=ALL, k=5, variable_groups=(ALL[:2], ALL[2:]), representative="random")
    masked = step.mask(frame, VARIABLES, generator())
    for names in (ALL[:2], ALL[2:]):
        originals = set(frame[list(names)].itertuples(index=False))
        assert set(masked[list(names)].itertuples(index=False)) <= originals


def test_released_descriptions() -> None:
    released = Microaggregation(columns=("income", "age"), k=3).released(VARIABLES)
    assert released["income"].maximum == 1e6
    assert released["income"].unit == "EUR"
    assert released["income"].missing_codes == ()
    assert (released["age"].minimum, released["age"].hierarchy) == (0, None)
    restored = Microaggregation(columns=("income",), k=3, restore_variance=True).released(VARIABLES)
    assert (restored["income"].minimum, restored["income"].maximum) == (None, None)
    assert restored["age"] is VARIABLES["age"]


@pytest.mark.parametrize("representative", ["mean", "median", "mode", "random"])
def test_restored_means_and_variances_are_the_originals(representative: str) -> None:
    frame = survey(100).assign(constant=1.5)
    frame.iloc[:10, 0] = np.nan
    variables = {**VARIABLES, "constant": Variable(name="constant", kind=Kind.CONTINUOUS)}
    step = Microaggregation(
        columns=("income", "age", "constant"),
        k=6,
        restore_variance=True,
        representative=representative,
        missing="by_pattern",
    )
    masked = step.mask(frame, variables, generator())
    for name in ("income", "age"):
        assert masked[name].mean() == pytest.approx(frame[name].mean(), rel=1e-12)
        assert masked[name].std() == pytest.approx(frame[name].std(), rel=1e-12)
    assert (masked["constant"] == 1.5).all()


def test_one_group_has_no_variance_to_restore() -> None:
    with golden.raises(PlanError):
        Microaggregation(columns=("income",), k=5, restore_variance=True).mask(survey(9), VARIABLES, generator())


def test_without_standardising_the_largest_scale_decides() -> None:
    frame = pd.DataFrame({"income": [0.0, 1000, 1, 1001], "age": pd.Series([1, 2, 50, 60]).astype("Int64")})
    step = Microaggregation(columns=("income", "age"), k=2, standardise=False)
    assert step.mask(frame, VARIABLES, generator())["income"].to_list() == [0.5, 1000.5, 0.5, 1000.5]


def test_k_of_all_records_gives_one_record() -> None:
    frame = survey(9)
    step = Microaggregation(columns=ALL, k=9, representative="median")
    masked = step.mask(frame, VARIABLES, generator())
    assert len(masked.drop_duplicates()) == 1
    assert masked["income"].iloc[0] == frame["income"].median()
    assert masked["area"].iloc[0] == frame["area"].mode()[0]


# --- MDAV and its blocks --------------------------------------------------------------------------------------

COLUMNS = ("x", "y", "z")
NUMBERS = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in COLUMNS}


def numbers(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)), columns=list(COLUMNS))


def information_lost(frame: pd.DataFrame, masked: pd.DataFrame) -> float:
    """Sum of squared errors over the total sum of squares, of standardised columns."""
    return float(((frame - masked) ** 2).sum().div(((frame - frame.mean()) ** 2).sum()).mean())


def test_the_step_takes_the_groups_of_standardised_numbers() -> None:
    frame = numbers(60)
    groups = mdav_groups(((frame - frame.mean()) / frame.std()).to_numpy(), 4)
    masked = Microaggregation(columns=COLUMNS, k=4).mask(frame, NUMBERS, np.random.default_rng(0))
    pd.testing.assert_frame_equal(masked, frame.groupby(groups).transform("mean"))


def test_numbers_far_apart_in_scale() -> None:
    frame = pd.DataFrame({"x": [0.0, 1e100, 1.0, 1e100 * (1 + 1e-9)], "y": [1e-200, 3e-200, 2e-200, 4e-200]})
    masked = Microaggregation(columns=("x", "y"), k=2).mask(frame, NUMBERS, np.random.default_rng(0))
    assert masked["x"].to_list() == [0.5, 1e100 * (1 + 5e-10), 0.5, 1e100 * (1 + 5e-10)]
    assert masked["y"].to_list() == pytest.approx([1.5e-200, 3.5e-200, 1.5e-200, 3.5e-200])


def test_blocks_lose_little_and_hold_groups_of_k() -> None:
    frame = numbers(2000)
    exact = Microaggregation(columns=COLUMNS, k=3).mask(frame, NUMBERS, np.random.default_rng(0))
    blocks = Microaggregation(columns=COLUMNS, k=3, block_size=200).mask(frame, NUMBERS, np.random.default_rng(0))
    assert blocks.groupby(list(COLUMNS)).size().min() >= 3
    assert information_lost(frame, exact) < information_lost(frame, blocks) < 1.5 * information_lost(frame, exact)


def test_fewer_records_than_two_blocks_are_grouped_exactly() -> None:
    frame = numbers(99)
    exact = Microaggregation(columns=COLUMNS, k=3).mask(frame, NUMBERS, np.random.default_rng(0))
    blocks = Microaggregation(columns=COLUMNS, k=3, block_size=50).mask(frame, NUMBERS, np.random.default_rng(0))
    pd.testing.assert_frame_equal(exact, blocks)


def test_improved_groups_do_not_depend_on_the_order_of_the_records() -> None:
    frame = pd.DataFrame(np.random.default_rng(5).integers(0, 30, (120, 2)).astype(float), columns=["a", "b"])
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "ab"}
    step = Microaggregation(columns=("a", "b"), k=4, improve=True)

    def values(of: pd.DataFrame) -> list[list[float]]:
        masked = step.mask(of, variables, np.random.default_rng(0))
        assert masked.index.equals(of.index)
        return sorted(pd.concat([of, masked], axis=1).round(9).to_numpy().tolist())

    assert values(frame) == values(frame.sample(frac=1, random_state=1))
