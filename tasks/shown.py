"""What is shown of the cells of a release's tables: which are told, and with which value."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from sluice.errors import DataError
from sluice.tabular.model.cells import Integers, Statuses


@dataclass(frozen=True, eq=False)
class Shown:
    """For each of c cells of the tables.

    status   : shape (c,), a `Status` each
    value    : shape (c,), told in place of the totals, in their units; None where the totals are told
    interval : from and to, each of shape (c,), told of suppressed cells; None where nothing is
    """

    status: Statuses
    value: Integers | None = None
    interval: tuple[Integers, Integers] | None = None

    def to_bytes(self) -> bytes:
        """As the vault keeps it; the same cells give the same bytes."""
        held, arrays = BytesIO(), {"status": self.status.astype(np.uint8)}
        if self.value is not None:
            arrays["value"] = self.value
        if self.interval is not None:
            arrays["low"], arrays["high"] = self.interval
        np.savez_compressed(held, **arrays)
        return held.getvalue()

    @classmethod
    def read(cls, path: Path) -> "Shown":
        """What `to_bytes` wrote. Raises DataError for another file."""
        try:
            with np.load(path, allow_pickle=False) as held:
                arrays = {name: held[name] for name in held.files}
            interval = (arrays["low"], arrays["high"]) if "low" in arrays else None
            return cls(arrays["status"], arrays.get("value"), interval)
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            raise DataError(f"{path}: does not tell what is shown of tables") from None
