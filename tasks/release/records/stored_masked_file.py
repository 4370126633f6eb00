"""The masked file of a release, as staged in the vault, and which original record stands in which of its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sluice.masking.masking_step import MaskingStep
from sluice.masking.plan import ByStratum
from sluice.publication.copies import COPIES
from tasks.release.documented_release import DocumentedRelease


@dataclass(frozen=True)
class MaskedFile:
    """The masked table in its published forms.

    carried_out : the plan, with the thresholds that were read off the data
    sample      : SHA-256 of the list of the original records in it, where the plan took a sample
    copies      : for which statistics package -> SHA-256
    """

    sha256: str
    csv_sha256: str
    rows: int
    carried_out: tuple[MaskingStep | ByStratum, ...] = ()
    sample: str | None = None
    copies: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def recorded(cls, body: Mapping[str, Any]) -> Self:
        """As the ledger's entry of the masking has it: without the plan as it was carried out."""
        named = {name: body[name] for name in COPIES if name in body}
        return cls(body["data"], body["csv"], body["rows"], sample=body["sample"], copies=named)

    @property
    def hashes(self) -> Mapping[str, str]:
        return {"data": self.sha256, "csv": self.csv_sha256, **self.copies}


def kept_rows(release: DocumentedRelease, masked: MaskedFile) -> NDArray[np.int64]:
    """The original records that are in the masked file, in rising order: all of them, unless the plan took a sample."""
    if masked.sample is None:
        return np.arange(release.original.rows)
    kept = release.vault.verify(masked.sample, ".rows")
    return np.frombuffer(kept.read_bytes(), dtype="<i8").astype(np.int64)


def row_order(release: DocumentedRelease, kept: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which original record stands in each row of the masked file. As secret as the seed it comes from.

    kept    : shape (m,), rising, the original records that are in the masked file
    returns : shape (m,), the same in random order
    """
    order = np.random.default_rng(release.seeds().order).permutation(release.original.rows)
    return order[np.isin(order, kept)]
