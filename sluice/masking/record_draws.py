"""Draws that belong to a record: in every edition that holds it with the same value, it gets the same noise.

Noise that is drawn anew for each edition averages out over editions. A record's draw comes from its key, the step and
the value that is masked: the same noise on another value would tell by how much the value changed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.value_hashes import Hashes, column_hashes, scrambled


@dataclass(frozen=True)
class RecordDraws:
    """Independent uniform numbers for records, columns and steps.

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
