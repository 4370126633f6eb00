"""The cells of a set of tables as a file of the vault: NumPy's arrays, without anything that runs when it is read."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Cells, Integers, equations_of
from sluice.tabular.model.dimension import Dimension

_ARRAYS = ("codes", "total", "contributors", "largest", "owners", "published")


def cells_bytes(cells: Cells, asking: Sequence[int] = ()) -> bytes:
    """The cells without dimensions and equations, which the documents tell; the same cells give the same bytes.

    asking : numbers of the contributors who asked for protection
    """
    held = BytesIO()
    arrays = {name: getattr(cells, name) for name in _ARRAYS}
    if cells.sizes is not None:
        arrays["sizes"] = cells.sizes
    arrays["asking"] = np.array(asking, dtype=np.int64)
    np.savez_compressed(held, decimals=np.int64(cells.decimals), **arrays)
    return held.getvalue()


def read_cells(path: Path, dimensions: Sequence[Dimension], tables: Sequence[Sequence[str]]) -> Cells:
    """The cells that `cells_bytes` wrote, of these dimensions and tables. Raises DataError for another file."""
    try:
        with np.load(path, allow_pickle=False) as held:
            arrays = {name: held[name] for name in _ARRAYS}
            decimals, sizes = int(held["decimals"]), held.get("sizes")
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        raise DataError(f"{path}: holds no cells of tables") from None
    return Cells(
        dimensions=tuple(dimensions),
        equations=equations_of(dimensions, arrays["codes"], tables),
        decimals=decimals,
        sizes=sizes,
        **arrays,
    )


def read_asking(path: Path) -> Integers:
    """Who asked for protection, by number, as `cells_bytes` wrote it."""
    with np.load(path, allow_pickle=False) as held:
        asking: Integers = held["asking"]
    return asking
