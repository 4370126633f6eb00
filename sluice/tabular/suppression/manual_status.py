"""Manual status: what a person states of single cells beforehand, in a file with one row a cell.

The columns are the dimensions, holding codes, and `status`; `lower`, `upper` (protection, in the measure's units) and
`cost` if wanted. Source: the a-priori files of tau-ARGUS (user's manual, "apriori file"), with words for letters.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np

from sluice.ground.declaration import Declaration
from sluice.ground.errors import DataError
from sluice.tabular.model.cells import LARGEST_TOTAL, Booleans, Cells, Floats, keys_of
from sluice.tabular.rules.contributions import percentage, shortfall
from sluice.tabular.rules.sensitivity import Requirements, lower_level

MANUAL = "a_priori"  # the name, among those of the rules, of what a person requests in `Requirements.by_rule`


A_PRIORI = (
    Declaration(
        "a_priori",
        helps="A person asked for these cells to be withheld or published: check the a-priori file with its author.",
    ),
)


class ManualStatus(StrEnum):
    """What a person may state of a cell."""

    SENSITIVE = "sensitive"  # although the rules may call it safe
    PUBLISHED = "published"  # must be; on a sensitive cell only with a waiver
    SUPPRESS_FIRST = "suppress_first"  # as good as free to suppress
    NOT_SECONDARY = "not_secondary"  # never suppressed for the sake of another cell
    AS_THE_RULES_SAY = ""  # only levels or a cost are given


_COLUMNS = ("status", "lower", "upper", "cost")
_NUMBER = r"([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?"


@dataclass(frozen=True)
class ManualRow:
    """One row of the file, read: codes in the order of the dimensions, protection in units of the last decimal."""

    number: int
    codes: tuple[str, ...]
    status: ManualStatus
    lower: int | None = None
    upper: int | None = None
    cost: float | None = None


@dataclass(frozen=True, eq=False)
class ManualRequest:
    """What the rules and a person together ask of c cells.

    forbidden : shape (c,), must be published
    preferred : shape (c,), suppressed first
    cost      : shape (c,), as given, and the file's where it gives one
    """

    requirements: Requirements
    forbidden: Booleans
    preferred: Booleans
    cost: Floats


def manual_rows(rows: Sequence[Mapping[str, str]], dimensions: Sequence[str], decimals: int = 0) -> list[ManualRow]:
    """The rows of an a-priori file, as text, checked.

    dimensions : names, each a column
    decimals   : of the measure; `lower` and `upper` are rounded up to its last
    raises     : DataError, with the number of the row (the first below the header is 1)
    """
    read = []
    for number, row in enumerate(rows, start=1):
        for column in (*dimensions, "status"):
            if row.get(column) is None:
                raise DataError(f"the a-priori file needs the column '{column}'.", came=column, allowed=row)
        for column in row:
            if column not in (*dimensions, *_COLUMNS):
                raise DataError(
                    f"the a-priori file has no use for the column '{column}'.",
                    came=column,
                    allowed=(*dimensions, *_COLUMNS),
                )
        status = row["status"].strip()
        if status not in list(ManualStatus):
            known = ", ".join(known for known in ManualStatus if known)
            raise DataError(
                f"{_at(number)}: status must be {known}; got '{status}'.", came=status, allowed=ManualStatus
            )
        lower, upper, cost = (_number(row, column, number) for column in ("lower", "upper", "cost"))
        units = [None if level is None else -int(-level * 10**decimals // 1) for level in (lower, upper)]
        read.append(
            ManualRow(
                number=number,
                codes=tuple(row[name] for name in dimensions),
                status=ManualStatus(status),
                lower=units[0],
                upper=units[1],
                cost=None if cost is None else float(cost),
            )
        )
    return read


def waivers_needed(cells: Cells, requirements: Requirements, rows: Sequence[ManualRow]) -> list[tuple[str, str]]:
    """(rule, cell by `Cells.name`) of every cell to be published that a rule calls sensitive; see `apply_manual`."""
    return [
        (rule, cells.name(cell))
        for row, cell in zip(rows, _positions(cells, rows), strict=True)
        if row.status is ManualStatus.PUBLISHED
        for rule, found in requirements.by_rule.items()
        if found[cell]
    ]


def apply_manual(
    cells: Cells,
    requirements: Requirements,
    rows: Sequence[ManualRow],
    cost: Floats,
    waived: Collection[tuple[str, str]] = (),
    safety_percent: float = 20,
    nonnegative: bool = True,
    remarks: Sequence[str] = (),
) -> ManualRequest:
    """The requirements with the rows applied, what may not and what should first be suppressed, and the costs.

    waived         : (rule, cell by `Cells.name`) of which a live waiver says that the cell may be published all the
                     same; every rule that calls it sensitive must be waived. Its levels are dropped; `by_rule` goes on
                     showing it
    safety_percent : of the total, protection level of a cell that only a person calls sensitive, if the row has none
    remarks        : what there is to say of waivers that do not hold, for a request that cannot be met
    raises         : DataError, by codes, for an unknown code, an empty cell, a cell given twice, and a request that
                     cannot be met: 'published' on a sensitive cell without waivers or on a withheld marginal

    Levels in a row replace none that the rules ask for; the higher counts. A row cannot weaken a rule.
    """
    sensitive, manual = requirements.sensitive.copy(), np.zeros(len(cells), dtype=bool)
    lower, upper, sliding = (level.copy() for level in (requirements.lower, requirements.upper, requirements.sliding))
    forbidden, preferred, cost = np.zeros(len(cells), dtype=bool), np.zeros(len(cells), dtype=bool), cost.copy()
    share = percentage(safety_percent, "safety_percent", MANUAL)
    safety = np.maximum(shortfall(share, np.abs(cells.total), np.zeros_like(cells.total)), 1)
    for row, cell in zip(rows, _positions(cells, rows), strict=True):
        if row.status is ManualStatus.PUBLISHED:
            _may_be_published(cells, requirements, row, cell, waived, remarks)
            sensitive[cell], lower[cell], upper[cell], sliding[cell] = False, 0, 0, 0
        elif row.status is ManualStatus.SENSITIVE:
            manual[cell] = sensitive[cell] = True
            if not requirements.sensitive[cell] and not (row.lower or row.upper):
                lower[cell] = upper[cell] = safety[cell]
        if sensitive[cell]:
            lower[cell] = max(lower[cell], row.lower or 0)
            upper[cell] = max(upper[cell], row.upper or 0)
        forbidden[cell] = row.status in (ManualStatus.PUBLISHED, ManualStatus.NOT_SECONDARY) and not sensitive[cell]
        preferred[cell] = row.status is ManualStatus.SUPPRESS_FIRST
        cost[cell] = cost[cell] if row.cost is None else row.cost
    changed = replace(
        requirements,
        by_rule={**requirements.by_rule, MANUAL: manual},
        sensitive=sensitive,
        lower=lower_level(lower, cells.total, nonnegative),
        upper=upper,
        sliding=sliding,
    )
    return ManualRequest(changed, forbidden, preferred, cost)


def _may_be_published(
    cells: Cells,
    requirements: Requirements,
    row: ManualRow,
    cell: int,
    waived: Collection[tuple[str, str]],
    remarks: Sequence[str],
) -> None:
    name = cells.name(cell)
    if not cells.published[cell]:
        raise DataError(f"infeasible request, {_at(row.number)}: {name} is of a marginal that the tables withhold.")
    left = [rule for rule, found in requirements.by_rule.items() if found[cell] and (rule, name) not in waived]
    if left:
        raise DataError(
            f"infeasible request, {_at(row.number)}: {name} must be published, and is sensitive by {', '.join(left)}. "
            + " ".join(["Only a waiver of each of these rules for this cell can allow it.", *remarks])
        )


def _positions(cells: Cells, rows: Sequence[ManualRow]) -> list[int]:
    """Where each row's cell stands."""
    if not rows:
        return []
    for row in rows:
        for dimension, code in zip(cells.dimensions, row.codes, strict=True):
            if code not in dimension.position:
                raise DataError(
                    f"{_at(row.number)}: the dimension '{dimension.name}' has no code '{code}'.",
                    came=code,
                    allowed=dimension.codes,
                )
    wanted = np.array(
        [[d.position[code] for d, code in zip(cells.dimensions, row.codes, strict=True)] for row in rows],
        dtype=np.int32,
    )
    at = {int(key): cell for cell, key in enumerate(keys_of(cells.dimensions, cells.codes))}
    positions: dict[int, int] = {}  # cell -> row
    for row, key in zip(rows, keys_of(cells.dimensions, wanted).tolist(), strict=True):
        cell = at.get(key)
        if cell is None:
            raise DataError(f"{_at(row.number)}: the cell {', '.join(row.codes)} is empty; nothing can be said of it.")
        if cell in positions:
            raise DataError(f"{_at(row.number)}: {cells.name(cell)} is in row {positions[cell]} already.")
        positions[cell] = row.number
    return list(positions)


def _number(row: Mapping[str, str], column: str, number: int) -> Fraction | None:
    text = (row.get(column) or "").strip()
    if not text:
        return None
    value = Fraction(text) if re.fullmatch(_NUMBER, text, re.ASCII) else Fraction(-1)
    if not 0 <= value < LARGEST_TOTAL:
        raise DataError(f"{_at(number)}: {column} must be a number of 0 or more, with a decimal point, below 2 ** 53.")
    return value


def _at(number: int) -> str:
    return f"a-priori file, row {number}"
