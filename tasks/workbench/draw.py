"""What methods on tables that draw are given outside a release. The same seed and data give the same output again."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.errors import MeasureChoiceError
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.column_values import is_missing
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from tasks.release.tables.altered_tables import KeyedRecords
from tasks.release.tables.protection_method import Alteration


@dataclass(frozen=True, eq=False)
class Draw:
    """Neither is made or read before a method asks for it.

    seed  : a whole number that nobody can guess; the same seed and data give the same table
    frame : the records that the table adds up, with its dimensions and contributors as text
    """

    seed: Callable[[], int]
    frame: Callable[[], pd.DataFrame]
    dimensions: Sequence[Dimension]
    measure: Measure

    def secret(self, purpose: str) -> str:
        """64 hexadecimal digits, others for each purpose."""
        return hashlib.sha256(f"{self.seed()}\n{purpose}".encode()).hexdigest()

    def generator(self, cells: Cells, method: Alteration) -> np.random.Generator:
        """Other draws for each table and method: the same for two tables that hardly differ would show how they do."""
        mixed = f"{self.seed()}\n{method.model_dump_json()}\n".encode() + cells.total.tobytes()
        return np.random.default_rng(int.from_bytes(hashlib.sha256(mixed).digest()))

    def keyed_records(self) -> KeyedRecords:
        """A record's key comes from its contributor and the seed alone: it is the same in every table and edition.

        raises : DataError without contributors
        """
        if self.measure.contributor is None:
            raise MeasureChoiceError(
                "a record has the same noise in every table, so cell_key and noise_multipliers need to know it again: "
                "name the column of its contributor, or of a number of its own",
                "contributor",
            )
        secret = self.secret("cell_key").encode()
        frame = self.frame()
        if self.measure.value is not None:
            frame = frame[~is_missing(frame[self.measure.value])]
        return KeyedRecords.of(frame, self.dimensions, self.measure, [self.measure.contributor], secret)
