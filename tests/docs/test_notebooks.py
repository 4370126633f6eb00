"""The notebooks run from the first cell to the last, and none is committed with what it showed.

An output may hold records, and what it shows may be of another version. Each ends in a file worth having, and the
two of records assert that the regression which they show keeps sign and significance.
"""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
WRITTEN = {
    "attacks": {"attacks.csv"},
    "mask_and_compare": {"women.csv", "women.html"},
    "tables": {"turnover.csv"},
}


def test_there_are_three_and_the_site_names_each() -> None:
    assert len(NOTEBOOKS) == 3
    page = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
    assert [path.name for path in NOTEBOOKS if f"notebooks/{path.name}" not in page] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_none_has_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) >= 5
    assert [cell.source for cell in code if cell.outputs or cell.execution_count is not None] == []


@pytest.mark.servers
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output for output in shown if output.get("name") == "stderr"] == []  # no warning of ours
    assert len(shown) >= 5
    assert {each.name for each in tmp_path.iterdir()} == WRITTEN[path.stem]
