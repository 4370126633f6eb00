"""What a data dictionary in CSV or Excel says of the columns of a file: a table with a row for each variable or code.

The column of the variables' names is the one whose cells are names of the file's columns, whatever stands above it.
What the others hold says their heading, in several languages, and what they look like. A table whose names stand beside
each other is turned, where its first cells say what is in the rows.
Sources of headings: ACS PUMS data dictionary (rows NAME and VAL); INSEE, dictionnaires des variables (COD_VAR, LIB_VAR,
COD_MOD, LIB_MOD); IBGE and INEP, dicionários de variáveis; INE and INEGI, diccionarios de datos (FD); ISTAT, tracciati
record; Destatis, Datensatzbeschreibungen; REDCap data dictionary.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from sluice.ground.errors import DataError

Said = Iterator[tuple[str, ...]]
HEADINGS = {
    "name": ("variable", "variable name", "var", "varname", "var name", "name", "field", "field name", "column",
             "column name", "id", "variable id", "variable field name"),
    "label": ("label", "variable label", "var label", "field label", "description", "desc", "title", "question",
              "definition", "variable description", "field description", "meaning of variable", "question text",
              "beschreibung", "bezeichnung", "beschriftung", "fragetext", "frage", "variablenlabel", "merkmal",
              "lib var", "libelle", "libelle de la variable", "intitule", "descripcion", "etiqueta", "enunciado",
              "descripcion de la variable", "pregunta", "descricao", "rotulo", "quesito", "descrizione", "etichetta",
              "omschrijving", "opis", "etykieta", "beskrivning",
              "説明", "内容", "設問", "設問文", "質問", "質問文", "項目", "項目名", "变量说明", "说明", "标签"),
    "code": ("code", "value", "codes", "category", "response code", "cat value", "val", "level", "wert", "kode",
             "auspragung", "cod mod", "modalite", "modalites", "codigo", "categoria", "valor", "tipo", "codice",
             "modalita", "waarde", "wartosc", "kod", "raw category", "値", "符号", "值", "代码"),
    "meaning": ("value label", "code label", "meaning", "code description", "value description", "category label",
                "response", "label of value", "text", "code meaning", "wertelabel", "bedeutung", "lib mod",
                "libelle de la modalite", "significado", "etiqueta de valor", "descripcion del codigo",
                "descricao da categoria", "significato", "betekenis", "clean category"),
    "labels": ("values", "labels", "value labels", "categories", "codes and labels", "valid values", "levels", "coding",
               "enum", "answers", "answer options", "response options", "choices", "options",
               "choices calculations or slider labels", "allowed values", "values or range", "werte", "auspragungen",
               "antworten", "antwortoptionen", "kodierung", "valores", "codigos", "categorias", "opciones", "valeurs",
               "valori", "waarden", "wartosci", "kody", "選択肢", "选项"),
    "list": ("code list", "codelist", "list", "list name", "list id", "code list id", "code list name", "codelist name",
             "codelist id", "value set", "valueset", "value list", "choice list", "label set", "lookup", "lookup table",
             "domain", "codeliste", "codelisten", "schlusselliste", "schlusselverzeichnis", "liste", "nomenclature",
             "liste de codes", "lista", "lista de codigos", "lista codici", "dominio", "catalogo", "codelijst",
             "lista kodow"),
    "missing": ("missing", "missing values", "missing codes", "missing value", "missingvalues", "na values",
                "fehlende werte", "valeurs manquantes", "valores perdidos"),
    "universe": ("universe", "population", "asked of", "filter", "universo", "champ", "universum"),
    "unit": ("unit", "units", "unit of measure", "unit of measurement", "measurement unit", "einheit", "einheiten",
             "masseinheit", "unite", "unites", "unite de mesure", "unidad", "unidades", "unidad de medida", "unidade",
             "unidade de medida", "unita", "unita di misura", "eenheid", "jednostka", "enhet", "enhed", "単位", "单位"),
    "measure": ("measure", "measurement", "measurement level", "scale", "messniveau", "skalenniveau"),
}  # fmt: skip
TEXTS = ("label", "universe", "unit", "measure")  # said of a variable as they are written
_CODED = ("code", "meaning", "labels", "list")  # which of them a column holds is seen from its cells
_HEADED = 3  # rows of which at least one has a usual heading
_CODE = r"-?[\w.]{1,12}"
_MEANT = re.compile(rf"\s*({_CODE})\s*(?:[=:–]|\s-\s|-(?=\s))\s*(.+?)\s*")
_QUOTED = re.compile(rf"""\s*({_CODE})\s+['"](.+)['"]\s*""")
_SPACED = re.compile(r"\s*(-?\d{1,6}|[A-Z])\s+(?!(?:to|bis|à|a|al|tot)\s+\d)([^\W\d].*?)\s*")  # and no range
_BETWEEN = re.compile(rf"[;|\n]|,(?=\s*{_CODE}\s*(?:[=:]|\s[-–]\s|,|$))")


def plain(cell: str) -> str:
    """A heading in small letters, without accents, signs and blanks at its ends."""
    apart = unicodedata.normalize("NFKD", cell).casefold()
    letters = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return " ".join(re.findall(r"[^\W_]+", letters))


def codes_in(written: str) -> list[tuple[str, str]]:
    """Codes and meanings of a cell such as '1 = male; 2 = female'; none of another. Several with meanings of their own
    may have a blank between. Between the named ends of a scale a code means itself."""
    parts = [part for part in _BETWEEN.split(written) if part.strip()]
    meant = [_MEANT.fullmatch(part) or _QUOTED.fullmatch(part) for part in parts]
    spaced = [_SPACED.fullmatch(part) for part in parts]
    if len(parts) > 1 and all(spaced) and len({found[2] for found in spaced if found}) == len(parts):
        meant = spaced
    bare = [not found and re.fullmatch(r"\s*-?\d{1,3}\s*", part) for found, part in zip(meant, parts, strict=True)]
    if not any(meant) or not all(found or alone for found, alone in zip(meant, bare, strict=True)):
        return []
    return [(found[1], found[2]) if found else (part.strip(),) * 2 for found, part in zip(meant, parts, strict=True)]


def of_tables(tables: Iterable[Sequence[Sequence[str]]], columns: Iterable[str]) -> Said:
    """What each of the tables says, whose rows are given, as `dictionary_file` takes it.

    raises : DataError where none says anything, and one has the names beside each other without saying what is below
    """
    known = {name.casefold() for name in columns}
    silent, across = True, False
    for rows in tables:
        if any(len(row) > 4 and row[0] in ("NAME", "VAL") for row in rows):
            yield from (said for row in rows for said in _of_acs(row))
            silent = False
            continue
        place = place_of_names(rows, known)
        if names := _row_of_names(rows, known, place):
            across = across or not (turned := _turned(rows, names))
            rows, place = turned, 0 if turned else None
        if place is not None:
            yield from _of_rows(rows, place, known)
            silent = False
    if silent and across:
        raise DataError(
            "has the names of the columns in one row. A dictionary has a row for each variable; or else the first cell "
            "of each row says what it holds, such as label or values. Are they the data themselves?"
        )


def place_of_names(rows: Sequence[Sequence[str]], known: set[str]) -> int | None:
    """The column whose cells are most names of columns; None where none has one below the first row."""
    found: dict[int, set[str]] = {}
    for row in rows[1:]:
        for place, cell in enumerate(row):
            if (name := cell.strip().casefold()) in known:
                found.setdefault(place, set()).add(name)
    return max(sorted(found), key=lambda place: len(found[place])) if found else None


def _row_of_names(rows: Sequence[Sequence[str]], known: set[str], place: int | None) -> Sequence[str]:
    """The row that holds names of columns beside each other, where no column has as many below each other."""
    found = max(rows, key=lambda row: names_in(row, known), default=())
    below = names_in([row[place] for row in rows if place < len(row)], known) if place is not None else 0
    return found if names_in(found, known) > max(below, 1) else ()


def names_in(cells: Iterable[str], known: set[str]) -> int:
    return len({cell.strip().casefold() for cell in cells} & known)


def _turned(rows: Sequence[Sequence[str]], names: Sequence[str]) -> list[list[str]]:
    """A row for each variable, where the first cells of the others say what these hold; else none."""
    others = [row for row in rows if row is not names and any(row)]
    heads = [row[0] for row in others]
    if len({*heads}) < len(heads) or _HEADED * len(headings(heads)) < len(heads) or not heads:
        return []
    return [list(cells) for cells in zip_longest(["name", *names[1:]], *others, fillvalue="")]


def _of_rows(rows: Sequence[Sequence[str]], place: int, known: set[str]) -> Said:
    """A row for each variable, or for each code of one; an empty name is that of the row above."""
    header = header_of(rows, place, known)
    below = rows[header + 1 :]
    held = _held(rows[header], below, place)
    name = ""
    for row in below:
        cells = {what: row[at].strip() for what, at in held.items() if at < len(row)}
        is_new = bool(row[place].strip()) if place < len(row) else False
        name = row[place].strip() if is_new else name
        if is_new:
            yield from ((name, what, cells[what]) for what in TEXTS if cells.get(what))
        if cells.get("code") and cells.get("meaning"):
            yield name, "code", cells["code"], cells["meaning"]
        yield from ((name, "code", *pair) for pair in codes_in(cells.get("labels", "")))
        yield from ((name, "missing", code) for code in re.split(r"[,;|\s]+", cells.get("missing", "")) if code)


def header_of(rows: Sequence[Sequence[str]], place: int, known: set[str]) -> int:
    """The row above the first name of a column that is most of a heading."""
    first = next(
        at for at, row in enumerate(rows) if place < len(row) and row[place].strip().casefold() in known and at
    )
    return max(range(first), key=lambda at: (len(headings(rows[at])), sum(map(bool, rows[at])), at))


def headings(row: Sequence[str]) -> dict[int, str]:
    """What the cells of a row head, by their places."""
    called = {heading: what for what, headings in HEADINGS.items() for heading in headings}
    said = [plain(cell.partition("::")[0]) for cell in row]  # of XLSForm: label::English
    return {at: called[heading] for at, heading in enumerate(said) if heading in called}


def _held(header: Sequence[str], below: Sequence[Sequence[str]], place: int) -> Mapping[str, int]:
    """Where what is: by the headings, and what holds codes by its cells."""
    headed = {at: what for at, what in headings(header).items() if at != place}
    held: dict[str, int] = {}
    for what in (*TEXTS, "missing"):  # of several labels the first of the list
        found = [at for at, each in headed.items() if each == what]
        order = HEADINGS[what]
        if found:
            held[what] = min(found, key=lambda at: order.index(plain(header[at].partition("::")[0])))
    coded = [at for at, what in headed.items() if what in _CODED]
    cells = {at: [cell for row in below if at < len(row) and (cell := row[at].strip())] for at in range(len(header))}
    lists = [at for at in coded if cells[at] and 2 * sum(bool(codes_in(cell)) for cell in cells[at]) > len(cells[at])]
    if lists:
        held["labels"] = lists[0]
    single = [at for at in coded if at not in lists and cells[at] and headed[at] != "list"]
    single.sort(key=lambda at: _length(cells[at]))
    if len(single) > 1 and ("label" in held or _have_several(below, place, single[0])):
        held["code"], held["meaning"] = single[:2]
    elif single and "label" not in held:
        held["label"] = single[-1]
    said = [at for at in cells if at != place and at not in held.values() and _are_sentences(cells[at])]
    if "label" not in held and said:
        held["label"] = max(said, key=lambda at: _length(cells[at]))
    return held


def _have_several(below: Sequence[Sequence[str]], place: int, code: int) -> bool:
    """Whether a variable has a code in a row beyond its first, as code lists have."""
    names = [row[place].strip() for row in below if max(place, code) < len(row) and row[code].strip()]
    return len({*names} - {""}) < len(names)


def _are_sentences(cells: Sequence[str]) -> bool:
    """Whether most have a blank, as what describes has, and codes and names of types have not; or are Chinese or
    Japanese, which have none."""
    return 2 * sum(re.search("[ \u3040-\u9fff]", cell) is not None for cell in cells) > len(cells)


def _length(cells: Sequence[str]) -> float:
    return sum(map(len, cells)) / len(cells)


def _of_acs(row: Sequence[str]) -> Said:
    if len(row) > 4 and row[0] == "NAME":
        yield row[1], "label", row[4]
    elif len(row) > 6 and row[0] == "VAL" and row[4] == row[5]:
        yield row[1], "code", row[4], row[6]
