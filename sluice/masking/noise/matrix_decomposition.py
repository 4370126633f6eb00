"""Matrix decomposition: release the product of two thin matrices that comes nearest to the data.

Source: Yamazoe and Omote (2021), section 3.1: M (n x m) is decomposed into U (n x d) and V (m x d), and X = U V' of
rank d is released, alone or before microaggregation or noise. Differs from it: columns are standardised (the singular
value decomposition centres them too, so that means are kept), and categories are read back as the most probable one,
where they leave the numbers. The factorisation by stochastic gradient descent that they cite is not described there,
and scikit-learn has none; with complete data it descends towards the very matrix that the singular value decomposition
gives exactly.
"""

import warnings
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import Clip, Round, dummy_code, most_probable, numbers, perturbed, stored
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linear_change import LinearChange


class MatrixDecomposition(MaskingStep):
    """Approximate the columns together by a matrix of low rank; they may be of any kind but date and text."""

    method: Literal["matrix_decomposition"] = "matrix_decomposition"
    rank: int = Field(
        description="from 1 to the number of coded columns (one a number, one a category); the smaller, the stronger "
        "the masking"
    )
    factorisation: Literal["svd", "non_negative"] = Field(
        default="svd",
        description="svd: singular value decomposition; non_negative: factors without negative entries, for columns "
        "without negative values",
    )
    standardise: bool = Field(default=True, description="divide numbers by their standard deviation")
    missing: Literal["refuse", "mean"] = Field(
        default="refuse", description="mean: a missing value is treated as the mean, and stays missing"
    )
    round: Round = False
    clip: Clip = False

    example: ClassVar[str] = "{method: matrix_decomposition, columns: [income, rent, hours], rank: 2}"
    use_when: ClassVar[str] = (
        "A file of many columns trains models; put it before microaggregation or noise, which then destroy less."
    )
    preserves: ClassVar[str] = (
        "The data's main directions; means exactly with the singular value decomposition. Variances shrink, "
        "correlations grow, and what belongs to few records or columns is lost."
    )
    known_attack: ClassVar[str] = (
        "Alone it is weak: a record is linked to its original by distance; at the full rank it is the "
        "original. Yamazoe and Omote (2021, section 6.2, Table 7) find values predicted better than by "
        "guessing after it."
    )
    missing_values: ClassVar[str] = (
        "Refused, because the decompositions need a full matrix; with `missing: mean` they take part as the mean (of a "
        "category's column: its share) and stay missing in the release."
    )
    in_an_analysis: ClassVar[str] = (
        "Variances come out too small and correlations too strong, as only the main directions were kept; nothing in "
        "the file corrects it. Means are right with the singular value decomposition."
    )
    attack_measured: ClassVar[str] = (
        "Compare each released record with what the known one is expected to become, in units of the scatter. On 12 "
        "variables of Census (rank: 2): 100 % found; 100 % surely found."
    )

    @model_validator(mode="after")
    def _rank_is_positive(self) -> Self:
        if self.rank < 1:
            raise ValueError(
                f"rank of matrix_decomposition on {', '.join(map(repr, self.columns))} must be a whole number of at "
                f"least 1; got {self.rank}. It is the number of directions that are kept."
            )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`; bounds are dropped unless `clip`; categories stay."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY)
        changed = {
            name: perturbed(variables[name], whole=self.round, bounded=self.clip)
            for name in self.columns
            if variables[name].kind.is_numeric
        }
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError on fewer than rank + 2 records, a rank beyond the coded columns, missing values (unless
        `missing: mean`) and, for the non-negative factorisation, values below 0."""
        released = self.released(variables)
        if len(frame) < self.rank + 2:  # around their mean, fewer records have no more directions than are kept
            raise PlanError(
                f"matrix_decomposition with rank: {self.rank} needs at least {self.rank + 2} records; there are "
                f"{len(frame)}, which it would give back unchanged."
            )
        blocks = [self._coded(frame, variables[name]) for name in self.columns]
        coded = np.hstack(blocks)
        if self.rank > coded.shape[1]:
            raise PlanError(
                f"rank of matrix_decomposition on {', '.join(map(repr, self.columns))} must be in [1, "
                f"{coded.shape[1]}], the number of columns in which they are coded; got {self.rank}."
            )
        spreads = np.concatenate(
            [self._spreads(block, variables[name]) for name, block in zip(self.columns, blocks, strict=True)]
        )
        filled = np.where(np.isnan(coded), _means(coded), coded) / spreads
        if self.factorisation == "svd":
            near = low_rank(filled, self.rank) * spreads
        else:
            near = non_negative_low_rank(filled, self.rank, rng) * spreads
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
        columns = {}
        for name, block, approximated in zip(self.columns, blocks, np.split(near, ends, axis=1), strict=True):
            gaps = np.isnan(block[:, 0])
            if variables[name].kind.is_numeric:
                values = np.where(gaps, np.nan, approximated[:, 0])
                columns[name] = stored(values, released[name]).set_axis(frame.index)
            else:  # the inverse logit rises with the coded value: the largest is the most probable
                codes = np.where(gaps, -1, most_probable(approximated))
                columns[name] = _categorical(codes, frame[name])
        return with_columns(frame, columns)

    def attacks(self) -> tuple[Attack, ...]:
        # The released records lie in the very directions that were kept, so that anybody can compute them.
        return (LinearChange(self.columns, f"that {self.rank} directions of the data were kept"),)

    def describe(self) -> str:
        said = (
            f"The records' values of {', '.join(self.columns)} were replaced by an approximation that keeps the main "
            "directions of the data"
        )
        return said + ("; values beyond the allowed range were moved to its end." if self.clip else ".")

    def _coded(self, frame: pd.DataFrame, variable: Variable) -> FloatArray:
        """A number as one column, a categorical variable as one of 0 and 1 a category; NaN where missing."""
        values = numbers(frame, [variable.name])
        missing = int(np.isnan(values).sum())
        if missing and self.missing == "refuse":
            raise PlanError(
                f"matrix_decomposition on '{variable.name}' takes no missing values; there are {missing}. "
                "Use missing: mean, or impute them first (multiple_imputation, what: missing)."
            )
        if variable.kind.is_numeric:
            below = int((values < 0).sum())
            if below and self.factorisation == "non_negative":
                raise PlanError(
                    f"factorisation: non_negative of matrix_decomposition on '{variable.name}' takes values of at "
                    f"least 0; {below} records have less. Use factorisation: svd."
                )
            return values
        codes = np.where(np.isnan(values[:, 0]), -1, values[:, 0]).astype(np.int64)
        return (dummy_code(codes, len(frame[variable.name].cat.categories)) + 1.0) / 2.0

    def _spreads(self, block: FloatArray, variable: Variable) -> FloatArray:
        """What each coded column is divided by: a number's standard deviation; 1 for a constant or a category."""
        spreads = np.ones(block.shape[1])
        values = block[~np.isnan(block[:, 0]), 0]
        if self.standardise and variable.kind.is_numeric and len(values) > 1 and values.min() < values.max():
            with np.errstate(over="ignore"):
                spreads[0] = values.std(ddof=1)
        if not np.isfinite(spreads[0]):
            raise PlanError(f"matrix_decomposition on '{variable.name}': values are too large for their variance.")
        if spreads[0] == 0:  # they differ, but their squares are no numbers
            raise PlanError(f"matrix_decomposition on '{variable.name}': values are too small for their variance.")
        return spreads


def low_rank(values: FloatArray, rank: int) -> FloatArray:
    """The matrix of column means plus the matrix of this rank that is nearest to the rest, in squared distance.

    values  : shape (n, m), finite
    rank    : 1 to m
    returns : shape (n, m), with the column means of `values`
    raises  : PlanError when values are too large for their squares
    cost    : O(n m^2 + m^3) time, two more n x m matrices
    source  : Yamazoe and Omote (2021), section 3.1. The right singular vectors are the eigenvectors of the cross
              products, and the nearest matrix is the projection on the first of them
    """
    means = values.mean(axis=0)
    centred = values - means
    with np.errstate(over="ignore", invalid="ignore"):
        products = centred.T @ centred
    if not np.isfinite(products).all():
        raise PlanError("matrix_decomposition: values are too large for their squares. Use standardise: true.")
    _, axes = np.linalg.eigh(products)
    kept = axes[:, -rank:]
    near: FloatArray = (centred @ kept) @ kept.T + means
    return near


def non_negative_low_rank(values: FloatArray, rank: int, rng: Generator) -> FloatArray:
    """The product of a (n, rank) and a (rank, m) matrix without negative entries, near `values` in squared distance.

    values  : shape (n, m), at least 0
    returns : shape (n, m), at least 0; the nearest such product only locally
    cost    : O(n m rank) time for each of at most 200 rounds
    source  : Yamazoe and Omote (2021), section 3.1, with the non-negative factorisation of scikit-learn
    """
    from sklearn.decomposition import NMF
    from sklearn.exceptions import ConvergenceWarning

    model = NMF(n_components=rank, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        # Where the rounds end before it stands still, the product is an approximation all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit_transform(values) @ model.components_)


def _means(coded: FloatArray) -> FloatArray:
    """Mean of each column's values; 0 without any."""
    present = ~np.isnan(coded)
    return np.asarray(np.where(present, coded, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1))


def _categorical(codes: IntArray, like: pd.Series) -> pd.Series:
    return pd.Series(
        pd.Categorical.from_codes(codes, categories=like.cat.categories, ordered=like.cat.ordered), index=like.index
    )
