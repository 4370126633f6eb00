"""The information loss of Xiong (CS573 slides), "IL measures for continuous attributes", which Torra (2013) uses,
too.
"""

import numpy as np


def information_losses(original: np.ndarray, masked: np.ndarray) -> list[float]:
    """IL1 to IL5: mean changes of the values, and of their means, variances, covariances and correlations.

    All but the last are relative changes; a value of 0 has none and is left out.
    """
    pairs = np.triu_indices(original.shape[1], 1)
    covariances, masked_covariances = np.cov(original.T)[pairs], np.cov(masked.T)[pairs]
    correlations, masked_correlations = np.corrcoef(original.T)[pairs], np.corrcoef(masked.T)[pairs]
    return [
        np.mean(np.abs(original - masked)[original != 0] / np.abs(original[original != 0])),
        np.mean(np.abs(original.mean(axis=0) - masked.mean(axis=0)) / np.abs(original.mean(axis=0))),
        np.mean(np.abs(original.var(axis=0) - masked.var(axis=0)) / original.var(axis=0)),
        np.mean(np.abs(covariances - masked_covariances) / np.abs(covariances)),
        np.mean(np.abs(correlations - masked_correlations)),
    ]
