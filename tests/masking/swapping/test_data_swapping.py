"""Data swapping."""

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.swapping.data_swapping import DataSwapping, swap_partners
from tests.golden import golden

VARIABLES = {
    "region": Variable(name="region", kind=Kind.NOMINAL, categories=("north", "south")),
    "county": Variable(name="county", kind=Kind.NOMINAL, nullable=True),
    "size": Variable(name="size", kind=Kind.INTEGER),
    "tenure": Variable(name="tenure", kind=Kind.NOMINAL, nullable=True),
    "age": Variable(name="age", kind=Kind.INTEGER),
    "job": Variable(name="job", kind=Kind.NOMINAL),
}
HOUSEHOLDS = {**VARIABLES, "house": Variable(name="house", kind=Kind.INTEGER, role=Role.HOUSEHOLD, nullable=True)}


def census(households: int = 300, seed: int = 0) -> pd.DataFrame:
    """Households of 1 to 4 people in 2 regions of 3 counties each; the columns of the household are equal in it."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 5, households)
    house = np.repeat(np.arange(households), size)
    county = rng.integers(0, 6, households)
    tenure = rng.integers(-1, 3, households)
    n = len(house)
    frame = pd.DataFrame(
        {
            "region": pd.Categorical.from_codes(county[house] // 3, categories=["north", "south"]),
            "county": pd.Categorical.from_codes(county[house], categories=list("abcdef")),
            "size": pd.array(size[house], dtype="Int64"),
            "tenure": pd.Categorical.from_codes(tenure[house], categories=["own", "rent", "other"]),
            "age": pd.array(rng.integers(0, 90, n), dtype="Int64"),
            "job": pd.Categorical.from_codes(rng.integers(0, 4, n), categories=["none", "farm", "office", "sea"]),
            "house": pd.array(house, dtype="Int64"),
        }
    )
    return frame.iloc[rng.permutation(n)].set_axis([5] * n)  # members need not stand together


def counts(frame: pd.DataFrame, *names: str) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(str, row)) for row in frame[list(names)].itertuples(index=False))


def moved(before: pd.DataFrame, after: pd.DataFrame) -> np.ndarray:
    was, now = before["county"].astype(str).to_numpy(), after["county"].astype(str).to_numpy()
    return np.asarray(was != now)


def test_the_only_possible_swaps_are_made() -> None:
    """By hand: a sailor in county a and in d, alone with their job there, tenure 'rent' and 'own'. In their regions one
    record each of another county has the same tenure, so that both swaps can be only these."""
    frame = pd.DataFrame(
        {
            "region": pd.Categorical(["north"] * 4 + ["south"] * 4),
            "county": pd.Categorical(["a", "a", "b", "b", "d", "d", "e", "e"]),
            "tenure": pd.Categorical(["rent", "own", "rent", "other", "own", "other", "own", "rent"]),
            "job": pd.Categorical(["sea", "farm", "farm", "farm", "sea", "farm", "farm", "farm"]),
        }
    )
    variables = {name: VARIABLES[name] for name in frame}
    step = DataSwapping(
        columns=("region", "county"),
        within=("region",),
        similar=("tenure",),
        risk_keys=("job",),
        k=2,
        swap_rate=0.5,
        unmatched="keep",
    )
    # The farmers of a and d are alone there too; nobody else of their tenure lives in another county.
    masked = DataSwapping.model_validate({**step.model_dump(), "within": ["region", "tenure"]}).mask(
        frame, variables, np.random.default_rng(0)
    )
    assert masked["county"].to_list() == ["b", "a", "a", "b", "e", "d", "d", "e"]
    assert masked.drop(columns="county").equals(frame.drop(columns="county"))
    # Where tenure may be dropped, they swap with the one that is left.
    masked = step.mask(frame, variables, np.random.default_rng(0))
    assert masked["county"].to_list() == ["b", "b", "a", "a", "e", "e", "d", "d"]


def test_a_partner_is_uniform_among_those_who_fit() -> None:
    areas = np.array([0, 1, 1, 2, 2, 2, 0, 1])
    profile = np.array([0, 0, 0, 0, 0, 0, 0, 1])
    at_risk = np.arange(8) == 0
    rng = np.random.default_rng(0)
    chosen = Counter(int(swap_partners(areas, [profile], at_risk, 1e-9, rng)[0]) for _ in range(1500))
    assert set(chosen) == {1, 2, 3, 4, 5}  # not 6, of the same area, and not 7, of another profile
    assert chisquare(list(chosen.values())).pvalue > 1e-3


def test_a_partner_is_uniform_where_few_fit() -> None:
    """Of 1,000 units of the profile two lie in other areas: drawing fails, and the cells are counted through."""
    areas = np.zeros(1002, dtype=np.int64)
    areas[[500, 700]] = 1, 2
    rng = np.random.default_rng(0)
    profile = np.zeros_like(areas)
    chosen = Counter(int(swap_partners(areas, [profile], np.arange(1002) == 0, 1e-9, rng)[0]) for _ in range(1000))
    assert set(chosen) == {500, 700}
    assert chisquare(list(chosen.values())).pvalue > 1e-3


@given(
    n=st.integers(1, 120),
    areas=st.integers(1, 6),
    profiles=st.integers(1, 8),
    rate=st.floats(0.001, 1),
    risk=st.floats(0, 1),
    seed=st.integers(0, 10_000),
)
def test_partners_swap_with_each_other_and_nobody_is_left_who_could(
    n: int, areas: int, profiles: int, rate: float, risk: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    area = rng.integers(0, areas, n)
    strict = rng.integers(0, profiles, n)
    loose = strict % 2
    at_risk = rng.random(n) < risk
    partners = swap_partners(area, [strict, loose], at_risk, rate, rng)
    swapped = np.flatnonzero(partners >= 0)
    assert (partners[partners[swapped]] == swapped).all()
    assert (area[partners[swapped]] != area[swapped]).all()
    assert (loose[partners[swapped]] == loose[swapped]).all()
    sizes, done = np.bincount(area, minlength=areas), np.bincount(area[swapped], minlength=areas)
    for unit in np.flatnonzero(partners < 0):
        if at_risk[unit] or done[area[unit]] < rate * sizes[area[unit]] * (1 - 1e-9):
            assert not ((partners < 0) & (loose == loose[unit]) & (area != area[unit])).any()


@given(seed=st.integers(0, 1000), unit=st.sampled_from(["household", "record"]), rate=st.floats(0.01, 0.2))
def test_counts_by_area_and_match_keys_are_kept(seed: int, unit: str, rate: float) -> None:
    """What is in `within` is never dropped, so that these counts stay to the last one, and all that is not the area."""
    frame = census(100, seed)
    plan = {"within": ["region", "tenure"], "risk_keys": ["job"], "k": 2, "swap_rate": rate, "unit": unit}
    step = DataSwapping.model_validate({"columns": ["county"], "unmatched": "keep", **plan})
    masked = step.mask(frame, HOUSEHOLDS, np.random.default_rng(seed))
    others = [name for name in frame if name != "county"]
    assert masked[others].equals(frame[others])
    assert counts(masked, "county", "region", "tenure") == counts(frame, "county", "region", "tenure")
    assert masked["county"].dtype == frame["county"].dtype
    assert moved(frame, masked).any()
    if unit == "household":
        assert counts(masked, "county", "size") == counts(frame, "county", "size")
        assert masked.groupby("house")["county"].nunique().max() == 1


def test_match_keys_are_kept_where_enough_units_fit() -> None:
    frame = census(3000)
    step = DataSwapping(columns=("county",), within=("region",), similar=("tenure", "size"), swap_rate=0.05)
    masked = step.mask(frame, HOUSEHOLDS, np.random.default_rng(1))
    names = ("county", "region", "tenure", "size")
    assert counts(masked, *names) == counts(frame, *names)
    households = frame.assign(moved=moved(frame, masked)).drop_duplicates("house")
    share = households.groupby("county", observed=True)["moved"].mean()
    assert share.min() >= 0.05
    assert share.max() < 0.07


def test_units_at_risk_are_swapped_whatever_the_rate() -> None:
    frame = census(600).drop(columns="house")
    sailors = np.flatnonzero(frame["job"] == "sea")
    frame["job"] = frame["job"].where(~np.isin(np.arange(len(frame)), sailors[2:]), "office")  # two are left
    plan = {"columns": ["county"], "within": ["region"], "risk_keys": ["job"], "swap_rate": 0.001}
    for seed in range(5):
        masked = DataSwapping.model_validate({**plan, "k": 3}).mask(frame, VARIABLES, np.random.default_rng(seed))
        assert moved(frame, masked)[sailors[:2]].all()
    seen = [
        moved(frame, DataSwapping.model_validate({**plan, "k": 1}).mask(frame, VARIABLES, np.random.default_rng(seed)))
        for seed in range(20)
    ]
    assert not np.array(seen)[:, sailors[:2]].all(axis=0).any()  # k = 1: nobody is at risk


def test_the_last_match_key_is_dropped_first() -> None:
    """A sailor, a county of farmers who agree on tenure only, and one of farmers who agree on size only."""
    frame = pd.DataFrame(
        {
            "county": pd.Categorical(["a"] + ["b"] * 5 + ["c"] * 5),
            "tenure": pd.Categorical(["own"] + ["own"] * 5 + ["rent"] * 5),
            "size": pd.array([1] + [2] * 5 + [1] * 5, dtype="Int64"),
            "job": pd.Categorical(["sea"] + ["farm"] * 10),
        }
    )
    variables = {name: VARIABLES[name] for name in frame}
    for similar, expected in ((("tenure", "size"), "b"), (("size", "tenure"), "c")):
        step = DataSwapping(columns=("county",), similar=similar, risk_keys=("job",), k=2, swap_rate=0.1)
        assert {step.mask(frame, variables, np.random.default_rng(seed))["county"][0] for seed in range(5)} == {
            expected
        }


def test_everybody_may_move_and_a_missing_area_is_an_area() -> None:
    rng = np.random.default_rng(0)
    two = pd.DataFrame({"county": pd.Categorical(["a", "b"] * 50), "age": pd.array(range(100), dtype="Int64")})
    variables = {name: VARIABLES[name] for name in two}
    assert moved(two, DataSwapping(columns=("county",), swap_rate=1).mask(two, variables, rng)).all()
    missing = two.assign(county=two["county"].where(np.arange(100) % 2 == 0))
    masked = DataSwapping(columns=("county",), swap_rate=1).mask(missing, variables, rng)
    assert (masked["county"].isna() == missing["county"].notna()).all()


def test_records_without_a_household_are_alone() -> None:
    frame = census(100)
    frame["house"] = frame["house"].where(frame["house"] > 50)
    masked = DataSwapping(columns=("county",), swap_rate=0.3).mask(frame, HOUSEHOLDS, np.random.default_rng(0))
    alone = frame["house"].isna().to_numpy()
    assert masked[~alone].groupby("house")["county"].nunique().max() == 1
    assert moved(frame, masked)[alone].any()
    assert not moved(frame, masked)[alone].all()
    assert counts(masked, "county") == counts(frame, "county")


def test_the_area_is_swapped_as_a_block() -> None:
    frame = census(200)
    masked = DataSwapping(columns=("region", "county"), swap_rate=0.5).mask(frame, HOUSEHOLDS, np.random.default_rng(0))
    assert set(counts(masked, "region", "county")) == set(counts(frame, "region", "county"))
    assert (masked["region"].astype(str) != frame["region"].astype(str)).any()


def test_refusals() -> None:
    rng = np.random.default_rng(0)
    with golden.raises(PlanError):
        DataSwapping(columns=("county",), swap_rate=0.1, similar=("age",)).mask(census(), HOUSEHOLDS, rng)
    one = pd.DataFrame({"county": pd.Categorical(["a"] * 4), "job": pd.Categorical(["sea", "farm", "farm", "farm"])})
    step = DataSwapping(columns=("county",), risk_keys=("job",), k=2, swap_rate=0.1)
    with golden.raises(PlanError):
        step.mask(one, {name: VARIABLES[name] for name in one}, rng)
