"""Propensity: how well the records of original and masked file can be told apart, by all variables or by a few.

Sources: Snoke, Raab, Nowok, Dibben and Slavkovic (2018), sections 2 and 3: pMSE of a logistic regression on the main
effects, and S_pMSE, its ratio to the expectation by chance. Differs from them: the effects are those of the common bins
of the unrecoded original, numbers included, so that a moved distribution is seen whatever its form; a released group
counts in each bin by the share in which it stands for it; and a penalty of one hundredth of a squared coefficient keeps
coefficients finite where a bin is empty in one file.

Main effects see each variable's distribution and not what goes together; tables of pairs see that. A variable that was
removed tells every record apart, so those are left out: marginals count their loss.

Of a table the scores are those of its cells (Raab, Nowok and Dibben 2021, section 2). With files of one size S_pMSE is
the statistic of Voas and Williamson over its degrees of freedom.

What 1 means. The sources are about files that are drawn from a model: 1 is what a file has that was drawn from the
right one. A masked file is not drawn anew, so its null is read as this: 1 is what a file of as many records would have
that was drawn from the original's, with replacement. An unchanged file has 0. As a rule of thumb Raab, Nowok and Dibben
call less than 3 good and less than 10 tolerable; unlike the loss of marginals, S_pMSE of one and the same change grows
with the number of records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from sluice.ground.arrays import BoolArray, Codes, FloatArray, narrow
from sluice.ground.errors import DataError
from sluice.ground.parallel_jobs import each_in_threads
from sluice.ground.progress import counted
from sluice.utility.common_bins import CommonBins

_PENALTY = 0.01
_WORTH_THREADS = 100_000  # records: of fewer, handing out the work takes longer than the work
_STEPS = 30
_HALVINGS = 20
_CONVERGED = 1e-8  # change of the mean deviance


@dataclass(frozen=True)
class Propensity:
    """Scores: the probability by which a record is thought to be a masked one.

    pmse          : mean squared distance of the scores from the masked share c, 0 to c (1 - c); higher is worse
    standardised  : S_pMSE, from 0; 1 is a file drawn from the original with replacement. NaN where pmse is
    parameters    : of the regression that the data tell apart, without the constant
    original, masked : the scores of the records, shape (n,) and (m,)
    """

    pmse: float
    standardised: float
    parameters: int
    original: FloatArray
    masked: FloatArray


def propensity(bins: Sequence[CommonBins]) -> Propensity:
    """The scores of a logistic regression of file on the bins of all variables.

    bins    : the variables on common bins, all of the same n original and m masked records; removed ones left out by
              the caller. Records weigh 1: the question is whether they can be told apart
    returns : NaN figures where a file has no record or there is no variable; 0 where no variable has two bins
    raises  : DataError if the variables have different numbers of records
    cost    : about 6 Newton steps of O((n + m) d^2) for d variables; 1,000,000 records of 20 variables take 4 s
              of the processor, in threads
    """
    for which in ("original", "masked"):
        lengths = {len(getattr(each, which)) for each in bins}
        if len(lengths) > 1:
            raise DataError(f"all variables must have the same {which} records; got lengths {sorted(lengths)}.")
    n, m = (len(bins[0].original), len(bins[0].masked)) if bins else (0, 0)
    if not n or not m:
        nothing = float("nan")
        return Propensity(nothing, nothing, 0, np.full(n, nothing), np.full(m, nothing))
    files = _Files(bins)
    before, after, parameters = files.fitted()
    c = m / (n + m)
    pmse = float((((before - c) ** 2).sum() + ((after - c) ** 2).sum()) / (n + m))
    standardised = pmse / expected_pmse(parameters, n, m) if parameters else 0.0
    return Propensity(pmse, standardised, parameters, before, after)


class _Files:
    """Two files as codes, and the bins that each code stands for: a design matrix that is never written down."""

    def __init__(self, bins: Sequence[CommonBins]) -> None:
        self._codes: list[list[Codes]] = [[], []]
        self._spread: list[list[FloatArray]] = [[], []]
        self._at = [0]
        for each in bins:
            held: BoolArray = np.bincount(each.original, minlength=each.bins) > 0
            occurs = np.bincount(each.masked, minlength=each.codes) > 0
            used, place = np.flatnonzero(occurs), narrow(np.cumsum(occurs) - 1, each.codes)
            held |= (each.likely[used] > 0).any(axis=0)
            kept = np.flatnonzero(held)[1:]  # the first bin that occurs is the reference
            self._at.append(self._at[-1] + len(kept))
            self._codes[0].append(narrow(each.original, each.bins))
            self._codes[1].append(narrow(place[each.masked], len(used)))
            self._spread[0].append(np.eye(each.bins)[:, kept])
            self._spread[1].append(each.likely[used][:, kept])

    def fitted(self) -> tuple[FloatArray, FloatArray, int]:
        """The scores of both files, and the number of parameters that the data tell apart."""
        size = self._at[-1]
        records = [len(codes[0]) for codes in self._codes]
        c = records[1] / sum(records)
        theta = np.append(np.log(c / (1 - c)), np.zeros(size))
        predictors = self._predictors(theta)
        deviance = self._deviance(predictors, theta)
        parameters = 0
        for step in range(_STEPS):
            scores = [1 / (1 + np.exp(-eta)) for eta in predictors]
            gradient = self._sums([-scores[0], 1 - scores[1]])
            gradient[1:] -= _PENALTY * theta[1:]
            hessian = self._products([p * (1 - p) for p in scores])
            if step == 0:
                parameters = _rank(hessian) - 1
            hessian[np.arange(1, size + 1), np.arange(1, size + 1)] += _PENALTY
            direction = np.linalg.solve(hessian, gradient)
            for _ in range(_HALVINGS):
                tried = self._predictors(theta + direction)
                found = self._deviance(tried, theta + direction)
                if found <= deviance:
                    break
                direction /= 2
            else:
                break
            theta, predictors, before, deviance = theta + direction, tried, deviance, found
            if before - deviance < _CONVERGED * sum(records):
                break
        before_scores, after_scores = (1 / (1 + np.exp(-eta)) for eta in predictors)
        return before_scores, after_scores, parameters

    def _deviance(self, predictors: list[FloatArray], theta: FloatArray) -> float:
        loss = np.logaddexp(0, predictors[0]).sum() + np.logaddexp(0, -predictors[1]).sum()
        return float(loss + _PENALTY / 2 * (theta[1:] ** 2).sum())

    def _predictors(self, theta: FloatArray) -> list[FloatArray]:
        from sluice.utility.propensity_kernel import add_effect  # compiled: loaded where it is needed

        def predictor(codes: list[Codes], spreads: list[FloatArray]) -> FloatArray:
            found = np.full(len(codes[0]), theta[0])
            for at, code, spread in zip(self._at, codes, spreads, strict=False):
                add_effect(spread @ theta[1 + at : 1 + at + spread.shape[1]], code, found)
            return found

        files = list(zip(self._codes, self._spread, strict=True))
        return list(each_in_threads(lambda file: predictor(*file), files))

    def _sums(self, values: list[FloatArray]) -> FloatArray:
        """The sum of the records' values for the constant and for each bin, of both files."""
        from sluice.utility.propensity_kernel import add_by_code

        found = np.zeros(self._at[-1] + 1)
        for value, codes, spreads in zip(values, self._codes, self._spread, strict=True):
            found[0] += value.sum()
            for at, code, spread in zip(self._at, codes, spreads, strict=False):
                sums = np.zeros(len(spread))
                add_by_code(value, code, sums)
                found[1 + at : 1 + at + spread.shape[1]] += sums @ spread
        return found

    def _products(self, values: list[FloatArray]) -> FloatArray:
        """The design matrix's products with itself, each record weighted by its value, of both files."""
        from sluice.utility.marginals_kernel import add_up
        from sluice.utility.propensity_kernel import add_by_code

        def products(file: int, one: int, two: int) -> FloatArray:
            codes, spreads = self._codes[file], self._spread[file]
            table = np.zeros(len(spreads[one]) * len(spreads[two]))
            add_up(codes[one], codes[two], len(spreads[two]), values[file], table)
            return np.asarray(spreads[one].T @ table.reshape(len(spreads[one]), -1) @ spreads[two])

        found = np.zeros((self._at[-1] + 1, self._at[-1] + 1))
        places = [slice(1 + start, 1 + end) for start, end in pairwise(self._at)]
        for value, codes, spreads in zip(values, self._codes, self._spread, strict=True):
            found[0, 0] += value.sum()
            for place, code, spread in zip(places, codes, spreads, strict=True):
                sums = np.zeros(len(spread))
                add_by_code(value, code, sums)
                found[0, place] += sums @ spread
                found[place, place] += (spread * sums[:, None]).T @ spread
        pairs = [(file, *pair) for file in (0, 1) for pair in combinations(range(len(places)), 2)]
        if sum(map(len, values)) < _WORTH_THREADS:
            for file, one, two in pairs:
                found[places[one], places[two]] += products(file, one, two)
            return np.asarray(np.triu(found) + np.triu(found, 1).T)
        made = counted(each_in_threads(lambda pair: products(*pair), pairs), "pairs of variables", len(pairs))
        for (_, one, two), product in zip(pairs, made, strict=True):
            found[places[one], places[two]] += product
        return np.asarray(np.triu(found) + np.triu(found, 1).T)


def _rank(products: FloatArray) -> int:
    """Parameters, the constant included, that the records tell apart."""
    scale = np.sqrt(np.diag(products))
    return int(np.linalg.matrix_rank(products / np.outer(scale, scale), tol=1e-9, hermitian=True))


def table_pmse(before: FloatArray, after: FloatArray, original: int, masked: int) -> float:
    """Mean squared error of the propensity scores of the cells, from 0, for no difference, to c (1 - c), c the masked
    share of all records.

    before, after    : (cells,), the shares of the original and of the masked records in each cell
    original, masked : the numbers of records
    returns          : NaN where a file has none
    """
    if not original or not masked:
        return float("nan")
    c = masked / (original + masked)
    pooled = (1 - c) * before + c * after
    held = pooled > 0
    return float(c**2 * (1 - c) ** 2 * ((after[held] - before[held]) ** 2 / pooled[held]).sum())


def standardised_table_pmse(before: FloatArray, after: FloatArray, original: int, masked: int) -> float:
    """S_pMSE, from 0; higher is worse, and 1 is chance, as above. 0 for a table of one cell. NaN as `table_pmse`."""
    if not original or not masked or np.isnan(before).any() or np.isnan(after).any():
        return float("nan")
    cells = int(np.count_nonzero((before > 0) | (after > 0)))
    if cells < 2:
        return 0.0
    return table_pmse(before, after, original, masked) / expected_pmse(cells - 1, original, masked)


def expected_pmse(parameters: int, original: int, masked: int) -> float:
    """What pMSE is on average of a file that was drawn from the original: parameters (1 - c)^2 c / N.

    parameters : of the model of the scores, without its constant; of a table its cells, less 1
    """
    c = masked / (original + masked)
    return parameters * (1 - c) ** 2 * c / (original + masked)
