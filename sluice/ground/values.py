"""How a single value is read: what is a number, a whole number, a date, a truth value, and what is missing.

The one definition for every source and every use. The patterns are written so that Arrow (RE2), Python, PostgreSQL,
SQLite and DuckDB understand each of them alike: only ASCII digits, no look-ahead, and the calendar is part of the date.

A number has no zero in front of its other digits: 01 and 007 are codes, whose zeros mean something. Lists of texts, as
a column of a Parquet file may hold them, are read here too: sources are read in a process of its own, without pandas.
"""

import re
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.ground.date_format import in_iso
from sluice.ground.variables import as_label

if TYPE_CHECKING:  # a process that only reads does without
    import pandas as pd

LIST_MARK = "\x02"
"""Before each part of a cell that was a list of texts at its source."""

BLANKS = "".join(character for character in map(chr, range(0x3001)) if character.isspace())
"""Characters that do not count at either end of a text: all that Unicode calls white space."""

_EXPONENT = "([eE][+-]?[0-9]+)?"
NUMBER = f"[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+){_EXPONENT}"
LEADING_ZERO = f"[+-]?0[0-9]+([.][0-9]*)?{_EXPONENT}"
_DECIMAL_COMMA = f"[+-]?[0-9]*,[0-9]+{_EXPONENT}"
DIGITS = "[+-]?(0|[1-9][0-9]*)"
DIGITS_19 = "[+-]?[1-9][0-9]{18}"  # as many as the largest number of 64 bits has
LARGEST_DIGITS = str(2**63 - 1)

_YEAR = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP_YEAR = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_DAY = (
    f"({_YEAR}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
_ZONE = "(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)"
DATE = f"{_DAY}([ T]{_TIME}{_ZONE}?)?"
IN_A_ZONE = f"{_DAY}[ T]{_TIME}{_ZONE}"

TRUTH = {"true": ("true", "yes", "on"), "false": ("false", "no", "off")}
"""Spellings of the two truth values, in capitals or not."""

MISSING_MARKS = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", ".", "?", "-")
"""Texts that stand for 'missing' among numbers, dates or truth values; among other texts each is a text like others."""


MICROSECONDS = pa.timestamp("us")
_IN_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
EXACT = 2.0**53 - 1  # a whole number up to here has a float64 of its own
EXACT_DIGITS = 15  # a decimal of so many digits comes back from a float64 as it was


def hours(value: timedelta) -> str:
    """As SPSS and SAS show a time, of however many hours: 30:00:00, -00:01:00."""
    whole = abs(value) // timedelta(seconds=1)
    part = abs(value) % timedelta(seconds=1) // timedelta(microseconds=1)
    shown = f"{'-' if value < timedelta() else ''}{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{shown}.{part:06}" if part else shown


def fullmatch(texts: pa.Array, pattern: str) -> pa.Array:
    """Which texts are altogether of this pattern; null where the text is."""
    return pc.match_substring_regex(texts, f"^({pattern})$")


_IS_NUMBER = re.compile(NUMBER).fullmatch  # asked of millions of texts


def is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    return _IS_NUMBER(text) is not None and isfinite(float(text))


def is_decimal_comma(texts: pa.Array) -> pa.Array:
    """Which texts are numbers with a comma before their decimals, or between thousands."""
    return fullmatch(texts, _DECIMAL_COMMA)


def are_exactly(texts: pa.Array, codes: Iterable[str]) -> pa.Array:
    """Which texts are one of these numbers to the last digit, however they are written. texts: few, without missing"""
    shape = re.compile(f"{NUMBER}|{LEADING_ZERO}")
    declared = {Decimal(code) for code in codes if shape.fullmatch(code)}
    same = [shape.fullmatch(text) is not None and Decimal(text) in declared for text in texts.to_pylist()]
    return pa.array(same, pa.bool_())


def with_decimal_point(texts: pa.Array, decimal_mark: str) -> pa.Array:
    """Texts with a point as the decimal mark; where the mark is a comma, a text with a point is no number any more."""
    if decimal_mark == ".":
        return texts
    return pc.replace_substring(pc.replace_substring(texts, ".", ";"), decimal_mark, ".")


def beyond_int64(texts: pa.Array) -> pa.Array:
    """Which texts are whole numbers too large for 64 bits: identifiers, as a rule."""
    too_large = pc.greater(pc.utf8_ltrim(texts, characters="+-"), LARGEST_DIGITS)
    return pc.or_(fullmatch(texts, f"{DIGITS_19}[0-9]+"), pc.and_(fullmatch(texts, DIGITS_19), too_large))


def read_numbers(texts: pa.Array) -> pa.Array:
    """Trimmed texts as float64; null where a text is no number."""
    return _unsigned(texts, fullmatch(texts, NUMBER)).cast(pa.float64())


def read_whole_numbers(texts: pa.Array) -> pa.Array:
    """Trimmed texts as int64, to the last digit; null where a text is no whole number.

    3.0 and 3e2 are whole below 2 ** 53, digits alone as far as 64 bits reach; what has decimals other than 0 is not,
    even where a float64 has lost them.
    """
    is_exact = pc.and_(fullmatch(texts, DIGITS), pc.invert(beyond_int64(texts)))
    exact = _unsigned(texts, is_exact).cast(pa.int64())
    return pc.coalesce(exact, whole_numbers(read_numbers(pc.if_else(has_decimals(texts), None, texts))))


def has_decimals(texts: pa.Array) -> pa.Array:
    """Which texts are numbers with decimals other than 0, written without an exponent."""
    return fullmatch(texts, "[+-]?[0-9]*[.][0-9]*[1-9][0-9]*")


def whole_numbers(numbers: pa.Array) -> pa.Array:
    """Floats as int64; null where one is not whole, or 2 ** 53 and more."""
    whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less_equal(pc.abs(numbers), EXACT))
    return pc.if_else(whole, numbers, None).cast(pa.int64())


def _unsigned(texts: pa.Array, which: pa.Array) -> pa.Array:
    """These texts without a plus sign, which Arrow does not read; null for the others."""
    return pc.utf8_ltrim(pc.if_else(which, texts, None), characters="+")


def floats(numbers: pa.Array) -> pa.Array:
    """Numbers of any Arrow type as float64, each the nearest to what was written.

    Arrow's own cast of decimals is off by an ulp: 59.471 becomes 59.471000000000004. Their texts are read rightly.
    """
    if pa.types.is_decimal(numbers.type):
        numbers = numbers.cast(pa.string())
    return numbers.cast(pa.float64(), safe=not pa.types.is_integer(numbers.type))


def inexact_decimals(decimals: pa.Array, read: pa.Array) -> pa.Array:
    """Which decimals have more digits than a float64 keeps, which differ from theirs when written as shortly as can be.

    read : the same as float64
    """
    numbers = read.to_numpy(zero_copy_only=False)
    inexact = np.abs(numbers) >= 10.0 ** (EXACT_DIGITS - decimals.type.scale)  # others have few enough digits
    for place in np.flatnonzero(inexact):
        inexact[place] = Decimal(repr(float(numbers[place]))) != decimals[int(place)].as_py()
    return pa.array(inexact)


def inexact_integers(whole: pa.Array, read: pa.Array) -> pa.Array:
    """Which whole numbers a float64 does not keep to the last digit. read : the same as float64"""
    known = pc.fill_null(whole, 0).to_numpy(zero_copy_only=False)
    numbers = pc.fill_null(read, 0.0).to_numpy(zero_copy_only=False)
    fits = (numbers >= -(2.0**63)) & (numbers < 2.0 ** (64 if pa.types.is_unsigned_integer(whole.type) else 63))
    return pa.array(~fits | (np.where(fits, numbers, 0.0).astype(known.dtype) != known))


def inexact_texts(texts: pa.Array, read: pa.Array) -> pa.Array:
    """Which texts are numbers with more digits than a float64 keeps, as in `inexact_decimals`.

    A float64 that was written as shortly as can be is found among them at once.
    cost : O(n); a step of Python for each that has so many digits and is written otherwise
    """
    inexact = np.zeros(len(texts), np.bool_)
    long = pc.fill_null(pc.greater(pc.binary_length(texts), EXACT_DIGITS), False)  # others have few enough digits
    places = np.flatnonzero(pc.and_(long, read.is_valid()).to_numpy(zero_copy_only=False))
    for trim in ("", "0"):  # zeros at the end are no digits; the first look spares most texts the second
        written, numbers = texts.take(pa.array(places)), read.take(pa.array(places))
        if trim:
            written = pc.if_else(has_decimals(written), pc.utf8_rtrim(written, characters=trim), written)
        longer = pc.not_equal(numbers.cast(pa.string()), written)
        places = places[longer.to_numpy(zero_copy_only=False)]
    for place in map(int, places):
        number = read[place].as_py()
        inexact[place] = isfinite(number) and Decimal(repr(number)) != Decimal(texts[place].as_py())
    return pa.array(inexact)


def wall_clock(moments: pa.Array) -> pa.Array:
    """Dates and timestamps in microseconds; one with a time zone as the calendar and the clock there showed it.

    In UTC whoever was born in Berlin on the first of January would be released a year older.
    """
    if pa.types.is_timestamp(moments.type) and moments.type.tz is not None:
        moments = pc.local_timestamp(moments)
    return moments.cast(MICROSECONDS, safe=False)


def within_calendar(dates: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Which dates and timestamps are of the years 1 to 9999, which Python knows; null where there is none."""
    kind = dates.type
    if pa.types.is_date32(kind):
        counts, day = dates.cast(pa.int32()), 1
    else:
        counts, day = dates.cast(pa.int64()), 86_400 * _IN_A_SECOND["ms" if pa.types.is_date64(kind) else kind.unit]
    first, last = ((end - date(1970, 1, 1)).days for end in (date.min, date.max))
    around = 1 if pa.types.is_timestamp(kind) and kind.tz is not None else 0  # another day may be shown there
    least, most = max((first + around) * day, -(2**63)), min((last + 1 - around) * day, 2**63) - 1
    return pc.and_(pc.greater_equal(counts, least), pc.less_equal(counts, most))


def has_nanoseconds(moments: pa.Array) -> pa.Array:
    """Which timestamps are finer than a microsecond."""
    if not pa.types.is_timestamp(moments.type) or moments.type.unit != "ns":
        return pa.array(np.zeros(len(moments), np.bool_))
    count = pc.fill_null(moments.cast(pa.timestamp("ns")).cast(pa.int64()), 0)
    return pa.array(count.to_numpy(zero_copy_only=False) % 1000 != 0)


def read_dates(texts: pa.Array, written: str | None = None) -> pa.Array:
    """Trimmed texts as timestamps in microseconds; null where a text is no date, or finer.

    One with a time zone is what the calendar and the clock there showed, as `wall_clock` has it.

    written : a format in which they may be written instead, such as DD.MM.YYYY (`sluice.ground.date_format`)
    """
    if written is not None:
        texts = pc.coalesce(in_iso(texts, written), texts)
    coarse = pc.replace_substring_regex(texts, "([.][0-9]{6})0+", r"\1")
    dates = pc.if_else(fullmatch(coarse, DATE), coarse, None)
    local = pc.replace_substring_regex(dates, f"^(.{{11}}[0-9:.]+){_ZONE}$", r"\1")
    return local.cast(MICROSECONDS)


def moment(text: str, last: bool = False) -> datetime:
    """An ISO date by the calendar and the clock of its time zone; a day is its first moment, or its last one.

    Raises ValueError.
    """
    if re.fullmatch(DATE, text) is None:
        raise ValueError("no date such as 2024-12-31")
    read = datetime.fromisoformat(text).replace(tzinfo=None)
    return read + timedelta(days=1, microseconds=-1) if last and len(text) == len("2024-12-31") else read


def plain_array(series: "pd.Series[Any]") -> pa.Array:
    """A column as an Arrow array of one plain type, text where its values have none; null where a value is missing.

    A category column keeps its type (a dictionary).
    """
    import pandas as pd

    try:
        array = pa.Array.from_pandas(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):  # of several types
        array = None
    if array is not None and is_list(array.type):
        array = listed_texts(array)
    kind = None if array is None else array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if kind is None or isinstance(kind, pa.BaseExtensionType) or pa.types.is_nested(kind):
        array = pa.array([None if value is None or value is pd.NA else label(value) for value in series], pa.string())
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), None, array)
    if pa.types.is_decimal32(array.type) or pa.types.is_decimal64(array.type):  # of which Arrow counts no values
        array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
    if (pa.types.is_date(array.type) or pa.types.is_timestamp(array.type)) and array.null_count < len(array):
        array = pc.if_else(within_calendar(array), array, None)
    return array.cast(pa.string()) if is_text(array) else array


def without_views(array: pa.Array) -> pa.Array:
    """The same texts in Arrow's plain type: its views, such as those of Polars, have no functions."""
    kind, plain = array.type, pa.large_string()
    if pa.types.is_string_view(kind):
        return array.cast(plain)
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return array.cast(pa.dictionary(kind.index_type, plain, kind.ordered))
    if (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and pa.types.is_string_view(kind.value_type):
        return array.cast(pa.large_list(plain))
    return array


def is_text(array: pa.Array) -> bool:
    return bool(pa.types.is_string(array.type) or pa.types.is_large_string(array.type) or pa.types.is_null(array.type))


def trimmed_texts(array: pa.Array) -> pa.Array:
    """Values as text without blanks around them; null where nothing is left."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if is_text(array):
        texts = pc.utf8_trim(array.cast(pa.string()), characters=BLANKS)
    else:
        encoded = array.dictionary_encode()
        texts = pa.array(map(label, encoded.dictionary.to_pylist()), pa.string()).take(encoded.indices)
    return pc.if_else(pc.equal(texts, ""), None, texts)


def count_blanks(column: pa.Array | pa.ChunkedArray) -> int:
    """How many texts have blanks at either end, which do not count."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return 0
    return pc.sum(pc.not_equal(column, pc.utf8_trim(column, characters=BLANKS))).as_py() or 0


def label(value: Any) -> str:
    """One value as text: 3.0 and Decimal('3.00') are '3', a date is ISO text, True is 'true'."""
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, Decimal) and value.is_finite():
        if value == value.to_integral_value():
            return str(int(value))
        short = str(as_label(float(value)))
        return short if Decimal(short) == value else f"{value:f}".rstrip("0")  # every digit of a long one
    return str(as_label(value))


def truth(text: str) -> str | None:
    """'true' or 'false' for one of their spellings, None for any other text."""
    return next((value for value, words in TRUTH.items() if text.lower() in words), None)


def is_list(kind: pa.DataType) -> bool:
    """Whether cells are lists of texts."""
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return lists and any(
        is_text_type(kind.value_type)
        for is_text_type in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    )


def listed_texts(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Each list of texts as one text, `LIST_MARK` before each of its parts; null where the list is, or is empty."""
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    parts = pc.fill_null(pc.list_flatten(array).cast(pa.large_string()), "")
    sizes = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    marked = pc.binary_join_element_wise(
        pa.scalar(LIST_MARK, pa.large_string()), parts, pa.scalar("", pa.large_string())
    )
    starts = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int64())
    texts = pc.binary_join(pa.LargeListArray.from_arrays(starts, marked), pa.scalar("", pa.large_string()))
    return pc.if_else(pa.array(sizes > 0), texts, None).cast(pa.string())
