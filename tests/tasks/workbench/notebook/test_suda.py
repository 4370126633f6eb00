import pandas as pd

import sluice
from sluice.ground.errors import DataError
from sluice.risk.classes.suda import Suda
from tests.golden import golden
from tests.tasks.workbench.notebook.conftest import HOUSEHOLD_KEYS
from tests.typed_frame import typed_frame


def test_sdcmicros_testdata(households: pd.DataFrame) -> None:
    """sdcMicro's suda2 with its original scores: they add up to 4,890, on 157 records."""
    found = sluice.suda(households, HOUSEHOLD_KEYS)
    assert (found.total_score, found.special_uniques) == (4890, 157)
    assert (found.per_record["score"] > 0).sum() == 157
    assert found.highest_dis is None
    assert "dis" not in found.per_record
    assert found.minimal_sample_uniques["records"].is_monotonic_decreasing
    assert set(found.per_key.index) == set(HOUSEHOLD_KEYS)


def test_the_share_at_risk_is_that_of_the_rule(households: pd.DataFrame) -> None:
    frame = households[HOUSEHOLD_KEYS]
    found = sluice.suda(frame, HOUSEHOLD_KEYS, size=3, sampling_fraction=0.01)
    typed, variables = typed_frame(frame)
    rule = Suda(size=3, sampling_fraction=0.01, above=0.05, columns=tuple(HOUSEHOLD_KEYS))
    assert rule.find(typed, variables, "original")[0].observed == (found.per_record["dis"] > 0.05).mean()
    assert found.highest_dis == found.per_record["dis"].max()


def test_nobody_is_special_among_equals() -> None:
    found = sluice.suda(pd.DataFrame({"a": ["x"] * 5, "b": ["y"] * 5}), ["a", "b"])
    assert (found.special_uniques, found.highest_score) == (0, 0)
    golden(found.says)


def test_refusals(households: pd.DataFrame) -> None:
    golden.refused(DataError, sluice.suda, households, HOUSEHOLD_KEYS, size=8)
    golden.refused(DataError, sluice.suda, households, HOUSEHOLD_KEYS, sampling_fraction=10)
    golden.refused(TypeError, sluice.suda, households, HOUSEHOLD_KEYS, sampling_fraction="0.1")
