"""km-anonymity: an intruder who knows a few items of a person's set finds a crowd that fits.

Source: Terrovitis, Mamoulis and Kalnis (2008), section 3; with quasi-identifiers Poulis, Loukides, Gkoulalas-Divanis
and Skiadopoulos (2013).

A file of sets is k^m-anonymous if no intruder who knows at most m items of a set can find fewer than k sets in it that
fit; with known quasi-identifiers, (k, k^m)-anonymity.

An item is known by the name under which it is released: whoever knows the plan knows which group stands for apples,
and that no group does where apples are released as such. Who does not know that finds no fewer: whatever items fit a
record, they fit every record with the same names. An item that is not in a released set does not fit it, also where it
was suppressed: an intruder takes the file as it reads.

Differs from the source: people are counted, not sets, where it is known whose the sets are.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Saying, Sentences, as_fields, listed
from sluice.ground.variables import Kind, Role, Variable, Variables, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.items.item_sets import ItemSets
from sluice.risk.classes import equivalence_classes
from sluice.risk.classes.microdata_rule import Columns, KeyedRecords, MicrodataRule

_SAYS = Sentences(
    "km_anonymity",
    no_sets="The file has no variable of kind items.",
    no_rule="No rule of the policy asks whom a few items of {sets:listed} fit, so the risk from "
    "single items was not judged.",
    too_few="{below:,} of {n:,} {unit} {below:is} among fewer than {k:,} whom up to {items} fit{beside}",
    some_alone=", {alone:,} of them alone",
    kept="Whichever up to {items} of a person are known{beside}, they fit {observed:,} of the {n:,} {unit} at least",
    asked="; the policy asks for {k:,}.",
    read_together=" Records with the same {name} are read together.",
)

_JOINING = (Role.HOUSEHOLD, Role.CONTRIBUTOR, Role.HOLDING)  # by their names a reader puts records together

MOST_KNOWN = 4
"""Items that an intruder may know: the combinations of more are too many to be counted."""


def side_by_side(parts: Sequence[ItemSets]) -> ItemSets:
    """The sets of several variables of the same records as one: an item of one variable is none of another."""
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0, *(len(part.names) for part in parts)])
    rows = np.concatenate([part.rows for part in parts])
    items = np.concatenate([part.items + offset for part, offset in zip(parts, offsets, strict=False)])
    names = tuple(f"{number}: {name}" for number, part in enumerate(parts) for name in part.names)
    return ItemSets.from_pairs(rows, items, len(parts[0]), names)


def united(sets: ItemSets, together: IntArray) -> ItemSets:
    """One set for each code of `together`, shape (n,), from 0: what a reader sees who puts these records together."""
    return ItemSets.from_pairs(together[sets.rows], sets.items, int(together.max(initial=-1)) + 1, sets.names)


def smallest_crowds(sets: ItemSets, m: int, groups: IntArray | None = None, people: IntArray | None = None) -> IntArray:
    """For each record, the fewest people who fit one of its combinations of at most m items.

    sets    : as released
    m       : 1 to 4; a set of fewer items has fewer to know. Knowing none of them is among the combinations
    groups  : shape (n,), from 0: records that agree on what is known beside the items; None: nothing is known
    people  : shape (n,), from 0: whose the records are; None: each is another person's
    returns : shape (n,), at least 1; lower is worse
    raises  : DataError for another m
    cost    : O(sum over the records of the combinations of at most m of their items) time, O(m occurrences) memory: a
              million sets of 4 items take 1.2 seconds of the processor for m = 2
    """
    from sluice.risk.classes import km_anonymity_kernel as kernel

    if not 1 <= m <= MOST_KNOWN:
        raise DataError(f"m of km-anonymity must be from 1 to {MOST_KNOWN}; got {m}")
    n = len(sets)
    groups = np.zeros(n, np.int64) if groups is None else groups
    people = np.arange(n) if people is None else people
    order = np.lexsort((people, groups))
    # Rare items first: their few records are then parted no further than needed.
    frequency = np.bincount(sets.items, minlength=len(sets.names))
    rank = np.argsort(np.argsort(frequency, kind="stable"))
    ranked = sets.take(order).replaced(rank, sets.names)
    ordered = groups[order]
    bounds = (
        np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])) if n else np.zeros(1, np.int64)
    )
    crowds = np.empty(n, np.int64)
    crowds[order] = kernel.smallest_crowds(
        ranked.starts, ranked.items, people[order].astype(np.int64), bounds, len(sets.names), m
    )
    return crowds


class KmAnonymity(MicrodataRule):
    """Every combination of at most m items of a released set occurs for at least k people."""

    rule: Literal["km_anonymity"] = "km_anonymity"
    example: ClassVar[str] = "{rule: km_anonymity, k: 5, m: 2}"
    advice: ClassVar[str] = (
        "Let item_generalization with the same k and m find the groups of items that it takes, with the variables of "
        "`known` as its strata; or item_suppression where few items are rare."
    )
    needs: ClassVar[str] = "Declare in the contract which variable holds sets (kind: items), and release it."

    k: int = Field(ge=2, description="smallest number of people that may fit")
    m: int = Field(default=2, ge=1, le=MOST_KNOWN, description="most items of one person that an intruder knows")
    columns: Columns | None = Field(
        default=None, description="the sets of items, m items in all of them together; all of the file by default"
    )
    known: tuple[str, ...] | None = Field(
        default=None,
        description="what the intruder knows beside the items; all other quasi-identifiers by default; [] for nothing",
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return () if self.columns else ((Need.ITEMS,),)

    def lacking(self, variables: Variables) -> Saying:
        return () if self.sets_looked_at(variables) else _SAYS.no_sets()

    def keys(self, variables: Variables) -> list[str]:
        return [*self.sets_looked_at(variables), *self._known(variables)]

    def sets_looked_at(self, variables: Variables) -> list[str]:
        """The sets of items that are looked at."""
        return sets_of_items(variables) if self.columns is None else list(self.columns)

    def judge(self, file: KeyedRecords) -> list[Finding]:
        frame, variables = file.frame, file.variables
        names, beside = self.sets_looked_at(variables), self._known(variables)
        parts = [_released(frame[name], variables[name]) for name in names]
        sets = side_by_side(parts)
        groups = equivalence_classes.classes_of(frame, beside).labels.astype(np.int64) if beside else None
        crowds, said = smallest_crowds(sets, self.m, groups, file.people), file.people_note
        for name in (name for role in _JOINING for name in with_role(variables, role) if name in frame):
            joined = _crowds_of_joined(sets, frame[name], self.m, groups)
            if (joined < crowds).any():
                said += _SAYS.read_together(name=name)
                crowds = np.minimum(crowds, joined)
        n, observed, below = len(frame), int(crowds.min()), int((crowds < self.k).sum())
        items = f"{self.m} item{'s' if self.m > 1 else ''} of {listed(names)}"
        known = {"items": items, "beside": f" beside {listed(beside)}" if beside else "", "n": n, "unit": file.unit}
        if below:
            alone = int((crowds == 1).sum())
            says = _SAYS.too_few(**known, below=below, k=self.k) + (_SAYS.some_alone(alone=alone) if alone else ())
        else:
            says = _SAYS.kept(**known, observed=observed)
        says += _SAYS.asked(k=self.k) + said
        return [self.finding(file, not below, observed, self.k, says)]

    def describe(self) -> str:
        beside = "the quasi-identifiers" if self.known is None else listed(self.known) if self.known else ""
        also = f" and {beside}" if beside else ""
        plural = "items" if self.m > 1 else "item"
        return f"Whoever knows {self.m} {plural} of a person{also} finds {self.k:,} who fit (km-anonymity)."

    def _known(self, variables: Variables) -> list[str]:
        if self.known is not None:
            return list(self.known)
        return [name for name in with_role(variables, Role.QUASI_IDENTIFIER) if variables[name].kind is not Kind.ITEMS]


def sets_of_items(variables: Variables) -> list[str]:
    """The variables of kind items, in column order."""
    return [name for name, variable in variables.items() if variable.kind is Kind.ITEMS]


def unjudged_sets(rules: Sequence[object], variables: Variables) -> list[Finding]:
    """A finding UNKNOWN where the file has sets of items of which no rule asks what a few of them tell."""
    judged = {name for rule in rules if isinstance(rule, KmAnonymity) for name in rule.sets_looked_at(variables)}
    left = [name for name in sets_of_items(variables) if name not in judged]
    if not left:
        return []
    says = _SAYS.no_rule(sets=left)
    return [
        Finding(rule="km_anonymity", verdict=Verdict.UNKNOWN, stage="masked", scope=", ".join(left), **as_fields(says))
    ]


def _released(column: "pd.Series[Any]", variable: Variable) -> ItemSets:
    if variable.kind is not Kind.ITEMS:
        raise DataError(f"km_anonymity looks at sets of items; '{variable.name}' is {variable.kind}")
    return ItemSets.of(column, variable.between_items)


def _crowds_of_joined(sets: ItemSets, names: "pd.Series[Any]", m: int, groups: IntArray | None) -> IntArray:
    """Crowds of those whose records a reader puts together by a name; a record without a name stays by itself."""
    codes = pd.factorize(names)[0].astype(np.int64)
    unnamed = codes < 0
    codes[unnamed] = codes.max(initial=-1) + 1 + np.arange(np.count_nonzero(unnamed))
    labels = (
        codes if groups is None else equivalence_classes.equivalence_classes([codes, groups]).labels.astype(np.int64)
    )
    first = np.unique(labels, return_index=True)[1]
    joined = united(sets, labels)
    of_joined = None if groups is None else groups[first]
    return smallest_crowds(joined, m, of_joined, codes[first])[labels]
