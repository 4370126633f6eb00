import numpy as np
import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError
from sluice.risk.classes.k_anonymity import KAnonymity
from tests.golden import golden
from tests.tasks.workbench.notebook.conftest import HOUSEHOLD_KEYS, KEYS
from tests.typed_frame import typed_frame


def test_sdcmicros_testdata(households: pd.DataFrame) -> None:
    """sdcMicro: 157 records below 2, 281 below 3, 458 below 5."""
    found = [sluice.k_anonymity(households, HOUSEHOLD_KEYS, k=k) for k in (2, 3, 5)]
    assert [each.records_below for each in found] == [157, 281, 458]
    assert {each.sample_uniques for each in found} == {157}


@pytest.mark.parametrize("missing_matches", ["category", "any"])
def test_the_figures_are_those_of_the_rule(fair: pd.DataFrame, missing_matches: str) -> None:
    frame = fair.mask(np.random.default_rng(0).random(fair.shape) < 0.02)
    found = sluice.k_anonymity(frame, KEYS[:5], missing_matches=missing_matches)  # type: ignore[arg-type]
    typed, variables = typed_frame(frame)
    rule = KAnonymity.model_validate({"k": 5, "missing_matches": missing_matches, "columns": KEYS[:5]})
    (finding,) = rule.find(typed, variables, "original")
    assert finding.observed == found.k
    golden(finding.says)
    assert f"{found.records_below:,}" in finding.says
    assert f"{found.sample_uniques:,}" in finding.says


def test_records_keep_their_index_whatever_it_is(fair: pd.DataFrame) -> None:
    shuffled = fair.sample(frac=1, random_state=1).set_axis([f"woman {n}" for n in range(len(fair))])
    found = sluice.k_anonymity(shuffled, KEYS).per_record["frequency"]
    assert found.index.equals(shuffled.index)
    of_row = shuffled.groupby(KEYS)["affairs"].transform("size")
    assert found.equals(of_row.rename("frequency"))


def test_a_contract_says_which_columns_identify(fair: pd.DataFrame) -> None:
    by_contract = sluice.k_anonymity(fair, contract="schemas/fair_survey.yaml")
    assert by_contract.quasi_identifiers == tuple(KEYS)
    golden(by_contract.says)
    assert (by_contract.k, by_contract.sample_uniques) == (1, 2570)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"k": 0}, DataError),
        ({"k": "5"}, TypeError),
        ({"k": True}, TypeError),
        ({"k": 2.5}, TypeError),
        ({"missing_matches": "all"}, DataError),
        ({"quasi_identifiers": None}, DataError),
        ({"quasi_identifiers": []}, DataError),
        ({"quasi_identifiers": "age"}, TypeError),
        ({"quasi_identifiers": 3}, TypeError),
        ({"quasi_identifiers": [3]}, TypeError),
        ({"quasi_identifiers": ["age", "age"]}, DataError),
        ({"quasi_identifiers": ["agee"]}, DataError),
        ({"contract": "schemas/fair_survey.yaml"}, DataError),
        ({"contract": 3, "quasi_identifiers": None}, TypeError),
    ],
)
def test_refusals(fair: pd.DataFrame, given: dict[str, object], error: type[Exception]) -> None:
    golden.refused(error, sluice.k_anonymity, fair, **{"quasi_identifiers": KEYS, **given})


def test_a_missing_column_of_the_contract_is_named(fair: pd.DataFrame) -> None:
    with golden.raises(DataError):
        sluice.k_anonymity(fair.rename(columns={"age": "agee"}), contract="schemas/fair_survey.yaml")
