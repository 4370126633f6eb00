"""What a contract may say of a column by itself, proposed from its name, its label and its values, with a reason.

A proposal errs on the side of whoever is in the data: a column that nobody knows but that tells people apart is
proposed as a quasi-identifier. A person decides. The reasons travel with the drafted contract, so they hold no value
that fewer records have than the minimum cell, and figures as rounded shares.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from schemas.reading.abbreviated_names import spelled_out
from schemas.reading.household import are_long, are_running
from schemas.reading.interval_categories import are_ages, intervals_in_order
from schemas.reading.missing_codes import (
    are_names,
    declared_codes,
    doubtful_codes,
    far_codes,
    kind_of_codes,
    labelled_codes,
    marks_of,
    may_be_listed,
    negative_codes,
    told_labels,
)
from schemas.reading.other_forms import NUMBERS, is_read, other_form
from schemas.reading.overview import Overview
from schemas.reading.universe import universe_of
from schemas.reading.usual_names import (
    answered_role,
    are_opinions,
    are_ratings,
    begins_with_a_duration,
    ends_as_a_measure,
    has_a_currency,
    is_a_sentence,
    is_asked_as_an_opinion,
    is_by_chance,
    is_called_a_code,
    is_called_a_count,
    is_called_a_day,
    is_called_a_measure,
    is_called_a_wave,
    is_called_free_text,
    is_called_money,
    is_neutral,
    is_of_another_survey,
    is_of_the_body,
    names_grades,
    role_by_module,
    role_of_words,
    ticked_role,
    usual_role,
    words_of,
)
from schemas.reading.written_dates import read_by_formats
from sluice.ground.variables import GROUPS, NAMES, Kind, Role
from sluice.ground.visible_text import visible
from sluice.reading.kind import ColumnSummary
from sluice.risk.classes.quasi_identifier_search import Combination
from sluice.sources.tabular_source import ColumnDescription

MINIMUM_CELL = 10
"""A value that fewer records have is shown nowhere."""

_UNIQUE = 0.98  # distinct values as a share of those known: nearly every record has its own
_GROUPED = 0.05  # of a name of people or households: fewer are a code of something else
_ENOUGH = 50  # records: of fewer, all different is no sign
_SEPARATES = 0.8  # share of the pairs of records that a column tells apart: five groups of equal size
MOST_KNOWN = 150  # different numbers: ages, years of birth, hours a week; of more it is an amount
FEW_CODES = 12  # different whole numbers that may be codes
_FEWEST_COUNTED = 3  # different numbers, as which codes may fall off by chance
_AMOUNT, _STEP = 1000, 50  # of whole numbers that are amounts: the largest, and what all are multiples of
_HEAVIEST = 1500  # of a body, in kilograms or pounds; nobody writes grams with decimals
_MOST_GRADES = 30  # different answers on a scale, at most
_FEW_OTHERS = 0.2  # share of the records: so few are slips, of which the first is named
_SENTENCE = 4  # words; a text of more is no name of a category, where most are of one record each
_TICKS = ({"0", "1"}, {"0.0", "1.0"}, {"no", "yes"}, {"false", "true"}, {"n", "y"}, {"f", "t"})
_WRITTEN = 60  # values of one record each, of which most values are: of fewer they are rare categories


@dataclass(frozen=True)
class Proposal:
    """What is proposed for one column.

    sure           : whether name and values agree, so that nobody has to be asked
    missing_codes  : values that stand for 'missing'
    doubtful_codes : numbers that may, or may be values
    universe       : of whom the variable is known, where it is missing exactly for all others
    harmless       : a value of most people that denies something of them, which may be known of anybody
    other_form     : of numbers or dates that are written so that they are not read as such (`other_forms`)
    first_other    : the record of the first of these, from 1, where they are few; 0 where they are not
    date_formats   : in which dates are written that are not as 2024-12-31; after the first, others that may be meant
    repeats        : a column before it that tells the same of every record, by other names
    description, categories, labels : as the file itself has them; rare codes, too, where as many occur nowhere
    """

    name: str
    kind: Kind
    role: Role
    why: str
    sure: bool = True
    missing_codes: tuple[str, ...] = ()
    doubtful_codes: tuple[str, ...] = ()
    universe: str = ""
    repeats: str = ""
    harmless: str = ""
    other_form: str = ""
    first_other: int = 0
    date_formats: tuple[str, ...] = ()
    description: str = ""
    categories: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


def searchable(seen: Overview) -> Iterator[str]:
    """Columns that may tell people apart without being a name of theirs, nor an exact amount."""
    for name, column in seen.columns.items():
        usual = usual_of(seen, name)
        amount = column.kind is Kind.CONTINUOUS or (column.distinct > MOST_KNOWN and column.kind is Kind.INTEGER)
        known = usual is not None and usual[0] is Role.QUASI_IDENTIFIER
        fit = column.known and column.kind not in (Kind.TEXT, Kind.ITEMS) and (known or not amount)
        if fit and (_distinct_ratio(seen, name) < _UNIQUE or seen.kept < _ENOUGH):
            yield name


def proposed_alone(seen: Overview, name: str, single: Combination | None) -> Proposal:
    column, said = seen.columns[name], seen.said(name)
    role, why, sure = _role(seen, name, single)
    doubtful = doubtful_codes(column, said, MINIMUM_CELL)
    far = far_codes(column, doubtful)
    found = (
        *far,
        *declared_codes(column, said, MINIMUM_CELL),
        *marks_of(column, MINIMUM_CELL),
        *negative_codes(column, said, MINIMUM_CELL),
    )
    codes = labelled_codes(column, said)
    listed = codes if codes and may_be_listed(codes, said, column, MINIMUM_CELL) else ()
    is_told = role not in NAMES and column.kind is not Kind.TEXT
    told = {*found, *listed, *(told_labels(column, said, MINIMUM_CELL) if is_told else ())}
    meant = {code: visible(said.labels[code]) for code in said.labels if code in told}
    return Proposal(
        name,
        Kind.TEXT if _is_free_text(seen, name) else _kind(column, said, codes, listed),
        role,
        why,
        sure,
        tuple(dict.fromkeys(found)),
        tuple(code for code in doubtful if code not in found),
        visible(said.universe) or universe_of(seen, name),
        other_form=(form := _other_form(seen, name)),
        first_other=_first_other(seen, name) if form else 0,
        date_formats=seen.date_formats.get(name, ()),
        description=visible(said.label),
        categories=listed,
        labels=meant,
    )


def _other_form(seen: Overview, name: str) -> str:
    column = seen.columns[name]
    if column.kind not in (Kind.TEXT, Kind.NOMINAL, Kind.BINARY, Kind.INTEGER) or column.classification is not None:
        return ""
    called = is_called_a_day(name) or is_called_a_day(seen.said(name).label)
    return other_form(seen.labels[name], called, column.decimal_mark)


def _first_other(seen: Overview, name: str) -> int:
    """The record of the first value that is not written as nearly all others are: as numbers, or dates in a format."""
    mark, labels = seen.columns[name].decimal_mark, seen.labels[name]
    forms = [[label is None or is_read(label, mark) for label in labels], *read_by_formats(labels)]
    read = np.array(max(forms, key=sum), dtype=np.bool_)
    found = np.flatnonzero(~read[seen.codes[name]])
    return int(found[0]) + 1 if seen.is_whole and 0 < len(found) <= _FEW_OTHERS * seen.kept else 0


def _kind(column: ColumnSummary, said: ColumnDescription, codes: Sequence[str] | None, listed: Sequence[str]) -> Kind:
    if codes is None:
        return Kind.NOMINAL if column.truth_categories else column.kind
    return kind_of_codes(codes, said) if listed else Kind.NOMINAL  # an order has to be listed


def usual_of(seen: Overview, name: str, without: Collection[Role] = ()) -> tuple[Role, str] | None:
    """By the name of a column, or else by its label: v012, 'Age in years'. Of answers on a scale and measured numbers a
    label does not say what others know: 'How often do you see your family', 'Family score'; of a year not what nobody
    should learn, of a duration nobody's name: 'Year in which the wage was recorded', 'Months at this address'."""
    weak = _is_personal(seen, name)
    beside = (*without, Role.QUASI_IDENTIFIER) if weak else without
    grades = names_grades(seen.said(name).label) or are_opinions(_answers(seen, name))
    asks = is_a_sentence(name) or grades or ends_as_a_measure(name)
    label = _without_answers(seen.said(name).label)
    says_nothing = is_of_another_survey(name, label) or is_by_chance(name, seen.columns)
    found = None if says_nothing else usual_role(name, beside if asks else without)
    times = {Role.SENSITIVE} if is_called_a_wave(name) else {*NAMES} if begins_with_a_duration(label) else set()
    told = usual_role(label, {*beside, *times})
    longer = found and told and len(told[1]) > len(found[1])
    if found and told and longer and (f" {found[1]} " in f" {told[1]} " or {found[0], told[0]} <= {*NAMES}):
        return told  # discharge: 'Sign of discharge' is not the one from hospital; id: 'farm identifier'
    if found := found or told or _of_module(seen, name, without):
        return found
    if not says_nothing and (found := role_of_words(spelled_out(name), beside)):
        return found
    money = is_called_money(name, label) if seen.columns[name].distinct > MOST_KNOWN else has_a_currency(label)
    return (Role.SENSITIVE, "money") if money and _is_number(seen, name) and Role.SENSITIVE not in without else None


def _is_number(seen: Overview, name: str) -> bool:
    return seen.columns[name].kind.is_numeric and not seen.said(name).labels


def _says_what_it_is(seen: Overview, name: str) -> bool:
    """Whether a dictionary tells in words what a number is: of what others know, its words would be known."""
    label = _without_answers(seen.said(name).label)
    return _is_number(seen, name) and sum(map(str.isalpha, words_of(label))) > 1


def _without_answers(label: str) -> str:
    """A label without the answers that it lists: 'activity (1 = at work, 2 = disabled)', 'race with levels 1, 2',
    'career level: "apprentice", "probation"'; and without a note on it."""
    label = re.split(r"\.\s+Notes?\b", label)[0]
    label = re.sub(r'(?:"[^"]*"(?:,? and |,? or |, ?)?){2,}', " ", label)
    label = re.sub(r"\b\w+(?:'s|’s|s'|s’) ", "", label)  # student's intake score: of whom it is, not what
    asked = re.split(r"\b(?:with )?levels\b|\b[01] ?=", label)[0]
    return asked if {*words_of(asked)} - {"a", "an", "factor", "ordered", "numeric", "vector"} else label


def _of_module(seen: Overview, name: str, without: Collection[Role]) -> tuple[Role, str] | None:
    found = role_by_module(name, seen.columns)
    return found if found is not None and found[0] not in without else None


def _is_personal(seen: Overview, name: str) -> bool:
    """Whether a column holds what nobody else knows of a person: answers on a scale, or a measured number."""
    column, said = seen.columns[name], seen.said(name)
    if are_scale_answers(seen, name):
        return True
    return column.kind.is_numeric and not said.labels and _is_called_a_measure(name, said.label)


def are_scale_answers(seen: Overview, name: str) -> bool:
    """Whether a column is known to hold answers on a scale."""
    return are_ratings(_answers(seen, name)) or is_asked_as_an_opinion(seen.said(name).label)


def _is_called_a_measure(name: str, label: str) -> bool:
    return is_called_a_measure(name) or is_called_a_measure(label)


def _answers(seen: Overview, name: str) -> Collection[str]:
    """What the codes of a column mean, but for missing answers; or else its few values."""
    column, said = seen.columns[name], seen.said(name)
    if said.labels:
        return [means for code, means in said.labels.items() if not said.is_missing(code)]
    return column.categories if column.distinct <= _MOST_GRADES else ()


def _answered(seen: Overview, name: str) -> tuple[Role, str] | None:
    """The role by the answers, and what they are of, where neither name nor label says anything."""
    answers = _answers(seen, name)
    if is_ticked(seen, name) and (ticked := ticked_role(name, seen.said(name).label)):
        return ticked
    ages = are_ages([answer for answer in answers if not is_neutral(answer)])
    found = (Role.QUASI_IDENTIFIER, "age") if ages else answered_role(answers)
    return found if found and not (found[0] is Role.QUASI_IDENTIFIER and _is_personal(seen, name)) else None


def is_ticked(seen: Overview, name: str) -> bool:
    """Whether a column holds yes or no of each person."""
    column = seen.columns[name]
    values = {label.casefold() for label in column.categories}
    return column.distinct == 2 and any(values <= each for each in _TICKS)


def _role(seen: Overview, name: str, single: Combination | None) -> tuple[Role, str, bool]:
    """Role, reason, and whether both name and values speak for it."""
    column, usual = seen.columns[name], usual_of(seen, name)
    if not column.known:
        return Role.OTHER, "no value was found", True
    role, word = usual or (None, "")
    ratio, enough = _distinct_ratio(seen, name), seen.kept >= _ENOUGH
    own = enough and ratio >= _UNIQUE
    if is_called_weight(seen, name):
        links = "; nearly every record has its own, which links it to other files: docs/weights.md" if own else ""
        return Role.WEIGHT, f"called '{word}', positive numbers{links}", not own
    if role in NAMES and own:
        return Role.IDENTIFIER, f"called '{word}', and nearly every record has a value of its own", True
    if role in GROUPS and (ratio >= _GROUPED or column.distinct > MOST_KNOWN):
        return role, f"called '{word}'; several records share a value", True
    if role in NAMES and column.distinct == 1 and enough:
        return Role.OTHER, f"called '{word}', and the same of every record, so it names none of them", False
    many = column.distinct > MOST_KNOWN or column.kind in (Kind.TEXT, Kind.NOMINAL)
    if role is Role.IDENTIFIER and (ratio >= 0.5 or (len(word) >= 4 and many)):
        return Role.IDENTIFIER, f"called '{word}'", True
    if column.kind is Kind.TEXT and (form := _other_form(seen, name)):
        said = usual_of(seen, name, without=NAMES) if form == NUMBERS and role not in NAMES else None
        if said is not None and said[0] is not Role.WEIGHT:
            return said[0], f"called '{said[1]}'; {form} that are not read as {form}", False
        return Role.IDENTIFIER, f"{form} that are not read as {form}, most of them different", False
    if column.kind is Kind.TEXT:
        return Role.IDENTIFIER, "free text or names: most values are different", role is None
    called = is_called_free_text(name) or is_called_free_text(seen.said(name).label)
    if (called or role is None) and _is_free_text(seen, name):
        return Role.IDENTIFIER, "texts of several words that somebody wrote: they may name people", called
    if role in NAMES:
        role, other = usual_of(seen, name, without=NAMES) or (None, "")
        if role is None and column.distinct > MOST_KNOWN:
            return Role.IDENTIFIER, f"called '{word}', of many values: whose number is it?", False
        word = other
    if role is Role.OTHER:
        return Role.OTHER, f"called '{word}', which is of the survey and not of the person", True
    if role is Role.SENSITIVE:
        return Role.SENSITIVE, f"called '{word}'", True
    numbered = own and column.distinct > MOST_KNOWN and column.kind is Kind.INTEGER
    if role is Role.QUASI_IDENTIFIER and numbered and are_running(seen.labels[name]):  # child 1, 2, ... 2,500
        return Role.IDENTIFIER, f"called '{word}', and numbered through, a record each", False
    if role is Role.QUASI_IDENTIFIER:
        return Role.QUASI_IDENTIFIER, f"called '{word}', which others know of a person", True
    if role is None and (answered := _answered(seen, name)):
        return answered[0], f"its categories are of {answered[1]}", True
    if own and column.kind in (Kind.INTEGER, Kind.NOMINAL):
        return Role.IDENTIFIER, "nearly every record has a value of its own: a number of the record?", False
    codes = labelled_codes(column, seen.said(name))
    if codes and are_names(codes, column, MINIMUM_CELL):
        return Role.IDENTIFIER, "most of its value labels are of few records each: names or free text?", False
    if column.kind is Kind.INTEGER and column.distinct > MOST_KNOWN and are_long(seen.labels[name]):
        return Role.IDENTIFIER, "long numbers, all of as many digits: of a telephone, an account, a register?", False
    if column.kind is Kind.NOMINAL and column.classification is None and _is_written(seen, name):
        return Role.IDENTIFIER, "many values of one record each beside usual ones: names or free text?", False
    if role is Role.WEIGHT and column.smallest <= 0:
        return (
            Role.OTHER,
            f"called '{word}', and not above nought everywhere: a replicate or alternative weight?",
            False,
        )
    if role is Role.WEIGHT and column.kind is not Kind.INTEGER:  # of the body
        return Role.QUASI_IDENTIFIER, "a weight of the body, which others see", False
    if column.kind is Kind.DATE:
        return Role.QUASI_IDENTIFIER, "a date, by which people are looked up", False
    if is_by_chance(name, seen.columns) and not seen.said(name).label and (guess := usual_role(name)):
        why = f"called '{guess[1]}', as a survey calls it of which few names are here"
        if guess[0] in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            return guess[0], why, False
    if _is_personal(seen, name):
        return Role.OTHER, "an answer on a scale, or a measured number; sensitive, if nobody should learn it", True
    if single is not None and single.separation >= _SEPARATES and not _says_what_it_is(seen, name):
        pairs = f"it tells {100 * single.separation:.0f} of 100 pairs of records apart"
        return Role.QUASI_IDENTIFIER, f"{pairs}; other, if nobody could know it of a person", False
    if column.kind.is_numeric and column.distinct > MOST_KNOWN:
        return Role.OTHER, "an amount; sensitive, if nobody should learn it of a person", False
    return Role.OTHER, "tells few records apart", True


def is_called_weight(seen: Overview, name: str) -> bool:
    """Whether it is a sampling weight by its name, and its values do not speak against it.

    One that is called nothing but 'weight' beside a height or the like is the body's, unless no body weighs so much.
    """
    column, usual = seen.columns[name], usual_of(seen, name)
    if usual is None or usual[0] is not Role.WEIGHT:
        return False
    alone = words_of(name) in (("weight",), ("wt",), ("wgt",), ("wght",), ("gewicht",))
    of_the_body = is_of_the_body(f"{name} {seen.said(name).label}") or (
        alone and column.largest <= _HEAVIEST and any(map(is_of_the_body, seen.columns))
    )
    return column.kind.is_numeric and column.smallest > 0 and not of_the_body


def _distinct_ratio(seen: Overview, name: str) -> float:
    known = seen.kept - int(seen.missing(name).sum())
    different = len([label for label in seen.labels[name] if label is not None])
    return different / known if known else 0.0


def _is_written(seen: Overview, name: str) -> bool:
    """Whether most of many different values are one record's each, as people write them."""
    labels = seen.labels[name]
    alone = np.count_nonzero(np.bincount(seen.codes[name], minlength=len(labels)) == 1)
    return bool(alone > _WRITTEN and 2 * alone > len(labels))


def _is_free_text(seen: Overview, name: str) -> bool:
    """Whether the texts are somebody's own words, by what the column is called, or as most are of many words and of one
    record each."""
    column, said = seen.columns[name], seen.said(name)
    if column.kind not in (Kind.NOMINAL, Kind.BINARY) or column.classification is not None or said.labels:
        return False
    labels = seen.labels[name]
    words = [len(words_of(label)) for label in labels if label is not None]
    if is_called_free_text(name) or is_called_free_text(said.label):
        return 2 * sum(n > 1 for n in words) > len(words)
    alone = np.count_nonzero(np.bincount(seen.codes[name], minlength=len(labels)) == 1)
    return bool(alone > FEW_CODES and 2 * alone > len(labels) and 2 * sum(n > _SENTENCE for n in words) > len(words))


def as_codes(seen: Overview, proposed: Proposal) -> Proposal:
    """Whole numbers that are categories: codes by their name, and few different ones that are not called a count; and
    intervals, which have an order. Ordered ones are listed, so each is of enough records."""
    column = seen.columns[proposed.name]
    times = column.categories
    labels = [label for label in times if label not in proposed.missing_codes]
    if proposed.categories or proposed.role in (*NAMES, Role.WEIGHT) or len(labels) < 2:
        return proposed
    listed = len(labels) <= FEW_CODES and all(times[label] >= MINIMUM_CELL for label in labels)
    if proposed.kind is Kind.NOMINAL and column.classification is None:
        ordered = listed and intervals_in_order(labels) is not None
        return replace(proposed, kind=Kind.ORDINAL) if ordered else proposed
    plain = all(re.fullmatch(r"-?[0-9]+(\.0+)?", label) for label in labels)
    if proposed.kind is not Kind.INTEGER or not plain or len({float(label) for label in labels}) < len(labels):
        return proposed
    if _are_meant(seen.said(proposed.name), column, labels):
        return replace(proposed, kind=Kind.NOMINAL)
    if listed and sorted(float(label) for label in labels) == [0, 1]:
        return replace(proposed, kind=Kind.BINARY)
    known, coded = (
        proposed.role is Role.QUASI_IDENTIFIER,
        is_called_a_code("" if is_by_chance(proposed.name, seen.columns) else proposed.name, proposed.description),
    )
    if len(labels) == 2 and listed and (known or coded or proposed.role is Role.SENSITIVE):
        return replace(proposed, kind=Kind.BINARY)
    if coded:
        return replace(proposed, kind=Kind.NOMINAL)
    if known and listed:
        return replace(proposed, kind=Kind.ORDINAL)
    measured = column.largest > FEW_CODES and _is_called_a_measure(proposed.name, proposed.description)
    money = proposed.role is Role.SENSITIVE and _are_round(labels)
    counts = measured or money or is_called_a_count(proposed.name, proposed.description) or _falls_off(column, labels)
    few = len(labels) <= FEW_CODES and not counts
    return replace(proposed, kind=Kind.BINARY if few and len(labels) == 2 else Kind.NOMINAL) if few else proposed


def _are_meant(said: ColumnDescription, column: ColumnSummary, labels: Sequence[str]) -> bool:
    """Whether a dictionary says of most records what their number means, though not of every number."""
    if not said.labels:
        return False
    times = column.categories
    meant = [times[label] for label in labels if said.labels.get(label, label).strip() != label]
    return len(meant) > 1 and 2 * sum(meant) > sum(times[label] for label in labels)


def _are_round(labels: Sequence[str]) -> bool:
    """Whether whole numbers are amounts in steps, as incomes of classes are: 500, 2500, 12500, and no codes."""
    numbers = [int(float(label)) for label in labels]
    return max(numbers) >= _AMOUNT and all(number % _STEP == 0 for number in numbers)


def _falls_off(column: ColumnSummary, labels: Sequence[str]) -> bool:
    """Whether whole numbers from 0 on without a gap are rarer the larger they are, as counts of children are: few codes
    are numbered from 0, and by how frequent they are."""
    if len(labels) <= _FEWEST_COUNTED or sorted(int(float(label)) for label in labels) != [*range(len(labels))]:
        return False
    counted = column.categories
    times = [counted[label] for label in sorted(labels, key=float)]
    return all(after <= before for before, after in pairwise(times))
