"""Sentence: what one kind of finding says, by a code that stays, with the places of its figures and names.

A rule declares its sentences once, `FEW = Sentence("k_anonymity.too_few", "{below:,} of {n:,} {unit} ...")`; `FEW(...)`
is what it says of a file, and several of these are added up. A program reads code and data; a person the words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sluice.reading.visible_text import one_line

Datum = int | float | str | tuple[str, ...]


class Statement(BaseModel):
    """One sentence, or a part of one, of a finding."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str = Field(description="what kind of sentence it is; stays when its words change")
    data: dict[str, Datum] = Field(default_factory=dict, description="the figures and names that it tells")

    @property
    def text(self) -> str:
        return SENTENCES[self.code].words_of(self.data)


Saying = tuple[Statement, ...]  # what a finding says: first what was found, then what is added to it


@dataclass(frozen=True)
class Sentence:
    """The words of a code; each code has one.

    Beside those of `format` there are `{share:percent}`, `{names:listed}`, `{name:word}`, `{count:is}` and
    `{count:its}`.
    """

    code: str
    words: str

    def __post_init__(self) -> None:
        if SENTENCES.setdefault(self.code, self) != self:
            raise ValueError(f"two sentences have the code {self.code}")

    def __call__(self, **data: Any) -> Saying:
        return (Statement(code=self.code, data={name: _plain(value) for name, value in data.items()}),)

    def words_of(self, data: Mapping[str, Datum]) -> str:
        return _WORDS.vformat(self.words, (), data)


SENTENCES: dict[str, Sentence] = {}


def as_fields(saying: Saying) -> dict[str, Any]:
    """The fields of a `Finding` that says this: words, code and data; what follows the first statement is a note."""
    first, *notes = saying
    text = "".join(said.text for said in saying)
    return {"says": text, "code": first.code, "data": first.data, "notes": tuple(notes)}


def word(name: str) -> str:
    return name.replace("_", " ")


def listed(names: Sequence[str]) -> str:
    """'age, years married and children'"""
    *most, last = (word(name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def _plain(value: Any) -> Datum:
    """A figure or names as a document holds them; texts on one line, with nothing that is not seen."""
    if isinstance(value, str):
        return one_line(value)
    if hasattr(value, "item"):  # a figure of NumPy, which is not loaded for this
        return value.item()  # type: ignore[no-any-return]
    return value if isinstance(value, int | float) else tuple(one_line(name) for name in value)


class _Words(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        match format_spec:
            case "percent":
                return f"{100 * value:.3g} %"
            case "listed":
                return listed(value)
            case "word":
                return word(value)
            case "is":
                return "is" if value == 1 else "are"
            case "its":
                return "its" if value == 1 else "their"
        return str(super().format_field(value, format_spec))


_WORDS = _Words()
