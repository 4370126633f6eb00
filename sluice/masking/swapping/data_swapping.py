"""Data swapping: records or households at risk exchange their area with similar ones of another area.

Sources: Lasko and Vinterbo (2010), section III-B1, and Fienberg and McIntyre (2004); targeted record swapping as census
offices do it and as the documentation of sdcMicro's `recordSwap` describes it: units that are rare in their area go
first, random ones fill up to a swap rate in each area, and a partner agrees on match keys, of which the last are
dropped where nobody is found. Differs from it: risk is counted in the smallest area only, a partner is uniform among
those who fit, and households of unequal size never swap.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, PrivateAttr, model_validator

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Role, Variable, Variables, with_role
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linkage import LearnedCloseness


class DataSwapping(MaskingStep):
    """Swap the area of records or households at risk, and of some others, with similar ones elsewhere."""

    method: Literal["data_swapping"] = "data_swapping"
    columns: tuple[str, ...] = Field(
        min_length=1, description="the variables whose combination is the area; swapped as a block"
    )
    risk_keys: tuple[str, ...] = Field(
        default=(), description="variables by which people are found in an area; without any, all swaps are random"
    )
    k: int = Field(
        default=3,
        description="a unit is at risk if fewer than k (at least 1) records of its area share a member's risk keys",
    )
    within: tuple[str, ...] = Field(
        default=(), description="variables on which partners always agree, such as the wider area"
    )
    similar: tuple[str, ...] = Field(
        default=(),
        description="match keys, the most important first: partners agree on all, or else on all but the last, and so "
        "on",
    )
    swap_rate: float = Field(
        description="least share of the units of each area that are swapped, in (0, 1], rounded up; units at risk first"
    )
    unit: Literal["household", "record"] | None = Field(  # type: ignore[assignment]  # left out: by the variables
        default=None,
        description="what is swapped: households of equal size, or records; by default households if a variable has "
        "this role",
    )
    unmatched: Literal["refuse", "keep"] = Field(
        default="refuse",
        description="if a unit at risk finds no partner, or an area does not reach the swap rate",
    )

    _along: tuple[str, ...] = PrivateAttr(default=())  # columns that move with the area and are no part of it

    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False
    keeps_households: ClassVar[bool] = True

    example: ClassVar[str] = (
        "{method: data_swapping, columns: [region], risk_keys: [age, sex], swap_rate: 0.1, unmatched: keep}"
    )
    use_when: ClassVar[str] = (
        "People are rare in their small area, and tables by area must nearly stay; swap rates from 0.02 to 0.1."
    )
    preserves: ClassVar[str] = (
        "Exactly: tables without the area, counts by area and `within`, and by `similar` unless a match key"
        " had to be dropped. Other tables by area change by the swapped units."
    )
    known_attack: ClassVar[str] = (
        "All values but the area are true: a person found without the area is known. A person seen in an "
        "area was most likely not swapped when the swap rate is low."
    )
    missing_values: ClassVar[str] = (
        "A missing area or key is a value of its own. A record without a household is a household by itself."
    )
    in_an_analysis: ClassVar[str] = (
        "Tables without the area need no correction. Tables by area do not show how many units were swapped: "
        "differences between areas come out too small, by about the share of swapped units, which the publisher can "
        "tell."
    )
    attack_measured: ClassVar[str] = (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 1 "
        "variable of Adult (swap_rate: 0.1): 0 % found; 0 % surely found."
    )

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        on = f"data_swapping on {', '.join(map(repr, self.columns))}"
        if not 0 < self.swap_rate <= 1:
            hint = f" Is it a percentage? Use {self.swap_rate / 100:g}." if 1 < self.swap_rate <= 100 else ""
            raise ValueError(f"swap_rate of {on} must be in (0, 1]; got {self.swap_rate:g}.{hint}")
        if self.k < 1:
            raise ValueError(f"k of {on} must be at least 1; got {self.k}. 3 calls one or two equals in an area a risk")
        for field, names in (("risk_keys", self.risk_keys), ("similar", self.similar)):
            for name in names:
                if name in self.columns:
                    raise ValueError(f"{field} of {on} names '{name}', which is the area itself")
        if set(self.columns) <= set(self.within):
            raise ValueError(f"within of {on} names the whole area; no partner can be in another one")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The same variables: every released area is an area of the original file."""
        self.refuse_unless(variables, *Kind)
        for field, names in (("risk_keys", self.risk_keys), ("within", self.within), ("similar", self.similar)):
            for name in names:
                if name not in variables:
                    raise PlanError(f"{field} of data_swapping: no variable '{name}'.", came=name, allowed=variables)
        if self.unit == "household" and not with_role(variables, Role.HOUSEHOLD):
            raise PlanError(
                "household of data_swapping needs a variable of role household; there is none.", field="unit"
            )
        return dict(variables)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when units at risk or areas are left without enough partners, unless `unmatched: keep`;
        and when an area or match key differs within a household."""
        from sluice.risk.classes.equivalence_classes import category_codes, classes_of, equivalence_classes

        self.released(variables)
        first, unit_of = self._units(frame, variables)
        heads = frame.iloc[first]
        at_risk = np.zeros(len(first), dtype=np.bool_)
        if self.risk_keys and len(frame):
            rare = classes_of(frame, [*self.columns, *self.risk_keys]).frequencies < self.k
            at_risk[unit_of[rare]] = True
        always = [np.bincount(unit_of), *(category_codes(heads[name]) for name in self.within)]
        keys = [category_codes(heads[name]) for name in self.similar]
        profiles = [equivalence_classes([*always, *keys[:kept]]).labels for kept in range(len(keys), -1, -1)]
        areas = classes_of(heads, self.columns).labels
        partners = swap_partners(areas, profiles, at_risk, self.swap_rate, rng)
        if self.unmatched == "refuse":
            self._refuse_unmatched(areas, at_risk, partners)
        sources = first[np.where(partners < 0, np.arange(len(first)), partners)][unit_of]
        moved = (*self.columns, *self._along)
        return with_columns(frame, {name: frame[name].take(sources).set_axis(frame.index) for name in moved})

    @property
    def moves_jointly(self) -> bool:
        return len(self.columns) > 1

    def moving(self, name: str) -> "DataSwapping":
        step = self.model_copy()
        step._along = (*self._along, name)
        return step

    def attacks(self) -> tuple[Attack, ...]:
        return (LearnedCloseness(self.columns),)  # how often an area is the true one, and which others it gives

    def describe(self) -> str:
        units = {"household": "households", "record": "records"}.get(self.unit or "", "records or households")
        return (
            f"Some {units} exchanged their {', '.join(self.columns)} with similar ones of another area; all their "
            "other values are unchanged."
        )

    def _units(self, frame: pd.DataFrame, variables: Variables) -> tuple[IntArray, IntArray]:
        """The first row of each unit, and the unit of each row. Raises PlanError when a household is not of one area
        or match key."""
        from sluice.risk.classes.equivalence_classes import category_codes

        household = with_role(variables, Role.HOUSEHOLD)
        if self.unit == "record" or not household:
            rows = np.arange(len(frame))
            return rows, rows
        codes, _ = pd.factorize(frame[household[0]])
        alone = np.flatnonzero(codes < 0)
        codes[alone] = codes.max(initial=-1) + 1 + np.arange(len(alone))
        _, first, unit_of = np.unique(codes, return_index=True, return_inverse=True)
        for name in (*self.columns, *self.within, *self.similar):
            values = category_codes(frame[name])
            if (values != values[first][unit_of]).any():
                raise PlanError(
                    f"data_swapping of households needs one value of '{name}' in each; in some the members differ. "
                    "Use a variable of the household, such as its size, or unit: record."
                )
        return first, unit_of

    def _refuse_unmatched(self, areas: IntArray, at_risk: BoolArray, partners: IntArray) -> None:
        alone = int((at_risk & (partners < 0)).sum())
        short = int(
            (np.bincount(areas[partners >= 0], minlength=_count(areas)) < _targets(areas, self.swap_rate)).sum()
        )
        if alone or short:
            raise PlanError(
                f"data_swapping on {', '.join(map(repr, self.columns))}: {alone} units at risk find no partner in "
                f"another area, and {short} areas stay below the swap rate. Use fewer variables in 'within', or "
                "unmatched: keep."
            )


def swap_partners(
    areas: IntArray, profiles: Sequence[IntArray], at_risk: BoolArray, swap_rate: float, rng: Generator
) -> IntArray:
    """Who swaps with whom: all units at risk, then random ones until each area has its share.

    areas     : shape (n,), labels from 0
    profiles  : arrays of shape (n,), labels from 0; partners have one label in the first of them or, where no partner
                is left, in the second, and so on
    at_risk   : shape (n,)
    swap_rate : least share of the units of each area that are swapped; rounded up to whole units
    returns   : shape (n,), the partner, who lies in another area; -1 where a unit is not swapped. Units at risk without
                a partner and areas below their share have nobody left who fits in any profile
    cost      : O(n log n) a profile. A swap fills the share of both areas, so that some get a little more than it
    """
    partners = np.full(len(areas), -1, dtype=np.int64)
    needed = np.bincount(areas, minlength=_count(areas))  # units at risk choose without a limit
    for profile in profiles:
        _swap(rng.permutation(np.flatnonzero(at_risk & (partners < 0))), needed, partners, areas, profile, rng)
    needed = _targets(areas, swap_rate) - np.bincount(areas[partners >= 0], minlength=_count(areas))
    for profile in profiles:
        short = np.flatnonzero((needed[areas] > 0) & (partners < 0))
        _swap(rng.permutation(short), needed, partners, areas, profile, rng)
    return partners


def _swap(
    wanted: IntArray, needed: IntArray, partners: IntArray, areas: IntArray, profile: IntArray, rng: Generator
) -> None:
    """Find partners for the wanted units among the free ones of their profile; changes `needed` and `partners`."""
    from sluice.masking.swapping.data_swapping_kernel import find_partners

    if not len(wanted):
        return
    free = np.flatnonzero(partners < 0)
    keys = profile[free] * _count(areas) + areas[free]
    sorting = np.argsort(keys)
    _, starts, cells = np.unique(keys[sorting], return_index=True, return_inverse=True)
    order = free[sorting]
    _, groups = np.unique(profile[order[starts]], return_inverse=True)
    find_partners(
        wanted,
        needed,
        partners,
        areas,
        order,
        cells,
        np.append(starts, len(order)),
        np.append(groups, groups[-1] + 1),
        rng,
    )


def _count(areas: IntArray) -> int:
    return int(areas.max(initial=-1)) + 1


def _targets(areas: IntArray, swap_rate: float) -> IntArray:
    """Units of each area that must be swapped."""
    sizes = np.bincount(areas, minlength=_count(areas))
    targets: IntArray = np.ceil(sizes * swap_rate * (1 - 1e-12)).astype(np.int64)  # 0.07 * 100 is 7.000000000000001
    return targets
