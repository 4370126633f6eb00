"""Date formats: how days are written at a source that does not write 2024-12-31, such as DD.MM.YYYY.

A format names day, month and year once each, with the same or another mark between them, or none. It is declared, never
guessed: 03/04/2024 is the third of April where DD/MM/YYYY is said, and the fourth of March where MM/DD/YYYY is. Years
have four digits, since nobody can tell 1924 from 2024 by two. What is read is a date like any other, and is published
as ISO 8601 writes it.
"""

import re
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

PATTERN = "^(DD|MM|MON|YYYY)[-./ ]?(DD|MM|MON|YYYY)[-./ ]?(DD|MM|MON|YYYY)$"
"""What a format looks like; each part occurs once, which `refuse_no_format` checks."""

USUAL = (
    "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "MM-DD-YYYY", "YYYY/MM/DD", "YYYY.MM.DD", "DD MON YYYY",
    "DD-MON-YYYY", "DDMONYYYY", "MON DD YYYY", "YYYYMMDD", "DDMMYYYY",
)  # fmt: skip
"""Those that are looked for where nobody declared one, in this order where several fit."""

_MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan|ene|gen", "feb|fév|fev", "mar|mär|mrz|mrt", "apr|avr|abr", "may|mai|mei|mag", "juin|jun|giu",
         "juil|jul|lug", "aug|aoû|aou|ago", "sep|set", "oct|okt|ott", "nov", "dec|dez|déc|dic"),
        start=1,
    )
    for name in names.split("|")
}  # fmt: skip
"""First letters, in English, French, German, Dutch, Italian and Spanish; all of one month are one number."""
_CLOCK = "(?:[ T]+(?P<clock>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6})?)?))?"


def refuse_no_format(name: str, written: str) -> None:
    """Raise ValueError for a format that does not name day, month and year once each."""
    parts = re.findall("DD|MM|MON|YYYY", written)
    named = {"MM" if part == "MON" else part for part in parts}
    if re.fullmatch(PATTERN, written) is None or named != {"DD", "MM", "YYYY"}:
        raise ValueError(
            f"'{name}': 'date_format' names DD, MM (or MON for Jan, Feb, ...) and YYYY once each, with a point, slash, "
            f"hyphen, blank or nothing between them, such as {', '.join(USUAL[:3])}; got '{written}'"
        )


def in_iso(texts: pa.Array, written: str) -> pa.Array:
    """The texts of this format as ISO 8601 has them, whether the calendar has such a day or not; null for others.

    texts   : trimmed, of any length; between marks, day and month may have one digit. A time of 24 hours may follow
    written : a format, such as DD.MM.YYYY
    cost    : O(n)
    """
    found = pc.extract_regex(texts, _pattern(written))
    month = pc.struct_field(found, "month")
    if "MON" in written:
        places = pc.index_in(pc.utf8_lower(month), pa.array([*_MONTHS]))
        month = pa.array(map(str, _MONTHS.values())).take(places)
    day, month = (pc.utf8_lpad(part, 2, "0") for part in (pc.struct_field(found, "day"), month))
    days = pc.binary_join_element_wise(pc.struct_field(found, "year"), month, day, "-")
    clock = pc.struct_field(found, "clock")
    clock = pc.replace_substring_regex(clock, "^([0-9]):", r"0\1:")
    return pc.if_else(pc.equal(clock, ""), days, pc.binary_join_element_wise(days, clock, "T"))


@cache
def _pattern(written: str) -> str:
    marked = len(re.findall("[-./ ]", written)) == 2
    digits = "[0-9]{1,2}" if marked else "[0-9]{2}"
    parts = {
        "DD": f"(?P<day>{digits})",
        "MM": f"(?P<month>{digits})",
        "MON": f"(?P<month>(?i:{'|'.join(_MONTHS)}))\\pL*[.]?",
        "YYYY": "(?P<year>[0-9]{4})",
        " ": "[., ]+",
    }
    pieces = re.findall("DD|MON|MM|YYYY|[-./ ]", written)
    return f"^{''.join(parts.get(piece, re.escape(piece)) for piece in pieces)}{_CLOCK}$"
