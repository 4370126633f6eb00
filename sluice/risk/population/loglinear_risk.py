"""Risk under a log-linear model: are the sample uniques alone in the population, too?

Source: Skinner and Shlomo (2008).

The sample frequencies of all combinations of keys are Poisson with means mu that a log-linear model explains (Bishop,
Fienberg and Holland 1975 for the fit). What the sample did not draw of a combination is Poisson with mean h = mu (1 -
pi) / pi, pi being the sampling fraction. Over the sample uniques,

    tau_1 = sum of P(F = 1 | f = 1) = sum of exp(-h)
    tau_2 = sum of E(1/F | f = 1)   = sum of (1 - exp(-h)) / h.

Higher is worse. A missing key is a category of its own.

The model matters: main effects alone fit too loosely where keys depend on each other, and then mostly tell too much
risk; all two-way interactions of keys with many values fit the very sample, and tell far too little. So interactions
are taken in one by one, the strongest first, as long as the paper's criterion B_1 says that the model still underfits.
Where the table has too many cells, or a fit does not converge, the model stays with those it has, and says so: it then
tells rather too much.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentences, percent
from sluice.ground.verdict import Finding
from sluice.risk.classes.equivalence_classes import Codes, equivalence_classes
from sluice.risk.classes.microdata_rule import KeyedRecords, PositiveShare, refuse_no_limit
from sluice.risk.measurement import Measurement
from sluice.risk.population.population_rule import PopulationEstimate

_SAYS = Sentences(
    "loglinear_risk",
    uniques="By a {model}, {share:percent} of the {unit} are alone in the population with their keys",
    guesses="By a {model}, {share:percent} of the {unit} are unique in the file and guessed rightly",
)

Pair = tuple[int, int]
Interactions = Literal["none", "selected", "all"]

_CELLS = 2**22  # of the table: 32 MB, and a second for some tens of passes
_CONVERGED = 0.01  # records; cells that no record explains fade as 1 / rounds, so that less takes thousands of rounds


@dataclass(frozen=True)
class LoglinearEstimate:
    """Both figures as shares of the records; times `attempted` they are tau_1 and tau_2."""

    population_uniques: Measurement  # tau_1 / n
    correct_guesses: Measurement  # tau_2 / n
    interactions: tuple[Pair, ...]  # positions of the pairs of keys whose interaction is in the model
    lacking: str = ""  # why it has fewer than it needs; empty: it has those it needs


def loglinear_risk(
    keys: Sequence[Codes], fraction: float | FloatArray, interactions: Interactions = "selected", rounds: int = 1_000
) -> LoglinearEstimate:
    """Risk of the sample uniques under a log-linear model of the keys.

    keys         : at least one array of shape (n,), integer codes from 0 (see `category_codes`)
    fraction     : sampling fraction, more than 0 and at most 1; or shape (n,), that of each record
    interactions : none, main effects alone; selected, as long as the model underfits; all two-way interactions, which
                   is for comparison and no safe choice
    rounds       : of a fit, at most; it has converged when no margin is off by a hundredth of a record
    raises       : DataError if an input is wrong; and with all interactions, if the fit does not converge or the table
                   has more than 2^22 cells
    cost         : main effects O(n) a key; else a pass over all cells for each interaction and round
    """
    classes = equivalence_classes(keys)
    n = len(classes.labels)
    if not n:
        raise DataError("log-linear risk needs at least one record; got none.")
    fractions = np.broadcast_to(np.asarray(fraction, dtype=np.float64), (n,))
    if not ((fractions > 0) & (fractions <= 1)).all():
        raise DataError("sampling fractions must be more than 0 and at most 1.")
    dense = [np.unique(key, return_inverse=True)[1] for key in keys]
    pairs: tuple[Pair, ...] = ()
    lacking = ""
    cells = float(np.prod([float(key.max()) + 1 for key in dense]))
    if interactions == "selected" and cells > _CELLS:
        interactions, lacking = (
            "none",
            f"the keys have {cells:,.0f} combinations, too many for a model with interactions",
        )
    alone = np.flatnonzero(classes.frequencies == 1)
    if interactions == "none":
        mu = np.full(len(alone), float(n))
        for key in dense:
            mu *= np.bincount(key)[key[alone]] / n
    else:
        table, pairs, lacking = _fitted(dense, float(n / (1 / fractions).sum()), interactions, rounds)
        mu = table[tuple(key[alone] for key in dense)]
    pi = fractions[alone]
    unseen = mu * (1 - pi) / pi
    if not np.isfinite(unseen).all():
        raise DataError("the log-linear model gives no finite risk; it does not fit these keys.")
    guesses = np.ones_like(unseen)
    np.divide(-np.expm1(-unseen), unseen, out=guesses, where=unseen > 0)
    tau_1, tau_2 = (Measurement(float(each.sum() / n), n, n) for each in (np.exp(-unseen), guesses))
    return LoglinearEstimate(tau_1, tau_2, pairs, lacking)


def _fitted(
    keys: list[IntArray], pi: float, interactions: Interactions, rounds: int
) -> tuple[FloatArray, tuple[Pair, ...], str]:
    """The means of all cells, shape by the values of each key; the interactions of the model, and why not more."""
    shape = tuple(int(key.max()) + 1 for key in keys)
    cells = np.prod(shape, dtype=np.float64)
    if cells > _CELLS:
        raise DataError(
            f"the keys have {cells:,.0f} combinations; a log-linear model with interactions takes at most {_CELLS:,}. "
            "Name fewer keys, or fit main effects."
        )
    counts = np.bincount(np.ravel_multi_index(keys, shape), minlength=int(cells)).reshape(shape).astype(np.float64)
    main = np.full(shape, counts.sum())
    for axis in range(len(shape)):
        main *= _margin(counts, (axis,)) / counts.sum()
    by_strength = sorted(combinations(range(len(keys)), 2), key=lambda pair: -_strength(counts, main, pair))
    if interactions == "all":
        return _proportionally(main, counts, by_strength, rounds), tuple(by_strength), ""
    table, chosen = main, 0
    while chosen < len(by_strength) and _underfit(counts, table, pi) > 0:
        try:
            richer = _proportionally(table, counts, by_strength[: chosen + 1], rounds)
        except DataError:
            return (
                table,
                tuple(by_strength[:chosen]),
                "with one more interaction the fit of the model does not converge",
            )
        if _underfit(counts, richer, pi) < 0:  # the simpler model errs on the safe side
            break
        table, chosen = richer, chosen + 1
    return table, tuple(by_strength[:chosen]), ""


def _underfit(counts: FloatArray, mu: FloatArray, pi: float) -> float:
    """B_1: about how much tau_1 is overestimated, by the variation of the frequencies around the model."""
    off, rest = counts - mu, 1 - pi
    return float((mu / pi * np.exp(-mu / pi) * rest * (off + rest * (off**2 - counts) / (2 * pi))).sum())


def _strength(counts: FloatArray, main: FloatArray, pair: Pair) -> float:
    """The likelihood ratio of an interaction against independence, less its degrees of freedom."""
    observed, expected = _margin(counts, pair), _margin(main, pair)
    occurs = observed > 0
    ratio = 2 * float((observed[occurs] * np.log(observed[occurs] / expected[occurs])).sum())
    return ratio - float((counts.shape[pair[0]] - 1) * (counts.shape[pair[1]] - 1))


def _proportionally(start: FloatArray, counts: FloatArray, pairs: Sequence[Pair], rounds: int) -> FloatArray:
    """Iterative proportional fitting of two-way margins, from the fit of a simpler model."""
    margins = [_margin(counts, pair) for pair in pairs]
    mu = start.copy()
    for _ in range(rounds):
        off = 0.0
        for pair, margin in zip(pairs, margins, strict=True):
            now = _margin(mu, pair)
            off = max(off, float(np.abs(now - margin).max()))
            mu *= np.divide(margin, now, out=np.zeros_like(now), where=now > 0)
        if off < _CONVERGED:
            return mu
    raise DataError(
        f"the log-linear model with interactions did not converge in {rounds:,} rounds. Name fewer keys, or fit main "
        "effects."
    )


def _margin(table: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """Sums over all other axes, which keep the length 1."""
    others = tuple(axis for axis in range(table.ndim) if axis not in axes)
    return np.asarray(table.sum(axis=others, keepdims=True))


class LoglinearRisk(PopulationEstimate):
    """Few sample uniques are population uniques, or identified, under a log-linear model of the keys."""

    rule: Literal["loglinear_risk"] = "loglinear_risk"
    example: ClassVar[str] = "{rule: loglinear_risk, guesses_at_most: 0.05, sampling_fraction: 0.1}"
    largest: ClassVar[Mapping[str, float]] = {"uniques_at_most": 1.0, "guesses_at_most": 1.0}
    advice: ClassVar[str] = (
        "The sample uniques are likely to be population uniques: recode the keys whose combination the model finds "
        "rare, or suppress one key of the sample uniques."
    )
    uniques_at_most: Share | None = Field(default=None, description="tau 1 by the records: population uniques")
    guesses_at_most: Share | None = Field(
        default=None, description="tau 2 by the records: expected correct matches of uniques"
    )
    interactions: Literal["none", "selected"] = Field(
        default="selected", description="of two keys in the model: none, or those that it needs"
    )
    sampling_fraction: PositiveShare | None = Field(
        default=None, description="records by people of the population; one by the record's weight by default"
    )

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        refuse_no_limit(self.rule, self.uniques_at_most, self.guesses_at_most)
        return self

    @property
    def uses_weights(self) -> bool:
        return self.sampling_fraction is None

    def estimate(self, file: KeyedRecords) -> list[Finding]:
        # A weight below 1 stands for the record itself.
        fraction = self.sampling_fraction or 1 / np.fmax(self.weights(file), 1)
        measured = loglinear_risk(file.codes, fraction, self.interactions)
        who = {"model": f"log-linear model{fewer(measured)}", "unit": file.unit}
        uniques, guesses = measured.population_uniques.value, measured.correct_guesses.value
        says_uniques, says_guesses = _SAYS.uniques(**who, share=uniques), _SAYS.guesses(**who, share=guesses)
        return [
            *self.limited(file, f"uniques by {file.scope}", uniques, self.uniques_at_most, says_uniques),
            *self.limited(file, f"guesses by {file.scope}", guesses, self.guesses_at_most, says_guesses),
        ]

    def describe(self) -> str:
        limits = []
        if self.uniques_at_most is not None:
            limits.append(f"at most {percent(self.uniques_at_most)} of the records are alone in the population")
        if self.guesses_at_most is not None:
            limits.append(f"at most {percent(self.guesses_at_most)} are unique in the file and guessed rightly")
        return f"By a log-linear model of the keys, {', and '.join(limits)}."


def fewer(measured: LoglinearEstimate) -> str:
    """Words on a model that has fewer interactions than it needs, to follow 'a log-linear model'."""
    return f" that tells rather too much, because {measured.lacking}" if measured.lacking else ""
