"""Croissant metadata. mlcroissant also loaded a document of this builder, with its records, without an error."""

import json
from pathlib import Path
from typing import Any

from sluice.publication.croissant import croissant
from sluice.publication.datapackage import PublishedFile
from tests.publication.small_codebook import codebook

FILES = [PublishedFile(path=f"data.{kind}", sha256="a" * 64, bytes=90, rows=3) for kind in ("csv", "parquet")]


def read(folder: Path, **changed: object) -> Any:
    return json.loads(croissant(codebook(folder, **changed), FILES))


def test_fields_take_their_columns_from_the_parquet_file(tmp_path: Path) -> None:
    document = read(tmp_path)
    (records,) = document["recordSet"]
    columns = {field["source"]["extract"]["column"]: field for field in records["field"]}
    assert len(columns) == 12
    assert {field["source"]["fileObject"]["@id"] for field in columns.values()} == {"data.parquet"}
    kinds = {name: field["dataType"] for name, field in columns.items()}
    assert kinds["age"] == "sc:Integer"
    assert kinds["income"] == "sc:Float"
    assert (kinds["born"], kinds["seen"]) == ("sc:Date", "sc:DateTime")
    assert kinds["school"] == "sc:Text"
    assert "Noise was added." in columns["income"]["description"]


def test_files_are_bound_by_their_hashes(tmp_path: Path) -> None:
    found = {each["@id"]: each for each in read(tmp_path)["distribution"]}
    assert {each["sha256"] for each in found.values()} == {"a" * 64}
    assert found["data.csv"]["encodingFormat"] == "text/csv"
    assert found["data.parquet"]["contentSize"] == "90 B"


def test_publisher_and_doi_stand_in_it_where_there_are_any(tmp_path: Path) -> None:
    told = read(tmp_path, publisher="An office", doi="10.1234/abc")
    assert told["publisher"]["name"] == "An office"
    assert told["identifier"] == "10.1234/abc"
    assert told["citeAs"] == "An office (2026). A survey, <masked>. 10.1234/abc."
    assert "publisher" not in read(tmp_path)
