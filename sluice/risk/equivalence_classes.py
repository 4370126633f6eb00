"""Equivalence classes: the records that share one combination of key values.

A missing key counts as a category of its own. `matching_frequencies` is the other reading, in which a missing value
stands for any value.

Source: 001_c854b9da72ca71f4.txt, Definition 1; the second reading is the sample frequency of sdcMicro's `freqCalc`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.errors import DataError

IntArray = NDArray[np.int64]
Codes = NDArray[np.integer[Any]]

_HISTOGRAM_CELLS = 2**26  # 512 MB of counts: the most that a histogram may take
_ANYTHING = -1  # the code of a missing key where it matches every value; as in the kernel
_JOIN, _ROW, _WORD = 200_000, 20, 0.5  # nanoseconds: of a join of two patterns, of a key in it, of 64 classes
_BITS = 2**29  # 64 MB: the most that a table of bits may take
_KEY_LIMIT = 2**62  # a mixed-radix key stays below this, well inside 64 bits


@dataclass(frozen=True)
class EquivalenceClasses:
    """A partition of n records into c classes.

    labels : shape (n,), the class of each record, 0..c-1; the numbering has no meaning
    sizes  : shape (c,), the number of records in each class, all at least 1
    """

    labels: IntArray
    sizes: IntArray

    @cached_property
    def frequencies(self) -> IntArray:
        """Shape (n,): for each record, how many records share its combination, itself included."""
        return self.sizes[self.labels]


def category_codes(column: pd.Series) -> Codes:
    """Integer codes of a typed column: equal values have equal codes, a missing value has the largest code.

    column  : category, Int64, float64, datetime or text, any index
    returns : shape (n,), from 0; in the order of the values (the declared order of a category)
    cost    : O(n) and a sort of the distinct values; a category column costs one pass
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes: Codes = column.cat.codes.to_numpy()
        count = len(column.cat.categories)
    else:
        codes, values = pd.factorize(column, sort=True)
        count = len(values)
    missing = codes < 0
    return np.where(missing, count, codes.astype(np.int64)) if missing.any() else codes


def equivalence_classes(keys: Sequence[Codes]) -> EquivalenceClasses:
    """The classes of records that agree on every key, exactly, for any number of keys.

    keys   : at least one array of shape (n,), integer codes from 0 (see `category_codes`)
    raises : DataError if there is no key, a code is negative or the lengths differ
    cost   : O(n) per key; one 64-bit key a record, and a histogram of at most 512 MB
    """
    if not keys:
        raise DataError("equivalence classes need at least one key column; got none.")
    if len({len(key) for key in keys}) != 1:
        raise DataError(f"key columns must have one length; got {', '.join(str(len(key)) for key in keys)}.")
    combined = np.zeros(len(keys[0]), dtype=np.int64)
    if not len(combined):
        return EquivalenceClasses(combined, combined)
    cells = 1  # combinations that `combined` can hold
    for key in keys:
        if key.min() < 0:
            raise DataError("key codes must be 0 or more; got negative ones. Is -1 meant as missing?")
        values = int(key.max()) + 1
        if values > len(key):  # so that the product of two factors never passes n squared
            key, count = _dense(key.astype(np.int64), values)
            values = len(count)
        if cells * values > _KEY_LIMIT:
            combined, count = _dense(combined, cells)
            cells = len(count)
        combined *= values
        combined += key
        cells *= values
    return EquivalenceClasses(*_dense(combined, cells))


def classes_of(frame: pd.DataFrame, columns: Sequence[str]) -> EquivalenceClasses:
    """The classes of a typed frame by some of its columns, a missing value being a category of its own."""
    return equivalence_classes([category_codes(frame[name]) for name in columns])


def matching_frequencies(frame: pd.DataFrame, columns: Sequence[str]) -> IntArray:
    """For each record, how many records agree with it on every key, where a missing value matches anything.

    returns : shape (n,), itself included; never below the frequency in which missing is a category
    cost    : beside the classes themselves, O(c^2 / 64) a key for c classes or, if less, O(p c) for p patterns of
              missing keys; 20,000 different records with 20 keys take a fifth of a second

    Agreement in this sense is not transitive: these are counts of neighbours, not sizes of classes.
    """
    codes = [category_codes(frame[name]) for name in columns]
    classes = equivalence_classes(codes)
    count = len(classes.sizes)
    first = np.empty(count, dtype=np.int64)
    first[classes.labels] = np.arange(len(classes.labels))  # one record of each class stands for it
    keys = np.column_stack([code[first].astype(np.int64) for code in codes])
    for position, name in enumerate(columns):
        keys[frame[name].isna().to_numpy()[first], position] = _ANYTHING
    patterns, pattern = np.unique(keys == _ANYTHING, axis=0, return_inverse=True)
    by_patterns = _JOIN * len(patterns) ** 2 + _ROW * keys.size * len(patterns)
    if by_patterns < _WORD * keys.size * count / 64:
        return _by_patterns(keys, classes.sizes, pattern)[classes.labels]
    return _by_bits(keys, classes.sizes)[classes.labels]


def _by_patterns(keys: IntArray, sizes: IntArray, pattern: IntArray) -> IntArray:
    """For two patterns of missing keys, a join on the keys that are in both."""
    frequency = np.zeros_like(sizes)
    groups = [np.flatnonzero(pattern == label) for label in np.unique(pattern)]
    for mine in groups:
        for theirs in groups:
            shared = np.flatnonzero((keys[mine[0]] != _ANYTHING) & (keys[theirs[0]] != _ANYTHING))
            if not len(shared):
                frequency[mine] += sizes[theirs].sum()
                continue
            both = np.concatenate([mine, theirs])
            joint = equivalence_classes([keys[both, key] for key in shared])
            weight = np.zeros_like(joint.sizes)
            np.add.at(weight, joint.labels[len(mine) :], sizes[theirs])
            frequency[mine] += weight[joint.labels[: len(mine)]]
    return frequency


def _by_bits(keys: IntArray, sizes: IntArray) -> IntArray:
    """For each value of each key a row of bits, one a class that agrees with it; a class is the 'and' of its values."""
    values = np.full_like(keys, _ANYTHING)
    rows = 0
    for position, key in enumerate(keys.T):
        present = key != _ANYTHING
        held, values[present, position] = np.unique(key[present], return_inverse=True)
        values[present, position] += rows
        rows += len(held)
    words = max(1, min(-(-len(keys) // 64), _BITS // (64 * max(rows, 1))))
    from sluice.risk.agreement_kernel import agreeing_records  # compiled code, loaded where it is needed

    return np.asarray(agreeing_records(values, rows, sizes, words), dtype=np.int64)


def _dense(key: IntArray, cells: int) -> tuple[IntArray, IntArray]:
    """Labels 0..c-1 of equal keys, and their counts; by a histogram where the keys are few, else by a hash."""
    if cells <= min(_HISTOGRAM_CELLS, max(8 * len(key), 2**16)):
        histogram = np.bincount(key, minlength=cells)
        occupied = np.flatnonzero(histogram)
        if len(occupied) == cells:
            return key, histogram
        label = np.empty(cells, dtype=np.int64)
        label[occupied] = np.arange(len(occupied))
        return label[key], histogram[occupied]
    labels, values = pd.factorize(key)
    return labels, np.bincount(labels, minlength=len(values))
