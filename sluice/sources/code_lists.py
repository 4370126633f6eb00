"""Code lists that stand apart in a data dictionary, by the names under which its variables refer to them.

A list is a part of a table whose heading has a list's name, code and label (the sheet `choices` of an XLSForm:
list_name, name, label), rows below a line that holds its name alone, or a sheet that is called so. A variable names its
list in a column with such a heading or behind `select_one` and `select_multiple`, or is called so.
Source: XLSForm specification (ODK), sheets survey and choices.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from sluice.sources.dictionary_table import Said, codes_in, header_of, headings, names_in, place_of_names, plain

Rows = Sequence[Sequence[str]]
Lists = Mapping[str, Sequence[tuple[str, str]]]
_ASKED = re.compile(r"(?:select[_ ](?:one|multiple)(?:_from_file)?|rank)\s+(\S+).*")
_NO_LISTS = ("none", "n/a", "na", "numeric", "text", "free text", "string", "integer", "number", "date", "open", "no")
_LONGEST = 60  # signs of a list's name
_TENTH = 10  # of a list so few codes are names of columns by chance


def without_code_lists(tables: Iterable[tuple[str, Rows]], columns: Iterable[str]) -> tuple[Lists, list[Rows]]:
    """The lists by their names in small letters, and the tables without them. tables : each with its title"""
    known = {name.casefold() for name in columns}
    apart = [
        (title, [list(part) for filled, part in groupby(rows, lambda row: any(map(str.strip, row))) if filled])
        for title, rows in tables
    ]
    most = max((_described(part, known) for _, parts in apart for part in parts), default=0)
    lists: dict[str, list[tuple[str, str]]] = {}
    others: list[Rows] = []
    for title, parts in apart:
        kept: list[Sequence[str]] = []
        for part in parts:
            if (held := _held(part[0])) and _TENTH * _described(part, known) < max(most, 1):
                found = _of_several(part[1:], *held)
            else:
                found = _of_one(title if len(parts) == 1 else "", part, known)
            for name, *pair in found:
                lists.setdefault(name.casefold(), []).append((pair[0], pair[1]))
            kept += [] if found else part
        others += [kept] if kept else []
    return lists, others


def of_code_lists(lists: Lists, tables: Iterable[Rows], columns: Sequence[str]) -> Said:
    """The codes of the variables that refer to these lists, and the names of lists that are not there."""
    known = {name.casefold() for name in columns}
    referring = {name.casefold(): list_of(name, name, lists) for name in columns}
    for rows in tables:
        if (place := place_of_names(rows, known)) is None:
            continue
        header = header_of(rows, place, known)
        named = [at for at, what in headings(rows[header]).items() if what == "list" and at != place]
        for row in rows[header + 1 :]:
            cells = [cell.strip() for cell in row]
            if place < len(row) and (name := cells[place]).casefold() in known:
                asked = [(found[1], True) for cell in cells if (found := _ASKED.fullmatch(cell))]
                told = [(cells[at], True) for at in named if at < len(row)]
                others = [(cell, False) for at, cell in enumerate(cells) if at != place]
                found_ = (list_of(name, called, lists, sure) for called, sure in (*asked, *told, *others))
                referring[name.casefold()] = next(filter(None, found_), []) or referring[name.casefold()]
    for said in referring.values():
        yield from said


def list_of(name: str, called: str, lists: Lists, is_list: bool = False) -> list[tuple[str, ...]]:
    """What is said of a variable that may refer to a list; is_list : where it is none of these, it is not there."""
    if not 0 < len(called) <= _LONGEST or not any(map(str.isalpha, called)):
        return []
    if (pairs := lists.get(called.casefold())) is not None:
        return [(name, "code", *pair) for pair in pairs]
    absent = is_list and called.casefold() not in _NO_LISTS and not codes_in(called)
    return [(name, "absent_list", called)] if absent else []


def _described(part: Rows, known: set[str]) -> int:
    """How many columns of the file the part names below each other, but as names of lists."""
    aside = {at for at, what in headings(part[0]).items() if what == "list"}
    return max((names_in(cells, known) for at, cells in enumerate(_columns(part[1:])) if at not in aside), default=0)


def _columns(rows: Rows) -> list[list[str]]:
    return [[row[at] for row in rows if at < len(row)] for at in range(max(map(len, rows), default=0))]


def _held(heading: Sequence[str]) -> tuple[int, int, int] | None:
    """Where a heading has a list's name, a code and what it means; None where it has not all of them."""
    found = {what: at for at, what in reversed(headings(heading).items())}
    of_a_form = "list" in found and plain(heading[found["list"]]) == "list name"
    code = found.get("code", found.get("name") if of_a_form else None)
    meaning = found.get("meaning", found.get("label"))
    return (found["list"], code, meaning) if "list" in found and code is not None and meaning is not None else None


def _of_several(rows: Rows, place: int, code: int, meaning: int) -> list[tuple[str, str, str]]:
    """Name, code and meaning; an empty name is that of the row above."""
    name, found = "", []
    for row in rows:
        cells = [*map(str.strip, row), *[""] * (max(place, code, meaning) + 1 - len(row))]
        name = cells[place] or name
        if name and cells[code] and cells[meaning]:
            found.append((name, cells[code], cells[meaning]))
    return found


def _of_one(title: str, part: Rows, known: set[str]) -> list[tuple[str, str, str]]:
    """The same of rows that are all codes and meanings, with a heading or none, below a list's name or in its sheet."""
    alone = [cell for cell in part[0] if cell.strip()]
    name, rows = (alone[0].strip(), part[1:]) if len(alone) == 1 else (title, part)
    if not name or not rows or any(names_in(row, known) for row in rows):
        return []
    held = {what: at for at, what in reversed(headings(rows[0]).items())}
    code, meaning = held.get("code", held.get("name")), held.get("meaning", held.get("label"))
    if code is not None and meaning is not None:
        named = [(name, row[code], row[meaning]) for row in rows[1:] if max(code, meaning) < len(row)]
        return _of_several(named, 0, 1, 2)
    filled = [[cell for cell in row if cell.strip()] for row in rows]
    return _of_several([(name, *row[:2]) for row in filled], 0, 1, 2) if all(len(row) > 1 for row in filled) else []
