"""A-priori files of tau-ARGUS (.hst): what people ask of single cells, as rows of our own a-priori file.

A line has the codes of a cell and a word, some with numbers; several lines may speak of one cell. s: safe; u: unsafe;
p: not to be suppressed for the sake of others; m and ml: suppressed by an earlier run; c and w: a cost; pl: lower and
upper protection. Source: user's manual of tau-ARGUS 4.1, sections 4.2.1 and 5.6; m, ml and w are words that the program
writes and reads by itself.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from sluice.ground.errors import DataError
from sluice.ground.sentence import count_of
from sluice.sources.tabular_source import missing_file
from sluice.sources.text_encoding import encoding_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.suppression.manual_status import ManualStatus

Codes = tuple[str, ...]

_STATUS = {
    "s": ManualStatus.AS_THE_RULES_SAY,
    "p": ManualStatus.NOT_SECONDARY,
    "u": ManualStatus.SENSITIVE,
    "m": ManualStatus.SENSITIVE,
    "ml": ManualStatus.SENSITIVE,
}
_NUMBERS = {"c": ("cost",), "w": ("cost",), "pl": ("lower", "upper")}
_SMALLEST = "1e-6"  # of protection; rounded up to a unit of the last decimal
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


@dataclass
class CellRequests:
    """What is asked of cells, by their codes.

    rows    : columns of an a-priori file, without the codes
    safe    : cells that somebody calls safe; a rule that calls them sensitive holds all the same
    ignored : how many lines were, by what is wrong with them
    """

    rows: dict[Codes, dict[str, str]] = field(default_factory=dict)
    safe: set[Codes] = field(default_factory=set)
    ignored: Counter[str] = field(default_factory=Counter)

    def ask(self, cell: Codes, word: str, numbers: Sequence[str] = ()) -> None:
        """Add what one line asks; of two that contradict each other the one that protects counts."""
        row = self.rows.setdefault(cell, {"status": "", "lower": "", "upper": "", "cost": ""})
        if word == "s":
            self.safe.add(cell)
        if word in _STATUS and row["status"] != ManualStatus.SENSITIVE:
            row["status"] = _STATUS[word] or row["status"]
        if word in ("m", "ml") and not row["lower"]:
            row["lower"] = row["upper"] = _SMALLEST
        for column, number in zip(_NUMBERS.get(word, ()), numbers, strict=False):
            row[column] = number

    def of_cells(self, names: Sequence[str]) -> list[dict[str, str]]:
        """The rows with their codes, without those that ask for nothing."""
        return [
            dict(zip(names, cell, strict=True)) | row for cell, row in self.rows.items() if any(row.values())
        ]  # fmt: skip


def read_requests(
    path: Path,
    dimensions: Sequence[Dimension],
    separator: str,
    into: CellRequests,
    *,
    ignore_errors: bool = False,
    expand_trivial: bool = False,
) -> None:
    """Add what a file asks.

    ignore_errors  : lines of a cell that there is not are left out, and counted
    expand_trivial : what is asked of a cell is asked of all that have the same leaves, too
    raises         : DataError naming the line, in any case for a word that is not known
    """
    if not path.is_file():
        raise missing_file(path)
    try:
        text = path.read_bytes().decode(encoding_of(path)).lstrip("\ufeff")
    except UnicodeDecodeError:
        raise DataError(f"{path}: cannot be decoded; save it as UTF-8") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator[0], skipinitialspace=True))]
        codes, (word, *numbers) = cells[: len(dimensions)], [*cells[len(dimensions) :], ""]
        word, numbers = word.casefold(), [each.replace(",", ".") for each in numbers if each]
        where = f"{path}, line {number}"
        if word not in _STATUS and word not in _NUMBERS:
            raise DataError(
                f"{where}: '{word}' is not known; after {len(dimensions)} codes one of s, u, p, m, ml, c, w and pl is "
                f"expected, and the separator is {separator!r}"
            )
        if len(numbers) != len(_NUMBERS.get(word, ())) or not all(map(_NUMBER.fullmatch, numbers)):
            raise DataError(f"{where}: {word} takes {count_of(len(_NUMBERS.get(word, ())), 'number')} of 0 or more")
        found = [code or each.codes[0] for code, each in zip(codes, dimensions, strict=True)]
        strange = [(each.name, code) for code, each in zip(found, dimensions, strict=True) if code not in each.position]
        if strange and not ignore_errors:
            raise DataError(f"{where}: '{strange[0][0]}' has no code '{strange[0][1]}'")
        if strange:
            into.ignored[f"of a code that '{strange[0][0]}' does not have"] += 1
            continue
        alike = [_alike(each, code) if expand_trivial else [code] for code, each in zip(found, dimensions, strict=True)]
        for cell in product(*alike):
            into.ask(cell, word, numbers)


def _alike(dimension: Dimension, code: str) -> list[str]:
    """The codes of the same leaves: a group of one code, and that code."""
    alike, waiting = {dimension.position[code]}, [dimension.position[code]]
    while waiting:
        at = waiting.pop()
        for group, parts in dimension.sums:
            if len(parts) == 1 and at in (group, parts[0]):
                more = {group, parts[0]} - alike
                alike |= more
                waiting += more
    return [dimension.codes[at] for at in sorted(alike)]
