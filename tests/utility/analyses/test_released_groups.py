import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.utility.analyses.released_groups import ReleasedGroups, has_one_meaning


def test_a_group_stands_for_the_distinct_original_values_behind_it() -> None:
    original = pd.Series([18.0, 19, 19, 30, np.nan])
    recoded = pd.Series(pd.Categorical(["young", "young", "young", "old", None]))
    masked = pd.Series(pd.Categorical(["old", "young", None, "never seen"]))
    groups = ReleasedGroups.of(original, recoded, masked)
    assert list(groups.labels) == ["old", "young", "never seen"]
    assert groups.codes.tolist() == [0, 1, 3, 2]
    assert groups.counts.tolist() == [1, 2, 0, 1]
    held = [
        groups.values.take(groups.places[s : s + c]).tolist() for s, c in zip(groups.start, groups.counts, strict=True)
    ]
    assert held[:3] == [[30], [18, 19], []]
    assert np.isnan(held[3][0])
    assert not groups.is_single


def test_a_released_value_behind_which_none_stands_is_itself() -> None:
    original = pd.Series(pd.Categorical(["a", "b"], categories=["a", "b", "c"]))
    groups = ReleasedGroups.of(original, original, pd.Series(pd.Categorical(["c", "a"])))
    assert groups.is_single
    assert groups.values.take(groups.first[groups.codes]).tolist() == ["c", "a"]
    assert ReleasedGroups.of(original, None, original).is_single


def test_numbers_and_dates_are_themselves_and_categories_are_not() -> None:
    kinds = {kind: Variable(name="x", kind=kind) for kind in (Kind.INTEGER, Kind.CONTINUOUS, Kind.DATE, Kind.NOMINAL)}
    assert has_one_meaning(kinds[Kind.INTEGER], kinds[Kind.CONTINUOUS])
    assert has_one_meaning(kinds[Kind.DATE], kinds[Kind.DATE])
    assert not has_one_meaning(kinds[Kind.INTEGER], kinds[Kind.NOMINAL])
    assert not has_one_meaning(kinds[Kind.NOMINAL], kinds[Kind.NOMINAL])
