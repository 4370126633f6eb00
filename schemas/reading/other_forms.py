"""Numbers and dates that nobody reads as such: 12 %, 70 kg, (1,200), 90+, 12_, 31.12.2024, 20241231.

A column of them arrives as text, by which its role is guessed wrongly. So a draft says what it holds. A form counts
only where every value has one, or is written as it should be; a code such as 12A is neither.
"""

import re
from collections.abc import Iterable

from sluice.ground.values import DATE, NUMBER

_ENOUGH = 10  # different values of digits alone, before they are taken for dates
_MONTHS = (
    "jan|feb|mar|apr|mai|may|jun|jul|aug|sep|oct|nov|dec|okt|dez|janv|fev|fév|avr|juin|juil|aou|aoû|déc|ene|abr|ago|dic|"
    "gen|mag|giu|lug|set|ott|mär|mrt|mei"
)
_MONTH = rf"({_MONTHS})[a-zäéûç]*\.?"
_DAY, _NUMBER_OF_MONTH, _YEAR = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])", "([12][0-9]{3}|9999|[0-9]{2})"
_EITHER = f"({_DAY}[./-]{_NUMBER_OF_MONTH}|{_NUMBER_OF_MONTH}[./-]{_DAY})"
_NONE = "0000-00-00|00[./-]00[./-]0000|[+-]?[0-9]{5,6}-[0-9]{2}-[0-9]{2}|[0-9]{4,6}-[0-9]{2}-[0-9]{2} BC"
"""A day that no calendar has, or none that is read: as databases write it."""
_CLOCK = r"([ T,]+[0-2]?[0-9]:[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?( ?[ap]\.?m\.?)?( ?[a-z]{3,4}|[+-][0-9:]+)?)?"
_DATES = re.compile(
    rf"({_EITHER}[./-]{_YEAR}|[12][0-9]{{3}}[./]{_NUMBER_OF_MONTH}[./]{_DAY}|[12][0-9]{{3}}-{_EITHER}|"
    rf"{_DAY}[ .-]*{_MONTH}[ ,.-]*{_YEAR}|{_MONTH}[ .-]*{_DAY}[ ,.-]+{_YEAR}|{_NONE}|{DATE}){_CLOCK}",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    r"(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])|"
    r"(0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])(19|20)[0-9]{2}"
)
_PLAIN_NUMBER = rf"({NUMBER}|[0-9]+,[0-9]+|[0-9]{{1,3}}([.,'’ \xa0\u202f][0-9]{{3}})+([.,][0-9]+)?)"
_CURRENCY = r"([$€£¥]|usd|eur|gbp|chf|jpy|kr|zł)"
_UNIT = (
    r"(kg|mg|lbs?|cm|mm|km|ml|hrs?|min|years?|yrs?|months?|weeks?|days?|hours?|minutes?|jahre?|monate?|tage?|stunden?|"
    r"ans?|mois|jours?|heures?|años?|meses|d[ií]as?|horas?|anni|mesi|giorni|ore|m²|m2|ha|°C|°F|mmHg|bpm|mg/dl|km/h)"
)
_NUMBERS = re.compile(
    rf"[+-]?({_CURRENCY}[ \xa0]?)?{_PLAIN_NUMBER}([ \xa0]?({_CURRENCY}|%|‰))?|"  # 12 %, € 1.200
    rf"[−–]{_PLAIN_NUMBER}|{_PLAIN_NUMBER}-|\({_PLAIN_NUMBER}\)|"  # a minus that is none, 12-, (12)
    rf"_+[+-]?{_PLAIN_NUMBER}_*|[+-]?{_PLAIN_NUMBER}_+|"  # a sign that was left behind: 1109.03_
    rf"[0-9]*\.?[0-9]+[dD][+-]?[0-9]+|"  # as Fortran writes 1.5D+03
    rf"[<>≤≥]? ?{_PLAIN_NUMBER}\+?[ \xa0]?{_UNIT}|"  # 70 kg, 10+ years
    rf"[<>≤≥]=? ?{_PLAIN_NUMBER}|{_PLAIN_NUMBER}[ ]?(\+|(and|or) (over|more|older|less|under))",  # <5, 90+
    re.IGNORECASE,
)
_SWAPPED = str.maketrans(".,", ",.")
_READ = re.compile(f"{NUMBER}|{DATE}|0[0-9]+")

DATES, NUMBERS = "dates", "numbers"
SAYS = {
    DATES: "dates that are not read as dates: write 2024-12-31 in the file, then kind: date",
    NUMBERS: "numbers that are not read as numbers: write digits alone, with a point or comma before the decimals",
}


def is_read(label: str, decimal_mark: str = ".") -> bool:
    """Whether a value of such a column is written as it is read."""
    return _READ.fullmatch(label.translate(_SWAPPED) if decimal_mark == "," else label) is not None


def other_form(labels: Iterable[str | None], called_date: bool, decimal_mark: str = ".") -> str:
    """DATES or NUMBERS where all values are such, and some are not written as they are read; else ''.

    labels      : the different values; None for a missing one
    called_date : whether the column's name speaks of a day, so that few values of eight digits are dates, too
    decimal_mark : of the numbers that are read, of which 1.234 is none where it is a comma
    cost        : O(values), as far as the first that is neither
    """
    known = [label for label in labels if label is not None]
    if not known:
        return ""
    if all(map(_DIGITS.fullmatch, known)) and (called_date or len(known) >= _ENOUGH):
        return DATES
    for form, shape in ((DATES, _DATES), (NUMBERS, _NUMBERS)):
        if all(shape.fullmatch(_in_digits(label)) for label in known):
            return form if any(not is_read(label, decimal_mark) for label in known) else ""
    return ""


def _in_digits(label: str) -> str:
    """With the digits of other scripts as 0 to 9."""
    return label if label.isascii() else "".join(str(int(sign)) if sign.isdecimal() else sign for sign in label)
