"""Hierarchies in CSV files: one row a code with its parent, or one row a leaf with its ever wider groups (ARX).

All cells are text: 'NA' and '01' are codes. The separator is the sign that stands most often in the first line, unless
it is named; cells in quotes may hold it.
"""

import gzip
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from sluice.documents.document_faults import faults
from sluice.errors import DataError, DocumentError, did_you_mean
from sluice.generalization.builders.parents import hierarchy_of_parents
from sluice.generalization.hierarchy import Hierarchy
from sluice.sources.csv_separator import described_csv
from sluice.sources.csv_source import CsvSource
from sluice.tabular.model.dimension import Dimension

_COLUMNS = ("code", "parent")


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
    except ValidationError as error:
        raise DataError(f"{path}: {faults(error.errors(), Hierarchy)[0]}") from None


def read_rows(path: Path) -> list[tuple[str, str]]:
    """(code, parent) of each row; refuses what shows in a single line."""
    return _rows(described_csv(path))


def _rows(source: CsvSource) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for batch in source.batches(_COLUMNS):
        rows += zip(batch["code"].tolist(), batch["parent"].tolist(), strict=True)
    first = _places(source, [code for code, _ in rows], "code")
    for number, (code, parent) in enumerate(rows):
        if parent and parent not in first:
            raise DataError(
                f"{_line(source, number)}: the parent of code '{code}' must have a row of its own; '{parent}' "
                f"has none.{did_you_mean(parent, first.keys() - {code})}"
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
    """Leaf: its groups, level by level."""
    if len(lines[0]) < 2:
        raise DataError(f"{source.title}: a leaf needs a group; one cell a line was found. Is it another separator?")
    _places(source, [leaf for leaf, *_ in lines], "leaf")
    for number, line in enumerate(lines):
        if "" in line:
            raise DataError(f"{_line(source, number)}: the group of level {line.index('')} is empty")
    return {leaf: tuple(groups) for leaf, *groups in lines}


def _places(source: CsvSource, names: Sequence[str], what: str) -> dict[str, int]:
    """The row of each name. Raises DataError for an empty one, and for one that stands twice."""
    first: dict[str, int] = {}
    for number, name in enumerate(names):
        if not name:
            raise DataError(f"{_line(source, number)}: the {what} is empty")
        if name in first:
            again = _line(source, first[name]).removeprefix(f"{source.title}, ")
            raise DataError(f"{_line(source, number)}: names {what} '{name}' again; see {again}")
        first[name] = number
    return first


def _line(source: CsvSource, row: int) -> str:
    """The file, and where a row of the data stands in it; blank lines are skipped when a file is read."""
    (path,) = source.files
    encoding = "utf-8-sig" if source.encoding == "utf-8" else source.encoding
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding=encoding) as file:
        lines = (number for number, line in enumerate(file, start=1) if line.strip())
        return f"{path}, line {next(islice(lines, row + source.header, None))}"
