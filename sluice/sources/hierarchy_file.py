"""Hierarchies in CSV files: one row a code, with its parent."""

import gzip
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from sluice.errors import DataError, did_you_mean
from sluice.sources.csv_separator import described_csv
from sluice.tabular.model.dimension import Dimension

_COLUMNS = ("code", "parent")


def read_dimension(name: str, paths: Sequence[Path]) -> Dimension:
    """The dimension of a hierarchy file, and of further files that group the same leaves otherwise.

    Each file has the columns `code` and `parent`; other columns, such as a level or a label, are ignored. All cells are
    text: 'NA' and '01' are codes. An empty parent marks the total, in a further file also an aggregate of its own.

    raises : DataError naming the file, and the line where there is one, for a code named twice, an orphan, a cycle,
             several totals, or a grouping with other leaves
    """
    files = [read_rows(path) for path in paths]
    try:
        return Dimension.of(name, *files)
    except DataError as error:
        raise DataError(f"{', '.join(map(str, paths))}: {error}") from None


def read_rows(path: Path) -> list[tuple[str, str]]:
    """(code, parent) of each row; refuses what shows in a single line."""
    rows: list[tuple[str, str]] = []
    for batch in described_csv(path).batches(_COLUMNS):
        rows += zip(batch["code"].tolist(), batch["parent"].tolist(), strict=True)
    first: dict[str, int] = {}
    for number, (code, _) in enumerate(rows):
        if not code:
            raise DataError(f"{path}, {_line(path, number)}: the code is empty")
        if code in first:
            raise DataError(f"{path}, {_line(path, number)}: names code '{code}' again; see {_line(path, first[code])}")
        first[code] = number
    for number, (code, parent) in enumerate(rows):
        if parent and parent not in first:
            raise DataError(
                f"{path}, {_line(path, number)}: the parent of code '{code}' must have a row of its own; '{parent}' "
                f"has none.{did_you_mean(parent, first.keys() - {code})}"
            )
    return rows


def _line(path: Path, row: int) -> str:
    """Where a row of the data stands; blank lines are skipped when a file is read."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig") as file:
        lines = (number for number, line in enumerate(file, start=1) if line.strip())
        return f"line {next(islice(lines, row + 1, None))}"
