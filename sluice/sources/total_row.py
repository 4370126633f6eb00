"""Last records that are none, as people leave them below a sheet: a total of those above, and notes below it. They are
remarked upon, and read as they stand."""

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from sluice.ground.remarks import Remarks
from sluice.ground.values import is_number, label

LOOKED_AT = 100_000  # records at most, above which none is looked for: such files nobody adds up by hand
TOTAL_WORDS = frozenset(
    word.strip().casefold()
    for word in """total|totals|grand total|overall|overall total|sum|sums|all|mean|means|average
    gesamt|insgesamt|zusammen|summe|summen|gesamtsumme|endsumme|mittelwert|durchschnitt|mittel
    total général|total general|totaux|ensemble|somme|moyenne|totale|totale generale|somma|media|medie
    suma|suma total|promedio|total geral|soma|média|totaal|eindtotaal|som|gemiddelde|alle
    totalt|i alt|sum i alt|summa|yhteensä|keskiarvo|ogółem|razem|średnia|celkem|součet|spolu|összesen|átlag
    ukupno|skupaj|kokku|kopā|viso|iš viso|σύνολο|итого|всего|сумма|общо|разом|усього|toplam|genel toplam
    合计|总计|合計|総計|합계|총계""".replace("\n", "|").split("|")
)  # fmt: skip
_MOST_NOTES = 20
_NEARLY = 1e-9  # of the sum of the sizes, for what adding in another order changes


def remark_on_totals(tables: Sequence[pa.Table], remarks: Remarks, decimal_mark: str = ".") -> None:
    """Remark on last records that have one cell, a text, of three or more; and on the one before them where its first
    text is a word for totals.

    A word alone would be a category of that name. So it stands nowhere above, or half of the record's numbers, at
    least, are the sum or mean of those above, up to the decimals that are written.

    tables : all records, of the same columns; at most `LOOKED_AT`
    cost   : O(1) for any other last record, else O(all cells)
    """
    records = sum(table.num_rows for table in tables)
    if records < 3 or not tables[-1].num_rows:
        return
    notes = [name for _, name in zip(range(_MOST_NOTES), _notes(tables), strict=False)]
    if notes and len(notes) < min(records - 1, _MOST_NOTES):
        records -= len(notes)
        remarks.add("notes", notes[-1], len(notes), records + 1)
    last = _record(tables, records - 1)
    words = [name for name, cell in last.items() if isinstance(cell, str) and cell.strip() and _number(cell) is None]
    name = next(iter(words), None)
    if name is None or _plain(last[name]) not in TOTAL_WORDS:
        return
    above = {other: [x for table in tables for x in table[other].to_pylist()][: records - 1] for other in last}
    agree = compared = 0
    for other, cell in last.items():
        if (found := _number(cell, decimal_mark)) is None:
            continue
        numbers = [x for each in above[other] if (x := _number(each, decimal_mark)) is not None]
        compared += len(numbers) > 0
        agree += len(numbers) > 0 and _adds_up(found, _decimals(cell, decimal_mark), numbers)
    if (agree and 2 * agree >= compared) or all(_plain(each) != _plain(last[name]) for each in above[name]):
        remarks.add("totals", name, agree, records)


def _record(tables: Sequence[pa.Table], place: int) -> dict[str, Any]:
    for table in tables:
        if place < table.num_rows:
            return {name: table[name][place].as_py() for name in table.column_names}
        place -= table.num_rows
    raise IndexError(place)


def _notes(tables: Sequence[pa.Table]) -> Iterator[str]:
    """From the last record on, as long as a record has one cell, a text: the column of that."""
    for place in reversed(range(sum(table.num_rows for table in tables))):
        cells = {name: cell for name, cell in _record(tables, place).items() if cell is not None and cell != ""}
        name, cell = next(iter(cells.items()), ("", None))
        if len(tables[0].column_names) < 3 or len(cells) != 1 or not isinstance(cell, str) or _number(cell) is not None:
            return
        yield name


def _adds_up(found: float, decimals: int, numbers: Sequence[float]) -> bool:
    """Whether it is the sum of these, or their mean."""
    total, sizes = math.fsum(numbers), math.fsum(map(abs, numbers))
    half = 0.5 * 10.0**-decimals + _NEARLY * abs(found)
    return abs(found - total) <= _NEARLY * sizes or abs(found - total / len(numbers)) <= half


def _plain(cell: object) -> str:
    return " ".join(str(cell).casefold().split()).strip(" :")


def _number(cell: object, decimal_mark: str = ".") -> float | None:
    """None for what is no number, and for one that nobody can add up."""
    if not isinstance(cell, str | int | float | Decimal) or isinstance(cell, bool):
        return None
    text = label(cell).strip()
    text = text.replace(",", ".") if decimal_mark == "," else text
    return float(text) if is_number(text) and abs(float(text)) < 1e300 else None


def _decimals(cell: object, decimal_mark: str) -> int:
    written = re.search(rf"[{decimal_mark}.]([0-9]+)$", label(cell).strip())
    return len(written[1]) if written else 0
