"""Item generalization: the items of sets are replaced by groups, so that no few of them are rare together.

Source: Terrovitis, Mamoulis and Kalnis (2008), sections 3 and 4. How the groups are found, and what differs:
sluice/masking/items/item_cut.py.
"""

from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field, PrivateAttr

from sluice.ground.arrays import IntArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Label, Variable, Variables
from sluice.items.item_sets import ItemSets, ItemTree
from sluice.masking.items.item_cut import LEFT_OUT, CutSearch
from sluice.masking.masking_step import NONE_OF_A_RECODING, MaskingStep
from sluice.risk.transparency.attack import NoAttack


class ItemGeneralization(MaskingStep):
    """Replace items of sets by groups of their hierarchy until any m of them are shared by k people."""

    method: Literal["item_generalization"] = "item_generalization"
    k: int = Field(ge=2, description="smallest number of people who have each combination of released items")
    m: int = Field(default=2, ge=1, le=4, description="most items that an intruder knows")
    left_out: float = Field(
        default=1,
        ge=0,
        le=1,
        description="share of the occurrences that may be left out if that costs less than a wider group",
    )
    released_items: tuple[Label, ...] | None = Field(
        default=None,
        description="the items and groups that are released, in place of those that the method finds; items below none "
        "of them are left out",
    )

    _searched: bool = PrivateAttr(default=False)  # `released_items` were found by the method

    is_recoding: ClassVar[bool] = True

    example: ClassVar[str] = "{method: item_generalization, columns: [purchases], k: 5, m: 2}"
    use_when: ClassVar[str] = (
        "Sets of items have a hierarchy, and intruders may know a few items. Recode quasi-identifiers "
        "beside the sets before, and name them as `strata`."
    )
    preserves: ClassVar[str] = (
        "The truth and counts of every released item or group, but for items that were left out everywhere."
    )
    known_attack: ClassVar[str] = (
        "An intruder who knows more than m items of a set may find it (Terrovitis, Mamoulis and Kalnis "
        "2008, section 3). All k who fit may share a further item, which is then disclosed."
    )
    missing_values: ClassVar[str] = "A missing set stays missing; one of which all items were left out becomes missing."
    in_an_analysis: ClassVar[str] = (
        "Counts of the released items and groups need no correction. An item that is in a group is nowhere told from "
        "the others of the group."
    )
    attack_measured: ClassVar[str] = NONE_OF_A_RECODING

    def released(self, variables: Variables) -> dict[str, Variable]:
        """A set may hold groups of its hierarchy, and become missing. Raises PlanError for other kinds."""
        self.refuse_unless(variables, Kind.ITEMS)
        return {name: _released(variable) if name in self.columns else variable for name, variable in variables.items()}

    def fit(self, frame: pd.DataFrame, variables: Variables) -> tuple["ItemGeneralization", ...]:
        """The items and groups that are released, one step a column. Raises PlanError where none will do.

        cost : the combinations of at most m items, counted once for each change that is tried
        """
        from sluice.risk.people_of_records import people_of

        self.released(variables)
        if self.released_items is not None:
            return (self,)
        people = people_of(frame, variables)
        members = len(frame) if people is None else len(np.unique(people))
        if members < self.k:
            raise PlanError(f"k of {self.method} must be at most the number of people, {members}; got {self.k}.")
        steps = []
        for name in self.columns:
            sets, tree = sets_in_tree(frame[name], variables[name])
            most = int(self.left_out * len(sets.items))
            cut = CutSearch(sets, tree, people, self.k, self.m, most).best()
            found = tuple(sorted(tree.names[code] for code in np.unique(cut[cut != LEFT_OUT])))
            step = self.model_copy(update={"columns": (name,), "released_items": found})
            step._searched = True
            steps.append(step)
        return tuple(steps)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """See MaskingStep. Draws nothing; an item that the step was not fitted on is left out."""
        masked = frame.copy(deep=False)
        steps: tuple[ItemGeneralization, ...] = self.fit(frame, variables)
        for step in steps:
            for name in step.columns:
                sets, tree = sets_in_tree(frame[name], variables[name])
                released = sets.replaced(step._cut(tree), tree.names)
                masked[name] = in_order(released).column(variables[name].between_items, frame.index)
        return masked

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("every attack repeats the rule, and compares original and release after it"),)

    def describe(self) -> str:
        names = ", ".join(self.columns)
        text = f"Items of {names} were replaced by wider groups or left out"
        if self.released_items is not None and not self._searched:
            return f"{text}, by a list."
        return f"{text}, so that at least {self.k} people have every combination of up to {self.m} that is released."

    def _cut(self, tree: ItemTree) -> IntArray:
        """What stands for each item: the narrowest released name above it."""
        assert self.released_items is not None
        known = set(tree.names)
        released = np.zeros(len(tree.names) + 1, dtype=np.bool_)
        released[tree.places(name for name in self.released_items if name in known)] = True
        on_chain = released[tree.chains]
        return np.where(on_chain.any(axis=1), tree.chains[np.arange(tree.items), on_chain.argmax(axis=1)], LEFT_OUT)


def sets_in_tree(column: "pd.Series[Any]", variable: Variable) -> tuple[ItemSets, ItemTree]:
    """The sets of a column with the items of their tree: those of the hierarchy, or else those that the column holds.

    raises : PlanError where the sets hold what is no item of the tree, such as groups of an earlier step
    """
    sets = ItemSets.of(column, variable.between_items)
    leaves = sets.names if variable.hierarchy is None else tuple(variable.hierarchy.rows)
    tree = ItemTree.of(leaves, variable.hierarchy)
    place = {name: code for code, name in enumerate(tree.names[: tree.items])}
    by = np.array([place.get(name, -1) for name in sets.names], dtype=np.int64)
    if unknown := int((by < 0).sum()):
        raise PlanError(
            f"'{variable.name}' holds {unknown:,} items that are not leaves of its hierarchy. "
            "Were they generalised before?"
        )
    return sets.replaced(by, tree.names[: tree.items]), tree


def in_order(sets: ItemSets) -> ItemSets:
    """The sets with their names in the order of the texts, as the canonical form has them."""
    order = np.argsort(np.asarray(sets.names, dtype=object))
    return sets.replaced(np.argsort(order), tuple(sets.names[code] for code in order))


def _released(variable: Variable) -> Variable:
    changes: dict[str, object] = {"nullable": True, "max_missing_share": None}
    if variable.declared_items is not None and variable.hierarchy is not None:
        groups = [group for row in variable.hierarchy.rows.values() for group in row]
        changes["items"] = tuple(dict.fromkeys((*variable.declared_items, *groups)))
    return variable.model_copy(update=changes)
