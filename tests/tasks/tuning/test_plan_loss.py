"""The loss of a file: distances of pairs on common bins of the original as it was."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Kind, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.comparison import Comparison
from tasks.tuning.plan_loss import PairDistances, loss_of, pair_distances
from tasks.tuning.space import LossWeights


def files(original: dict[str, list[str]], masked: dict[str, list[str]]) -> Comparison:
    def frame(content: dict[str, list[str]]) -> pd.DataFrame:
        return pd.DataFrame({name: pd.Categorical(values, ["a", "b"]) for name, values in content.items()})

    variables = {name: Variable(name=name, kind=Kind.NOMINAL, categories=("a", "b")) for name in original}
    released = {name: variables[name] for name in masked}
    before = frame(original)
    return Comparison(
        original=before, recoded=before[list(masked)], masked=frame(masked), holdout=None, variables=variables,
        released=released, rng=np.random.default_rng(0),
    )  # fmt: skip


def test_the_distance_of_one_pair_by_hand() -> None:
    # Original pairs: aa, ab, bb, bb; masked: aa, aa, bb, ba. Shares differ by 1/4, 1/4, 1/4 and 1/4; half their sum.
    before = {"x": ["a", "a", "b", "b"], "y": ["a", "b", "b", "b"]}
    after = {"x": ["a", "a", "b", "b"], "y": ["a", "a", "b", "a"]}
    assert pair_distances(files(before, after)).mean == pytest.approx(0.5)


def test_an_unchanged_file_loses_nothing_and_a_dropped_variable_all_pairs_it_is_in() -> None:
    before = {"x": ["a", "a", "b", "b"], "y": ["a", "b", "b", "b"], "z": ["a", "b", "a", "b"]}
    assert pair_distances(files(before, before)).mean == 0
    assert pair_distances(files(before, {"x": before["x"], "y": before["y"]})).mean == pytest.approx(2 / 3)


def test_one_value_for_all_is_no_better_than_the_variable_left_out() -> None:
    before = {"x": ["a", "a", "b", "b"] * 10, "y": ["a", "b", "b", "b"] * 10}  # more than a sample may be by chance
    constant = files(before, before | {"y": ["b"] * 40})
    assert pair_distances(constant).mean == pair_distances(files(before, {"x": before["x"]})).mean == 1


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab")), min_size=1, max_size=30), st.randoms())
def test_the_order_of_the_records_does_not_matter(rows: list[tuple[str, str]], random: object) -> None:
    before = {"x": [row[0] for row in rows], "y": [row[1] for row in rows]}
    after = {"x": before["x"][::-1], "y": before["y"][::-1]}
    once_each = len(set(before["x"])) > 1 and len(set(before["y"])) > 1
    assert not once_each or pair_distances(files(before, after)).mean == pytest.approx(0)


def test_variables_of_weight_0_do_not_count() -> None:
    before = {"x": ["a", "a", "b", "b"], "y": ["a", "b", "b", "b"], "z": ["a", "b", "a", "b"]}
    without_z = files(before, {"x": before["x"], "y": before["y"]})
    assert pair_distances(without_z, {"z": 0}).mean == 0


def test_measures_of_a_policy_count_as_weighed_and_what_was_not_measured_makes_the_loss_unknown() -> None:
    found = Finding(rule="mean", verdict=Verdict.PASS, says="", observed=0.2)
    assert loss_of(0.5, LossWeights(measures={"mean": 2}), [found]) == pytest.approx(0.9)
    assert np.isnan(loss_of(0.5, LossWeights(measures={"entropy": 1}), [found]))


def test_what_a_sample_leaves_out_is_lost() -> None:
    # Kept: aa, bb; left out: ab, ab. So half of the original's records stand where no masked one does
    kept = files({"x": ["a", "b"], "y": ["a", "b"]}, {"x": ["a", "b"], "y": ["a", "b"]})
    others = files({"x": ["a", "a"], "y": ["b", "b"]}, {"x": ["a", "a"], "y": ["b", "b"]}).original
    assert pair_distances(kept).mean == 0
    assert pair_distances(replace(kept, left_out=(others, others))).mean == pytest.approx(0.5)


def test_the_loss_among_the_kept_variables_leaves_out_those_that_were_removed_or_have_one_value() -> None:
    before = {
        "x": ["a", "a", "b", "b"],
        "y": ["a", "b", "b", "b"],
        "z": ["a", "b", "a", "b"],
        "w": ["a", "b", "b", "b"],
    }
    after = {"x": before["x"], "y": ["a", "a", "b", "a"], "w": ["b", "b", "b", "b"]}
    found = pair_distances(files(before, after))
    assert (found.kept, found.of) == (2, 4)
    assert found.among == pytest.approx(0.5)  # of x and y, as above
    assert found.mean == pytest.approx((0.5 + 5 * 1) / 6)
    assert pair_distances(files({}, {})) == PairDistances()
