"""Differencing: what two files of nearly the same people tell together that neither tells alone.

Of two editions that differ by one person, the second less the first is that person: methods that keep a variable's
values (recoding, swapping) or its mean give the newcomer's values away however well each file protects them.
"""

import numpy as np
import pandas as pd


def changed_records(earlier: pd.DataFrame, later: pd.DataFrame) -> int:
    """How many records came, left or changed: the larger number of records that only one of the two files holds.

    earlier, later : typed frames with the same columns, in any order of rows; equal records are counted
    cost           : O(n + m), by 64-bit hashes of the rows
    """
    rows = [pd.util.hash_pandas_object(frame, index=False).to_numpy() for frame in (earlier, later)]
    codes, values = pd.factorize(np.concatenate(rows))
    before, after = (np.bincount(part, minlength=len(values)) for part in np.split(codes, [len(earlier)]))
    return int(max((before - after).clip(0).sum(), (after - before).clip(0).sum()))
