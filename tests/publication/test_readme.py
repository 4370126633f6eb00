"""What somebody reads who was handed the folder and nothing else."""

from dataclasses import replace
from pathlib import Path

from sluice.publication.measured_use import MeasuredUse
from sluice.publication.readme import records_readme, tables_readme
from tests.golden import golden
from tests.publication.small_codebook import codebook
from tests.publication.small_tables import JOBS, tables_codebook

PLAN = ("The variable name is not released.", "Noise was added to *income*.")


def readme(folder: Path, **changed: object) -> str:
    return records_readme(replace(codebook(folder), **changed), PLAN, ["read.R"]).decode()  # type: ignore[arg-type]


def test_it_says_what_the_file_supports_and_what_not(tmp_path: Path) -> None:
    text = readme(tmp_path)
    parts = text.split("\n\n")
    for words in ("- The effect of \\<age\\>.", "- The table of age & work.", "Standard errors \\<are\\> too small."):
        golden("\n".join(parts[parts.index(words) - 1 : parts.index(words) + 1]))


def test_it_says_what_to_open_and_what_was_done(tmp_path: Path) -> None:
    text = readme(tmp_path)
    golden.where("`data.parquet`", text)
    golden.where("`read.R`", text)
    assert "2. Noise was added to \\*income\\*." in text


def test_without_licence_or_publisher_it_says_so(tmp_path: Path) -> None:
    text = readme(tmp_path)
    golden.where("icence", text)
    golden.where("publisher", text)
    given = readme(tmp_path, license="CC-BY-4.0", publisher="Office")
    assert "https://spdx.org/licenses/CC-BY-4.0.html" in given
    golden.where("Office.", given)


def test_what_was_not_measured_has_no_empty_part(tmp_path: Path) -> None:
    text = readme(tmp_path, use=MeasuredUse(), errors=())
    full = [line for line in readme(tmp_path).splitlines() if line.startswith("#")]
    golden([line for line in full if line not in text.splitlines()])


def test_names_stay_as_they_are_and_nothing_is_markup(tmp_path: Path) -> None:
    text = readme(tmp_path, title="yrs_married _all_ [x](http://y)\n# b")
    assert text.startswith("# yrs_married \\_all\\_ \\[x\\](http://y) \\# b\n")


def test_tables_say_what_codes_mean_which_are_sums_and_what_is_not_published() -> None:
    text = tables_readme(tables_codebook()).decode()
    for code in ("Total", "manual", "1"):
        golden([line for line in text.splitlines() if line.startswith(f"| {code} |")])
    assert "Group of work" in text
    for name in ("icence", "`CITATION.cff`", "25 %", " 0 alone"):
        golden.where(name, text)


def test_tables_that_do_not_tell_totals_say_how_to_add_up() -> None:
    text = tables_readme(tables_codebook(tables=(replace(JOBS, is_total=None),))).decode()
    golden.where("sums", text)
