"""Item suppression: single items leave single sets, so that no few items of a set are rare together.

Source: Terrovitis, Mamoulis and Kalnis (2008), section 3, for what is reached; that items may be suppressed where no
hierarchy groups them is Xu, Wang, Fu and Yu (2008). Differs from the latter: an item leaves the records in which it is
part of a rare combination, and not every record; which item of a record goes is a greedy choice, the one that is in
most of the record's rare combinations, of several the rarest.
"""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import IntArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable, Variables
from sluice.items.item_sets import ItemSets, combination_counts, hitting_occurrences
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.suppressed_values import SetsWithin


class ItemSuppression(MaskingStep):
    """Take single items out of sets until any m items of a set are shared by k people."""

    method: Literal["item_suppression"] = "item_suppression"
    k: int = Field(ge=2, description="smallest number of people who have each combination of released items")
    m: int = Field(default=2, ge=1, le=4, description="most items that an intruder knows")

    example: ClassVar[str] = "{method: item_suppression, columns: [purchases], k: 5, m: 2}"
    treatment: ClassVar[str] = "partly blanked"
    use_when: ClassVar[str] = (
        "Sets of items have no hierarchy, or few rare combinations after item_generalization with a "
        "smaller m; k from 3."
    )
    preserves: ClassVar[str] = (
        "The truth and detail of every item that is left. What is lost are rare items and rare "
        "combinations, so that counts of items are too small, of rare ones most."
    )
    known_attack: ClassVar[str] = (
        "The largest released subset of a set that an intruder knows is often the person's own. More than m"
        " known items may fit one set only (Terrovitis, Mamoulis and Kalnis 2008, section 3)."
    )
    missing_values: ClassVar[str] = "A missing set stays missing; a set that loses its last item becomes missing."
    in_an_analysis: ClassVar[str] = (
        "Counts of an item are lower bounds: single items were taken out of sets, seldom ones first. An item that is "
        "not in a set may have been in it; rules of association come out too weak."
    )
    attack_measured: ClassVar[str] = (
        "Take the released set with the most and rarest items of which every item is known. On 1 variable of Groceries "
        "(k: 5, m: 2): 61 % found; 54 % surely found."
    )

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The sets become nullable, with no bound on the share of missing ones. Raises PlanError for other kinds."""
        self.refuse_unless(variables, Kind.ITEMS)
        nullable = {"nullable": True, "max_missing_share": None}
        return {
            name: variable.model_copy(update=nullable) if name in self.columns else variable
            for name, variable in variables.items()
        }

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """See MaskingStep. Raises PlanError if there are fewer than k people; draws nothing.

        cost : the combinations of at most m items of all records, a few times over
        """
        from sluice.risk.people_of_records import people_of

        self.released(variables)
        people = people_of(frame, variables)
        members = len(frame) if people is None else len(np.unique(people))
        if members < self.k:
            raise PlanError(f"k of {self.method} must be at most the number of people, {members}; got {self.k}.")
        masked = frame.copy(deep=False)
        for name in self.columns:
            separator = variables[name].between_items
            sets = without_rare(ItemSets.of(frame[name], separator), self.k, self.m, people)
            masked[name] = sets.column(separator, frame.index)
        return masked

    def attacks(self) -> tuple[Attack, ...]:
        return (SetsWithin(self.columns),)

    def describe(self) -> str:
        return (
            f"Single items were taken out of {', '.join(self.columns)}, so that at least {self.k} people have every "
            f"combination of up to {self.m} items that is left in a set."
        )


def without_rare(sets: ItemSets, k: int, m: int, people: IntArray | None = None) -> ItemSets:
    """The sets without items, few in each, so that every combination of at most m that is left is had by k people.

    people : shape (n,), whose the records are; None: each is another person's
    """
    while True:
        before = len(sets.items)
        for size in range(1, m + 1):
            while True:
                found = combination_counts(sets, size, people)
                rare = found.items[found.counts < k]
                if not len(rare):
                    break
                sets = sets.without(hitting_occurrences(sets, rare))
        if len(sets.items) == before:
            return sets
