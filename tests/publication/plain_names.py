"""The records of every kind under names that every statistics package takes, with times that every one holds."""

import pandas as pd

from sluice.ground.variables import Variables
from tests.publication.small_codebook import records


def plainly_named() -> tuple[pd.DataFrame, Variables]:
    """Three records, and their variables."""
    frame, variables = records()
    names = {name: name.split(",")[0] for name in variables}
    return frame.rename(columns=names), {
        names[name]: variable.model_copy(update={"name": names[name]}) for name, variable in variables.items()
    }
