"""What an intruder finds in sets as they stand in a file: lists and loops, sharing nothing with what is tested."""

from collections.abc import Mapping, Sequence
from itertools import combinations

Sets = Sequence[frozenset[str]]
Rows = Mapping[str, tuple[str, ...]]


def leaves_of(released: frozenset[str], rows: Rows) -> frozenset[str]:
    """The items that a released set fits: itself, or whatever its groups stand for."""
    stands = {leaf for leaf, groups in rows.items() if released & {leaf, *groups}}
    return frozenset(stands | {name for name in released if not any(name in (leaf, *up) for leaf, up in rows.items())})


def crowds(sets: Sets, m: int, rows: Rows | None = None, people: Sequence[object] | None = None) -> list[int]:
    """For each record the fewest people who fit one of the combinations of at most m items that it fits."""
    fits = [leaves_of(each, rows or {}) for each in sets]
    whose = list(range(len(sets))) if people is None else list(people)

    def found(known: frozenset[str]) -> int:
        return len({person for person, each in zip(whose, fits, strict=True) if known <= each})

    return [
        min(found(frozenset(known)) for size in range(min(m, len(each)) + 1) for known in combinations(each, size))
        for each in fits
    ]


def read(column: Sequence[object], separator: str = ";") -> list[frozenset[str]]:
    """Cells of a CSV file as sets; an empty one is a set without items."""
    return [frozenset(str(cell).split(separator)) if isinstance(cell, str) and cell else frozenset() for cell in column]
