"""How an edition is found and cited: Croissant metadata of records for searches, `CITATION.cff` for repositories.

Sources: MLCommons, Croissant Format Specification 1.0 (2024): a schema.org data set with its files and record sets;
Citation File Format 1.2.0 (Druskat and others, 2021).
"""

import json
from collections.abc import Sequence
from typing import Any

import yaml

from sluice.ground.variables import Kind
from sluice.publication.codebook import Codebook, CodebookVariable
from sluice.publication.datapackage import MEDIATYPE
from sluice.publication.edition import Edition
from sluice.publication.license import is_address, license_address
from sluice.publication.manifest import PublishedFile
from sluice.publication.study import in_citation, in_croissant

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {
    Kind.CONTINUOUS: "sc:Float",
    Kind.INTEGER: "sc:Integer",
    Kind.DATE: "sc:Date",
}
_FORMATS = {**MEDIATYPE, "parquet": "application/x-parquet"}  # as mlcroissant knows it


def croissant(book: Codebook, files: Sequence[PublishedFile]) -> bytes:
    """The document, UTF-8. Records are taken from the Parquet file: of a CSV, mlcroissant reads the code 01 as 1."""
    content: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": book.title,
        "description": book.description or book.title,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "identifier": book.doi or book.release,
        "version": "1.0.0",
        "datePublished": book.published[:10],
        "citeAs": f"{book.publisher or book.dataset} ({book.published[:4]}). {book.title}. {book.doi or book.release}.",
    }
    if book.publisher:
        content["publisher"] = {"@type": "sc:Organization", "name": book.publisher}
    if book.license:
        content["license"] = license_address(book.license)
    content |= in_croissant(book.study)
    content["distribution"] = [
        {
            "@type": "cr:FileObject",
            "@id": file.path,
            "name": file.path,
            "contentUrl": file.path,
            "contentSize": f"{file.bytes} B",
            "encodingFormat": _FORMATS[file.path.rpartition(".")[2]],
            "sha256": file.sha256,
        }
        for file in files
    ]
    parquet = next(file.path for file in files if file.path.endswith(".parquet"))
    content["recordSet"] = [
        {
            "@type": "cr:RecordSet",
            "@id": "records",
            "name": "records",
            "field": [_field(number, each, parquet) for number, each in enumerate(book.variables, start=1)],
        }
    ]
    return json.dumps(content, indent=2, ensure_ascii=False).encode()


def _field(number: int, each: CodebookVariable, file: str) -> dict[str, Any]:
    name = each.variable.name
    described = " ".join([each.variable.description or name, *each.done])
    kind = "sc:DateTime" if each.with_time else _TYPES.get(each.variable.kind, "sc:Text")
    return {
        "@type": "cr:Field",
        "@id": f"records/{number}",  # mlcroissant takes no blanks here, which names of variables may have
        "name": name,
        "description": described,
        "dataType": kind,
        "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
    }


def citation_file(book: Edition) -> bytes:
    """The file, UTF-8. Without a DOI it says how one gets into the next edition: what is signed cannot be changed."""
    content: dict[str, object] = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": book.title,
        "authors": [{"name": book.publisher or book.dataset}],
        **in_citation(book.study),
        "version": book.release,
        "date-released": book.published[:10],
    }
    if book.description:
        content["abstract"] = book.description
    if book.doi:
        content["doi"] = book.doi
    if book.license:
        content["license-url" if is_address(book.license) else "license"] = book.license
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    if not book.publisher and not (book.study and book.study.authors):
        text += "# No author or publisher was given: in their place stands the name of the data set.\n"
    if not book.license:
        text += "# No licence was given: ask before you pass the data on.\n"
    if not book.doi:
        text += "# doi: 10.XXXX/...  as soon as one is registered; the release definition's field 'doi' puts it here\n"
    return text.encode()
