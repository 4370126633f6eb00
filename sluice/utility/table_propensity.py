"""Table propensity: how well the records of original and masked file can be told apart by a few variables.

Source: Raab, Nowok and Dibben (2021), section 2: the mean squared error of propensity scores (pMSE) of the cells of a
table, and its ratio to what is expected by chance alone (S_pMSE); Snoke, Raab, Nowok, Dibben and Slavkovic (2018) for
the expectation. With files of one size S_pMSE is the statistic of Voas and Williamson over its degrees of freedom.

What 1 means. The source is about files that are drawn from a model: 1 is what a file has that was drawn from the right
one. A masked file is not drawn anew, so its null is read as this: 1 is what a file of as many records would have that
was drawn from the original's, with replacement. An unchanged file has 0. As a rule of thumb the source calls less than
3 good and less than 10 tolerable; unlike the loss of marginals, S_pMSE of one and the same change grows with the number
of records.
"""

import numpy as np

from sluice.ground.arrays import FloatArray


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
