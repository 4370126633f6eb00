"""The codebook of a file of records in DDI-Codebook 2.5, which data archives and their catalogues read.

Source: DDI Alliance, DDI-Codebook 2.5 (2014), field-level documentation: document, study, file and data description.
Elements stand in the order of its schema.
"""

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from sluice.ground.variables import Kind, Role
from sluice.ground.visible_text import visible
from sluice.publication.codebook import Codebook, CodebookVariable
from sluice.publication.datapackage import MEDIATYPE
from sluice.publication.license import license_address

NAMESPACE = "ddi:codebook:2_5"
_NATURE = {
    Kind.NOMINAL: "nominal",
    Kind.BINARY: "nominal",
    Kind.ORDINAL: "ordinal",
    Kind.INTEGER: "ratio",
    Kind.CONTINUOUS: "ratio",
}
_FORMATS = {**MEDIATYPE, "csv": "text/csv; charset=utf-8"}


def ddi_codebook(book: Codebook) -> bytes:
    """The document, UTF-8. The same codebook gives the same bytes.

    A variable's `derivation` says what masking did to it.
    """
    day = book.published[:10]
    root = ET.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5", "ID": book.release, "xml:lang": "en"})
    document = _in(_in(root, "docDscr"), "citation")
    _titles(document, f"Codebook: {book.title}", book.release)
    _in(_in(document, "prodStmt"), "software", book.software)
    study = _in(root, "stdyDscr")
    citation = _in(study, "citation")
    _titles(citation, book.title, book.doi or book.release, "DOI" if book.doi else None)
    if book.publisher:
        _in(_in(citation, "rspStmt"), "AuthEnty", book.publisher)
    distribution = _in(citation, "distStmt")
    if book.publisher:
        _in(distribution, "distrbtr", book.publisher)
    _in(distribution, "distDate", day, date=day)
    _in(_in(citation, "verStmt"), "version", book.release, date=day)
    information = _in(study, "stdyInfo")
    _in(information, "abstract", book.description or book.title)
    _in(_in(information, "sumDscr"), "dataKind", "masked microdata")
    if book.not_released or book.allow_for:
        method = _in(study, "method")
        for sentence in book.allow_for:
            _in(method, "notes", sentence, subject="in an analysis")
        for name, sentences in book.not_released.items():
            _in(method, "notes", f"{name} is not in the file. {' '.join(sentences)}".strip(), subject="not released")
    if book.license:
        _in(_in(_in(study, "dataAccs"), "useStmt"), "conditions", license_address(book.license))
    for number, file in enumerate(book.files, start=1):
        text = _in(_in(root, "fileDscr", ID=f"F{number}", URI=file), "fileTxt")
        _in(text, "fileName", file)
        size = _in(text, "dimensns")
        _in(size, "caseQnty", str(book.records))
        _in(size, "varQnty", str(len(book.variables)))
        _in(text, "fileType", _FORMATS.get(file.rpartition(".")[2], "application/octet-stream"))
    data = _in(root, "dataDscr")
    files = " ".join(f"F{number}" for number in range(1, len(book.files) + 1))
    ids = {each.variable.name: f"V{number}" for number, each in enumerate(book.variables, start=1)}
    weight = book.weight
    for each in book.variables:
        _variable(data, each, ids, files, weight)
    for parameters in book.parameters:
        _in(_in(root, "otherMat", type="parameters of a masking step"), "txt", _plain(parameters))
    ET.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode").encode() + b"\n"


def _variable(data: ET.Element, each: CodebookVariable, ids: dict[str, str], files: str, weight: str | None) -> None:
    variable = each.variable
    number = variable.kind in (Kind.CONTINUOUS, Kind.INTEGER)
    facts = {"ID": ids[variable.name], "name": variable.name, "files": files}
    facts["intrvl"] = "contin" if variable.kind in (Kind.CONTINUOUS, Kind.DATE) else "discrete"
    if variable.kind in _NATURE:
        facts["nature"] = _NATURE[variable.kind]
    if variable.role is Role.WEIGHT:
        facts["wgt"] = "wgt"
    elif weight is not None:
        facts["wgt-var"] = ids[weight]
    of = _in(data, "var", **facts)
    _in(of, "labl", variable.description or variable.name)
    if each.lowest is not None:
        ends = {"min": str(each.lowest), "max": str(each.highest)}
        _in(_in(of, "valrng"), "range", **({"UNITS": "INT"} if variable.kind is Kind.INTEGER else {}), **ends)
    if variable.universe:
        _in(of, "universe", variable.universe)
    figures = {"vald": each.valid, "invd": each.missing, "min": each.lowest, "max": each.highest, "mean": each.mean}
    for kind, figure in figures.items():
        if figure is not None and (number or kind in ("vald", "invd")):
            _in(of, "sumStat", str(figure), type=kind)
    if variable.unit:
        _in(of, "txt", f"Unit: {variable.unit}")
    for category, count in (each.counts or {}).items():
        listed = _in(of, "catgry")
        _in(listed, "catValu", category)
        if category in variable.labels:
            _in(listed, "labl", variable.labels[category])
        _in(listed, "catStat", str(count), type="freq")
    if each.done:
        _in(_in(of, "derivation"), "drvdesc", " ".join(each.done))
    _in(of, "varFormat", type="numeric" if number else "character", schema="other")
    for text in each.allow_for:
        _in(of, "notes", text, subject="in an analysis")


def _titles(citation: ET.Element, title: str, identifier: str, agency: str | None = None) -> None:
    titles = _in(citation, "titlStmt")
    _in(titles, "titl", title)
    _in(titles, "IDNo", identifier, **({"agency": agency} if agency else {}))


def _in(parent: ET.Element, name: str, text: str | None = None, /, **attributes: str) -> ET.Element:
    made = ET.SubElement(parent, name, {key: visible(value) for key, value in attributes.items()})
    made.text = None if text is None else visible(text)  # a category of the data may hold what XML forbids
    return made


def _plain(parameters: object) -> str:
    """Nested parameters as text."""
    if isinstance(parameters, dict):
        return "; ".join(f"{name}: {_plain(value)}" for name, value in parameters.items())
    if isinstance(parameters, Iterable) and not isinstance(parameters, str):
        return f"({', '.join(map(_plain, parameters))})"
    return str(parameters)
