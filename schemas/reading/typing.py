"""From raw batches to the typed frame: what each value means under its contract.

Problems are counted over the whole source and told at its end, by column and check: a person who mends a file wants
them all. Until then a cell that cannot be typed stands as missing, so a typed batch is of use only once the typing has
ended without an error.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.contract import HASHED, Contract
from sluice.errors import DataError
from sluice.reading import values
from sluice.variables import Kind, Variable, as_label

Pseudonym = Callable[[str, str], str]
"""(name of the variable, value as text) -> keyed hash"""

_SAYS = {
    "number": "not a finite number",
    "decimal": "a number with a comma; if its decimals follow it, the source needs decimal: ','",
    "leading_zero": (
        "written with a zero in front, as codes are; declare the variable nominal, or write numbers without such zeros"
    ),
    "whole_number": "not a whole number (or beyond 2^53)",
    "date": "not a date; wanted YYYY-MM-DD, with or without a time",
    "category": "not one of the declared categories",
}


class SourceTyping:
    """Types the batches of one source, one after the other, and remembers what went wrong and which categories came."""

    def __init__(self, contract: Contract, pseudonym: Pseudonym, decimal_mark: str = ".") -> None:
        self._contract, self._pseudonym, self._decimal_mark = contract, pseudonym, decimal_mark
        self._problems: Counter[tuple[str, str]] = Counter()
        self._found: dict[str, set[str]] = {
            name: set()
            for name, variable in contract.staged.items()
            if variable.kind.is_categorical and variable.categories is None
        }

    def type_batch(self, raw: pd.DataFrame) -> pd.DataFrame:
        """The typed frame of one batch, index 0..n-1; columns are `contract.staged`, in that order.

        raw     : text or native values; must hold every variable of the contract (identifiers that are dropped apart)
        returns : see sluice.variables. A categorical without declared categories has, in each batch, those of this
                  batch; `variables` has them all
        cost    : O(n) a column; a keyed hash for each distinct value of a hashed variable
        """
        columns = {name: self._column(raw[name], self._contract.by_name[name]) for name in self._contract.staged}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(raw)))

    @property
    def problems(self) -> dict[tuple[str, str], int]:
        """Number of cells by (column, check); a check is one that `_SAYS` explains, or two_categories."""
        problems = dict(self._problems)
        for name, found in self._found.items():
            if self._contract.staged[name].kind is Kind.BINARY and len(found) > 2:
                problems[name, "two_categories"] = len(found)
        return problems

    def variables(self) -> dict[str, Variable]:
        """`contract.staged` with the categories that were found where none are declared, sorted.

        Raises DataError with every column, check and count when a cell so far could not be typed.
        """
        if self.problems:
            lines = [f"  - '{name}': {_says(check, count)}" for (name, check), count in sorted(self.problems.items())]
            raise DataError(f"the data are not what contract '{self._contract.dataset}' says:\n" + "\n".join(lines))
        return {
            name: variable.model_copy(update={"categories": tuple(sorted(self._found[name]))})
            if self._found.get(name)
            else variable
            for name, variable in self._contract.staged.items()
        }

    def _column(self, series: "pd.Series[Any]", variable: Variable) -> "pd.Series[Any]":
        raw = values.plain_array(series)
        if pa.types.is_dictionary(raw.type):
            raw = raw.dictionary_decode()
        hashed = variable.role in HASHED
        match variable.kind:
            case Kind.CONTINUOUS | Kind.INTEGER:
                typed = self._numbers(raw, variable)
            case Kind.DATE:
                typed = self._dates(raw, variable)
            case Kind.TEXT:
                typed = _labels(raw, variable)
            case _:
                typed = self._categories(raw, variable, collect=not hashed)
        if hashed:
            return self._pseudonyms(typed, variable.name)
        if variable.kind is Kind.INTEGER:
            return _pandas(typed, {pa.int64(): pd.Int64Dtype()}.get)
        if isinstance(typed, pa.DictionaryArray):
            codes = pc.fill_null(typed.indices, -1).to_numpy(zero_copy_only=False)
            categories = pd.Index(typed.dictionary.to_pylist(), dtype="str")
            ordered = variable.kind is Kind.ORDINAL
            return pd.Series(pd.Categorical.from_codes(codes, categories, ordered=ordered))
        return _pandas(typed)

    def _count(self, variable: Variable, check: str, cells: pa.Array) -> None:
        count = pc.sum(cells).as_py()
        if count:
            self._problems[variable.name, check] += count

    def _numbers(self, raw: pa.Array, variable: Variable) -> pa.Array:
        """int64 or float64; a missing code may be spelled otherwise than declared: 99 as 99.00."""
        if values.is_text(raw):
            texts = values.with_decimal_point(_labels(raw, variable), self._decimal_mark)
            numbers, whole = values.read_numbers(texts), values.read_whole_numbers(texts)
            unread = texts.filter(pc.and_(texts.is_valid(), numbers.is_null()))
            with_comma, with_zero = values.is_decimal_comma(unread), values.fullmatch(unread, values.LEADING_ZERO)
            self._count(variable, "decimal", with_comma)
            self._count(variable, "leading_zero", with_zero)
            self._count(variable, "number", pc.invert(pc.or_(with_comma, with_zero)))
        else:
            try:
                numbers = raw.cast(pa.float64(), safe=not pa.types.is_integer(raw.type))
                whole = raw if pa.types.is_signed_integer(raw.type) else values.whole_numbers(numbers)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                numbers, whole = pa.nulls(len(raw), pa.float64()), pa.nulls(len(raw), pa.int64())
                self._count(variable, "number", raw.is_valid())
        infinite = pc.invert(pc.is_finite(numbers))
        self._count(variable, "number", infinite)
        codes = [float(code) for code in variable.missing_codes if values.is_number(code)]
        gone = pc.or_(infinite, pc.is_in(numbers, pa.array(codes, pa.float64())))
        numbers = pc.if_else(gone, None, numbers)
        if variable.kind is Kind.CONTINUOUS:
            return numbers
        whole = pc.if_else(pc.is_null(numbers), None, whole).cast(pa.int64())
        self._count(variable, "whole_number", pc.and_(numbers.is_valid(), whole.is_null()))
        return whole

    def _dates(self, raw: pa.Array, variable: Variable) -> pa.Array:
        if pa.types.is_date(raw.type) or pa.types.is_timestamp(raw.type):
            dates = raw.cast(values.MICROSECONDS, safe=False)  # from nanoseconds; a time zone becomes UTC
        elif values.is_text(raw):
            texts = _labels(raw, variable)
            dates = values.read_dates(texts)
            self._count(variable, "date", pc.and_(texts.is_valid(), dates.is_null()))
        else:
            self._count(variable, "date", raw.is_valid())
            dates = pa.nulls(len(raw), values.MICROSECONDS)
        codes = values.read_dates(pa.array(variable.missing_codes, pa.string())).drop_null()
        return pc.if_else(pc.is_in(dates, codes), None, dates)

    def _categories(self, raw: pa.Array, variable: Variable, collect: bool) -> pa.DictionaryArray:
        encoded = _labels(raw, variable).dictionary_encode()
        labels = encoded.dictionary.to_pylist()
        if variable.categories is None:
            categories = sorted(set(labels))
            if collect:
                self._found[variable.name].update(categories)
            wanted = labels
        else:
            categories = list(variable.categories)
            wanted = [_declared(label, (*categories, *variable.missing_codes), self._decimal_mark) for label in labels]
            foreign = pa.array([label is None for label in wanted], pa.bool_()).take(encoded.indices)
            self._count(variable, "category", foreign)
        place = {category: code for code, category in enumerate(categories)}
        codes = pa.array([place.get(label or "") for label in wanted], pa.int32()).take(encoded.indices)
        return pa.DictionaryArray.from_arrays(codes, pa.array(categories, pa.string()))

    def _pseudonyms(self, typed: pa.Array, name: str) -> "pd.Series[Any]":
        encoded = typed if isinstance(typed, pa.DictionaryArray) else typed.dictionary_encode()
        texts = [
            as_label(value) if isinstance(value, float) else str(value) for value in encoded.dictionary.to_pylist()
        ]
        hashes = pa.array([self._pseudonym(name, text) for text in texts], pa.string())
        return _pandas(hashes.take(encoded.indices))


def _says(check: str, count: int) -> str:
    if check == "two_categories":
        return f"is binary, but {count} categories were found (check two_categories)"
    return f"{count} value{' is' if count == 1 else 's are'} {_SAYS[check]} (check {check})"


def _pandas(array: pa.Array, types_mapper: Callable[[Any], Any] | None = None) -> "pd.Series[Any]":
    series: pd.Series[Any] = array.to_pandas(types_mapper=types_mapper)
    return series


def _labels(raw: pa.Array, variable: Variable) -> pa.Array:
    """Values as text without blanks around them; missing where the cell is empty or holds a missing code."""
    texts = values.trimmed_texts(raw)
    return pc.if_else(pc.is_in(texts, pa.array(variable.missing_codes, pa.string())), None, texts)


def _declared(label: str, declared: Sequence[str], decimal_mark: str) -> str | None:
    """The declared code a text stands for: itself, '3' for '3.0', and YAML's true for yes, on, True (also false)."""
    if label in declared:
        return label
    pointed = label.replace(decimal_mark, ".")
    other = as_label(float(pointed)) if values.is_number(pointed) else values.truth(label)
    return other if other in declared else None
