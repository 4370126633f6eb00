"""The Data Docs of a second run: they replace those of the first, and that is no failure to write them."""

from pathlib import Path

import pandas as pd

from schemas.checks.expectations_run import check_batch
from schemas.contract import Contract
from sluice.ground.verdict import Finding
from tests.golden import golden

CONTRACT = Contract.model_validate(
    {
        "dataset": "ages",
        "version": 1,
        "variables": [{"name": "age", "kind": "integer", "role": "quasi_identifier", "minimum": 0, "maximum": 99}],
    }
)


def findings_on_docs(folder: Path, ages: list[int]) -> list[Finding]:
    frame = pd.DataFrame({"age": pd.array(ages, dtype="Int64")})
    return [finding for finding in check_batch(CONTRACT, frame, docs=folder) if finding.rule == "data_docs"]


def test_each_run_writes_its_own_docs_and_says_nothing_of_it(tmp_path: Path) -> None:
    pages = []
    for ages, verdict in (([1, 2, 3], "PASS"), ([1, 2, 300], "FAIL"), ([1, 2, 3], "PASS")):
        assert findings_on_docs(tmp_path, ages) == []
        [page] = tmp_path.glob("validations/**/*.html")
        index = (tmp_path / "index.html").read_text(encoding="utf-8")
        assert page.relative_to(tmp_path).as_posix() in index
        assert f"<strong>{verdict}</strong>" in index
        pages.append(page)
    assert len(set(pages)) == 3


def test_docs_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    (tmp_path / "docs").write_text("a file stands where the folder should be")
    [finding] = findings_on_docs(tmp_path / "docs", [1, 2, 3])
    assert not finding.binding
    golden.words(finding.says)
