"""sluice.masking.synthesis.sequential_trees and the leaves it draws from.

No reference gives figures for the method. The independent ones are the multinomial law of the draws from known leaves,
SciPy's and NumPy's own figures, and the best split found by trying all.
"""

from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import chisquare, ks_2samp

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.synthesis.leaf_donors import Predictor, leaf_donors, tree_leaves
from sluice.masking.synthesis.sequential_trees import SequentialTrees
from tests.golden import golden
from tests.masking.survey import drawn

AREAS = ("north", "east", "south", "west", "centre")
VARIABLES = {
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=AREAS, nullable=True),
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, nullable=True),
    "children": Variable(name="children", kind=Kind.INTEGER, minimum=0, maximum=12),
    "health": Variable(name="health", kind=Kind.ORDINAL, categories=("bad", "fair", "good")),
    "owner": Variable(name="owner", kind=Kind.BINARY, categories=("no", "yes")),
    "born": Variable(name="born", kind=Kind.DATE),
}


def people(records: int, seed: int = 0) -> pd.DataFrame:
    """A tenth of the incomes and areas is missing, and some incomes are 0."""
    frame = drawn(VARIABLES, records, seed, 0.1)
    return frame.assign(income=frame["income"].mask(frame["income"] < 200, 0.0))


def synthetic(step: SequentialTrees, frame: pd.DataFrame, seed: int = 0, variables: Variables = VARIABLES) -> Any:
    before = frame.copy()
    masked = step.mask(frame, variables, np.random.default_rng(seed))
    pd.testing.assert_frame_equal(frame, before)
    assert masked.dtypes.equals(frame.dtypes)
    assert masked.index.equals(frame.index)
    return masked


def test_the_first_variable_is_a_bootstrap_of_its_values() -> None:
    # Draws with replacement are multinomial with the original shares, missing among them.
    frame = people(4000)
    drawn = synthetic(SequentialTrees(columns=("area",)), frame)["area"]
    expected, seen = (column.value_counts(dropna=False, sort=False) for column in (frame["area"], drawn))
    assert chisquare(seen, expected).pvalue > 0.001
    pd.testing.assert_frame_equal(synthetic(SequentialTrees(columns=("area",)), frame).iloc[:, 1:], frame.iloc[:, 1:])


def test_within_each_known_leaf_values_are_drawn_as_often_as_they_are_there() -> None:
    # Health determines the leaves (three pure groups would need no more splits), given as it is: so in each group
    # owners are drawn with the original share of owners.
    frame = people(6000)
    drawn = synthetic(SequentialTrees(columns=("owner",), given=("health",)), frame, seed=2)
    for level in ("bad", "fair", "good"):
        group = frame["health"] == level
        share = (frame.loc[group, "owner"] == "yes").mean()
        owners = (drawn.loc[group, "owner"] == "yes").sum()
        if share in (0, 1):
            assert owners == share * group.sum()
        else:
            expected = [share * group.sum(), (1 - share) * group.sum()]
            assert chisquare([owners, group.sum() - owners], expected).pvalue > 0.001


@pytest.mark.parametrize("smoothing", ["none", "density"])
def test_distributions_and_relations_are_kept_but_for_chance(smoothing: Literal["none", "density"]) -> None:
    frame = people(4000)
    drawn = synthetic(SequentialTrees(columns=tuple(frame), smoothing=smoothing), frame)
    for name in frame:
        assert drawn[name].isna().mean() == pytest.approx(frame[name].isna().mean(), abs=0.03)
    incomes = (frame["income"].dropna(), drawn["income"].dropna())
    assert ks_2samp(*incomes).statistic < 0.05
    assert (incomes[1] == 0).mean() == pytest.approx((incomes[0] == 0).mean(), abs=0.03)
    for one, other in (("income", "born"), ("income", "health"), ("health", "owner"), ("area", "income")):
        correlations = []
        for data in (frame, drawn):
            codes = data[[one, other]].apply(lambda c: c.cat.codes if c.dtype == "category" else c.rank())
            correlations.append(codes[data[[one, other]].notna().all(axis=1)].corr(method="spearman").iloc[0, 1])
        assert correlations[1] == pytest.approx(correlations[0], abs=0.06)
    unique = frame[frame["income"] > 0]  # no two are the same
    copies = len(unique.merge(drawn.drop_duplicates(), how="inner")) / len(unique)
    assert copies < {"none": 0.5, "density": 1e-9}[smoothing]


@given(st.integers(40, 80), st.integers(0, 2**32 - 1))
def test_smoothed_numbers_are_nobodys_but_keep_the_range_and_the_heaps(records: int, seed: int) -> None:
    frame = people(records, seed)
    step = SequentialTrees(columns=("income", "children"), smoothing="density")
    drawn = synthetic(step, frame, seed)
    incomes, known = drawn["income"].dropna(), frame["income"].dropna()
    counts = known.value_counts()
    assert set(incomes) & set(known) <= set(counts[counts >= 5].index)
    assert incomes.between(known.min(), known.max()).all()
    assert drawn["children"].between(frame["children"].min(), frame["children"].max()).all()


def test_smoothing_forgets_the_hierarchy() -> None:
    hierarchy = {"rows": {"0": ("few",), "1": ("few",)}}
    variable = Variable.model_validate({"name": "children", "kind": "integer", "hierarchy": hierarchy, "minimum": 0})
    for smoothing, kept in (("none", True), ("density", False)):
        step = SequentialTrees.model_validate({"columns": ("children",), "smoothing": smoothing})
        after = step.released({"children": variable})["children"]
        assert (after.kind, after.minimum, after.hierarchy is not None) == (Kind.INTEGER, 0, kept)


def test_a_leaf_of_the_whole_file_is_the_bootstrap() -> None:
    frame = people(200)
    step = SequentialTrees(columns=("owner",), given=("income", "health"), minimum_leaf=150)
    drawn = [(synthetic(step, frame, seed)["owner"] == "yes").mean() for seed in range(20)]
    by_leaf = np.array([(frame["owner"] == "yes").mean()] * 20)
    # Standard error of the mean of 20 shares of 200: below .5 / sqrt(4000) = .008.
    assert np.mean(drawn) == pytest.approx(by_leaf.mean(), abs=0.04)


def test_huge_numbers_and_a_thousand_categories_as_predictor() -> None:
    rng = np.random.default_rng(0)
    labels = pd.Index([f"c{i}" for i in range(1000)], dtype="str")
    frame = pd.DataFrame(
        {
            "code": pd.Categorical.from_codes(rng.integers(0, 1000, 3000), labels),
            "huge": rng.normal(size=3000) * 1e300,
            "large": pd.array(2**52 + rng.integers(0, 1000, 3000), dtype="Int64"),
        }
    )
    variables = {
        "code": Variable(name="code", kind=Kind.NOMINAL),
        "huge": Variable(name="huge", kind=Kind.CONTINUOUS),
        "large": Variable(name="large", kind=Kind.INTEGER),
    }
    step = SequentialTrees(columns=("huge", "large"), given=("code",))
    drawn = synthetic(step, frame, variables=variables)
    assert set(drawn["large"]) <= set(frame["large"])
    with golden.raises(PlanError):
        synthetic(SequentialTrees(columns=("code",)), frame, variables=variables)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_categories_are_ranked_so_that_the_first_split_is_the_best_of_all(seed: int, classes: bool) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, 200)
    response = (
        (rng.random(200) < rng.random(5)[codes]) * 1.0 if classes else rng.normal(size=200) + rng.normal(size=5)[codes]
    )
    column = pd.Series(pd.Categorical.from_codes(codes, pd.Index(AREAS, dtype="str")))
    predictor = Predictor.of(column, column, VARIABLES["area"])
    ranked, _ = predictor.ordered(np.arange(200), response, classes)

    def impurity(left: Any) -> float:
        return sum(((response[side] - response[side].mean()) ** 2).sum() for side in (left, ~left))

    subsets = [subset for size in (1, 2) for subset in combinations(sorted(set(codes)), size)]
    best = min(impurity(np.isin(codes, subset)) for subset in subsets)  # the Gini index orders them alike
    cuts = [impurity(ranked <= place) for place in sorted(set(ranked))[:-1]]
    assert min(cuts) == pytest.approx(best)


def test_donors_lie_in_the_wanted_leaf() -> None:
    rng = np.random.default_rng(0)
    leaves = rng.integers(0, 7, 300) * 11
    wanted = rng.choice(np.unique(leaves), 5000)
    donors = leaf_donors(leaves, wanted, rng)
    assert (leaves[donors] == wanted).all()
    assert len(np.unique(donors)) > 290
    rows = np.arange(300)
    values = rng.normal(size=300)
    known, new = tree_leaves(values, rows, rows, [], classes=False, minimum_leaf=5, rng=rng)
    assert not known.any()
    assert not new.any()


def test_fewer_values_than_a_leaf_holds_are_refused() -> None:
    few = people(30).assign(income=[1.0, 2, 3, 4] + [np.nan] * 26)
    with golden.raises(PlanError):
        synthetic(SequentialTrees(columns=("income",)), few)


def test_smoothed_numbers_keep_the_grain_of_the_data() -> None:
    frame = people(1000)
    for decimals in (0, 2):
        written = frame.assign(income=frame["income"].round(decimals))
        drawn = synthetic(SequentialTrees(columns=("income",), smoothing="density"), written)["income"].dropna()
        assert (drawn == drawn.round(decimals)).all()
        assert not drawn.isin(written["income"]).all()


def test_calibrated_values_are_drawn_ones_at_other_records() -> None:
    """Categories those that were drawn; of numbers two are, and one of each is taken so that the variance is kept."""
    frame = people(400)
    columns = ("health", "owner", "income", "born")
    settings: dict[str, Any] = {"columns": columns, "minimum_leaf": 40, "smoothing": "density"}
    drawn, moved = (synthetic(SequentialTrees(**settings, calibrated=each), frame) for each in (False, True))
    for name in ("health", "owner"):
        assert drawn[name].astype(str).sort_values().tolist() == moved[name].astype(str).sort_values().tolist()
    assert not drawn.equals(moved)
    wanted, before, after = (file["income"].var() for file in (frame, drawn, moved))
    assert abs(after / wanted - 1) < 0.02 < abs(before / wanted - 1)


def test_of_some_columns_alone_values_change_places() -> None:
    frame = people(400)
    settings: dict[str, Any] = {"columns": ("health", "owner", "income", "born"), "minimum_leaf": 40}
    drawn, moved = (synthetic(SequentialTrees(**settings, calibrated=each), frame) for each in (False, ("born",)))
    assert drawn.drop(columns="born").equals(moved.drop(columns="born"))
    assert not drawn["born"].equals(moved["born"])
    golden.refused(ValidationError, SequentialTrees, **settings, calibrated=("age",))
