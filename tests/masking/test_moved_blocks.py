"""Blocks: where the values went that a plan moves together."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.comparable_values import Hashes
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.masking_step import MaskingStep
from sluice.masking.moved_blocks import moved_blocks
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.plan import apply_plan
from sluice.masking.recoding.sampling import Sampling
from sluice.masking.swapping.anatomization import Anatomization
from sluice.masking.swapping.data_swapping import DataSwapping
from sluice.masking.swapping.permutation import Permutation

FRAME = pd.DataFrame(
    {
        "home": [str(at // 2) for at in range(60)],
        "area": pd.Categorical([str(at % 3) for at in range(60)]),
        "a": np.arange(60.0) // 2 * 2,
        "b": np.arange(60.0) // 2 * 2 + 1000,
        "c": np.arange(60.0) + 5000,
    }
)
VARIABLES = {
    "home": Variable(name="home", kind=Kind.TEXT, role=Role.HOUSEHOLD),
    "area": Variable(name="area", kind=Kind.NOMINAL),
    **{name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "abc"},
}


def seed() -> np.random.SeedSequence:
    return np.random.SeedSequence(4)


@pytest.mark.parametrize(
    "settings", [{}, {"within": ("area",)}, {"strata": ("area",)}, {"unit": "household"}], ids=lambda each: str(each)
)
def test_the_row_of_a_block_holds_the_values_of_its_person(settings: dict[str, Any]) -> None:
    plan = [Permutation(columns=("a", "b"), **settings)]
    masked, _ = apply_plan(plan, FRAME, VARIABLES, seed())
    (block,) = moved_blocks(plan, FRAME, VARIABLES, seed())
    assert block.columns == ("a", "b")
    moved = masked.iloc[block.rows].reset_index(drop=True)
    assert (moved[["a", "b"]] == FRAME[["a", "b"]]).all(axis=None)
    assert (block.rows != np.arange(60)).any()


@pytest.mark.parametrize("keys", [None, np.arange(60, dtype=np.uint64)], ids=["seed", "record keys"])
def test_a_sample_before_and_noise_after_make_no_difference(keys: Hashes | None) -> None:
    plan = [Sampling(fraction=0.5), Permutation(columns=("a", "b")), AdditiveNoise(columns=("a",), amount=0.1)]
    masked, _ = apply_plan(plan, FRAME, VARIABLES, seed(), keys)
    (block,) = moved_blocks(plan, FRAME, VARIABLES, seed(), keys)
    assert block.columns == ("a", "b")
    kept = np.sort(masked.index.to_numpy())
    held = block.among(kept)
    assert (held.rows >= 0).sum() == len(kept) == 30
    people = np.flatnonzero(held.rows >= 0)
    assert (masked["b"].to_numpy()[held.rows[people]] == FRAME["b"].to_numpy()[kept[people]]).all()


def test_columns_that_move_by_themselves_are_no_block() -> None:
    assert moved_blocks([Permutation(columns=("a", "b"), jointly=False)], FRAME, VARIABLES, seed()) == ()


@pytest.mark.parametrize(
    "step",
    [
        DataSwapping(columns=("a", "b"), swap_rate=1.0, unmatched="keep"),
        DataSwapping(columns=("a", "b"), swap_rate=0.5, unit="record", unmatched="keep"),
        Anatomization(columns=("b", "c"), l=3),
    ],
    ids=["households", "records", "groups"],
)
def test_other_methods_that_move_values_together_draw_the_same_when_they_are_followed(step: MaskingStep) -> None:
    masked, _ = apply_plan([step], FRAME, VARIABLES, seed())
    (block,) = moved_blocks([step], FRAME, VARIABLES, seed())
    assert block.columns == step.columns
    names = list(step.columns)
    assert sorted(block.rows) == list(range(60))
    assert (masked.iloc[block.rows].reset_index(drop=True)[names] == FRAME[names]).all(axis=None)
    assert (block.rows != np.arange(60)).any()


def test_what_several_steps_moved_is_followed_to_the_row_with_most_of_it() -> None:
    plan = [
        Permutation(columns=("a", "b", "c", "area")),
        Permutation(columns=("a", "b"), within=("rare",), small_groups="keep"),
    ]
    frame = FRAME.assign(rare=[str(min(at, 40)) for at in range(60)])  # 20 of the 60 move once more
    variables = VARIABLES | {"rare": Variable(name="rare", kind=Kind.TEXT)}
    masked, _ = apply_plan(plan, frame, variables, seed())
    blocks = {block.columns: block.rows for block in moved_blocks(plan, frame, variables, seed())}
    assert set(blocks) == {("a", "b"), ("area", "c"), ("area", "a", "b", "c")}
    rows = blocks[("area", "a", "b", "c")]
    assert sorted(rows) == list(range(60))
    whole = (masked.iloc[rows].reset_index(drop=True)[["b", "c"]] == frame[["b", "c"]]).all(axis=1)
    assert whole.sum() >= 40


def test_columns_that_several_steps_moved_apart_are_no_block() -> None:
    plan = [Permutation(columns=("a", "b")), Permutation(columns=("b", "c"))]
    assert [block.columns for block in moved_blocks(plan, FRAME, VARIABLES, seed())] == []
