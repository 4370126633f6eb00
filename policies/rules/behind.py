"""Behind: what the agency knows of the records of a file beside what it releases."""

from dataclasses import dataclass

import pandas as pd

from sluice.documents.documents import FileOf, named_file
from sluice.ground.arrays import IntArray


@dataclass(frozen=True)
class Behind:
    """What lies behind a file of records.

    original     : the same records in the same order before masking, on the released categories and typed like the
                   file; None where nobody knows which record is whose, and of an original
    minimum_cell : no smaller group is named
    file_of      : the file that a rule names, if it may be read
    times        : for how many equal records each stands, where a file holds the different ones alone; shape (n,)
    """

    original: pd.DataFrame | None = None
    minimum_cell: int = 10
    file_of: FileOf = named_file
    times: IntArray | None = None


NOTHING = Behind()
