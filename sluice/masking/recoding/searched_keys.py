"""Searched keys: the variables of a file as the keys of a lattice, and what a search found, in their own words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.local_recoding import LocalRecoding, shares_by_level
from sluice.generalization.lattice.node import Node, bottom
from sluice.generalization.lattice.solution import Refinement, Solution
from sluice.generalization.levels_found import Finer, KeyLevel
from sluice.generalization.models.privacy_model import ReleasedFile
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.variables import Variable
from sluice.masking.recoding.category_groups import group_codes
from sluice.masking.recoding.generalized_levels import level_groups, refuse_outside, with_categories
from sluice.risk.classes.equivalence_classes import Codes


@dataclass(frozen=True)
class SearchedKeys:
    """The keys of a search over a file of n records.

    keys   : level 0 of each is the lowest that the search may choose
    codes  : for each key, shape (n,), the leaf of each record
    labels : for each key, the names of the groups of each of its levels
    lowest : for each key, the level that its level 0 is
    """

    keys: tuple[Key, ...]
    codes: tuple[IntArray, ...]
    labels: tuple[tuple[tuple[str, ...], ...], ...]
    lowest: tuple[int, ...]

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        variables: Sequence[Variable],
        allowed: Mapping[str, tuple[int, int]],
        weights: Mapping[str, float],
    ) -> "SearchedKeys":
        """allowed : the lowest and highest level of each; raises PlanError, with a count, for a value in no group"""
        each = [_key(frame[v.name], v, allowed[v.name], weights.get(v.name, 1.0)) for v in variables]
        keys, codes, labels = zip(*each, strict=True)
        return cls(keys, codes, labels, tuple(allowed[variable.name][0] for variable in variables))

    def levels(self, found: Sequence[int]) -> dict[str, int]:
        """The variables' levels of a choice."""
        return {key.name: first + level for key, first, level in zip(self.keys, self.lowest, found, strict=True)}

    def account(
        self,
        found: Solution,
        sensitive: Mapping[str, Codes],
        people: IntArray | None,
        refined: LocalRecoding | None = None,
    ) -> Iterator[KeyLevel]:
        """What was chosen for each variable, what it loses there, and why it is no finer for all records together."""
        kept = ~found.suppressed_records
        each = np.array(found.levels)[None, :]
        if refined is not None:
            each = refined.levels_of(refined.region(self.keys, self.codes))
        refinements = {refinement.key: refinement for refinement in found.frontier}
        base, _ = bottom(self.keys, self.codes, sensitive, people=people)
        for at, (key, level) in enumerate(zip(self.keys, found.levels, strict=True)):
            finer = refinements.get(key.name)
            groups = tuple(len(names) for names in self.labels[at])
            yield KeyLevel(
                name=key.name,
                level=self.lowest[at] + level,
                groups=groups,
                lowest=self.lowest[at],
                highest=self.lowest[at] + key.depth,
                loss=_loss(key, self.codes[at], each[:, at], kept),
                shares=() if refined is None else shares_by_level(each[:, at], kept, level),
                finer=None if finer is None else self._finer(base, finer),
            )

    def _finer(self, base: Node, refinement: Refinement) -> Finer:
        breaks = tuple(failure.model.describe() for failure in refinement.failures)
        if not refinement.failures:
            return Finer(breaks=breaks, records=None)
        first = refinement.failures[0]
        node, _ = base.at(refinement.levels)
        failing = first.model.failing(ReleasedFile(node, np.ones(len(node.sizes), dtype=np.bool_), "ignored"))
        if not failing.any():
            return Finer(breaks=breaks, records=first.records)
        worst = int(np.where(failing, node.sizes, -1).argmax())
        shown = [int(node.shown(at)[worst]) for at in range(len(self.keys))]
        group = {
            key.name: names[level][code] if code < len(names[level]) else "missing"
            for key, names, level, code in zip(self.keys, self.labels, refinement.levels, shown, strict=True)
        }
        return Finer(breaks=breaks, records=first.records, group=group, group_records=int(node.sizes[worst]))


def _key(
    column: pd.Series, variable: Variable, allowed: tuple[int, int], weight: float
) -> tuple[Key, IntArray, tuple[tuple[str, ...], ...]]:
    variable = with_categories(variable, column)
    by_level = [level_groups(variable, level) for level in range(allowed[0], allowed[1] + 1)]
    leaves = tuple(dict.fromkeys(by_level[0].values()))
    labels = tuple(tuple(dict.fromkeys(groups.values())) for groups in by_level)
    missing = bool(column.isna().any())
    rows = []
    for groups, names in zip(by_level, labels, strict=True):
        number = {name: place for place, name in enumerate(names)}
        held_by = {by_level[0][leaf]: number[group] for leaf, group in groups.items()}
        rows.append([held_by[leaf] for leaf in leaves] + [len(names)] * missing)
    codes = group_codes(column, by_level[0], None, leaves)
    refuse_outside(variable.name, codes)
    key = Key(variable.name, np.array(rows, dtype=np.int64), len(leaves) if missing else None, weight)
    return key, np.where(codes < 0, len(leaves), codes), labels


def _loss(key: Key, codes: IntArray, levels: IntArray, kept: BoolArray) -> float:
    """The mean over the records of (leaves of the group - 1) / (leaves - 1); 1 for a suppressed one.

    levels : of each record, or shape (1,) of all
    """
    leaves = np.stack([held[row] for held, row in zip(key.leaves, key.levels, strict=True)])
    lost = (leaves[levels, codes] - 1) / max(key.values - 1, 1)
    return float(np.where(kept, lost, 1.0).mean())
