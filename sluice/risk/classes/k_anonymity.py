"""k-anonymity: in how large a crowd the least hidden record stands.

Source: Desfontaines (2020), Definition 1.
"""

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError


def k_anonymity(frequencies: IntArray) -> int:
    """The largest k for which the file is k-anonymous: the smallest frequency. Lower is worse.

    frequencies : shape (n,), for each record the number of records that share its combination of keys,
                  as `EquivalenceClasses.frequencies` or `crowds` give it
    raises      : DataError if there is no record
    """
    if not len(frequencies):
        raise DataError("k-anonymity needs at least one record; got none.")
    return int(frequencies.min())


def records_below(frequencies: IntArray, k: int) -> int:
    """How many records share their combination with fewer than k - 1 others. Higher is worse."""
    return int((frequencies < k).sum())
