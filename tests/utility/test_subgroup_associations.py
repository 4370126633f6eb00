import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

from sluice.ground.errors import DataError
from sluice.utility.common_bins import common_bins
from sluice.utility.marginals import MarginalTables
from sluice.utility.subgroup_associations import SubgroupAssociation, cramers_v_of_each, subgroup_associations
from tests.golden import golden
from tests.typed_frame import typed_frame


def data(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = {"town": rng.choice(list("abc"), n), "sex": rng.choice(list("mf"), n), "job": rng.choice(list("pqr"), n)}
    return pd.DataFrame(frame)


def changes(original: pd.DataFrame, masked: pd.DataFrame, least: int = 1) -> tuple[SubgroupAssociation, ...]:
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    bins = common_bins(before, before, after, variables, released)
    declared = {name: before[name].cat.categories for name in released}
    return subgroup_associations(bins, MarginalTables(bins, 3), declared, list(released), least)


@pytest.mark.chain
@given(st.integers(0, 2**32))
def test_agrees_with_scipy_within_the_subgroups_of_pandas(seed: int) -> None:
    original, masked = data(300, seed), data(200, seed + 1)
    for each in changes(original, masked):
        pair = [name for name in original if name != each.variable]
        within = [frame[frame[each.variable] == each.category] for frame in (original, masked)]
        was, now = (association(pd.crosstab(*(frame[name] for name in pair)), method="cramer") for frame in within)
        assert each.records == len(within[0])
        assert each.change == pytest.approx(abs(was - now), abs=1e-9)


def test_the_subgroup_in_which_values_were_torn_apart_is_the_worst() -> None:
    rng = np.random.default_rng(0)
    original = data(3_000, 0)
    original["job"] = original["sex"].map({"m": "p", "f": "q"})
    masked = original.copy()
    torn = masked.index[masked["town"] == "b"]
    masked.loc[torn, "job"] = rng.permutation(masked.loc[torn, "job"])
    worst, *others = [each for each in changes(original, masked) if each.variable == "town"]
    assert (worst.category, worst.change) == ("b", pytest.approx(1, abs=0.1))
    assert worst.moved == pytest.approx(worst.records / 2, rel=0.1)
    assert [each.change for each in others] == pytest.approx([0, 0], abs=1e-12)
    assert changes(original, masked, least=3_001) == ()


def test_who_is_gone_has_nothing_that_goes_together() -> None:
    original = data(900, 0)
    original["job"] = original["sex"].map({"m": "p", "f": "q"})
    gone = [each for each in changes(original, original[original["town"] != "c"]) if each.category == "c"]
    assert (gone[0].change, gone[0].moved) == (pytest.approx(1), gone[0].records)


def test_tables_of_one_row_or_of_nobody_have_no_v() -> None:
    tables = np.array([[[3.0, 4.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 5.0]]])
    found = cramers_v_of_each(tables)
    assert np.isnan(found[:2]).all()
    assert found[2] == pytest.approx(1)


def test_tables_of_another_size_are_refused() -> None:
    original, variables = typed_frame(data(30, 0))
    bins = common_bins(original, original, original, variables, variables)
    golden.refused(DataError, subgroup_associations, bins, MarginalTables(bins, 2), {}, [])
