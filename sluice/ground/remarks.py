"""What was met while records were read and not handed on as it stands: counted by column, with the first record where
one is to be looked up."""

import json
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal, get_args

from pydantic import Field

from sluice.ground.document_parts import FrozenModel
from sluice.ground.sentence import Sentence, Sentences, text_of
from sluice.ground.visible_text import one_line

What = Literal[
    "beyond_calendar", "blanks", "codes_alike", "comments", "empty_lines", "in_a_zone", "names_alike",
    "names_in_capitals", "marks", "no_value", "other_words", "repeated_items", "totals", "notes",
]  # fmt: skip

_SAYS = Sentences(
    "reading",
    beyond_calendar="column '{column}', record {first:,}: {count:count,_date} outside the years 1 to 9999, read as "
    "missing; correct them, or take off the date format",
    blanks="column '{column}': {count:count,_cell} with blanks at either end, which do not count",
    codes_alike="column '{column}': {count:count,_code} like another but for capital letters, blanks or dashes; each "
    "has cells of its own. If they are the same, spell them alike",
    comments="{count:count,_line} skipped, as {count:its} first sign is that of comments; one with as many cells as "
    "a record is read as a record",
    empty_lines="column '{column}', the only one: {count:count,_line} without a sign skipped. If records without a "
    'value are meant, write "" for each',
    in_a_zone="column '{column}': {count:count,_moment} with a time zone, read by the calendar and the clock there",
    marks="column '{column}': {count:count,_code} that often {count:verb_stand} for a missing value, such as NA, "
    "{count:is} taken as a category like others. If nothing is known of these records, leave them out; else give the "
    "column a hierarchy",
    names_alike="column '{column}': {count:count,_name} spelled with other blanks, dashes or accents than they look, "
    "or with what nobody sees; names that look the same count as one",
    names_in_capitals="column '{column}': {count:count,_name} like another but for capital letters; they count as one",
    no_value="column '{column}': no value in {count:count,_record}; left out, as a contract asks for one at least",
    other_words="column '{column}': {count:count,_cell} with another word for true or false than the contract has, and "
    "published by the contract's. To keep the words of the data, list them in its categories",
    repeated_items="column '{column}': {count:count,_cell} with an item more than once, which counts once in a set. If "
    "how often matters, give each item a column of its numbers",
    totals="column '{column}', record {first:,}, the last, seems to be a total: {count:,} of its numbers "
    "{count:is} the sum or mean of the column. If so, take it out",
    notes="column '{column}', record {first:,}: {count:count,_record} at the end {count:is} empty but for this column. "
    "Take out what is a note",
)
_BY: Mapping[What, Sentence] = MappingProxyType({what: getattr(_SAYS, what) for what in get_args(What)})

BELOW = frozenset(_BY[what].code for what in ("totals", "notes"))
"""Codes of what people leave below a sheet."""


class Remark(FrozenModel):
    """Of one column, how many of its cells were not read as they stand, and why. Holds no value of them."""

    code: str = Field(description="what was met; stays when the words of `says` change")
    column: str
    count: int = Field(description="of the cells")
    first: int = Field(default=0, description="the record of the first of them in the source, from 1; 0: not looked up")
    says: str = Field(description="all of it in words")

    def of(self, file: str) -> "Remark":
        """The same where several files were read: it says first of which it is."""
        return self.model_copy(update={"says": f"{one_line(file)}: {self.says}"})


class Remarks:
    """Of one reading of a source, the newest; counts by what was met and the column."""

    def __init__(self) -> None:
        self._met: dict[tuple[What, str], tuple[int, int]] = {}  # the cells, and the first record or 0

    def __eq__(self, other: object) -> bool:
        """What was met does not tell one source from another."""
        return isinstance(other, Remarks)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self._met)

    def clear(self) -> None:
        self._met.clear()

    def add(self, what: What, column: str, count: int, first: int = 0) -> None:
        """`count` more cells of a column; `first`: the record of the first of these in the source, from 1."""
        before, earliest = self._met.get((what, column), (0, first))
        self._met[what, column] = (before + count, earliest)

    def drop(self, what: What) -> None:
        """Take back what was only met for the records read so far."""
        self._met = {key: met for key, met in self._met.items() if key[0] != what}

    def all(self) -> tuple[Remark, ...]:
        """One a column and kind, in the order in which they were met."""
        return tuple(
            Remark(
                code=_BY[what].code,
                column=one_line(column),
                count=count,
                first=first,
                says=text_of(_BY[what](column=column, count=count, first=first)),
            )
            for (what, column), (count, first) in self._met.items()
        )

    def written(self) -> bytes:
        """For `take`, in another process."""
        return json.dumps([[what, column, *met] for (what, column), met in self._met.items()]).encode()

    def take(self, written: bytes, columns: Collection[str]) -> None:
        """In place of what was met so far: what another process wrote, of these columns. The rest is not believed."""
        try:
            met = [
                (what, column, count, first)
                for what, column, count, first in json.loads(written)
                if what in _BY and column in columns and type(count) is int and type(first) is int
            ]
        except (ValueError, TypeError, RecursionError):
            return
        self.clear()
        for what, column, count, first in met:
            self.add(what, column, count, first)
