"""DDI-Codebook 2.5, as data archives and their catalogues read it: of a file of records, and of protected tables.

Source: DDI Alliance, DDI-Codebook 2.5 (2014), field-level documentation: document, study, file and data description.
Elements stand in the order of its schema. A table is described as a file whose records are its cells.
"""

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.visible_text import visible
from sluice.publication.codebook import Codebook, CodebookVariable
from sluice.publication.datapackage import MEDIATYPE, table_variables
from sluice.publication.edition import Edition
from sluice.publication.license import license_address
from sluice.publication.study import Study
from sluice.publication.tables_codebook import TablesCodebook, losses_of

NAMESPACE = "ddi:codebook:2_5"
_NATURE = {
    Kind.NOMINAL: "nominal",
    Kind.BINARY: "nominal",
    Kind.ORDINAL: "ordinal",
    Kind.INTEGER: "ratio",
    Kind.CONTINUOUS: "ratio",
}
_FORMATS = {**MEDIATYPE, "csv": "text/csv; charset=utf-8"}

Notes = Iterable[tuple[str, Sequence[str]]]
"""Subject and sentences."""


def ddi_codebook(book: Codebook) -> bytes:
    """The document of a file of records, UTF-8. The same codebook gives the same bytes.

    A variable's `derivation` says what masking did to it.
    """
    root = _opened(
        book,
        "masked microdata",
        [
            ("measured", book.use.overall),
            ("supports", book.use.supports),
            ("not for", book.use.not_for),
            ("standard errors", book.errors),
            ("in an analysis", book.allow_for),
            (
                "not released",
                [f"{name} is not in the file. {' '.join(said)}".strip() for name, said in book.not_released.items()],
            ),
        ],
    )
    for number, file in enumerate(book.files, start=1):
        _file(root, number, file, book.records, len(book.variables))
    data = _in(root, "dataDscr")
    files = " ".join(f"F{number}" for number in range(1, len(book.files) + 1))
    ids = {each.variable.name: f"V{number}" for number, each in enumerate(book.variables, start=1)}
    for each in book.variables:
        _variable(data, each, ids, files, book.weight, book.use.of_variable.get(each.variable.name))
    for parameters in book.parameters:
        _in(_in(root, "otherMat", type="parameters of a masking step"), "txt", _plain(parameters))
    return _closed(root)


def ddi_of_tables(book: TablesCodebook) -> bytes:
    """The document of protected tables, UTF-8: a variable for each column. The same codebook gives the same bytes."""
    root = _opened(
        book,
        "protected aggregate data",
        [
            ("protection", book.protection),
            ("not published", [says for table in book.tables for says in losses_of(table)]),
            ("not published", book.withheld),
        ],
    )
    columns: dict[str, Variable] = {}
    where: dict[str, list[str]] = {}
    number = 0
    for table in book.tables:
        held = table_variables(table, book.measure, book.unit, book.meanings)
        for file in (f"{table.name}.csv", f"{table.name}.parquet"):
            number += 1
            _file(root, number, file, len(table.codes), len(held))
            for name in held:
                where.setdefault(name, []).append(f"F{number}")
        for name, variable in held.items():
            columns[name] = _with_categories_of_both(columns[name], variable) if name in columns else variable
    data = _in(root, "dataDscr")
    for place, (name, variable) in enumerate(columns.items(), start=1):
        of = _in(data, "var", ID=f"V{place}", name=name, files=" ".join(where[name]), **_scale(variable))
        _in(of, "labl", variable.description or name)
        if variable.unit:
            _in(of, "txt", f"Unit: {variable.unit}")
        for category in variable.categories or ():
            _category(of, category, variable)
        _format(of, variable)
    return _closed(root)


def _with_categories_of_both(one: Variable, other: Variable) -> Variable:
    """A status that stands in one table alone is a category, too."""
    if one.categories is None:
        return one
    both = tuple(dict.fromkeys((*one.categories, *(other.categories or ()))))
    return one.model_copy(update={"categories": both, "labels": {**one.labels, **other.labels}})


def _opened(book: Edition, kind: str, notes: Notes) -> ET.Element:
    """The root with what is said of the whole edition."""
    day = book.published[:10]
    root = ET.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5", "ID": book.release, "xml:lang": "en"})
    document = _in(_in(root, "docDscr"), "citation")
    _titles(document, f"Codebook: {book.title}", book.release)
    _in(_in(document, "prodStmt"), "software", book.software)
    study = _in(root, "stdyDscr")
    citation = _in(study, "citation")
    _titles(citation, book.title, book.doi or book.release, "DOI" if book.doi else None)
    study_ = book.study or Study()
    authors = [(each.whole, each.affiliation) for each in study_.authors]
    if not authors and book.publisher:
        authors = [(book.publisher, None)]
    if authors:
        responsible = _in(citation, "rspStmt")
        for name, works in authors:
            _in(responsible, "AuthEnty", name, **({"affiliation": works} if works else {}))
    if study_.funding:
        production = _in(citation, "prodStmt")
        for funder in study_.funding:
            _in(production, "fundAg", funder)
    distribution = _in(citation, "distStmt")
    if book.publisher:
        _in(distribution, "distrbtr", book.publisher)
    if (contact := study_.contact) is not None:
        _in(distribution, "contact", contact.name, **({"email": contact.email} if contact.email else {}))
    _in(distribution, "distDate", day, date=day)
    _in(_in(citation, "verStmt"), "version", book.release, date=day)
    information = _in(study, "stdyInfo")
    if study_.keywords:
        subjects = _in(information, "subject")
        for keyword in study_.keywords:
            _in(subjects, "keyword", keyword)
    _in(information, "abstract", book.description or book.title)
    summary = _in(information, "sumDscr")
    if study_.time:
        for end, day in zip(("start", "end"), study_.first_and_last, strict=True):
            _in(summary, "collDate", day, event=end, date=day)
    for place in study_.place:
        _in(summary, "geogCover", place)
    _in(summary, "dataKind", kind)
    if study_.language:
        _in(information, "notes", study_.language, subject="language of the data")
    said = [(subject, sentence) for subject, sentences in notes for sentence in sentences]
    collection = {"sampProc": study_.sampling, "collMode": study_.mode, "weight": study_.weights}
    if said or any(collection.values()):
        method = _in(study, "method")
        if any(collection.values()):
            collected = _in(method, "dataColl")
            for name, text in collection.items():
                if text:
                    _in(collected, name, text)
        for subject, sentence in said:
            _in(method, "notes", sentence, subject=subject)
    if study_.access or book.license:
        use = _in(_in(study, "dataAccs"), "useStmt")
        if study_.access:
            _in(use, "restrctn", study_.access)
        if book.license:
            _in(use, "conditions", license_address(book.license))
    return root


def _file(root: ET.Element, number: int, file: str, records: int, variables: int) -> None:
    text = _in(_in(root, "fileDscr", ID=f"F{number}", URI=file), "fileTxt")
    _in(text, "fileName", file)
    size = _in(text, "dimensns")
    _in(size, "caseQnty", str(records))
    _in(size, "varQnty", str(variables))
    _in(text, "fileType", _FORMATS.get(file.rpartition(".")[2], "application/octet-stream"))


def _closed(root: ET.Element) -> bytes:
    ET.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode").encode() + b"\n"


def _scale(variable: Variable) -> dict[str, str]:
    facts = {"intrvl": "contin" if variable.kind in (Kind.CONTINUOUS, Kind.DATE) else "discrete"}
    return facts | ({"nature": _NATURE[variable.kind]} if variable.kind in _NATURE else {})


def _category(of: ET.Element, category: str, variable: Variable) -> ET.Element:
    listed = _in(of, "catgry")
    _in(listed, "catValu", category)
    if category in variable.labels:
        _in(listed, "labl", variable.labels[category])
    return listed


def _format(of: ET.Element, variable: Variable) -> None:
    _in(of, "varFormat", type="numeric" if variable.kind.is_numeric else "character", schema="other")


def _variable(
    data: ET.Element, each: CodebookVariable, ids: dict[str, str], files: str, weight: str | None, measured: str | None
) -> None:
    variable = each.variable
    facts = {"ID": ids[variable.name], "name": variable.name, "files": files, **_scale(variable)}
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
        if figure is not None and (variable.kind.is_numeric or kind in ("vald", "invd")):
            _in(of, "sumStat", str(figure), type=kind)
    if variable.unit:
        _in(of, "txt", f"Unit: {variable.unit}")
    for category, count in (each.counts or {}).items():
        _in(_category(of, category, variable), "catStat", str(count), type="freq")
    if each.done:
        _in(_in(of, "derivation"), "drvdesc", " ".join(each.done))
    _format(of, variable)
    if measured:
        _in(of, "notes", measured, subject="measured")
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
