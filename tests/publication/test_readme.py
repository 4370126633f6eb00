"""What somebody reads who was handed the folder and nothing else."""

from dataclasses import replace
from pathlib import Path

from sluice.ground.variables import Kind, Variable
from sluice.publication.measured_use import MeasuredUse
from sluice.publication.published_table import PublishedTable
from sluice.publication.readme import records_readme, tables_readme
from sluice.tabular.model.dimension import Dimension
from tests.publication.small_codebook import codebook

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


def test_tables_say_what_codes_mean_and_which_are_sums() -> None:
    work = Dimension.of("work", [("Total", ""), ("manual", "Total"), ("1", "manual"), ("2", "Total")])
    table = PublishedTable("jobs", (work,), 0, (("Total",), ("1",)), ("published", "suppressed"), (9, None))
    known = {"work": Variable(name="work", kind=Kind.NOMINAL, description="Group of work", labels={"1": "a | farm"})}
    text = tables_readme("jobs-0a", "Jobs", "wages", "EUR", [table], known, ["Cells were suppressed."]).decode()
    assert "| Total | all | the total |" in text
    assert "| manual |  | a sum |" in text
    assert "| 1 | a \\| farm | a cell |" in text
    assert "Group of work" in text
    assert "No licence was given" in text
    assert "CITATION.cff" not in text
