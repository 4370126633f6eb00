"""Joint counts: how many records have each original category and each released one."""

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins


def joint_counts(bins: CommonBins, weight: FloatArray | None = None) -> FloatArray:
    """Shape (bins, codes): the records of each original bin that were released as each code.

    bins   : one variable of two files whose rows are the same records. Missing is a category, the last of the bins
    weight : (n,), finite and not negative; None: every record weighs 1
    raises : DataError if the files differ in length, or the weights do
    cost   : O(n + bins x codes)
    """
    if len(bins.original) != len(bins.masked):
        raise DataError(
            f"'{bins.name}' is compared record by record; got {len(bins.original):,} and {len(bins.masked):,} records."
        )
    if weight is not None and weight.shape != bins.original.shape:
        raise DataError(f"'{bins.name}' has {len(bins.original):,} records; got {len(weight):,} weights.")
    cells = bins.original.astype(np.int64) * bins.codes + bins.masked
    counts = np.bincount(cells, weight, minlength=bins.bins * bins.codes)
    return np.asarray(counts.reshape(bins.bins, bins.codes), dtype=np.float64)
