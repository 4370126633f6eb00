"""The catalogue of a shelf: what it lists of which edition, in DCAT and as a Data Package catalogue."""

import json
from dataclasses import replace
from typing import Any

from sluice.publication.catalogue_of_shelf import CataloguedEdition, as_json_ld, as_package_catalogue, as_page

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


def test_a_catalogue_has_one_publisher_or_names_none() -> None:
    """DCAT-AP asks for one; what several published together is nobody's catalogue."""

    def of_catalogue(*editions: CataloguedEdition) -> Any:
        return json.loads(as_json_ld({"fair": editions})).get("dcterms:publisher")

    office, other = replace(APRIL, publisher="Office"), replace(MARCH, publisher="Other")
    assert of_catalogue(office, replace(MARCH, publisher="Office")) == {"@type": "foaf:Agent", "foaf:name": "Office"}
    assert of_catalogue(office, other) is None
    assert of_catalogue(office, MARCH) is None


def test_of_what_was_withdrawn_no_file_is_offered_and_no_edition_leads_to_it() -> None:
    gone = replace(APRIL, state="withdrawn", reason="a mistake")
    series, april, march = json.loads(as_json_ld({"fair": (gone, MARCH)}))["dcat:dataset"]
    assert "dcat:last" not in series
    assert "dcat:distribution" not in april
    assert "dcat:prev" not in march
    assert as_package_catalogue({"fair": [gone]}) is None


def test_the_same_editions_give_the_same_bytes() -> None:
    series = {"fair": [APRIL, MARCH], "other": [replace(APRIL, name="other", release="other-1")]}
    again = dict(reversed(series.items()))
    assert (as_json_ld(series), as_page(series)) == (as_json_ld(again), as_page(again))
