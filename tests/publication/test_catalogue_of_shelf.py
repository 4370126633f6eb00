"""The catalogue of a shelf: what it lists of which edition, in DCAT and as a Data Package catalogue."""

import json
from dataclasses import replace
from typing import Any

import pytest

from sluice.ground.errors import DataError
from sluice.publication.catalogue_of_shelf import (
    CataloguedEdition,
    CurrentPointer,
    EditionNotice,
    as_json_ld,
    as_package_catalogue,
    as_page,
    read_notice,
    unsigned_bytes,
)
from tests.golden import golden

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


# Notices and pointers: in one form, which says that nobody signed it.


NOTICE = EditionNotice(
    release="fair-1", state="superseded", by="fair-2", at="2026-01-01T00:00:00+00:00", current="../fair.current.json"
)


def test_what_was_written_is_read() -> None:
    assert read_notice(unsigned_bytes(NOTICE), "fair-1") == NOTICE


def changed(**changes: Any) -> bytes:
    return json.dumps(json.loads(unsigned_bytes(NOTICE)) | changes, indent=2).encode() + b"\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b"[" * 5_000,
        b" " * 20_000,
        unsigned_bytes(NOTICE).replace(b"\n", b""),
        unsigned_bytes(NOTICE).replace(b'"by"', b'"by": "other-1", "by"'),
        changed(says="Signed by the agency."),
        changed(release="fair-2"),
        changed(by="<script>"),
        changed(by="../../etc/passwd"),
        changed(by="\u001b[2J"),
        changed(state="current"),
        changed(more="download it from evil.example"),
    ],
)
def test_whatever_has_another_form_is_no_notice(content: bytes) -> None:
    """Whoever can write on the shelf would have `sluice verify` tell readers what they like."""
    with golden.raises(DataError):
        read_notice(content, "fair-1")


def test_a_pointer_says_that_it_is_not_signed() -> None:
    pointer = CurrentPointer(name="fair", current=None, period=None, published=None, manifest=None)
    read = json.loads(unsigned_bytes(pointer))
    assert read["says"].startswith("Not signed.")
    assert read["current"] is None
