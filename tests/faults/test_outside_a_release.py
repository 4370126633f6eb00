"""Faults outside a release: `sluice mask` tells nothing that the file does not, `sluice assess` is not to be misled."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from sluice.ground.errors import DataError, PlanError
from sluice.ground.verdict import Finding, Verdict
from sluice.report.dossier import Dossier
from tasks.workbench.assess import assess_files
from tasks.workbench.file_masking import mask_file
from tests.golden import golden

CANARY = "canary4711"
RECORDS = 1200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """People of whom one has a disease that nobody else has, their contract, and a policy of attacks with a control."""
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "income": np.round(rng.lognormal(10, 0.5, RECORDS), 2),
            "sex": rng.choice(["f", "m"], RECORDS),
            "disease": rng.choice(["flu", "cold", "gout"], RECORDS),
        }
    )
    people.loc[7, "disease"] = CANARY
    people.to_csv(tmp_path / "people.csv", index=False)
    variables = [
        {"name": "income", "kind": "continuous", "role": "sensitive"},
        {"name": "sex", "kind": "binary", "role": "quasi_identifier", "categories": ["f", "m"]},
        {"name": "disease", "kind": "nominal", "role": "sensitive"},
    ]
    policy = {
        "name": "control",
        "version": 1,
        "rules": [{"rule": "k_anonymity", "k": 5, "columns": ["sex"]}],
        "attacks": [{"rule": "membership", "limit": 0.2}],
        "reference_standard": {"reference": "leave_one_out", "margin": 0.1, "minimum_records": 1000},
        "approvals": {"count": 1, "roles": ["methodologist"], "valid_days": 30, "identity": "account"},
    }
    contract = {"dataset": "people", "version": 1, "variables": variables}
    for name, document in (("contract", contract), ("policy", policy)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    return tmp_path


def masked(folder: Path, *steps: dict[str, Any], **given: Any) -> str:
    """The descriptor of the people's file after these steps."""
    (folder / "plan.yaml").write_text(yaml.safe_dump(list(steps)), encoding="utf-8")
    trial = mask_file(folder / "people.csv", folder / "plan.yaml", folder / "masked.csv", **given)
    return trial.descriptor.read_text(encoding="utf-8")


def assessed(folder: Path, file: pd.DataFrame, **given: Any) -> Dossier:
    file.to_csv(folder / "file.csv", index=False)
    return assess_files(
        folder / "people.csv", folder / "file.csv", folder / "contract.yaml", folder / "policy.yaml", **given
    )


def finding(dossier: Dossier, rule: str) -> Finding:
    return next(finding for finding in dossier.findings if finding.rule == rule)


@pytest.mark.parametrize("documented", [False, True])
def test_a_category_that_masking_took_away_is_not_in_the_descriptor(documented: bool, folder: Path) -> None:
    given = {"contract_file": folder / "contract.yaml"} if documented else {}
    suppression = {"method": "local_suppression", "columns": ["disease", "sex"], "k": 3}
    told = masked(folder, suppression, **given)
    assert CANARY not in (folder / "masked.csv").read_text(encoding="utf-8")
    assert CANARY not in told
    (disease,) = (f for f in json.loads(told)["resources"][0]["schema"]["fields"] if f["name"] == "disease")
    assert disease["categories"] == ["cold", "flu", "gout"]


def test_an_error_of_the_plan_names_no_category_that_only_the_data_told(folder: Path) -> None:
    recoding = {"method": "global_recoding", "columns": ["disease"], "categories": {"other": ["flu", "cold", "gout"]}}
    with golden.raises(DataError) as refused:
        masked(folder, recoding)
    assert CANARY not in str(refused.value)
    with golden.raises(PlanError):
        masked(folder, {"method": "rounding", "columns": ["disease"], "base": 5})


@pytest.mark.parametrize(("content", "given"), [("town,age\nAldby,30\nBorgen,40\n", {"weight": "town"})])
def test_a_file_that_cannot_be_understood_is_refused_in_words(
    content: str, given: dict[str, str], folder: Path
) -> None:
    (folder / "people.csv").write_text(content, encoding="utf-8")
    with golden.raises(DataError):
        masked(folder, {"method": "rounding", "columns": ["age"], "base": 5}, **given)


def test_durations_are_left_out_and_not_turned_into_texts(folder: Path) -> None:
    times = pd.DataFrame({"age": [30, 40, 50], "spent": pd.to_timedelta([1, 2, 3], unit="h")})
    times.to_parquet(folder / "times.parquet")
    (folder / "plan.yaml").write_text("- {method: rounding, columns: [age], base: 5}", encoding="utf-8")
    trial = mask_file(folder / "times.parquet", folder / "plan.yaml", folder / "masked.csv")
    assert [*trial.variables] == ["age"]
    assert [*pd.read_csv(folder / "masked.csv")] == ["age"]


def test_a_holdout_of_the_same_people_is_found_out(folder: Path) -> None:
    """Else every attack with a control would find that the file adds nothing."""
    people = pd.read_csv(folder / "people.csv")
    people.sample(frac=1, random_state=1).to_csv(folder / "same.csv", index=False)
    dossier = assessed(folder, people, holdout_file=folder / "same.csv")
    assert finding(dossier, "membership").verdict is Verdict.PASS
    assert finding(dossier, "holdout_of_others").verdict is Verdict.UNKNOWN
    assert dossier.verdict is Verdict.UNKNOWN
    people.assign(income=np.random.default_rng(2).permutation(people["income"]) + 0.5).to_csv(
        folder / "others.csv", index=False
    )
    dossier = assessed(folder, people, holdout_file=folder / "others.csv")
    assert finding(dossier, "holdout_of_others").verdict is Verdict.PASS
    assert finding(dossier, "membership").verdict is Verdict.FAIL


def test_rows_in_another_order_than_claimed_are_found_out(folder: Path) -> None:
    policy = yaml.safe_load((folder / "policy.yaml").read_text(encoding="utf-8"))
    (folder / "policy.yaml").write_text(yaml.safe_dump(policy | {"attacks": []}), encoding="utf-8")  # no holdout
    people = pd.read_csv(folder / "people.csv")
    noisy = people.assign(income=people["income"] * np.random.default_rng(3).uniform(0.5, 1.5, RECORDS))
    assert finding(assessed(folder, noisy, paired=True), "pairs").verdict is Verdict.PASS
    shuffled = noisy.sample(frac=1, random_state=4)
    assert finding(assessed(folder, shuffled, paired=True), "pairs").verdict is Verdict.REVIEW
    assert all(found.rule != "pairs" for found in assessed(folder, shuffled).findings)
    strange = assessed(folder, noisy.add_prefix("new_"), paired=True)
    assert finding(strange, "pairs").verdict is Verdict.REVIEW
    assert strange.verdict is Verdict.UNKNOWN
