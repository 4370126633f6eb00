"""Local recoding: every part satisfies the models, and no group that was left whole could have been parted."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.local_recoding import NO_REGION, WHOLE, LocalRecoding, local_recoding
from sluice.generalization.lattice.search import search
from sluice.generalization.objectives.class_losses import Discernibility
from sluice.generalization.objectives.key_losses import Loss, NonUniformEntropy, Precision
from sluice.ground.errors import DataError, InfeasibleError
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import DistinctLDiversity
from sluice.risk.population.reidentification_risk import AverageRisk
from tests.generalization.lattice.brute_force import breaks
from tests.generalization.lattice.test_search import MODELS
from tests.generalization.small_files import tables
from tests.golden import golden

SUPPRESSED = st.sampled_from(["released", "removed", "ignored"])


def file_of(keys: list[Key], codes: list[np.ndarray], levels: np.ndarray, hidden: np.ndarray, how: str, **sensitive):
    """The file with each record at levels of its own. A group has the number of its first leaf and of its last: what a
    reader sees is the group, and not the level."""
    columns = {}
    for key, leaf, level in zip(keys, codes, levels.T, strict=True):
        held = [key.levels[at] == key.levels[at, one] for at, one in zip(level, leaf, strict=True)]
        shown = np.array([int("".join(map(str, one.astype(int))), 2) for one in held], dtype=float)
        columns[key.name] = np.where(leaf == (-1 if key.missing is None else key.missing), np.nan, shown)
    file = pd.DataFrame(columns | {name: np.where(codes < 0, np.nan, codes) for name, codes in sensitive.items()})
    if how == "released":
        file.loc[hidden] = np.nan
    return file[~hidden] if how == "removed" else file


@given(tables(), st.lists(MODELS, min_size=1, max_size=2), st.sampled_from([0.0, 0.1, 0.3]), SUPPRESSED)
def test_all_parts_satisfy_the_models_and_no_group_can_be_parted_further(table, models, limit, how):
    keys, codes, sensitive = table
    options = {"sensitive": sensitive, "suppressed": how}
    try:
        solution = search(keys, codes, models, Loss(), suppression_limit=limit, **options)
    except InfeasibleError:
        return
    found = local_recoding(keys, codes, models, Loss(), solution, **options)
    hidden, region = solution.suppressed_records, found.region(keys, codes)
    levels = found.levels_of(region)
    np.testing.assert_array_equal(region == NO_REGION, hidden)
    assert (found.by[region[~hidden]] == WHOLE).all()
    file, kept = file_of(keys, codes, levels, hidden, how, **sensitive), ~hidden
    at = np.arange(int(kept.sum())) if how == "removed" else np.flatnonzero(kept)  # the kept records' rows in the file
    assert not any(breaks(model, file, keys)[at].any() for model in models)
    # A reader takes for one group what is one region, and nothing else.
    seen = pd.Series(region[kept]).groupby([file[key.name].fillna(-1).to_numpy()[at] for key in keys])
    assert seen.nunique().eq(1).all()
    assert len(seen) == len(set(region[kept]))
    for one in set(region[kept]):
        for number in range(len(keys)):
            if not found.levels[one, number]:
                assert found.breaks[one, number] == -1
                continue
            finer = levels.copy()
            finer[region == one, number] -= 1
            parted = file_of(keys, codes, finer, hidden, how, **sensitive)
            rows = np.isin(at, at[region[kept] == one])
            broken = [breaks(model, parted, keys)[at[rows]].any() for model in models]
            assert broken.index(True) == found.breaks[one, number]


def mean_loss(keys: list[Key], codes: list[np.ndarray], levels: np.ndarray, hidden: np.ndarray, by: object) -> float:
    """Of each record by itself, without counts of groups."""
    of_keys = []
    for key, leaf, level in zip(keys, codes, levels.T, strict=True):
        lost = np.zeros(len(leaf))
        for record in range(len(leaf)):
            row = key.levels[level[record]]
            held = np.flatnonzero(row == row[leaf[record]])
            if isinstance(by, Precision):
                lost[record] = 0 if leaf[record] == key.missing else level[record] / max(key.depth, 1)
            elif isinstance(by, NonUniformEntropy):
                lost[record] = np.log2(np.isin(leaf, held).sum() / (leaf == leaf[record]).sum())
            else:
                lost[record] = (len(held) - 1) / max(key.values - 1, 1)
        most = 1.0
        if isinstance(by, NonUniformEntropy):
            of_all = np.log2(len(leaf) / np.bincount(leaf)[leaf])
            lost, most = np.where(hidden, of_all, lost), float(of_all.mean())
        of_keys.append(float(np.where(hidden & (not isinstance(by, NonUniformEntropy)), 1, lost).mean()) / (most or 1))
    weights = [key.weight for key in keys]
    return float(np.dot(of_keys, weights) / sum(weights)) if sum(weights) else 0.0


@given(
    tables(),
    st.lists(MODELS, min_size=1, max_size=2),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([Loss(), NonUniformEntropy(), Precision()]),
)
def test_the_loss_is_that_of_the_records_and_no_more_than_before(table, models, limit, objective):
    keys, codes, sensitive = table
    options = {"sensitive": sensitive, "suppressed": "removed"}
    try:
        solution = search(keys, codes, models, objective, suppression_limit=limit, **options)
    except InfeasibleError:
        return
    found = local_recoding(keys, codes, models, objective, solution, **options)
    levels = found.levels_of(found.region(keys, codes))
    assert (levels <= np.array(solution.levels)).all()
    assert found.value == pytest.approx(mean_loss(keys, codes, levels, solution.suppressed_records, objective))
    assert found.value <= solution.value + 1e-9


AREA = Key("area", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))
SEX = Key("sex", np.array([[0, 1], [0, 0]]))


def recoded(counts: list[tuple[int, int, int]], k: int, weights: tuple[float, float]) -> LocalRecoding:
    """counts : area, sex and how many records have both"""
    codes = [np.repeat([row[at] for row in counts], [row[2] for row in counts]) for at in (0, 1)]
    keys = [Key(key.name, key.levels, key.missing, weight) for key, weight in zip((AREA, SEX), weights, strict=True)]
    return local_recoding(keys, codes, [KAnonymityModel(k)], Loss(), search(keys, codes, [KAnonymityModel(k)], Loss()))


def test_the_refinement_that_saves_most_is_taken():
    # With k = 8 the 16 records of the north can be told by area, by which each loses 1/3 less, or by sex, by which it
    # loses 1 less, and not by both. In the south neither can be done; so for all it is half the country, and no sex.
    north = [(area, sex, 4) for area in (0, 1) for sex in (0, 1)]
    south = [(2, 0, 1), (3, 0, 10), (3, 1, 1)]
    codes = [np.array([0, 1, 2, 3]), np.array([0, 1, 0, 1])]
    by_sex = recoded([*north, *south], 8, weights=(2.5, 1))
    assert by_sex.start.tolist() == [1, 1]
    at = by_sex.region([AREA, SEX], codes)
    assert by_sex.levels_of(at).tolist() == [[1, 0], [1, 0], [1, 1], [1, 1]]
    assert by_sex.breaks[at].tolist() == [[0, -1], [0, -1], [0, 0], [0, 0]]
    assert by_sex.value == pytest.approx((2.5 / 3 + 12 / 28) / 3.5)
    by_area = recoded([*north, *south], 8, weights=(9, 1))
    assert by_area.start.tolist() == [1, 1]
    assert by_area.levels_of(by_area.region([AREA, SEX], codes)).tolist() == [[0, 1], [0, 1], [1, 1], [1, 1]]


def test_a_combination_that_was_not_in_the_file_goes_as_far_as_its_groups_do():
    codes = [np.repeat([0, 2, 3], [6, 6, 1]), np.repeat([0, 1, 1], [6, 6, 1])]
    solution = search([AREA, SEX], codes, [KAnonymityModel(6)], Loss())
    found = local_recoding([AREA, SEX], codes, [KAnonymityModel(6)], Loss(), solution)
    assert found.start.tolist() == [1, 0]
    # In the north only area 0 occurs, and is told; a man of the north is in no region; a woman of area 1 is in the
    # region, and area 1 in none of its parts.
    at = found.region([AREA, SEX], [np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1])])
    assert found.levels_of(at).tolist() == [[0, 0], [1, 0], [1, 0], [1, 0]]
    assert (at == NO_REGION).tolist() == [False, True, False, False]


def test_extremes():
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 4, 200), rng.integers(0, 2, 200)]
    for k, levels in ((1, [0, 0]), (200, [2, 1])):
        solution = search([AREA, SEX], codes, [KAnonymityModel(k)], Loss())
        found = local_recoding([AREA, SEX], codes, [KAnonymityModel(k)], Loss(), solution)
        assert (found.levels_of(found.region([AREA, SEX], codes)) == levels).all()
        assert found.value == solution.value
    # No class has three different values: all records are suppressed.
    models, sensitive = [DistinctLDiversity("a", 3)], {"a": codes[1]}
    nobody = search([AREA, SEX], codes, models, Loss(), sensitive=sensitive, suppression_limit=1)
    none = local_recoding([AREA, SEX], codes, models, Loss(), nobody, sensitive=sensitive)
    assert len(none.by) == 0
    assert none.value == 1
    assert (none.region([AREA, SEX], codes) == NO_REGION).all()


@pytest.mark.parametrize(
    ("models", "objective"), [([AverageRisk(0.5)], Loss()), ([KAnonymityModel(2)], Discernibility())]
)
def test_what_cannot_be_judged_class_by_class_or_key_by_key(models, objective):
    codes = [np.repeat([0, 1, 2, 3], 5), np.repeat([0, 1], 10)]
    solution = search([AREA, SEX], codes, [KAnonymityModel(2)], Loss())
    with golden.raises(DataError):
        local_recoding([AREA, SEX], codes, models, objective, solution)
