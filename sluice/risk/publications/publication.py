"""Publication: a file of records that was or would be published, with the people behind it."""

from dataclasses import dataclass

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
