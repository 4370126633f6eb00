"""The catalogue of a shelf: every edition that was published there, with its state, for machines and as a page.

Source: DCAT, version 3 (W3C Recommendation, 2024): Catalog, Dataset Series, Dataset and Distribution, in JSON-LD, with
the properties that DCAT-AP 3 asks for and the house knows; and the Data Package catalogue of datapackage.org (recipes,
"Catalog of packages"). All addresses are relative to the shelf, so that it may be served from anywhere. The page is
static, without scripts, and everything in it is text.

In the folder of an edition that is no longer current lie a notice and the pointer to the one that is. Neither is part
of what was signed, and both say so: whoever wants proof verifies a folder. What a reader may take from them is a
release's id, and `sluice ledger verify` holds both against the ledger.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import quote

from jinja2 import Template
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from sluice.ground.errors import DataError
from sluice.ground.page_templates import page_templates
from sluice.publication.attestation import describes
from sluice.publication.datapackage import PROFILE
from sluice.publication.license import license_address
from sluice.publication.study import Study, in_dcat

ReleaseId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=100)]

_MOST_BYTES = 10_000

JSON_LD, PACKAGES = "catalogue.jsonld", "catalogue.json"

_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "adms": "http://www.w3.org/ns/adms#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_STATUS = {"current": "Completed", "superseded": "Deprecated", "withdrawn": "Withdrawn"}
_MEDIA_TYPES = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
}


@dataclass(frozen=True)
class CataloguedEdition:
    """What may be told of one edition: nothing that its folder, or the note in its place, does not say already."""

    release: str
    name: str  # of the definition: what the editions of a series share
    title: str
    description: str
    state: Literal["current", "superseded", "withdrawn"]
    published: str  # ISO 8601, UTC
    period: Mapping[str, str] | None  # text, first and last day
    files: Mapping[str, str]  # name -> SHA-256
    by: str | None = None  # the edition that took its place
    reason: str | None = None  # for its withdrawal
    publisher: str | None = None  # the organisation, by name
    doi: str | None = None
    license: str | None = None
    study: Study | None = None

    @property
    def data_files(self) -> list[str]:
        """Those that hold data, in order; none of what was withdrawn."""
        return [] if self.state == "withdrawn" else sorted(file for file in self.files if not describes(file))


Series = Mapping[str, Sequence[CataloguedEdition]]
"""Name -> editions, from the latest to the earliest."""


def as_json_ld(series: Series) -> bytes:
    """The catalogue in DCAT. The same editions give the same bytes."""
    content = {
        "@context": _CONTEXT,
        "@id": JSON_LD,
        "@type": "dcat:Catalog",
        "dcterms:title": "Published data",
        "dcterms:description": "The editions of every data set that were published here, with their state.",
        **_published_by({each.publisher for editions in series.values() for each in editions}),
        "dcat:dataset": [each for name in sorted(series) for each in _of_one_name(name, series[name])],
    }
    return _bytes(content)


def as_package_catalogue(series: Series) -> bytes | None:
    """The Data Package catalogue; None where no edition is on the shelf, as a package has at least one resource."""
    resources = [
        {
            "name": each.release,
            "path": f"{each.release}/datapackage.json",
            "profile": "data-package",
            "format": "json",
            "mediatype": "application/json",
            "title": each.title,
            "hash": f"sha256:{each.files['datapackage.json']}",
            "sluice:state": each.state,
        }
        for name in sorted(series)
        for each in series[name]
        if each.state != "withdrawn" and "datapackage.json" in each.files
    ]
    content = {"$schema": PROFILE, "name": "catalogue", "title": "Published data", "profile": "data-package-catalog"}
    return _bytes({**content, "resources": resources}) if resources else None


def _bytes(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"


def _of_one_name(name: str, editions: Sequence[CataloguedEdition]) -> Iterator[dict[str, Any]]:
    latest = next((each for each in editions if each.state == "current"), None)
    shown = latest or editions[0]
    last = {"dcat:last": {"@id": _folder(latest)}} if latest else {}
    yield {"@id": f"#{name}", "@type": "dcat:DatasetSeries", **_described(shown), **last}
    on_shelf = [each for each in editions if each.state != "withdrawn"]
    before = {each.release: earlier for each, earlier in pairwise(on_shelf)}
    for each in editions:
        yield _dataset(each, before.get(each.release))


def _dataset(edition: CataloguedEdition, before: CataloguedEdition | None) -> dict[str, Any]:
    dataset: dict[str, Any] = {
        "@id": _folder(edition),
        "@type": "dcat:Dataset",
        "dcterms:identifier": edition.release,
        **_described(edition),
        "dcterms:issued": {"@type": "xsd:dateTime", "@value": edition.published},
        "dcat:inSeries": {"@id": f"#{edition.name}"},
        "adms:status": {"@id": f"http://purl.org/adms/status/{_STATUS[edition.state]}"},
    }
    if edition.period:
        days = {"dcat:startDate": edition.period["first"], "dcat:endDate": edition.period["last"]}
        typed = {key: {"@type": "xsd:date", "@value": day} for key, day in days.items()}
        dataset["dcterms:temporal"] = {"@type": "dcterms:PeriodOfTime", **typed}
    if before:
        dataset["dcat:prev"] = {"@id": _folder(before)}
    if edition.doi:
        notation = {"@type": "xsd:string", "@value": edition.doi}
        dataset["adms:identifier"] = {
            "@id": doi_address(edition.doi),
            "@type": "adms:Identifier",
            "skos:notation": notation,
        }
    if edition.by:
        dataset["dcterms:isReplacedBy"] = {"@id": f"{edition.by}/"}
    if edition.reason:
        dataset["adms:versionNotes"] = edition.reason
    if edition.data_files:
        dataset["dcat:distribution"] = [_distribution(edition, file) for file in edition.data_files]
    return dataset


def _distribution(edition: CataloguedEdition, file: str) -> dict[str, Any]:
    media = _MEDIA_TYPES.get(PurePosixPath(file).suffix)
    kind = {"dcat:mediaType": {"@id": f"https://www.iana.org/assignments/media-types/{media}"}} if media else {}
    return {
        "@type": "dcat:Distribution",
        "dcterms:title": file,
        "dcat:accessURL": {"@id": _folder(edition)},
        "dcat:downloadURL": {"@id": f"{_folder(edition)}{file}"},
        **kind,
        **({"dcterms:license": {"@id": license_address(edition.license)}} if edition.license else {}),
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": {"@type": "xsd:hexBinary", "@value": edition.files[file]},
        },
    }


def _described(edition: CataloguedEdition) -> dict[str, Any]:
    described = {"dcterms:title": edition.title, "dcterms:description": edition.description or edition.title}
    return {**described, **_published_by({edition.publisher}), **in_dcat(edition.study)}


def _published_by(names: AbstractSet[str | None]) -> dict[str, Any]:
    """DCAT-AP has one publisher of a catalogue or data set: of several, or where one is not known, nothing is said."""
    [*named] = names
    if len(named) != 1 or named[0] is None:
        return {}
    return {"dcterms:publisher": {"@type": "foaf:Agent", "foaf:name": named[0]}}


def doi_address(doi: str) -> str:
    """Where a browser finds what a DOI names."""
    return f"https://doi.org/{quote(doi)}"


def _folder(edition: CataloguedEdition) -> str:
    return f"{edition.release}/"


PAGE = "catalogue.html"


def as_page(series: Series) -> bytes:
    """The page. The same editions give the same bytes. Nothing is loaded, and no style but its own counts."""
    css = files("sluice.publication").joinpath("catalogue.css").read_text(encoding="utf-8")
    page = _template().render(
        series=[(name, series[name]) for name in sorted(series)],
        css=Markup(css),
        css_hash=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
        json_ld=JSON_LD,
        packages=PACKAGES,
    )
    return page.encode()


@cache
def _template() -> Template:
    environment = page_templates("sluice.publication")
    environment.filters["doi_address"] = doi_address
    return environment.get_template("catalogue.html.j2")


class _Unsigned(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    says: Literal["Not signed. What a folder holds is proved by its attestation: sluice verify FOLDER --keys KEYS"] = (
        "Not signed. What a folder holds is proved by its attestation: sluice verify FOLDER --keys KEYS"
    )


class EditionNotice(_Unsigned):
    """Lies in a folder that is superseded or was withdrawn."""

    release: ReleaseId
    state: Literal["superseded", "withdrawn"]
    by: ReleaseId | None  # the edition that took its place
    at: str  # ISO 8601, UTC
    current: str  # where the shelf says which edition is current


class CurrentPointer(_Unsigned):
    """Lies on the shelf, for each name that editions are published under."""

    name: ReleaseId
    current: ReleaseId | None  # the folder; None: no edition is current
    period: str | None
    published: str | None  # ISO 8601, UTC
    manifest: str | None  # the SHA-256 of its manifest.json


def unsigned_bytes(document: _Unsigned) -> bytes:
    """The content of the file. The same document gives the same bytes."""
    return json.dumps(document.model_dump(), indent=2).encode() + b"\n"


def read_notice(content: bytes, release: str) -> EditionNotice:
    """The notice in a folder of this release. Raises DataError for whatever is not in the one form that there is."""
    try:
        notice = EditionNotice.model_validate(json.loads(content)) if len(content) <= _MOST_BYTES else None
    except (ValidationError, ValueError, RecursionError):
        notice = None
    if notice is None or unsigned_bytes(notice) != content or notice.release != release:
        raise DataError("is not a notice that this release is superseded or was withdrawn")
    return notice
