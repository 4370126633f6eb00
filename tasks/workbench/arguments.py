"""What the functions of the notebook take: what they cannot is refused in a sentence, without a value of the data.

TypeError: something of another type. DataError: the right type, and not what can be worked with.
"""

import secrets
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError, did_you_mean

Seed = int | np.random.Generator | None


def data_frame(frame: object, name: str) -> pd.DataFrame:
    """The DataFrame: at least one record, columns named by texts, each once."""
    if not isinstance(frame, pd.DataFrame):
        hint = " Make it one: pandas.DataFrame(...)." if isinstance(frame, list | dict | np.ndarray) else ""
        raise TypeError(f"{name} must be a pandas DataFrame; got {type(frame).__name__}.{hint}")
    if isinstance(frame.columns, pd.MultiIndex):
        raise DataError(
            f"{name} must have one level of column names; got {frame.columns.nlevels}. Join the levels first, such as "
            "frame.columns = ['_'.join(levels) for levels in frame.columns]."
        )
    others = sum(not isinstance(column, str) or not column for column in frame.columns)
    if others:
        raise DataError(f"{name} must have columns named by texts; {others:,} of {frame.shape[1]:,} are not.")
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise DataError(f"{name} must name each column once; named again: {', '.join(map(repr, twice))}.")
    if not frame.shape[1]:
        raise DataError(f"{name} must have at least 1 column; got none.")
    if not len(frame):
        raise DataError(f"{name} must hold at least 1 record; got none.")
    return frame


def column_names(names: object, name: str, frame: pd.DataFrame) -> list[str]:
    """A list of columns of the frame, each once; none where None is given."""
    if names is None:
        return []
    if isinstance(names, str):
        raise TypeError(f"{name} must be a list of column names; got str. Write [{names!r}].")
    if not isinstance(names, Iterable):
        raise TypeError(f"{name} must be a list of column names; got {type(names).__name__}.")
    chosen = [column_name(each, name, frame) for each in names]
    twice = sorted({each for each in chosen if chosen.count(each) > 1})
    if twice:
        raise DataError(f"{name} must name each column once; named again: {', '.join(map(repr, twice))}.")
    return chosen


def column_name(column: object, name: str, frame: pd.DataFrame) -> str:
    """One column of the frame."""
    if not isinstance(column, str):
        raise TypeError(f"{name} must name columns by text; got {type(column).__name__}.")
    if column not in frame.columns:
        raise DataError(f"the frame has no column {column!r}.", field=name, came=column, allowed=frame.columns)
    return column


def document(given: str | Path, name: str, allowed: str) -> Path:
    """The path of a document; a word that is no file's name is answered with what is allowed."""
    path = Path(given)
    if isinstance(given, str) and given == path.name and not path.suffix and not path.exists():
        raise DataError(f"{name} must be {allowed}; got {given!r}, and no file is named so.")
    return path


def whole_number(number: object, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(number, bool) or not isinstance(number, Integral):
        hint = " Leave out the quotes." if isinstance(number, str) else ""
        raise TypeError(f"{name} must be a whole number of at least {least}; got {type(number).__name__}.{hint}")
    if number < least:
        raise DataError(f"{name} must be at least {least}; got {number}.")
    return int(number)


def number(given: object, name: str) -> float:
    """A number, finite."""
    if isinstance(given, bool) or not isinstance(given, Real):
        hint = " Leave out the quotes." if isinstance(given, str) else ""
        raise TypeError(f"{name} must be a number; got {type(given).__name__}.{hint}")
    if not np.isfinite(float(given)):
        raise DataError(f"{name} must be a finite number; got {float(given)}.")
    return float(given)


def share(number: object, name: str) -> float:
    """A share: more than 0, at most 1."""
    if isinstance(number, bool) or not isinstance(number, Real):
        hint = " Leave out the quotes." if isinstance(number, str) else ""
        raise TypeError(f"{name} must be a number above 0 and at most 1; got {type(number).__name__}.{hint}")
    value = float(number)
    if not 0 < value <= 1:
        hint = f" Is it a percentage? Use {value / 100:g}." if 1 < value <= 100 else ""
        raise DataError(f"{name} must be above 0 and at most 1; got {value:g}.{hint}")
    return value


def one_of(choice: Any, name: str, allowed: Iterable[str]) -> Any:
    """One of some words."""
    words = list(allowed)
    if choice not in words:
        came = repr(choice) if isinstance(choice, str) else type(choice).__name__
        hint = did_you_mean(choice, words) if isinstance(choice, str) else ""
        raise DataError(f"{name} must be one of {', '.join(words)}; got {came}.{hint}")
    return choice


def entropy(seed: Seed) -> int:
    """A whole number to draw from: the seed, one that the generator draws, or one of the operating system."""
    if seed is None:
        return secrets.randbits(128)
    if isinstance(seed, np.random.Generator):
        return int.from_bytes(seed.bytes(16))
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise TypeError(f"seed must be a whole number or a numpy Generator; got {type(seed).__name__}.")
    return whole_number(seed, "seed", 0)
