"""A source that is one file, and what it says of its columns."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Self

from sluice.ground.visible_text import Name
from sluice.sources.description import Descriptions
from sluice.sources.tabular_source import TabularSource, resolved


class FileSource(TabularSource):
    """One file, perhaps with another that describes it."""

    path_fields: ClassVar[tuple[str, ...]] = ("path",)
    path: Name

    @property
    def title(self) -> str:
        return self.path

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(Path(written) for field in self.path_fields if (written := getattr(self, field)) is not None)

    def resolve(self, base: Path) -> Self:
        return self.relocated(lambda _, written: resolved(written, base))

    def relocated(self, place: Callable[[str, str], str]) -> Self:
        """With each path as `place` says, which gets the field's name and what is written there."""
        written = {field: getattr(self, field) for field in self.path_fields}
        return self.model_copy(
            update={field: place(field, path) for field, path in written.items() if path is not None}
        )

    def described(self) -> Descriptions:
        """What the file says of its columns. Raises DataError where it cannot be read."""
        return {}
