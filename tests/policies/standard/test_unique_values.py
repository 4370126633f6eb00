"""People found by values that they alone have, as a finding of the reference standard."""

from dataclasses import replace

import numpy as np
import pandas as pd

from policies.standard.copied_values import judge_unique_values
from policies.standard.preconditions import judge_leniency
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.policies.standard.wealth_sample import paired, wealthy

FRAME, VARIABLES = wealthy()
STANDARD = ReferenceStandard()


def permuted(*kept: str) -> pd.DataFrame:
    """Every variable for itself, but those that are kept."""
    return FRAME.assign(**{
        name: FRAME[name].sample(frac=1, random_state=i).array for i, name in enumerate(FRAME) if name not in kept
    })  # fmt: skip


def test_one_variable_verbatim_fails_and_says_what_was_counted() -> None:
    finding = judge_unique_values(STANDARD, paired(FRAME, permuted("amount2"), VARIABLES))
    assert (finding.verdict, finding.scope, finding.completed) == (Verdict.FAIL, "amount2", len(FRAME))
    assert finding.observed > 0.8 > finding.limit
    golden(finding.says)


def test_values_on_other_peoples_records_pass() -> None:
    finding = judge_unique_values(STANDARD, paired(FRAME, permuted(), VARIABLES))
    assert finding.verdict is Verdict.PASS
    assert judge_unique_values(STANDARD, paired(FRAME, permuted("age"), VARIABLES)).verdict is Verdict.PASS  # two ages


def test_the_share_that_is_tolerated_is_the_policys_and_a_lenient_one_is_named() -> None:
    few = permuted()
    few.loc[:59, "amount1"] = FRAME.loc[:59, "amount1"]  # 4 % of the people
    files = paired(FRAME, few, VARIABLES)
    assert judge_unique_values(STANDARD, files).verdict is Verdict.FAIL
    lenient = ReferenceStandard(unique_values_excess=0.06)
    assert judge_unique_values(lenient, files).verdict is Verdict.PASS
    assert "unique_values_excess 0.06" in judge_leniency(lenient).says


def test_rows_in_random_order_are_judged_by_what_stands_beside_a_unique_value() -> None:
    def unpaired(masked: pd.DataFrame) -> object:
        rows = masked.sample(frac=0.8, random_state=1).reset_index(drop=True)
        return judge_unique_values(STANDARD, replace(paired(FRAME, rows, VARIABLES), paired=False))

    together = unpaired(permuted("amount0", "amount1"))
    assert together.verdict is Verdict.FAIL
    assert {"amount0", "amount1"} == set(together.scope.split(", "))
    golden.words(together.says)
    assert unpaired(permuted("amount0")).verdict is Verdict.PASS
    assert unpaired(permuted()).verdict is Verdict.PASS


def test_what_cannot_be_compared_is_unknown_or_refused() -> None:
    assert judge_unique_values(STANDARD, paired(FRAME[[]], FRAME, VARIABLES)).verdict is Verdict.UNKNOWN
    ages = {"age": VARIABLES["age"]}
    alike = replace(paired(FRAME[["age"]], FRAME[["age"]], ages), paired=False)
    assert judge_unique_values(STANDARD, alike).verdict is Verdict.PASS
    golden.refused(DataError, judge_unique_values, STANDARD, paired(FRAME, FRAME[:-1], VARIABLES))
    few = paired(FRAME, FRAME.assign(amount0=np.where(np.arange(len(FRAME)) < 5, FRAME["amount0"], -1.0)), VARIABLES)
    only = replace(
        few,
        recoded=few.recoded[["amount0"]],
        masked=few.masked[["amount0"]],
        released={"amount0": VARIABLES["amount0"]},
    )
    assert (
        judge_unique_values(STANDARD, only).observed,
        "Fewer than " in judge_unique_values(STANDARD, only).says,
    ) == (None, True)
