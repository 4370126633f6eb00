"""What statements of SAS, SPSS and Stata say of variables: their labels, those of their codes, and codes for missing.

Sources: SAS, PROC FORMAT and the statements LABEL and FORMAT; SPSS, VARIABLE LABELS, VALUE LABELS, MISSING VALUES and
VARIABLE LEVEL; Stata, `label variable`, `label define`, `label values`, `mvdecode`. Statements of other kinds, and
macros, are passed over.
"""

import re
from collections.abc import Iterator

_TEXT = r"""(?:`"(?:[^"]|"(?!'))*"'|"(?:[^"]|"")*"|'(?:[^']|'')*')"""
_CODE = rf"(?:{_TEXT}|-?[\w.]+)"
_SPAN = rf"{_CODE}(?:\s*-\s*<?{_CODE})?"  # of SAS; a range is no code
_PAIR = re.compile(rf"({_CODE})\s+({_TEXT})")
_STATA = r"\s*(?:cap(?:ture)?\s+|qui(?:etly)?\s+)*la(?:b(?:el)?)?\s+"
_SPSS = r"^\s*(?:add\s+)?(?:value|variable)\s+labels?\b|^\s*missing\s+values?\b"
_ASIDE = r"(?:\*\s*)?"  # as NLS hands out its labels, to be taken in by who wants them
_OF_SAS = re.compile(  # formats that SAS has itself
    r"\$?(char|f|best[dx]?|comma[x]?|dollar[x]?|z|percent|e|hex|binary|numx?|negparen|upcase|varying|quote|roman|ssn|words?|"
    r".*date|date.*|.*time.*|.*yy.*|.*mm.*|hour|day|month|year|monname|monyy|qtr|julian|week.*|downame|[bdnip]8601.*)",
    re.IGNORECASE,
)
_ANY_CASE = re.IGNORECASE | re.MULTILINE
Said = Iterator[tuple[str, ...]]


def of_program(text: str) -> Said | None:
    """What the program says, as `dictionary_file` takes it; None for a text that is no such program."""
    if re.search(
        r"^\s*proc\s+format\b|^\s*label\s+\w+\s*=\s*['\"]|^\s*value\s+\$?\w+\s*\n?.*=\s*['\"]", text, _ANY_CASE
    ):
        return _of_sas(text)
    if re.search(rf"^{_STATA}(?:de(?:f|fine)?|var(?:iable)?)\s", text, re.MULTILINE):
        return _of_stata(text)
    return _of_spss(text) if re.search(_SPSS, text, _ANY_CASE) else None


def _of_sas(text: str) -> Said:
    statements = _until(_without_remarks(text), ";")
    formats: dict[str, list[tuple[str, str]]] = {}
    for statement in statements:
        if found := re.match(r"\s*value\s+(\$?\w+)\s*(?:\([^)]*\))?", statement, re.IGNORECASE):
            formats[found[1].casefold()] = [
                (_bare(code), _bare(means))
                for codes, means in re.findall(
                    rf"({_SPAN}(?:\s*,\s*{_SPAN})*)\s*=\s*({_TEXT})", statement[found.end() :]
                )
                for code in re.findall(_SPAN, codes)
                if re.fullmatch(_CODE, code) and code.casefold() != "other"
            ]
    for statement in statements:
        if re.match(r"\s*label\b", statement, re.IGNORECASE):
            labels = re.findall(rf"([A-Za-z_]\w*)\s*=\s*({_TEXT})", statement)
            yield from ((name, "label", _bare(said)) for name, said in labels)
        elif re.match(r"\s*format\b", statement, re.IGNORECASE):
            for names, format_ in re.findall(r"((?:[A-Za-z_]\w*\s+)+)(\$?\w+?)\d*\.(?:\d+)?", statement.strip()[6:]):
                for name in names.split():
                    yield from ((name, "code", *pair) for pair in formats.get(format_.casefold(), ()))
                    if format_.casefold() not in formats and not _OF_SAS.fullmatch(format_):
                        yield name, "absent_list", format_


def _of_spss(text: str) -> Said:
    for statement in re.split(r"\.[ \t]*(?:\n|$)", _without_remarks(text)):
        if (found := _command(statement, rf"{_ASIDE}variable\s+labels?")) is not None:
            yield from ((name, "label", _bare(said)) for name, said in re.findall(rf"([\w.@#$]+)\s+({_TEXT})", found))
        elif (found := _command(statement, rf"{_ASIDE}(?:add\s+)?value\s+labels?")) is not None:
            for part in _until(found, "/"):
                if names := re.match(r"[\s,]*((?:[A-Za-z@#$][\w.@#$]*[\s,]+)+)", part):
                    pairs = [(_bare(code), _bare(means)) for code, means in _PAIR.findall(part[names.end() :])]
                    yield from ((name, "code", *pair) for name in _names(names[1]) for pair in pairs)
        elif (found := _command(statement, r"missing\s+values?")) is not None:
            for names_, codes in re.findall(r"([\w.@#$,\s]+?)\s*\(([^)]*)\)", found):
                ranges = re.findall(rf"({_CODE})\s+thru\s+({_CODE})", codes, re.IGNORECASE)
                listed = re.findall(_CODE, re.sub(rf"{_CODE}\s+thru\s+{_CODE}", " ", codes, flags=re.IGNORECASE))
                for name in _names(names_):
                    yield from ((name, "range", *ends) for ends in ranges)
                    yield from ((name, "missing", _bare(code)) for code in listed)
        elif (found := _command(statement, r"variable\s+levels?")) is not None:
            for names_, level in re.findall(r"([\w.@#$,\s]+?)\s*\((\w+)\)", found):
                yield from ((name, "measure", level.casefold()) for name in _names(names_))


def _of_stata(text: str) -> Said:
    text = re.sub(r"/\*.*?\*/", " ", re.sub(r"///[^\n]*\n", " ", text), flags=re.DOTALL)
    statements = _until(text, ";") if re.search(r"^\s*#delimit\s*;", text, re.MULTILINE) else text.splitlines()
    lists: dict[str, list[tuple[str, str]]] = {}
    for statement in statements:
        if found := re.match(rf"{_STATA}de(?:f(?:ine)?)?\s+(\w+)\s+", statement):
            pairs = _PAIR.findall(statement[found.end() :])
            lists.setdefault(found[1], []).extend((_bare(code), _bare(means)) for code, means in pairs)
    for statement in statements:
        if found := re.match(rf"{_STATA}var(?:iable)?\s+(\w+)\s+({_TEXT})", statement):
            yield found[1], "label", _bare(found[2])
        elif found := re.match(rf"{_STATA}val(?:ues?)?\s+((?:\w+\s+)+)(\w+)", statement):
            for name in found[1].split():
                yield from ((name, "code", *pair) for pair in lists.get(found[2], ()))
                if found[2] not in lists and found[2] != ".":
                    yield name, "absent_list", found[2]
        elif found := re.match(r"\s*mvdecode\s+([\w\s]+),\s*mv\(([^)]*)\)", statement):
            codes = re.findall(r"-?\d+", found[2].split("=")[0])
            yield from ((name, "missing", code) for name in found[1].split() for code in codes)


def _command(statement: str, name: str) -> str | None:
    """What follows the name of a command; None for another."""
    found = re.match(rf"\s*{name}\b", statement, re.IGNORECASE)
    return statement[found.end() :] if found else None


def _names(written: str) -> list[str]:
    return written.replace(",", " ").split()


def _without_remarks(text: str) -> str:
    """But those that hold formats, as NLS hands them out, to be taken in by who wants them."""
    formats = re.compile(r"\bproc\s+format\b|^\s*format\b", _ANY_CASE)
    return re.sub(r"/\*(.*?)\*/", lambda part: part[1] if formats.search(part[1]) else " ", text, flags=re.DOTALL)


def _until(text: str, sign: str) -> list[str]:
    """The parts between the signs that stand outside of quotes."""
    return [part for part in re.findall(rf"(?:{_TEXT}|[^{sign}\"']|[\"'])+", text) if part.strip()]


def _bare(text: str) -> str:
    mark = text[:1]
    if mark == "`":
        return text[2:-2]
    return text[1:-1].replace(mark * 2, mark) if mark in ("'", '"') and text[-1:] == mark and len(text) > 1 else text
