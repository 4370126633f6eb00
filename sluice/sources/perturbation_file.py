"""Perturbation tables as R's package ptable writes them (pt_export, for tau-ARGUS or SAS), and as tau-ARGUS reads them.

A line a count i and a result j: the probability p, the noise v = j - i, and where the cell keys end that give it
(p_int_ub; p_ij_ub in older files), from 0 to 1. The last count serves all larger ones. Source: the help page of
pt_export in ptable 1.0.0 and the files that come with tau-ARGUS 4.2.
"""

from collections.abc import Sequence
from pathlib import Path

from sluice.ground.errors import DataError
from sluice.sources.tabular_source import missing_file
from sluice.sources.text_encoding import encoding_of
from sluice.tabular.alternatives.perturbation_table import NoiseInterval, PerturbationTable

_MOST_BYTES = 16 << 20
_ENDS = ("p_int_ub", "p_ij_ub")
_FOR_COUNTS = ("", "all")  # what the column `type` may say of a table for counts


def read_intervals(path: Path) -> list[NoiseInterval]:
    """What a file says; `PerturbationTable.of_intervals` makes the table of it.

    raises : DataError naming file and line
    """
    if not path.is_file():
        raise missing_file(path)
    content = path.read_bytes()
    if len(content) > _MOST_BYTES or b"\0" in content:
        raise DataError(f"{path}: is not a perturbation table, but no text or too long")
    lines = [line for line in content.decode(encoding_of(path)).lstrip("\ufeff").splitlines() if line.strip()]
    if not lines:
        raise DataError(f"{path}: is empty")
    separator = next((sign for sign in (";", "\t", ",") if sign in lines[0]), None)
    header = _cells(lines[0], separator)
    end = next((name for name in _ENDS if name in header), "")
    if not {"i", "j", "p", "v"} <= {*header} or not end:
        raise DataError(
            f"{path}: a perturbation table has the columns i, j, p, v and p_int_ub in its first line, as pt_export of "
            f"ptable writes them; got {', '.join(header)}"
        )
    found = []
    for number, line in enumerate(lines[1:], start=2):
        cells = dict(zip(header, _cells(line, separator), strict=False))
        if cells.get("type", "") not in _FOR_COUNTS:
            raise DataError(
                f"{path}, line {number}: is of a table for magnitudes (type '{cells['type']}'), not for counts"
            )
        try:
            count, result, noise = (int(float(cells[name])) for name in ("i", "j", "v"))
            made = NoiseInterval(count, noise, float(cells["p"]), float(cells[end]))
        except (KeyError, ValueError, OverflowError):
            raise DataError(f"{path}, line {number}: i, j, v must be whole numbers, p and {end} numbers") from None
        if result != count + noise:
            raise DataError(f"{path}, line {number}: j must be i + v; got {result}, {count} and {noise}")
        if made.probability:
            found.append(made)
    return found


def p_table_text(table: PerturbationTable) -> str:
    """The file that ptable's pt_export writes for tau-ARGUS, and `read_intervals` reads."""
    lines = ["i;j;p;v;p_int_ub"]
    lines += [
        f"{each.original};{each.original + each.noise};{each.probability:.12g};{each.noise};{each.upper:.12g}"
        for each in table.intervals()
    ]
    return "\n".join(lines) + "\n"


def _cells(line: str, separator: str | None) -> Sequence[str]:
    return [cell.strip().strip('"') for cell in line.split(separator)]
