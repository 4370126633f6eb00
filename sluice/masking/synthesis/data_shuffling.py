"""Data shuffling: draw synthetic normal records, then give each rank of theirs the original value of the same rank.

Sources: Lasko and Vinterbo (2010), section III-B1 (synthetic multivariate normal data whose values are replaced by the
equally ranked original ones), after Muralidhar and Sarathy (2006; drawn conditionally on the non-confidential
variables). The correlations of the normal data are 2 sin(pi rho / 6) of the rank correlations rho. Differs from them:
ordinal and binary variables take part by their positions, and missing values stay in place.
"""

from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError, did_you_mean
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import numbers
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linkage import LearnedCloseness


class DataShuffling(MaskingStep):
    """Shuffle continuous, integer, ordinal and binary columns so that their rank correlations stay."""

    method: Literal["data_shuffling"] = "data_shuffling"
    given: tuple[str, ...] = Field(
        default=(),
        description="variables that stay as they are; the shuffled columns keep their rank correlations with them. "
        "Nominal ones cannot be given: use 'strata'",
    )

    example: ClassVar[str] = "{method: data_shuffling, columns: [income, rent], given: [age]}"
    use_when: ClassVar[str] = (
        "Numbers must keep their distributions and monotonic relations, also with unmasked variables."
    )
    preserves: ClassVar[str] = (
        "Each column's values exactly; rank correlations apart from chance. Relations that are not "
        "monotonic, or among three columns beyond their pairs, are lost."
    )
    known_attack: ClassVar[str] = (
        "Every released value, even the largest, is somebody's. Where `given` determines a column closely, "
        "an intruder who knows the given values of a person finds the person's record and values of nearby "
        "rank."
    )
    missing_values: ClassVar[str] = (
        "A missing value stays in place, and the others are shuffled among themselves; it counts in rank correlations "
        "with no pair, and in `given` it stands for the middle rank."
    )
    in_an_analysis: ClassVar[str] = (
        "Each variable by itself needs no correction: its values are those that were collected. Rank correlations are "
        "right but for chance; other measures of association, and means of subgroups, only as far as these go with the "
        "ranks."
    )
    attack_measured: ClassVar[str] = (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 6 "
        "variables of Census: 0 % found; 0 % surely found."
    )

    @model_validator(mode="after")
    def _given_are_others(self) -> Self:
        for name in self.given:
            if name in self.columns:
                raise ValueError(
                    f"given of data_shuffling names '{name}', which is among its columns. Given variables stay."
                )
        if len(set(self.given)) != len(self.given):
            raise ValueError("given of data_shuffling names a variable twice")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The same variables: every released value is a value of the original column."""
        kinds = (Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL, Kind.BINARY)
        self.refuse_unless(variables, *kinds)
        for name in self.given:
            if name not in variables:
                hint = did_you_mean(name, variables) or " Is it an identifier, or did an earlier step take it out?"
                raise PlanError(
                    f"given of data_shuffling: no variable '{name}' at this point.",
                    came=name,
                    allowed=variables,
                    hint=hint,
                )
            if variables[name].kind not in kinds:
                raise PlanError(
                    f"given of data_shuffling takes {', '.join(kinds)}; '{name}' is {variables[name].kind}. "
                    "Name a nominal variable in 'strata'."
                )
        return dict(variables)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when a column has one value only."""
        self.released(variables)
        values = numbers(frame, (*self.columns, *self.given))
        confidential, given = np.split(values, [len(self.columns)], axis=1)
        for name, column in zip(self.columns, confidential.T, strict=True):
            if np.isfinite(column).sum() == 1:
                raise PlanError(f"data_shuffling on '{name}' needs at least 2 values to exchange; it has 1.")
        sources = shuffle_sources(confidential, given, rng)
        shuffled = {
            name: frame[name].take(rows).set_axis(frame.index)
            for name, rows in zip(self.columns, sources.T, strict=True)
        }
        return with_columns(frame, shuffled)

    def attacks(self) -> tuple[Attack, ...]:
        return (LearnedCloseness(self.columns),)

    def describe(self) -> str:
        with_them = f" and with {', '.join(self.given)}" if self.given else ""
        return (
            f"The values of {', '.join(self.columns)} were shuffled among the records so that each variable has "
            f"exactly its original distribution and, apart from chance, its rank correlations with the rest{with_them}."
        )


def shuffle_sources(confidential: FloatArray, given: FloatArray, rng: Generator) -> IntArray:
    """For each confidential value, the record whose value it becomes: itself where missing.

    The columns keep their rank correlations with each other and with `given` apart from chance.

    confidential : shape (n, m), NaN where missing
    given        : shape (n, l), l may be 0; NaN where missing
    returns      : shape (n, m), in each column a permutation
    cost         : O(n log n (m + l) + n (m + l)^2) time, O(n (m + l)) memory; two sorts of each column take most of it
    """
    from scipy.special import ndtri

    n, m = confidential.shape
    values = np.ascontiguousarray(np.hstack([confidential, given]).T)
    present = [np.flatnonzero(~np.isnan(column)) for column in values]
    orders = [rows[np.argsort(column[rows])] for column, rows in zip(values, present, strict=True)]
    ranks = np.array([_centred_ranks(column, order) for column, order in zip(values, orders, strict=True)])
    correlations = normal_correlations(ranks)
    # The confidential normal scores given the others': mean `weights` times their scores, covariance the rest.
    weights = correlations[:m, m:] @ np.linalg.pinv(correlations[m:, m:], hermitian=True)
    rest = correlations[:m, :m] - weights @ correlations[m:, :m]
    eigenvalues, axes = np.linalg.eigh(rest)  # by eigenvalues, because a column may be determined by the others
    drawn = (axes * np.sqrt(np.clip(eigenvalues, 0.0, None))) @ rng.standard_normal((m, n))
    if given.shape[1]:
        drawn += weights @ ndtri(0.5 + np.nan_to_num(ranks[m:]))
    sources = np.tile(np.arange(n), (m, 1))
    for column in range(m):
        takers = present[column][np.argsort(drawn[column, present[column]])]
        sources[column, takers] = orders[column]
    return sources.T


def normal_correlations(ranks: FloatArray) -> FloatArray:
    """The correlation matrix of the normal distribution with these rank correlations: 2 sin(pi rho / 6).

    ranks   : shape (columns, n), centred at 0, NaN where missing; a pair of columns is compared where both have a value
    returns : shape (columns, columns), positive semidefinite with diagonal 1. Where the sines give none such (it
              happens with ties and missing values), negative eigenvalues are set to 0 and then the diagonal to 1
    """
    missing = np.isnan(ranks)
    if missing.any():
        present, ranks = (~missing).astype(np.float64), np.where(missing, 0.0, ranks)
        squares = ranks**2 @ present.T
    else:
        squares = np.repeat((ranks**2).sum(axis=1)[:, None], len(ranks), axis=1)
    scale = np.sqrt(squares * squares.T)
    rank_correlations = ranks @ ranks.T / np.where(scale > 0, scale, 1.0)
    correlations = 2.0 * np.sin(np.pi / 6.0 * np.clip(rank_correlations, -1.0, 1.0))
    np.fill_diagonal(correlations, 1.0)
    eigenvalues, axes = np.linalg.eigh(correlations)
    if (eigenvalues < 0).any():
        root = axes * np.sqrt(np.clip(eigenvalues, 0.0, None))
        root /= np.sqrt((root**2).sum(axis=1, keepdims=True))
        correlations = root @ root.T
    return np.asarray(correlations)


def _centred_ranks(values: FloatArray, order: IntArray) -> FloatArray:
    """(rank - 1/2) / count - 1/2 of each value, ties sharing their average rank; NaN where missing."""
    ranks = np.full(len(values), np.nan)
    rising = values[order]
    ends = np.append(np.flatnonzero(rising[1:] != rising[:-1]) + 1, len(order))
    starts = np.concatenate([[0], ends[:-1]])
    ranks[order] = np.repeat((starts + ends) / (2.0 * max(len(order), 1)) - 0.5, ends - starts)
    return ranks
