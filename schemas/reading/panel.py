"""Panels: several records of each person or firm, one a wave. Who it is, is named by a column that no wave repeats."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.reading.overview import Overview
from schemas.reading.usual_names import is_called_a_wave
from sluice.ground import values
from sluice.reading.kind import ColumnSummary
from sluice.risk.row_groups import row_groups

_WAVES = (2, 120)  # years, months of ten years
_A_WAVE = 10  # records
_YEARS = (1900, 2100)
_UNITS = 20  # who takes part: of fewer, a table of figures
_BY_CHANCE = 20.0  # pairs of one value and wave that chance would make: of fewer, that there is none says little
_TWICE = 0.01  # share of the records that may be entered twice
_OF_CHANCE = 0.1  # share of the pairs that chance would make, of records entered twice


@dataclass(frozen=True)
class Panel:
    """The column that names who takes part, and the one of the wave.

    others : columns that name the same units by other names
    units  : how many take part; most: waves of one of them
    """

    key: str
    wave: str
    others: tuple[str, ...]
    units: int
    most: int


def panel(seen: Overview, keys: Sequence[str], waves: Iterable[str]) -> Panel | None:
    """The panel that a file is; None where it is none.

    Amounts meet in a wave by chance, those of one unit never: a key is a column of which no two records of a wave share
    a value, though they would if its values were dealt at random. Numbers of the people in a household do the same, so
    that waves have to be called so, or be years. Only sensible where every record was kept.

    keys  : columns that may name units, those first that are called so
    waves : columns that may be the wave
    cost  : O(n log n) for each pair of them
    """
    if not seen.is_whole:
        return None
    for wave in waves:
        if not _is_wave(seen, wave):
            continue
        found = [key for key in keys if key != wave and _is_key(seen, key, wave)]
        if found:
            key = found[0]
            same = [each for each in found[1:] if _same(seen, key, each)]
            times = np.bincount(seen.codes[key])
            return Panel(key, wave, tuple(same), int((times > 0).sum()), int(times.max()))
    return None


def _is_wave(seen: Overview, name: str) -> bool:
    column, labels = seen.columns[name], seen.labels[name]
    if not _WAVES[0] <= len(labels) <= _WAVES[1] or None in labels:
        return False
    if len(labels) * _A_WAVE > seen.kept:
        return False
    return is_called_a_wave(name) or is_called_a_wave(seen.said(name).label) or _are_years(column, labels)


def _are_years(column: ColumnSummary, labels: Sequence[str | None]) -> bool:
    if not column.kind.is_numeric or not all(label and values.is_number(label) for label in labels):
        return False
    return _YEARS[0] <= column.smallest and column.largest <= _YEARS[1]


def _is_key(seen: Overview, name: str, wave: str) -> bool:
    if is_called_a_wave(name) or _are_years(seen.columns[name], seen.labels[name]):
        return False  # months of years are waves of waves
    known = ~seen.missing(name)
    codes, waves = seen.codes[name][known], seen.codes[wave][known]
    times = np.bincount(codes)
    units = int((times > 0).sum())
    if units < _UNITS or units <= len(seen.labels[wave]) or 2 * int(known.sum()) < seen.kept:
        return False
    shares = np.bincount(waves) / max(len(waves), 1)
    by_chance = float((times * (times - 1.0) / 2).sum() * (shares @ shares))
    pairs = row_groups([codes, waves]).size
    twice = float((pairs * (pairs - 1.0) / 2).sum())
    return by_chance >= _BY_CHANCE and twice <= min(_OF_CHANCE * by_chance, _TWICE * len(codes))


def _same(seen: Overview, one: str, other: str) -> bool:
    together = len(row_groups([seen.codes[one], seen.codes[other]]).size)
    return together == len(np.unique(seen.codes[one])) == len(np.unique(seen.codes[other]))
