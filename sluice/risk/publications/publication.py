"""Publication: a file of records that was or would be published, with the people behind it, and how much two differ."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.variables import Variables


@dataclass(frozen=True)
class Publication:
    """One file, record by record with its original.

    original  : all people of its data, typed by `variables`, index 0..n-1
    masked    : typed by `released`; row i is the masked record of the person in row `people[i]` of `original`
    people    : shape (m,), different rows; whoever was held out or not sampled is not among them
    """

    original: pd.DataFrame
    masked: pd.DataFrame
    people: IntArray
    variables: Variables
    released: Variables


def changed_records(earlier: pd.DataFrame, later: pd.DataFrame) -> int:
    """How many records came, left or changed: the larger number of records that only one of the two files holds.

    earlier, later : typed frames with the same columns, in any order of rows; equal records are counted
    cost           : O(n + m), by 64-bit hashes of the rows
    """
    rows = [pd.util.hash_pandas_object(frame, index=False).to_numpy() for frame in (earlier, later)]
    codes, values = pd.factorize(np.concatenate(rows))
    before, after = (np.bincount(part, minlength=len(values)) for part in np.split(codes, [len(earlier)]))
    return int(max((before - after).clip(0).sum(), (after - before).clip(0).sum()))


def rows_within(part: pd.DataFrame, whole: pd.DataFrame) -> IntArray:
    """The row of `whole` that each record of `part`, which is some of it, stands in, each row at most once.

    cost : O(n log n), by 64-bit hashes of the rows
    """
    rows = [pd.util.hash_pandas_object(frame, index=False).to_numpy() for frame in (part, whole)]
    places = [pd.DataFrame({"row": each}) for each in rows]
    for place in places:
        place["times"] = place.groupby("row").cumcount()
        place["at"] = np.arange(len(place))
    found = places[0].merge(places[1], on=["row", "times"], how="left", suffixes=("", "_of_whole"))
    return found["at_of_whole"].to_numpy(np.int64)
