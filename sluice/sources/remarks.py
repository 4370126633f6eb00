"""What a source met while it was read and did not hand on as it stands: counted by column, with the first record where
one is to be looked up."""

import json
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal

from sluice.ground.visible_text import one_line

What = Literal["beyond_calendar", "blanks"]

_SAYS: Mapping[What, tuple[str, str]] = MappingProxyType(
    {
        "beyond_calendar": ("date is", "dates are"),
        "blanks": ("cell has blanks", "cells have blanks"),
    }
)
_MEANS: Mapping[What, str] = MappingProxyType(
    {
        "beyond_calendar": "outside the years 1 to 9999 and read as missing; correct it, or take off the date format",
        "blanks": "at either end, which do not count",
    }
)


class Remarks:
    """Of one reading of a source, the newest; counts by what was met and the column."""

    def __init__(self) -> None:
        self._met: dict[tuple[What, str], tuple[int, int]] = {}  # the cells, and the first record or 0

    def __eq__(self, other: object) -> bool:
        """What was met does not tell one source from another."""
        return isinstance(other, Remarks)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self._met)

    def clear(self) -> None:
        self._met.clear()

    def add(self, what: What, column: str, count: int, first: int = 0) -> None:
        """`count` more cells of a column; `first`: the record of the first of these in the source, from 1."""
        before, earliest = self._met.get((what, column), (0, first))
        self._met[what, column] = (before + count, earliest)

    def sentences(self) -> tuple[str, ...]:
        """One a column and kind, for whoever reads the file; without a value of it."""
        return tuple(
            f"column '{one_line(column)}'{f', record {first:,}' if first else ''}: {count:,} {_SAYS[what][count > 1]} "
            f"{_MEANS[what]}"
            for (what, column), (count, first) in self._met.items()
        )

    def written(self) -> bytes:
        """For `take`, in another process."""
        return json.dumps([[what, column, *met] for (what, column), met in self._met.items()]).encode()

    def take(self, written: bytes, columns: Collection[str]) -> None:
        """In place of what was met so far: what another process wrote, of these columns. The rest is not believed."""
        try:
            met = [
                (what, column, count, first)
                for what, column, count, first in json.loads(written)
                if what in _SAYS and column in columns and type(count) is int and type(first) is int
            ]
        except (ValueError, TypeError, RecursionError):
            return
        self.clear()
        for what, column, count, first in met:
            self.add(what, column, count, first)
