"""Problems of suppression in the JJ format: cells with their bounds and protection, and the equations between them.

A line 0; the number of cells; a line each with number, value, cost, status (s safe, z safe in any case, u unsafe, m
suppressed for others), the bounds that everybody knows, lower, upper and sliding protection; the number of equations;
a line each with the right side, the number of terms, a colon, and cell (sign) for each. Source: user's manual of
tau-ARGUS 4.1, section on the JJ format.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sluice.ground.errors import DataError
from sluice.sources.packed_file import refuse_large
from sluice.sources.tabular_source import missing_file
from sluice.tabular.model.cells import Floats

_STATUSES = "szum"
_TERM = re.compile(r"(\d+)\s*\(\s*([+-]?1)\s*\)")


@dataclass(frozen=True, eq=False)
class JjProblem:
    """c cells and e equations.

    names        : shape (c,), the number of each cell in the file
    value        : shape (c,), of all, suppressed ones too
    status       : shape (c,), one of s, z, u, m
    low, high    : shape (c,), the bounds that everybody knows
    lower, upper : shape (c,), how far below and above its value a cell that is u must be able to lie
    sliding      : shape (c,), how wide the interval of such a cell must be
    equations    : shape (e, c), 1 and -1, each of the sum 0
    decimals     : of the values
    """

    names: tuple[str, ...]
    value: Floats
    status: NDArray[np.str_]
    low: Floats
    high: Floats
    lower: Floats
    upper: Floats
    sliding: Floats
    equations: csr_array
    decimals: int


def read_jj(path: Path) -> JjProblem:
    """Raises DataError naming the line."""
    if not path.is_file():
        raise missing_file(path)
    refuse_large(path)
    lines = _lines(path)
    _ = _whole(path, next(lines, (0, "")))
    count = _whole(path, next(lines, (0, "")))
    names: dict[str, int] = {}
    rows, status, decimals = list[list[float]](), list[str](), 0
    for number, line in (next(lines, (0, "")) for _ in range(count)):
        name, *cells = line.split() or [""]
        try:
            value, _, word, *others = cells
            numbers = [float(each) for each in (value, *others)]
        except ValueError:
            value, word, numbers = "", "", []
        if len(word) != 1 or word not in _STATUSES or len(numbers) != 6 or name in names:
            raise _wrong(path, number, "a cell: number, value, cost, s, z, u or m, two bounds and three protections")
        names[name] = len(names)
        rows.append(numbers)
        status.append(word)
        decimals = max(decimals, len(value.partition(".")[2]))
    places: list[tuple[int, int, int]] = []
    equations = _whole(path, next(lines, (0, "")))
    for row in range(equations):
        number, line = next(lines, (0, ""))
        head, colon, terms = line.partition(":")
        found = _TERM.findall(terms)
        said = head.split()
        if not colon or len(said) != 2 or said[0].strip("0.") or said[1] != str(len(found)):
            raise _wrong(path, number, "an equation: 0, the number of its terms, a colon, and cell (1) or cell (-1)")
        if strange := next((cell for cell, _ in found if cell not in names), None):
            raise DataError(f"{path}: line {number}: names the cell {strange}, which there is not")
        places += [(row, names[cell], int(sign)) for cell, sign in found]
    table = np.array(rows).reshape(-1, 6)
    at = np.array(places, dtype=np.int64).reshape(-1, 3)
    matrix = csr_array((at[:, 2].astype(np.float64), (at[:, 0], at[:, 1])), shape=(equations, len(names)))
    values, low, high, lower, upper, sliding = table.T
    return JjProblem(tuple(names), values, np.array(status), low, high, lower, upper, sliding, matrix, decimals)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8", errors="replace") as opened:
        for number, line in enumerate(opened, start=1):
            if line.strip():
                yield number, line.strip()


def _whole(path: Path, line: tuple[int, str]) -> int:
    number, text = line
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise _wrong(path, number, "a whole number: 0, then how many cells, or equations, follow")
    return int(text)


def _wrong(path: Path, number: int, wanted: str) -> DataError:
    where = f"line {number}" if number else "its end"
    return DataError(f"{path}: {where}: is not a problem in the JJ format, which has here {wanted}")
