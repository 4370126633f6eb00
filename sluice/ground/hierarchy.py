"""A generalisation hierarchy: each leaf value with the ever wider groups that contain it.

The ARX form: one row a leaf, the leaf first, then level 1, level 2, ... Every row has the same number of levels, and
two leaves that share a group at one level share it at every wider level.
"""

from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from sluice.ground.visible_text import Name


def _as_text(value: Any) -> Any:
    # As for the categories of a variable, which these must equal: 3 and 3.0 are both '3', YAML's yes is 'true'.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value


Leaf = Annotated[Name, BeforeValidator(_as_text)]


class Hierarchy(BaseModel):
    """`rows[leaf] = (level 1, level 2, ...)`. Level 0 is the leaf itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: dict[Leaf, tuple[Leaf, ...]]

    @model_validator(mode="after")
    def _nested(self) -> Self:
        depths = {len(levels) for levels in self.rows.values()}
        if len(depths) != 1 or depths == {0}:
            raise ValueError(f"every leaf needs the same number of levels, at least 1; got {sorted(depths)}")
        for level in range(self.depth - 1):
            parent: dict[str, str] = {}
            for levels in self.rows.values():
                if (known := parent.setdefault(levels[level], levels[level + 1])) != levels[level + 1]:
                    raise ValueError(
                        f"a group of level {level + 1} lies in two groups of level {level + 2}: '{levels[level]}' in "
                        f"'{known}' and in '{levels[level + 1]}'"
                    )
        return self

    @property
    def depth(self) -> int:
        """Number of levels above the leaves."""
        return len(next(iter(self.rows.values())))

    def at_level(self, level: int) -> dict[str, str]:
        """Each leaf's group at `level` (0 is the leaf itself). Raises ValueError outside 0..depth."""
        if not 0 <= level <= self.depth:
            raise ValueError(f"level must be from 0 to {self.depth}; got {level}")
        return {leaf: leaf if level == 0 else levels[level - 1] for leaf, levels in self.rows.items()}

    def above(self, level: int) -> "Hierarchy | None":
        """What is left once `level` was released: its groups are the leaves. None at the top level.

        Raises ValueError outside 0..depth.
        """
        groups = self.at_level(level)
        if level == self.depth:
            return None
        return Hierarchy(rows={groups[leaf]: levels[level:] for leaf, levels in self.rows.items()})
