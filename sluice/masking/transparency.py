"""The attacks on a plan: those that its steps declare, method by method, and all methods together.

What was masked stratum by stratum is attacked so: each stratum is a file of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.extensions import distribution_of
from sluice.ground.variables import Variables
from sluice.masking.masking_step import MaskingStep
from sluice.masking.plan import ByStratum
from sluice.risk.transparency.attack import RANKED, Attack, NoAttack, Pairs
from sluice.risk.transparency.linear_change import LinearChange
from sluice.risk.transparency.linkage import LearnedCloseness, Likelihood, Linkage, Strongest, Together

Stratum = tuple[str | None, ...]
"""One text for each stratifying variable, None where it is missing."""


@dataclass(frozen=True)
class MethodAttack:
    """An attack and the method, or methods, that it is played on."""

    method: str
    attack: Attack


def attacks_on(
    carried_out: "Sequence[MaskingStep | ByStratum]", variables: Variables, released: Variables
) -> list[MethodAttack]:
    """The attacks to be played on a file that these steps masked.

    Linkages on the steps of one method are played as one, whatever their windows; where several methods masked the
    file, all linkages are also played together. A variable that several steps perturbed, or whose kind the method's
    own attack cannot compare after a recoding, is compared by what true pairs show.

    variables, released : before and after the plan
    """
    steps = [entry.step if isinstance(entry, ByStratum) else entry for entry in carried_out]
    common = [name for name in variables if name in released]
    linkages: dict[str, list[Linkage]] = {}
    learned: dict[str, list[str]] = {}  # by the methods that perturbed them
    others: list[MethodAttack] = []
    for at, entry in enumerate(carried_out):
        step = steps[at]
        for attack in _declared(entry):
            if not isinstance(attack, Linkage):
                others.append(MethodAttack(step.method, attack))
                continue
            own = [name for name in attack.columns if name in common]
            beside = {name: _perturbing(steps, at, name) for name in own}
            kept = [name for name in own if not beside[name] and released[name].kind in attack.kinds]
            if step.unit == "household" and not step.keeps_households:
                kept = []  # one record of each was masked, and ranks and groups are theirs
            for name in own:
                if name not in kept:
                    methods = " and ".join(sorted({step.method, *beside[name]}))
                    learned.setdefault(methods, []).append(name)
            if kept:
                linkages.setdefault(step.method, []).append(attack.restricted(tuple(kept)))
    for methods, names in learned.items():
        linkages.setdefault(methods, []).append(_by_pairs(tuple(dict.fromkeys(names)), variables, released))
    by_method = [MethodAttack(method, Together.of(parts)) for method, parts in linkages.items()]
    if len(linkages) > 1:
        every = Together.of([part for parts in linkages.values() for part in parts])
        by_method.append(MethodAttack(" and ".join(linkages), every))
    return [*by_method, *others]


def unexamined(carried_out: "Sequence[MaskingStep | ByStratum]") -> list[str]:
    """Methods of extensions that perturb values and declare no attack: nobody said what would undo them."""
    steps = [entry.step if isinstance(entry, ByStratum) else entry for entry in carried_out]
    return list(
        dict.fromkeys(
            step.method
            for step in steps
            if distribution_of(type(step)) and not step.is_recoding
            if all(isinstance(attack, NoAttack) for attack in step.attacks())
        )
    )


def _declared(entry: "MaskingStep | ByStratum") -> list[Attack]:
    """The attacks of a step; linkages of a step done by strata look within them."""
    if not isinstance(entry, ByStratum):
        return [attack for attack in entry.attacks() if not isinstance(attack, NoAttack)]
    whole = [attack for attack in entry.step.attacks() if not isinstance(attack, (NoAttack, Linkage))]
    within = {}
    for stratum, fitted in entry.fitted.items():
        parts = [attack for step in fitted for attack in step.attacks() if isinstance(attack, Linkage)]
        if parts:
            within[stratum] = Together.of(parts)
    if not within:
        return whole
    columns = tuple(dict.fromkeys(name for part in within.values() for name in part.columns))
    return [*whole, WithinStrata(columns, entry.step.strata, within)]


def _perturbing(steps: Sequence[MaskingStep], at: int, name: str) -> set[str]:
    """The other steps' methods that changed this variable by more than a recoding, or took a sample afterwards."""
    return {
        step.method
        for number, step in enumerate(steps)
        if number != at and not step.is_recoding and step.concerns(name) and not (step.is_sampling and number < at)
    }


def _by_pairs(names: tuple[str, ...], variables: Variables, released: Variables) -> Linkage:
    """Compare values by what true pairs show: numbers also along the directions in which they vary together."""
    numbers = tuple(name for name in names if {variables[name].kind, released[name].kind} <= set(RANKED))
    closeness, others = LearnedCloseness(names), tuple(name for name in names if name not in numbers)
    if not numbers:
        return closeness
    linear: Linkage = LinearChange(numbers, closeness.knows)
    return Strongest(names, (closeness, Together.of([linear, LearnedCloseness(others)] if others else [linear])))


@dataclass(frozen=True)
class WithinStrata(Linkage):
    """Look for a person in the own stratum only, by what was done there.

    strata : names of the stratifying variables; where the release does not show them as they were, other linkages
             cannot use them, and values are compared by learned closeness
    parts  : the linkage of each stratum
    """

    strata: tuple[str, ...]
    parts: Mapping[Stratum, Linkage]

    @property
    def knows(self) -> str:
        said = dict.fromkeys(part.knows for part in self.parts.values())
        return f"{next(iter(said))} within each {' by '.join(self.strata)}" if said else "the strata"

    def restricted(self, columns: tuple[str, ...]) -> "WithinStrata":
        parts = {stratum: part.restricted(columns) for stratum, part in self.parts.items()}
        return WithinStrata(columns, self.strata, parts)

    def likelihood(self, pairs: Pairs) -> Likelihood:
        members = self._members(pairs)
        if members is None:
            return LearnedCloseness(self.columns).likelihood(pairs)
        within = {stratum: self.parts[stratum].likelihood(pairs.part(rows)) for stratum, rows in members.items()}
        stratum_of = {row: stratum for stratum, rows in members.items() for row in rows.tolist()}

        def of(rows: IntArray) -> FloatArray:
            logs = np.full((len(rows), len(pairs.masked)), -np.inf)
            for at, row in enumerate(rows.tolist()):
                stratum = stratum_of[row]
                own = members[stratum]
                logs[at, own] = within[stratum](np.searchsorted(own, [row]))[0]
            return logs

        return of

    def _members(self, pairs: Pairs) -> dict[Stratum, IntArray] | None:
        """The records of each stratum; None where they cannot be told from the released file."""
        if not set(self.strata) <= set(pairs.recoded) & set(pairs.masked):
            return None
        texts = [pairs.masked[name].astype("string") for name in self.strata]
        before = [pairs.recoded[name].astype("string") for name in self.strata]
        if not all(one.equals(other) for one, other in zip(texts, before, strict=True)):
            return None
        codes = pd.DataFrame({at: pd.factorize(text)[0] for at, text in enumerate(texts)})
        found: dict[Stratum, IntArray] = {}
        for rows in codes.groupby(list(codes.columns), sort=False).indices.values():
            first = [text.iloc[rows[0]] for text in texts]
            found[tuple(None if pd.isna(text) else str(text) for text in first)] = np.asarray(rows, dtype=np.int64)
        return found if set(found) <= set(self.parts) else None
