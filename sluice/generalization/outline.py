"""The tree of a hierarchy as it is shown: groups from the widest down to the leaves, of which long lists are cut.

Records are counted for a level only where each of its groups holds the minimum cell. To leave out, or to round, single
counts would not do: 105 in a group less 100 in one of its two values are 5 in the other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluice.ground.hierarchy import Hierarchy

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
