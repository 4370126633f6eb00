"""What a contract may say of each column, proposed from names, values and what the columns single out, with reasons.

A proposal errs on the side of whoever is in the data: a column that nobody knows but that tells people apart is
proposed as a quasi-identifier. A person decides. The reasons travel with the drafted contract, so they hold no value
that fewer records have than the minimum cell, and figures as rounded shares.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import numpy as np

from schemas.reading.computed_columns import computed_from, repeats
from schemas.reading.editions import period_column, record_key
from schemas.reading.household import are_long, are_running, looks_like_groups, whose_records
from schemas.reading.interval_categories import are_ages, intervals_in_order
from schemas.reading.missing_codes import (
    are_names,
    declared_codes,
    doubtful_codes,
    far_codes,
    kind_of_codes,
    known_span,
    labelled_codes,
    marks_of,
    may_be_listed,
    negative_codes,
    told_labels,
)
from schemas.reading.other_forms import NUMBERS, is_read, other_form
from schemas.reading.overview import Overview
from schemas.reading.panel import Panel, panel
from schemas.reading.universe import universe_of
from schemas.reading.usual_names import (
    answered_role,
    are_opinions,
    are_ratings,
    ends_as_a_measure,
    is_a_sentence,
    is_asked_as_an_opinion,
    is_by_chance,
    is_called_a_code,
    is_called_a_count,
    is_called_a_day,
    is_called_a_firm,
    is_called_a_measure,
    is_called_for_life,
    is_called_free_text,
    is_called_household,
    is_denial,
    is_neutral,
    is_of_another_survey,
    is_of_the_body,
    names_grades,
    stem_of,
    usual_role,
    words_of,
)
from schemas.reading.written_dates import read_by_formats
from sluice.ground import values
from sluice.ground.errors import SluiceError
from sluice.ground.variables import GROUPS, NAMES, Kind, Role
from sluice.ground.visible_text import one_line, visible
from sluice.reading.kind import ColumnSummary
from sluice.reading.period import Length
from sluice.risk.classes.quasi_identifier_search import (
    Combination,
    combination,
    search_quasi_identifiers,
)
from sluice.sources.tabular_source import ColumnDescription

MINIMUM_CELL = 10
"""A value that fewer records have is shown nowhere."""

_UNIQUE = 0.98  # distinct values as a share of those known: nearly every record has its own
_GROUPED = 0.05  # of a name of people or households: fewer are a code of something else
_ENOUGH = 50  # records: of fewer, all different is no sign
_SEPARATES = 0.8  # share of the pairs of records that a column tells apart: five groups of equal size
_MOST_KNOWN = 150  # different numbers: ages, years of birth, hours a week; of more it is an amount
_FEW_CODES = 12  # different whole numbers that may be codes
_FEWEST_COUNTED = 3  # different numbers, as which codes may fall off by chance
_SKEWED = 0.2  # mean less median, in standard deviations: numbers of records are spread evenly
_AMOUNTS = 3  # columns of numbers in which nearly every record has its own: of so many, most are amounts
_HEAVIEST = 1500  # of a body, in kilograms or pounds; nobody writes grams with decimals
_KNOWN = 3  # columns that an acquaintance knows, where no name tells which
_MEASURED = 3  # columns of amounts, of which a file of amounts alone has as many at least
_MOST_GRADES = 30  # different answers on a scale, at most
_MOST_SEARCHED = 40  # columns whose pairs are looked at
_GRADES = (4, 10)  # the highest grade of a scale
_LINES = 3  # columns from 0 to 100 exactly: of so many they are no ages
_FEW_OTHERS = 0.2  # share of the records: so few are slips, of which the first is named
_RARE = 0.2  # share of the records: what so few have, groups of ten are often without
_SENTENCE = 4  # words; a text of more is no name of a category, where most are of one record each
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


@dataclass(frozen=True)
class Proposals:
    """All columns, in their order, and the variables that together name one record.

    period        : of an edition, the column that holds it and its length; None where no column has one period alone
    numbers_alone : whether all are measured numbers, which nobody shares: nobody is looked for by a group then
    panel         : who takes part in which wave, where the file is a panel
    """

    columns: tuple[Proposal, ...]
    record_key: tuple[str, ...]
    numbers_alone: bool = False
    period: tuple[str, Length] | None = None
    panel: Panel | None = None

    def by_name(self, name: str) -> Proposal:
        return next(each for each in self.columns if each.name == name)

    def people(self, seen: Overview) -> int:
        """How many people the records that were kept are of: where a column names them, of somebody's several one
        counts. Of all records where none does."""
        for role in (Role.PERSON, Role.CONTRIBUTOR):
            for each in self.columns:
                if each.role is role:
                    different = len(seen.labels[each.name]) - (None in seen.labels[each.name])
                    return different + int(seen.missing(each.name).sum())
        return seen.records


def propose(seen: Overview) -> Proposals:
    """Proposals for all columns. Cost: O(columns n log n), for each column whose values may say who was asked."""
    searchable = set(_searchable(seen)) if seen.kept > 1 else set()
    columns = []
    for name, codes in seen.codes.items():
        single = combination([codes], [0]) if name in searchable else None
        columns.append(_proposal(seen, name, single))
    waves = _panel(seen, columns)
    columns = [_as_of_panel(seen, each, waves) for each in columns] if waves else columns
    for_life = [name for name in seen.columns if is_called_for_life(name) or is_called_for_life(seen.said(name).label)]
    if not any(each.role in GROUPS for each in columns):
        others = [each.name for each in columns if each.role in (Role.QUASI_IDENTIFIER, Role.OTHER)]
        columns = [_as_group(seen, each, others, for_life) for each in columns]
    columns = _one_of_each(columns)
    columns = _as_scales(seen, _as_sliders(seen, _as_siblings(seen, _as_amounts(seen, columns))))
    columns = _someone_known(seen, [_as_codes(seen, each) for each in columns])
    columns = _as_computed(seen, _something_sensitive(seen, columns))
    numbers_alone = _are_measured(seen, columns)
    if numbers_alone:
        columns = [_as_measured(each) for each in columns]
    same = repeats(seen)
    columns = [replace(each, repeats=same.get(each.name, ""), harmless=_denied_of_most(seen, each)) for each in columns]
    key, period = _told_apart(seen, columns, waves)
    return Proposals(tuple(columns), tuple(key), numbers_alone, period, waves)


def with_role(seen: Overview, proposed: Proposal, role: Role, why: str) -> Proposal:
    """The column in a role that a person chose; a name of somebody has no categories."""
    chosen = replace(proposed, role=role, why=why, sure=True)
    chosen = replace(chosen, harmless=_denied_of_most(seen, chosen))
    if role not in NAMES:
        return chosen
    return replace(chosen, kind=seen.columns[proposed.name].kind, categories=(), labels={})


def coherent(proposed: Proposals) -> Proposals:
    """Raise SluiceError for roles that no contract takes; a key that is no identifier any more is none."""
    for role in (Role.WEIGHT, Role.PERSON, Role.HOUSEHOLD):
        several = [one_line(each.name) for each in proposed.columns if each.role is role]
        if len(several) > 1:
            raise SluiceError(f"role {role}: one column at most has it; got {', '.join(several)}. Nothing was written.")
    for each in proposed.columns:
        if each.role is Role.WEIGHT and not each.kind.is_numeric:
            raise SluiceError(f"role weight: {one_line(each.name)} is {each.kind}, no number. Nothing was written.")
    identifiers = {each.name for each in proposed.columns if each.role is Role.IDENTIFIER}
    return replace(proposed, record_key=tuple(name for name in proposed.record_key if name in identifiers))


def worst_sets(seen: Overview, names: Sequence[str]) -> list[Combination]:
    """The pair and the three of these columns that single out most people; positions are those of `names`.

    Of many columns those are looked at that tell most people apart by themselves: pairs grow with their square.
    """
    if len(names) < 2 or seen.kept < 2:
        return []
    asked = tuple(names)  # of a wide file the search takes seconds, and several documents show what it found
    if asked not in seen.worst_sets:
        places = list(range(len(names)))
        if len(places) > _MOST_SEARCHED:
            apart = [combination([seen.codes[name]], [0]).separation for name in names]
            places = sorted(sorted(places, key=lambda at: -apart[at])[:_MOST_SEARCHED])
        found = search_quasi_identifiers([seen.codes[names[at]] for at in places], 3, 1).best
        seen.worst_sets[asked] = [
            replace(each, columns=tuple(places[position] for position in each.columns)) for each in found
        ]
    return seen.worst_sets[asked]


def share(part: float, of: int) -> str:
    """A share in words that tells of no small count."""
    count = part * of
    if count < MINIMUM_CELL:
        return "hardly any" if count else "none"
    if of - count < MINIMUM_CELL:
        return "nearly all" if of - count else "all"
    return f"{100 * part:.0f} %" if part >= 0.01 else "under 1 %"


def _searchable(seen: Overview) -> Iterator[str]:
    """Columns that may tell people apart without being a name of theirs, nor an exact amount."""
    for name, column in seen.columns.items():
        usual = _usual(seen, name)
        amount = column.kind is Kind.CONTINUOUS or (column.distinct > _MOST_KNOWN and column.kind is Kind.INTEGER)
        known = usual is not None and usual[0] is Role.QUASI_IDENTIFIER
        fit = column.known and column.kind not in (Kind.TEXT, Kind.ITEMS) and (known or not amount)
        if fit and (_distinct_ratio(seen, name) < _UNIQUE or seen.kept < _ENOUGH):
            yield name


def _proposal(seen: Overview, name: str, single: Combination | None) -> Proposal:
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
        return column.kind
    return kind_of_codes(codes, said) if listed else Kind.NOMINAL  # an order has to be listed


def _usual(seen: Overview, name: str, without: Collection[Role] = ()) -> tuple[Role, str] | None:
    """By the name of a column, or else by its label: v012, 'Age in years'. Of answers on a scale and measured numbers a
    label does not say what others know: 'How often do you see your family', 'Family score'."""
    weak = _is_personal(seen, name)
    beside = (*without, Role.QUASI_IDENTIFIER) if weak else without
    grades = names_grades(seen.said(name).label) or are_opinions(_answers(seen, name))
    asks = is_a_sentence(name) or grades or ends_as_a_measure(name)
    label = seen.said(name).label
    says_nothing = is_of_another_survey(name, label) or is_by_chance(name, seen.columns)
    found = None if says_nothing else usual_role(name, beside if asks else without)
    told = usual_role(label, beside)
    if found and told and len(told[1]) > len(found[1]) and f" {found[1]} " in f" {told[1]} ":
        return told  # discharge: 'Sign of discharge' is not the one from hospital
    return found or told


def _is_personal(seen: Overview, name: str) -> bool:
    """Whether a column holds what nobody else knows of a person: answers on a scale, or a measured number."""
    column, said = seen.columns[name], seen.said(name)
    if are_ratings(_answers(seen, name)) or is_asked_as_an_opinion(said.label):
        return True
    return column.kind.is_numeric and not said.labels and (is_called_a_measure(name) or is_called_a_measure(said.label))


def _answers(seen: Overview, name: str) -> Collection[str]:
    """What the codes of a column mean, but for missing answers; or else its few values."""
    column, said = seen.columns[name], seen.said(name)
    if said.labels:
        return [means for code, means in said.labels.items() if not said.is_missing(code)]
    return column.categories if column.distinct <= _MOST_GRADES else ()


def _answered(seen: Overview, name: str) -> tuple[Role, str] | None:
    """The role by the answers, and what they are of, where neither name nor label says anything."""
    answers = _answers(seen, name)
    ages = are_ages([answer for answer in answers if not is_neutral(answer)])
    found = (Role.QUASI_IDENTIFIER, "age") if ages else answered_role(answers)
    return found if found and not (found[0] is Role.QUASI_IDENTIFIER and _is_personal(seen, name)) else None


def _role(seen: Overview, name: str, single: Combination | None) -> tuple[Role, str, bool]:
    """Role, reason, and whether both name and values speak for it."""
    column, usual = seen.columns[name], _usual(seen, name)
    if not column.known:
        return Role.OTHER, "no value was found", True
    role, word = usual or (None, "")
    ratio, enough = _distinct_ratio(seen, name), seen.kept >= _ENOUGH
    own = enough and ratio >= _UNIQUE
    if _is_called_weight(seen, name):
        links = "; nearly every record has its own, which links it to other files: docs/weights.md" if own else ""
        return Role.WEIGHT, f"called '{word}', positive numbers{links}", not own
    if role in NAMES and own:
        return Role.IDENTIFIER, f"called '{word}', and nearly every record has a value of its own", True
    if role in GROUPS and (ratio >= _GROUPED or column.distinct > _MOST_KNOWN):
        return role, f"called '{word}'; several records share a value", True
    if role is Role.IDENTIFIER and (ratio >= 0.5 or (len(word) >= 4 and column.kind in (Kind.TEXT, Kind.NOMINAL))):
        return Role.IDENTIFIER, f"called '{word}'", True
    if column.kind is Kind.TEXT and (form := _other_form(seen, name)):
        said = _usual(seen, name, without=NAMES) if form == NUMBERS and role not in NAMES else None
        if said is not None and said[0] is not Role.WEIGHT:
            return said[0], f"called '{said[1]}'; {form} that are not read as {form}", False
        return Role.IDENTIFIER, f"{form} that are not read as {form}, most of them different", False
    if column.kind is Kind.TEXT:
        return Role.IDENTIFIER, "free text or names: most values are different", role is None
    called = is_called_free_text(name) or is_called_free_text(seen.said(name).label)
    if (called or role is None) and _is_free_text(seen, name):
        return Role.IDENTIFIER, "texts of several words that somebody wrote: they may name people", called
    if role in NAMES:
        role, word = _usual(seen, name, without=NAMES) or (None, "")
    if role is Role.OTHER:
        return Role.OTHER, f"called '{word}', which is of the survey and not of the person", True
    if role is Role.SENSITIVE:
        return Role.SENSITIVE, f"called '{word}'", True
    if role is Role.QUASI_IDENTIFIER:
        return Role.QUASI_IDENTIFIER, f"called '{word}', which others know of a person", True
    if role is None and (answered := _answered(seen, name)):
        return answered[0], f"its categories are of {answered[1]}", True
    if own and column.kind in (Kind.INTEGER, Kind.NOMINAL):
        return Role.IDENTIFIER, "nearly every record has a value of its own: a number of the record?", False
    codes = labelled_codes(column, seen.said(name))
    if codes and are_names(codes, column, MINIMUM_CELL):
        return Role.IDENTIFIER, "most of its value labels are of few records each: names or free text?", False
    if column.kind is Kind.INTEGER and column.distinct > _MOST_KNOWN and are_long(seen.labels[name]):
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
    if single is not None and single.separation >= _SEPARATES:
        pairs = f"it tells {100 * single.separation:.0f} of 100 pairs of records apart"
        return Role.QUASI_IDENTIFIER, f"{pairs}; other, if nobody could know it of a person", False
    if column.kind.is_numeric and column.distinct > _MOST_KNOWN:
        return Role.OTHER, "an amount; sensitive, if nobody should learn it of a person", False
    return Role.OTHER, "tells few records apart", True


def _as_amounts(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """Numbers that were taken for those of records as all differ: skewed ones, and of many all but the first, are not.

    A file of turnover, wages and taxes to the cent would lose all of them otherwise.
    """
    unnamed = [
        each
        for each in columns
        if each.role is Role.IDENTIFIER
        and each.kind is Kind.INTEGER
        and not each.sure
        and not (are_long(seen.labels[each.name]) or are_running(seen.labels[each.name]))
    ]
    amounts = [each for each in unnamed if _is_skewed(seen, each.name)]
    if len(unnamed) >= _AMOUNTS:
        amounts += unnamed[1:]
    why = "an amount, different for nearly every record; identifier, if it is a number of the record"
    return [replace(each, role=Role.OTHER, why=why) if each in amounts else each for each in columns]


def _as_siblings(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """Columns of one question, whose names differ in the last number alone, in one role.

    Of answers one by one what words say of some holds of all: 'level of education: primary', 'secondary'. And what only
    its values made a quasi-identifier is what most of them are.
    """
    families: dict[str, list[Proposal]] = {}
    for each in columns:
        if (stem := stem_of(each.name)) != each.name and each.role not in (*NAMES, Role.WEIGHT, Role.HOUSEHOLD):
            families.setdefault(stem, []).append(each)
    changed: dict[str, Proposal] = {}
    for family in families.values():
        called = [each for each in family if each.role is Role.QUASI_IDENTIFIER and each.sure]
        guessed = [each for each in family if each.role is Role.QUASI_IDENTIFIER and not each.sure]
        others = [each for each in family if each.role is not Role.QUASI_IDENTIFIER]
        why = f"as {one_line(family[0].name)} and its like"
        if called and all(seen.columns[each.name].distinct == 2 for each in family):
            same = [each for each in others if each.role is Role.OTHER]
            changed |= {each.name: replace(each, role=Role.QUASI_IDENTIFIER, why=why) for each in same}
        elif len(others) > len(family) / 2 and len(family) > 2:
            role = (
                Role.SENSITIVE if 2 * sum(each.role is Role.SENSITIVE for each in others) > len(others) else Role.OTHER
            )
            changed |= {each.name: replace(each, role=role, why=why, sure=False) for each in guessed}
    return [changed.get(each.name, each) for each in columns]


def _as_sliders(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """Whole numbers that nothing but their values made quasi-identifiers, and that go from 0 to 100 in several columns,
    are answers on a line: a file has an age or two that go so far, and its first and last are not reached exactly."""
    drawn = [
        each.name
        for each in columns
        if each.role is Role.QUASI_IDENTIFIER and not each.sure and each.kind is Kind.INTEGER and not each.categories
        if (seen.columns[each.name].smallest, seen.columns[each.name].largest) == (0, 100)
    ]
    why = "from 0 to 100 as others: answers on a line? quasi-identifier, if others know it of a person"
    return [
        replace(each, role=Role.OTHER, why=why) if len(drawn) >= _LINES and each.name in drawn else each
        for each in columns
    ]


def _as_scales(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """Columns of one question that all go from 0 or 1 to the same small number are answers on a scale: what their
    values made of them, or a word of a statement ('The family suffers'), makes nobody known."""
    families: dict[tuple[object, ...], list[Proposal]] = {}
    for place, (scale, run) in enumerate(groupby(columns, lambda each: _scale(seen, each))):
        if scale is not None:  # Q3_1, Q3_2 wherever they stand, V12, V13 beside each other
            families.setdefault((*scale, place if len(scale[0]) == 1 else 0), []).extend(run)
    changed: dict[str, Proposal] = {}
    for family in families.values():
        known = [each for each in family if each.role is Role.QUASI_IDENTIFIER]
        stated = [each for each in known if not each.sure or is_a_sentence(each.description)]
        if len(family) >= _LINES and 2 * (len(known) - len(stated)) < len(family):
            why = f"on the scale of {one_line(family[0].name)} and its like; quasi-identifier, if others know it"
            changed |= {each.name: replace(each, role=Role.OTHER, why=why, sure=False) for each in stated}
    return [changed.get(each.name, each) for each in columns]


def _scale(seen: Overview, proposed: Proposal) -> tuple[str, float, float] | None:
    """What a name begins with before its last number, and the ends of a small scale; None where it is none."""
    stem = re.sub(r"[\W_]*[0-9]+[a-zA-Z]?$", "", proposed.name)
    low, high = known_span(seen.columns[proposed.name], (*proposed.missing_codes, *proposed.doubtful_codes))
    small = proposed.kind is Kind.INTEGER and low in (0, 1) and _GRADES[0] <= high <= _GRADES[1]
    return (stem, low, high) if small and stem not in ("", proposed.name) else None


def _is_skewed(seen: Overview, name: str) -> bool:
    texts = [label.replace(",", ".") for label in seen.labels[name] if label is not None]
    numbers = np.array([float(text) for text in texts if values.is_number(text)])
    return bool(numbers.size and numbers.mean() - np.median(numbers) > _SKEWED * numbers.std())


def _is_called_weight(seen: Overview, name: str) -> bool:
    """Whether it is a sampling weight by its name, and its values do not speak against it.

    One that is called nothing but 'weight' beside a height or the like is the body's, unless no body weighs so much.
    """
    column, usual = seen.columns[name], _usual(seen, name)
    if usual is None or usual[0] is not Role.WEIGHT:
        return False
    alone = words_of(name) in (("weight",), ("wt",))
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
    return bool(alone > _FEW_CODES and 2 * alone > len(labels) and 2 * sum(n > _SENTENCE for n in words) > len(words))


def _panel(seen: Overview, columns: Sequence[Proposal]) -> Panel | None:
    def called(each: Proposal) -> bool:
        usual = _usual(seen, each.name)
        return usual is not None and usual[0] in NAMES

    fit = [
        each
        for each in columns
        if each.kind in (Kind.INTEGER, Kind.NOMINAL, Kind.TEXT)
        and not each.categories
        and (each.role in NAMES or not each.sure)
        and each.role is not Role.WEIGHT
    ]
    keys = [each.name for each in sorted(fit, key=lambda each: not called(each))]
    return panel(seen, keys, [each.name for each in columns if each.role in (Role.QUASI_IDENTIFIER, Role.OTHER)])


def _as_of_panel(seen: Overview, proposed: Proposal, waves: Panel) -> Proposal:
    """The key of a panel names its people or firms; the wave is known with whatever else is known of one, as an age."""
    if proposed.name == waves.key:
        if proposed.role in GROUPS:
            return proposed
        firm = is_called_a_firm(proposed.name) or is_called_a_firm(seen.said(proposed.name).label)
        role = Role.CONTRIBUTOR if firm else Role.PERSON
        why = (
            f"names who takes part, once in each {one_line(waves.wave)}: {'a firm' if firm else 'a person, or a firm?'}"
        )
        return replace(proposed, kind=seen.columns[proposed.name].kind, role=role, why=why, sure=firm)
    if proposed.name in waves.others:
        why = f"names the same as {one_line(waves.key)}"
        return replace(proposed, role=Role.IDENTIFIER, why=why, sure=False)
    if proposed.name != waves.wave or proposed.role not in (Role.QUASI_IDENTIFIER, Role.OTHER):
        return proposed
    times = seen.columns[proposed.name].categories
    listed = len(times) <= _FEW_CODES and all(records >= MINIMUM_CELL for records in times.values())
    kind = Kind.ORDINAL if listed and proposed.kind in (Kind.INTEGER, Kind.NOMINAL) else proposed.kind
    why = f"in which each {one_line(waves.key)} has a record: others know who took part, and how old they were then"
    return replace(proposed, kind=kind, role=Role.QUASI_IDENTIFIER, why=why, sure=True)


def _as_computed(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """Columns that are computed from another in the role of that one: who knows the logarithm knows the income."""
    of, given = computed_from(seen), {each.name: each for each in columns}
    made = []
    for each in columns:
        base = given.get(of.get(each.name, ""))
        told = each.sure and each.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        if base is not None and base.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) and not told:
            why = f"computed from {one_line(base.name)}, as its logarithm or square is"
            each = replace(each, role=base.role, why=why, sure=base.sure)
        made.append(each)
    return made


def _as_group(seen: Overview, proposed: Proposal, others: Sequence[str], for_life: Sequence[str]) -> Proposal:
    """A column without a telling name of which several records have a value each: one person's, if they agree in what
    people keep for life, or a household's, if their groups are small and have attributes in common."""
    called = proposed.role is Role.WEIGHT or (proposed.sure and proposed.role is not Role.IDENTIFIER)
    if called:
        return proposed
    if proposed.kind not in (Kind.INTEGER, Kind.NOMINAL, Kind.TEXT) or proposed.categories:  # a code list names nobody
        return proposed
    of_one = whose_records(seen, proposed.name, [name for name in for_life if name != proposed.name])
    if of_one:
        why = "records that share a value agree in what people keep for life: several of one person?"
        return replace(proposed, role=Role.PERSON, why=why, sure=False)
    named = is_called_household(proposed.name)
    beside = (name for name in others if name != proposed.name)
    small = seen.is_whole and looks_like_groups(seen, proposed.name, beside, attributes=1 if named else 2)
    if not small or proposed.sure:
        return proposed
    if of_one is None and not named:  # the stricter of the two: a household's records count once
        why = "a few records share a value each, and agree in other columns: of one person, or a household?"
        return replace(proposed, role=Role.PERSON, why=why)
    why = "a few records share a value each, and agree in other columns: a household?"
    return replace(proposed, role=Role.HOUSEHOLD, why=why)


def _one_of_each(columns: Sequence[Proposal]) -> list[Proposal]:
    """A contract has one weight, one person, one household at most: of several the one with most values is it."""
    found: list[Proposal] = []
    taken: set[Role] = set()
    for each in columns:
        if each.role in (Role.WEIGHT, *GROUPS) and each.role in taken:
            other = Role.OTHER if each.role is Role.WEIGHT else Role.IDENTIFIER
            why = f"a second {each.role}, of which a contract has one"
            if each.role is Role.WEIGHT:
                why += ": a replicate or alternative weight is released as a number, or left out; docs/weights.md"
            each = replace(each, role=other, why=why, sure=False)
        taken.add(each.role)
        found.append(each)
    return found


def _as_codes(seen: Overview, proposed: Proposal) -> Proposal:
    """Whole numbers that are categories: codes by their name, and few different ones that are not called a count; and
    intervals, which have an order. Ordered ones are listed, so each is of enough records."""
    column = seen.columns[proposed.name]
    times = column.categories
    labels = [label for label in times if label not in proposed.missing_codes]
    if proposed.categories or proposed.role in (*NAMES, Role.WEIGHT) or len(labels) < 2:
        return proposed
    listed = len(labels) <= _FEW_CODES and all(times[label] >= MINIMUM_CELL for label in labels)
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
    counts = is_called_a_count(proposed.name, proposed.description) or _falls_off(column, labels)
    few = len(labels) <= _FEW_CODES and not counts
    return replace(proposed, kind=Kind.BINARY if few and len(labels) == 2 else Kind.NOMINAL) if few else proposed


def _are_meant(said: ColumnDescription, column: ColumnSummary, labels: Sequence[str]) -> bool:
    """Whether a dictionary says of most records what their number means, though not of every number."""
    if not said.labels:
        return False
    times = column.categories
    meant = [times[label] for label in labels if said.labels.get(label, label).strip() != label]
    return len(meant) > 1 and 2 * sum(meant) > sum(times[label] for label in labels)


def _falls_off(column: ColumnSummary, labels: Sequence[str]) -> bool:
    """Whether whole numbers from 0 on without a gap are rarer the larger they are, as counts of children are: few codes
    are numbered from 0, and by how frequent they are."""
    if len(labels) <= _FEWEST_COUNTED or sorted(int(float(label)) for label in labels) != [*range(len(labels))]:
        return False
    counted = column.categories
    times = [counted[label] for label in sorted(labels, key=float)]
    return all(after <= before for before, after in pairwise(times))


def _someone_known(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """Where no column is a quasi-identifier, those that tell most people apart: no file is safe that nobody knows."""
    if any(each.role is Role.QUASI_IDENTIFIER for each in columns):
        return list(columns)
    there = [each for each in columns if seen.columns[each.name].known and len(seen.labels[each.name]) > 1]
    others = [each for each in there if each.role is Role.OTHER]
    fit = others or [each for each in there if each.role is Role.SENSITIVE]
    apart = {each.name: combination([seen.codes[each.name]], [0]).separation for each in fit if seen.kept > 1}
    most = sorted(apart, key=lambda name: -apart[name])[:_KNOWN]
    why = "no column is called by what others know of a person, and this one tells most people apart"
    return [
        replace(each, role=Role.QUASI_IDENTIFIER, why=why, sure=False) if each.name in most else each
        for each in columns
    ]


def _something_sensitive(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """Where no column is sensitive, all amounts, or else all numbers, or else all that is left: a policy that asks what
    may be learned judges nothing otherwise."""
    if any(each.role is Role.SENSITIVE for each in columns):
        return list(columns)
    others = [
        each
        for each in columns
        if each.role is Role.OTHER
        and len(seen.labels[each.name]) > 1
        and each.kind not in (Kind.TEXT, Kind.ITEMS, Kind.DATE)
        and not _is_called_weight(seen, each.name)
    ]
    numbers = [each for each in others if each.kind.is_numeric]
    amounts = [each for each in numbers if seen.columns[each.name].distinct > _MOST_KNOWN]
    found, what = next(
        (some, what)
        for some, what in ((amounts, "an amount"), (numbers, "a number"), (others, "no trait that others know"))
        if some or some is others
    )
    why = f"no column is called by what nobody should learn of a person, and this one is {what}"
    names = {each.name for each in found}
    return [replace(each, role=Role.SENSITIVE, why=why, sure=False) if each.name in names else each for each in columns]


def _denied_of_most(seen: Overview, proposed: Proposal) -> str:
    """Of a sensitive variable of two values that which most people have and that denies something of them: that few
    have diabetes does not make it a secret who has none. Empty where there is none."""
    found = seen.columns[proposed.name].categories
    labels = {label: times for label, times in found.items() if label not in proposed.missing_codes}
    if proposed.role is not Role.SENSITIVE or not proposed.kind.is_categorical or len(labels) != 2:
        return ""
    most = max(labels, key=lambda label: labels[label])
    denies = is_denial(proposed.labels.get(most) or seen.said(proposed.name).labels.get(most) or most)
    rare = min(labels.values())
    return most if denies and rare >= MINIMUM_CELL and rare <= _RARE * sum(labels.values()) else ""


def _are_measured(seen: Overview, columns: Sequence[Proposal]) -> bool:
    """Whether all but the names are amounts, and none is called by what others know: no groups can be formed then."""
    found = [each for each in columns if each.role not in (*NAMES, Role.WEIGHT) and seen.columns[each.name].known]
    known = any(each.role is Role.QUASI_IDENTIFIER and each.sure for each in found)
    return (
        not known
        and len(found) >= _MEASURED
        and all(each.kind.is_numeric and seen.is_measured(each.name) for each in found)
    )


def _as_measured(proposed: Proposal) -> Proposal:
    if proposed.role is not Role.QUASI_IDENTIFIER:
        return proposed
    why = "a measured number, as all are; a quasi-identifier, if others know it of a person"
    return replace(proposed, role=Role.OTHER, why=why, sure=False)


def _told_apart(
    seen: Overview, columns: Sequence[Proposal], waves: Panel | None
) -> tuple[list[str], tuple[str, Length] | None]:
    """The record key, and the column of the period."""
    plain = [each for each in columns if each.kind is not Kind.CONTINUOUS]
    key = record_key(
        seen,
        [each.name for each in columns if each.role is Role.IDENTIFIER and not each.other_form],
        [each.name for each in columns if each.role in GROUPS],
        [
            each.name
            for each in plain
            if not (each.sure and each.role is Role.QUASI_IDENTIFIER) or (waves is not None and each.name == waves.wave)
        ],
    )
    return key, period_column(seen, (each.name for each in plain if each.role is Role.OTHER))


def in_words(found: Combination, names: Sequence[str], of: int) -> str:
    """One line on a set of columns."""
    together = ", ".join(one_line(names[at]) for at in found.columns)
    alone = share(found.alone, of)
    if alone == "none":
        return f"{together}: no record is alone with its combination"
    return f"{together}: {alone} of the records are alone with their combination"
