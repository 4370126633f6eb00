"""Columns that tell nothing beyond another of the file: they repeat it, or are its logarithm, its square, its
change, the same in another unit.

Whoever knows the one knows the other, so both have one role. The name says which may be computed from which (lincome,
agesq), and the values whether it is.
"""

import re

import numpy as np

from schemas.reading.overview import Overview
from sluice.ground import values
from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import repeated

_BEFORE = ("l", "ln", "log", "l_", "ln_", "log_", "ln.", "log.", "sqrt", "sqrt_")
_BEHIND = ("sq", "_sq", "2", "_2", "^2", "squared", "_squared", "3", "cubed", "_log", "_ln", "lbs", "kg", "_lbs", "_kg")
_OF = r"(?:natural )?(?:log|ln|logarithm|sqrt|square root|square)(?: of )?[ (]*(?P<of>\w+)\)?"
_CHANGE = r"(?P<change>\w+) ?- ?(?P=change)(?:_\d|\[_n-\d\])"  # pay - pay_1; in Stata pay - pay[_n-1]
_FORMULA = re.compile(rf"(?:{_OF}|(?P<power>\w+) ?(?:\^ ?[23]|squared|cubed)|{_CHANGE})(?:[;,.( ].*)?")
_ENOUGH = 50  # records with both values
_DIFFERENT = 10  # values: of fewer, an order in common is no sign


def repeats(seen: Overview) -> dict[str, str]:
    """For columns with more than a little to tell, the first one that tells the same of every record."""
    return repeated({name: codes for name, codes in seen.codes.items() if len(seen.labels[name]) > 2})


def computed_from(seen: Overview) -> dict[str, str]:
    """For columns of numbers that are computed from another by their name and values, which.

    cost : O(columns) names, and O(n log n) for each that is called so
    """
    names = {name.strip().casefold(): name for name, column in seen.columns.items() if column.kind.is_numeric}
    found = {}
    for plain, name in names.items():
        bases = [plain.removeprefix(sign) for sign in _BEFORE if plain.startswith(sign)]
        bases += [plain.removesuffix(sign) for sign in _BEHIND if plain.endswith(sign)]
        base = next((names[each] for each in bases if each in names and _is_computed(seen, name, names[each])), None)
        if base is None and (said := _FORMULA.fullmatch(seen.said(name).label.strip().casefold())):
            # log(x + 1), or 0 where x is, keeps no order
            base = names.get(said["of"] or said["power"] or said["change"])
        if base is not None:
            found[name] = base
    return found


def _is_computed(seen: Overview, name: str, base: str) -> bool:
    """Whether it grows with the other, or with its size, and is one value where that is one."""
    made, given = _numbers(seen, name), _numbers(seen, base)
    known = np.isfinite(made) & np.isfinite(given)
    made, given = made[known], given[known]
    if len(made) < _ENOUGH or len(np.unique(made)) < _DIFFERENT:
        return False
    for size in (given, np.abs(given)):
        order = np.lexsort((made, size))
        steps, wider = np.diff(made[order]), np.diff(size[order]) > 0
        if (steps >= 0).all() and not steps[~wider].any():
            return True
    return False


def _numbers(seen: Overview, name: str) -> FloatArray:
    """The number of each kept record, NaN where there is none, shape (n,)."""
    mark = seen.columns[name].decimal_mark
    pointed = (None if label is None else label.replace(mark, ".") for label in seen.labels[name])
    numbers = [float(text) if text is not None and values.is_number(text) else np.nan for text in pointed]
    found: FloatArray = np.array(numbers, dtype=np.float64)[seen.codes[name]]
    return found
