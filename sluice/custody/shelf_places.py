"""Shelf places: one for each shelf, by however many paths it is reached: links, or several mounts of one folder."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class ShelfPlaces:
    """Where shelves are now. Of several paths that lead to one shelf the first that was asked for stands for all."""

    def __init__(self, known: Iterable[Path] = ()) -> None:
        self._places: dict[Path, Path] = {}  # as recorded -> where it is
        self._folders: dict[tuple[int, int], Path] = {}  # device and number of a folder, which its mounts share
        for path in known:
            self.of(path)

    def of(self, recorded: Path) -> Path:
        """The place of a shelf that was recorded by this path. One that is not there stands for itself.

        Cost: for each path once a look at it.
        """
        if recorded not in self._places:
            place = recorded.resolve()
            with suppress(OSError):
                found = place.stat()
                place = self._folders.setdefault((found.st_dev, found.st_ino), place)
            self._places[recorded] = place
        return self._places[recorded]


def is_same_shelf(one: Path, other: Path) -> bool:
    """Whether two paths lead to one shelf, or to where there will be one."""
    with suppress(OSError):
        return os.path.samefile(one, other)
    return one.resolve() == other.resolve()
