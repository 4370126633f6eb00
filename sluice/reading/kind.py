"""What kind of variable a column is, by its values: the one answer of `sluice init`, `mask`, `assess` and the notebook.

=====================================================================  ================================================
the values that are not missing                                        kind
=====================================================================  ================================================
all are lists of texts (Parquet)                                       items
all are dates, with or without a time                                  date
all are truth values: true/false, yes/no, on/off                       binary
all are numbers, and whole (3.0 is)                                    integer
the same, and texts such as 1e3 among them                             nominal: no program writes a number so
all are numbers; or whole ones, all of them as 1.234e+04               continuous
all are digits, one with a zero in front: 01, 007                      nominal: a code, whose zeros mean something
all are codes of a classification (`sluice.reading.classification_codes`)    nominal
texts, two different ones                                              binary
texts, more than 60 different ones for at most twice as many records   text
other texts; a category column of pandas or Arrow; no value at all     nominal
=====================================================================  ================================================

Nothing is ordinal, and no number a category, unless somebody says so: that is knowledge about the variable, which a
contract declares. Whole numbers beyond 64 bits are identifiers, hence texts.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sluice.ground import values
from sluice.ground.values import LIST_MARK
from sluice.ground.variables import Kind, Role, Variable
from sluice.reading.classification_codes import COUNTRIES, classification_of

MOST_DISTINCT = 10_000
"""Distinct values of a column that are counted; beyond, only their form and range are followed."""

AT_ENDS = 100
"""Records at either end of a range whose numbers are kept, however many values there are; no minimum cell has more."""

_INT64 = 2.0**63
_BETWEEN = ";|,"  # marks that may stand between items
_THOUSANDS = r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?|[0-9]{1,3}([.' \x{a0}\x{202f}][0-9]{3})+,[0-9]+"
_ONE_NUMBER = f"[^0-9;|]{{0,4}}([0-9]+,[0-9]+|{_THOUSANDS})[^0-9;|]{{0,4}}"
"""A number with a comma before its decimals or its thousands, and a unit: no two items."""
_MANY = 0.2  # share of the texts
_MOST_WORDS = 2  # different words among numbers that may stand for missing, whatever they are
_MOST_USUAL = 8  # the same of usual ones, as statistical offices write them: *, (D), .., -, N, X
_FEW = 12  # different whole numbers, beside which a word is one more category
AT_LEAST = 10
"""Records that have a word, of which a draft may tell."""
_TWO_CAPITALS = re.compile("[A-Z]{2}")
_FEWEST_ALIKE = 2  # different codes of two capitals, of which NA is one more where there are more
_SIGNS = re.compile(r"\W+([A-Za-z]\W+)?")  # "..", "*", "(D)": no category beside numbers, few as they are
_USUAL = re.compile(
    r"\W*|\W*[A-Za-z]\W*|\.[A-Za-z_]|n/?a\.?|n\.a\.|not (available|applicable|known|stated|reported)|"
    r"unknown|missing|none|refused|suppressed|confidential|withheld|undisclosed|k\.?a\.?|unbekannt|keine angabe|"
    r"inconnu|desconocido|sconosciuto|onbekend",
    re.IGNORECASE,
)
"""Words that stand for missing wherever they are, and tell of nobody."""
_ERRORS = re.compile(r"#[\w/]{2,12}[!?]|#N/?[A-Z]|-?1\.#(IND|[QS]NAN)0*", re.IGNORECASE)
"""What a spreadsheet of any language or Windows writes where nothing could be computed: #DIV/0!, #WERT!, -1.#IND."""
_IN_DIGITS = re.compile(f"{values.NUMBER}|{values.LEADING_ZERO}")
_TEXT_FROM = 60  # distinct values; fewer are categories even where each occurs once


class ColumnSummary:
    """What was seen of one column so far, in bounded memory: enough to tell its kind.

    labels      : how often each value occurs, by its text; empty when there are more than MOST_DISTINCT
    marks       : how often each text that may stand for 'missing' occurs; they are not among the labels
    declared    : the same of values that the source itself declares as missing
    empty       : records without a value
    inexact     : records whose decimal has more digits than a number keeps
    takes_na    : whether NA is taken for a code like the others, though it often stands for missing
    smallest, largest : of the finite numbers; first, last : of the dates, as YYYY-MM-DD
    lowest, highest   : numbers of the AT_ENDS records at either end, or their years where these are dates
    """

    def __init__(
        self,
        decimal_mark: str = ".",
        missing: Sequence[str] = (),
        ranges: Sequence[tuple[float, float]] = (),
        name: str = "",
        meant: Collection[str] = (),
        counted: bool = False,
    ) -> None:
        """
        missing, ranges : values that the source declares as missing, by their texts, and from .. to .., both included
        name            : of the column, which may tell codes of a classification from numbers
        meant           : texts that the source says are answers, though they may stand for missing elsewhere
        counted         : whether its whole numbers count something by its name: no word beside them is a category
        """
        self.name = name
        self.decimal_mark = decimal_mark
        self._missing, self._ranges, self._meant, self._counted = missing, ranges, meant, counted
        self.labels: Counter[str] = Counter()
        self.marks: Counter[str] = Counter()
        self.declared: Counter[str] = Counter()
        self.empty = self.known = 0  # records without a value, and with one that is no mark
        self.in_a_zone = 0  # texts that are moments with a time zone
        self.inexact = 0
        self.smallest, self.largest = math.inf, -math.inf
        self.first, self.last = "9999-12-31", "0001-01-01"
        self.lowest: list[float] = []
        self.highest: list[float] = []
        self._many = self._category_column = self.takes_na = False
        self._forms: Counter[str] = Counter()
        self._words: Counter[str] = Counter()  # texts that are neither numbers nor dates, as long as they are few

    def add(self, series: "pd.Series[Any]") -> None:
        """Look at some more records. O(n)."""
        array = values.plain_array(series)
        if pa.types.is_dictionary(array.type):
            self._category_column = True
            array = array.dictionary_decode()
        if values.is_text(array):
            array = values.trimmed_texts(array)
        self.empty += array.null_count
        counted = array.drop_null().value_counts()
        found, times = counted.field("values"), counted.field("counts")
        if values.is_text(array):
            is_mark = pc.is_in(found, pa.array(values.MISSING_MARKS))
            for text, n in zip(found.filter(is_mark).to_pylist(), times.filter(is_mark).to_pylist(), strict=True):
                self.marks[text] += n
            found, times = found.filter(pc.invert(is_mark)), times.filter(pc.invert(is_mark))
        if (declared := self._are_declared_missing(found)) is not None:
            for text, n in zip(
                values.trimmed_texts(found.filter(declared)).to_pylist(),
                times.filter(declared).to_pylist(),
                strict=True,
            ):
                self.declared[text] += n
            found, times = found.filter(pc.invert(declared)), times.filter(pc.invert(declared))
        if len(found):
            self._take(found, times)

    def _take(self, found: pa.Array, times: pa.Array) -> None:
        self.known += pc.sum(times).as_py()
        self._look_at(found, times)
        self._many = self._many or len(found) > MOST_DISTINCT
        if not self._many:
            texts = values.trimmed_texts(found).to_pylist()
            self.labels.update(dict(zip(texts, times.to_pylist(), strict=True)))
            self._many = len(self.labels) > MOST_DISTINCT
        if self._many:
            self.labels.clear()

    def settle(self) -> None:
        """Once all is seen: one or two words among numbers or dates are marks for missing, whatever they are; a mark
        that is a code as the others are, as NA is Namibia's and Naples', or that the source says the meaning of, is a
        value, and so is 09 where 9 is declared as missing and occurs as well."""
        for code in [code for code in self.declared if code not in self._missing and code.lstrip("0") in self._missing]:
            if self.declared[code.lstrip("0")]:
                self._take(pa.array([code]), pa.array([self.declared.pop(code)]))
        alike = len(self.labels) > _FEWEST_ALIKE and all(map(_TWO_CAPITALS.fullmatch, self.labels))
        self.takes_na = "NA" in self.marks and "NA" not in self._meant and (alike or self.classification == COUNTRIES)
        for mark in [mark for mark in self.marks if mark in self._meant or (self.takes_na and mark == "NA")]:
            times = self.marks.pop(mark)
            self.known += times
            if not self._many:
                self.labels[mark] += times
        words = {word: times for word, times in self._words.items() if times >= AT_LEAST or _is_usual(word)}
        most = _MOST_USUAL if all(map(_is_usual, words)) else _MOST_WORDS
        if not 0 < len(words) == len(self._words) <= most or any(
            re.search("[0-9]", word) and not _ERRORS.fullmatch(word) for word in words
        ):
            return  # what has digits may be a number or a date that is written wrongly
        rest = self.known - sum(words.values())
        few = 0 if self._counted or all(map(_SIGNS.fullmatch, words)) else _FEW + len(words)
        measured = self._forms["number"] == rest and (
            self._forms["whole"] < rest or len(self.labels) > few or self._many
        )
        if rest > sum(words.values()) / 20 and (measured or 0 < self._forms["date"] == rest):
            self.known = rest
            self.marks.update(words)
            for word in words:
                self.labels.pop(word, None)

    @property
    def distinct(self) -> float:
        """Number of distinct values; infinite beyond MOST_DISTINCT."""
        return math.inf if self._many else len(self.labels)

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """What stands for 'missing': marks among numbers, codes of digits, dates and truth values; what is declared."""
        return tuple(sorted({*self.declared, *(() if self._is_text else self.marks)}))

    @property
    def separator(self) -> str | None:
        """A mark that many texts hold, and which may stand between the items of sets; None where there is none."""
        often = [mark for mark in _BETWEEN if self._is_text and self._forms[mark] >= _MANY * self.known]
        return max(often, key=lambda mark: self._forms[mark]) if often else None

    @property
    def nullable(self) -> bool:
        return bool(self.empty or self.missing_codes)

    @property
    def categories(self) -> dict[str, int]:
        """How often each value occurs that is not missing; empty when there are more than MOST_DISTINCT."""
        return dict(self.labels + self.marks) if self._is_text and not self._many else dict(self.labels)

    @property
    def truth_categories(self) -> tuple[str, ...] | None:
        """('false', 'true') for truth values in more than two spellings, which stand for these; else None."""
        return tuple(sorted(values.TRUTH)) if self._all("truth") and len(self.labels) > 2 else None

    @property
    def classification(self) -> str | None:
        """The classification whose codes these are: NACE, ISCO, ICD ...; None where it is not known."""
        if self._category_column or self._all("date") or self._all("list") or not self.known:
            return None
        return classification_of(self.name, self.labels)

    @property
    def kind(self) -> Kind:
        if self._category_column:
            return Kind.BINARY if len(self.categories) == 2 else Kind.NOMINAL
        if not self.known:
            return Kind.NOMINAL
        if self._all("list"):
            return Kind.ITEMS
        if self._all("date"):
            return Kind.DATE
        if self._all("truth") and len(self.labels) > 1:
            return Kind.BINARY
        if self.classification is not None:
            return Kind.NOMINAL
        if self._all("number"):
            if not self._all("whole") or self._all("scientific"):
                return Kind.CONTINUOUS
            return Kind.NOMINAL if self._forms["power"] else Kind.INTEGER
        if self._all("number", "leading zero"):
            return Kind.NOMINAL
        distinct = self.distinct + len(self.marks)
        if distinct == 2:
            return Kind.BINARY
        return Kind.TEXT if distinct > _TEXT_FROM and (self._many or 2 * distinct > self.known) else Kind.NOMINAL

    def variable(self, name: str, role: Role = Role.OTHER, known: Kind | None = None) -> Variable:
        """The variable that the column is.

        known : its kind, where somebody knows better; the categories of an ordinal one are in the order of their
                numbers, or of the alphabet
        """
        kind, categories = known or self.kind, self.truth_categories
        if kind is Kind.ORDINAL:
            labels = self.categories
            categories = tuple(sorted(labels, key=float if all(map(values.is_number, labels)) else None))
        return Variable(
            name=name,
            kind=kind,
            role=role,
            missing_codes=self.missing_codes,
            nullable=self.nullable,
            categories=categories,
        )

    @property
    def _is_text(self) -> bool:
        """Whether the values are texts, among which a mark is a text like others."""
        if self._category_column:
            return True
        return bool(self.known) and not (
            self._all("date")
            or self._all("truth")
            or self._all("list")
            or self._all("number", "leading zero", "identifier")
        )

    def _all(self, *forms: str) -> bool:
        """Whether all known values have one of these forms, which exclude one another; whole is a part of number."""
        return sum(self._forms[form] for form in forms) == self.known

    def _are_declared_missing(self, found: pa.Array) -> pa.Array | None:
        """Which of some distinct values are declared as missing; None where that cannot be."""
        if not self._missing and not self._ranges:
            return None
        codes = pa.array([float(code) for code in self._missing if _IN_DIGITS.fullmatch(code)], pa.float64())
        if values.is_text(found):
            pointed = values.with_decimal_point(found, self.decimal_mark)
            numbers = values.read_numbers(pc.replace_substring_regex(pointed, "^([+-]?)0+([0-9])", r"\1\2"))
            is_missing = pc.is_in(found, pa.array(self._missing, pa.string()))
            is_missing = pc.or_(is_missing, pc.is_in(numbers, codes, skip_nulls=True))
        elif pa.types.is_integer(found.type) or pa.types.is_floating(found.type):
            numbers = found.cast(pa.float64(), safe=False)
            is_missing = pc.is_in(numbers, codes)
        elif pa.types.is_decimal(found.type):
            numbers = values.floats(found)
            is_missing = pc.is_in(numbers, codes)
        else:
            return None
        is_missing = self._exactly(found, pc.fill_null(is_missing, False))
        for low, high in self._ranges:
            within = pc.and_(pc.greater_equal(numbers, low), pc.less_equal(numbers, high))
            is_missing = pc.or_(is_missing, pc.fill_null(within, False))
        return is_missing

    def _exactly(self, found: pa.Array, alike: pa.Array) -> pa.Array:
        """Of those that are a declared code as floats the ones that are it to the last digit, as a release reads."""
        texts = values.trimmed_texts(found.filter(alike))
        pointed = values.with_decimal_point(texts, self.decimal_mark) if values.is_text(found) else texts
        same = pc.or_(pc.is_in(texts, pa.array(self._missing, pa.string())), values.are_exactly(pointed, self._missing))
        return pc.replace_with_mask(alike, alike, same)

    def _look_at(self, found: pa.Array, times: pa.Array) -> None:
        """Count the forms of some distinct values, and follow their range."""
        if pa.types.is_boolean(found.type):
            self._count("truth", found.is_valid(), times)
        elif pa.types.is_date(found.type) or pa.types.is_timestamp(found.type):
            self._dates(values.wall_clock(found), times)
        elif pa.types.is_floating(found.type):
            numbers = found.cast(pa.float64())
            self._numbers(numbers, values.whole_numbers(numbers), times)
        elif pa.types.is_integer(found.type) or pa.types.is_decimal(found.type):
            read = values.floats(found)
            beyond = pc.greater_equal(pc.abs(read), _INT64)
            self._count("identifier", beyond, times)
            numbers = exact = pc.if_else(beyond, None, read)
            if pa.types.is_decimal(found.type):
                exact = values.read_whole_numbers(found.cast(pa.string()))
                self._digits(values.inexact_decimals(found, read), times)
            self._numbers(numbers, pc.if_else(numbers.is_null(), None, exact), times)
        elif values.is_text(found):
            self._texts(found, times)

    def _texts(self, found: pa.Array, times: pa.Array) -> None:
        self._count("list", pc.starts_with(found, LIST_MARK), times)
        for mark in _BETWEEN:
            held = pc.match_substring(found, mark)
            if mark == "," and pc.any(held).as_py():
                held = pc.and_not(held, values.fullmatch(found, _ONE_NUMBER))
            self._count(mark, held, times)
        spellings = pa.array([word for words in values.TRUTH.values() for word in words])
        self._count("truth", pc.is_in(pc.utf8_lower(found), spellings), times)
        self._dates(values.read_dates(found), times)
        self.in_a_zone += pc.sum(times.filter(values.fullmatch(found, values.IN_A_ZONE))).as_py() or 0
        pointed = values.with_decimal_point(found, self.decimal_mark)
        self._count("power", values.fullmatch(pointed, "[0-9]+[eE][0-9]+"), times)
        self._count("scientific", values.fullmatch(pointed, "[+-]?[0-9]*[.][0-9]+[eE][+-]?[0-9]+"), times)
        self._count("leading zero", values.fullmatch(pointed, values.LEADING_ZERO), times)
        beyond = values.beyond_int64(pointed)
        self._count("identifier", beyond, times)
        pointed = pc.if_else(beyond, None, pointed)
        numbers = values.read_numbers(pointed)
        self._digits(values.inexact_texts(pointed, numbers), times)
        self._numbers(numbers, values.read_whole_numbers(pointed), times)
        if len(self._words) <= _MOST_USUAL:
            dates = values.read_dates(found)
            neither = pc.and_(pc.and_(numbers.is_null(), dates.is_null()), pc.invert(pc.fill_null(beyond, False)))
            some = found.filter(neither)[: _MOST_USUAL + 1].to_pylist()
            self._words.update(dict(zip(some, times.filter(neither).to_pylist(), strict=False)))

    def _numbers(self, numbers: pa.Array, whole: pa.Array, times: pa.Array) -> None:
        self._count("number", numbers.is_valid(), times)
        self._count("whole", whole.is_valid(), times)
        self._ends(pc.if_else(pc.is_finite(numbers), numbers, None), times)
        span = pc.min_max(numbers.filter(pc.is_finite(numbers))).as_py()
        if span["min"] is not None:
            self.smallest, self.largest = min(self.smallest, span["min"]), max(self.largest, span["max"])

    def _digits(self, inexact: pa.Array, times: pa.Array) -> None:
        self.inexact += pc.sum(times.filter(pc.fill_null(inexact, False))).as_py() or 0

    def _dates(self, dates: pa.Array, times: pa.Array) -> None:
        self._count("date", dates.is_valid(), times)
        self._ends(pc.year(dates).cast(pa.float64()), times)
        span = pc.min_max(dates).as_py()
        if span["min"] is not None:
            self.first = min(self.first, span["min"].isoformat()[:10])
            self.last = max(self.last, span["max"].isoformat()[:10])

    def _ends(self, numbers: pa.Array, times: pa.Array) -> None:
        held = numbers.is_valid()
        if not pc.any(held).as_py():
            return
        found = numbers.filter(held).to_numpy(zero_copy_only=False)
        often = np.minimum(times.filter(held).to_numpy(zero_copy_only=False), AT_ENDS)
        order = np.argsort(found)
        for at_end, kept in ((order[:AT_ENDS], self.lowest), (order[::-1][:AT_ENDS], self.highest)):
            kept += np.repeat(found[at_end], often[at_end]).tolist()
        self.lowest = sorted(self.lowest)[:AT_ENDS]
        self.highest = sorted(self.highest)[-AT_ENDS:]

    def _count(self, form: str, which: pa.Array, times: pa.Array) -> None:
        self._forms[form] += pc.sum(times.filter(pc.fill_null(which, False))).as_py() or 0


def _is_usual(word: str) -> bool:
    return _USUAL.fullmatch(word) is not None or _ERRORS.fullmatch(word) is not None


def summary_of(parts: "Iterable[pd.Series[Any]]", decimal_mark: str = ".") -> ColumnSummary:
    """What a column is, by all its parts. O(n)."""
    summary = ColumnSummary(decimal_mark)
    for part in parts:
        summary.add(part)
    return summary
