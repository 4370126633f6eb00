"""Keys of records or cells that come with the data."""

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from tasks.release.tables.altered_tables import OwnKeys
from tests.golden import golden


def test_one_key_for_all_is_refused_and_drawn_ones_are_taken() -> None:
    with golden.raises(DataError):
        OwnKeys.of(pd.Series(["0.5"] * 60, name="key"))
    drawn = pd.Series([f"{each:.5f}" for each in np.random.default_rng(2).random(60)], name="key")
    assert len(OwnKeys.of(drawn).keys) == 60
