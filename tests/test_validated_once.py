"""What stands for Great Expectations in most tests finds and writes what it did, and asks it of other records."""

from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest

from schemas.checks.expectations_run import check_batch
from schemas.contract import Contract
from schemas.reading.typing import SourceTyping
from sluice.ground.verdict import Verdict, decide
from tests.flows.house import contract, survey

pytestmark = pytest.mark.chain


def pages(folder: Path) -> dict[str, str]:
    return {page.relative_to(folder).as_posix(): page.read_text() for page in folder.rglob("*.html")}


def test_the_same_records_are_not_validated_again_and_others_are(tmp_path: Path) -> None:
    known = Contract.model_validate(contract())
    frame = SourceTyping(known, lambda name, value: value).type_batch(survey(150))
    first = check_batch(known, frame, docs=tmp_path / "first")
    assert decide(first) is Verdict.PASS
    with patch("tests.validated_once._run", side_effect=AssertionError("validated again")):
        assert check_batch(known, frame.copy(), docs=tmp_path / "again") == first
        with patch("tests.validated_once._known", {}):  # as in another process
            assert check_batch(known, frame, docs=tmp_path / "elsewhere") == first
    assert pages(tmp_path / "elsewhere") == pages(tmp_path / "again") == pages(tmp_path / "first") != {}
    (tmp_path / "closed").write_text("no folder")
    assert "data_docs" in {each.rule for each in check_batch(known, frame, docs=tmp_path / "closed")}
    young = frame.assign(age=frame["age"].where(pd.Series(range(150)) != 7, 17))
    assert decide(check_batch(known, young, docs=tmp_path / "young")) is Verdict.FAIL
