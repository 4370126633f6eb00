"""Proofs come back from the vault as they went in."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from tasks.release.tables.kept_proofs import KeptProof, proofs_as_bytes, read_proofs
from tests.golden import golden

_CHANGE = st.dictionaries(st.integers(0, 10_000), st.floats(-1e12, 1e12), max_size=6)


@given(given_=st.lists(_CHANGE, max_size=5))
def test_proofs_come_back_as_they_were(
    given_: list[dict[int, float]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    kept = [
        KeptProof(np.array(list(change), dtype=np.int32), np.array(list(change.values()), dtype=np.float64))
        for change in given_
    ]
    path = tmp_path_factory.mktemp("proofs") / "proofs.npz"
    path.write_bytes(proofs_as_bytes(kept))
    read = read_proofs(path)
    assert [(proof.cells.tolist(), proof.change.tolist()) for proof in read] == [
        (proof.cells.tolist(), proof.change.tolist()) for proof in kept
    ]
    assert proofs_as_bytes(read) == path.read_bytes()


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "proofs.npz"
    path.write_bytes(b"no archive")
    golden.refused(DataError, read_proofs, path)
