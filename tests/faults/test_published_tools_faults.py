"""Faults that the field's own tools have or had, one test each, through the interface that a policy uses.

That each rule and attack can fail is in test_contract.py and test_attack_contract.py of tests/policies/rules. Where a
unit test elsewhere holds the same fault down to its figures, it is named beside the test here.
"""

import sqlite3
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter, ValidationError

from policies.policy import Policy
from policies.rules.rules import PolicyRule
from policies.standard.reference_standard import ReferenceStandard
from policies.standard.standard_checks import judge_reference_standard
from policies.waivers import Waiver, apply_waivers
from sluice.custody.ledger import Ledger
from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DataError, DocumentError, PlanError, SluiceError
from sluice.ground.variables import Role, Variable
from sluice.ground.verdict import Finding, Verdict, decide
from sluice.masking.recoding.local_suppression import LocalSuppression
from sluice.risk.reference.prediction import equivalence_test
from sluice.utility.comparison import Comparison
from tasks.release.intake.staging import within_memory
from tests.golden import golden

RULE: TypeAdapter[Any] = TypeAdapter(PolicyRule)
VARIABLES = {
    "age": Variable(name="age", kind="integer", role=Role.QUASI_IDENTIFIER, nullable=True),
    "area": Variable(name="area", kind="nominal", role=Role.QUASI_IDENTIFIER, categories=("a", "b")),
    "illness": Variable(name="illness", kind="nominal", role=Role.SENSITIVE, categories=("flu", "gout", "none")),
}


def people(ages: list[int | None], areas: str, illnesses: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": pd.array(ages, dtype="Int64"),
            "area": pd.Categorical(list(areas), categories=["a", "b"]),
            "illness": pd.Categorical(illnesses, categories=["flu", "gout", "none"]),
        }
    )


def find(rule: dict[str, Any], frame: pd.DataFrame) -> list[Finding]:
    return list(RULE.validate_python(rule).find(frame, VARIABLES, "masked"))


def test_a_missing_key_is_a_category_and_never_drops_its_record() -> None:
    """A group-by without `dropna=False` reports k = 3 here, while one person is alone.

    Also: test_k_anonymity.py, test_equivalence_classes.py in tests/risk/classes (against sdcMicro's figures).
    """
    frame = people([30, 30, 30, None], "aaaa", ["flu", "gout", "none", "flu"])
    (finding,) = find({"rule": "k_anonymity", "k": 3}, frame)
    assert (finding.verdict, finding.observed, finding.completed) == (Verdict.FAIL, 1, 4)


def test_index_labels_are_no_positions() -> None:
    """The second group has one illness only. With labels taken for positions it reads the first group's.

    Also: tests/risk/classes/test_l_diversity.py::test_index_labels_are_not_positions.
    """
    frame = people([30, 30, 40, 40], "aabb", ["flu", "gout", "flu", "flu"])
    frame.index = pd.Index([2, 3, 0, 1])
    for each in (frame, frame.sort_index(), frame.iloc[::-1], frame.reset_index(drop=True)):
        (finding,) = find({"rule": "l_diversity", "l": 2}, each)
        assert (finding.verdict, finding.observed) == (Verdict.FAIL, 1)


@pytest.mark.parametrize("spelling", ["FAIL", "fail", "Failed", "error", ""])
def test_a_status_is_no_text_that_an_unexpected_spelling_turns_into_a_pass(spelling: str) -> None:
    """Also: tests/ground/test_verdict.py; for an unknown rule tests/policies/test_policy.py."""
    with pytest.raises(ValidationError):
        Finding.model_validate({"rule": "k_anonymity", "verdict": spelling, "says": "Two are alone."})
    assert decide([]) is Verdict.UNKNOWN
    content = {"name": "p", "version": 1, "rules": [{"rule": "k_anonimity", "k": 3}], "approvals": {}}
    with golden.raises(DocumentError):
        parse_document(Policy, content, "policy.yaml")


def test_an_attack_that_could_not_be_carried_out_is_no_small_risk() -> None:
    """An attack that fails, or does worse than its own baseline for want of anything to attack, proves nothing.

    Also: tests/risk/reference/test_prediction.py::test_what_was_not_measured_is_unknown.
    """
    measured = np.linspace(0, 1, 2000)
    broken = np.full(2000, np.nan)
    for release, reference in ((broken, measured), (measured, broken), (broken, broken)):
        assert equivalence_test(release, reference, 0.05, 0.05).verdict is Verdict.UNKNOWN
    # Nothing in the release resembles the original: every person is far away, and the labels stand for nobody.
    findings, _ = judge(numbers(2000, 1), numbers(2000, 2).assign(area=pd.Categorical(["z"] * 2000)))
    assert decide(findings.values()) is Verdict.UNKNOWN


def test_the_denominator_is_what_was_completed() -> None:
    """1,500 of 2,000 people are attacked: a share of them is of 1,500, and the finding says so."""
    findings, _ = judge(numbers(2000, 1), numbers(2000, 1), records=1500, minimum_records=1000)
    closest = findings["closest_records"]
    assert (closest.attempted, closest.completed, closest.observed) == (2000, 1500, 1.0)
    assert closest.verdict is Verdict.FAIL


def test_a_tie_is_shared_and_the_original_sets_the_scale() -> None:
    """Equal distances on both sides are nobody's advantage; a stretched release is no farther by its own range.

    Also: tests/risk/test_coding.py::test_the_original_sets_the_scale_for_every_file,
    tests/risk/reference/test_prediction.py::test_values_that_differ_by_rounding_are_tied.
    """
    same = np.repeat([0.0, 1.0, 2.0], 1000)
    test = equivalence_test(same, same.copy(), 0.0, 0.05)
    assert (test.verdict, test.statistic) == (Verdict.PASS, 0.0)
    original = numbers(2000, 1)
    outlier = original.copy()
    outlier.loc[0, "income"] = 1e6  # scaled by its own range the release would shrink to a point
    findings, _ = judge(original, outlier)
    assert findings["prediction_distance"].verdict is Verdict.FAIL
    assert findings["exact_copies"].observed == pytest.approx(1999 / 2000)


def test_an_unreachable_k_is_an_error_and_writes_nothing() -> None:
    """Also, with the whole chain: tests/faults/test_chain_faults.py::test_a_plan_that_cannot_reach_its_k."""
    frame = people([30, 30, 40], "aab", ["flu", "gout", "none"])
    step = LocalSuppression(columns=("age", "area"), k=4)
    with golden.raises(PlanError):
        step.mask(frame, VARIABLES, np.random.default_rng(1))


def test_a_file_too_large_to_check_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also: tests/tasks/release/intake/test_staging.py."""
    monkeypatch.setattr("tasks.release.intake.staging.free_memory", lambda: 500_000_000)
    batches = iter([people([30] * 100_000, "a" * 100_000, ["flu"] * 100_000)] * 100)
    with golden.raises(DataError):
        list(within_memory(batches, VARIABLES, 1))


def test_a_row_of_the_ledger_cannot_be_hidden_or_changed(tmp_path: Path) -> None:
    """Also: tests/custody/test_ledger.py, attack by attack; with the whole chain tests/flows/test_follow_up.py."""
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db", b"k" * 32, tmp_path / "anchor")
    for event in ("received", "validated", "masked"):
        ledger.append("people-1", event, "amara", {})
    for statement in ("DELETE FROM sluice_ledger WHERE seq = 2", "UPDATE sluice_ledger SET actor = 'mallory'"):
        with sqlite3.connect(tmp_path / "ledger.db") as database, pytest.raises(sqlite3.IntegrityError):
            database.execute(statement)
    with sqlite3.connect(tmp_path / "ledger.db") as database:
        database.execute("DROP TRIGGER sluice_ledger_delete")
        database.execute("DELETE FROM sluice_ledger WHERE seq = 3")
    golden(ledger.verify())
    with golden.raises(SluiceError):
        ledger.append("people-1", "masked", "amara", {})


def test_an_exception_has_a_reason_an_owner_a_scope_and_an_end_and_stays_visible() -> None:
    """Also: tests/policies/test_waivers.py."""
    today = date(2026, 5, 6)
    granted = {
        "rule": "k_anonymity",
        "scope": "people",
        "reason": "the file stays inside the research centre",
        "owner": "mina",
        "granted": today,
        "expires": today + timedelta(days=30),
    }
    for field in granted:
        with pytest.raises(ValidationError):
            Waiver.model_validate({key: value for key, value in granted.items() if key != field})
    with golden.raises(ValidationError):
        Waiver.model_validate(granted | {"expires": today + timedelta(days=3650)})
    failed = [Finding(rule="k_anonymity", verdict=Verdict.FAIL, says="Two are alone.")]
    waiver = Waiver.model_validate(granted)
    excused = apply_waivers(failed, [waiver], "people", today)
    assert decide(excused) is Verdict.PASS
    assert str(granted["reason"]) in (excused[0].waiver or "")
    ended = apply_waivers(failed, [waiver], "people", today + timedelta(days=31))
    assert decide(ended) is Verdict.FAIL
    assert any("expired" in finding.says for finding in ended)


# -- the reference standard on two numbers and an area


def numbers(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    income = rng.normal(size=n)
    return pd.DataFrame(
        {
            "income": income,
            "rent": income + rng.normal(size=n),
            "area": pd.Categorical(rng.choice(["a", "b"], n), categories=["a", "b"]),
        }
    )


def judge(original: pd.DataFrame, masked: pd.DataFrame, **setting: Any) -> tuple[dict[str, Finding], list[Any]]:
    variables = {
        "income": Variable(name="income", kind="continuous"),
        "rent": Variable(name="rent", kind="continuous"),
        "area": Variable(name="area", kind="nominal", categories=("a", "b")),
    }
    standard = ReferenceStandard(**setting)
    findings, curves = judge_reference_standard(
        standard, Comparison(original, original, masked, None, variables, variables, np.random.default_rng(0))
    )
    return {finding.rule: finding for finding in findings}, curves
