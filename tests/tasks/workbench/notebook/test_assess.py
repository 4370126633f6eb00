from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import sluice
from policies.policy import load_policy
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.verdict import Verdict
from tasks.workbench.assess import assess_files
from tests.golden import golden

DEMO = Path("deployments/demo/fair-survey.yaml")
CONTRACT = "schemas/fair_survey.yaml"
COLUMNS: dict[str, Any] = {
    "quasi_identifiers": ["age", "yrs_married", "children", "religious", "educ"],
    "sensitive": ["affairs", "rate_marriage"],
}


@pytest.fixture(scope="module")
def answers(fair: pd.DataFrame) -> pd.DataFrame:
    """The survey with the numbers that the contract asks for."""
    return fair.assign(respondent=range(100_001, 100_001 + len(fair)))


@pytest.fixture(scope="module")
def masked(answers: pd.DataFrame) -> Any:
    """By the plan of the demo's release that is published."""
    plan = yaml.safe_load(DEMO.read_text(encoding="utf-8"))["plan"]
    return sluice.mask(answers, plan, contract=CONTRACT, seed=1)


@pytest.fixture(scope="module")
def assessed(answers: pd.DataFrame, masked: Any) -> Any:
    return sluice.assess(answers, masked, seed=1)


@pytest.mark.exhaustive
def test_the_demos_plan_meets_the_shipped_policy(assessed: Any) -> None:
    assert assessed.verdict is Verdict.PASS
    assert (assessed.rules_broken, assessed.to_be_decided, assessed.not_measured) == (0, 0, 0)
    golden(assessed.says)
    assert assessed.report().startswith("<!DOCTYPE html>")
    assert {"k_anonymity", "l_diversity", "distance_linkage"} <= set(assessed.findings_table["rule"])


@pytest.mark.exhaustive
def test_the_figures_are_those_of_sluice_assess(answers: pd.DataFrame, masked: Any, tmp_path: Path) -> None:
    """The rules on one file are the same from two CSV files and a contract."""
    some, made = answers.head(1000), masked.frame.head(1000)
    some.to_csv(tmp_path / "original.csv", index=False)
    made.to_csv(tmp_path / "masked.csv", index=False)
    from_files = assess_files(tmp_path / "original.csv", tmp_path / "masked.csv", Path(CONTRACT))
    found = sluice.assess(some, made, contract=CONTRACT, seed=1)
    for rule in ("k_anonymity", "sample_uniques_share", "l_diversity", "mean", "variance", "reference_size"):
        ours, theirs = (
            [(f.scope, f.stage, f.verdict, f.observed, f.says) for f in findings if f.rule == rule]
            for findings in (found.findings, from_files.findings)
        )
        assert ours == theirs != []


def test_a_file_that_breaks_the_policy_says_what_is_wrong_first(fair: pd.DataFrame) -> None:
    some = fair.head(1000)
    found = sluice.assess(some, some, paired=True, policy=load_policy(Path("deployments/demo/policy.yaml")), **COLUMNS)
    assert found.verdict >= Verdict.FAIL
    assert found.rules_broken > 3
    assert found.policy == "demo-public-use-file"
    assert found.findings_table["verdict"].iloc[0] in ("FAIL", "UNKNOWN")


def test_refusals(fair: pd.DataFrame) -> None:
    golden.refused(TypeError, sluice.assess, fair, fair, policy=3)
    golden.refused(DocumentError, sluice.assess, fair, fair, policy="no-such.yaml")
    golden.refused(DocumentError, sluice.assess, fair, fair, policy="strict")
    golden.refused(DataError, sluice.assess, fair, fair, contract=CONTRACT)


def test_what_cannot_be_judged_is_refused_before_a_record_is_looked_at(
    fair: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.workbench.assess.assess_compared", None)
    made = sluice.mask(fair.head(50), [{"method": "rank_swapping", "columns": ["age"], "window": 0.5}], seed=1)
    golden.refused(DataError, sluice.assess, fair.head(50), made)
    golden.refused(DataError, sluice.assess, fair, fair, quasi_identifiers=["age"])
    golden.refused(DataError, sluice.assess, fair, fair, **COLUMNS, policy="policies/synthetic-file.yaml")


@pytest.mark.parametrize("which", ["original", "masked"])
def test_numbers_that_nothing_can_be_computed_of_are_refused_and_no_measure_crashes(which: str) -> None:
    """As C writes for a missing value: the largest number that there is."""
    frame = pd.DataFrame({"age": [20, 30] * 50, "pay": [1.5, 2.5, 1000.25, 7.75] * 25})
    files = {"original": frame, "masked": frame} | {
        which: frame.assign(pay=[*frame["pay"][:-1], 1.7976931348623157e308])
    }
    with golden.raises(DataError):
        sluice.assess(**files, quasi_identifiers=["age"], sensitive=["pay"], seed=1)


@pytest.mark.filterwarnings("error")
def test_of_small_and_awkward_files_no_library_warns_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    """More codes than half of the records, numbers next to 0; a warning would end a measure, which is told."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 60),
            "region": [f"r{code}" for code in rng.integers(0, 50, 60)],
            "job": [f"j{code}" for code in rng.integers(0, 60, 60)],
            "income": rng.lognormal(10, 1, 60).round(),
            "tiny": rng.normal(size=60) * 1e-310,
        }
    )
    roles = {"quasi_identifiers": ["age", "region"], "sensitive": ["income"], "seed": 1}
    trees = [{"method": "sequential_trees", "columns": ["age", "region", "income"]}]
    noise = [{"method": "additive_noise", "columns": ["income"], "amount": 0.1}]
    assert len(sluice.mask(frame, trees, **roles)) == 60
    sluice.assess(frame, sluice.mask(frame.drop(columns="job"), noise, **roles), policy="small-file")
    assert "Warning" not in capsys.readouterr().err
