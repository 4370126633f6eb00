"""Adult as three files, for attacks with a control: the original, a released file that leaks, and other people."""

from pathlib import Path

import pandas as pd

from sluice.ground.variables import Variable
from tests.reference_data import adult_columns
from tests.typed_frame import typed_frame


def adult_with_control(data: Path, size: int) -> tuple[list[pd.DataFrame], dict[str, Variable]]:
    """Original, released and control of `size` records each, taken in the order of the file without its twins.

    Three in ten released records are original ones, the others are of people who are in neither of the other files.
    """
    adult = pd.read_csv(data / "adult" / "adult.data.gz", names=adult_columns(), skipinitialspace=True)
    typed, variables = typed_frame(adult.drop_duplicates(ignore_index=True))
    copied = int(0.3 * size)
    original, control, others = typed.iloc[:size], typed.iloc[size : 2 * size], typed.iloc[2 * size : 3 * size - copied]
    return [original, pd.concat([original.iloc[:copied], others]), control], variables
