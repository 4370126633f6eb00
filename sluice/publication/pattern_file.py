"""A table with its suppression pattern, read back from its file: codes, status, value.

Suppressed cells have no value; one word stands for all of them, or two for primary and secondary ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.publication.published_table import in_decimals
from sluice.tabular.model.cells import Booleans, Codes, Integers, Status, Statuses, keys_of
from sluice.tabular.model.column_values import numbers, whole_units
from sluice.tabular.model.dimension import Dimension

if TYPE_CHECKING:
    from scipy.sparse import csr_array

STATUSES = {"published": Status.PUBLISHED, "primary": Status.PRIMARY, "secondary": Status.SECONDARY}
STATUS_NAMES = {status: name for name, status in STATUSES.items()}
_SHOWN = 3  # sums that do not hold

SUPPRESSED = "suppressed"  # primary or secondary, where the two are not distinguished


@dataclass(frozen=True, eq=False)
class Pattern:
    """A table as it is published: c cells in the order of the file.

    codes    : shape (c, d), position of each cell's code in each dimension
    status   : shape (c,), published, primary or secondary. Where one word stands for both, primary: any of them may
               be sensitive
    value    : shape (c,), in units of 10 ** -decimals; 0 where there is none
    has      : shape (c,), whether there is a value; a published cell always has one
    rounded  : to a multiple of how many units each value was rounded by itself, so that sums need not hold; 0: of none
    """

    dimensions: tuple[Dimension, ...]
    codes: Codes
    status: Statuses
    value: Integers
    has: Booleans
    decimals: int
    tells_primary: bool  # two words for suppressed cells
    rounded: float = 0.0

    def __len__(self) -> int:
        return len(self.status)

    def word(self, cell: int) -> str:
        """What became of a cell, as the file says it."""
        status = Status(self.status[cell])
        return STATUS_NAMES[status] if self.tells_primary or status is Status.PUBLISHED else SUPPRESSED

    def name(self, cell: int) -> str:
        """The codes of a cell, as `Cells.name` says them."""
        return cell_name(self.dimensions, self.codes, cell)

    def refuse_other_sums(self, equations: "csr_array", hint: str = "", figures: bool = True) -> None:
        """Raise DataError for sums that do not hold, of cells that all have a value: exactly, or as far as rounding may
        move them.

        equations : shape (e, c), +1 at a sum and -1 at its parts
        hint      : what may be the reason, and the way out
        figures   : whether it is told by how much
        """
        whole = equations.astype(np.int64)
        known = (abs(whole) @ (~self.has).astype(np.int64)) == 0
        gap = whole @ self.value
        wrong = np.flatnonzero(known & (np.abs(gap) > np.diff(whole.indptr) * self.rounded / 2))
        if not len(wrong):
            return
        often = abs(whole[wrong]).sum(axis=0)  # a wrong value stands in most of the wrong sums
        shown = []
        for row in wrong[:_SHOWN].tolist():
            inside = slice(whole.indptr[row], whole.indptr[row + 1])
            total = int(whole.indices[inside][np.argmax(whole.data[inside])])
            far, side = in_decimals(abs(int(gap[row])), self.decimals), "above" if gap[row] > 0 else "below"
            by = f"{far} {side}" if figures else "not"
            shown.append(f"{self.name(total)} is {by} the sum of its parts")
        more = f", and {len(wrong) - _SHOWN:,} more" if len(wrong) > _SHOWN else ""
        raise DataError(
            f"totals that do not add: {len(wrong):,} {'sum does' if len(wrong) == 1 else 'sums do'} not hold"
            f"{f', most of them of {self.name(int(np.argmax(often)))}' if len(wrong) > 1 else ''}: "
            f"{'; '.join(shown)}{more}.{hint and f' {hint}'}"
        )


def read_pattern(
    frame: pd.DataFrame, dimensions: Sequence[Dimension], decimals: int | None = None, rounded_to: float | None = None
) -> Pattern:
    """The pattern in a frame of text, as a CSV source gives it.

    decimals   : of the values, which are rounded to them; as many as they have when not given
    rounded_to : each value was rounded to a multiple of this
    raises     : DataError for a column that is missing, an unknown code or status, a cell given twice, a published cell
             without a value, a value that is no number
    """
    for name in (*(dimension.name for dimension in dimensions), "status", "value"):
        if name not in frame.columns:
            raise DataError(f"the cells have no column '{name}'.", came=name, allowed=map(str, frame.columns))
    frame = frame.set_axis(pd.RangeIndex(len(frame)))  # errors number the rows of the file
    columns = []
    for dimension in dimensions:
        places, codes = pd.factorize(frame[dimension.name].to_numpy(dtype=object))
        for code in codes:
            if code not in dimension.position:
                called = (
                    f" If it is the total, which the hierarchy calls '{dimension.codes[0]}', say so (--total, total)."
                )
                total = "" if dimension.codes[0] in codes else called
                raise DataError(
                    f"'{dimension.name}' has a cell of '{code}', which is not a code of its hierarchy.{total}",
                    came=code,
                    allowed=dimension.codes,
                )
        columns.append(np.array([dimension.position[code] for code in codes], dtype=np.int32)[places])
    held = np.column_stack(columns)
    _, first, count = np.unique(keys_of(dimensions, held), return_index=True, return_counts=True)
    if (count > 1).any():
        raise DataError(f"the cell {cell_name(dimensions, held, int(first[count > 1][0]))} is given twice.")
    words = {**STATUSES, SUPPRESSED: Status.PRIMARY}
    given = set(frame["status"].unique())
    if strange := sorted(given - set(words)):
        raise DataError(f"status must be {', '.join(words)}; got '{strange[0]}'.", came=strange[0], allowed=words)
    if SUPPRESSED in given and given & {"primary", "secondary"}:
        raise DataError("status must be 'suppressed' for all suppressed cells, or primary or secondary; got both.")
    status: Statuses = np.array([words[text] for text in frame["status"]], dtype=np.uint8)
    text = frame["value"]
    has = (text != "").to_numpy(dtype=bool)
    without = np.flatnonzero((status == Status.PUBLISHED) & ~has)
    if len(without):
        raise DataError(f"the cell {cell_name(dimensions, held, int(without[0]))} is published and has no value.")
    value = np.zeros(len(frame), dtype=np.int64)
    given_values = numbers(text[has])
    value[has], decimals = whole_units(given_values, "value", decimals)
    rounded = 0.0 if rounded_to is None else rounded_to * 10.0**decimals
    if not rounded and not np.array_equal(value[has] / 10.0**decimals, given_values):
        rounded = 1.0
    return Pattern(tuple(dimensions), held, status, value, has, decimals, SUPPRESSED not in given, rounded)


def cell_name(dimensions: Sequence[Dimension], codes: Codes, cell: int) -> str:
    """The codes of a cell, for a reader."""
    return ", ".join(f"{d.name} {d.codes[codes[cell, axis]]}" for axis, d in enumerate(dimensions))


def codes_of(dimensions: Sequence[Dimension], codes: Codes, cell: int) -> dict[str, Any]:
    """The codes of a cell by dimension, for machines."""
    return {d.name: d.codes[codes[cell, axis]] for axis, d in enumerate(dimensions)}
