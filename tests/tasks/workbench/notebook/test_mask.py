import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import sluice
from sluice.ground.errors import DataError, DocumentError, PlanError
from sluice.ground.variables import Kind
from sluice.masking.swapping.rank_swapping import RankSwapping
from tasks.workbench.file_masking import mask_file
from tests.golden import golden

PLAN: list[dict[str, Any]] = [
    {"method": "removal", "columns": ["occupation_husb"]},
    {"method": "global_recoding", "columns": ["age"], "bins": [25, 35]},
    {"method": "top_bottom_coding", "columns": ["affairs"], "top": {"quantile": 0.99}},
    {"method": "pram", "columns": ["religious"], "retention": 0.8, "invariant": True},
    {"method": "additive_noise", "columns": ["rate_marriage"], "amount": 0.1},
]
KINDS = {"religious": "ordinal"}


@pytest.fixture(scope="module")
def masked(fair: pd.DataFrame) -> Any:
    return sluice.mask(fair, PLAN, kinds=KINDS, quasi_identifiers=["age", "religious"], seed=7)


def test_the_frame_is_that_of_sluice_mask_with_the_same_seed(fair: pd.DataFrame, masked: Any, tmp_path: Path) -> None:
    fair.to_csv(tmp_path / "fair.csv", index=False)
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(PLAN))
    (tmp_path / "seed").write_text("7")
    mask_file(
        tmp_path / "fair.csv", tmp_path / "plan.yaml", tmp_path / "masked.csv", seed_file=tmp_path / "seed",
        kinds={"religious": Kind.ORDINAL},
    )  # fmt: skip
    written = pd.read_csv(tmp_path / "masked.csv")
    assert list(written) == list(masked.frame)
    for name in written:
        assert written[name].astype(str).tolist() == masked.frame[name].astype(written[name].dtype).astype(str).tolist()
    assert masked.frame.attrs["sluice:judged"] is False
    again = sluice.mask(fair, tmp_path / "plan.yaml", kinds=KINDS, quasi_identifiers=["age", "religious"], seed=7)
    pd.testing.assert_frame_equal(again.frame, masked.frame)


def test_all_that_an_analyst_needs_is_on_the_result(fair: pd.DataFrame, masked: Any) -> None:
    matrix = masked.transition_matrix("religious")
    assert list(matrix.index) == list(matrix.columns) == ["1", "2", "3", "4"]
    assert np.allclose(matrix.sum(axis=1), 1)
    frequencies = fair["religious"].value_counts(normalize=True).sort_index().to_numpy()
    assert np.allclose(frequencies @ matrix.to_numpy(), frequencies)  # invariant, as the plan says
    assert masked.parameters[0]["rounded_to"] == 0.01  # what would be published tells less
    threshold = masked.carried_out[2].top.value
    assert threshold == fair["affairs"].quantile(0.99) == masked.frame["affairs"].max()
    assert masked.noise_variance("rate_marriage") == pytest.approx(0.1 * fair["rate_marriage"].var())
    assert masked.changes.loc["rate_marriage", "variance_added"] == pytest.approx(
        masked.noise_variance("rate_marriage"), rel=0.1
    )
    assert masked.changes.loc["age", ["recoded", "changed"]].tolist() == [1.0, 0.0]
    assert (masked.columns_removed, masked.records_masked, masked.steps) == (1, 6366, 5)
    assert masked.kept.all()


def test_the_result_reads_like_a_data_frame(masked: Any, tmp_path: Path) -> None:
    frame = masked.frame
    assert (list(masked), list(masked.columns), len(masked), masked.shape) == (
        [*frame], [*frame.columns], len(frame), frame.shape,
    )  # fmt: skip
    assert "age" in masked
    pd.testing.assert_series_equal(masked["age"], frame["age"])
    pd.testing.assert_frame_equal(masked[["age", "educ"]].head(3), frame[["age", "educ"]].head(3))
    assert masked.groupby("age", observed=True).size().equals(frame.groupby("age", observed=True).size())
    masked.to_csv(tmp_path / "masked.csv", index=False)
    assert len(pd.read_csv(tmp_path / "masked.csv")) == len(frame)
    with pytest.raises(AttributeError, match="no_such"):
        masked.no_such  # noqa: B018
    again = pickle.loads(pickle.dumps(masked))
    pd.testing.assert_frame_equal(again.frame, frame)


def test_the_kinds_that_were_inferred_are_shown(masked: Any) -> None:
    kinds = masked.table.set_index("column")["taken for"].to_dict()
    assert kinds == {name: masked.original.variables[name].kind.value for name in masked}
    assert "taken for" in masked._repr_html_()


def test_its_result_may_be_measured_without_naming_columns_again(masked: Any) -> None:
    found = sluice.k_anonymity(masked)
    assert found.quasi_identifiers == ("age", "religious")
    assert found.combinations == 12
    golden.refused(DataError, sluice.k_anonymity, masked, ["age"])


def test_a_sample_tells_which_records_are_in_it(fair: pd.DataFrame) -> None:
    frame = fair.set_axis(np.arange(len(fair)) + 100_000)
    found = sluice.mask(frame, {"method": "sampling", "fraction": 0.25}, seed=np.random.default_rng(3))
    assert found.records_masked == found.kept.sum() == round(0.25 * len(fair))
    assert found.frame.index.equals(frame.index[found.kept])
    assert (found.frame["affairs"] == frame.loc[found.frame.index, "affairs"]).all()


def test_a_step_by_strata_is_fitted_in_each(fair: pd.DataFrame) -> None:
    step = {"method": "pram", "columns": ["children"], "retention": 0.9, "strata": ["religious"], "invariant": True}
    found = sluice.mask(fair, [step], kinds={"children": "ordinal", "religious": "ordinal"}, seed=1)
    assert len(found.carried_out[0].fitted) == 4  # type: ignore[union-attr]
    golden.refused(DataError, found.transition_matrix, "children")


def test_steps_may_be_models_and_seeds_generators(fair: pd.DataFrame) -> None:
    step = RankSwapping(columns=("affairs",), window=0.05)
    first, second = (sluice.mask(fair, step, seed=np.random.default_rng(5)).frame for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    assert sorted(first["affairs"]) == sorted(fair["affairs"])
    assert not sluice.mask(fair, step).frame.equals(sluice.mask(fair, step).frame)


def test_an_ordered_category_column_is_ordinal_in_its_order() -> None:
    sizes = pd.Categorical(["small", "large", "medium"] * 10, ["small", "medium", "large"], ordered=True)
    found = sluice.mask(pd.DataFrame({"size": sizes}), {"method": "rank_swapping", "columns": ["size"], "window": 0.2})
    assert found.records.variables["size"].categories == ("small", "medium", "large")
    assert found.frame["size"].cat.ordered


def test_identifiers_of_the_contract_do_not_come_out(fair: pd.DataFrame) -> None:
    frame = fair.assign(respondent=np.arange(len(fair)) + 100_001)
    found = sluice.mask(
        frame, {"method": "rank_swapping", "columns": ["affairs"], "window": 0.05}, contract="schemas/fair_survey.yaml"
    )
    assert 100_001 not in found.frame.get("respondent", pd.Series(dtype=object)).tolist()
    assert found.released.unit == "women"


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        ([{"method": "pramm", "columns": ["age"]}], DocumentError),
        ([{"columns": ["age"]}], DocumentError),
        ([{"method": "rounding", "columns": ["age"], "bse": 5}], DocumentError),
        ([], DocumentError),
        (3, TypeError),
        ("pram", DataError),
        (["pram"], TypeError),
        ("no/such/plan.yaml", DocumentError),
        ({"method": "rounding", "columns": ["agee"], "base": 5}, PlanError),
        ({"method": "pram", "columns": ["affairs"], "retention": 0.9}, PlanError),
    ],
)
def test_refuses_a_wrong_plan(fair: pd.DataFrame, plan: Any, error: type[Exception]) -> None:
    golden.refused(error, sluice.mask, fair, plan)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"seed": "1"}, TypeError),
        ({"seed": -1}, DataError),
        ({"kinds": {"age": "ordnial"}}, DataError),
        ({"kinds": {"agee": "ordinal"}}, DataError),
        ({"kinds": "ordinal"}, TypeError),
        ({"household": "family"}, DataError),
        ({"sensitive": ["age"], "quasi_identifiers": ["age"]}, DataError),
    ],
)
def test_refuses_wrong_arguments(fair: pd.DataFrame, given: dict[str, Any], error: type[Exception]) -> None:
    golden.refused(error, sluice.mask, fair, PLAN[1], **given)


def test_refusals_of_the_result(masked: Any) -> None:
    golden.refused(DataError, masked.transition_matrix, "religion")
    golden.refused(DataError, masked.noise_variance, "affairs")
    golden.refused(DataError, masked.plot, column="agee")


@pytest.mark.filterwarnings("error")
def test_columns_without_a_number_have_no_mean_change_and_warn_of_nothing() -> None:
    frame = pd.DataFrame({"n": [1.0, 2.0, None, 4.0] * 5, "none": [np.nan] * 20, "one": [1.0] + [np.nan] * 19})
    changes = sluice.mask(frame, {"method": "rounding", "columns": ["n"], "base": 2}, seed=1).changes
    assert changes["mean_added"].isna().tolist() == [False, True, False]
    assert changes["variance_added"].isna().tolist() == [False, True, True]


@pytest.mark.filterwarnings("error")
def test_numbers_whose_squares_are_too_large_bring_no_warning() -> None:
    frame = pd.DataFrame({"x": np.linspace(-1.0, 1.0, 40) * 1e300})
    made = sluice.mask(frame, [{"method": "rank_swapping", "columns": ["x"], "window": 0.2}])
    assert np.isinf(made.changes.loc["x", "variance_added"])
