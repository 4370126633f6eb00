"""What stands for Great Expectations in most tests finds and writes what it did, and asks it where one is broken."""

from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from schemas.checks.expectations import Clause
from schemas.checks.expectations_run import check_batch
from schemas.contract import Contract
from schemas.reading.typing import SourceTyping
from sluice.ground.verdict import Verdict, decide
from tests.flows.house import contract, survey
from tests.validated_once import _holds, _run

pytestmark = pytest.mark.chain


def pages(folder: Path) -> dict[str, str]:
    return {page.relative_to(folder).as_posix(): page.read_text() for page in folder.rglob("*.html")}


def test_records_that_keep_a_contract_are_not_validated_again_and_others_are(tmp_path: Path) -> None:
    known = Contract.model_validate(contract())
    frame = SourceTyping(known, lambda name, value: value).type_batch(survey(150))
    first = check_batch(known, frame, docs=tmp_path / "first")
    assert decide(first) is Verdict.PASS
    with patch("tests.validated_once._run", side_effect=AssertionError("validated again")):
        assert check_batch(known, frame.copy(), docs=tmp_path / "again") == first
        with patch("tests.validated_once._known", {}):  # as in another process
            assert check_batch(known, frame, docs=tmp_path / "elsewhere") == first
        others = SourceTyping(known, lambda name, value: value).type_batch(survey(150, seed=2))
        assert check_batch(known, others, docs=tmp_path / "others") == first == check_batch(known, others)
    assert pages(tmp_path / "elsewhere") == pages(tmp_path / "again") == pages(tmp_path / "first") != {}
    assert pages(tmp_path / "others") == pages(tmp_path / "first")  # which hold no value
    (tmp_path / "closed").write_text("no folder")
    assert "data_docs" in {each.rule for each in check_batch(known, frame, docs=tmp_path / "closed")}
    young = frame.assign(age=frame["age"].where(pd.Series(range(150)) != 7, 17))
    assert decide(check_batch(known, young, docs=tmp_path / "young")) is Verdict.FAIL


CLAUSES: list[tuple[str, dict[str, Any], pd.DataFrame]] = [
    *(("ExpectTableRowCountToBeBetween", {"min_value": low, "max_value": high}, pd.DataFrame({"x": [1.0, 2.0]}))
      for low, high in ((2, 2), (1, None), (3, None), (0, 1))),
    *(("ExpectColumnValuesToNotBeNull", {"column": "x"} | mostly, pd.DataFrame({"x": values}))
      for values in ([1.0, 2.0], [1.0] * 58 + [np.nan] * 42, [1.0] * 57 + [np.nan] * 43, [np.nan] * 2)
      for mostly in ({}, {"mostly": 0.58})),
    *(("ExpectColumnValuesToBeBetween", {"column": "x"} | bounds, pd.DataFrame({"x": values}))
      for values in ([1.0, np.nan, 5.0], [0.9, 5.0], [1.0, 5.1], [np.inf, 2.0])
      for bounds in ({"min_value": 1.0}, {"max_value": 5.0}, {"min_value": 1.0, "max_value": 5.0})),
    *(("ExpectColumnValuesToBeInSet", {"column": "x", "value_set": ["a", "b"]}, pd.DataFrame({"x": values}))
      for values in (pd.Categorical(["a", None, "b"]), pd.Categorical(["a", "c"]), ["a", "b", None], ["A"])),
    *(("ExpectColumnMaxToBeBetween", {"column": "x", "min_value": datetime(2026, 1, day)},
       pd.DataFrame({"x": pd.to_datetime(["2025-01-01", "2026-01-02", None])})) for day in (1, 2, 3)),
    *(("ExpectColumnValuesToBeBetween", {"column": "x", "min_value": datetime(2026, 1, day)},
       pd.DataFrame({"x": pd.to_datetime(["2026-01-02", "2026-01-03"])})) for day in (2, 3)),
]  # fmt: skip


def test_what_is_taken_to_hold_holds_by_great_expectations_and_nothing_else() -> None:
    found = []
    for expectation, arguments, values in CLAUSES:
        asked = [Clause("range", "x", "it holds", expectation, arguments)]
        found.append(_holds(values, expectation, **arguments))
        assert _run(Contract.model_validate(contract()), asked, values, None)[0] == {0: found[-1]}, (arguments, values)
    assert 12 < sum(found) < len(found) - 12
