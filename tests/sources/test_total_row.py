"""A total below the records is told from a category of that name."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from sluice.ground.remarks import Remarks
from sluice.sources.total_row import remark_on_totals


def counted(columns: dict[str, list[Any]], decimal_mark: str = ".") -> list[tuple[str, int, int]]:
    """Column, numbers that add up and record of what is remarked, whatever the size of the tables."""
    table, found = pa.table(columns), []
    for size in (1, 2, table.num_rows):
        remarks = Remarks()
        tables = [table.slice(start, size) for start in range(0, table.num_rows, size)]
        remark_on_totals(tables, remarks, decimal_mark)
        found.append([(each.column, each.count, each.first) for each in remarks.all()])
    assert found[0] == found[1] == found[2]
    return found[0]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"t": ["A", "B", "Total"], "n": ["1", "2", "3"]}, [("t", 1, 3)]),
        ({"t": ["A", "B", " GRAND  total: "], "n": [1, 2, 3], "m": [0.1, 0.2, 0.15]}, [("t", 2, 3)]),
        ({"t": ["A", "B", "C", "Mean"], "n": ["1", "1", "2", "1.33"]}, [("t", 1, 4)]),  # as it is rounded there
        ({"t": ["A", "B", "C", "Mean"], "n": ["1", "1", "2", "1.34"], "m": [1, 2, 4, 9]}, [("t", 0, 4)]),
        ({"id": [1, 2, None], "t": ["A", "B", "Total général"], "n": [0.1, 0.2, 0.3]}, [("t", 1, 3)]),
        ({"t": ["A", "B", "Sum"], "n": [Decimal("0.10"), Decimal("0.20"), Decimal("0.30")]}, [("t", 1, 3)]),
        ({"t": ["all", "all", "all"], "n": [1, 2, 3]}, [("t", 1, 3)]),
        ({"t": ["all", "some", "all"], "n": [1, 2, 4]}, []),  # a category
        ({"t": ["A", "B", "Totnes"], "n": [1, 2, 3]}, []),
        ({"t": ["A", "B", "C"], "u": ["x", "y", "Total"], "n": [1, 2, 3]}, []),  # not its first text
        ({"t": ["A", "Total"], "n": [1, 1]}, []),
        ({"t": ["A", "Total", "B"], "n": [1, 1, 2]}, []),
        ({"n": [1, 2, 3]}, []),
        (
            {"t": ["A", "B", "Total", "Source: x"], "n": [1, 2, 3, None], "m": [1, 2, 3, None]},
            [("t", 1, 4), ("t", 2, 3)],
        ),
        ({"t": ["A", "B", "C", "x", "y"], "n": ["1", "2", "3", "", ""], "m": [1, 2, 4, None, None]}, [("t", 2, 4)]),
        ({"t": ["A", "B", "C", "x"], "n": [1, 2, 3, None], "m": [1, 2, 4, 1]}, []),
        ({"t": ["A", "B", "C", "x"], "n": [1, 2, 3, None]}, []),  # of two columns one may be missing
        ({"t": ["1", "2", "3", "7"], "n": [1, 2, 3, None], "m": [1, 2, 4, None]}, []),  # a number of a record
        ({"t": ["A", "B", "C"], "n": [None] * 3, "m": [None] * 3}, []),  # all have one cell
    ],
)
def test_what_is_a_total(columns: dict[str, list[Any]], expected: list[tuple[str, int, int]]) -> None:
    assert counted(columns) == expected


def test_numbers_with_a_decimal_comma() -> None:
    assert counted({"t": ["A", "B", "Summe"], "n": ["1,5", "2,25", "3,75"]}, ",") == [("t", 1, 3)]
