"""From raw batches to the typed frame: what each value means under its contract.

Problems are counted over the whole source and reported at its end, by column and check: a person who mends a file wants
them all. Until then a cell that cannot be typed stands as missing, so a typed batch is of use only once the typing has
ended without an error.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.contract import HASHED, Contract
from sluice.ground.errors import DataError
from sluice.ground.remarks import Remarks
from sluice.ground.values import IN_A_ZONE, fullmatch, is_text, plain_array, trimmed_texts, truth
from sluice.ground.variables import Kind, Role, Variable, as_label
from sluice.ground.visible_text import LOOKALIKE_NAMES, as_they_look, same_but_for_capitals, unclear_names, unseen
from sluice.items.item_sets import split
from sluice.reading.typed_column import as_series, repeated_items, typed_array

Pseudonym = Callable[[str, str], str]
"""(name of the variable, value as text) -> keyed hash"""

_SAYS = {
    "number": "not a finite number",
    "digits": (
        "a decimal with more than 15 digits, whose last ones would be lost; round it, declare it text, or let the "
        "query give it as double precision"
    ),
    "nanoseconds": "a moment finer than a microsecond; round it, or declare the variable text",
    "decimal": "a number with a comma; if its decimals follow it, the source needs decimal: ','",
    "leading_zero": (
        "written with a zero in front, as codes are; declare the variable nominal, or write numbers without such zeros"
    ),
    "whole_number": "not a whole number (or too large to be exact: 2^53 with decimals, 64 bits without)",
    "date": "not a date; wanted YYYY-MM-DD, with or without a time to the microsecond",
    "category": "not one of the declared categories; declare what is new in the contract, or recode it in the data",
    "item": "a set with an item that is not declared",
    "separator": "a list with an item that holds the separator; declare another separator",
    "spelling": LOOKALIKE_NAMES,
}


_FOUND_IN = {Kind.ITEMS: "items"}  # what is filled in where nothing is declared; else categories


class SourceTyping:
    """Types the batches of one source, one after the other, and remembers what went wrong and which categories came.

    unify   : names of contributors and holdings that look the same are one, as whoever counts them would say; else they
              are refused
    remarks : how many were, and what else is published otherwise than it stands
    """

    def __init__(
        self,
        contract: Contract,
        pseudonym: Pseudonym,
        decimal_mark: str = ".",
        unify: bool = False,
        remarks: Remarks | None = None,
    ) -> None:
        self.remarks, self._unify = Remarks() if remarks is None else remarks, unify
        self._contract, self._pseudonym, self._decimal_mark = contract, pseudonym, decimal_mark
        self._problems: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], int] = {}  # the first record, from 1
        self._records = 0
        self._spelled: dict[str, set[str]] = {}  # names of contributors and holdings, where they are unified
        self._found: dict[str, set[str]] = {
            name: set()
            for name, variable in contract.staged.items()
            if variable.kind.is_categorical and variable.categories is None and variable.declared_items is None
        }

    def type_batch(self, raw: pd.DataFrame) -> pd.DataFrame:
        """The typed frame of one batch, index 0..n-1; columns are `contract.staged`, in that order.

        raw     : text or native values; must hold every variable of the contract (identifiers that are dropped apart)
        returns : see sluice.ground.variables. A categorical without declared categories has, in each batch, those of
                  this batch; `variables` has them all
        cost    : O(n) a column; a keyed hash for each distinct value of a hashed variable
        """
        columns = {name: self._column(raw[name], self._contract.by_name[name]) for name in self._contract.staged}
        self._records += len(raw)
        return pd.DataFrame(columns, index=pd.RangeIndex(len(raw)))

    @property
    def problems(self) -> dict[tuple[str, str], int]:
        """Number of cells by (column, check); a check is one that `_says` explains."""
        problems = dict(self._problems)
        for name, found in self._found.items():
            if self._contract.staged[name].kind is Kind.BINARY and len(found) > 2:
                problems[name, "two_categories"] = len(found)
            if hidden := sum(bool(unseen(category, one_line=True)) for category in found):
                problems[name, "unseen"] = hidden
        return problems

    def variables(self) -> dict[str, Variable]:
        """`contract.staged` with the categories that were found where none are declared, sorted.

        Raises DataError with every column, check, count and first record when a cell so far could not be typed.
        """
        if self.problems:
            lines = [
                f"  - '{name}': {_says(check, count, self._first.get((name, check)))}"
                for (name, check), count in sorted(self.problems.items())
            ]
            raise DataError(f"the data are not what contract '{self._contract.dataset}' says:\n" + "\n".join(lines))
        return {
            name: variable.model_copy(
                update={_FOUND_IN.get(variable.kind, "categories"): tuple(sorted(self._found[name]))}
            )
            if self._found.get(name)
            else variable
            for name, variable in self._contract.staged.items()
        }

    def same_names(self) -> dict[str, dict[str, str]]:
        """By column, pseudonyms of names that are others' but for capital letters, and the one that all of these get.

        After the last batch: which names are certainly one is known by all of them. Counts them in `remarks`.
        """
        found = {}
        for name, spelled in self._spelled.items():
            if alike := same_but_for_capitals(spelled):
                self.remarks.add("names_in_capitals", name, sum(alike.values()))
                several = [each for each in spelled if each.lower() in alike]
                found[name] = {self._pseudonym(name, each): self._pseudonym(name, each.lower()) for each in several}
        return found

    def _column(self, series: "pd.Series[Any]", variable: Variable) -> "pd.Series[Any]":
        name = variable.name
        typed, problems = typed_array(plain_array(series), variable, self._decimal_mark)
        for check, cells in problems.items():
            self._count(name, check, cells)
        if count := _in_other_words(plain_array(series), variable):
            self.remarks.add("other_words", name, count)
        if variable.kind is Kind.ITEMS and (count := repeated_items(plain_array(series), variable)):
            self.remarks.add("repeated_items", name, count)
        if variable.kind is Kind.DATE and (count := _in_a_zone(plain_array(series))):
            self.remarks.add("in_a_zone", name, count)
        if variable.role in HASHED:
            return self._pseudonyms(typed, name, self._unify and variable.role in (Role.CONTRIBUTOR, Role.HOLDING))
        if name in self._found:
            found = typed.dictionary
            if variable.kind is Kind.ITEMS:
                found = split(found, variable.between_items)[1].dictionary
            self._found[name].update(found.to_pylist())
        return as_series(typed, variable)

    def _count(self, name: str, check: str, cells: pa.BooleanArray) -> None:
        if count := pc.sum(cells).as_py():
            self._problems[name, check] += count
            self._first.setdefault((name, check), self._records + pc.index(cells, True).as_py() + 1)

    def _pseudonyms(self, typed: pa.Array, name: str, unify: bool) -> "pd.Series[Any]":
        encoded = typed if isinstance(typed, pa.DictionaryArray) else typed.dictionary_encode()
        names = [str(as_label(value)) for value in encoded.dictionary.to_pylist()]
        spelled = pa.array(names, pa.string())
        unclear = unclear_names(spelled)
        if unify and pc.any(unclear).as_py():
            names = as_they_look(spelled).to_pylist()
            unseen_alone = pa.array([not each for each in names])
            self.remarks.add("names_alike", name, pc.sum(pc.and_not(unclear, unseen_alone)).as_py())
            unclear = unseen_alone
        if unify:
            self._spelled.setdefault(name, set()).update(names)
        self._count(name, "spelling", unclear.take(encoded.indices))
        hashes = [self._pseudonym(name, each) for each in names]
        series: pd.Series[Any] = pa.array(hashes, pa.string()).take(encoded.indices).to_pandas()
        return series


def _in_other_words(raw: pa.Array, variable: Variable) -> int:
    """How many texts are another spelling of a category that is true or false: Yes, where the contract has true."""
    declared = {*(variable.categories or ()), *variable.missing_codes}
    truths = {meant for each in variable.categories or () if (meant := truth(each)) is not None}
    if not variable.kind.is_categorical or len(truths) < 2 or not is_text(raw):
        return 0
    counted = trimmed_texts(raw).drop_null().value_counts()
    found = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    return sum(times for label, times in found if label not in declared and truth(label) is not None)


def _in_a_zone(raw: pa.Array) -> int:
    """How many texts are moments with a time zone; of a source's own moments it says so itself."""
    return pc.sum(fullmatch(trimmed_texts(raw), IN_A_ZONE)).as_py() or 0 if is_text(raw) else 0


def _says(check: str, count: int, first: int | None) -> str:
    if check == "two_categories":
        return f"is binary, but {count} categories were found"
    if check == "unseen":
        return (
            f"{count} {'category holds' if count == 1 else 'categories hold'} characters that nobody sees or that "
            "break a line, so that two may look the same; clean the column"
        )
    where = f"in record {first:,}" if count == 1 else f"the first in record {first:,}"
    return f"{count} value{'' if count == 1 else 's'} ({where}) {'is' if count == 1 else 'are'} {_SAYS[check]}"
