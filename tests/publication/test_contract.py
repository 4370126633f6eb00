"""What holds for every document that describes a publication: what it says, and that any title comes back."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from sluice.publication.catalogue_of_shelf import as_json_ld, as_package_catalogue
from sluice.publication.datapackage import as_json, records_datapackage, tables_datapackage
from sluice.publication.ddi_codebook import NAMESPACE, ddi_codebook
from sluice.publication.discovery_metadata import citation_file, croissant
from sluice.publication.manifest import PublishedFile
from sluice.publication.published_table import published_table
from sluice.publication.published_table_files import to_csv
from tests.golden import golden
from tests.injection.corpus import WRITABLE
from tests.publication.small_codebook import DONE, codebook
from tests.publication.small_codebook import records as small_records
from tests.publication.small_table import EVERYTHING, file_of, small
from tests.publication.test_catalogue_of_shelf import APRIL, MARCH

FILES = [PublishedFile(path=f"data.{kind}", sha256="a" * 64, bytes=90, rows=3) for kind in ("csv", "parquet")]
KNOWN = {"publisher": "An office", "doi": "10.1234/abc", "license": "CC-BY-4.0"}
Describe = Callable[..., bytes]


def of_records(folder: Path, title: str, license: str | None = None, **_: Any) -> bytes:
    report = PublishedFile(path="Report (1).html", sha256="c" * 64, bytes=7)
    _, variables = small_records()
    described = records_datapackage(
        "Fair 2026", title, "fair", variables, DONE, [*FILES, report], title, with_time=["seen"], license_=license
    )
    return as_json(described)


def of_tables(folder: Path, title: str, license: str | None = None, publisher: str | None = None, **_: Any) -> bytes:
    """Whose words for suppressed cells are two where there is a publisher: what all agree on is one word."""
    cells, status = small(decimals=1)
    told = EVERYTHING if publisher else {}
    tables = []
    for name, dimensions in (("all", ["area", "kind"]), ("kinds", ["kind"])):
        table = published_table(cells, status, name, dimensions, **told)
        tables.append((table, [file_of(f"{name}.csv", to_csv(table), table), file_of(f"{name}.sdmx", b"", None)]))
    done, left_out = ["It was."], ["A margin is not."]
    return as_json(tables_datapackage("T 1", title, "d", tables, "turnover", "EUR", done, left_out, license_=license))


def in_dcat(folder: Path, **about: Any) -> bytes:
    """A current edition, the one before it, and one that was withdrawn."""
    gone = replace(APRIL, name="gone", release="gone-1", state="withdrawn", reason="a mistake")
    return as_json_ld({"fair": [replace(APRIL, **about), MARCH], "gone": [gone]})


def of_packages(folder: Path, **about: Any) -> bytes:
    gone = replace(APRIL, release="fair-3", state="withdrawn")
    return as_package_catalogue({"fair": [gone, replace(APRIL, **about), MARCH]}) or b""


@dataclass(frozen=True)
class Description:
    """made  : in a folder, of a title and what else is known
    title : that a program reads of it
    """

    made: Describe
    title: Callable[[bytes], str]


def of_json(*place: Any) -> Callable[[bytes], str]:
    def read(content: bytes) -> str:
        found: Any = json.loads(content)
        for name in place:
            found = found[name]
        return str(found)

    return read


def of_ddi(content: bytes) -> str:
    return str(ET.fromstring(content).findtext("stdyDscr/citation/titlStmt/titl", namespaces={"": NAMESPACE}))


DESCRIPTIONS = {
    "data package of records": Description(of_records, of_json("title")),
    "data package of tables": Description(of_tables, of_json("title")),
    "croissant": Description(lambda folder, **about: croissant(codebook(folder, **about), FILES), of_json("name")),
    "ddi": Description(lambda folder, **about: ddi_codebook(codebook(folder, **about)), of_ddi),
    "citation": Description(
        lambda folder, **about: citation_file(codebook(folder, **about)), lambda read: yaml.safe_load(read)["title"]
    ),
    "dcat": Description(in_dcat, of_json("dcat:dataset", 1, "dcterms:title")),
    "catalogue of packages": Description(of_packages, of_json("resources", 0, "title")),
}

every_description = pytest.mark.parametrize("described", DESCRIPTIONS.values(), ids=DESCRIPTIONS)


@every_description
@pytest.mark.parametrize("known", [KNOWN, {}], ids=["known", "nothing more known"])
def test_it_says_what_it_says(described: Description, known: dict[str, str], tmp_path: Path) -> None:
    content = described.made(tmp_path, title="A survey", **known)
    golden(content.decode())
    assert described.made(tmp_path, title="A survey", **known) == content


@pytest.mark.parametrize("name", ["data package of records", "croissant", "dcat"])
def test_files_are_bound_by_their_hashes(name: str, tmp_path: Path) -> None:
    assert f"{'a' * 64}" in DESCRIPTIONS[name].made(tmp_path, title="A survey").decode()


@every_description
@pytest.mark.parametrize("text", WRITABLE)
def test_a_title_comes_back_as_it_was_written(described: Description, text: str, tmp_path: Path) -> None:
    assert described.title(described.made(tmp_path, title=text)) == text
