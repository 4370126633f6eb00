"""CITATION.cff, by what Citation File Format 1.2.0 requires: cff-version, message, title, authors."""

from pathlib import Path

import pytest
import yaml

from sluice.publication.citation import citation_file
from tests.publication.small_codebook import codebook


@pytest.mark.parametrize("publisher", [None, "Office: of <statistics>"])
def test_it_is_a_data_set_by_its_publisher(tmp_path: Path, publisher: str | None) -> None:
    read = yaml.safe_load(citation_file(codebook(tmp_path, publisher=publisher)))
    assert read["cff-version"] == "1.2.0"
    assert read["type"] == "dataset"
    assert (read["title"], read["version"]) == ("A survey, <masked>", "survey-0a1b2c3d4e5f")
    assert read["authors"] == [{"name": publisher or "survey"}]
    assert str(read["date-released"]) == "2026-03-31"
    assert read["message"]
    assert "doi" not in read


def test_a_doi_stands_in_it_or_how_one_gets_there(tmp_path: Path) -> None:
    assert yaml.safe_load(citation_file(codebook(tmp_path, doi="10.1234/abc")))["doi"] == "10.1234/abc"
    assert b"# doi: 10.XXXX" in citation_file(codebook(tmp_path))
