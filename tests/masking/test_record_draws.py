"""Noise that belongs to a record: the same for the same value in every edition, another for anything else."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.comparable_values import Hashes
from sluice.ground.errors import PlanError
from sluice.masking.masking_step import RecordDraws
from sluice.masking.plan import apply_plan
from tests.flows.house import survey
from tests.golden import golden
from tests.red_team.files import _STEP
from tests.typed_frame import typed_frame


def keys(count: int) -> Hashes:
    return np.random.default_rng(1).integers(0, 2**64, count, dtype=np.uint64)


def masked(records: pd.DataFrame, of: Hashes, step: dict[str, Any], seed: int) -> pd.DataFrame:
    frame, variables = typed_frame(records.astype(str))
    plan = [_STEP.validate_python(step)]
    return apply_plan(plan, frame, variables, np.random.SeedSequence(seed), of)[0]


RECORDS = survey(2000)[["age", "sex", "region", "town", "income"]]
STEPS = [
    {"method": "additive_noise", "columns": ["income"], "amount": 0.1},
    {"method": "additive_noise", "columns": ["income"], "amount": 0.1, "strata": ["sex"]},
    {"method": "random_rounding", "columns": ["income"], "base": 5000},
    {"method": "pram", "columns": ["town"], "retention": 0.7},
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step['method']} {step.get('strata', '')}")
def test_an_unchanged_record_keeps_its_noise_and_a_changed_one_does_not(step: dict[str, Any]) -> None:
    (name,) = step["columns"]
    first = masked(RECORDS, keys(2000), step, 1)
    later = RECORDS.iloc[1:].copy()
    changed = later.index[:200]
    later.loc[changed, name] = "Aldby" if name == "town" else later.loc[changed, name] + 1000
    later = later.sample(frac=1, random_state=1)
    at = later.index
    second = masked(later, keys(2000)[at], step, 2)
    before, after = first[name].loc[at].to_numpy(), second[name].to_numpy()
    stayed = ~at.isin(changed)
    assert (before[stayed] == after[stayed]).all()
    assert (before[~stayed] != after[~stayed]).mean() > 0.2
    other = masked(RECORDS, keys(2000), step | {"columns": [name, "age" if name == "income" else "region"]}, 1)
    if step["method"] != "random_rounding":
        assert (other[name].to_numpy() != first[name].to_numpy()).mean() > 0.2  # another step draws others


def test_a_sample_keeps_most_of_its_people() -> None:
    step = {"method": "sampling", "fraction": 0.5}
    first = set(masked(RECORDS, keys(2000), step, 1).index)
    second = set(masked(RECORDS.iloc[:1900], keys(2000)[:1900], step, 2).index)
    assert len(first) == 1000
    assert len(second) == 950
    assert len(second - first) <= 30


def test_noise_of_another_scale_is_drawn_anew_so_that_no_difference_tells_a_draw() -> None:
    step = STEPS[0]
    first = masked(RECORDS, keys(2000), step, 1)["income"]
    wider = RECORDS.assign(income=RECORDS["income"].where(RECORDS.index > 0, 10_000_000.0))
    second = masked(wider, keys(2000), step, 1)["income"]
    noise = (first - RECORDS["income"]).iloc[1:], (second - RECORDS["income"]).iloc[1:]
    assert abs(np.corrcoef(*noise)[0, 1]) < 0.1
    narrow = RECORDS.assign(income=RECORDS["income"].where(RECORDS.index > 0, 20_000.0))
    third = masked(narrow, keys(2000), step, 1)["income"]
    assert (third.iloc[1:] == first.iloc[1:]).mean() in (0.0, 1.0)


def test_the_draws_are_uniform_and_normal_and_of_no_two_purposes_the_same() -> None:
    draws = RecordDraws(keys(20_000), "step")
    uniform, other = draws.uniform("a"), draws.uniform("b")
    assert ((uniform >= 0) & (uniform < 1)).all()
    counts = np.bincount((uniform * 20).astype(int), minlength=20)
    assert ((counts - 1000) ** 2 / 1000).sum() < 45  # chi squared of 19 degrees of freedom, one in a thousand
    assert abs(np.corrcoef(uniform, other)[0, 1]) < 0.03
    normal = draws.normal("a", pd.Series(np.zeros(20_000)))
    assert abs(normal.mean()) < 0.03
    assert abs(normal.std() - 1) < 0.03
    assert np.isfinite(normal).all()
    assert (draws.of(np.array([5, 3])).uniform("a") == uniform[[5, 3]]).all()


@pytest.mark.parametrize(
    "step",
    [
        {"method": "additive_noise", "columns": ["income", "age"], "amount": 0.1, "kind": "correlated"},
        {"method": "pram", "columns": ["town"], "retention": 0.7, "invariant": True},
        {"method": "rank_swapping", "columns": ["income"], "window": 0.2},
    ],
)
def test_what_is_read_off_the_whole_file_is_drawn_from_the_seed(step: dict[str, Any]) -> None:
    assert not _STEP.validate_python(step).draws_by_record
    first, second = masked(RECORDS, keys(2000), step, 1), masked(RECORDS, keys(2000), step, 2)
    (name, *_) = step["columns"]
    assert (first[name].to_numpy() != second[name].to_numpy()).any()
    frame, variables = typed_frame(RECORDS.astype(str))
    swap = _STEP.validate_python({"method": "rank_swapping", "columns": ["income"], "window": 0.2})
    with golden.raises(NotImplementedError):
        swap.mask_by_record(frame, variables, RecordDraws(keys(2000), ""))


def test_too_few_values_are_refused_as_by_the_method_itself() -> None:
    with golden.raises(PlanError):
        masked(RECORDS.iloc[:1].assign(income=[1.5]), keys(1), STEPS[0], 1)
