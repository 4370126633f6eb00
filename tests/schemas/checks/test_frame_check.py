"""The typed frame against its contract: every check fails for its own reason, counts, and tells no value."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandera.config import config_context

from schemas.checks.frame_check import check_frame, check_released
from schemas.contract import Contract
from sluice.ground.verdict import Finding, Verdict
from tests.golden import golden
from tests.schemas.typed import type_batch

SECRET = 987_654_321


def contract(**changes: Any) -> Contract:
    content = {
        "dataset": "people",
        "version": 1,
        "record_key": ["id"],
        "variables": [
            {"name": "id", "kind": "text", "role": "identifier"},
            {"name": "age", "kind": "integer", "minimum": 0, "maximum": 120, "nullable": True},
            {"name": "income", "kind": "continuous", "nullable": True, "max_missing_share": 0.25, "minimum": 0},
            {"name": "level", "kind": "ordinal", "categories": ["low", "high"]},
            {"name": "town", "kind": "nominal"},
            {"name": "seen", "kind": "date", "minimum": "2020-01-01", "maximum": "2020-12-31"},
            {"name": "note", "kind": "text", "nullable": True},
        ],
        "rules": [
            {"name": "poor_children", "expression": "age >= 15 or income == 0", "says": "Children earn nothing."}
        ],
    }
    return Contract.model_validate(content | changes)


SOUND: dict[str, list[Any]] = {
    "id": ["1", "2", "3", "4"],
    "age": ["10", "20", "", "120"],
    "income": ["0", "10.5", "3", ""],
    "level": ["low", "high", "high", "low"],
    "town": ["Ulm", "Bonn", "Ulm", "Ulm"],
    "seen": ["2020-01-01", "2020-06-01", "2020-12-31T23:59:59", "2020-02-29"],
    "note": ["x", "", "", ""],
}


def frame(**changes: list[Any]) -> pd.DataFrame:
    return type_batch(pd.DataFrame(SOUND | changes), contract(), lambda name, text: f"hash of {text}")


def failing(findings: list[Finding]) -> dict[tuple[str, str], float | None]:
    """(rule, scope) -> observed; every finding must fail, and be told with its denominator and without a value."""
    for finding in findings:
        assert finding.verdict is Verdict.FAIL, finding
        assert finding.stage in ("contract", "masked")
        assert str(SECRET) not in finding.model_dump_json()
    return {(finding.rule.partition(".")[2], finding.scope): finding.observed for finding in findings}


def test_a_sound_frame_gives_one_pass() -> None:
    (finding,) = check_frame(frame(), contract())
    assert (finding.rule, finding.verdict, finding.stage) == ("contract", Verdict.PASS, "contract")
    assert (finding.attempted, finding.completed) == (4, 4)


def test_many_records_are_counted_in_thousands() -> None:
    many = {name: values * 300 for name, values in SOUND.items()} | {"id": [str(at) for at in range(1200)]}
    (finding,) = check_frame(frame(**many), contract())
    golden(finding.says)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"age": ["121", str(SECRET), "-1", "5"], "income": ["0"] * 4}, {("maximum", "age"): 2, ("minimum", "age"): 1}),
        ({"age": ["20", "", "", ""], "income": ["", "", "1", "1"]}, {("missing_share", "income"): 0.5}),
        ({"level": ["low", "", "", "high"]}, {("missing", "level"): 2}),
        ({"id": ["1", "2", "1", "2"]}, {("record_key", "id"): 4}),
        ({"income": ["5", "1", "1", ""]}, {("rule", "poor_children"): 1}),
        (
            {"seen": ["2019-12-31", "2021-01-01", "2020-05-05", "2020-05-05"]},
            {("minimum", "seen"): 1, ("maximum", "seen"): 1},
        ),
        ({"note": [""] * 4}, {("all_missing", "note"): None}),
    ],
)
def test_every_breach_is_found_and_counted(
    changes: dict[str, list[str]], expected: dict[tuple[str, str], float | None]
) -> None:
    assert failing(check_frame(frame(**changes), contract())) == expected


def test_breaches_of_kind_and_categories() -> None:
    sound = frame()
    assert failing(check_frame(sound.assign(income=np.array([0.0, np.inf, 1, 2])), contract())) == {
        ("finite", "income"): 1
    }
    assert failing(check_frame(sound.assign(age=[10.0, 20, 30, 40]), contract())) == {("kind", "age"): None}
    assert ("kind", "level") in failing(check_frame(sound.assign(level=["low"] * 4), contract()))
    foreign = sound.assign(level=pd.Categorical(["low", "else", "else", "low"], categories=["low", "else"]))
    assert failing(check_frame(foreign, contract())) == {("categories", "level"): 2}
    turned = sound.assign(level=sound["level"].cat.reorder_categories(["high", "low"]))
    assert failing(check_frame(turned, contract())) == {("category_order", "level"): None}


def test_number_of_records() -> None:
    assert failing(check_frame(frame().iloc[:0], contract())) == {("rows_minimum", "table"): 0}
    rows = {"minimum": 5, "maximum": 9}
    (few,) = check_frame(frame(), contract(rows=rows))
    assert (few.observed, few.limit) == (4, 5)
    golden(few.says)
    many = pd.concat([frame().assign(id=[f"{i}{j}" for j in range(4)]) for i in range(3)])
    (finding,) = check_frame(many, contract(rows=rows))
    assert (finding.rule, finding.observed, finding.limit) == ("contract.rows_maximum", 12, 9)


def test_columns_absent_added_or_moved() -> None:
    findings = check_frame(frame().drop(columns="income"), contract())
    assert [(finding.rule, finding.scope) for finding in findings if finding.verdict is Verdict.FAIL] == [
        ("contract.column_in_dataframe", "income")
    ]
    # the rule over that column could not be looked at: that is not known, and not a pass
    assert [finding.scope for finding in findings if finding.verdict is Verdict.UNKNOWN] == ["poor_children"]
    assert failing(check_frame(frame().assign(extra=1), contract())) == {("column_in_schema", "extra"): None}
    assert ("column_ordered") in {rule for rule, _ in failing(check_frame(frame()[list(frame())[::-1]], contract()))}


def test_a_missing_key_counts_as_a_key() -> None:
    twice = frame(id=["1", "", "", "2"])
    assert failing(check_frame(twice, contract())) == {("missing", "id"): 2, ("record_key", "id"): 2}


def test_index_labels_do_not_count() -> None:
    broken = frame(age=["121", "5", "121", "10"], income=["0"] * 4)
    same = failing(check_frame(broken, contract()))
    assert failing(check_frame(broken.set_axis([3, 3, 3, 3]), contract())) == same == {("maximum", "age"): 2}


@given(ages=st.lists(st.none() | st.integers(-5, 130), min_size=1, max_size=20))
def test_counts_are_those_of_plain_python(ages: list[int | None]) -> None:
    only_age = contract(record_key=[], rules=[], variables=[contract().by_name["age"].model_dump()])
    found = failing_or_none(check_frame(pd.DataFrame({"age": pd.array(ages, dtype="Int64")}), only_age))
    expected: dict[tuple[str, str], float | None] = {
        ("minimum", "age"): sum(age is not None and age < 0 for age in ages),
        ("maximum", "age"): sum(age is not None and age > 120 for age in ages),
    }
    expected = {key: count for key, count in expected.items() if count}
    if all(age is None for age in ages):
        expected["all_missing", "age"] = None
    assert found == expected


def failing_or_none(findings: list[Finding]) -> dict[tuple[str, str], float | None]:
    return {} if [finding.verdict for finding in findings] == [Verdict.PASS] else failing(findings)


def test_the_released_table_is_what_the_plan_promised() -> None:
    variables = {name: contract().by_name[name] for name in ("age", "level")}
    (passed,) = check_released(frame()[["age", "level"]], variables)
    assert (passed.rule, passed.verdict, passed.stage) == ("released_table", Verdict.PASS, "masked")
    # an identifier that was to be removed is still there
    assert failing(check_released(frame()[["age", "level", "id"]], variables)) == {("column_in_schema", "id"): None}
    assert failing(check_released(frame()[["age", "level"]].iloc[:0], variables)) == {("rows_minimum", "table"): 0}
    empty = frame()[["age", "level"]].assign(age=pd.array([None] * 4, dtype="Int64"))
    assert failing(check_released(empty, variables)) == {("all_missing", "age"): None}


@pytest.mark.parametrize("setting", [{"validation_enabled": False}, {"validation_depth": "SCHEMA_ONLY"}])
def test_pandera_cannot_be_switched_off_from_outside(setting: dict[str, Any]) -> None:
    """PANDERA_VALIDATION_ENABLED and PANDERA_VALIDATION_DEPTH set the same configuration."""
    with config_context(**setting):
        assert failing(check_frame(frame(age=["121"] * 4, income=["0"] * 4), contract())) == {("maximum", "age"): 4}


def test_a_check_that_breaks_is_unknown_and_tells_no_value() -> None:
    text_in_a_number = frame().assign(income=pd.Series([str(SECRET)] * 4, dtype=object))
    findings = check_frame(text_in_a_number, contract())
    assert {finding.verdict for finding in findings} == {Verdict.FAIL, Verdict.UNKNOWN}
    assert ("contract.kind", "income") in {(finding.rule, finding.scope) for finding in findings}
    assert not any(str(SECRET) in finding.model_dump_json() for finding in findings)
