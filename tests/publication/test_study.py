"""What a contract says of the study stands in every format that is written; what it does not say stands in none."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from pydantic import ValidationError

from sluice.publication.catalogue_of_shelf import CataloguedEdition, as_json_ld
from sluice.publication.codebook import codebook_page
from sluice.publication.ddi_codebook import NAMESPACE, ddi_codebook
from sluice.publication.discovery_metadata import citation_file, croissant
from sluice.publication.readme import records_readme, tables_readme
from sluice.publication.study import Study, in_citation, in_croissant, in_dcat, in_words
from sluice.publication.tables_codebook import tables_page
from tests.golden import golden
from tests.publication.small_codebook import STUDY, codebook
from tests.publication.small_table import file_of
from tests.publication.small_tables import tables_codebook
from tests.report.pages import Page


def edition(study: Study | None) -> CataloguedEdition:
    return CataloguedEdition(
        "jobs-1", "jobs", "Jobs", "", "current", "2026-03-31T10:00:00+00:00", None, {"t.csv": "0" * 64}, study=study
    )


def test_every_field_is_said_to_people_and_to_archives(tmp_path: Path) -> None:
    book = codebook(tmp_path, study=STUDY)
    readme, page = records_readme(book, [], []).decode(), codebook_page(book).decode()
    xml = ddi_codebook(book).decode()
    for text in (
        "Doe, Jane",
        "Institute",
        "Office",
        "income",
        "Council",
        "Austria",
        "2024-01",
        "2024-06",
        "Interviews",
    ):
        assert all(text in made for made in (readme, page, xml)), text
    for text in ("Data service", "data@example.org", "Two stages", "For all estimates", "For everybody"):
        assert all(text in made for made in (readme, page, xml)), text
    for made in (tables_page(tables_codebook(study=STUDY)), tables_readme(tables_codebook(study=STUDY))):
        assert b"Two stages" in made
    assert len(in_words(STUDY)) == len(Study.model_fields)
    assert "Put questions to Data service, data@example.org." in readme


def test_the_citation_names_the_authors_as_its_format_has_them(tmp_path: Path) -> None:
    cited = yaml.safe_load(citation_file(codebook(tmp_path, study=STUDY, publisher="Publisher")))
    assert cited["authors"] == [
        {
            "family-names": "Doe",
            "given-names": "Jane",
            "affiliation": "Institute",
            "orcid": "https://orcid.org/0000-0001-2345-6789",
        },
        {"name": "Office"},
    ]
    assert cited["contact"] == [{"name": "Data service", "email": "data@example.org"}]
    assert cited["keywords"] == ["income", "<health>"]


def test_without_author_publisher_and_licence_the_citation_says_so(tmp_path: Path) -> None:
    text = citation_file(codebook(tmp_path)).decode()
    golden.where("# ", text)
    [unnamed] = [line for line in text.splitlines() if line.startswith("#") and "author" in line]
    assert unnamed not in citation_file(codebook(tmp_path, study=STUDY)).decode()
    golden.where("publisher", "\n".join(Page(codebook_page(codebook(tmp_path)).decode()).lines))


def test_searches_and_catalogues_find_it(tmp_path: Path) -> None:
    book = codebook(tmp_path, study=STUDY)
    found = json.loads(croissant(book, [file_of("data.parquet", b"", None)]))
    assert [each["name"] for each in found["creator"]] == ["Jane Doe", "Office"]
    assert found["temporalCoverage"] == "2024-01/2024-06"
    listed = json.loads(as_json_ld({"jobs": [edition(STUDY)]}))
    dataset = next(each for each in listed["dcat:dataset"] if each["@type"] == "dcat:Dataset")
    assert dataset["dcat:keyword"] == ["income", "<health>"]
    assert dataset["dcat:contactPoint"]["vcard:hasEmail"] == {"@id": "mailto:data@example.org"}


@pytest.mark.parametrize("study", [None, Study()])
def test_what_is_not_given_is_left_out(tmp_path: Path, study: Study | None) -> None:
    assert in_words(study) == in_citation(study) == in_croissant(study) == in_dcat(study) == {}
    names = {
        each.tag.removeprefix(f"{{{NAMESPACE}}}") for each in ET.fromstring(ddi_codebook(codebook(tmp_path))).iter()
    }
    assert not names & {"contact", "fundAg", "keyword", "collDate", "geogCover", "dataColl", "restrctn"}
    assert "The study" not in codebook_page(codebook(tmp_path, study=study)).decode()


@pytest.mark.parametrize("time", ["24", "2024-13", "2024-06/2024-01", "2024/", "spring"])
def test_a_time_that_no_catalogue_can_read_is_refused(time: str) -> None:
    with golden.raises(ValidationError):
        Study(time=time)
