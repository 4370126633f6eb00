"""The catalogue of a shelf: what it lists of which edition, in DCAT and as a Data Package catalogue."""

import json
from dataclasses import replace
from typing import Any

from sluice.publication.catalogue import CataloguedEdition, as_json_ld, as_package_catalogue
from sluice.publication.catalogue_page import as_page

MARCH = CataloguedEdition(
    release="fair-1",
    name="fair",
    title="Fair",
    description="",
    state="superseded",
    published="2026-04-01T00:00:00+00:00",
    period={"text": "2026-03", "first": "2026-03-01", "last": "2026-03-31"},
    files={"fair.csv": "a" * 64, "datapackage.json": "b" * 64, "manifest.json": "c" * 64, "attestation.json": "d" * 64},
    by="fair-2",
)
APRIL = replace(MARCH, release="fair-2", state="current", by=None)


def graph(*editions: CataloguedEdition) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(as_json_ld({"fair": editions}))["dcat:dataset"]
    return found


def test_a_series_leads_to_its_last_edition_and_each_to_the_one_before() -> None:
    series, april, march = graph(APRIL, MARCH)
    assert (series["@type"], series["dcat:last"]) == ("dcat:DatasetSeries", {"@id": "fair-2/"})
    assert april["dcat:prev"] == {"@id": "fair-1/"}
    assert "dcat:prev" not in march
    assert march["dcterms:isReplacedBy"] == {"@id": "fair-2/"}
    assert {each["dcat:inSeries"]["@id"] for each in (april, march)} == {series["@id"]}


def test_an_edition_has_its_period_and_its_data_files_with_their_hashes() -> None:
    _, april = graph(APRIL)
    assert april["dcterms:temporal"]["dcat:startDate"] == {"@type": "xsd:date", "@value": "2026-03-01"}
    [file] = april["dcat:distribution"]
    assert file["dcat:downloadURL"] == {"@id": "fair-2/fair.csv"}
    assert file["spdx:checksum"]["spdx:checksumValue"]["@value"] == "a" * 64


def test_who_publishes_and_the_doi_are_told_where_they_are_known() -> None:
    known = replace(APRIL, publisher="Office of Statistics", doi="10.1234/a<b>")
    series, april = graph(known)
    by = {"@type": "foaf:Agent", "foaf:name": "Office of Statistics"}
    assert series["dcterms:publisher"] == april["dcterms:publisher"] == by
    assert april["adms:identifier"]["@id"] == "https://doi.org/10.1234/a%3Cb%3E"
    assert (
        '<a href="https://doi.org/10.1234/a%3Cb%3E">doi:10.1234/a&lt;b&gt;</a>' in as_page({"fair": [known]}).decode()
    )
    assert "dcterms:publisher" not in as_json_ld({"fair": [APRIL]}).decode()


def test_a_catalogue_has_one_publisher_or_names_none() -> None:
    """DCAT-AP asks for one; what several published together is nobody's catalogue."""

    def of_catalogue(*editions: CataloguedEdition) -> Any:
        return json.loads(as_json_ld({"fair": editions})).get("dcterms:publisher")

    office, other = replace(APRIL, publisher="Office"), replace(MARCH, publisher="Other")
    assert of_catalogue(office, replace(MARCH, publisher="Office")) == {"@type": "foaf:Agent", "foaf:name": "Office"}
    assert of_catalogue(office, other) is None
    assert of_catalogue(office, MARCH) is None


def test_of_what_was_withdrawn_no_file_is_offered() -> None:
    gone = replace(APRIL, state="withdrawn", reason="a mistake")
    series, april, march = graph(gone, MARCH)
    assert "dcat:last" not in series
    assert "dcat:distribution" not in april
    assert april["adms:versionNotes"] == "a mistake"
    assert "dcat:prev" not in march
    assert as_package_catalogue({"fair": [gone]}) is None
    [only] = json.loads(as_package_catalogue({"fair": [gone, MARCH]}) or b"")["resources"]
    assert (only["path"], only["sluice:state"]) == ("fair-1/datapackage.json", "superseded")


def test_the_same_editions_give_the_same_bytes() -> None:
    series = {"fair": [APRIL, MARCH], "other": [replace(APRIL, name="other", release="other-1")]}
    again = dict(reversed(series.items()))
    assert (as_json_ld(series), as_page(series)) == (as_json_ld(again), as_page(again))
