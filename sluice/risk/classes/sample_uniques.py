"""Sample uniques: the records that are alone with their combination of key values.

Source: Desfontaines (2020), section 2.1.1 (what made the attack on the hospital data possible).
"""

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError


def sample_uniques(frequencies: IntArray) -> int:
    """The number of records whose combination occurs once in the file. Higher is worse.

    frequencies : shape (n,), for each record the number of records that share its combination of keys
    """
    return int((frequencies == 1).sum())


def sample_uniques_share(frequencies: IntArray) -> float:
    """Sample uniques relative to all records of the file, 0 to 1. Raises DataError if there is no record."""
    if not len(frequencies):
        raise DataError("the share of sample uniques needs at least one record; got none.")
    return sample_uniques(frequencies) / len(frequencies)
