"""What is published of cells comes back from the vault as it went in."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from tasks.release.tables.published_cells import PublishedCells
from tests.golden import golden

_NUMBERS = st.lists(st.integers(-(10**15), 10**15), min_size=4, max_size=4).map(lambda n: np.array(n, dtype=np.int64))


@given(
    status=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    value=st.none() | _NUMBERS,
    interval=st.none() | st.tuples(_NUMBERS, _NUMBERS),
)
def test_they_come_back_as_they_were(
    status: list[int],
    value: np.ndarray | None,
    interval: tuple[np.ndarray, np.ndarray] | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    published = PublishedCells(np.array(status, dtype=np.uint8), value, interval)
    path = tmp_path_factory.mktemp("cells") / "cells.npz"
    path.write_bytes(published.to_bytes())
    read = PublishedCells.read(path)
    assert read.status.tolist() == status
    assert (None if read.value is None else read.value.tolist()) == (None if value is None else value.tolist())
    assert (read.interval is None) == (interval is None)
    if interval and read.interval:
        assert [end.tolist() for end in read.interval] == [end.tolist() for end in interval]
    assert read.to_bytes() == path.read_bytes()


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cells.npz"
    path.write_bytes(b"no archive")
    golden.refused(DataError, PublishedCells.read, path)
