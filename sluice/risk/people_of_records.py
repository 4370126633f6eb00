"""People: whose record each record is. Somebody with five records is one person, and a crowd of one.

What is counted to say how well a person is hidden counts people. Without a variable that names them, every record is
somebody else's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.variables import Role, Variables, with_role
from sluice.risk.classes.equivalence_classes import classes_of, equivalence_classes

GROUP_WORDS = {
    Role.PERSON: "person", Role.HOUSEHOLD: "household", Role.CONTRIBUTOR: "contributor", Role.HOLDING: "holding",
}  # fmt: skip


def person_variable(frame: pd.DataFrame, variables: Variables) -> str | None:
    """The column that names the people: the person, or the contributor where there is none."""
    named = [*with_role(variables, Role.PERSON), *with_role(variables, Role.CONTRIBUTOR)]
    return next((name for name in named if name in frame), None)


def people_of(frame: pd.DataFrame, variables: Variables) -> IntArray | None:
    """The person of each record, shape (n,), from 0; None where no column names people.

    A record without a name is a person by itself.
    """
    name = person_variable(frame, variables)
    return None if name is None else _codes(frame[name])


def people_with_several(frame: pd.DataFrame, variables: Variables) -> IntArray | None:
    """As `people_of`, where somebody has several records; else None."""
    people = people_of(frame, variables)
    return None if people is None or len(np.unique(people)) == len(frame) else people


def number_of_people(frame: pd.DataFrame, variables: Variables) -> int:
    """How many people the records are of."""
    people = people_of(frame, variables)
    return len(frame) if people is None else len(np.unique(people))


def once_a_person(frame: pd.DataFrame, variables: Variables, keys: Sequence[str]) -> pd.DataFrame:
    """The records with each person's first one of every combination of keys, so that a class counts people."""
    people = people_of(frame, variables)
    if people is None:
        return frame
    each = equivalence_classes([classes_of(frame, keys).labels, people]).labels
    return frame.iloc[np.sort(np.unique(each, return_index=True)[1])]


def groups_of_people(frame: pd.DataFrame, variables: Variables) -> IntArray:
    """Who must stay together when people are drawn: records of one person or one household, shape (n,), from 0.

    Records are together, too, if a third one joins them: two people who ever shared a household. Without a variable
    that names people or households, every record is by itself.
    """
    from scipy.sparse import coo_array  # loaded where it is needed
    from scipy.sparse.csgraph import connected_components  # loaded where it is needed

    n = len(frame)
    household = [name for name in with_role(variables, Role.HOUSEHOLD) if name in frame]
    person = person_variable(frame, variables)
    names = [*household, *([person] if person else [])]
    codes = [_codes(frame[name]) for name in names]
    if len(codes) < 2:
        return codes[0] if codes else np.arange(n)
    one, other = codes
    links = coo_array((np.ones(n), (one, other + one.max(initial=-1) + 1)), shape=(2 * n + 1, 2 * n + 1))
    return np.asarray(connected_components(links, directed=False)[1][one], dtype=np.int64)


def word_for_groups(frame: pd.DataFrame, variables: Variables) -> str:
    """What `groups_of_people` puts together, in a word."""
    household = any(name in frame for name in with_role(variables, Role.HOUSEHOLD))
    person = person_variable(frame, variables)
    return GROUP_WORDS[Role.HOUSEHOLD if household or person is None else variables[person].role]


def places_of_groups(frame: pd.DataFrame, variables: Variables, groups: IntArray) -> FloatArray:
    """The place of each record's group in the order of the names of households or people, shape (n,): of numbers by
    their size, whatever they are written as; NaN where no record of the group has a name.

    groups : as `groups_of_people` returns them
    """
    person = person_variable(frame, variables)
    names = [*(name for name in with_role(variables, Role.HOUSEHOLD) if name in frame), *([person] if person else [])]
    if not names:
        return groups.astype(np.float64)
    named = frame[names[0]].astype(object)
    numbers = pd.to_numeric(named, errors="coerce")
    named = numbers if (numbers.notna() | named.isna()).all() else named.where(named.isna(), named.astype(str))
    return named.rank(method="dense").groupby(groups).transform("min").to_numpy(np.float64)


def _codes(column: "pd.Series[Any]") -> IntArray:
    codes, names = pd.factorize(column)
    unnamed = codes < 0
    codes = codes.astype(np.int64)
    codes[unnamed] = len(names) + np.arange(np.count_nonzero(unnamed))
    return codes
