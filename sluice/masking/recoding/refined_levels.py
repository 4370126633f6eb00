"""The keys of a search of levels, and refined levels: finer for the look-alikes that can bear it (local recoding).

Equal combinations of values go to equal ones, so that it is one recoding of all columns together, for any file of the
same variables. The method itself is `sluice/generalization/lattice/local_recoding.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from pydantic import PrivateAttr

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.local_recoding import LocalRecoding, shares_by_level
from sluice.generalization.lattice.node import Node, Population, bottom
from sluice.generalization.lattice.node_suppression import Refinement, Solution
from sluice.generalization.levels_found import Finer, KeyLevel
from sluice.generalization.objectives.key_losses import Loss, NonUniformEntropy, Precision
from sluice.generalization.objectives.objective import Objective
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.recoding.generalized_levels import GeneralizedLevels, level_groups, refuse_outside, with_categories
from sluice.masking.recoding.value_groups import group_codes
from sluice.risk.classes.equivalence_classes import Codes
from sluice.risk.classes.privacy_model import PrivacyModel, ReleasedFile


class RefinedLevels(GeneralizedLevels):
    """What a search with `refine` comes to: `levels` are those of all records, which each may be finer than."""

    _recoding: LocalRecoding = PrivateAttr()

    @classmethod
    def of(cls, levels: GeneralizedLevels, recoding: LocalRecoding) -> Self:
        step = cls(columns=levels.columns, levels=levels.levels, allowed=levels.allowed)
        step._recoding = recoding
        return step

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """Draws nothing. Raises PlanError, with a count, when a value is in no group.

        A combination that the searched file lacked follows its groups as far down as these had its values.
        """
        released, masked = self.released(variables), frame.copy(deep=False)
        searched = SearchedKeys.of(frame, [variables[name] for name in self.columns], self.allowed, {})
        levels = self._recoding.levels_of(self._recoding.region(searched.keys, searched.codes))
        for at, name in enumerate(self.columns):
            after = released[name]
            if after is variables[name]:
                if after.kind is Kind.DATE:
                    masked[name] = frame[name].dt.floor("D")  # times of day are finer than the levels
                continue
            labels = searched.labels[at]
            categories = after.categories or tuple(dict.fromkeys(label for names in labels for label in names))
            place = {category: position for position, category in enumerate(categories)}
            codes = np.full(len(frame), -1)
            for level, names in enumerate(labels):
                these = np.flatnonzero(levels[:, at] == level)
                places = np.array([place[label] for label in names] + [-1])  # the last is that of a missing value
                codes[these] = places[searched.keys[at].levels[level][searched.codes[at][these]]]
            dtype = pd.CategoricalDtype(list(categories), ordered=after.kind is Kind.ORDINAL)
            masked[name] = pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), index=frame.index)
        return masked

    def _shown(self, variables: Variables) -> dict[str, tuple[str, ...]]:
        levels = {name: range(self.allowed[name][0], level + 1) for name, level in self.levels.items()}
        groups = {
            name: [group for level in of for group in level_groups(variables[name], level).values()]
            for name, of in levels.items()
        }
        return {name: tuple(dict.fromkeys(shown)) for name, shown in groups.items() if shown}

    def parameters(self) -> dict[str, Any]:
        """The levels of all records; which are finer, whoever sees the file sees."""
        return {"levels": dict(self.levels), "refined": True}

    def describe(self) -> str:
        given = ", ".join(f"{name} at level {level}" for name, level in self.levels.items())
        return f"Values were replaced by their groups: {given}, or finer where a group of look-alikes allowed it."


def refuse_unrefinable(models: Sequence[PrivacyModel], objective: Objective) -> None:
    """Raise PlanError for models and objectives that cannot be judged group by group."""
    for model in models:
        if not model.on_classes:
            raise PlanError(
                f"refine: models must judge each group of look-alikes by its records; {model.describe()} does not. "
                "Leave it to the judgement of the policy, or leave 'refine' out."
            )
    if not isinstance(objective, Loss | NonUniformEntropy | Precision):
        raise PlanError(
            "refine: the objective must be one key by key (loss, non_uniform_entropy or precision); got "
            f"{objective.describe()}."
        )


def refuse_ambiguous(variable: Variable, lowest: int, highest: int) -> None:
    """Raise PlanError where one name means different groups at two of these levels: released side by side, nobody could
    tell which. So does a variable of which not all values are known."""
    if variable.hierarchy is None and variable.categories is None:
        raise PlanError(
            f"refine: '{variable.name}' needs categories or a hierarchy in the contract, by which its values are known."
        )
    known: dict[str, tuple[int, frozenset[str]]] = {}
    for level in range(lowest, highest + 1):
        members: dict[str, set[str]] = {}
        for leaf, group in level_groups(variable, level).items():
            members.setdefault(group, set()).add(leaf)
        for group, leaves in members.items():
            first, same = known.setdefault(group, (level, frozenset(leaves)))
            if same != leaves:
                raise PlanError(
                    f"refine: '{variable.name}' has a group '{group}' of {len(same)} values at level {first} and one "
                    f"of {len(leaves)} at level {level}. Groups of different values need different names."
                )


@dataclass(frozen=True)
class SearchedKeys:
    """The keys of a search over a file of n records.

    keys   : level 0 of each is the lowest that the search may choose
    codes  : for each key, shape (n,), the leaf of each record
    labels : for each key, the names of the groups of each of its levels
    lowest : for each key, the level that its level 0 is
    population : the people of a list, where there is one
    """

    keys: tuple[Key, ...]
    codes: tuple[IntArray, ...]
    labels: tuple[tuple[tuple[str, ...], ...], ...]
    lowest: tuple[int, ...]
    population: Population | None = None

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        variables: Sequence[Variable],
        allowed: Mapping[str, tuple[int, int]],
        weights: Mapping[str, float],
        people: tuple[pd.DataFrame, IntArray | None] | None = None,
    ) -> "SearchedKeys":
        """The keys of the records, and of the people of a list with the number that each of its rows stands for.

        allowed : the lowest and highest level of each; raises PlanError, with a count, for a value in no group
        """
        if people is not None:
            n, names = len(frame), [variable.name for variable in variables]
            both = pd.DataFrame({name: _stacked(frame[name], people[0][name]) for name in names})
            found = cls._of(both, variables, allowed, weights, n)
            population = Population(tuple(codes[n:] for codes in found.codes), people[1])
            return replace(found, codes=tuple(codes[:n] for codes in found.codes), population=population)
        return cls._of(frame, variables, allowed, weights, len(frame))

    @classmethod
    def _of(
        cls,
        frame: pd.DataFrame,
        variables: Sequence[Variable],
        allowed: Mapping[str, tuple[int, int]],
        weights: Mapping[str, float],
        records: int,
    ) -> "SearchedKeys":
        each = [_key(frame[v.name], v, allowed[v.name], weights.get(v.name, 1.0), records) for v in variables]
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
        base, _ = bottom(self.keys, self.codes, sensitive, self.population, people)
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


def _stacked(records: pd.Series, people: pd.Series) -> pd.Series:
    """A column of the records and, below, of a list, in the type of the first."""
    dtype: Any = records.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        known = dict.fromkeys([*dtype.categories, *sorted(people.dropna().unique())])
        dtype = pd.CategoricalDtype([*known], dtype.ordered)
    return pd.concat([records.astype(dtype), people.astype(dtype)], ignore_index=True)


def _key(
    column: pd.Series, variable: Variable, allowed: tuple[int, int], weight: float, records: int
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
    refuse_outside(variable.name, codes[:records])
    refuse_outside(variable.name, codes[records:], "rows of the population")
    key = Key(variable.name, np.array(rows, dtype=np.int64), len(leaves) if missing else None, weight)
    return key, np.where(codes < 0, len(leaves), codes), labels


def _loss(key: Key, codes: IntArray, levels: IntArray, kept: BoolArray) -> float:
    """The mean over the records of (leaves of the group - 1) / (leaves - 1); 1 for a suppressed one.

    levels : of each record, or shape (1,) of all
    """
    leaves = np.stack([held[row] for held, row in zip(key.leaves, key.levels, strict=True)])
    lost = (leaves[levels, codes] - 1) / max(key.values - 1, 1)
    return float(np.where(kept, lost, 1.0).mean())
