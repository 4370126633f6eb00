"""What a contract may say of all columns of a file: `column_proposal` of each, `column_families` beside the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.reading.column_families import beside_others
from schemas.reading.column_proposal import MINIMUM_CELL, Proposal, proposed_alone, searchable
from schemas.reading.computed_columns import repeats
from schemas.reading.editions import period_column, record_key
from schemas.reading.overview import Overview
from schemas.reading.panel import Panel
from schemas.reading.usual_names import is_denial
from sluice.ground.errors import SluiceError
from sluice.ground.variables import GROUPS, NAMES, Kind, Role
from sluice.ground.visible_text import one_line
from sluice.reading.period import Length
from sluice.risk.classes.quasi_identifier_search import Combination, combination, search_quasi_identifiers

_MOST_SEARCHED = 40  # columns whose pairs are looked at
_RARE = 0.2  # share of the records: what so few have, groups of ten are often without


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
    """Proposals for all columns. Cost: O(columns n log n)."""
    fit = set(searchable(seen)) if seen.kept > 1 else set()
    alone = [
        proposed_alone(seen, name, combination([codes], [0]) if name in fit else None)
        for name, codes in seen.codes.items()
    ]
    columns, waves, numbers_alone = beside_others(seen, alone)
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
