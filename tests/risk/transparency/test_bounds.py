import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.clustering import KMemberClustering
from sluice.masking.microaggregation.microaggregation import Microaggregation
from sluice.masking.microaggregation.mondrian import Mondrian
from sluice.masking.microaggregation.ordered_microaggregation import UnivariateMicroaggregation
from sluice.masking.recoding.random_rounding import RandomRounding
from sluice.masking.synthesis.data_distortion import DataDistortion
from sluice.masking.synthesis.resampling import Resampling
from sluice.risk.linkage.candidate_sets import microaggregation_linkage, rank_swapping_linkage
from sluice.risk.transparency.attack import NoAttack
from sluice.risk.transparency.bounds import (
    NearestCentre,
    NearestGroups,
    PublishedRanges,
    RandomMultiple,
    RankWindow,
    SameRank,
)
from tests.risk.transparency.paired import NUMBERS, paired

LEVELS = ("0 to 9", "10 to 19", "20 to 29", "30 to 39")
VARIABLES = {
    "amount": Variable(name="amount", kind=Kind.CONTINUOUS),
    "age": Variable(name="age", kind=Kind.ORDINAL, categories=LEVELS),
    "sex": Variable(name="sex", kind=Kind.NOMINAL, categories=("f", "m")),
}


def people(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "amount": rng.normal(0, 100, n).round(1),
            "age": pd.Categorical.from_codes(rng.integers(0, 4, n), categories=list(LEVELS), ordered=True),
            "sex": pd.Categorical.from_codes(rng.integers(0, 2, n), categories=["f", "m"]),
        }
    )


@pytest.mark.parametrize("k", [2, 5])
def test_the_own_cluster_is_found_and_no_further(k: int) -> None:
    original, rng = people(200), np.random.default_rng(0)
    step = KMemberClustering(columns=tuple(VARIABLES), k=k, representative="generalised")
    masked, released = step.mask(original, VARIABLES, rng), step.released(VARIABLES)
    pairs = paired(original, masked, VARIABLES, released, rng=rng)
    attack = PublishedRanges(tuple(VARIABLES))
    logs = attack.likelihood(pairs)(np.arange(200))
    assert np.isfinite(logs.diagonal()).all()
    identified, confident = attack.play(pairs)
    assert 0.5 / k < identified.measured.value <= 1 / k + 1e-9
    assert confident.measured.value == 0


def test_narrow_ranges_around_unusual_values_are_those_of_their_people() -> None:
    original = pd.DataFrame({"amount": [1.0, 2.0, 3.0, 50.0]})
    masked = pd.DataFrame({"amount": pd.Categorical(["1 to 3", "1 to 3", "1 to 3", "50"])})
    variables = {"amount": VARIABLES["amount"]}
    pairs = paired(original, masked, variables)
    identified, confident = PublishedRanges(("amount",)).play(pairs)
    assert identified.measured.value == pytest.approx(2 / 4)
    assert confident.measured.value == pytest.approx(1 / 4)


@pytest.mark.parametrize("k", [2, 5])
def test_bounds_of_regions_are_read_and_find_no_more_than_one_in_k(k: int) -> None:
    original, rng = people(200), np.random.default_rng(0)
    original["children"] = pd.array(rng.integers(0, 9, 200), dtype="Int64")
    variables = VARIABLES | {"children": Variable(name="children", kind=Kind.INTEGER)}
    step = Mondrian(columns=tuple(variables), k=k, representative="generalised", bounds="region")
    masked, released = step.mask(original, variables, rng), step.released(variables)
    assert masked["amount"].str.contains("under|and over").any()
    pairs = paired(original, masked, variables, released, rng=rng)
    attack = PublishedRanges(("amount", "age", "children"))
    logs = attack.likelihood(pairs)(np.arange(200))
    assert np.isfinite(logs.diagonal()).all()
    regions = masked[["amount", "age", "children"]].astype(str).agg(" | ".join, axis=1).to_numpy()
    for person in range(0, 200, 20):  # the bounds do not overlap where no category parts them
        assert len(set(regions[np.isfinite(logs[person])])) <= 4
    identified, confident = PublishedRanges(tuple(variables)).play(pairs)
    assert 0.2 / k < identified.measured.value <= 1 / k + 1e-9
    assert confident.measured.value == 0


def test_forms_of_bounds() -> None:
    amounts = [1.0, 19.9, 20.0, 29.5, 30.0, 99.0]
    original = pd.DataFrame({"amount": amounts})
    texts = ["under 20", "under 20", "20 to under 30", "20 to under 30", "30 and over", "30 and over"]
    masked = pd.DataFrame({"amount": pd.Categorical(texts)})
    variables = {"amount": VARIABLES["amount"]}
    pairs = paired(original, masked, variables)
    inside = np.isfinite(PublishedRanges(("amount",)).likelihood(pairs)(np.arange(6)))
    assert inside.tolist() == [[texts[row] == text for text in texts] for row in range(6)]


NAMES = ("a", "b", "c")
FOUR = (*NAMES, "d")


def played(original: pd.DataFrame, k: int) -> tuple[float, float]:
    step = Microaggregation(columns=NAMES, k=k, missing="by_pattern")
    masked = step.mask(original, NUMBERS, np.random.default_rng(0))
    pairs = paired(original, masked, NUMBERS)
    identified, confident = NearestCentre(NAMES, k).play(pairs)
    return identified.measured.value, confident.measured.value


@pytest.mark.parametrize("k", [2, 5, 10])
def test_far_apart_groups_are_found_and_their_people_by_luck(k: int) -> None:
    rng = np.random.default_rng(1)
    centres = np.repeat(rng.integers(-5000, 5000, (20, 3)), k, axis=0) * np.array([1.0, 1e6, 1e-6])
    original = pd.DataFrame(centres * (1 + 1e-6 * rng.random(centres.shape)), columns=list(NAMES))
    assert played(original, k) == (pytest.approx(1 / k), 0.0)


def test_people_who_miss_a_value_are_sought_among_those_who_miss_it() -> None:
    rng = np.random.default_rng(2)
    original = pd.DataFrame(rng.standard_normal((90, 3)), columns=list(NAMES))
    original.loc[:29, "b"] = np.nan
    step = Microaggregation(columns=NAMES, k=3, missing="by_pattern")
    masked = step.mask(original, NUMBERS, rng)
    pairs = paired(original, masked, NUMBERS, rng=rng)
    logs = NearestCentre(NAMES, 3).likelihood(pairs)(np.arange(90))
    assert np.isneginf(logs[:30, 30:]).all()
    assert np.isneginf(logs[30:, :30]).all()
    assert np.isfinite(logs.diagonal()).all()


@pytest.mark.parametrize("statistic", ["mean", "median", "random"])
def test_the_own_group_is_never_ruled_out_and_sets_are_those_published(statistic: str) -> None:
    rng = np.random.default_rng(5)
    original = pd.DataFrame(rng.integers(0, 60, (300, 4)).astype(float), columns=list(FOUR))
    step = UnivariateMicroaggregation(columns=FOUR, k=5, representative=statistic)
    masked = step.mask(original, NUMBERS, rng)
    pairs = paired(original, masked, NUMBERS, rng=rng)
    logs = NearestGroups(FOUR).likelihood(pairs)(np.arange(300))
    assert np.isfinite(logs.diagonal()).all()
    found = microaggregation_linkage(original.to_numpy(), masked.to_numpy())
    np.testing.assert_array_equal(np.isfinite(logs).sum(axis=1), found.size)


def test_the_nearer_multiple_is_likelier_and_others_are_impossible() -> None:
    original = pd.DataFrame({"a": [12.0, 20.0, np.nan]})
    masked = pd.DataFrame({"a": [10.0, 20.0, np.nan]})
    likelihood = np.exp(RandomMultiple(("a",), 10).likelihood(paired(original, masked))(np.arange(3)))
    assert likelihood == pytest.approx(np.array([[0.8, 0.2, 0], [0, 1, 0], [0, 0, 1]]))


def test_a_tiny_base_hides_nobody_and_a_wide_one_nearly_all() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.uniform(0, 100, (400, 4)), columns=list("abcd"))
    reached = []
    for base in (1, 200):
        step = RandomRounding(columns=tuple("abcd"), base=base)
        masked = step.mask(frame, NUMBERS, np.random.default_rng(2))
        reached.append(step.attacks()[0].play(paired(frame, masked))[0].measured.value)
    assert reached[0] > 0.99
    assert reached[1] < 0.06


def test_the_own_record_is_never_ruled_out_by_rounding_of_the_arithmetic() -> None:
    frame = pd.DataFrame({"a": np.arange(1, 200) * 0.1})
    step = RandomRounding(columns=("a",), base=0.1)
    masked = step.mask(frame, NUMBERS, np.random.default_rng(2))
    logs = step.attacks()[0].likelihood(paired(frame, masked))(np.arange(199))
    assert np.isfinite(logs.diagonal()).all()


def test_the_candidates_are_those_of_the_published_attack() -> None:
    rng = np.random.default_rng(4)
    original = pd.DataFrame(rng.integers(0, 30, (80, 3)).astype(float), columns=list("abc"))
    masked = original.sample(frac=1, random_state=1).reset_index(drop=True)
    original.loc[5:9, "a"] = masked.loc[[3, 40], "a"] = np.nan
    for window in (0.02, 0.1, 0.5):
        logs = RankWindow(tuple("abc"), window).likelihood(paired(original, masked))(np.arange(80))
        found = rank_swapping_linkage(original.to_numpy(), masked.to_numpy(), window)
        np.testing.assert_array_equal((logs == 0).sum(axis=1), found.size)


def test_a_window_over_all_records_rules_nothing_out() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    identified, confident = RankWindow(("a",), 1.0).play(paired(frame, frame))
    assert identified.measured.value == pytest.approx(1 / 3)
    assert confident.measured.value == 0


def test_the_own_record_is_never_ruled_out_and_is_found_by_its_rank() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": np.exp(rng.normal(size=300)), "b": rng.integers(0, 40, 300).astype(float)})
    frame.loc[:4, "a"] = np.nan
    for step in (Resampling(columns=("a", "b"), samples=2), DataDistortion(columns=("a",))):
        masked = step.mask(frame, NUMBERS, np.random.default_rng(1))
        (attack,) = step.attacks()
        assert isinstance(attack, SameRank)
        logs = attack.likelihood(paired(frame, masked))(np.arange(300))
        assert np.isfinite(logs.diagonal()).all()
        assert attack.play(paired(frame, masked))[0].measured.value > 0.9


def test_equal_values_share_their_ranks() -> None:
    original, masked = pd.DataFrame({"a": [1.0, 1, 2, 3]}), pd.DataFrame({"a": [7.0, 8, 9, 10]})
    logs = SameRank(("a",)).likelihood(paired(original, masked))(np.arange(4))
    assert np.isfinite(logs).tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_draws_in_random_order_are_tied_to_nobody() -> None:
    (none,) = DataDistortion(columns=("a",), map_by_rank=False).attacks()
    assert isinstance(none, NoAttack)
