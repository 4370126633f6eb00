"""Refined levels: generalised levels, finer for the groups of look-alikes that can bear it (local recoding).

Equal combinations of values go to equal ones, so that it is one recoding of all columns together, for any file of the
same variables. The method itself is `sluice/generalization/lattice/local_recoding.py`.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from pydantic import PrivateAttr

from sluice.generalization.lattice.local_recoding import LocalRecoding
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.generalization.objectives.loss import Loss
from sluice.generalization.objectives.non_uniform_entropy import NonUniformEntropy
from sluice.generalization.objectives.objective import Objective
from sluice.generalization.objectives.precision import Precision
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.recoding.generalized_levels import GeneralizedLevels, level_groups
from sluice.masking.recoding.searched_keys import SearchedKeys


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
