"""What a data user is told of protected tables: what codes mean, which rows are sums, and what is not published."""

from dataclasses import replace

import pytest

from sluice.publication.published_table import PublishedTable
from sluice.publication.tables_codebook import described_codes, loss_of, tables_page
from tests.golden import golden
from tests.publication.small_tables import JOBS, WORK, tables_codebook


def test_the_loss_is_what_the_cells_with_a_value_lack_of_the_total() -> None:
    loss = loss_of(JOBS)
    assert (loss.cells, loss.no_value, loss.totals, loss.no_total) == (3, 1, 2, 1)
    assert loss.told == pytest.approx(150 / 200)
    golden(loss.says("jobs"))


@pytest.mark.parametrize(
    "value",
    [(None, None, None, 20, 130), (0, None, None, 20, 130), (200, None, None, -20, 130), (100, None, None, 20, 130)],
    ids=["no total", "a total of 0", "values below 0", "less than its parts"],
)
def test_without_a_total_to_compare_with_no_share_of_the_value_is_said(value: tuple[int | None, ...]) -> None:
    status = tuple("suppressed" if each is None else "published" for each in value)
    assert loss_of(replace(JOBS, status=status, value=value)).told is None


def test_a_table_that_lacks_nothing_says_so() -> None:
    whole = replace(JOBS, status=("published",) * 5, value=(200, 70, 50, 20, 130))
    golden(loss_of(whole).says("jobs"))
    without = replace(loss_of(JOBS), no_total=0, told=None)
    golden(without.says("jobs"))


def test_the_loss_of_a_table_that_does_not_tell_totals_is_the_same() -> None:
    assert loss_of(replace(JOBS, is_total=None)) == loss_of(JOBS)


def test_codes_say_what_they_are_and_what_they_are_part_of() -> None:
    found = {each.code: (each.meaning, each.kind, each.part_of) for each in described_codes(tables_codebook(), WORK)}
    assert found == {
        "Total": ("all", "the total", ()),
        "manual": ("", "a sum", ("Total",)),
        "1": ("a | <farm>", "a cell", ("manual",)),
        "3": ("", "a cell", ("manual",)),
        "2": ("", "a cell", ("Total",)),
    }


def test_a_group_is_a_cell_where_no_table_lists_its_parts() -> None:
    upper = PublishedTable("upper", (WORK,), 0, (("Total",), ("manual",), ("2",)), ("published",) * 3, (3, 2, 1))
    found = {each.code: each.kind for each in described_codes(tables_codebook(tables=(upper,)), WORK)}
    assert found["manual"] == "a cell"
    assert upper.totals == (1, 0, 0)


def test_the_page_tells_all_of_it_and_takes_nothing_for_markup() -> None:
    page = tables_page(tables_codebook()).decode()
    for told in ("Cells were suppressed.", "work: level 1", "a | &lt;farm&gt;", "is_total", "in EUR", "Group of work"):
        assert told in page
    assert "<farm>" not in page
    assert "25 %" in page
