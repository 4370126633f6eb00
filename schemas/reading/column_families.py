"""What columns say of each other: those of one question, one scale, one person or household, computed from another;
and of a file that would have no quasi-identifier or nothing sensitive.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from schemas.reading.column_proposal import (
    FEW_CODES,
    MINIMUM_CELL,
    MOST_KNOWN,
    Proposal,
    as_codes,
    is_called_weight,
    usual_of,
)
from schemas.reading.computed_columns import computed_from
from schemas.reading.household import are_long, are_running, looks_like_groups, whose_records
from schemas.reading.leftovers import as_findings, as_one_question, as_their_base, to_check
from schemas.reading.missing_codes import known_span
from schemas.reading.overview import Overview
from schemas.reading.panel import Panel, panel
from schemas.reading.usual_names import (
    is_a_sentence,
    is_called_a_firm,
    is_called_a_wave,
    is_called_for_life,
    is_called_household,
    stem_of,
)
from sluice.ground import values
from sluice.ground.variables import GROUPS, NAMES, Kind, Role
from sluice.ground.visible_text import one_line
from sluice.risk.classes.quasi_identifier_search import combination

_SKEWED = 0.2  # mean less median, in standard deviations: numbers of records are spread evenly
_AMOUNTS = 3  # columns of numbers in which nearly every record has its own: of so many, most are amounts
_KNOWN = 3  # columns that an acquaintance knows, where no name tells which
_MEASURED = 3  # columns of amounts, of which a file of amounts alone has as many at least
_GRADES = (4, 10)  # the highest grade of a scale
_LINES = 3  # columns from 0 to 100 exactly: of so many they are no ages


def beside_others(seen: Overview, columns: Sequence[Proposal]) -> tuple[list[Proposal], Panel | None, bool]:
    """The proposals as the other columns change them, who takes part in which wave of a panel, and whether all are
    measured numbers. Cost: O(columns n log n), for each column whose values may say who was asked."""
    waves = _panel(seen, columns)
    found = [_as_of_panel(seen, each, waves) for each in columns] if waves else list(columns)
    for_life = [name for name in seen.columns if is_called_for_life(name) or is_called_for_life(seen.said(name).label)]
    if not any(each.role in GROUPS for each in found):
        others = [each.name for each in found if each.role in (Role.QUASI_IDENTIFIER, Role.OTHER)]
        found = [_as_group(seen, each, others, for_life) for each in found]
    found = _as_scales(seen, _as_sliders(seen, _as_siblings(seen, _as_amounts(seen, _one_of_each(found)))))
    found = as_findings(seen, as_their_base(seen, as_one_question(seen, found)))
    found = _someone_known(seen, [as_codes(seen, each) for each in found])
    found = _as_computed(seen, _something_sensitive(seen, found))
    numbers_alone = _are_measured(seen, found)
    if numbers_alone:
        found = [_as_measured(each) for each in found]
    return to_check(seen, found), waves, numbers_alone


def _panel(seen: Overview, columns: Sequence[Proposal]) -> Panel | None:
    def called(each: Proposal) -> bool:
        usual = usual_of(seen, each.name)
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
    listed = len(times) <= FEW_CODES and all(records >= MINIMUM_CELL for records in times.values())
    kind = Kind.ORDINAL if listed and proposed.kind in (Kind.INTEGER, Kind.NOMINAL) else proposed.kind
    why = f"in which each {one_line(waves.key)} has a record: others know who took part, and how old they were then"
    return replace(proposed, kind=kind, role=Role.QUASI_IDENTIFIER, why=why, sure=True)


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


def _is_skewed(seen: Overview, name: str) -> bool:
    texts = [label.replace(",", ".") for label in seen.labels[name] if label is not None]
    numbers = np.array([float(text) for text in texts if values.is_number(text)])
    return bool(numbers.size and numbers.mean() - np.median(numbers) > _SKEWED * numbers.std())


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
    """Where no number is sensitive, all amounts; where no column at all is, or else all numbers, or else all that is
    left: a policy that asks what may be learned judges nothing otherwise. That a file has a yes or no which nobody
    should learn does not make its amounts harmless."""
    known = [each for each in columns if each.role is Role.SENSITIVE]
    if any(each.kind.is_numeric for each in known):
        return list(columns)
    others = [
        each
        for each in columns
        if each.role is Role.OTHER
        and len(seen.labels[each.name]) > 1
        and each.kind not in (Kind.TEXT, Kind.ITEMS, Kind.DATE)
        and not is_called_weight(seen, each.name)
        and (usual_of(seen, each.name) or (Role.OTHER,))[0] not in NAMES
        and not is_called_a_wave(each.name)
    ]
    numbers = [each for each in others if each.kind.is_numeric]
    amounts = [each for each in numbers if seen.columns[each.name].distinct > MOST_KNOWN]
    if known and not amounts:
        return list(columns)
    found, what = next(
        (some, what)
        for some, what in ((amounts, "an amount"), (numbers, "a number"), (others, "no trait that others know"))
        if some or some is others
    )
    called = "number" if known else "column"
    why = f"no {called} is called by what nobody should learn of a person, and this one is {what}"
    names = {each.name for each in found}
    return [replace(each, role=Role.SENSITIVE, why=why, sure=False) if each.name in names else each for each in columns]


def _as_computed(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """Columns that are computed from another in the role of that one: who knows the logarithm knows the income."""
    of, given = computed_from(seen), {each.name: each for each in columns}
    made = []
    for each in columns:
        base = given.get(of.get(each.name, ""))
        told = each.sure and each.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        if base is not None and base.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) and not told:
            why = f"computed from {one_line(base.name)}, as its logarithm or square is"
            each = given[each.name] = replace(each, role=base.role, why=why, sure=base.sure)
        made.append(each)
    return made


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
