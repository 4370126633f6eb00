"""The other files of a release beside its CSV files: does any of them tell a reader more?

A Parquet file has corners that nobody looks at: statistics of the columns, dictionaries, metadata, what its values were
before they became empty. So somebody who has the CSV alone makes the Parquet file of it; where that gives the same
bytes, the published one cannot tell more. The same of SDMX-CSV, and of the
descriptor every number is held against what is known.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

AMOUNTS = ("value", "lower", "upper", "synthetic")
_NUMBER = re.compile(r"\d+")
CODES = {"published": ("A", "F"), "suppressed": ("Q", "N"), "primary": ("Q", "C"), "secondary": ("Q", "D")}


def parquet_of(text: str) -> bytes:
    """The Parquet file of a table that somebody makes who has its CSV."""
    rows = list(csv.DictReader(io.StringIO(text)))
    decimals = max(len(row["value"].partition(".")[2]) for row in rows)
    arrays: dict[str, pa.Array] = {}
    for name in rows[0]:
        entries = [row[name] for row in rows]
        if name in AMOUNTS and decimals:
            arrays[name] = pa.array([float(entry) if entry else None for entry in entries], pa.float64())
        elif name in (*AMOUNTS, "contributors", "is_total"):
            arrays[name] = pa.array([int(entry) if entry else None for entry in entries], pa.int64())
        else:
            arrays[name] = pa.array(entries, pa.string())
    sink = io.BytesIO()
    pq.write_table(pa.table(arrays), sink, compression="zstd", version="2.6", store_schema=False)
    return sink.getvalue()


def sdmx_rows_of(text: str, opening: list[str], dimensions: list[str]) -> list[dict[str, str]]:
    """The rows of the SDMX-CSV of a table that somebody makes who has its CSV; numbers of contributors have no place.

    opening    : what STRUCTURE, STRUCTURE_ID and ACTION are in every row
    dimensions : of all tables of the release, whose totals are called Total
    """
    found = []
    for row in csv.DictReader(io.StringIO(text)):
        amounts = {name: row.pop(name) for name in AMOUNTS if name in row}
        for own in ("contributors", "is_total"):
            row.pop(own, None)
        observed, confidential = CODES[row.pop("status")]
        made = dict(zip(("STRUCTURE", "STRUCTURE_ID", "ACTION"), opening, strict=True))
        made |= {name.upper(): row.get(name, "Total") for name in dimensions}
        made |= {"OBS_VALUE" if name == "value" else name.upper(): entry for name, entry in amounts.items()}
        made["OBS_VALUE"] = made["OBS_VALUE"] or "NaN"
        found.append(made | {"OBS_STATUS": observed, "CONF_STATUS": confidential})
    return found


def words(document: Any) -> Iterator[str]:
    """Everything that a JSON document says: names, texts and numbers, as text."""
    if isinstance(document, Mapping):
        for name, held in document.items():
            yield name
            yield from words(held)
    elif isinstance(document, list):
        for held in document:
            yield from words(held)
    elif document is not None:
        yield str(document)


def unexplained(folder: Path, documents: str) -> set[str]:
    """Numbers in what describes a release that neither its files nor the documents explain; all must be explained.

    documents : the text of the definition, the policy and the contract
    """
    explained, described = set(_NUMBER.findall(documents)), ""
    for path in folder.iterdir():
        content = path.read_bytes()
        explained |= {hashlib.sha256(content).hexdigest(), str(len(content))}
        if path.suffix == ".csv":
            text = content.decode()
            explained |= {*_NUMBER.findall(text), str(len(text.splitlines()) - 1), *_NUMBER.findall(path.name)}
    for word in words(json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))):
        if word.removeprefix("sha256:") not in explained and not word.startswith("https://"):
            described += f" {word}"
    return set(_NUMBER.findall(described)) - explained - {"8"}  # utf-8
