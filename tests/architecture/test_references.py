"""Sources are cited by author and year, and every one that is cited stands in docs/references.md."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFERENCES = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")

_NAME = r"(?:de |El )?[A-Z][a-zø]+(?:-[A-Z][a-zá]+)*(?:[A-Z][a-z]+)?"
_AUTHORS = rf"{_NAME}(?:, {_NAME})*(?: and (?:others|{_NAME}))?"
CITATION = re.compile(rf"(?<![\w-])({_AUTHORS}) \(?((?:18|19|20)\d\d)(?=[;,:)])")
MONTHS = {"January", "March", "November"}


def texts() -> dict[str, str]:
    """Everything that people read or wrote, but for the list of references itself; white space is one blank."""
    run = subprocess.run(["git", "ls-files", "*.py", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [path for path in run.stdout.split() if path != "docs/references.md" and (ROOT / path).exists()]
    return {path: re.sub(r"[\s#]+", " ", (ROOT / path).read_text(encoding="utf-8")) for path in paths}


def cited(text: str) -> set[tuple[str, str]]:
    return {(authors, year) for authors, year in CITATION.findall(text) if authors not in MONTHS}


def in_the_list(authors: str, year: str) -> bool:
    return f"{authors} ({year})" in re.sub(r"\s+", " ", REFERENCES)


@pytest.mark.servers
def test_no_document_is_cited_by_the_name_of_its_file() -> None:
    """Nobody outside has the library: a file's name, or its number, says nothing."""
    names = re.findall(r"\[(\d{3})(_[0-9a-f]+\.txt)\]", REFERENCES)
    assert len(names) == 5
    numbers = "|".join(number for number, _ in names)
    unnamed = re.compile(rf"(?<![\w,.+\"'-])(?:{numbers})(?:_[0-9a-f]{{8}}|[,:)] |'s | \(?section|;)")
    assert unnamed.search(f"{numbers[:3]}, section II") is not None
    assert [path for path, text in texts().items() if unnamed.search(text)] == []


@pytest.mark.servers
def test_every_source_that_is_cited_is_in_the_list() -> None:
    found = {(path, *source) for path, text in texts().items() for source in cited(text)}
    assert len({(authors, year) for _, authors, year in found}) > 50
    unlisted = sorted(entry for entry in found if not in_the_list(entry[1], entry[2]))
    assert unlisted == [], "cited, and not in docs/references.md: add the source, or write author and year as it does"


def test_a_source_that_is_not_in_the_list_is_found() -> None:
    year = 1999  # apart, or this very line would be found
    text = f"after Nobody and Others ({year}), section 2; (Xiao and Tao 2006, section 4)"
    assert cited(text) == {("Nobody and Others", "1999"), ("Xiao and Tao", "2006")}
    assert not in_the_list("Nobody and Others", "1999")
    assert in_the_list("Xiao and Tao", "2006")
