import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError
from sluice.ground.variables import Role
from sluice.risk.population.individual_risk import IndividualRisk
from tests.golden import golden
from tests.tasks.workbench.notebook.conftest import HOUSEHOLD_KEYS
from tests.typed_frame import typed_frame


def test_sdcmicros_testdata(households: pd.DataFrame) -> None:
    """sdcMicro: 10.778 expected re-identifications, 51.81 records in households of which one is found."""
    found = sluice.individual_risk(
        households, HOUSEHOLD_KEYS, weight="sampling_weight", household="ori_hid", formula="approximate"
    )
    assert found.expected == pytest.approx(10.778, abs=5e-4)
    assert found.expected_by_household == pytest.approx(51.81, abs=5e-3)
    assert found.population == households["sampling_weight"].sum()
    assert found.per_record["risk"].sum() == pytest.approx(found.expected)
    assert found.per_record.index.equals(households.index)


def test_the_figures_are_those_of_the_rule(households: pd.DataFrame) -> None:
    found = sluice.individual_risk(households, HOUSEHOLD_KEYS, weight="sampling_weight")
    typed, variables = typed_frame(households)
    variables["sampling_weight"] = variables["sampling_weight"].model_copy(update={"role": Role.WEIGHT})
    rule = IndividualRisk(highest_at_most=0.1, expected_at_most=0.1, columns=tuple(HOUSEHOLD_KEYS))
    highest, expected = rule.find(typed, variables, "original")
    assert (highest.observed, expected.observed) == (found.highest, found.expected_share)
    assert found.expected_by_household is None


def test_refusals(households: pd.DataFrame) -> None:
    golden.refused(DataError, sluice.individual_risk, households, HOUSEHOLD_KEYS)
    golden.refused(DataError, sluice.individual_risk, households, HOUSEHOLD_KEYS, weight="sampling_wieght")
    golden.refused(TypeError, sluice.individual_risk, households, HOUSEHOLD_KEYS, weight=["sampling_weight"])
    golden.refused(DataError, sluice.individual_risk, households, HOUSEHOLD_KEYS, weight="sex")
    golden.refused(DataError, sluice.individual_risk, households.assign(words="many"), HOUSEHOLD_KEYS, weight="words")
    golden.refused(DataError, sluice.individual_risk, households.assign(w=-1), HOUSEHOLD_KEYS, weight="w")
