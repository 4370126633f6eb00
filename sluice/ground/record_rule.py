"""A rule on records: a condition over several values of one record, as the contract names it."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from sluice.ground.arrays import BoolArray


@dataclass(frozen=True)
class RecordRule:
    """A condition over values of one record.

    columns : the variables that it names
    kept    : masked records are held to it, too; else only those of the source
    holds   : a frame with these columns, typed as the original, to shape (n,): False where a record breaks the rule
    """

    name: str
    says: str
    columns: tuple[str, ...]
    holds: Callable[[pd.DataFrame], BoolArray]
    kept: bool = True
