"""What is wrong with a hierarchy, or may be, beyond what its form forbids: names that look alike, values that it lacks.

Levels that are not nested or not equally many, and a leaf that stands twice, are refused before: by `Hierarchy`, and by
the reader of its file.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from sluice.generalization.builders.builder import declared_values
from sluice.ground.errors import DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.values import is_number
from sluice.ground.variables import Kind, Variable

_NAMED = 3  # leaves or categories that a sentence names


@dataclass(frozen=True)
class Remark:
    """A sentence; a fault, or else something to look at."""

    fault: bool
    says: str


def remarks_on(hierarchy: Hierarchy) -> Iterator[Remark]:
    """What shows in the hierarchy alone. Cost: O(leaves x levels)."""
    alike: dict[str, list[str]] = defaultdict(list)
    zeros: dict[str, list[str]] = defaultdict(list)
    for leaf in hierarchy.rows:
        alike[_looks(leaf)].append(leaf)
        zeros[_without_zeros(leaf)].append(leaf)
    for leaves in alike.values():
        if len(leaves) > 1:
            yield Remark(True, f"leaves that differ in case, blanks or accents' form alone: {_listed(leaves)}")
    for leaves in zeros.values():
        if len(leaves) > 1:
            yield Remark(False, f"leaves that are the same number: {_listed(leaves)}; were zeros lost or added?")
    for level in range(1, hierarchy.depth + 1):
        groups = hierarchy.at_level(level)
        strangers = [group for group in set(groups.values()) if group in groups and groups[group] != group]
        for group in sorted(strangers):
            yield Remark(True, f"group '{group}' of level {level} has the name of a leaf that lies in another group")
    for level, (below, here) in enumerate(pairwise(map(hierarchy.at_level, range(hierarchy.depth + 1))), start=1):
        if len(set(below.values())) == len(set(here.values())):
            yield Remark(False, f"level {level} merges nothing of the level below")
    tops = len(set(hierarchy.at_level(hierarchy.depth).values()))
    if tops > 1:
        yield Remark(False, f"the widest level has {tops} groups: no level gives the variable up altogether")


def remarks_for(hierarchy: Hierarchy, variable: Variable) -> Iterator[Remark]:
    """What shows beside the declared domain of a variable. Cost: O(leaves x levels + domain)."""
    if variable.kind in (Kind.NOMINAL, Kind.BINARY) and not variable.categories:
        yield Remark(False, f"'{variable.name}' has no categories in the contract: only data can show what is lacking")
        return
    try:
        declared = declared_values(variable)
    except DocumentError as error:
        yield Remark(True, str(error))
        return
    lacking = [value for value in declared if value not in hierarchy.rows]
    if lacking:
        what = "categories" if variable.kind.is_categorical else "values from minimum to maximum"
        yield Remark(
            True,
            f"has no row for {len(lacking):,} of {len(declared):,} {what} of '{variable.name}': {_listed(lacking)}"
            f"{_near(lacking, hierarchy.rows)}",
        )
    more = set(hierarchy.rows) - set(declared)
    if more:
        yield Remark(False, f"leaves that are no declared value of '{variable.name}': {len(more):,}")
    if variable.kind is Kind.NOMINAL or variable.kind is Kind.BINARY:
        return
    held = [value for value in declared if value in hierarchy.rows]
    for level in range(1, hierarchy.depth + 1):
        groups = [hierarchy.rows[value][level - 1] for value in held]
        runs = bool(groups) + sum(one != other for one, other in pairwise(groups))
        if runs != len(set(groups)):
            yield Remark(False, f"level {level} has groups that are interrupted: recoded to it, the order is lost")


def remarks_with(hierarchy: Hierarchy, counts: Mapping[str, int], declared: Collection[str] = ()) -> Iterator[Remark]:
    """What shows beside the data: values outside the hierarchy, of which only declared ones are named.

    counts : records of each value, by its text as a leaf
    """
    outside = {value: count for value, count in counts.items() if value not in hierarchy.rows}
    if outside:
        named = sorted(set(outside) & set(declared))
        records, values = f"{sum(outside.values()):,} of {sum(counts.values()):,} records", len(outside)
        says = f"{records} lie outside the hierarchy, with {values:,} different value{'s' if values > 1 else ''}"
        says += f", among them {_listed(named)}" if named else ""
        yield Remark(True, says + _near(list(outside), hierarchy.rows, quiet=True))


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in list(names)[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED:,} more"


def _near(lacking: Collection[str], leaves: Collection[str], quiet: bool = False) -> str:
    """A hint where what is lacking is there in another spelling; `quiet` names none of it."""
    spelled = {_looks(leaf): leaf for leaf in leaves}
    numbers = {_without_zeros(leaf): leaf for leaf in leaves}
    for value in lacking:
        if (leaf := spelled.get(_looks(value))) is not None:
            return ". Differ some in case or blanks alone?" if quiet else f". It has '{leaf}'; is that the same?"
        if (leaf := numbers.get(_without_zeros(value))) is not None:
            return ". Were leading zeros lost?" if quiet else f". It has '{leaf}'; were leading zeros lost?"
    return ""


def _looks(name: str) -> str:
    """One spelling of all names that look the same."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _without_zeros(name: str) -> str:
    bare = name.lstrip("0") or "0"
    if not is_number(bare):
        return name
    return f"{float(bare):.17g}"
