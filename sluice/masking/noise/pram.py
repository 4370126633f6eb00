"""PRAM, the post-randomization method: change categories at random, by the probabilities of a Markov matrix.

Sources: Torra (2013), "PRAM: The Post-Randomization Method"; for the estimator of the original frequencies and for
invariant PRAM Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), see `markov_matrix`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from pydantic import Field, PrivateAttr, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Label, Variable, Variables
from sluice.masking.masking_step import MaskingStep, RecordDraws
from sluice.masking.noise.markov_matrix import invariant_matrix, retention_matrix
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.category_matrix import CategoryMatrix
from sluice.risk.transparency.linkage import LearnedCloseness

Codes = npt.NDArray[np.integer[Any]]
Matrix = dict[Label, dict[Label, float]]

MISSING = "(missing)"  # the category of a missing value in a matrix
_FEW = 256  # categories up to which the search begins at a table 8 times as fine, and is mostly over at once
_TOLERANCE = 1e-9  # of the sum of a row


class Pram(MaskingStep):
    """Change the categories of nominal, ordinal and binary variables at random, each variable by itself."""

    method: Literal["pram"] = "pram"
    matrix: dict[str, Matrix] | None = Field(
        default=None,
        description="for each column and category: the probabilities of the released categories, which add up to 1; "
        "one not listed has probability 0. Instead of `retention`",
    )
    retention: float | None = Field(
        default=None,
        description=(
            "probability that a value is drawn to stay; instead of `matrix`. With `invariant` it is that of "
            "each of two stages, and rare categories stay less often than common ones"
        ),
    )
    spread: Literal["even", "proportional"] = Field(
        default="even",
        description="how the rest is divided among the other categories: evenly, or by their shares in the data (so "
        "that few values enter rare ones)",
    )
    invariant: bool = Field(
        default=False,
        description="adjust the matrix so that every category keeps its frequency in expectation",
    )
    missing_as_category: bool = Field(
        default=False,
        description=f"treat missing as a category, in a matrix named '{MISSING}': values may become missing, and "
        "missing ones present",
    )

    _digits: int | None = PrivateAttr(default=None)  # to which a matrix read off the data is published; None: chosen

    example: ClassVar[str] = "{method: pram, columns: [education], retention: 0.8, invariant: true}"
    use_when: ClassVar[str] = (
        "Categories must become uncertain without wider groups or suppression; a retention from 0.7 to 0.9 is usual."
    )
    preserves: ClassVar[str] = (
        "Expected frequencies with `invariant`; otherwise the published matrix gives unbiased estimates. "
        "Tables of several variables lose association, and combinations that cannot be may appear."
    )
    known_attack: ClassVar[str] = (
        "Bayes' rule with the published matrix: a released value is most often true, above all in frequent "
        "categories. Over several variables these probabilities multiply, and find the record of whoever is"
        " alone with what is known of them. A matrix read off the data (proportional, invariant) would tell"
        " the original frequencies: it is published rounded."
    )
    missing_values: ClassVar[str] = (
        "A missing value stays missing and no value becomes missing, unless `missing_as_category`."
    )
    in_an_analysis: ClassVar[str] = (
        "A frequency that was counted is that of the changed categories. With the published matrix P, whose rows are "
        "original categories and whose columns are released ones, the original frequencies t are estimated from the "
        "counted ones c by t = inverse(P transposed) c."
    )
    attack_measured: ClassVar[str] = (
        "Weigh each released category by its probability given the known one. On 8 variables of Adult (retention: 0.8):"
        " 23 % found; 14 % surely found."
    )

    @model_validator(mode="after")
    def _one_matrix(self) -> Self:
        on = f"pram on {', '.join(map(repr, self.columns))}"
        if (self.matrix is None) == (self.retention is None):
            raise ValueError(f"{on} needs 'matrix' or 'retention', and not both")
        if self.retention is not None and not 0 <= self.retention <= 1:
            hint = f"Is it a percentage? Use {self.retention / 100:g}." if 1 < self.retention <= 100 else ""
            raise ValueError(f"retention of {on} must be in [0, 1]; got {self.retention:g}. {hint}".strip())
        if self.matrix is not None:
            if self.spread != "even":
                raise ValueError(f"{on}: 'spread' is for 'retention'; a matrix says itself where values go")
            if set(self.matrix) != set(self.columns):
                raise ValueError(f"matrix of {on} must have one entry for each column; got {list(self.matrix)}")
            for name, rows in self.matrix.items():
                _refuse_no_probabilities(name, rows)
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The same variables; with `missing_as_category` values may be missing. The matrix must fit the categories."""
        self.refuse_unless(variables, Kind.NOMINAL, Kind.ORDINAL, Kind.BINARY)
        for name in self.columns:
            categories = variables[name].categories
            if categories is not None:
                self._refuse_other_categories(name, categories)
        changes = {"nullable": True, "max_missing_share": None} if self.missing_as_category else {}
        return {**variables, **{name: variables[name].model_copy(update=changes) for name in self.columns}}

    def fit(self, frame: pd.DataFrame, variables: Variables) -> tuple[MaskingStep, ...]:
        """The step with the matrix that it draws from, as numbers."""
        matrix = {}
        for name in self.columns:
            labels = self._labels(name, frame[name])
            matrix[name] = {
                label: dict(zip(labels if row.all() else compress(labels, row > 0), row[row > 0].tolist(), strict=True))
                for label, row in zip(labels, self._matrix(name, frame[name]), strict=True)
            }
        update = {"matrix": matrix, "retention": None, "spread": "even", "invariant": False}
        fitted = self.model_copy(update=update)
        if self.invariant or self.spread == "proportional":
            values = min(len(frame) if self.missing_as_category else frame[name].count() for name in self.columns)
            fitted._digits = min(3, max(0, len(str(values)) - 2))
        return (fitted,)

    def parameters(self) -> dict[str, Any]:
        """The matrix of each column; probabilities of 0 are left out.

        One that was read off the data would in full tell every category's frequency, and so how few people have a rare
        one. It is rounded until about ten records more or less make no difference (to 0.1 from 100 values on, to 0.01
        from 1,000, to 0.001 from 10,000), and not published of fewer than 100 values.
        """
        if self.matrix is None or self._digits == 0:
            return {}
        digits = self._digits
        if digits is None:
            return {"matrix": self.matrix}
        rounded = {
            name: {label: _rounded(row, digits) for label, row in rows.items()} for name, rows in self.matrix.items()
        }
        return {"matrix": rounded, "rounded_to": round(0.1**digits, digits)}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when the matrix does not fit the categories of the data."""
        return self._masked(frame, variables, lambda name, codes, matrix: randomised(codes, matrix, rng))

    @property
    def draws_apart(self) -> bool:
        return True

    @property
    def draws_by_record(self) -> bool:
        """A matrix that is read off the data is another in each edition."""
        return not self.invariant and self.spread == "even"

    def mask_by_record(self, frame: pd.DataFrame, variables: Variables, draws: RecordDraws) -> pd.DataFrame:
        """With retention and an even spread, categories that are found in the data are part of what is drawn for."""

        def drawn(name: str, codes: Codes, matrix: FloatArray) -> Codes:
            labels = self._labels(name, frame[name])
            return chosen(codes, matrix, draws.uniform("\0".join([name, *labels]), frame[name]))

        return self._masked(frame, variables, drawn)

    def _masked(
        self, frame: pd.DataFrame, variables: Variables, draw: Callable[[str, Codes, FloatArray], Codes]
    ) -> pd.DataFrame:
        self.released(variables)
        masked = {}
        for name in self.columns:
            values = frame[name].cat
            drawn = draw(name, self._codes(frame[name]), self._matrix(name, frame[name]))
            if self.missing_as_category:
                drawn[drawn == len(values.categories)] = -1
            categories = pd.Categorical.from_codes(drawn, values.categories, ordered=values.ordered, validate=False)
            masked[name] = pd.Series(categories, index=frame.index)
        return with_columns(frame, masked)

    def attacks(self) -> tuple[Attack, ...]:
        if self.matrix is None:  # not yet fitted
            return (LearnedCloseness(self.columns),)
        return (CategoryMatrix(self.columns, self.matrix, MISSING),)

    def correction(self) -> str:
        alone = (
            "Frequencies of a variable by itself need no correction but for chance. In a table with another variable, "
            "the original counts T are estimated from the counted ones C"
            if self.invariant
            else self.in_an_analysis + " In a table with another variable, whose rows are this one's categories, T is "
            "estimated from C"
        )
        return (
            f"{alone} by T = inverse(P transposed) C, with P the published matrix (rows: original categories); where "
            "the other one was changed by a matrix Q, too, T = inverse(P transposed) C inverse(Q). Estimates can be "
            "negative, and their standard errors are larger than those of counts: by the bootstrap, corrected in "
            "each replicate. Where no matrix is published, such tables cannot be corrected."
        )

    def describe(self) -> str:
        kept = " Each category's expected frequency is that of the original." if self.invariant else ""
        read_off = self.invariant or self.spread == "proportional"
        how = " (rounded, and only for 100 values or more)" if read_off else ""
        return (
            f"The categories of {', '.join(self.columns)} were changed at random, each variable by itself, with known "
            f"probabilities that stand beside the data{how}.{kept}"
        )

    def _labels(self, name: str, column: pd.Series) -> list[str]:
        """The categories in the order of the matrix's rows; missing, if it is one, comes last."""
        labels = [str(label) for label in column.cat.categories]
        if self.missing_as_category and MISSING in labels:
            raise PlanError(f"pram on '{name}' has a category that is named '{MISSING}', as missing values are.")
        return [*labels, MISSING] if self.missing_as_category else labels

    def _codes(self, column: pd.Series) -> Codes:
        """The row of each value in the matrix; -1 where a value is missing and stays so."""
        codes = codes_of(column)
        if not self.missing_as_category:
            return codes
        return np.where(codes < 0, len(column.cat.categories), codes.astype(np.int64))

    def _matrix(self, name: str, column: pd.Series) -> FloatArray:
        """The Markov matrix of a column, shape (k, k), rows and columns in the order of `_labels`."""
        from sluice.masking.noise.pram_kernel import category_counts

        labels = self._labels(name, column)
        counts = np.zeros(len(labels), dtype=np.int64)
        if self.invariant or self.spread == "proportional":
            counts = category_counts(self._codes(column), len(labels))
        if self.matrix is None:
            assert self.retention is not None  # one of the two is given
            markov = retention_matrix(counts, self.retention, proportional=self.spread == "proportional")
        else:
            self._refuse_other_categories(name, labels[:-1] if self.missing_as_category else labels)
            rows = self.matrix[name]
            column_of = {label: column for column, label in enumerate(labels)}
            markov = np.zeros((len(labels), len(labels)))
            for shares, label in zip(markov, labels, strict=True):
                row = rows[label]
                shares[[column_of[other] for other in row]] = list(row.values())
        return invariant_matrix(counts, markov) if self.invariant else markov

    def _refuse_other_categories(self, name: str, categories: Sequence[str]) -> None:
        """Raise PlanError unless the matrix, if one is given, has a row for each category and names no other."""
        if self.matrix is None:
            return
        known = {*categories, MISSING} if self.missing_as_category else set(categories)
        rows = self.matrix[name]
        named: tuple[Mapping[str, object], ...] = (rows, *rows.values())  # one list of all labels would have k^2
        for labels in named:
            if not labels.keys() <= known:
                label = next(label for label in labels if label not in known)
                raise PlanError(
                    f"matrix of pram on '{name}' names '{label}', which is not among its categories. "
                    "Is it spelled as in the contract?"
                )
        without = len(known - rows.keys())
        if without:
            raise PlanError(
                f"matrix of pram on '{name}' needs a row for each category; {without} have none. "
                "A category that stays has probability 1 of itself."
            )


def _rounded(row: Mapping[str, float], digits: int) -> dict[str, float]:
    """A row of probabilities in few digits that still add up to 1: rounded down, the largest remainders up.

    One that comes out as 0 is left out, as those that are 0 have been: a rare category looks like an absent one.
    """
    units = np.fromiter(row.values(), dtype=np.float64, count=len(row)) * 10**digits
    whole = units.astype(np.int64)
    whole[np.argsort(whole - units, kind="stable")[: 10**digits - int(whole.sum())]] += 1
    left = whole > 0
    return {
        label: round(count / 10**digits, digits)
        for label, count in zip(compress(row, left), whole[left].tolist(), strict=True)
    }


def randomised(codes: Codes, matrix: FloatArray, rng: Generator) -> Codes:
    """For each value a category drawn from its row of `matrix`; one of probability 0 is never drawn.

    codes   : shape (n,), rows of the matrix, of any integer type; a negative one (missing) stays
    matrix  : shape (k, k), rows add up to 1 (to rounding)
    returns : shape (n,), of the type of `codes`
    cost    : O(n + k^2 log k), of many categories O(k^2 + (n + k log k) sqrt(n)); one uniform number a value
    """
    from sluice.masking.noise.pram_kernel import drawn_categories

    if not len(matrix):  # a column without categories: all values are missing
        return codes.copy()
    cumulative = np.cumsum(matrix, axis=1)
    cumulative /= cumulative[:, -1:]  # so that each row ends at 1 exactly, from the last category that can be drawn on
    cells = 1 << (len(matrix) - 1).bit_length() + (3 if len(matrix) <= _FEW else 0)
    if len(matrix) > _FEW:  # the table is not made finer than so many values make use of
        cells = min(cells, 1 << int(np.sqrt(len(codes))).bit_length())
    starts = np.arange(cells) / cells
    guide = np.array([np.searchsorted(row, starts, side="right") for row in cumulative])
    guide = guide.astype(np.min_scalar_type(len(matrix)))  # small enough for the processor's cache
    drawn: Codes = drawn_categories(codes, cumulative, guide, rng)
    return drawn


def chosen(codes: Codes, matrix: FloatArray, uniform: FloatArray) -> Codes:
    """As `randomised`, by random numbers that are given, shape (n,), from 0 to below 1."""
    drawn = codes.copy()
    for row, shares in enumerate(matrix):
        mine = np.flatnonzero(codes == row)
        cumulative = np.cumsum(shares)
        drawn[mine] = np.searchsorted(cumulative / cumulative[-1], uniform[mine], side="right")
    return drawn


def _refuse_no_probabilities(name: str, rows: Matrix) -> None:
    for label, row in rows.items():
        where = f"matrix of pram on '{name}', row '{label}'"
        if not all(0 <= share <= 1 for share in row.values()):
            raise ValueError(f"{where}: a probability must be in [0, 1]. Is it a percentage?")
        if abs(sum(row.values()) - 1) > _TOLERANCE:
            raise ValueError(f"{where}: the probabilities must add up to 1; got {sum(row.values()):.10g}.")
