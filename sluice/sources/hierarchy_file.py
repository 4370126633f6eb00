"""Hierarchies in CSV files: one row a code with its parent, or one row a leaf with its ever wider groups (ARX); and in
files of tau-ARGUS (.hrc): one line a code, behind as many @ as there are codes above it, the total not among them.

Columns of parents may bear the names that sdcHierarchies (root, leaf) and SSBtools (mapsFrom, mapsTo) give them; and
sdcTable's table of levels has the @ in a column of their own, the total among the codes.

All cells are text: 'NA' and '01' are codes. The separator is the sign that stands most often in the first line, unless
it is named; cells in quotes may hold it.
"""

import gzip
import re
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path
from textwrap import dedent

from pydantic import ValidationError

from sluice.generalization.builders.category_groups import hierarchy_of_parents
from sluice.ground.document_faults import faults
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.values import MISSING_MARKS
from sluice.ground.visible_text import unseen
from sluice.sources.csv_source import CsvSource, document_csv
from sluice.sources.packed_file import refuse_large
from sluice.sources.text_encoding import likely_encoding
from sluice.tabular.model.dimension import TOTAL

_COLUMNS = ("code", "parent")
_OTHERS = (("child", "parent"), ("leaf", "root"), ("mapsFrom", "mapsTo"))  # a code, and what it is part of
_LEVELS = (("codes", "levels"), ("codes", "level"), ("code", "levels"), ("code", "level"), ("name", "level"))
_LEAD = "@"  # of tau-ARGUS; its manual, section on hierarchical codes
_LEADS = " \t.*#+>|"  # that stand for it in other files, where no line has one


def read_hierarchy(path: Path, separator: str | None = None, encoding: str | None = None) -> Hierarchy:
    """The hierarchy of a file in either form; one whose first line names the columns code and parent has parents.

    A branch of parents with fewer levels than others repeats its leaf.

    raises : DataError naming the file, and the line where there is one, for a file that is no such CSV, a leaf or code
             named twice, an empty group, an orphan, a cycle, and levels that are not nested
    cost   : O(rows x levels)
    """
    refuse_large(path)
    if path.suffix.lower() == ".hrc":
        return hierarchy_of_parents(path.stem, {code: parent for code, parent in _of_argus(path) if parent})
    _refuse_other_forms(path)
    try:
        source = document_csv(path, separator, encoding or likely_encoding(path))
        rows = _with_parents(source)
        if rows is None:
            return Hierarchy(rows=_leaves(source.model_copy(update={"header": False}), _cells(source)))
        parents = {code: parent for code, parent in rows if parent}
        if not parents:
            raise DataError(f"{path}: no code has a parent")
        return hierarchy_of_parents(path.stem, parents)
    except DocumentError as error:
        raise DataError(f"{path}: {error}") from None
    except ValidationError as error:  # of the separator or the encoding; what is wrong in a line was found before
        raise DataError(f"{path}: {faults(error.errors(), CsvSource)[0]}") from None


def read_rows(path: Path, lead: str = "") -> list[tuple[str, str]]:
    """(code, parent) of each row; refuses what shows in a single line.

    What tells no total (.hrc, and leaves with several widest groups) is below 'Total'.

    lead : what stands before a code of a file of tau-ARGUS for each level, where that is said (<HIERLEADSTRING>);
           blanks after it belong to no code
    """
    refuse_large(path)
    if lead or path.suffix.lower() == ".hrc":
        return _of_argus(path, lead)
    _refuse_other_forms(path)
    source = document_csv(path, encoding=likely_encoding(path))
    rows = _with_parents(source)
    if rows is not None:
        return rows
    lines = _cells(source)
    if {*lines[0]} & {*_COLUMNS} or (len(lines[0]) < 3 and not any({*line} & {TOTAL, "*"} for line in lines)):
        return _rows(source, *_COLUMNS)  # refuses: its columns bear other names, or another sign separates them
    return _of_groups(path, _leaves(source.model_copy(update={"header": False}), lines))


def _refuse_other_forms(path: Path) -> None:
    if path.suffix.lower() in (".json", ".yaml", ".yml"):
        raise DataError(
            f"{path}: must be a CSV file, with the columns code and parent or a leaf and its groups in each row, or a "
            f"file of tau-ARGUS (.hrc); got {path.suffix}"
        )


def _of_groups(path: Path, leaves: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """(code, parent) of leaves with their groups. Raises DataError for a leaf that is a group of others."""
    tops = {groups[-1] for groups in leaves.values()}
    total = tops.pop() if len(tops) == 1 else TOTAL
    parents: dict[str, str] = {total: ""}
    for leaf, groups in leaves.items():
        chain = [leaf, *groups, *([] if groups[-1] == total else [total])]
        for code, parent in pairwise(chain):
            if code != parent and parents.setdefault(code, parent) != parent:
                raise DataError(f"{path}: '{code}' is a leaf or group in two places; give each a code of its own")
    return list(parents.items())


def _with_parents(source: CsvSource) -> list[tuple[str, str]] | None:
    """(code, parent) of a file whose first line names columns of codes and parents or levels; None of another."""
    lines = _cells(source)
    given = {name.casefold(): name for name in lines[0]}
    if set(_COLUMNS) <= set(lines[0]):
        return _rows(source, *_COLUMNS)
    for code, parent in (_COLUMNS, *_OTHERS):
        if {code.casefold(), parent.casefold()} <= given.keys():
            return _rows(source, given[code.casefold()], given[parent.casefold()], given.get("sign"))
    for code, level in _LEVELS:
        if {code, level} <= given.keys():
            at, beside = lines[0].index(given[level]), lines[0].index(given[code])
            numbered = enumerate((line[at], line[beside]) for line in lines[1:])
            return _nested(source.title, [(_line(source, n), sign, name) for n, (sign, name) in numbered], told=True)
    if len(lines[0]) == 2 and all(line[0] == _LEAD * len(line[0]) != "" for line in lines):
        bare = source.model_copy(update={"header": False})
        return _nested(source.title, [(_line(bare, n), sign, name) for n, (sign, name) in enumerate(lines)], told=True)
    return None


def _of_argus(path: Path, said: str = "") -> list[tuple[str, str]]:
    """(code, parent) of each line. Raises DataError naming the line.

    said : what stands before a code for each level; found where nothing is said
    """
    try:
        lines = path.read_bytes().decode(likely_encoding(path)).lstrip("\ufeff").splitlines()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: cannot be decoded; save it as UTF-8") from None
    written = [(f"{path}, line {at}", line.rstrip()) for at, line in enumerate(lines, start=1) if line.strip()]
    if said:
        return _nested(str(path), [(place, *_led(line.strip(), said)) for place, line in written])
    bare = dedent("\n".join(line for _, line in written)).split("\n")
    inside = [(place, line) for (place, _), line in zip(written, bare, strict=False)]
    lead, width = _lead(bare)
    cut = [(place, line[: len(line) - len(line.lstrip(lead))], line.lstrip(lead)) for place, line in inside]
    for place, signs, code in cut:
        if code[:1].isspace() or (signs.isspace() and lead.strip()):
            raise DataError(f"{place}: it has blanks in front, and other lines other signs; use one for all levels")
        if len(signs) % width:
            raise DataError(f"{place}: it has blanks in front that are not a whole number of levels")
    return _nested(str(path), [(place, _LEAD * (len(signs) // width), code) for place, signs, code in cut])


def _led(line: str, lead: str) -> tuple[str, str]:
    """The signs of the level, and the code."""
    depth = 0
    while line.startswith(lead):
        line, depth = line[len(lead) :], depth + 1
    return _LEAD * depth, line.strip()


def _lead(lines: Sequence[str]) -> tuple[str, int]:
    """The sign that stands before codes below others, and how many of it for a level.

    It is @ wherever a line begins with one; else what some lines begin with, and the first one does not.
    """
    if any(line.lstrip().startswith(_LEAD) for line in lines):
        return f"{_LEAD} \t", 1
    for lead in _LEADS:
        found = [len(line) - len(line.lstrip(lead)) for line in lines]
        if any(found) and not found[0]:
            return lead, min(filter(None, found)) if lead == " " else 1
    return _LEAD, 1


def _nested(title: str, lines: Sequence[tuple[str, str, str]], told: bool = False) -> list[tuple[str, str]]:
    """(code, parent) of lines (place, signs of the level, code), each below the last line with fewer signs.

    told : the first line is the total; else it is where it is called so and no other line has as few signs
    """
    if not lines:
        raise DataError(f"{title}: names no code")
    depths = [signs.count(_LEAD) for _, signs, _ in lines]
    told = told or (len(lines) > 1 and lines[0][2] == TOTAL and depths[0] < min(depths[1:]))
    least = depths[0]
    above, first, rows = [lines[0][2] if told else TOTAL], {}, []
    if told:
        least, first = least + 1, {lines[0][2]: lines[0][0]}
    rows = [(above[0], "")]
    first.setdefault(above[0], "")
    for (place, _, code), depth in list(zip(lines, depths, strict=True))[told:]:
        if not code:
            raise DataError(f"{place}: the code is empty")
        if code in first:
            again = first[code].rpartition(", ")[2]
            where = f"see {again}" if again else "the file names the codes below the total alone"
            raise DataError(f"{place}: names code '{code}' again; {where}")
        if depth < least:
            raise DataError(f"{place}: '{code}' has {depth} {_LEAD} in front, as few as the total; only one code may")
        if depth - least >= len(above):
            raise DataError(
                f"{place}: '{code}' has {depth} {_LEAD} in front, and may have {least + len(above) - 1} at most: "
                "a level between it and the line above is left out"
            )
        first[code] = place
        rows.append((code, above[depth - least]))
        above[depth - least + 1 :] = [code]
    if len(rows) == 1:
        raise DataError(f"{title}: names no code")
    return rows


def _rows(source: CsvSource, codes: str, parents: str, sign: str | None = None) -> list[tuple[str, str]]:
    """(code, parent) of each row. A code that is its own parent, or a single parent without a row where no row has an
    empty one, is the total."""
    rows: list[tuple[str, str]] = []
    for batch in source.batches([codes, parents, *([] if sign is None else [sign])]):
        rows += zip(batch[codes].tolist(), batch[parents].tolist(), strict=True)
        if sign is not None and (strange := sorted(set(batch[sign]) - {"1", "+", ""})):
            raise DataError(f"{source.title}: '{sign}' must be 1, for codes add up; got '{strange[0]}'")
    if (codes, parents) != _COLUMNS:
        rows = [(code, "" if code == parent else parent) for code, parent in rows]
    above = {parent for _, parent in rows} - {code for code, _ in rows}
    if len(above) == 1 and "" not in above:
        total = above.pop()
        if total in MISSING_MARKS and [parent for _, parent in rows].count(total) == 1:
            rows = [(code, "" if parent == total else parent) for code, parent in rows]  # R writes NA for no parent
        else:
            rows.append((total, ""))
    first: dict[str, int] = {}
    for number, (code, _) in enumerate(rows):
        if not code:
            raise DataError(f"{_line(source, number)}: the code is empty")
        if code in first:
            again = _place(source, first[code])
            raise DataError(f"{_line(source, number)}: names code '{code}' again; see {again}")
        first[code] = number
    for number, (code, parent) in enumerate(rows):
        if parent and parent not in first:
            raise DataError(
                f"{_line(source, number)}: the parent of code '{code}' must have a row of its own; '{parent}' "
                "has none.",
                came=parent,
                allowed=first.keys() - {code},
            )
    return rows


def _cells(source: CsvSource) -> list[tuple[str, ...]]:
    """Every line, the first one too. Raises DataError as the source does."""
    lines = source.model_copy(update={"header": False})
    return [
        tuple(line)
        for batch in lines.batches(lines.column_names())
        for line in batch.to_numpy(dtype=object, na_value="").tolist()
    ]


def _leaves(source: CsvSource, lines: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Leaf: its groups, level by level. An error names no cell: the file may turn out to be one of records."""
    if len(lines[0]) < 2:
        raise DataError(f"{source.title}: a leaf needs a group; one cell a line was found. Is it another separator?")
    first: dict[str, int] = {}
    held: dict[tuple[int, str], int] = {}  # the line that first has a group of a level
    for number, (leaf, *groups) in enumerate(lines):
        if "" in (leaf, *groups):
            what = f"group of level {groups.index('') + 1}" if leaf else "leaf"
            raise DataError(f"{_line(source, number)}: the {what} is empty")
        if character := unseen(" ".join((leaf, *groups)), one_line=True):
            raise DataError(f"{_line(source, number)}: holds {character}, which nobody sees or which breaks the line")
        if leaf in first:
            raise DataError(f"{_line(source, number)}: names the leaf of {_place(source, first[leaf])} again")
        first[leaf] = number
        for level, (group, wider) in enumerate(pairwise(groups), start=1):
            other = held.setdefault((level, group), number)
            if lines[other][level + 1] != wider:
                raise DataError(
                    f"{_line(source, number)}: its group of level {level} lies in another group of level {level + 1} "
                    f"than in {_place(source, other)}"
                )
    return {leaf: tuple(groups) for leaf, *groups in lines}


def _line(source: CsvSource, row: int) -> str:
    """The file, and where a row of the data stands in it; blank lines are skipped when a file is read."""
    (path,) = source.files
    encoding = "utf-8-sig" if source.encoding == "utf-8" else source.encoding
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding=encoding) as file:
        lines = (number for number, line in enumerate(file, start=1) if line.strip())
        return f"{path}, line {next(islice(lines, row + source.header, None))}"


def _place(source: CsvSource, row: int) -> str:
    """The same without the file."""
    return _line(source, row).removeprefix(f"{source.title}, ")


def hierarchy_csv(hierarchy: Hierarchy) -> str:
    """The file that `read_hierarchy` reads back: one leaf a row, ';' between its groups (the form of ARX)."""
    lines = (";".join(map(_cell, (leaf, *groups))) for leaf, groups in hierarchy.rows.items())
    return "".join(f"{line}\n" for line in lines)


def _cell(text: str) -> str:
    """In quotes where it holds what may be taken for a separator."""
    return '"' + text.replace('"', '""') + '"' if re.search('[",;|]', text) else text
