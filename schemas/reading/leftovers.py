"""Columns of which no name, label or value says anything: what the columns beside them say, and that somebody looks.

Four things are known of such a column. As one of several of which every record ticks exactly one it is an answer to
their question (asian, black, x3, white). With a number behind the name of another (mrt80, mrt) it is the same of
another year or person. In a file of illnesses and treatments it is most likely a finding. And in any other file its
role is what is left, so it is marked for a person to check, as 'other' is the one proposal that protects nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from schemas.reading.abbreviated_names import spelled_out
from schemas.reading.column_proposal import Proposal, are_scale_answers, is_ticked, usual_of
from schemas.reading.overview import Overview
from schemas.reading.usual_names import is_called_a_wave, is_called_by_a_patient, words_of
from sluice.ground.variables import NAMES, Kind, Role
from sluice.ground.visible_text import one_line

_NUMBERED = re.compile(r"[_.]?[0-9]{1,4}$")
_JUDGED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
_TICKED = (3, 60)  # columns of one question, at least and at most
_PATIENTS = 3  # columns of illness or treatment
_OF_ALL = 0.15  # of all columns, at least


def as_one_question(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """Neighbouring columns of which every record ticks exactly one, in the role of those whose names are known."""
    changed: dict[str, Proposal] = {}
    for family in _questions(seen, columns):
        for role in _JUDGED:
            known = [each for each in family if each.role is role and each.sure]
            if known:
                why = f"every record has exactly one of them: an answer to one question with {one_line(known[0].name)}"
                changed |= {
                    each.name: replace(each, role=role, why=why, sure=False)
                    for each in family
                    if each.role is Role.OTHER
                }
                break
    return [changed.get(each.name, each) for each in columns]


def _questions(seen: Overview, columns: Sequence[Proposal]) -> Iterator[list[Proposal]]:
    least, most = _TICKED
    for ticked, run in groupby(columns, lambda each: is_ticked(seen, each.name)):
        beside = list(run) if ticked else []
        at = 0
        while at + least <= len(beside):
            end = at + _of_one_question(seen, [each.name for each in beside[at : at + most]])
            if end - at >= least:
                yield beside[at:end]
            at = max(end, at + 1)


def _of_one_question(seen: Overview, names: Sequence[str]) -> int:
    """Of how many of these, from the first on, every record ticks exactly one; 0 where of none."""
    times = np.zeros(seen.kept, dtype=np.int64)
    known = np.ones(seen.kept, dtype=np.bool_)
    longest = 0
    for n, name in enumerate(names, 1):
        yes = max(label for label in seen.labels[name] if label is not None)  # 1, yes, true, y
        known &= ~seen.missing(name)
        times += np.array([label == yes for label in seen.labels[name]], dtype=np.bool_)[seen.codes[name]]
        if not known.any() or (times[known] > 1).any():
            break
        if (times[known] == 1).all():
            longest = n
    return longest


def as_findings(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """In a file of patients, what is left as sensitive: nodes, grade, er are findings of somebody."""
    medical = [
        each
        for each in columns
        if is_called_by_a_patient((*words_of(each.name), *spelled_out(each.name)))
        or is_called_by_a_patient(words_of(each.description))
    ]
    if len(medical) < max(_PATIENTS, _OF_ALL * len(columns)):
        return list(columns)
    why = f"no name says what it is, and {one_line(medical[0].name)} and others are of illness or treatment: a finding?"
    return [
        replace(each, role=Role.SENSITIVE, why=why, sure=False) if _is_left(seen, each) else each for each in columns
    ]


def as_their_base(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """A column that nothing is known of and that is called as another with a number behind it, in the role of that one:
    mrt80 beside mrt is the same of another year."""
    given = {each.name: each for each in columns}
    made = []
    for each in columns:
        base = given.get(_NUMBERED.sub("", each.name), each)
        if base is not each and base.sure and base.role in _JUDGED and _is_left(seen, each):
            why = f"as {one_line(base.name)} with a number behind it"
            each = replace(each, role=base.role, why=why, sure=False)
        made.append(each)
    return made


def to_check(seen: Overview, columns: Sequence[Proposal]) -> list[Proposal]:
    """All that are 'other' as nothing spoke for anything else, as less certain."""
    return [
        replace(each, sure=False, why=f"{each.why}; nothing says what it is")
        if each.sure and _is_left(seen, each)
        else each
        for each in columns
    ]


def _is_left(seen: Overview, proposed: Proposal) -> bool:
    """Whether it is 'other' and holds something, and is neither called so nor an answer on a scale or a wave."""
    return (
        proposed.role is Role.OTHER
        and proposed.kind not in (Kind.TEXT, Kind.ITEMS)
        and sum(label is not None for label in seen.labels[proposed.name]) > 1
        and usual_of(seen, proposed.name, without=NAMES) is None  # an id of a few codes may be of anything
        and not is_called_a_wave(proposed.name)
        and not are_scale_answers(seen, proposed.name)
    )
