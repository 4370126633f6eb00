"""The cells of tables as the vault keeps them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from sluice.ground.errors import DataError
from sluice.sources.table_cells import cells_bytes, read_asking, read_cells
from sluice.tabular.model.cells import Cells
from tests.golden import golden
from tests.tabular.tables import tables


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_cells_come_back_as_they_were(tmp_path: Path, cells: Cells) -> None:
    path = tmp_path / "cells.npz"
    signed = replace(cells, sizes=np.abs(cells.total) + 3, decimals=2)
    for given_ in (cells, signed):
        path.write_bytes(cells_bytes(given_, asking=[5, 2**60]))
        names = [[dimension.name for dimension in cells.dimensions]]
        found = read_cells(path, cells.dimensions, names)
        for array in ("codes", "total", "contributors", "largest", "owners", "published", "sizes"):
            np.testing.assert_array_equal(getattr(found, array), getattr(given_, array))
        assert found.decimals == given_.decimals
        assert (found.equations != given_.equations).nnz == 0
        assert read_asking(path).tolist() == [5, 2**60]
        assert cells_bytes(found, asking=[5, 2**60]) == path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"no archive"])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cells.npz"
    path.write_bytes(content)
    with golden.raises(DataError):
        read_cells(path, [], [])


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "cells.npz"
    np.savez(path, codes=np.array([{"runs": "code"}], dtype=object))
    with golden.raises(DataError):
        read_cells(path, [], [])
