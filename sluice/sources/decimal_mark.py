"""The sign before the decimals of a text's numbers, by the numbers themselves; what is not certain is asked."""

import re
from collections.abc import Sequence
from typing import Literal

from sluice.ground.errors import DataError
from sluice.ground.values import MISSING_MARKS

_POINT, _COMMA = re.compile(r"[+-]?\d*\.\d+"), re.compile(r"[+-]?\d*,\d+")
_THOUSANDS = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(\{mark}\d{{3}})+") for mark in ",."}
_BETWEEN = "'’ \xa0\u202f\u2009"  # thousands, and never before decimals
_GROUPED = re.compile(rf"[+-]?[1-9]\d{{0,2}}(([.{_BETWEEN}]\d{{3}})+(,\d+)?|([,{_BETWEEN}]\d{{3}})+(\.\d+)?)")

_UNGROUPED = re.compile(r"[+-]?\d{1,3}([.,]\d+)?")


def decimal_of(
    rows: Sequence[Sequence[str]], header: Sequence[str] | None, separator: str, title: str, given: str | None
) -> tuple[Literal[".", ","], tuple[str, ...]]:
    """The decimal mark, and sentences on numbers that have thousands separators, or may have."""
    certain: dict[str, list[int]] = {",": [], ".": []}
    either: dict[str, list[int]] = {",": [], ".": []}
    grouped = []
    for place, column in enumerate(zip(*rows, strict=True)):
        cells = {cell for cell in column if cell and cell not in MISSING_MARKS}
        for mark, form in ((",", _COMMA), (".", _POINT)):
            with_mark = {cell for cell in cells if mark in cell}
            if with_mark and all(form.fullmatch(cell) or re.fullmatch(r"[+-]?\d+", cell) for cell in cells):
                only_thousands = all(_THOUSANDS[mark].fullmatch(cell) for cell in with_mark)
                plain_long = any(re.fullmatch(r"[+-]?\d{4,}", cell) for cell in cells)
                (either if only_thousands and not plain_long else certain)[mark].append(place)
        several = any(len(re.findall(f"[.,{_BETWEEN}]", cell)) > 1 or set(_BETWEEN) & set(cell) for cell in cells)
        if several and all(_GROUPED.fullmatch(cell) or _UNGROUPED.fullmatch(cell) for cell in cells):
            grouped.append(place)

    def named(places: Sequence[int]) -> str:
        return ", ".join(header[place] if header else f"column {place + 1}" for place in places[:5])

    if certain[","] and certain["."] and not given:
        raise DataError(
            f"{title}: numbers have a decimal comma in {named(certain[','])} and a decimal point in "
            f"{named(certain['.'])}. Name the decimal mark (--decimal); numbers with the other arrive as texts."
        )
    known = given or ("," if certain[","] else "." if certain["."] or separator == "," else "")
    unclear = either[","] or (either["."] if separator != "," else [])
    if not known and unclear:
        raise DataError(
            f"{title}: all numbers with a comma or point have three digits behind it, in {named(unclear)}. Are these "
            "decimals, or thousands? Name the decimal mark (--decimal)."
        )
    sign: Literal[".", ","] = "," if known == "," else "."
    grouped += either["." if sign == "," else ","]
    says: tuple[str, ...] = ()
    if sign == "." and either["."] and not (certain["."] or given):
        says += (
            f"all numbers with a point have three digits behind it, in {named(either['.'])}, and are read as decimals. "
            "If these are thousands, take the points out",
        )
    if grouped:
        says += (f"numbers with signs between their thousands are read as texts: {named(grouped)}. Take the signs out",)
    return sign, says
