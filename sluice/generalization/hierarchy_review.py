"""The tree of a hierarchy as it is shown: groups from the widest down to the leaves, of which long lists are cut.

Records are counted for a level only where each of its groups holds the minimum cell. To leave out, or to round, single
counts would not do: 105 in a group less 100 in one of its two values are 5 in the other.

What is wrong with a hierarchy, or may be, beyond what its form forbids: names that look alike, values that it lacks.

Levels that are not nested or not equally many, and a leaf that stands twice, are refused before: by `Hierarchy`, and by
the reader of its file.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sluice.generalization.builders.builder import declared_values
from sluice.ground.errors import DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.values import is_number
from sluice.ground.variables import Kind, Variable

_NAMED = 3  # leaves or categories that a sentence names

_MOST_LINES = 100
_TRIED = (20, 12, 8, 6, 4, 3, 2)


@dataclass(frozen=True)
class Branch:
    """A group, or a leaf.

    level   : 0 for a leaf
    leaves  : how many it holds
    records : None where no data were given, or a group of its level holds fewer than the minimum cell
    parts   : what is shown of the level below; `more` parts are left out
    """

    name: str
    level: int
    leaves: int
    records: int | None
    parts: tuple["Branch", ...]
    more: int = 0


@dataclass(frozen=True)
class LevelSummary:
    """One level: its groups, the leaves that the smallest and the largest hold, and groups with too few records."""

    level: int
    groups: int
    smallest: int
    largest: int
    below_cell: int | None


def outline(
    hierarchy: Hierarchy, most: int | None = None, counts: Mapping[str, int] | None = None, minimum_cell: int = 10
) -> tuple[Branch, ...]:
    """The widest groups with what is below them, in the order of the rows.

    most   : parts that are shown of each group, the first ones and the last; else as many as fit into _MOST_LINES
    counts : records of each leaf, by its text
    cost   : O(leaves x levels)
    """
    paths = [(leaf, *groups)[::-1] for leaf, groups in hierarchy.rows.items()]
    records = [_records(hierarchy, level, counts, minimum_cell) for level in range(hierarchy.depth + 1)]
    for tried in (most,) if most else _TRIED:
        found = _branches(paths, 0, hierarchy.depth, tried, records)
        if sum(map(lines_of, found)) <= _MOST_LINES:
            break
    return found


def lines_of(branch: Branch) -> int:
    """Leaves, and words for what is left out, that are shown of a group."""
    return sum(1 if isinstance(part, str) else lines_of(part) for part in parts_in_order(branch)) or 1


def parts_in_order(branch: Branch) -> Iterator[Branch | str]:
    """What is shown of a group, with words for what is left out before the last."""
    for place, part in enumerate(branch.parts):
        if branch.more and place == len(branch.parts) - 1:
            yield f"… {branch.more:,} more"
        yield part


def _branches(
    paths: list[tuple[str, ...]], at: int, level: int, most: int, records: Sequence[Mapping[str, int] | None]
) -> tuple[Branch, ...]:
    parts: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for path in paths:
        parts[path[at]].append(path)
    branches = []
    for name in _shown(list(parts), most):
        held = parts[name]
        told = records[level]
        below = _branches(held, at + 1, level - 1, most, records) if level else ()
        wider = len({path[at + 1] for path in held}) if level else 0
        branches.append(Branch(name, level, len(held), None if told is None else told[name], below, wider - len(below)))
    return tuple(branches)


def _records(
    hierarchy: Hierarchy, level: int, counts: Mapping[str, int] | None, minimum_cell: int
) -> dict[str, int] | None:
    """Records of each group of a level, where they may be told."""
    if counts is None:
        return None
    records = group_counts(hierarchy, level, counts)
    return records if min(records.values()) >= minimum_cell else None


def group_counts(hierarchy: Hierarchy, level: int, counts: Mapping[str, int]) -> dict[str, int]:
    """Records of each group of a level, empty ones too. Raises ValueError outside 0..depth."""
    groups = hierarchy.at_level(level)
    records = dict.fromkeys(groups.values(), 0)
    for leaf, group in groups.items():
        records[group] += counts.get(leaf, 0)
    return records


def _shown(names: list[str], most: int) -> list[str]:
    """All of a few; of many the first and the last, so that an order and its ends show. One alone is not left out."""
    return names if len(names) <= most + 1 else [*names[: most - 1], names[-1]]


def summaries(
    hierarchy: Hierarchy, counts: Mapping[str, int] | None = None, minimum_cell: int = 10
) -> tuple[LevelSummary, ...]:
    """Each level from the leaves up. Groups below the minimum cell are counted where data are given, empty ones too."""
    found = []
    for level in range(hierarchy.depth + 1):
        groups = hierarchy.at_level(level)
        leaves = Counter(groups.values())
        below = None
        if counts is not None:
            below = sum(count < minimum_cell for count in group_counts(hierarchy, level, counts).values())
        found.append(LevelSummary(level, len(leaves), min(leaves.values()), max(leaves.values()), below))
    return tuple(found)


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
