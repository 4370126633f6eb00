"""What columns are usually called, in several languages, and what such a name says of the role (`usual_names.yaml`)."""

import re
import unicodedata
from collections.abc import Collection
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import yaml

from sluice.ground.variables import Role

_SHORT = 4  # words of a label, the last of which says what it is, too
_INSIDE = 6  # letters from which a word is found inside a longer one
_NOT_ASKED = "not_asked"
_DENIALS = "denials"
_LONGEST_ANSWER = 80  # signs of such a value
_ALONE = "household_alone"
_CODES = "codes"
_FOR_LIFE = "for_life"
_SURVEYS = "surveys"
_CODES_OF_SURVEYS = "codes_of_surveys"
_COUNTS = "counts"
_BODY = "body"
_DAYS = "days_of_names"
_WHOLES = "wholes"
_WEIGHT_WITHIN = "weight_within"


def usual_role(name: str, without: Collection[Role] = ()) -> tuple[Role, str] | None:
    """The role of columns that are called so as a rule, and the word by which; None for a name that says nothing.

    without : roles that the values rule out: a region_id of twelve values names no record
    """
    whole = name.strip().casefold()
    if (role := _surveys().get(whole)) is not None and role not in without:
        return role, whole
    return _usual_role(words_of(name), frozenset(without))


@lru_cache(maxsize=20_000)
def _usual_role(words: tuple[str, ...], without: frozenset[Role]) -> tuple[Role, str] | None:
    for role, usual in _usual().items():
        for phrase in () if role in without else usual:
            if _stands_in(phrase, words):
                return role, " ".join(phrase)
    if Role.WEIGHT not in without and any(part in word for word in words for part in _read()[_WEIGHT_WITHIN]):
        return Role.WEIGHT, " ".join(words)
    return None


def is_not_asked(label: str) -> bool:
    """Whether a value says that the question was not put to this person, which is no missing answer."""
    if len(label) > _LONGEST_ANSWER or label.upper() == label.lower():  # no letter: of millions of numbers at once
        return False
    return " ".join(words_of(label)) in _read()[_NOT_ASKED]


def is_denial(label: str) -> bool:
    """Whether a value says that something is not so of a person: no, none, false, 0."""
    return label.strip() in ("0", "0.0") or " ".join(words_of(label)) in _read()[_DENIALS]


def is_called_a_code(name: str) -> bool:
    """Whether whole numbers in columns that are called so are codes as a rule, which cannot be added."""
    return name.strip().casefold() in _read()[_CODES_OF_SURVEYS] or _is_called_one_of(_CODES, name)


def is_called_a_count(name: str, label: str = "") -> bool:
    """Whether few whole numbers count something: children, rooms, visits; 'Number of rooms', 'Visits to a doctor'."""
    words = words_of(label)
    begun = any(words[: len(phrase)] == phrase for each in _read()[_COUNTS] if (phrase := words_of(each)))
    ended = len(words) <= _SHORT and any(words[-1:] == words_of(each) for each in _read()[_COUNTS])
    return _is_called_one_of(_COUNTS, name) or begun or ended


def is_called_a_day(name: str) -> bool:
    """Whether a column is called by a day: date, dob, Geburtsdatum, admission date."""
    return _is_called_one_of(_DAYS, name)


def is_called_a_whole(name: str) -> bool:
    """Whether a column is called by a total, of which others may be parts: total_income, Kosten gesamt."""
    return _is_called_one_of(_WHOLES, name)


def is_of_the_body(name: str) -> bool:
    """Whether a weight by its name or label is one of the body, in kilograms or pounds."""
    return any(word in _read()[_BODY] for word in words_of(name))


def is_called_for_life(name: str) -> bool:
    """Whether a column is called by what a person keeps for life: the sex, the date of birth; no weight at birth."""
    is_weight = any(part in word for word in words_of(name) for part in _read()[_WEIGHT_WITHIN])
    return not is_weight and _is_called_one_of(_FOR_LIFE, name)


@lru_cache(maxsize=20_000)
def _is_called_one_of(which: str, name: str) -> bool:
    words = words_of(name)
    return any(_stands_in(words_of(phrase), words) for phrase in _read()[which])


def is_called_household(name: str) -> bool:
    """Whether a name is nothing but 'household', of which only the values say whether it is a number or a size."""
    return " ".join(words_of(name)) in _read()[_ALONE]


@lru_cache(maxsize=20_000)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, small and without accents: 'hhSize_2', 'HH-Size 2' and 'hh.size2' are hh, size, 2."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    plain = unicodedata.normalize("NFKD", apart).casefold()
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return tuple(re.findall(r"[^\W\d_]+|\d+", letters))


def _stands_in(phrase: tuple[str, ...], words: tuple[str, ...]) -> bool:
    if len(phrase) > 1:
        return "".join(phrase) in words or any(words[at : at + len(phrase)] == phrase for at in range(len(words)))
    [word] = phrase
    return word in words or (len(word) >= _INSIDE and any(each.startswith(word) for each in words))


@cache
def _usual() -> dict[Role, tuple[tuple[str, ...], ...]]:
    """For each role, in the order of the file, the words of all languages."""
    return {
        Role(role): tuple(dict.fromkeys(words_of(name) for names in languages.values() for name in names))
        for role, languages in _read().items()
        if role in list(Role)
    }


@cache
def _surveys() -> dict[str, Role]:
    """The role of each name that a survey or a file format gives, small; it is the whole name or none."""
    by_role: dict[str, dict[str, list[str]]] = _read()[_SURVEYS]
    return {
        name.casefold(): Role(role) for role, surveys in by_role.items() for names in surveys.values() for name in names
    }


@cache
def _read() -> dict[str, Any]:
    text = (files(__package__) / "usual_names.yaml").read_text(encoding="utf-8")
    read: dict[str, Any] = yaml.safe_load(text)
    return read
