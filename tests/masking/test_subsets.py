"""Steps of a plan by strata and by household."""

from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.masking.masking_step import MaskingStep
from sluice.masking.microaggregation.clustering import KMemberClustering
from sluice.masking.plan import apply_plan, apply_recodings
from sluice.masking.recoding.top_bottom_coding import TopBottomCoding
from sluice.masking.synthesis.data_shuffling import DataShuffling
from sluice.risk.transparency.attack import NoAttack
from tests.golden import golden

VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS),
    "region": Variable(name="region", kind=Kind.NOMINAL, categories=("north", "south", "west"), nullable=True),
    "year": Variable(name="year", kind=Kind.INTEGER),
    "household": Variable(name="household", kind=Kind.TEXT, role=Role.HOUSEHOLD, nullable=True),
}
SEED = np.random.SeedSequence(1)


class Shuffled(MaskingStep):
    """Values in random order, and how many there are; to see which records a step is given together."""

    method: Literal["shuffled"] = "shuffled"

    def released(self, variables: Variables) -> dict[str, Variable]:
        self.refuse_unless(variables, *Kind)
        together = Variable(name="together", kind=Kind.INTEGER)
        return {**variables, "together": together}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        shuffled = {name: frame[name].to_numpy()[rng.permutation(len(frame))] for name in self.columns}
        return frame.assign(**shuffled, together=pd.array([len(frame)] * len(frame), dtype="Int64"))

    def parameters(self) -> dict[str, Any]:
        return {"shuffled": list(self.columns)}

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("for tests alone"),)

    def describe(self) -> str:
        return "shuffled"


class Half(Shuffled):
    """A sample: every other record."""

    @property
    def is_sampling(self) -> bool:
        return True

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        return super().mask(frame, variables, rng).iloc[::2]


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    household = pd.Series(rng.integers(0, max(n // 3, 1), n)).astype("str").mask(rng.random(n) < 0.1)
    region = pd.Categorical.from_codes(rng.integers(-1, 3, n), categories=["north", "south", "west"])
    frame = pd.DataFrame({"income": rng.normal(size=n), "region": region, "household": household.array})
    return frame.assign(year=pd.array(rng.integers(2020, 2023, n), dtype="Int64")).set_axis([7] * n)


@given(n=st.integers(1, 15), seed=st.integers(0, 100), strata=st.sampled_from([("region",), ("year", "region")]))
def test_every_stratum_keeps_its_own_values(n: int, seed: int, strata: tuple[str, ...]) -> None:
    """Missing is a stratum of its own: the values of each stratum are those it had, in the rows it had."""
    frame = survey(n, seed)
    masked, _ = apply_plan([Shuffled(columns=("income",), strata=strata)], frame, VARIABLES, SEED)
    assert masked.index.equals(pd.RangeIndex(n))
    assert (masked["region"].to_numpy() == frame["region"].to_numpy()).sum() == frame["region"].notna().sum()
    income, sizes = masked["income"].to_numpy(), masked["together"].to_numpy()
    for rows in frame.groupby(list(strata), dropna=False, observed=True).indices.values():
        assert sorted(income[rows]) == sorted(frame["income"].to_numpy()[rows])
        assert (sizes[rows] == len(rows)).all()


def test_strata_draw_independently_and_one_stratum_is_the_whole_file() -> None:
    frame = survey(40).assign(region=pd.Categorical(["north"] * 20 + ["south"] * 20), income=[*range(20), *range(20)])
    variables = VARIABLES | {"region": Variable(name="region", kind=Kind.NOMINAL)}
    masked, _ = apply_plan([Shuffled(columns=("income",), strata=("region",))], frame, variables, SEED)
    assert masked["income"].iloc[:20].tolist() != masked["income"].iloc[20:].tolist()
    alone, _ = apply_plan([Shuffled(columns=("income",), strata=("region",))], frame.iloc[:20], variables, SEED)
    assert (alone["together"] == 20).all()


def test_the_parameters_tell_each_stratum() -> None:
    _, (done,) = apply_plan([Shuffled(columns=("income",), strata=("region",))], survey(60), VARIABLES, SEED)
    told = done.parameters()["by_stratum"]
    assert [each["stratum"]["region"] for each in told].count(None) == 1
    assert {each["stratum"]["region"] for each in told} == {None, "north", "south", "west"}
    assert all(each["shuffled"] == ["income"] for each in told)


def test_thresholds_of_each_stratum_are_used_again_on_other_records_of_it() -> None:
    """A quantile is read off each stratum of the masked file; the original is then cut at the same places."""
    frame = survey(300).reset_index(drop=True)
    frame.loc[frame["region"] == "north", "income"] += 100
    step = TopBottomCoding.model_validate(
        {"columns": ["income"], "strata": ["region"], "top": {"quantile": 0.8}, "minimum_tail": 3}
    )
    masked, carried_out = apply_plan([step], frame, VARIABLES, SEED)
    north = frame["region"] == "north"
    assert masked.loc[north, "income"].max() > 90
    assert masked.loc[~north, "income"].max() < 10
    again = apply_recodings(carried_out, frame.sample(frac=1, random_state=1), VARIABLES)
    assert sorted(again["income"]) == sorted(masked["income"])
    with golden.raises(PlanError):
        apply_recodings(apply_plan([step], frame[north], VARIABLES, SEED)[1], frame, VARIABLES)


def test_categories_that_each_stratum_finds_by_itself_are_brought_together() -> None:
    frame = survey(120)
    step = KMemberClustering(columns=("year",), k=3, representative="generalised", strata=("region",))
    masked, _ = apply_plan([step], frame, VARIABLES, SEED)
    assert masked["year"].dtype == "category"
    assert masked["year"].notna().all()
    categories = masked["year"].cat.categories.tolist()
    assert categories == sorted(set(categories))


def test_a_household_is_masked_once() -> None:
    frame = survey(90).reset_index(drop=True)
    known = frame["household"].notna()
    frame["income"] = frame.groupby("household")["income"].transform("first").where(known, frame["income"])
    masked, _ = apply_plan([Shuffled(columns=("income",), unit="household")], frame, VARIABLES, SEED)
    assert len(masked[known][["household", "income"]].drop_duplicates()) == frame["household"].nunique()
    households = frame["household"].nunique() + (~known).sum()
    assert (masked["together"] == households).all()
    assert masked["year"].equals(frame["year"])
    assert masked["income"].tolist() != frame["income"].tolist()
    first = ~frame["household"].duplicated() | ~known
    assert sorted(masked.loc[first, "income"]) == sorted(frame.loc[first, "income"])


def test_what_differs_within_a_household_is_no_property_of_it() -> None:
    with golden.raises(PlanError):
        apply_plan([Shuffled(columns=("income",), unit="household")], survey(90), VARIABLES, SEED)


def test_a_sample_tells_where_its_records_come_from() -> None:
    frame = survey(41)
    masked, _ = apply_plan([Half(columns=("year",)), Shuffled(columns=("income",))], frame, VARIABLES, SEED)
    assert masked.index.tolist() == list(range(0, 41, 2))
    assert masked["region"].astype("string").equals(frame.reset_index(drop=True)["region"].iloc[::2].astype("string"))
    by_stratum, _ = apply_plan([Half(columns=("year",), strata=("region",))], frame, VARIABLES, SEED)
    assert by_stratum.index.is_monotonic_increasing
    counts = frame["region"].astype("string").fillna("").value_counts()
    assert by_stratum["region"].astype("string").fillna("").value_counts().to_dict() == {
        region: -(-count // 2) for region, count in counts.items()
    }


@pytest.mark.parametrize("subsets", [{"strata": ("income",)}, {"strata": ("region", "region")}])
def test_subsets_that_are_none_are_refused(subsets: dict[str, tuple[str, ...]]) -> None:
    with golden.raises(ValidationError):
        Shuffled.model_validate({"columns": ("income",), **subsets})


@pytest.mark.parametrize(
    ("subsets", "variables"),
    [
        ({"strata": ("regoin",)}, VARIABLES),
        ({"strata": ("household",)}, VARIABLES),
        ({"unit": "household"}, {"income": VARIABLES["income"]}),
    ],
)
def test_subsets_by_variables_that_make_none_are_refused(subsets: dict[str, Any], variables: Variables) -> None:
    with golden.raises(PlanError):
        Shuffled.model_validate({"columns": ("income",), **subsets}).released(variables)


def test_a_given_variable_must_be_one_of_the_household_too() -> None:
    """The plan hands over one record of each household: the other values of the given variable would be lost."""
    frame = survey(90).reset_index(drop=True)
    frame["income"] = frame.groupby("household")["income"].transform("first").fillna(0.0)
    step = DataShuffling(columns=("income",), given=("year",), unit="household")
    with golden.raises(PlanError):
        apply_plan([step], frame, VARIABLES, SEED)
