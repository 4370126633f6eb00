"""What columns are usually called, in several languages, and what such a name says of the role (`usual_names.yaml`)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
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
_MODULES = "modules"
_MONEY = "money"
_BODY = "body"
_DAYS = "days_of_names"
_WHOLES = "wholes"
_RATINGS = "ratings"
_OPINIONS = "opinions"
_NEUTRAL = "neutral"
_ANSWERS = "answers"
_LONGEST_PHRASE = 4  # words
_LOOKED_AT = 40  # answers, of which most say what a column is
_TWO_OF = 1.5  # of so many answers one has to be of a kind
_QUESTIONS = "questions"
_MEASURES = "measures"
_WHOLE_WORDS = "whole_words"
_DURATIONS = "durations"
_AGES = "ages"
_WEIGHT_WITHIN = "weight_within"
_FREE_TEXT = "free_text"
_WAVES = "waves"
_FIRMS = "firms"
_PATIENTS = "patients"
_TICKED = re.compile(
    r"\s*(?:(?:=\s*)?1\s*(?:if|=|:)|\w+\s*==\s*(?:\d+\.)?|"
    r"(?:dummy|indicator|binary)(?: variable)?(?: for| if| of|:))\s*",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"[a-z]{1,2}\d+[a-z]?")  # a survey's name that says nothing by itself
_IN_CURRENCY = re.compile(
    r"\bin (?:\w+ ){0,2}(?:(?:us |u\.s\. )?dollars?|usd|euros?|eur|gbp|chf|francs|pesos|rupees|yen|yuan|kronor)\b",
    re.IGNORECASE,
)
_VOUCHING = 3  # names of one survey that speak for each other
_RUN = 10  # names that are numbered through


def usual_role(name: str, without: Collection[Role] = ()) -> tuple[Role, str] | None:
    """The role of columns that are called so as a rule, and the words by which; None for a name that says nothing.
    Of several the longest decides, which says most: 'main source of income' and not 'income'.

    without : roles that the values rule out: a region_id of twelve values names no record
    """
    whole = name.strip().casefold()
    if (role := _surveys().get(whole)) is not None and role not in without:
        return role, whole
    return _usual_role(words_of(name), frozenset(without))


@lru_cache(maxsize=20_000)
def _usual_role(words: tuple[str, ...], without: frozenset[Role]) -> tuple[Role, str] | None:
    usual, phrases = _usual()
    places = [place for place in phrases.standing_in(words) if usual[place][0] not in without]
    if places:
        role, phrase = usual[min(places, key=lambda place: (-len(usual[place][1]), place))]
        return role, " ".join(phrase)
    if Role.WEIGHT not in without and any(part in word for word in words for part in _read()[_WEIGHT_WITHIN]):
        return Role.WEIGHT, " ".join(words)
    return None


@cache
def known_words() -> dict[str, Role]:
    """Single words of what others know of a person and of what nobody should learn, in English, with their role."""
    return {
        words[0]: role
        for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        for words in map(words_of, _read()[role]["en"])
        if len(words) == 1
    }


def listed(which: str) -> Any:
    """A part of the file of names, as it stands there."""
    return _read()[which]


def role_of_words(words: tuple[str, ...], without: Collection[Role] = ()) -> tuple[Role, str] | None:
    """As `usual_role`, of words that a name stands for."""
    return _usual_role(words, frozenset(without))


def ticked_role(name: str, label: str) -> tuple[Role, str] | None:
    """The role of a column that says of each person whether one answer holds, and what that is of: '=1 if Protestant',
    nevermarried. None where it is no known answer, or one of several roles."""
    said = _TICKED.match(label)
    found = _kinds_of(label[said.end() :]) if said else frozenset()
    found = found or _answers_as_one().get("".join(words_of(name)), frozenset())
    return min(found) if len({role for role, _ in found}) == 1 else None


def is_called_by_a_patient(words: tuple[str, ...]) -> bool:
    """Whether these words are of an illness, a finding or a treatment."""
    return bool(_phrases(_PATIENTS).standing_in(words))


def is_not_asked(label: str) -> bool:
    """Whether a value says that the question was not put to this person, which is no missing answer."""
    if len(label) > _LONGEST_ANSWER or label.upper() == label.lower():  # no letter: of millions of numbers at once
        return False
    return " ".join(words_of(label)) in _read()[_NOT_ASKED]


def is_denial(label: str) -> bool:
    """Whether a value says that something is not so of a person: no, none, false, 0."""
    return label.strip() in ("0", "0.0") or " ".join(words_of(label)) in _read()[_DENIALS]


def is_by_chance(name: str, beside: Collection[str]) -> bool:
    """Whether a survey has this name, and it says nothing by itself (V102), nor do the names beside it: fewer than two
    others are of that survey, or they are numbered through, as those of any file may be."""
    whole = name.strip().casefold()
    return bool(_OPAQUE.fullmatch(whole)) and whole in _surveys() and whole not in _vouched_for(tuple(beside))


def role_by_module(name: str, beside: Collection[str]) -> tuple[Role, str] | None:
    """The role of a name that begins as those of one module of a survey, of which others are beside it: HY050G."""
    whole = name.strip().casefold()
    there = _surveys_beside(tuple(beside))
    for role, surveys in _read()[_MODULES].items():
        if any(re.fullmatch(form, whole) for survey in there for form in surveys.get(survey, ())):
            return Role(role), whole
    return None


def _vouched_for(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*_surveys_beside(names).values())


@lru_cache(maxsize=20)
def _surveys_beside(names: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """The surveys of which there are enough names, with these."""
    found = {name.strip().casefold() for name in names}
    numbers: dict[str, list[int]] = {}
    for name in found:
        if numbered := re.fullmatch(r"([a-z]+)(\d+)", name):
            numbers.setdefault(numbered[1], []).append(int(numbered[2]))
    through = {
        stem for stem, each in numbers.items() if len(each) >= _RUN and len({*each}) == max(each) - min(each) + 1
    }
    of_survey: dict[str, set[str]] = {}
    for surveys in _read()[_SURVEYS].values():
        for survey, listed in surveys.items():
            of_survey.setdefault(survey, set()).update(found & {name.casefold() for name in listed})
    apart = {
        survey: frozenset(name for name in names if name.rstrip("0123456789") not in through)
        for survey, names in of_survey.items()
        if len(names) >= _VOUCHING
    }
    return {survey: names for survey, names in apart.items() if names}


def is_of_another_survey(name: str, label: str) -> bool:
    """Whether a survey gives this name to what others know of a person, and the label is of what nobody should learn:
    v101 may be a region, or 'Household income'."""
    said = usual_role(label)
    return (
        _surveys().get(name.strip().casefold()) is Role.QUASI_IDENTIFIER
        and said is not None
        and (said[0] is Role.SENSITIVE)
    )


def is_called_a_code(name: str, label: str = "") -> bool:
    """Whether whole numbers in columns that are called so, by name or short label, are codes as a rule, which cannot be
    added."""
    if name.strip().casefold() in _read()[_CODES_OF_SURVEYS] and not is_of_another_survey(name, label):
        return True
    if _is_called_one_of(_CODES, name):
        return not (_is_called_one_of(_DURATIONS, name) or begins_with_a_duration(label))
    if is_called_a_count(name, label) or is_called_a_measure(label):
        return False
    head = re.split("[.;:,(]", label)[0]
    return len(words_of(head)) <= _SHORT + 1 and _is_called_one_of(_CODES, head)


def begins_with_a_duration(label: str) -> bool:
    """Whether a label is of a length of time: 'Months living at current address'."""
    return words_of(label)[:1] in map(words_of, _read()[_DURATIONS])


def is_called_a_count(name: str, label: str = "") -> bool:
    """Whether few whole numbers count something: children, rooms, visits; 'Number of rooms', 'Visits to a doctor'."""
    words = words_of(label)
    if label.lstrip().startswith("#"):
        return True
    begun = any(words[: len(phrase)] == phrase for each in _read()[_COUNTS] if (phrase := words_of(each)))
    ended = len(words) <= _SHORT and any(words[-1:] == words_of(each) for each in _read()[_COUNTS])
    return _is_called_one_of(_COUNTS, name) or begun or ended


def are_ratings(labels: Collection[str]) -> bool:
    """Whether most of these answers are on a scale of frequency, agreement, satisfaction or judgement."""
    return _are_mostly(_RATINGS, labels)


def are_opinions(labels: Collection[str]) -> bool:
    """Whether most of these answers are for or against a statement, or satisfied with it."""
    return _are_mostly(_OPINIONS, labels)


def _are_mostly(which: str, labels: Collection[str]) -> bool:
    words = [label for label in labels if _says_something(label)]
    found = sum(len(label) <= _LONGEST_ANSWER and _is_called_one_of(which, label) for label in words)
    return len(words) > 1 and 2 * found > len(words)


def answered_role(labels: Collection[str]) -> tuple[Role, str] | None:
    """The role of a column with such answers, and what they are of: sex, countries, religion. None where two thirds of
    those that say something are not of one kind."""
    words = [label for label in islice(labels, _LOOKED_AT) if _says_something(label)]
    if len(words) < 2:
        return None
    kinds = Counter(kind for label in words for kind in _kinds_of(label))
    if not kinds:
        return None
    (kind, times), *_ = kinds.most_common(1)
    return kind if times > 1 and _TWO_OF * times >= len(words) else None


@lru_cache(maxsize=20_000)
def _kinds_of(label: str) -> frozenset[tuple[Role, str]]:
    if len(label) > _LONGEST_ANSWER:
        return frozenset()
    words, known = words_of(label), _answers()
    parts = (words[at : at + n] for at in range(len(words)) for n in range(1, _LONGEST_PHRASE + 1))
    return frozenset(kind for part in parts for kind in known.get(part, ()))


def is_neutral(label: str) -> bool:
    """Whether an answer says nothing of what was asked: other, don't know, not applicable."""
    words = words_of(label) if len(label) <= _LONGEST_ANSWER else ()
    return words in _neutral() or words[:2] in _neutral()  # 'no sabe (no leer)'


def is_an_answer(label: str) -> bool:
    """Whether an answer says something of what was asked, and not that it was not asked."""
    return _says_something(label) and not is_not_asked(label)


def _says_something(label: str) -> bool:
    return any(map(str.isalpha, label)) and not is_neutral(label)


def is_asked_as_an_opinion(label: str) -> bool:
    """Whether a label is a question on habits, opinions or feelings: 'How often do you ...'."""
    return is_a_scale(label) or _is_called_one_of(_QUESTIONS, label)


def is_a_scale(label: str) -> bool:
    """Whether a label writes the grades of a scale: 'not at all 1-2-3-4-5 very much', 'from 1 to 10'; and no ages."""
    found = re.search(r"\b[01]\s*(?:to|bis|à|a|-|–)\s*(?:5|7|10|100)\b", label)
    if found is None:
        return names_grades(label)
    before, after = words_of(label[: found.start()])[-1:], words_of(label[found.end() :])[:1]
    ages = not {*before, *after}.isdisjoint([*_read()[_AGES], *_read()[_DURATIONS]])
    return not ages or names_grades(label)


def names_grades(label: str) -> bool:
    """Whether a label writes grade after grade: 'not at all 1-2-3-4-5 very much'."""
    return re.search(r"\b1\s*[-–,/]\s*2\s*[-–,/]\s*3\b", label) is not None


def is_called_a_measure(name: str) -> bool:
    """Whether a name or label is of a measured number, as of a test, of the blood or of a rate."""
    return _is_called_one_of(_MEASURES, name)


def ends_as_a_measure(name: str) -> bool:
    """Whether a name is of a measured number after its first word: school_attendance_rate, and not rate_marriage."""
    return is_called_a_measure(" ".join(words_of(name)[1:]))


def is_called_a_day(name: str) -> bool:
    """Whether a column is called by a day: date, dob, Geburtsdatum, admission date."""
    return _is_called_one_of(_DAYS, name)


def is_called_free_text(name: str) -> bool:
    """Whether a column is called by what somebody wrote: remarks, comment, Bemerkung."""
    return len(words_of(name)) <= _SHORT and _is_called_one_of(_FREE_TEXT, name)


def is_called_money(name: str, label: str) -> bool:
    """Whether a number is an amount of money by its name or label: capital, '$1000s', 'Transfers received'."""
    return has_a_currency(label) or _is_called_one_of(_MONEY, name) or _is_called_one_of(_MONEY, label)


def has_a_currency(label: str) -> bool:
    """Whether a label has the sign of one, or says in which it is: '$15,000 to $25,000', 'Amount paid, in dollars'."""
    return re.search("[$€£¥]", label) is not None or _IN_CURRENCY.search(label) is not None


def is_called_a_whole(name: str) -> bool:
    """Whether a column is called by a total, of which others may be parts: total_income, Kosten gesamt."""
    return _is_called_one_of(_WHOLES, name)


def is_of_the_body(name: str) -> bool:
    """Whether a weight by its name or label is one of the body, in kilograms or pounds."""
    words, body = words_of(name), _read()[_BODY]
    return any(word in body or any(part in word for part in body if len(part) > _SHORT) for word in words)


def is_called_for_life(name: str) -> bool:
    """Whether a column is called by what a person keeps for life: the sex, the date of birth; no weight at birth."""
    is_weight = any(part in word for word in words_of(name) for part in _read()[_WEIGHT_WITHIN])
    return not is_weight and _is_called_one_of(_FOR_LIFE, name)


def is_called_a_wave(name: str) -> bool:
    """Whether a column is called by when a record was made: year, wave, visit; no year of birth."""
    return " ".join(words_of(name)) in _read()[_WAVES]


def is_called_a_firm(name: str) -> bool:
    """Whether a column is called by whose money it is: firm, company code, Betrieb."""
    return not set(words_of(name)).isdisjoint(_read()[_FIRMS])


@lru_cache(maxsize=20_000)
def _is_called_one_of(which: str, name: str) -> bool:
    return bool(_phrases(which).standing_in(words_of(name)))


def is_a_sentence(name: str) -> bool:
    """Whether a name is a statement or a question, whose words are not what the column is called."""
    return len(words_of(name)) > _SHORT


def stem_of(name: str) -> str:
    """What a name begins with before its last number: the answers to one question, or one table of a form, share it."""
    found = re.fullmatch(r"(.*[^\W\d].*?)[\W_]*\d{1,2}[a-zA-Z]?", name)
    return found[1] if found and len(found[1]) > 1 and not found[1][-1].isdigit() else name


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


class _Phrases:
    """Phrases by their words, so that those which stand in a name are found without trying each.

    A phrase stands in a name that has its words one after the other, or written as one; a long word also where a word
    of the name begins with it.
    """

    def __init__(self, phrases: Sequence[tuple[str, ...]]) -> None:
        self._by_words: dict[tuple[str, ...], list[int]] = {}
        self._written_as_one: dict[str, list[int]] = {}
        self._begins: dict[str, list[int]] = {}
        whole_words = {*_read()[_WHOLE_WORDS]}
        for place, phrase in enumerate(phrases):
            self._by_words.setdefault(phrase, []).append(place)
            if len(phrase) > 1:
                self._written_as_one.setdefault("".join(phrase), []).append(place)
            elif len(phrase[0]) >= _INSIDE and phrase[0] not in whole_words:
                self._begins.setdefault(phrase[0], []).append(place)
        self._longest = max(map(len, phrases), default=0)

    def standing_in(self, words: tuple[str, ...]) -> set[int]:
        """Places of the phrases that do. Cost: O(letters), however many phrases there are."""
        found: set[int] = set()
        for at, word in enumerate(words):
            for n in range(1, min(self._longest, len(words) - at) + 1):
                found.update(self._by_words.get(words[at : at + n], ()))
            found.update(self._written_as_one.get(word, ()))
            for end in range(_INSIDE, len(word)):
                found.update(self._begins.get(word[:end], ()))
        return found


@cache
def _usual() -> tuple[tuple[tuple[Role, tuple[str, ...]], ...], _Phrases]:
    """The words of all languages, each with its role, in the order of the file."""
    found = tuple(
        (Role(role), words)
        for role, languages in _read().items()
        if role in list(Role)
        for words in dict.fromkeys(words_of(name) for names in languages.values() for name in names)
    )
    return found, _Phrases([words for _, words in found])


@cache
def _phrases(which: str) -> _Phrases:
    return _Phrases([words_of(phrase) for phrase in _read()[which]])


@cache
def _answers() -> dict[tuple[str, ...], tuple[tuple[Role, str], ...]]:
    """By their words what answers are of, of all languages."""
    found: dict[tuple[str, ...], tuple[tuple[Role, str], ...]] = {}
    for role, kinds in _read()[_ANSWERS].items():
        for kind, answers in kinds.items():
            for words in {words_of(answer) for answer in answers}:
                found[words] = (*found.get(words, ()), (Role(role), kind))
    return found


@cache
def _answers_as_one() -> dict[str, frozenset[tuple[Role, str]]]:
    """By their letters what answers are of: nevermarried. Two or three letters are not enough."""
    found: dict[str, frozenset[tuple[Role, str]]] = {}
    for words, kinds in _answers().items():
        if len(whole := "".join(words)) > _SHORT:
            found[whole] = found.get(whole, frozenset()) | frozenset(kinds)
    return found


@cache
def _neutral() -> frozenset[tuple[str, ...]]:
    return frozenset(map(words_of, _read()[_NEUTRAL]))


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
