"""gconfid's suppression of the same cells: gconfid 2 of Statistics Canada, a black box in an environment of its own."""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.peers.peer import ask, version_of
from sluice.tabular.model.cells import Booleans, Cells, Integers


def has_gconfid() -> bool:
    """Whether it can be had; what is not, or which version is, is printed."""
    return version_of("gconfid") is not None


def gconfid_pattern(cells: Cells, level: Integers, cost: str = "SIZE", second: str = "") -> tuple[Booleans, float]:
    """Which cells gconfid suppresses, primaries with them, and the seconds that its suppression module took.

    level  : shape (c,), the protection asked for each sensitive cell, above and below; 0 where a cell is not sensitive
    cost   : its first cost function; SIZE is the value
    second : its second, '' for none
    raises : PeerFailedError with the end of what it printed, when it fails
    """
    equations = cells.equations.tocoo()
    row, column = equations.coords
    frames = {
        "cells": pd.DataFrame({"total": cells.total, "level": level}),
        # gconfid writes -1 at the sum
        "equations": pd.DataFrame({"row": row, "column": column, "sign": -equations.data}),
    }
    found = ask("gconfid", "pattern", frames, cost=cost, second=second)
    return np.array(found["suppressed"]), float(found["seconds"])


def gconfid_as_its_users_run_it(folder: Path) -> tuple[int, float, float]:
    """Secondaries, suppressed value and seconds of gconfid's own sensitivity (p% = 10, at least 3) and suppression.

    It asks for more than Sluice does: its levels are higher where few contribute, and it adds cells of its own for
    sums of sensitive siblings. So its value here is above that with Sluice's levels.

    folder : of the generated business table
    """
    found = ask("gconfid", "release", source=str(folder))
    return int(found["secondary"]), float(found["value"]), float(found["seconds"])
