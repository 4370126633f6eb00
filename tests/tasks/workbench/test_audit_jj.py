"""Problems in the JJ format: those that a batch writes, and small ones by hand."""

from pathlib import Path

import pytest

from sluice.ground.errors import DataError
from tasks.workbench.audit_jj import audit_jj
from tests.flows.house import BLOCKED, answered
from tests.golden import golden
from tests.tasks.workbench.test_argus import micro, records, run

# Rows and columns of 30 with their total of 60: 0 the total, 1 and 2 rows, 3 and 4 columns, 5 to 8 inside.
CELLS = ["0 60 1 s 0 90 0 0 0", *(f"{cell} 30 1 s 0 90 0 0 0" for cell in (1, 2, 3, 4)),
         "5 10 1 u 0 90 5 5 0", "6 20 1 m 0 90 0 0 0", "7 20 1 m 0 90 0 0 0", "8 10 1 m 0 90 0 0 0"]  # fmt: skip
SUMS = ["0 3 : 0 (-1) 1 (1) 2 (1)", "0 3 : 0 (-1) 3 (1) 4 (1)", "0 3 : 1 (-1) 5 (1) 6 (1)", "0 3 : 2 (-1) 7 (1) 8 (1)",
        "0 3 : 3 (-1) 5 (1) 7 (1)", "0 3 : 4 (-1) 6 (1) 8 (1)"]  # fmt: skip


def write(folder: Path, *changes: tuple[str, str]) -> Path:
    text = "\n".join(["0", "9", *CELLS, "6", *SUMS]) + "\n"
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (folder / "a.jj").write_text(text, encoding="utf-8")
    return folder / "a.jj"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("5 5 0", "10 20 0"), []),
        (("5 5 0", "0 21 0"), ["anybody can compute the cell 5 more nearly than its protection allows"]),
        (("5 5 0", "0 0 31"), ["anybody can compute the cell 5 more nearly than its protection allows"]),
        (("m 0 90", "s 0 90"), ["anybody can compute the cell 5 exactly"]),
        (
            ("6 20 1 m 0 90", "6 20 1 m 18 90"),
            ["anybody can compute the cell 5 more nearly than its protection allows"],
        ),
    ],
)
def test_by_hand(change: tuple[str, str], says: list[str], tmp_path: Path) -> None:
    """The cell 5 may be anything from 0 to 30 where the box is suppressed; what everybody knows of 6 narrows it."""
    found = audit_jj(write(tmp_path, change))
    assert (list(found.breaches), found.safe) == (says, not says)


def test_what_a_batch_writes_is_safe_until_a_cell_is_published(tmp_path: Path) -> None:
    records(tmp_path)
    run(tmp_path, micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,6,,"t.jj")\n'), confidential=True)
    found = answered(["audit-table", str(tmp_path / "t.jj"), "--json"]).json
    assert found["safe"]
    assert found["primary"] > 0
    text = (tmp_path / "t.jj").read_text(encoding="utf-8")
    (tmp_path / "t.jj").write_text(text.replace(" m ", " s "), encoding="utf-8")
    golden.words(answered(["audit-table", str(tmp_path / "t.jj")], BLOCKED).out.partition("narrowest")[0][:90])


@pytest.mark.parametrize(
    "change",
    [
        ("0\n9", "nine"),
        ("9\n", "11\n"),
        ("5 10 1 u 0 90 5 5 0", "5 10 1 u 0 90 5 5"),
        ("5 10 1 u", "5 10 1 x"),
        ("5 10 1 u", "4 10 1 u"),
        ("5 10 1 u", "5 11 1 u"),
        ("u 0 90", "u 20 90"),
        ("5 (1) 6 (1)", "5 (1) 66 (1)"),
        ("0 3 : 0 (-1) 1", "7 3 : 0 (-1) 1"),
        ("0 3 : 0 (-1) 1", "0 4 : 0 (-1) 1"),
    ],
)
def test_refused(change: tuple[str, str], tmp_path: Path) -> None:
    golden.refused(DataError, audit_jj, write(tmp_path, change))


def test_no_file(tmp_path: Path) -> None:
    golden.refused(DataError, audit_jj, tmp_path / "none.jj")
