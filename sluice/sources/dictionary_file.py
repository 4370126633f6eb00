"""What a data dictionary says of the columns of a file: labels, codes and their meanings, codes for missing, universes.

Read are tables (CSV, Excel; `dictionary_table`), JSON (a list or mapping of variables; Table
Schema; the manifest.json of dbt), DDI (`ddi_dictionary`), and the statements of SAS, SPSS and Stata
(`program_dictionary`). Source: Table Schema 1.0 (Frictionless Data).
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sluice.ground.errors import DataError
from sluice.ground.values import label as text_of
from sluice.sources.code_lists import Lists, list_of, of_code_lists, without_code_lists
from sluice.sources.ddi_dictionary import of_ddi
from sluice.sources.dictionary_table import HEADINGS, TEXTS, codes_in, of_tables, plain
from sluice.sources.program_dictionary import of_program
from sluice.sources.tabular_source import ColumnDescription, Descriptions, missing_file
from sluice.sources.text_encoding import encoding_of, japanese
from sluice.sources.text_recognition import OLD_EXCEL, OLD_OFFICE, unreadable

_LISTS = ("codelist", "list", "valueset", "valuelist", "choicelist", "choice", "lookup", "domain", "enum")  # several
_START = 512  # bytes that tell a format
_LARGEST = 64 << 20  # bytes; the largest dictionaries of surveys take some 20 MB
_MISSING_LABEL = re.compile(
    r"(not (stated|reported|available|ascertained|known)|refus(ed|al)|don'?t know|do not know|no answer|missing|"
    r"unknown|blank|prefer not to|keine (angabe|antwort)|wei(ss|ß) nicht|verweigert|sans r[eé]ponse|non r[eé]ponse|"
    r"ne sait pas|nsp|refus|no sabe|no contesta|ns/nc|no responde|no informa|sin dato|n[aã]o (sabe|respond|inform)|"
    r"ignorado|non (sa|risponde)|weet niet|geen antwoord|brak (odpowiedzi|danych)|nie wiem|vet (ej|ikke)|ei vastausta)"
    r"\b.*",
    re.IGNORECASE,
)  # fmt: skip


@dataclass
class _Described:
    label: str = ""
    universe: str = ""
    unit: str = ""
    measure: str = ""
    absent_list: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    guessed: list[str] = field(default_factory=list)
    ranges: list[tuple[float, float]] = field(default_factory=list)


def means_missing(label: str) -> bool:
    """Whether a label says that there is no answer: Refused, Don't know, keine Angabe."""
    return _MISSING_LABEL.fullmatch(label.strip()) is not None


def dictionary_descriptions(
    path: Path, columns: Sequence[str], strangers: dict[str, None] | None = None
) -> Descriptions:
    """What the dictionary says of these columns, capitals or not; a column that it does not name is absent.

    strangers : to which the names are added, in their order, of the entries for which there is no column
    raises    : DataError where the file is absent, is no dictionary that can be read, or describes none of the columns
    cost      : that of the file, which is held whole
    """
    if not path.is_file():
        raise missing_file(path)
    if path.stat().st_size > _LARGEST:
        raise DataError(f"{path}: has more than {_LARGEST >> 20} MiB, which no dictionary needs")
    found: dict[str, _Described] = {}
    of_all: list[tuple[str, ...]] = []
    known = {name.casefold(): name for name in columns}
    for name, what, *said in _statements(path, columns):
        if (column := known.get(name.strip().casefold())) is not None:
            _take(found.setdefault(column, _Described()), what, said)
        elif name.casefold() == "all" and what in ("missing", "range"):
            of_all.append((what, *said))
        elif strangers is not None and what in ("label", "code") and name.strip():
            strangers[name.strip()] = None
    for each in columns if found else ():
        for what, *said in of_all:
            _take(found.setdefault(each, _Described()), what, said)
    if not found:
        raise DataError(
            f"{path}: describes none of the {len(columns)} columns. It may be a table (CSV, Excel) with a column of "
            "the variables' names, JSON, DDI, or statements of SAS, SPSS or Stata."
        )
    return {name: _description(each) for name, each in found.items()}


def _description(found: _Described) -> ColumnDescription:
    declared = ColumnDescription(
        label=found.label, labels=found.labels, missing_codes=tuple(dict.fromkeys(found.missing)),
        missing_ranges=tuple(dict.fromkeys(found.ranges)), measure=found.measure, universe=found.universe,
        unit=found.unit, absent_list="" if found.labels else found.absent_list,
    )  # fmt: skip
    guessed = tuple(dict.fromkeys(code for code in found.guessed if not declared.is_missing(code)))
    both = (*declared.missing_codes, *guessed)
    return declared.model_copy(update={"missing_codes": both, "guessed_missing": guessed})


def joined(own: ColumnDescription | None, told: ColumnDescription) -> ColumnDescription:
    """What the file itself says of a column, with what a dictionary says beyond that or otherwise."""
    if own is None:
        return told
    said = {name: value for name in ColumnDescription.model_fields if (value := getattr(told, name))}
    said["missing_codes"] = tuple(dict.fromkeys([*own.missing_codes, *told.missing_codes]))
    said["guessed_missing"] = tuple(code for code in told.guessed_missing if not own.is_missing(code))
    said["missing_ranges"] = tuple(dict.fromkeys([*own.missing_ranges, *told.missing_ranges]))
    return own.model_copy(update=said)


def _take(known: _Described, what: str, said: Sequence[str]) -> None:
    if what == "code":
        known.labels[said[0].strip()] = said[1].strip()
        if means_missing(said[1]):
            known.guessed.append(said[0].strip())
    elif what == "missing":
        known.missing.append(said[0].strip())
    elif what == "range":
        known.ranges.append((_end(said[0]), _end(said[1])))
    elif what == "measure":
        known.measure = said[0] if said[0] in ("nominal", "ordinal", "scale") else ""
    elif said[0].strip():
        setattr(known, what, " ".join(said[0].split()))


def _end(written: str) -> float:
    """An end of a range of SPSS: a number, LO or LOWEST, HI or HIGHEST."""
    word = written[:2].casefold()
    return -inf if word == "lo" else inf if word == "hi" else float(written)


def _statements(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Each a variable, and 'label', 'universe', 'unit', 'measure' or 'absent_list' with a text, 'code' with code and
    meaning, 'missing' with a code."""
    with path.open("rb") as file:
        start = file.read(_START)
    if start.startswith(b"PK\3\4"):
        from sluice.sources.excel_source import texts_of_sheets

        yield from _of_tables(texts_of_sheets(path), columns, path)
        return
    if (other := unreadable(start)) is not None:
        found = OLD_EXCEL if other is OLD_OFFICE else other
        raise DataError(f"{path}: is {found[0]}, which is not read; {found[1]}")
    text = _decoded(path)
    begins = text.lstrip()[:1]
    if begins == "<":
        try:
            yield from of_ddi(text)
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
    elif begins in ("{", "["):
        try:
            read = json.loads(text)
            yield from _of_dbt(read, columns) if _is_of_dbt(read) else _of_json(read)
        except (ValueError, RecursionError):
            raise DataError(f"{path}: is not valid JSON") from None
    elif (program := of_program(text)) is not None:
        yield from program
    else:
        lines = text.splitlines()
        sign = max(",;\t|", key=lambda mark: sum(line.count(mark) for line in lines[:50]))
        yield from _of_tables([("", list(csv.reader(lines, delimiter=sign)))], columns, path)


def _of_tables(
    tables: Iterable[tuple[str, Sequence[Sequence[str]]]], columns: Sequence[str], path: Path
) -> Iterator[tuple[str, ...]]:
    lists, others = without_code_lists(tables, columns)
    try:
        yield from of_tables(others, columns)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    yield from of_code_lists(lists, others, columns)


def _decoded(path: Path) -> str:
    """The text, whose encoding is found; Japanese, too, of which a dictionary that is guessed wrongly shows at once."""
    try:
        return path.read_bytes().decode("utf-8-sig" if (encoding := encoding_of(path)) == "utf-8" else encoding)
    except UnicodeDecodeError:
        raise DataError(f"{path}: cannot be decoded; save it as UTF-8") from None
    except DataError:
        if (text := japanese(path.read_bytes())) is not None:
            return text
        raise


def _of_json(read: Any, lists: Lists = MappingProxyType({})) -> Iterator[tuple[str, ...]]:
    if isinstance(read, Mapping):
        lists = {**lists, **_lists_of_json(read)}
        listed = next(
            (read[key] for key in ("variables", "fields", "columns") if isinstance(read.get(key), list)), None
        )
        if listed is None and isinstance(read.get("schema"), Mapping):
            yield from _of_json(read["schema"], lists)
            return
        if listed is None and isinstance(read.get("resources"), list):
            for each in read["resources"]:
                yield from _of_json(each, lists)
            return
        inner = next(
            (read[key] for key in ("variables", "fields", "columns") if isinstance(read.get(key), Mapping)), read
        )
        read = listed or [_named(key, value) for key, value in inner.items()]
    for each in read:
        if not isinstance(each, Mapping):
            continue
        cells = {plain(str(key)): value for key, value in each.items()}
        found = {
            what: cells[key] for what, names in HEADINGS.items() if (key := next((n for n in names if n in cells), ""))
        }
        if not isinstance(name := found.get("name"), str):
            continue
        yield from ((name, what, found[what]) for what in TEXTS if isinstance(found.get(what), str))
        for key in ("labels", "code", "list"):
            given = found.get(key)
            yield from list_of(name, given, lists, key == "list") if isinstance(given, str) else ()
            yield from _codes_of_json(name, given)
        missing = found.get("missing")
        yield from (
            (name, "missing", _text(code)) for code in (missing if isinstance(missing, list) else []) if code != ""
        )


def _is_of_dbt(read: Any) -> bool:
    told = read.get("metadata") if isinstance(read, Mapping) else None
    return isinstance(told, Mapping) and "dbt_schema_version" in told


def _of_dbt(read: Mapping[str, Any], columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Of all models, seeds, snapshots and sources the one that has most of these columns; where several have as many,
    what they say alike. A column's `meta` may hold labels, codes and missing codes, as other JSON does.

    Source: the manifest of dbt, schema v12 (docs.getdbt.com).
    """
    wanted = {name.casefold() for name in columns}
    found: list[dict[str, Mapping[str, Any]]] = []
    for each in (*_mappings(read.get("nodes")), *_mappings(read.get("sources"))):
        own = {str(name).casefold(): said for name, said in dict(each.get("columns") or {}).items()}
        found.append({name: said for name, said in own.items() if name in wanted and isinstance(said, Mapping)})
    most = max(map(len, found), default=0)
    best = [each for each in found if len(each) == most > 0]
    for name in best[0] if best else ():
        said = [list(_of_json([_column_of_dbt(name, each[name])])) for each in best if name in each]
        yield from said[0] if all(each == said[0] for each in said) else [(name, "label", "")]


def _mappings(given: Any) -> Iterator[Mapping[str, Any]]:
    yield from (each for each in (given.values() if isinstance(given, Mapping) else ()) if isinstance(each, Mapping))


def _column_of_dbt(name: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = said.get("config")
    meta = said.get("meta") or (inner.get("meta") if isinstance(inner, Mapping) else None)  # since dbt 1.10
    told = {"label": said.get("description") or ""} | (dict(meta) if isinstance(meta, Mapping) else {})
    return {**told, "name": name}


def _lists_of_json(read: Mapping[str, Any]) -> Lists:
    """The code lists that stand beside the variables, by their names in small letters."""
    beside = [value for key, value in read.items() if plain(key).replace(" ", "").removesuffix("s") in _LISTS]
    named = [(name, codes) for each in beside if isinstance(each, Mapping) for name, codes in each.items()]
    return {name.casefold(): [(said[2], said[3]) for said in _codes_of_json(name, codes)] for name, codes in named}


def _named(name: str, said: Any) -> Mapping[str, Any]:
    """What a mapping says of one variable: a text is its label, and a mapping without a usual word its codes."""
    if not isinstance(said, Mapping):
        return {"name": name, "label": said}
    usual = {word for words in HEADINGS.values() for word in words}
    if said and all(isinstance(means, str) for means in said.values()) and not {plain(key) for key in said} & usual:
        return {"name": name, "labels": said}
    return {"name": name, **said}


def _codes_of_json(name: str, given: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(given, Mapping):
        yield from ((name, "code", str(code), _text(means)) for code, means in given.items())
    elif isinstance(given, str):
        yield from ((name, "code", *pair) for pair in codes_in(given))
    for each in given if isinstance(given, list) else ():
        if isinstance(each, Mapping) and (keys := {plain(str(key)): value for key, value in each.items()}):
            code = next((keys[key] for key in ("value", "code", "name", "id") if key in keys), None)
            means = next((keys[key] for key in ("label", "title", "description", "meaning") if key in keys), None)
            if code is not None and means is not None:
                yield name, "code", _text(code), _text(means)


def _text(value: Any) -> str:
    return text_of(value) if isinstance(value, str | int | float) else json.dumps(value)
