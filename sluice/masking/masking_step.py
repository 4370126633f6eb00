"""MaskingStep: what every masking method is, seen from the plan that calls it; and the draws of a record."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import Hashes, column_hashes, scrambled
from sluice.ground.errors import PlanError, did_you_mean
from sluice.ground.record_rule import RecordRule
from sluice.ground.rule import FileOf
from sluice.ground.variables import Kind, Role, Variable, Variables, with_role
from sluice.risk.transparency.attack import Attack, NoAttack


@dataclass(frozen=True)
class RecordDraws:
    """Independent uniform numbers for records, columns and steps: a record gets the same in every edition.

    Noise that is drawn anew for each edition averages out over editions. A record's draw comes from its key, the step
    and the value that is masked: the same noise on another value would tell by how much the value changed.

    keys : shape (n,), of each record; secret, and the same for the same record in every data set
    step : what the draws are for, with all its parameters: another step draws others
    """

    keys: Hashes
    step: str

    def of(self, rows: IntArray) -> "RecordDraws":
        """Those of some of the records."""
        return RecordDraws(self.keys[rows], self.step)

    def uniform(self, purpose: str, values: "pd.Series[Any] | None" = None) -> FloatArray:
        """Shape (n,), from 0 to below 1.

        purpose : what is drawn, such as the name of a column, and whatever of the data the use of the draws depends
                  on: under another scale, the same draws would tell the scales' difference times each of them
        values  : shape (n,), of the column; without, a record keeps its draw whatever its values
        """
        about = pd.util.hash_array(np.array([f"{self.step}\0{purpose}"], dtype=object), categorize=False)
        with np.errstate(over="ignore"):
            mixed = scrambled(self.keys + about)
            if values is not None:
                mixed = scrambled(mixed + scrambled(column_hashes(values)))
        return np.asarray((mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53)

    def normal(self, purpose: str, values: "pd.Series[Any] | None" = None) -> FloatArray:
        """Shape (n,), standard normal."""
        from scipy.special import ndtri  # loaded where it is needed

        return np.asarray(ndtri(self.uniform(purpose, values) + 2.0**-54))


DRAWN_FROM_A_MODEL = (
    "The values are draws from a model of the data: relations that the model does not hold are not in the file. One "
    "set of draws is published, so that standard errors come out too small, the more so the more values were drawn: "
    "take results near a limit as open, and ask the publisher to repeat an analysis on the original."
)
"""What every step says in `in_an_analysis` whose values are synthetic."""

NONE_OF_A_RECODING = "No attack of its own: every attack repeats the rule, and compares original and release after it."
"""What every recoding says in `attack_measured`."""


class MaskingStep(BaseModel, ABC):
    """A frozen specification of one step of a masking plan.

    A method is four answers: which variables come out (`released`, which also refuses what the method cannot treat),
    what happens to the values (`mask`), how that is said to a data user (`describe`), and what an intruder makes of it
    who knows all this (`attacks`).

    `strata` and `unit` are carried out by the plan (`sluice.masking.plan`), not by the method: its `mask` sees one
    stratum, and one record of each household.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    columns: tuple[str, ...] = Field(min_length=1, description="names of the variables to mask")
    strata: tuple[str, ...] = Field(
        default=(),
        description="variables; each combination of their values (missing is a value) is masked as a separate file",
    )
    unit: Literal["record", "household"] = Field(
        default="record",
        description="household: masked once for each household, within which the columns must be equal",
    )

    # What the catalogue of methods tells a methodologist, in plain sentences, and a step of a plan in YAML.
    example: ClassVar[str]
    source: ClassVar[str] = ""  # of a method that shares its file with others; else the module's docstring says it
    treatment: ClassVar[str] = ""  # in one word, as "rounded", where that of its family is not it (treatments.py)
    use_when: ClassVar[str]
    preserves: ClassVar[str]
    known_attack: ClassVar[str]
    missing_values: ClassVar[str]
    # What whoever analyses the masked variables has to allow for: bias, and how to correct for it. Where parameters
    # make a difference, `correction` says more. Sources, but for Torra (2013) method by method: Gouweleeuw, Kooiman,
    # Willenborg and de Wolf (1998) of PRAM, Fuller (1993) of noise, Reiter (2005) of partly synthetic data.
    in_an_analysis: ClassVar[str]
    # What its attacks do, and reach on common files, as `python -m benchmarks transparency` prints it.
    attack_measured: ClassVar[str]

    # A recoding sends equal values to equal values and draws nothing: the same step can be applied to any file of
    # the same variables, which is how original and masked records are compared on the masked file's own categories.
    is_recoding: ClassVar[bool] = False

    # Some of the records may be left out. Every other method returns every record.
    @property
    def is_sampling(self) -> bool:
        return False

    @property
    def draws_from_a_model(self) -> bool:
        """Whether the values are synthetic, so that a program's standard errors lack what the draws add."""
        return DRAWN_FROM_A_MODEL in self.in_an_analysis

    # To mask is to carry out the fitted steps, so that what takes long is done once (`fit`).
    @property
    def masks_as_fitted(self) -> bool:
        return False

    # A record's draws may come from its key (`mask_by_record`), so that an unchanged one keeps its noise.
    @property
    def draws_by_record(self) -> bool:
        return False

    # Each record is drawn by itself, so that one that cannot be may be drawn again (`sluice.masking.redrawing`).
    @property
    def draws_apart(self) -> bool:
        return False

    # It leaves no record that breaks a rule: those that it draws apart are drawn again, else it sees to that itself.
    @property
    def keeps_rules(self) -> bool:
        return self.draws_apart

    # Values of the records are masked, so that it may be done stratum by stratum or household by household.
    takes_strata: ClassVar[bool] = True
    takes_households: ClassVar[bool] = True

    # The method itself moves or draws households as a whole; else the plan gives it one record of each.
    keeps_households: ClassVar[bool] = False

    @field_validator("columns", "strata")
    @classmethod
    def _once_each(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(columns)) != len(columns):
            raise ValueError("a variable is named twice")
        return columns

    @model_validator(mode="after")
    def _strata_and_unit_apply(self) -> "MaskingStep":
        if self.strata and not self.takes_strata:
            raise ValueError(f"{self.method} is not done by strata; leave 'strata' out")
        if self.unit == "household" and not (self.takes_households or self.keeps_households):
            raise ValueError(f"{self.method} is not done by household; leave 'unit' out")
        both = [name for name in self.strata if name in self.columns]
        if both:
            raise ValueError(f"'{both[0]}' is among columns and strata; what is masked cannot tell the strata apart")
        return self

    @abstractmethod
    def released(self, variables: Variables) -> dict[str, Variable]:
        """The variables after this step, in column order. Raises PlanError when the step cannot treat these."""

    @abstractmethod
    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """A new frame, typed by `released(variables)`, with the rows and the index of `frame`, which stays as it was.

        frame     : typed by `variables` (see sluice.ground.variables)
        rng       : this step's own generator; a recoding does not draw from it
        A sampling step returns some of the rows.
        """

    def mask_by_rules(
        self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator, rules: Sequence[RecordRule]
    ) -> pd.DataFrame:
        """As `mask`, where `keeps_rules` but not `draws_apart`: no record is left that breaks one, if that can be."""
        raise NotImplementedError(f"{self.method} does not see to rules itself")

    def mask_by_record(self, frame: pd.DataFrame, variables: Variables, draws: RecordDraws) -> pd.DataFrame:
        """As `mask`, where `draws_by_record`: record i draws from the i-th of `draws`."""
        raise NotImplementedError(f"{self.method} does not draw by record")

    def reading(self, file_of: FileOf) -> Self:
        """This step with what says which file may be read under a path; the same step where it names no file."""
        return self

    def fit(self, frame: pd.DataFrame, variables: Variables) -> "tuple[MaskingStep, ...]":
        """This step as it is carried out on `frame`: a threshold that is read off the data becomes a number."""
        return (self,)

    def parameters(self) -> dict[str, Any]:
        """What an analyst of the masked file needs to know of the fitted step to correct for it, ready for JSON."""
        return {}

    def correction(self) -> str:
        """What whoever analyses the masked variables has to allow for, and how to correct for it."""
        return self.in_an_analysis

    @property
    def moves_jointly(self) -> bool:
        """Whether the values of several columns move to another record together (see `sluice.masking.moved_blocks`)."""
        return False

    def moving(self, name: str) -> "MaskingStep":
        """The same step, by which one more column moves along, and that draws the same."""
        return self.model_copy(update={"columns": (*self.columns, name)})

    @abstractmethod
    def attacks(self) -> "tuple[Attack | NoAttack, ...]":
        """What an intruder does who knows this fitted step; played on every release. See `sluice.risk.transparency`."""

    @abstractmethod
    def describe(self) -> str:
        """One plain sentence for the data user. Says nothing that helps to undo the masking (no seed)."""

    def concerns(self, name: str) -> bool:
        """Whether this step changes the variable; a sampling step, which names no columns, concerns them all."""
        return name in self.columns or not self.columns

    def refuse_unless(self, variables: Variables, *kinds: Kind) -> None:
        """Raise PlanError unless every column exists and has one of these kinds, and strata and unit can be had."""
        for name in self.columns:
            if name not in variables:
                hint = did_you_mean(name, variables) or " Is it an identifier, or did an earlier step take it out?"
                raise PlanError(
                    f"{self.method}: no variable '{name}' at this point.", came=name, allowed=variables, hint=hint
                )
            if variables[name].kind not in kinds:
                allowed = ", ".join(kinds)
                raise PlanError(f"{self.method} on '{name}' takes {allowed}; it is {variables[name].kind}.")
        for name in self.strata:
            if name not in variables:
                raise PlanError(f"strata of {self.method}: no variable '{name}'.", came=name, allowed=variables)
            kind = variables[name].kind
            if kind is Kind.ITEMS or not (kind.is_categorical or kind is Kind.INTEGER):
                raise PlanError(f"strata of {self.method} are of categories or integers; '{name}' has too many values.")
        if self.unit == "household" and not with_role(variables, Role.HOUSEHOLD):
            raise PlanError(
                f"household of {self.method} needs a variable of role household; there is none.", field="unit"
            )


def carried_out(
    fitted: Sequence[MaskingStep], frame: pd.DataFrame, variables: Variables, rng: np.random.Generator
) -> pd.DataFrame:
    """`frame` after these steps, one after the other."""
    current = dict(variables)
    for step in fitted:
        frame = step.mask(frame, current, rng)
        current = step.released(current)
    return frame
