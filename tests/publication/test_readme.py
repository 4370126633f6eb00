"""What somebody reads who was handed the folder and nothing else."""

from dataclasses import replace
from pathlib import Path

from sluice.publication.measured_use import MeasuredUse
from sluice.publication.readme import records_readme, tables_readme
from tests.publication.small_codebook import codebook
from tests.publication.small_tables import JOBS, tables_codebook

PLAN = ("The variable name is not released.", "Noise was added to *income*.")


def readme(folder: Path, **changed: object) -> str:
    return records_readme(replace(codebook(folder), **changed), PLAN, ["read.R"]).decode()  # type: ignore[arg-type]


def test_it_says_what_the_file_supports_and_what_not(tmp_path: Path) -> None:
    text = readme(tmp_path)
    assert "Do not use it for:\n\n- The effect of \\<age\\>." in text
    assert "It was found good for:\n\n- The table of age & work." in text
    assert "## Standard errors\n\nStandard errors \\<are\\> too small." in text


def test_it_says_what_to_open_and_what_was_done(tmp_path: Path) -> None:
    text = readme(tmp_path)
    assert "`data.parquet`: Python" in text
    assert "`read.R`: reads the CSV file in R" in text
    assert "2. Noise was added to \\*income\\*." in text


def test_without_licence_or_publisher_it_says_so(tmp_path: Path) -> None:
    text = readme(tmp_path)
    assert "No licence was given" in text
    assert "no publisher is named" in text
    given = readme(tmp_path, license="CC-BY-4.0", publisher="Office")
    assert "https://spdx.org/licenses/CC-BY-4.0.html" in given
    assert "Put questions to Office." in given


def test_what_was_not_measured_has_no_empty_part(tmp_path: Path) -> None:
    text = readme(tmp_path, use=MeasuredUse(), errors=())
    assert "as it was measured" not in text
    assert "Standard errors" not in text


def test_names_stay_as_they_are_and_nothing_is_markup(tmp_path: Path) -> None:
    text = readme(tmp_path, title="yrs_married _all_ [x](http://y)\n# b")
    assert text.startswith("# yrs_married \\_all\\_ \\[x\\](http://y) \\# b\n")


def test_tables_say_what_codes_mean_which_are_sums_and_what_is_not_published() -> None:
    text = tables_readme(tables_codebook()).decode()
    assert "| Total | all | the total |" in text
    assert "| manual |  | a sum |" in text
    assert "| 1 | a \\| \\<farm\\> | a cell |" in text
    assert "Group of work" in text
    assert "No licence was given" in text
    assert "`CITATION.cff` says how to cite it" in text
    assert "25 % is not published cell by cell" in text
    assert "take the rows with 0 alone" in text


def test_tables_that_do_not_tell_totals_say_how_to_add_up() -> None:
    text = tables_readme(tables_codebook(tables=(replace(JOBS, is_total=None),))).decode()
    assert "leave the codes out that are marked as sums" in text
