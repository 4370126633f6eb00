"""Changes in whole units where a linear program answers a fraction."""

import numpy as np
import pytest

from sluice.tabular.suppression.whole_change import WholeBlock


def block(level: int, unit: int, room: float, rows: list[list[float]]) -> WholeBlock:
    """Unknown 0 shall move; rows: the sums."""
    entries = [[(row, line[cell]) for row, line in enumerate(rows) if line[cell]] for cell in range(len(rows[0]))]
    start = np.cumsum([0, *map(len, entries)], dtype=np.int32)
    row, sign = (np.array([entry[k] for cell in entries for entry in cell]) for k in (0, 1))
    ranges = np.full(len(rows[0]), room)
    return WholeBlock(
        level, unit, np.ones(len(rows[0])), ranges, ranges, start, row.astype(np.int32), sign, np.array([0])
    )


TRIANGLE = [[1.0, -1.0, -1.0, 0.0], [0.0, 1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]  # x0 = x1 + x2, x1 = x2, x3 = 0
HALF = np.array([1.0, 0.5, 0.5, 0.0])


def test_what_is_whole_is_taken_in_units() -> None:
    found = block(4, 2, 1.0, TRIANGLE).whole(HALF)
    assert found is not None
    assert found.tolist() == [4, 2, 2, 0]


@pytest.mark.parametrize("parts", [2, 3, 4, 6])
def test_a_fraction_of_the_unit_is_taken_where_it_is_whole(parts: int) -> None:
    """x0 = x1 + ... + xn, all of these equal."""
    equal = [[0.0, *np.eye(parts)[part] - np.eye(parts)[part + 1]] for part in range(parts - 1)]
    found = block(12, 12, 1.0, [[1.0, *[-1.0] * parts], *equal]).whole(np.array([1.0, *[1 / parts] * parts]))
    assert found is not None
    assert found.tolist() == [12, *[12 // parts] * parts]


@pytest.mark.parametrize("level", [12, 12 * 10**9])
def test_not_a_unit_beyond_the_bounds(level: int) -> None:
    within = block(level, 12, 1.0, [[1.0, -1.0]])
    assert within.whole(np.array([1.0, 1.0])) is not None
    assert within.whole(np.array([1.0, 1.0]) * (level + 1) / level) is None


def test_a_multiple_of_a_fraction_where_there_is_room() -> None:
    found = block(1, 1, 2.0, TRIANGLE).whole(HALF)
    assert found is not None
    assert found.tolist() == [2, 1, 1, 0]
    assert block(1, 1, 1.0, TRIANGLE).whole(HALF) is None


def test_what_breaks_a_sum_is_no_change() -> None:
    assert block(4, 2, 8.0, TRIANGLE).whole(np.array([1.0, 0.5, 1.0, 0.0])) is None


@pytest.mark.parametrize(("room", "expected"), [(2.0, [2, 1, 1, 0]), (1.0, None)])
def test_an_integer_program_decides(room: float, expected: list[int] | None) -> None:
    found = block(1, 1, room, TRIANGLE).by_program(HALF)
    assert (None if found is None else found.tolist()) == expected
