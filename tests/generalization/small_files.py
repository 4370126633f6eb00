"""Small random files, their hierarchies and populations; and what a transformation makes of them, record by record."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node, Population, bottom
from sluice.risk.classes.privacy_model import ReleasedFile, Suppressed


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Key], list[np.ndarray], dict[str, np.ndarray]]:
    """Keys with their hierarchies, some with missing values, the records' codes, and two sensitive columns."""
    keys, codes, n = [], [], draw(st.integers(1, 24))
    for at in range(draw(st.integers(1, 3))):
        leaves = draw(st.integers(1, 5))
        rows = [np.arange(leaves)]
        for _ in range(draw(st.integers(0, 2))):
            groups = int(rows[-1].max()) + 1
            rows.append(
                np.array(draw(st.lists(st.integers(0, groups - 1), min_size=groups, max_size=groups)))[rows[-1]]
            )
        missing = draw(st.booleans())
        table = np.array([np.append(row, row.max() + 1) if missing else row for row in rows])
        weight = draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))
        keys.append(Key(f"key{at}", table, leaves if missing else None, weight))
        codes.append(np.array(draw(st.lists(st.integers(0, leaves - 1 + missing), min_size=n, max_size=n))))
    sensitive = {
        name: np.array(draw(st.lists(st.integers(lowest, 3), min_size=n, max_size=n)))
        for name, lowest in (("a", 0), ("b", -1))
    }
    return keys, codes, sensitive


@dataclass(frozen=True)
class SmallFile:
    """A file at some levels, of whose classes some are suppressed.

    hidden : shape (n,), the records of these
    people : of each key the leaf of each person of the population, the file's records first
    """

    keys: list[Key]
    codes: list[np.ndarray]
    sensitive: dict[str, np.ndarray]
    people: list[np.ndarray]
    levels: tuple[int, ...]
    hidden: np.ndarray

    @property
    def n(self) -> int:
        return len(self.hidden)

    @cached_property
    def bottom(self) -> Node:
        return self._bottom[0]

    @cached_property
    def node(self) -> Node:
        return self._at[0]

    @cached_property
    def classes(self) -> np.ndarray:
        """The class of each record in the node."""
        return self._at[1][self._bottom[1]]

    @cached_property
    def hidden_classes(self) -> np.ndarray:
        gone = np.zeros(len(self.node.sizes), dtype=bool)
        gone[self.classes[self.hidden]] = True
        return gone

    @cached_property
    def _bottom(self) -> tuple[Node, np.ndarray]:
        return bottom(self.keys, self.codes, self.sensitive, Population(tuple(self.people)))

    @cached_property
    def _at(self) -> tuple[Node, np.ndarray]:
        return self.bottom.at(self.levels)

    def released(self, suppressed: Suppressed = "released") -> ReleasedFile:
        return ReleasedFile(self.node, ~self.hidden_classes, suppressed)

    def frame(self, suppressed: Suppressed = "released") -> pd.DataFrame:
        """What would be published."""
        shown = self._shown(self.codes) | {
            name: np.where(values < 0, np.nan, values) for name, values in self.sensitive.items()
        }
        frame = pd.DataFrame(shown)
        frame.loc[self.hidden] = np.nan
        return frame if suppressed == "released" else frame[~self.hidden]

    def population(self) -> pd.DataFrame:
        """The people in the categories of the file."""
        return pd.DataFrame(self._shown(self.people))

    @property
    def names(self) -> list[str]:
        return [key.name for key in self.keys]

    def _shown(self, codes: list[np.ndarray]) -> dict[str, Any]:
        return {
            key.name: np.where(leaf == (-1 if key.missing is None else key.missing), np.nan, key.levels[level][leaf])
            for key, leaf, level in zip(self.keys, codes, self.levels, strict=True)
        }


@st.composite
def small_files(draw: st.DrawFn) -> SmallFile:
    keys, codes, sensitive = draw(tables())
    people = []
    others = draw(st.integers(0, 12))
    for key, leaf in zip(keys, codes, strict=True):
        rest = draw(st.lists(st.integers(0, key.levels.shape[1] - 1), min_size=others, max_size=others))
        people.append(np.append(leaf, np.array(rest, dtype=np.int64)))
    levels = tuple(draw(st.integers(0, key.depth)) for key in keys)
    base, member = bottom(keys, codes, sensitive, Population(tuple(people)))
    node, into = base.at(levels)
    chosen = draw(st.lists(st.booleans(), min_size=len(node.sizes), max_size=len(node.sizes)))
    return SmallFile(keys, codes, sensitive, people, levels, np.array(chosen)[into[member]])


def above(draw: st.DataObject, file: SmallFile) -> SmallFile:
    """A transformation at these levels or above, in which the same records are suppressed and perhaps some more."""
    levels = tuple(draw.draw(st.integers(level, key.depth)) for key, level in zip(file.keys, file.levels, strict=True))
    coarser = replace(file, levels=levels)
    classes = coarser.classes
    chosen = draw.draw(st.lists(st.booleans(), min_size=len(coarser.node.sizes), max_size=len(coarser.node.sizes)))
    gone = np.array(chosen)
    gone[classes[file.hidden]] = True
    return replace(coarser, hidden=gone[classes])
