"""What a released value may stand for is one answer, and no two measures contradict each other about it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.utility_limits import UtilityLimits
from sluice.ground.released_values import ReleasedValues, at_face_value
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.method_catalogue import methods
from sluice.masking.plan import apply_plan, apply_recodings
from sluice.utility.categorical.category_losses import category_distances, direct_comparison
from sluice.utility.cell_changes import changed_cells
from sluice.utility.comparison import Comparison
from sluice.utility.marginals import marginal_losses
from sluice.utility.recoding.cell_losses import cell_losses, released_groups
from tests.masking.survey import VARIABLES, example, survey

REGIONS = ("north", "south", "east", "west")
MERGED = {"north": "north", "south": "south", "east": "other", "west": "other"}
DESCRIBED = {
    name: Variable(name=name, kind=Kind.NOMINAL, categories=categories)
    for name, categories in (
        ("region", REGIONS),
        ("age", tuple("abc")),
        ("work", tuple("vwxyz")),
        ("flat", tuple("pq")),
    )
}


def people() -> pd.DataFrame:
    """1,500 of four regions, of which two hold 6 % and 4 %, and three more variables that go with nothing."""
    region = pd.Categorical(np.repeat(REGIONS, [900, 450, 90, 60]), REGIONS)
    place = np.arange(1500)
    rest = {"age": place // 10 % 3, "work": place // 2 % 5, "flat": place % 2}
    codes = {name: pd.Categorical.from_codes(code, DESCRIBED[name].categories) for name, code in rest.items()}
    return pd.DataFrame({"region": region, **codes})


def merged(original: pd.DataFrame, known: str, groups: dict[str, str] = MERGED) -> Comparison:
    """The file in which regions are groups, whose recoding the plan tells, or the pairs, or nothing does."""
    labels = tuple(dict.fromkeys(groups.values()))
    masked = original.assign(region=pd.Categorical(original["region"].astype(str).map(groups), labels))
    released = DESCRIBED | {"region": DESCRIBED["region"].model_copy(update={"categories": labels})}
    nothing = original.assign(region=pd.Categorical([None] * len(original), labels))
    recoded = masked if known == "plan" else nothing if known == "nothing" else original
    return Comparison(original, recoded, masked, None, DESCRIBED, released, np.random.default_rng(0))


def measured(files: Comparison) -> dict[str, float]:
    return {each.rule: each.observed for each in UtilityLimits().find(files).findings if each.observed is not None}


@pytest.mark.parametrize("known", ["plan", "original", "nothing"])
def test_two_of_four_regions_in_one_group_cost_what_their_tenth_of_the_records_hides(known: str) -> None:
    """Of the mass of one variable a tenth is in doubt, and no measure says more of it than that."""
    found = measured(merged(people(), known))
    before = np.array([0.6, 0.3, 0.06, 0.04])
    bits = [-(share * np.log2(share)).sum() for share in (before, np.array([0.6, 0.3, 0.1]))]
    assert found["generalization"] == pytest.approx(0.1 * 1 / 3 / 4)  # NCP (2 - 1) / (4 - 1), of one variable in four
    assert found["entropy"] == pytest.approx(1 - bits[1] / bits[0])
    assert found["ebil"] == pytest.approx((bits[0] - bits[1]) / bits[0] / 4)
    assert found["category_distance"] == pytest.approx(0.1 / 2 / 4)  # half of those in a group are the other one
    # A reader takes the group to be half and half, 5 % each where there are 6 and 4
    assert found["pair_marginals"] == pytest.approx(0.01 * 3 / 6)
    assert found["triple_marginals"] == pytest.approx(0.01 * 3 / 4)
    assert found["query_error"] < 0.1
    assert found["cramers_v"] < 0.1
    assert found.get("worst_subgroup", 0.0) < 0.1  # None where fewer records than may be told stand elsewhere
    # It holds the records that it should, and goes with the other variables as its regions did
    assert found["propensity"] == pytest.approx(0, abs=1e-9)
    assert found["pair_propensity"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("known", ["plan", "original", "nothing"])
def test_what_goes_with_a_merged_value_is_lost_and_no_more(known: str) -> None:
    original = people()
    of_region = {"north": 0, "south": 0, "east": 1, "west": 2}
    told = original["region"].map(of_region).astype(int)
    original["age"] = pd.Categorical.from_codes(told, DESCRIBED["age"].categories)
    found = measured(merged(original, known))
    # Half of the 6 % of age b and of the 4 % of age c are taken to be of the other region
    assert found["pair_marginals"] == pytest.approx((0.05 + 0.01 + 0.01) / 6)
    assert found["triple_marginals"] == pytest.approx((0.05 + 0.05 + 0.01) / 4)


@pytest.mark.parametrize("known", ["plan", "original", "nothing"])
def test_merged_values_are_told_apart_no_better_than_a_random_sample(known: str) -> None:
    original = people()
    drawn = original.iloc[np.sort(np.random.default_rng(1).permutation(1500)[:1350])].reset_index(drop=True)
    sample = replace(merged(original, "plan"), masked=drawn, released=DESCRIBED, recoded=original)
    found, of_sample = measured(merged(original, known)), measured(sample)
    for name in ("propensity", "pair_propensity"):
        assert found[name] <= of_sample[name] < 1


@pytest.mark.parametrize("known", ["plan", "original", "nothing"])
def test_a_variable_in_one_group_is_lost_for_every_measure_as_a_removed_one(known: str) -> None:
    original = people()
    found = measured(merged(original, known, dict.fromkeys(REGIONS, "*")))
    gone = merged(original, known)
    released = {name: each for name, each in gone.released.items() if name != "region"}
    gone = replace(gone, masked=gone.masked.drop(columns="region"), recoded=gone.recoded.drop(columns="region"))
    removed = measured(replace(gone, released=released))
    assert found["pair_marginals"] == pytest.approx(1 / 2)
    assert found["triple_marginals"] == pytest.approx(3 / 4)
    assert found["generalization"] == pytest.approx(1 / 4)
    assert found["category_distance"] == pytest.approx(1 / 4)
    assert found["ebil"] == pytest.approx(1 / 4)
    assert found["entropy"] == 1
    for name in removed.keys() - {"entropy", "changed_share"}:  # which are of released variables
        assert found[name] == pytest.approx(removed[name], nan_ok=True), name


def test_others_are_not_taken_for_the_rest_where_they_are_too_many() -> None:
    """Some of the south are in the group, too: it may be any region, and its records are lost."""
    files = merged(people(), "nothing")
    moved = files.masked["region"].where(np.arange(1500) % 3 > 0, "other")
    found = {each.name: each for each in replace(files, masked=files.masked.assign(region=moved)).common_bins}["region"]
    shares = np.bincount(found.masked, minlength=found.codes) @ found.spread / 1500
    assert shares[-1] == pytest.approx((moved == "other").mean())


def compared(method: str) -> tuple[Comparison, np.ndarray]:
    """The survey as the example of a method masks it, and whether the file holds all records."""
    original, step = survey(), example(method)
    masked, carried_out = apply_plan([step], original, VARIABLES, np.random.SeedSequence(3))
    released = dict(VARIABLES)
    for each in carried_out:
        released = each.released(released)
    rows = masked.index.to_numpy()
    before = original.iloc[rows].reset_index(drop=True)
    recoded = apply_recodings(carried_out, before, VARIABLES)
    rng = np.random.default_rng(0)
    return Comparison(before, recoded, masked.reset_index(drop=True), None, VARIABLES, released, rng), rows


@pytest.mark.parametrize("method", sorted(methods()))
def test_no_measure_of_a_variable_says_more_than_the_share_of_its_records_that_changed(method: str) -> None:
    files, _ = compared(method)
    alone = marginal_losses(files.common_bins, 1)
    groups = {
        each.name: cell_losses(each)
        for each in released_groups(
            files.original, files.recoded, files.masked, files.variables, files.released, files.paired
        )
    }
    for bins, loss in zip(files.common_bins, alone.losses.tolist(), strict=True):
        assert bins.spread.sum(axis=1) == pytest.approx(1)  # every record counts once
        assert bins.likely.sum(axis=1) == pytest.approx(1)
        name = bins.name
        if name not in files.released:
            continue
        changed = float(changed_cells(files.original[name], files.masked[name]).mean())
        most = 1.0 if bins.is_lost else changed + 1e-9
        assert loss <= most
        assert groups[name].certainty <= most
        assert groups[name].distortion <= most
        assert groups[name].entropy <= most
        if VARIABLES[name].kind.is_categorical:
            assert direct_comparison(bins, category_distances(bins.labels)) <= most
        if not changed:
            assert groups[name][:3] == (0, 0, 0)


@pytest.mark.parametrize("method", sorted(methods()))
def test_what_a_recoded_value_may_stand_for_holds_the_value_that_it_was(method: str) -> None:
    files, _ = compared(method)
    for name in files.recoded:
        if VARIABLES[name].kind in (Kind.TEXT, Kind.ITEMS) or VARIABLES[name].role in (Role.HOUSEHOLD, Role.IDENTIFIER):
            continue
        recoded = files.recoded[name]  # what the method did beyond it was not truthful
        read = ReleasedValues.of(files.original[name], recoded, recoded, VARIABLES[name].hierarchy)
        stands = np.zeros((len(read.counts), len(read.known.distinct) + 1), dtype=np.bool_)
        stands[read.code, read.value] = True
        stands[read.may_be_any] = True
        assert stands[read.told.codes, read.known.codes].all()
        assert read.is_face == at_face_value(files.original[name], recoded)
