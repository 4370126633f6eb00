"""Hierarchies in CSV files: one row a code with its parent, or one row a leaf with its ever wider groups (ARX); and in
files of tau-ARGUS (.hrc): one line a code, behind as many @ as there are codes above it, the total not among them.

All cells are text: 'NA' and '01' are codes. The separator is the sign that stands most often in the first line, unless
it is named; cells in quotes may hold it.
"""

import gzip
import re
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path

from pydantic import ValidationError

from sluice.generalization.builders.category_groups import hierarchy_of_parents
from sluice.ground.document_faults import faults
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.visible_text import unseen
from sluice.sources.csv_source import CsvSource, described_csv
from sluice.sources.packed_file import refuse_large
from sluice.tabular.model.dimension import Dimension

_COLUMNS = ("code", "parent")
_LEAD = "@"  # of tau-ARGUS; its manual, section on hierarchical codes
_TOTAL = "Total"


def read_dimension(name: str, paths: Sequence[Path]) -> Dimension:
    """The dimension of a hierarchy file, and of further files that group the same leaves otherwise.

    Each file has the columns `code` and `parent`; other columns, such as a level or a label, are ignored. An empty
    parent marks the total, in a further file also an aggregate of its own.

    raises : DataError naming the file, and the line where there is one, for a code named twice, an orphan, a cycle,
             several totals, or a grouping with other leaves
    """
    files = [read_rows(path) for path in paths]
    try:
        return Dimension.of(name, *files)
    except DataError as error:
        raise DataError(f"{', '.join(map(str, paths))}: {error}") from None


def read_hierarchy(path: Path, separator: str | None = None, encoding: str = "utf-8") -> Hierarchy:
    """The hierarchy of a file in either form; one whose first line names the columns code and parent has parents.

    A branch of parents with fewer levels than others repeats its leaf.

    raises : DataError naming the file, and the line where there is one, for a file that is no such CSV, a leaf or code
             named twice, an empty group, an orphan, a cycle, and levels that are not nested
    cost   : O(rows x levels)
    """
    refuse_large(path)
    if path.suffix.lower() == ".hrc":
        return hierarchy_of_parents(path.stem, {code: parent for code, parent in _of_argus(path) if parent})
    try:
        source = described_csv(path, separator, encoding)
        lines = _cells(source)
        if not set(_COLUMNS) <= set(lines[0]):
            return Hierarchy(rows=_leaves(source.model_copy(update={"header": False}), lines))
        parents = {code: parent for code, parent in _rows(source) if parent}
        if not parents:
            raise DataError(f"{path}: no code has a parent")
        return hierarchy_of_parents(path.stem, parents)
    except DocumentError as error:
        raise DataError(f"{path}: {error}") from None
    except ValidationError as error:  # of the separator or the encoding; what is wrong in a line was found before
        raise DataError(f"{path}: {faults(error.errors(), CsvSource)[0]}") from None


def read_rows(path: Path) -> list[tuple[str, str]]:
    """(code, parent) of each row, in a .hrc file below 'Total'; refuses what shows in a single line."""
    refuse_large(path)
    if path.suffix.lower() == ".hrc":
        return _of_argus(path)
    return _rows(described_csv(path))


def _of_argus(path: Path) -> list[tuple[str, str]]:
    """(code, parent) of each line. Raises DataError naming the line."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").splitlines()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: must be text in UTF-8") from None
    above = [_TOTAL]
    first, rows = {_TOTAL: 0}, [(_TOTAL, "")]
    for number, line in enumerate(lines, start=1):
        code = line.strip().lstrip(_LEAD)
        depth, code = len(line.strip()) - len(code), code.strip()
        if not line.strip():
            continue
        if not code:
            raise DataError(f"{path}, line {number}: the code is empty")
        if code in first:
            where = f"see line {first[code]}" if first[code] else "the file names the codes below the total alone"
            raise DataError(f"{path}, line {number}: names code '{code}' again; {where}")
        if depth >= len(above):
            raise DataError(
                f"{path}, line {number}: '{code}' has {depth} {_LEAD} in front, and may have {len(above) - 1} at most: "
                "a level between it and the line above is left out"
            )
        first[code] = number
        rows.append((code, above[depth]))
        above[depth + 1 :] = [code]
    if len(rows) == 1:
        raise DataError(f"{path}: names no code")
    return rows


def _rows(source: CsvSource) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for batch in source.batches(_COLUMNS):
        rows += zip(batch["code"].tolist(), batch["parent"].tolist(), strict=True)
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
