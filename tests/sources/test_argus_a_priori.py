"""A-priori files of tau-ARGUS: every word of the manual, two lines of one cell, and lines that are wrong."""

from pathlib import Path

import pytest

from sluice.ground.errors import DataError
from sluice.sources.argus_a_priori import CellRequests, read_requests
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden

NACE = Dimension.of("nace", [("Total", ""), ("A", "Total"), ("A1", "A"), ("B", "Total"), ("B1", "B"), ("B2", "B")])
SIZE = Dimension.flat("size", ["small", "large"])


def asked(folder: Path, text: str, separator: str = ",", **options: bool) -> CellRequests:
    (folder / "a.hst").write_text(text, encoding="utf-8")
    found = CellRequests()
    read_requests(folder / "a.hst", [NACE, SIZE], separator, found, **options)
    return found


def test_every_word(tmp_path: Path) -> None:
    """Words in either case; an empty code is the total; the words of both c and pl beside u, as rtauargus writes."""
    found = asked(
        tmp_path,
        "A1, small, u\nA1,small,pl,10.5,20\nA1,small,C,3\nB1,large,P\nB2,large,s\nB,,W,0\n,,c,9\nB1,small,m\n"
        "B2,small,ML\n\n",
    )
    assert found.rows == {
        ("A1", "small"): {"status": "sensitive", "lower": "10.5", "upper": "20", "cost": "3"},
        ("B1", "large"): {"status": "not_secondary", "lower": "", "upper": "", "cost": ""},
        ("B2", "large"): {"status": "", "lower": "", "upper": "", "cost": ""},
        ("B", "Total"): {"status": "", "lower": "", "upper": "", "cost": "0"},
        ("Total", "Total"): {"status": "", "lower": "", "upper": "", "cost": "9"},
        ("B1", "small"): {"status": "sensitive", "lower": "1e-6", "upper": "1e-6", "cost": ""},
        ("B2", "small"): {"status": "sensitive", "lower": "1e-6", "upper": "1e-6", "cost": ""},
    }
    assert found.safe == {("B2", "large")}
    assert len(found.of_cells(["nace", "size"])) == 6  # nothing is asked of the safe one


@pytest.mark.parametrize("text", ["A1;small;u\nA1;small;p\n", "A1;small;p\nA1;small;s\nA1;small;u\n"])
def test_of_two_that_contradict_each_other_the_one_that_protects_counts(text: str, tmp_path: Path) -> None:
    assert asked(tmp_path, text, ";").rows[("A1", "small")]["status"] == "sensitive"


def test_trivial_levels(tmp_path: Path) -> None:
    """A1 is all of A, so what is asked of one is asked of both."""
    assert set(asked(tmp_path, "A1,small,u\nB1,small,u\n", expand_trivial=True).rows) == {
        ("A1", "small"), ("A", "small"), ("B1", "small"),
    }  # fmt: skip


def test_errors(tmp_path: Path) -> None:
    found = asked(tmp_path, "Z,small,u\nA1,small,p\n", ignore_errors=True)
    assert (found.ignored.total(), len(found.rows)) == (1, 1)
    for text in ("Z,small,u\n", "A1,small,x\n", "A1,small\n", "A1,small,pl,3\n", "A1,small,c,-1\n", "A1;small;u\n"):
        golden.refused(DataError, asked, tmp_path, text)
    with pytest.raises(DataError):
        asked(tmp_path, "A1,small,x\n", ignore_errors=True)  # what it asks may protect the cell
    golden.refused(DataError, read_requests, tmp_path / "none.hst", [NACE], ",", CellRequests())
