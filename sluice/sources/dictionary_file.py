"""What a data dictionary says of the columns of a file: labels, codes and their meanings, codes for missing, universes.

Read are tables (CSV, Excel) with a row for each variable or each code, JSON (a list or mapping of variables; Table
Schema), DDI Codebook 2.5 (XML), and the statements of SAS, SPSS and Stata (`program_dictionary`). Sources: Table
Schema 1.0 (Frictionless Data); DDI Codebook 2.5, elements var, labl, catgry, catValu, universe; ACS PUMS data
dictionary, rows NAME and VAL.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sluice.ground.errors import DataError
from sluice.ground.values import label as text_of
from sluice.sources.program_dictionary import of_program
from sluice.sources.tabular_source import ColumnDescription, Descriptions, missing_file
from sluice.sources.text_encoding import encoding_of

_LARGEST = 64 << 20  # bytes; the largest dictionaries of surveys take some 20 MB
_CALLED = {
    "name": ("variable", "variable name", "var", "varname", "var name", "name", "field", "field name", "column",
             "column name", "id", "variable id"),
    "label": ("label", "variable label", "var label", "description", "desc", "title", "question", "definition",
              "variable description"),
    "code": ("code", "value", "codes", "category", "response code", "cat value", "val"),
    "meaning": ("value label", "code label", "meaning", "code description", "value description", "category label",
                "response", "label of value", "text", "code meaning"),
    "labels": ("values", "labels", "value labels", "categories", "codes and labels", "valid values", "levels", "coding",
               "enum", "code list"),
    "missing": ("missing", "missing values", "missing codes", "missing value", "missingvalues", "na values"),
    "universe": ("universe", "population", "asked of", "filter"),
    "measure": ("measure", "measurement", "level", "measurement level", "scale"),
}  # fmt: skip
_MEANT = re.compile(r"\s*(-?[\w.]{1,12})\s*[=:\-–]\s*(.+?)\s*")
_MISSING_LABEL = re.compile(
    r"(not (stated|reported|available|ascertained|known)|refus(ed|al)|don'?t know|do not know|no answer|missing|"
    r"unknown|keine angabe|weiss nicht|weiß nicht|sans reponse|no sabe|no contesta|blank)\b.*",
    re.IGNORECASE,
)  # fmt: skip


@dataclass
class _Described:
    label: str = ""
    universe: str = ""
    measure: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def dictionary_descriptions(path: Path, columns: Sequence[str]) -> Descriptions:
    """What the dictionary says of these columns, capitals or not; a column that it does not name is absent.

    raises : DataError where the file is absent, is no dictionary that can be read, or describes none of the columns
    cost   : that of the file, which is held whole
    """
    if not path.is_file():
        raise missing_file(path)
    if path.stat().st_size > _LARGEST:
        raise DataError(f"{path}: has more than {_LARGEST >> 20} MiB, which no dictionary needs")
    found: dict[str, _Described] = {}
    known = {name.casefold(): name for name in columns}
    for name, what, *said in _statements(path):
        if (column := known.get(name.strip().casefold())) is not None:
            _take(found.setdefault(column, _Described()), what, said)
    if not found:
        raise DataError(
            f"{path}: describes none of the {len(columns)} columns. It may be a table (CSV, Excel) with a column of "
            "the variables' names, JSON, DDI Codebook, or statements of SAS, SPSS or Stata."
        )
    return {
        name: ColumnDescription(
            label=each.label, labels=each.labels, missing_codes=tuple(dict.fromkeys(each.missing)),
            measure=each.measure, universe=each.universe,
        )
        for name, each in found.items()
    }  # fmt: skip


def joined(own: ColumnDescription | None, told: ColumnDescription) -> ColumnDescription:
    """What the file itself says of a column, with what a dictionary says beyond that or otherwise."""
    if own is None:
        return told
    said = {name: value for name in ColumnDescription.model_fields if (value := getattr(told, name))}
    said["missing_codes"] = tuple(dict.fromkeys([*own.missing_codes, *told.missing_codes]))
    return own.model_copy(update=said)


def _take(known: _Described, what: str, said: Sequence[str]) -> None:
    if what == "code":
        known.labels[said[0].strip()] = said[1].strip()
        if _MISSING_LABEL.fullmatch(said[1].strip()):
            known.missing.append(said[0].strip())
    elif what == "missing":
        known.missing.append(said[0].strip())
    elif what == "measure":
        known.measure = said[0] if said[0] in ("nominal", "ordinal", "scale") else ""
    elif said[0].strip():
        setattr(known, what, " ".join(said[0].split()))


def _statements(path: Path) -> Iterator[tuple[str, ...]]:
    """Each a variable, and 'label', 'universe' or 'measure' with a text, 'code' with code and meaning, 'missing' with
    a code."""
    with path.open("rb") as file:
        is_workbook = file.read(4) == b"PK\3\4"
    if is_workbook:
        yield from _of_rows(_sheet_rows(path), path)
        return
    try:
        text = path.read_bytes().decode("utf-8-sig" if (encoding := encoding_of(path)) == "utf-8" else encoding)
    except UnicodeDecodeError:
        raise DataError(f"{path}: cannot be decoded; save it as UTF-8") from None
    begins = text.lstrip()[:1]
    if begins == "<":
        yield from _of_ddi(text, path)
    elif begins in ("{", "["):
        try:
            yield from _of_json(json.loads(text))
        except (ValueError, RecursionError):
            raise DataError(f"{path}: is not valid JSON") from None
    elif (program := of_program(text)) is not None:
        yield from program
    else:
        lines = text.splitlines()
        sign = max(",;\t|", key=lambda mark: sum(line.count(mark) for line in lines[:50]))
        yield from _of_rows(csv.reader(lines, delimiter=sign), path)


def _sheet_rows(path: Path) -> Iterator[list[str]]:
    from sluice.sources.excel_source import ExcelSource

    outline = next((each for each in ExcelSource(path=str(path)).outlines() if each.is_visible and each.columns), None)
    if outline is None:
        raise DataError(f"{path}: holds no sheet with cells")
    source = ExcelSource(path=str(path), sheet=outline.name, header_row=outline.header_row)
    names = source.column_names()
    yield names
    for table in source.tables(names):
        for row in table.to_pylist():
            yield ["" if row[name] is None else text_of(row[name]) for name in names]


def _of_rows(rows: Iterator[list[str]], path: Path) -> Iterator[tuple[str, ...]]:
    """A row for each variable, or for each code of one; an empty name is that of the row above."""
    header: dict[str, int] | None = None
    name = ""
    for row in rows:
        if header is None and len(row) > 4 and row[0] in ("NAME", "VAL"):  # of the ACS
            header = {}
        if header == {}:
            yield from _of_acs(row)
            continue
        if header is None:
            header = _header([_plain(cell) for cell in row])
            continue
        cells = {what: row[place].strip() for what, place in header.items() if place < len(row)}
        name = cells.get("name") or name
        if cells.get("name"):
            yield from ((name, what, cells[what]) for what in ("label", "universe", "measure") if cells.get(what))
        if cells.get("code") and "meaning" in cells:
            yield name, "code", cells["code"], cells["meaning"]
        yield from _codes(name, cells.get("labels", ""))
        yield from ((name, "missing", code) for code in re.split(r"[,;|\s]+", cells.get("missing", "")) if code)
    if header is None:
        raise DataError(f"{path}: no row names columns such as variable, label, code and meaning")


def _header(cells: list[str]) -> dict[str, int] | None:
    """Which column holds what; None where none holds names of variables."""
    found: dict[str, int] = {}
    for what, names in _CALLED.items():
        place = next((cells.index(name) for name in names if name in cells), None)
        if place is not None and place not in found.values():
            found[what] = place
    return found if "name" in found and len(found) > 1 else None


def _plain(cell: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", cell)).casefold()


def _of_acs(row: list[str]) -> Iterator[tuple[str, ...]]:
    if row[0] == "NAME":
        yield row[1], "label", row[4]
    elif row[0] == "VAL" and len(row) > 6 and row[4] == row[5]:
        yield row[1], "code", row[4], row[6]


def _codes(name: str, written: str) -> Iterator[tuple[str, ...]]:
    """Of a cell such as '1 = male; 2 = female'."""
    parts = [_MEANT.fullmatch(part) for part in re.split(r"[;|\n]|,(?=\s*-?[\w.]{1,12}\s*=)", written) if part.strip()]
    if parts and all(parts):
        yield from ((name, "code", part[1], part[2]) for part in parts if part)


def _of_json(read: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(read, Mapping):
        listed = next(
            (read[key] for key in ("variables", "fields", "columns") if isinstance(read.get(key), list)), None
        )
        if listed is None and isinstance(read.get("schema"), Mapping):
            yield from _of_json(read["schema"])
            return
        if listed is None and isinstance(read.get("resources"), list):
            for each in read["resources"]:
                yield from _of_json(each)
            return
        inner = next(
            (read[key] for key in ("variables", "fields", "columns") if isinstance(read.get(key), Mapping)), read
        )
        read = listed or [{"name": key, **value} for key, value in inner.items() if isinstance(value, Mapping)]
    for each in read:
        if not isinstance(each, Mapping):
            continue
        cells = {_plain(str(key)): value for key, value in each.items()}
        found = {
            what: cells[key] for what, names in _CALLED.items() if (key := next((n for n in names if n in cells), ""))
        }
        if not isinstance(name := found.get("name"), str):
            continue
        yield from (
            (name, what, found[what]) for what in ("label", "universe", "measure") if isinstance(found.get(what), str)
        )
        for key in ("labels", "code"):
            yield from _codes_of_json(name, found.get(key))
        missing = found.get("missing")
        yield from (
            (name, "missing", _text(code)) for code in (missing if isinstance(missing, list) else []) if code != ""
        )


def _codes_of_json(name: str, given: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(given, Mapping):
        yield from ((name, "code", str(code), _text(means)) for code, means in given.items())
    elif isinstance(given, str):
        yield from _codes(name, given)
    for each in given if isinstance(given, list) else ():
        if isinstance(each, Mapping) and (keys := {_plain(str(key)): value for key, value in each.items()}):
            code = next((keys[key] for key in ("value", "code", "name", "id") if key in keys), None)
            means = next((keys[key] for key in ("label", "title", "description", "meaning") if key in keys), None)
            if code is not None and means is not None:
                yield name, "code", _text(code), _text(means)


def _text(value: Any) -> str:
    return text_of(value) if isinstance(value, str | int | float) else json.dumps(value)


def _of_ddi(text: str, path: Path) -> Iterator[tuple[str, ...]]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise DataError(f"{path}: declares a document type, which no dictionary needs")
    try:
        root = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError:
        raise DataError(f"{path}: is not valid XML") from None
    for variable in root.iter():
        if _tag(variable) != "var":
            continue
        name = variable.get("name", "")
        for part in variable:
            if _tag(part) in ("labl", "universe"):
                yield name, "label" if _tag(part) == "labl" else "universe", "".join(part.itertext())
            elif _tag(part) == "catgry":
                told = {_tag(each): "".join(each.itertext()).strip() for each in part}
                if "catValu" in told and told.get("labl"):
                    yield name, "code", told["catValu"], told["labl"]
                if "catValu" in told and part.get("missing") == "Y":
                    yield name, "missing", told["catValu"]
        if variable.get("nature") in ("nominal", "ordinal"):
            yield name, "measure", variable.get("nature", "")


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
