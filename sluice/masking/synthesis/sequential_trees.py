"""Sequential trees: variables are synthesised one after another, each by a decision tree on those before it.

Sources: Torra (2013), slides "Synthetic Data Generators" (a model of the data, from which new data are drawn); the
method is that of Reiter (2005), as users know it from synthpop (Nowok, Raab and Dibben 2016). Differs from it:
categories are ranked for a split by what is to be predicted, so that there may be many; a value is blurred within its
leaf; no value is drawn from fewer than `minimum_leaf` people; drawn values may then change places until regressions are
the original's (`calibrated`), in which Torra's IPSO and the data shuffling of Muralidhar and Sarathy (2006) meet.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.record_rule import RecordRule
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import grain, on_grain, perturbed, stored
from sluice.masking.masking_step import DRAWN_FROM_A_MODEL, MaskingStep
from sluice.masking.plan import strata, together
from sluice.masking.redrawing import broken, redrawn
from sluice.masking.synthesis.calibration import Sides, calibrated, chosen_of_two
from sluice.masking.synthesis.drawn_amounts import smoothed
from sluice.masking.synthesis.leaf_donors import (
    Predictor,
    as_numbers,
    leaf_donors,
    tree_leaves,
)
from sluice.risk.people_of_records import people_with_several
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linkage import LearnedCloseness
from sluice.risk.transparency.synthetic_values import CopiedPeople

_KINDS = tuple(kind for kind in Kind if kind not in (Kind.TEXT, Kind.ITEMS))
MOST_CATEGORIES = 200  # of a nominal variable: every node of its tree counts each of them


class SequentialTrees(MaskingStep):
    """Replace whole variables by synthetic ones: each value is drawn from records alike in what was drawn before."""

    method: Literal["sequential_trees"] = "sequential_trees"
    order: tuple[str, ...] | None = Field(
        default=None,
        description="the order in which columns are synthesised; put those of many categories last",
    )
    given: tuple[str, ...] = Field(
        default=(), description="variables that stay as they are, on which every synthesised one depends"
    )
    minimum_leaf: int = Field(
        default=5, ge=1, description="smallest number of records in a leaf, from which one value is drawn"
    )
    smoothing: Literal["none", "density"] = Field(
        default="none",
        description=(
            "none: a drawn value is a real record's; density: numbers are drawn from a normal kernel around it,"
            " unless at least minimum_leaf records have that value; amounts of which few have most on logarithms, and"
            " who has none stays without"
        ),
    )
    calibrated: bool | tuple[str, ...] = Field(
        default=False,
        description="true: numbers are drawn so that mean and variance are kept; then values change places until "
        "regressions have nearly the original's coefficients, off by about half a standard error. Names of columns: "
        "regressions of these alone, on all variables, which tells less of who took part",
    )

    example: ClassVar[str] = (
        "{method: sequential_trees, columns: [age, income, hours], given: [region], smoothing: density}"
    )
    use_when: ClassVar[str] = (
        "Relations between variables of all kinds must stay, and no record may descend from one person. For"
        " users who fit models: `calibrated: true` with leaves of 50 to 100."
    )
    preserves: ClassVar[str] = (
        "The distribution of each variable, and the dependences that trees find, but for chance; nothing "
        "exactly. Trees weaken relations, the more the larger their leaves; `calibrated` gives the regressions on main "
        "effects back, of numbers, logarithms of skewed ones, who has any of an amount, and categories, but not what "
        "fewer than 20 people make. Totals of households, rare combinations and rules between variables can break."
    )
    known_attack: ClassVar[str] = (
        "Without smoothing every value is real, and variables that nearly determine each other reproduce "
        "whole records. So small leaves repeat their people: who took part is told from others by rare "
        "combinations of values and by how dense the file is around them (Shokri, Stronati, Song and "
        "Shmatikov 2017), and a variable is read off the nearest records. Linkage on quasi-identifiers "
        "works on synthetic ones too (Torra 2013, 'Synthetic Data Generators'), above all against people "
        "who are alone with their values of 'given'."
    )
    missing_values: ClassVar[str] = (
        "Missing is synthesised like a value: first whether a record has one, by a tree of its own, then which."
    )
    in_an_analysis: ClassVar[str] = DRAWN_FROM_A_MODEL
    attack_measured: ClassVar[str] = (
        "Tell participants by what was learned, look for rare combinations of theirs, and read single variables. On 10 "
        "variables of Adult: 25 % more right of those who took part than of others, by what was learned of members and "
        "others, where the method is run on one half of the people; 17 % more right of those who took part than of "
        "others, of education or occupation, read off the nearest records, where the method is run on one half of the "
        "people; 19 % more right of those who took part than of others, of the combinations of 3 values that one person"
        " alone holds, where the method is run on one half of the people."
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.order is not None and sorted(self.order) != sorted(self.columns):
            odd = sorted(set(self.order) ^ set(self.columns)) or ["a variable twice"]
            raise ValueError(f"order must name each of columns once; it differs by {', '.join(odd)}")
        if len(set(self.given)) != len(self.given):
            raise ValueError("given names a variable twice")
        both = [name for name in self.given if name in self.columns]
        if both:
            raise ValueError(f"'{both[0]}' is among columns and given; what is synthesised cannot stay")
        if strangers := sorted({*self._calibrated} - {*self.columns}):
            raise ValueError(f"calibrated names '{strangers[0]}', which is not among columns")
        return self

    @property
    def _calibrated(self) -> tuple[str, ...]:
        """The columns whose regressions are kept, in the order in which they are synthesised."""
        if isinstance(self.calibrated, bool):
            return (self.order or self.columns) if self.calibrated else ()
        return self.calibrated

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The same variables; smoothed numbers lose their hierarchy and codes for 'missing'."""
        self.refuse_unless(variables, *_KINDS)
        for name in self.given:
            if name not in variables:
                raise PlanError(
                    f"given of {self.method}: no variable '{name}' at this point.", came=name, allowed=variables
                )
            if variables[name].kind not in _KINDS:
                raise PlanError(f"given of {self.method} takes {', '.join(_KINDS)}; '{name}' is text.")
        changed = {
            name: perturbed(variables[name], whole=True, bounded=True)
            for name in self.columns
            if self.smoothing == "density" and variables[name].kind.is_numeric
        }
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when fewer than `minimum_leaf` records have a value, or a nominal has too many categories.

        Cost: one or two trees a variable, each O(n p log n) for the p variables before it, and where `calibrated` least
        squares on q main effects for each variable, O(n q^2), and exchanges, O(n q); memory O(n (p + q)).
        """
        return self.mask_by_rules(frame, variables, rng, ())

    def mask_by_rules(
        self, frame: pd.DataFrame, variables: Variables, rng: Generator, rules: Sequence[RecordRule]
    ) -> pd.DataFrame:
        """Records are drawn until they keep the rules, and calibrated values change places where both records do then.

        Raises and cost: as `mask`, once more for each time that records are drawn again."""
        synthetic = self._drawn_anew(frame, variables, rng)
        if self.calibrated:
            synthetic = redrawn(self, synthetic, rules, lambda _: self._drawn_anew(frame, variables, rng))
            synthetic = with_columns(synthetic, self._exchanged(frame, synthetic, variables, rng, rules))
        return synthetic[list(self.released(variables))]

    def _drawn_anew(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        synthetic = frame.copy(deep=False)
        before = [Predictor.of(frame[name], frame[name], variables[name]) for name in self.given]
        for name in self.order or self.columns:
            column = self._synthesised(frame[name], variables[name], before, rng)
            synthetic[name] = column
            before.append(Predictor.of(frame[name], column, variables[name]))
        return synthetic

    def _exchanged(
        self, frame: pd.DataFrame, synthetic: pd.DataFrame, variables: Variables, rng: Generator,
        rules: Sequence[RecordRule],
    ) -> dict[str, pd.Series]:  # fmt: skip
        """The synthetic columns, their values at other records."""
        sides = {}
        for name in (*self.given, *(self.order or self.columns)):
            kind = variables[name].kind
            one, other = (as_numbers(file[name], kind) for file in (frame, synthetic))
            sides[name] = Sides(one, other, kind.is_categorical)
        whose = people_with_several(frame, variables)
        named = {name for rule in rules for name in rule.columns}

        def keeps(records: IntArray, of: Mapping[str, IntArray]) -> BoolArray:
            columns = {name: synthetic[name].take(of.get(name, records)).array for name in named}
            return ~broken(rules, pd.DataFrame(columns))

        places = calibrated(sides, self._calibrated, self.minimum_leaf, rng, whose, keeps if rules else None)
        return {name: synthetic[name].take(rows).set_axis(frame.index) for name, rows in places.items()}

    @property
    def draws_apart(self) -> bool:
        """Calibrated values change places until the regressions are those of all records."""
        return not self.calibrated

    @property
    def keeps_rules(self) -> bool:
        return True

    def attacks(self) -> tuple[Attack, ...]:
        copied = CopiedPeople((*self.columns, *self.given), self._again, self.given)
        return (copied, LearnedCloseness(self.columns)) if self.given else (copied,)

    def _again(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Another synthesis, of other people: stratum by stratum where the step is."""
        if not self.strata:
            return self.mask(frame, variables, rng)
        parts = strata(self, frame).values()
        return together([self.mask(frame.iloc[rows], variables, rng) for rows in parts])

    def describe(self) -> str:
        basis = f", depending on {', '.join(self.given)}" if self.given else ""
        smoothed = "; numbers were blurred" if self.smoothing == "density" else ""
        if self.calibrated:
            smoothed += "; values then changed places so that regressions on main effects are near the original's"
        return (
            f"The values of {', '.join(self.columns)} are synthetic: drawn one variable after another from decision "
            f"trees{basis}{smoothed}. Relations between variables are weaker than in the original, or other ones, "
            "where no tree found them."
        )

    def _synthesised(
        self, column: pd.Series, variable: Variable, before: Sequence[Predictor], rng: Generator
    ) -> pd.Series:
        """A column in place of `column`, given the variables before it."""
        missing = column.isna().to_numpy()
        present = np.flatnonzero(~missing)
        if len(present) == 0:
            return column
        self._refuse(column, variable, len(present))
        absent = missing
        if missing.any():
            every = np.arange(len(column))
            leaves, new = self._leaves(missing.astype(np.float64), every, every, before, True, rng)
            absent = missing[leaf_donors(leaves, new, rng)]
        wanted = np.flatnonzero(~absent)
        response = as_numbers(column, variable.kind)
        classes = variable.kind in (Kind.NOMINAL, Kind.BINARY)
        leaves, new = self._leaves(response[present], present, wanted, before, classes, rng)
        drawn = self._drawn(column, variable, response[present], present, wanted, leaves, new, rng)
        if not (variable.name in self._calibrated and variable.kind.is_numeric):
            return drawn.where(~absent)
        again = self._drawn(column, variable, response[present], present, wanted, leaves, new, rng)
        one, other = (as_numbers(each, variable.kind)[wanted] for each in (drawn, again))
        taken = np.zeros(len(column), dtype=bool)
        taken[wanted] = chosen_of_two(one, other, response[present], rng)
        return drawn.where(~taken, again.array).where(~absent)

    def _drawn(
        self, column: pd.Series, variable: Variable, values: FloatArray, present: IntArray, wanted: IntArray,
        leaves: IntArray, new: IntArray, rng: Generator,
    ) -> pd.Series:  # fmt: skip
        """A value of its leaf for each wanted record; the others have any."""
        donors = leaf_donors(leaves, new, rng)
        sources = np.full(len(column), present[0])
        sources[wanted] = present[donors]
        drawn = column.take(sources).set_axis(column.index)
        if self.smoothing == "none" or not variable.kind.is_numeric:
            return drawn
        numbers, others = np.zeros(len(column)), np.zeros(len(column), dtype=bool)
        numbers[wanted], others[wanted] = smoothed(values, leaves, donors, self.minimum_leaf, rng)
        blurred = stored(on_grain(np.where(others, numbers, values[0]), grain(values)), variable)
        return drawn.where(~others, blurred.array)

    def _leaves(
        self,
        response: FloatArray,
        rows: IntArray,
        wanted: IntArray,
        before: Sequence[Predictor],
        classes: bool,
        rng: Generator,
    ) -> tuple[IntArray, IntArray]:
        return tree_leaves(response, rows, wanted, before, classes=classes, minimum_leaf=self.minimum_leaf, rng=rng)

    def _refuse(self, column: pd.Series, variable: Variable, present: int) -> None:
        where = f"{self.method} on '{variable.name}'"
        if present < self.minimum_leaf:
            raise PlanError(
                f"{where} needs at least {self.minimum_leaf} records with a value (minimum_leaf); there are {present}."
            )
        if variable.kind is Kind.NOMINAL and column.nunique() > MOST_CATEGORIES:
            raise PlanError(
                f"{where} takes at most {MOST_CATEGORIES} categories; it has {column.nunique()}. Recode it before, "
                "or name it in 'given'."
            )
