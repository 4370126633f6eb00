"""The proofs that a protection found, as the vault keeps them for the audit, which believes none and checks each."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.tabular.audit.proofs import Proof
from sluice.tabular.model.cells import Codes


@dataclass(frozen=True, eq=False)
class KeptProof:
    """Deviations, of shape (s,), of the cells at these positions, of shape (s,)."""

    cells: Codes
    change: NDArray[np.float64]


def proofs_as_bytes(proofs: Sequence[Proof]) -> bytes:
    """One after the other; the same proofs give the same bytes."""
    held = BytesIO()
    start = np.cumsum([0, *(len(proof.cells) for proof in proofs)], dtype=np.int64)
    cells = np.concatenate([np.zeros(0, np.int32), *(proof.cells for proof in proofs)]).astype(np.int32)
    change = np.concatenate([np.zeros(0), *(proof.change for proof in proofs)]).astype(np.float64)
    np.savez_compressed(held, start=start, cells=cells, change=change)
    return held.getvalue()


def read_proofs(path: Path) -> list[KeptProof]:
    """What `proofs_as_bytes` wrote. Raises DataError for another file."""
    try:
        with np.load(path, allow_pickle=False) as held:
            start, cells, change = held["start"], held["cells"], held["change"]
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        raise DataError(f"{path}: does not hold the proofs of a protection") from None
    return [
        KeptProof(cells[begin:end], change[begin:end])
        for begin, end in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
    ]
