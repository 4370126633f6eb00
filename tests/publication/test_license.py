"""The licence: SPDX's identifiers and addresses, and the form in which each description of a publication has it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from sluice.publication.catalogue_of_shelf import as_json_ld
from sluice.publication.codebook import codebook_page
from sluice.publication.datapackage import datapackage
from sluice.publication.ddi_codebook import NAMESPACE, ddi_codebook
from sluice.publication.discovery_metadata import citation_file, croissant
from sluice.publication.license import known_license, license_address
from sluice.publication.manifest import PublishedFile
from tests.golden import golden
from tests.publication.small_codebook import codebook
from tests.publication.test_catalogue_of_shelf import APRIL

TERMS = "https://statistics.example/terms"
FILES = [PublishedFile(path="data.parquet", sha256="a" * 64, bytes=90, rows=3)]


@pytest.mark.parametrize(
    ("written", "known"),
    [("cc-by-4.0", "CC-BY-4.0"), ("OGL-UK-3.0", "OGL-UK-3.0"), ("DL-DE-BY-2.0", "DL-DE-BY-2.0"), (TERMS, TERMS)],
)
def test_an_identifier_has_one_case_and_an_address_stays(written: str, known: str) -> None:
    assert known_license(written) == known


@pytest.mark.parametrize(
    "written",
    ["", "free", "CC BY 4.0", "MIT OR CC0-1.0", "(MIT)", "GPL-2.0+", "LicenseRef-mine", "http://statistics.example/terms",
     "https://", "HTTPS://statistics.example/terms", 'https://a.example/"onmouseover="x', "javascript:alert(1)"],
)  # fmt: skip
def test_anything_else_is_refused(written: str) -> None:
    with golden.raises(ValueError):
        known_license(written)


def in_package(license_: str | None, _: Path) -> Any:
    return datapackage("a", "A", "a", [({"fields": []}, FILES)], license_=license_).get("licenses")


def in_croissant(license_: str | None, folder: Path) -> Any:
    return json.loads(croissant(codebook(folder, license=license_), FILES)).get("license")


def in_ddi(license_: str | None, folder: Path) -> Any:
    root = ET.fromstring(ddi_codebook(codebook(folder, license=license_)))
    return root.findtext(
        f"{{{NAMESPACE}}}stdyDscr/{{{NAMESPACE}}}dataAccs/{{{NAMESPACE}}}useStmt/{{{NAMESPACE}}}conditions"
    )


def in_catalogue(license_: str | None, _: Path) -> Any:
    *_, edition = json.loads(as_json_ld({"fair": [replace(APRIL, license=license_)]}))["dcat:dataset"]
    [file] = edition["dcat:distribution"]
    return file.get("dcterms:license")


def in_citation(license_: str | None, folder: Path) -> Any:
    read = yaml.safe_load(citation_file(codebook(folder, license=license_)))
    return {key: read[key] for key in ("license", "license-url") if key in read} or None


ADDRESS = "https://spdx.org/licenses/CC-BY-4.0.html"


@pytest.mark.parametrize(
    ("describe", "of_identifier", "of_terms"),
    [
        (in_package, [{"name": "CC-BY-4.0", "path": ADDRESS}], [{"path": TERMS}]),
        (in_croissant, ADDRESS, TERMS),
        (in_ddi, ADDRESS, TERMS),
        (in_catalogue, {"@id": ADDRESS}, {"@id": TERMS}),
        (in_citation, {"license": "CC-BY-4.0"}, {"license-url": TERMS}),
    ],
)
def test_every_description_says_it_in_its_own_form(
    describe: Callable[[str | None, Path], Any], of_identifier: object, of_terms: object, tmp_path: Path
) -> None:
    assert describe("CC-BY-4.0", tmp_path) == of_identifier
    assert describe(TERMS, tmp_path) == of_terms
    assert describe(None, tmp_path) is None


def test_the_page_links_to_it(tmp_path: Path) -> None:
    assert f'<a href="{ADDRESS}">CC-BY-4.0</a>' in codebook_page(codebook(tmp_path, license="CC-BY-4.0")).decode()
    assert "Licence" not in codebook_page(codebook(tmp_path)).decode()
    assert license_address(TERMS) == TERMS
