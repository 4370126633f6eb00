"""What a search of levels comes to: each of some variables at one level of its hierarchy, and some records suppressed.

Source: Samarati (2001), section 3 (full-domain generalisation: all values of a variable are given by their groups of
one level) and section 3.2 (with suppression of whole records: all their keys are set missing, or they are left out).
The variables released are the same for every choice of levels, so that they are known before any data are.
"""

from itertools import chain
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, PrivateAttr

from sluice.generalization.levels_found import LevelsFound
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.hierarchy import ROOT
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.masking_step import MaskingStep
from sluice.masking.recoding.value_groups import OUTSIDE, group_codes, groups_at_level, kind_of_groups, labels_of_groups
from sluice.risk.transparency.attack import NoAttack

_NO_ATTACK = NoAttack(
    "whoever is in no released group is known to be among those suppressed, who are a group of look-alikes as any other"
)

IN_AN_ANALYSIS = (
    "Counts of the groups need no correction, but for records or values that were suppressed: those are the rare "
    "ones, so treat them as missing not at random. Of numbers in groups, estimate means by interval-censored "
    "methods, not by the middle of a group."
)
"""What the method `generalization` says of what it comes to."""

REPEATED = NoAttack("every attack repeats the rule, and compares original and release after it")


class GeneralizedLevels(MaskingStep):
    """What a search of levels comes to: each variable at its level. No step of a plan; see `generalization`."""

    method: Literal["generalization"] = "generalization"
    levels: dict[str, int] = Field(description="variable: its level, 0 for the values as they are")
    allowed: dict[str, tuple[int, int]] = Field(description="variable: the lowest and the highest level of the search")
    _found: LevelsFound | None = PrivateAttr(default=None)
    _groups: dict[str, tuple[str, ...]] = PrivateAttr(default_factory=dict)

    in_an_analysis: ClassVar[str] = IN_AN_ANALYSIS
    is_recoding: ClassVar[bool] = True
    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False

    @property
    def found(self) -> LevelsFound | None:
        """What the search says of this choice and of others; None where there was none."""
        return self._found

    def found_by(self, found: LevelsFound, variables: Variables) -> Self:
        """This step with what the search says of it; `variables` as they were before."""
        step = self.model_copy()
        step._found, step._groups = found, step._shown(variables)
        return step

    def only_shown(self, described: Variables) -> dict[str, Variable]:
        """The released variables without the categories of levels that were not chosen, unless a later step changed
        them."""
        shown = dict(described)
        for name, groups in self._groups.items():
            categories = described[name].categories if name in described else None
            if categories is not None and set(groups) <= set(categories):
                kept = tuple(category for category in categories if category in groups)
                shown[name] = described[name].model_copy(update={"categories": kept})
        return shown

    def _shown(self, variables: Variables) -> dict[str, tuple[str, ...]]:
        """The groups that a record may show, of each variable whose categories or hierarchy are declared."""
        groups = {name: level_groups(variables[name], level).values() for name, level in self.levels.items()}
        return {name: tuple(dict.fromkeys(shown)) for name, shown in groups.items() if shown}

    def released(self, variables: Variables) -> dict[str, Variable]:
        self.refuse_unless(variables, *GENERALIZED)
        return {name: self._released(each) if name in self.columns else each for name, each in variables.items()}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """Draws nothing. Raises PlanError, with a count, when a value is in no group."""
        released, masked = self.released(variables), frame.copy(deep=False)
        for name in self.columns:
            before, after = with_categories(variables[name], frame[name]), released[name]
            if after is variables[name]:
                if after.kind is Kind.DATE:
                    masked[name] = frame[name].dt.floor("D")  # times of day are finer than the levels
                continue
            groups = level_groups(before, self.levels[name])
            categories = after.categories or tuple(dict.fromkeys(groups.values()))
            codes = group_codes(frame[name], groups, None, categories)
            refuse_outside(name, codes)
            dtype = pd.CategoricalDtype(list(categories), ordered=after.kind is Kind.ORDINAL)
            masked[name] = pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), index=frame.index)
        return masked

    def parameters(self) -> dict[str, Any]:
        """The levels, which whoever sees the file sees, too."""
        return {"levels": dict(self.levels)}

    def attacks(self) -> tuple[NoAttack, ...]:
        return (REPEATED,)

    def describe(self) -> str:
        given = ", ".join(f"{name} at level {level}" for name, level in self.levels.items())
        return f"Values were replaced by their groups: {given}."

    def _released(self, variable: Variable) -> Variable:
        lowest, highest = self.allowed[variable.name]
        if highest == 0:
            return variable
        if variable.categories is None and variable.kind.is_categorical:
            changes: dict[str, Any] = {"kind": Kind.NOMINAL, "categories": None, "labels": {}}
        else:
            found = [level_groups(variable, level) for level in range(lowest, highest + 1)]
            by_level = [list(groups.values()) for groups in found]
            kinds = {kind_of_groups(variable, groups) for groups in by_level}
            ordered = kinds == {Kind.ORDINAL}
            categories = _in_order(by_level) if ordered else tuple(dict.fromkeys(chain(*by_level)))
            kind = kinds.pop() if len(kinds) == 1 else Kind.NOMINAL
            labels = {group: says for groups in found for group, says in labels_of_groups(variable, groups).items()}
            changes = {"kind": kind, "categories": categories, "labels": labels}
        dropped = dict.fromkeys(("minimum", "maximum", "hierarchy", "unit"), None)
        return variable.model_copy(update=changes | dropped | {"missing_codes": ()})


GENERALIZED = (Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY, Kind.INTEGER, Kind.DATE)


def level_groups(variable: Variable, level: int) -> dict[str, str]:
    """Each leaf's group at a level, in the order of the leaves; above the hierarchy the variable tells nothing.

    raises : PlanError for a level that the variable does not have, or a hierarchy that lacks a category
    """
    if variable.hierarchy is not None:
        if 0 < level <= variable.hierarchy.depth:
            return groups_at_level(variable, level)
        return {leaf: ROOT if level else leaf for leaf in groups_at_level(variable, 1)}
    if not variable.kind.is_categorical:
        raise PlanError(
            f"generalization of '{variable.name}', {variable.kind}, needs a hierarchy in the contract: its groups at "
            "each level, such as intervals."
        )
    return {category: ROOT if level else category for category in variable.categories or ()}


def with_categories(variable: Variable, column: pd.Series) -> Variable:
    """The variable with the categories of its column where neither these nor a hierarchy are declared."""
    if variable.categories is None and variable.hierarchy is None and variable.kind.is_categorical:
        return variable.model_copy(update={"categories": tuple(column.cat.categories)})
    return variable


def depth(variable: Variable) -> int:
    """The highest level of a variable, at which all its values are one group."""
    if variable.hierarchy is None:
        return 1
    top = variable.hierarchy.depth
    return top if len(set(variable.hierarchy.at_level(top).values())) == 1 else top + 1


def refuse_outside(name: str, codes: IntArray, of: str = "records") -> None:
    outside = int((codes == OUTSIDE).sum())
    if outside:
        raise PlanError(
            f"generalization of '{name}': {outside} of {len(codes)} {of} have a value that lies in none of the "
            "groups. Complete the variable's hierarchy."
        )


def _in_order(by_level: list[list[str]]) -> tuple[str, ...]:
    """The groups of all levels, those that begin with a lower leaf first, of these the finer ones."""
    first: dict[str, tuple[int, int]] = {}
    for level, groups in enumerate(by_level):
        for leaf, group in enumerate(groups):
            first.setdefault(group, (leaf, level))
    return tuple(sorted(first, key=lambda group: first[group]))


class SuppressedRecords(MaskingStep):
    """What a search suppressed beside the levels that it chose. No step of a plan; see `generalization`."""

    method: Literal["generalization"] = "generalization"
    suppressed: Literal["released", "removed"]
    _kept: BoolArray = PrivateAttr()

    in_an_analysis: ClassVar[str] = IN_AN_ANALYSIS
    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False

    @classmethod
    def of(cls, columns: tuple[str, ...], suppressed: Literal["released", "removed"], kept: BoolArray) -> Self:
        """kept : shape (n,), whether each record of the file that was searched keeps its values"""
        step = cls(columns=columns, suppressed=suppressed)
        step._kept = kept
        return step

    @property
    def is_sampling(self) -> bool:
        return self.suppressed == "removed"

    def released(self, variables: Variables) -> dict[str, Variable]:
        if self.suppressed == "removed":
            return dict(variables)
        return with_missing(variables, self.columns)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """The frame that was searched, and no other. Draws nothing."""
        if self.suppressed == "removed":
            return frame.loc[self._kept].copy()
        masked = frame.copy(deep=False)
        for name in self.columns:
            column = frame[name].copy()
            column.iloc[np.flatnonzero(~self._kept)] = None
            masked[name] = column
        return masked

    def attacks(self) -> tuple[NoAttack, ...]:
        return (_NO_ATTACK,)

    def describe(self) -> str:
        share = 1 - float(self._kept.mean())
        what = "left out" if self.suppressed == "removed" else f"released without {', '.join(self.columns)}"
        return f"{100 * share:.2g} % of the records were {what}."


def with_missing(variables: Variables, names: tuple[str, ...]) -> dict[str, Variable]:
    """The variables, of which these may be missing in any share."""
    nullable = {"nullable": True, "max_missing_share": None}
    return {
        name: variable.model_copy(update=nullable) if name in names else variable
        for name, variable in variables.items()
    }
