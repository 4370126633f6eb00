"""Sentence: what one kind of finding says, by a code that stays, with the places of its figures and names.

A rule declares its sentences once, `FEW = Sentence("k_anonymity.too_few", "{below:,} of {n:,} {unit} ...")`; `FEW(...)`
is what it says of a file, and several of these are added up. A program reads code and data; a person the words.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isfinite
from string import Formatter
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.visible_text import one_line

Datum = int | float | str | tuple[str, ...]


class Statement(BaseModel):
    """One sentence, or a part of one, of a finding."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str = Field(description="what kind of sentence it is; stays when its words change")
    data: dict[str, Datum] = Field(default_factory=dict, description="the figures and names that it tells")

    @property
    def text(self) -> str:
        """Its words; '' of a code that this process has not loaded: whoever reads a dossier need not have judged it."""
        said = SENTENCES.get(self.code)
        return said.words_of(self.data) if said else ""


Saying = tuple[Statement, ...]  # what a finding says: first what was found, then what is added to it


@dataclass(frozen=True)
class Sentence:
    """The words of a code; each code has one.

    Beside those of `format` there are `{share:percent}`, `{share:points}` for a difference of two shares,
    `{share:per_1000}`, `{share:people_1000}`,
    `{count:is}`, `{count:its}`, `{count:verb_differ}`, `{count:count_record}`, `{name:word}`, `{names:listed}`,
    `{names:commas}` and `{names:semicolons}`, and `{names:few}` for three of however many; one that begins with a
    capital letter, `{share:Percent}`, begins a sentence. Where a figure may not be told, its datum is the words in its
    place.
    """

    code: str
    words: str

    def __post_init__(self) -> None:
        if SENTENCES.setdefault(self.code, self) != self:
            raise ValueError(f"two sentences have the code {self.code}")

    def __call__(self, **data: Any) -> Saying:
        """What it says of a file. What its words do not tell, another of several sentences may: it is left out."""
        told = self.told
        figures = {name: _as_told(value, self._specs.get(name, "")) for name, value in data.items() if name in told}
        return (Statement(code=self.code, data=figures),)

    @property
    def told(self) -> set[str]:
        """The names of the figures and names that its words tell."""
        return {re.split(r"[.\[]", name)[0] for name in self._specs}

    @cached_property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Each name in its words, and how it is written there."""
        return tuple((name, spec or "") for _, name, spec, _ in _WORDS.parse(self.words) if name)

    @cached_property
    def _specs(self) -> dict[str, str]:
        return dict(self.places)

    def words_of(self, data: Mapping[str, Datum]) -> str:
        return _WORDS.vformat(self.words, (), data)


class Sentences:
    """Those of one rule or measure: `_SAYS = Sentences("k_anonymity", kept="...")` says `_SAYS.kept(...)`."""

    def __init__(self, family: str, **words: str) -> None:
        vars(self).update({name: Sentence(f"{family}.{name}", said) for name, said in words.items()})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Sentence: ...


SENTENCES: dict[str, Sentence] = {}
END = Sentence("end", ".")


def text_of(saying: Saying) -> str:
    return "".join(said.text for said in saying)


def written(saying: Saying, value: float, like: float | None = None) -> str:
    """A figure as the words have it: as they tell it, or else in the way that they tell `like`; '' where neither."""
    for told in (value, value if like is None else like):
        for said in saying:
            for name, spec in SENTENCES[said.code].places if said.code in SENTENCES else ():  # of an earlier version
                datum = said.data.get(name)
                if isinstance(datum, int | float) and _as_told(told, spec) == datum:
                    words = _WORDS.format_field(_as_told(value, spec), spec)
                    if spec.startswith("per_"):
                        words += f" in every {int(spec[4:]):,}"
                    if any(map(str.isdigit, words)):  # no 'is', 'their' or plural by the figure
                        return words
    return ""


def as_fields(saying: Saying) -> dict[str, Any]:
    """The fields of a `Finding` that says this: words, code and data; what follows the first statement is a note."""
    first, *notes = saying
    return {"says": text_of(saying), "code": first.code, "data": first.data, "notes": tuple(notes)}


def per(share: float, base: int = 1000) -> str:
    """So many of `base`, of a share that tells of no few people, such as a tolerance: '50', '2.5', 'under 1'."""
    number = share * base
    if number > 9.95 or number == round(number):
        return f"{min(round(number), base - (share < 1)):,}"
    return f"{number:.2g}" if number >= 0.1 or not number else "under 0.1"


def percent(share: float) -> str:
    """A share in per cent, in three digits: '0.152 %', '22.4 %', '100 %'; beyond what anybody reads a bound."""
    if 0 < share < _LEAST_SHARE:
        return f"under {100 * _LEAST_SHARE:g} %"
    if share > _MOST_TIMES:  # of a change by what was near nought
        return f"over {100 * _MOST_TIMES:,} %"
    written = f"{100 * share:.3g}"
    return f"{float(written):,.0f} %" if "e" in written else f"{written} %"


def word(name: str) -> str:
    """A name as people say it: marital status, of marital_status; q20_6 is said by nobody, and stays."""
    return re.sub(r"(?<=[^\W\d_])_(?=[^\W\d_])", " ", name)


def count_of(number: int, noun: str) -> str:
    """'1 record', '1,204 records'"""
    return _WORDS.format_field(number, f"count,_{noun}")


def listed(names: Sequence[str]) -> str:
    """'age, years married and children'"""
    *most, last = (word(name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def _plain(value: Any) -> Datum:
    """A figure or names as a document holds them; texts on one line, with nothing that is not seen."""
    if isinstance(value, str):
        return one_line(value)
    if hasattr(value, "item"):  # a figure of NumPy, which is not loaded for this
        value = value.item()
    if isinstance(value, int | float):
        return value if isfinite(value) else str(value)  # JSON has no infinity
    return tuple(one_line(name) for name in value)


def _as_told(value: Any, spec: str) -> Datum:
    """A figure with no more digits than the words give it: a later one may tell of a single person."""
    plain = _plain(value)
    if not isinstance(plain, int | float) or not _ROUNDING.fullmatch(spec.lower()):
        return plain
    kind, _, base = spec.lower().partition("_")
    if kind == "people" and not 0 < plain < 1:
        return min(max(plain, 0), 1)  # none, or all
    words = per(plain, int(base)) if base else _WORDS.format_field(plain, spec.lower())
    if words.startswith(("under", "over")):
        return words if not base else _WORDS.format_field(plain, spec.lower())
    told = Decimal(words.split()[0].replace(",", "").rstrip("%"))
    told /= int(base) if base else 100 if words.endswith(("%", "points")) else 1
    return plain if told == plain else float(told)


class _Words(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        text = self._formatted(value, format_spec.lower())
        return text[:1].upper() + text[1:] if format_spec[:1].isupper() else text

    def _formatted(self, value: Any, spec: str) -> str:
        kind, _, base = spec.partition("_")
        match kind:
            case "listed":
                return listed(value)
            case "commas":
                return ", ".join(value)
            case "few":
                others = len(value) - _FEW
                return ", ".join(value[:_FEW]) + (f" and {others:,} other{'s' * (others > 1)}" if others > 0 else "")
            case "semicolons":
                return "; ".join(value)
            case "word":
                return word(value)
            case "is":
                return "is" if value == 1 else "are"
            case "verb":
                return f"{base}s" if value == 1 else base
            case "its":
                return "its" if value == 1 else "their"
        if isinstance(value, str):
            if not spec or value not in ("inf", "-inf", "nan"):
                return value
            value = float(value)
        match kind:
            case "count" | "count,":
                return f"{value:{kind[5:]}} {base}" + ("" if value == 1 else "s")
            case "percent":
                return percent(value)
            case "points":
                return percent(value).replace("%", "points")
            case "per":
                return per(value, int(base))
            case "people":
                some = f"{per(value, int(base))} in every {int(base):,} people"
                return "none of the people" if value <= 0 else "all of the people" if value >= 1 else some
        return str(super().format_field(value, spec))


_LEAST_SHARE = 1e-6  # 0.0001 %
_MOST_TIMES = 10_000  # 1,000,000 %
_FEW = 3  # names that are told; the others stand in the data
_WORDS = _Words()
_ROUNDING = re.compile(r"percent|points|(per|people)_\d+|[^_]*[fg%]")
