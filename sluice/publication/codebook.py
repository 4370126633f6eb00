"""The codebook of a file of records: what each variable means, what masking did to it, and what was released of it.

All figures are of the released file, which its readers have. Its page is static, without scripts, and everything in it
is text. Data archives and their catalogues read it in DDI-Codebook 2.5.

Source: DDI Alliance, DDI-Codebook 2.5 (2014), field-level documentation: document, study, file and data description.
Elements stand in the order of its schema.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd
from jinja2 import Template
from markupsafe import Markup

from sluice.ground.page_templates import page_templates
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.ground.visible_text import visible
from sluice.publication.datapackage import MEDIATYPE
from sluice.publication.license import license_address
from sluice.publication.measured_use import MeasuredUse
from sluice.publication.records_file import columns_with_time, read_typed

NAMESPACE = "ddi:codebook:2_5"
_NATURE = {
    Kind.NOMINAL: "nominal",
    Kind.BINARY: "nominal",
    Kind.ORDINAL: "ordinal",
    Kind.INTEGER: "ratio",
    Kind.CONTINUOUS: "ratio",
}
_FORMATS = {**MEDIATYPE, "csv": "text/csv; charset=utf-8"}

_MOST_VALUES = 2_000  # with more, a category is rather a name, and the list no codebook

_TAKEN_FOR_MISSING = frozenset(
    ("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL",
     "NaN", "None", "n/a", "nan", "null")
)  # fmt: skip
"""What pandas reads as missing unless it is told otherwise; R does so of NA."""


@dataclass(frozen=True)
class CodebookVariable:
    """One variable of the released file.

    done    : sentences on its masking; none: its values are those that were collected
    allow_for : what an analysis of it has to allow for, and how to correct for it
    valid   : records that have a value; `missing` have none
    counts  : category -> records, in the order of the categories; None where there are none, or too many to list
    lowest, highest, mean : of numbers, and of dates as text without a mean; None where there is no value
    """

    variable: Variable
    done: tuple[str, ...]
    valid: int
    missing: int
    counts: Mapping[str, int] | None = None
    lowest: float | int | str | None = None
    highest: float | int | str | None = None
    mean: float | None = None
    with_time: bool = False
    allow_for: tuple[str, ...] = ()


@dataclass(frozen=True)
class Codebook:
    """What is known of a published file, for people and for catalogues.

    published  : ISO 8601, UTC
    files      : names of the data files
    not_released : variable -> why it was taken out, or how
    parameters : of masking steps that an analyst has to correct for, such as PRAM's matrices
    allow_for  : what an analysis of any variable has to allow for, such as that the file is a sample
    use        : what was measured of the file for its approvers, as everybody may read it
    errors     : sentences on the standard errors that a program prints of the file
    """

    release: str
    title: str
    dataset: str
    description: str
    published: str
    software: str
    records: int
    files: tuple[str, ...]
    variables: tuple[CodebookVariable, ...]
    publisher: str | None = None
    doi: str | None = None
    license: str | None = None
    not_released: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parameters: tuple[Mapping[str, Any], ...] = ()
    allow_for: tuple[str, ...] = ()
    use: MeasuredUse = field(default_factory=MeasuredUse)
    errors: tuple[str, ...] = ()

    @property
    def taken_for_missing(self) -> tuple[str, ...]:
        """Categories that pandas or R would read as missing values from the CSV file."""
        found = (category for each in self.variables for category in each.counts or {})
        return tuple(dict.fromkeys(category for category in found if category in _TAKEN_FOR_MISSING))

    @property
    def csv(self) -> str | None:
        """The name of the CSV file, if there is one."""
        return next((name for name in self.files if name.endswith(".csv")), None)

    @property
    def weight(self) -> str | None:
        """The variable by which records are weighted."""
        return next((each.variable.name for each in self.variables if each.variable.role is Role.WEIGHT), None)


def codebook_variables(
    path: Path,
    variables: Variables,
    what_was_done: Mapping[str, Sequence[str]],
    allow_for: Mapping[str, Sequence[str]] | None = None,
) -> tuple[CodebookVariable, ...]:
    """The variables of a file that `write_parquet` wrote.

    what_was_done, allow_for : variable -> sentences on its masking, and on what an analysis has to allow for
    cost : one pass over the file, a column of it in memory at a time
    """
    found = [
        _described(variable, read_typed(path, variables, [name])[name], tuple(what_was_done.get(name, ())))
        for name, variable in variables.items()
    ]
    return tuple(replace(each, allow_for=tuple((allow_for or {}).get(each.variable.name, ()))) for each in found)


def _described(variable: Variable, column: "pd.Series[Any]", done: tuple[str, ...]) -> CodebookVariable:
    held = column.dropna()
    known = CodebookVariable(variable, done, len(held), len(column) - len(held))
    if held.empty or variable.kind in (Kind.TEXT, Kind.ITEMS):
        return known
    if variable.kind.is_categorical:
        counts = {str(name): int(count) for name, count in held.value_counts(sort=False).items()}
        return replace(known, counts=counts if len(counts) <= _MOST_VALUES else None)
    if variable.kind is Kind.DATE:
        with_time = bool(columns_with_time(column.to_frame()))
        ends = [each.isoformat() if with_time else each.date().isoformat() for each in (held.min(), held.max())]
        return replace(known, lowest=ends[0], highest=ends[1], with_time=with_time)
    whole = variable.kind is Kind.INTEGER
    lowest, highest = (int(each) if whole else float(each) for each in (held.min(), held.max()))
    return replace(known, lowest=lowest, highest=highest, mean=float(held.mean()))


def codebook_page(book: Codebook) -> bytes:
    """The page. The same codebook gives the same bytes. Nothing is loaded, and no style but its own counts."""
    css = files("sluice.publication").joinpath("codebook.css").read_text(encoding="utf-8")
    page = _template().render(
        book=book,
        parameters=[json.dumps(each, indent=1, ensure_ascii=False) for each in book.parameters],
        css=Markup(css),
        css_hash=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
    )
    return page.encode()


@cache
def _template() -> Template:
    environment = page_templates("sluice.publication")
    environment.filters["license_address"] = license_address
    return environment.get_template("codebook.html.j2")


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
    measured = {"supports": book.use.supports, "not for": book.use.not_for, "standard errors": book.errors}
    if book.not_released or book.allow_for or book.use.overall or any(measured.values()):
        method = _in(study, "method")
        for sentence in book.use.overall:
            _in(method, "notes", sentence, subject="measured")
        for subject, said in measured.items():
            for sentence in said:
                _in(method, "notes", sentence, subject=subject)
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
        _variable(data, each, ids, files, weight, book.use.of_variable.get(each.variable.name))
    for parameters in book.parameters:
        _in(_in(root, "otherMat", type="parameters of a masking step"), "txt", _plain(parameters))
    ET.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode").encode() + b"\n"


def _variable(
    data: ET.Element, each: CodebookVariable, ids: dict[str, str], files: str, weight: str | None, measured: str | None
) -> None:
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
