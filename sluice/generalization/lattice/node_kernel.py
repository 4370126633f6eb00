"""The loops of the lattice: records packed into words, classes united when keys are raised, and their histograms.

A class is a row of 64-bit words in which each key has a field of bits. Raising a key maps its field through a table;
rows that have become equal are found by a hash table with open addressing, which is less than half full.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from sluice.ground.arrays import BoolArray, FloatArray, IntArray

Codes = NDArray[np.integer[Any]]
Words = NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)  # odd, with bits evenly spread


@numba.njit(cache=True, nogil=True)
def pack(words: Words, column: int, shift: int, codes: Codes) -> None:
    """Write a key's codes into its field of bits, which is empty."""
    by = np.uint64(shift)
    for row in range(len(codes)):
        words[row, column] |= np.uint64(codes[row]) << by


@numba.njit(cache=True, nogil=True)
def unite(
    words: Words, sizes: IntArray, word: int, shift: int, field: int, step: IntArray
) -> tuple[NDArray[np.int32], Words, IntArray]:
    """Unite the classes that become equal when one key is raised.

    words   : shape (c, w); sizes : shape (c,), or empty where each row is one record
    word, shift, field : where the key's group lies; step : for each group the one that it becomes
    returns : the new class of each old one, numbered by first occurrence, and words and sizes of the new ones
    """
    c, w = words.shape
    bits = 4
    while (1 << bits) < 2 * c + 1:
        bits += 1
    table = np.zeros(1 << bits, np.int32)  # class + 1; 0 is free
    mask, down = np.int64((1 << bits) - 1), np.uint64(64 - bits)
    into = np.empty(c, np.int32)
    united = np.empty((c, w), np.uint64)
    total = np.empty(c, np.int64)
    by, low = np.uint64(shift), np.uint64(field)
    rest = ~(low << by)
    counted = len(sizes) == 0
    count = 0
    for old in range(c):
        before = words[old, word]
        after = (before & rest) | (np.uint64(step[np.int64((before >> by) & low)]) << by)
        spread = after * _FIRST
        spread ^= spread >> np.uint64(32)
        for at in range(w):
            if at != word:
                spread = (spread ^ words[old, at]) * _FIRST
                spread ^= spread >> np.uint64(32)
        place = np.int64((spread * _SECOND) >> down)
        while True:
            found = table[place] - 1
            if found < 0:
                table[place] = count + 1
                for at in range(w):
                    united[count, at] = words[old, at]
                united[count, word] = after
                total[count] = 0
                found = count
                count += 1
                break
            same = united[found, word] == after
            for at in range(w):
                if at != word and united[found, at] != words[old, at]:
                    same = False
            if same:
                break
            place = (place + 1) & mask
        into[old] = found
        total[found] += 1 if counted else sizes[old]
    return into, united[:count].copy(), total[:count].copy()


@numba.njit(cache=True, nogil=True)
def unite_histograms(
    into: NDArray[np.int32], classes: int, start: IntArray, value: IntArray, records: IntArray, values: int
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """The histograms of the united classes.

    into   : shape (c,), the new class of each old one; start : shape (c + 1,), where the pairs of each old one begin
    values : how many values there are
    returns: start, holder, value, records and sizes of the new ones; the values of a class in rising order
    """
    begin = np.zeros(classes + 1, np.int64)
    for old in range(len(into)):
        begin[into[old] + 1] += 1
    for new in range(classes):
        begin[new + 1] += begin[new]
    order, filled = np.empty(len(into), np.int64), begin[:-1].copy()
    for old in range(len(into)):
        order[filled[into[old]]] = old
        filled[into[old]] += 1
    new_start = np.zeros(classes + 1, np.int64)
    new_holder, new_value = np.empty(len(value), np.int64), np.empty(len(value), np.int64)
    new_records = np.empty(len(value), np.int64)
    held, seen = np.zeros(values, np.int64), np.empty(values, np.int64)
    sizes = np.zeros(classes, np.int64)
    end = 0
    for new in range(classes):
        members = begin[new + 1] - begin[new]
        if members == 1:
            old = order[begin[new]]
            for pair in range(start[old], start[old + 1]):
                new_value[end], new_records[end], new_holder[end] = value[pair], records[pair], new
                sizes[new] += records[pair]
                end += 1
        else:
            different = 0
            for at in range(begin[new], begin[new + 1]):
                for pair in range(start[order[at]], start[order[at] + 1]):
                    if held[value[pair]] == 0:
                        seen[different] = value[pair]
                        different += 1
                    held[value[pair]] += records[pair]
            if values <= 8 * different:  # nearly all occur: no need to sort them
                different = 0
                for one in range(values):
                    if held[one] > 0:
                        seen[different] = one
                        different += 1
            else:
                seen[:different].sort()
            for at in range(different):
                one = seen[at]
                new_value[end], new_records[end], new_holder[end] = one, held[one], new
                sizes[new] += held[one]
                held[one] = 0
                end += 1
        new_start[new + 1] = end
    return new_start, new_holder[:end].copy(), new_value[:end].copy(), new_records[:end].copy(), sizes


@numba.njit(cache=True, nogil=True)
def unite_listed(
    into: IntArray, classes: int, person: IntArray, holder: IntArray, code: IntArray
) -> tuple[tuple[IntArray, IntArray, BoolArray], tuple[IntArray, IntArray], IntArray]:
    """The pairs of a class and a code when classes are united, apart from those of people who are now in one class.

    into         : shape (c,), the new class of each old one
    person       : of each code, rising
    holder, code : shape (pairs,), sorted by code
    returns      : holder and code of the pairs left, and whether each is the first of its person and class; the same of
                   the others, each code once; and the class of each of their people
    """
    pairs = len(holder)
    left_holder, left_code, is_first = np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs, np.bool_)
    one_holder, one_code, whole = np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    of_code, of_person = np.full(classes, -1, np.int64), np.full(classes, -1, np.int64)  # the last seen in each class
    left = one = people = begin = 0
    while begin < pairs:
        who, where, end, together = person[code[begin]], into[holder[begin]], begin, True
        while end < pairs and person[code[end]] == who:
            together = together and into[holder[end]] == where
            end += 1
        for pair in range(begin, end):
            here = into[holder[pair]]
            if of_code[here] == code[pair]:
                continue
            if together:
                one_holder[one], one_code[one] = here, code[pair]
                one += 1
            else:
                left_holder[left], left_code[left], is_first[left] = here, code[pair], of_person[here] != who
                left += 1
            of_code[here], of_person[here] = code[pair], who
        if together:
            whole[people] = where
            people += 1
        begin = end
    return (
        (left_holder[:left].copy(), left_code[:left].copy(), is_first[:left].copy()),
        (one_holder[:one].copy(), one_code[:one].copy()),
        whole[:people].copy(),
    )


@numba.njit(cache=True, nogil=True)
def hidden_costs(words: Words, hidden: IntArray, fields: IntArray, costs: FloatArray, first: IntArray) -> FloatArray:
    """Shape (p,): the costs of the groups that hidden records show, summed for each key.

    hidden : shape (c,), how many records of each class are
    fields : shape (p, 3), of each key its word, shift and mask
    costs  : of each group of each key, one key after the other; first : where each key's begin
    """
    total = np.zeros(len(fields))
    for one in range(len(hidden)):
        if hidden[one] > 0:
            for key in range(len(fields)):
                group = np.int64((words[one, fields[key, 0]] >> np.uint64(fields[key, 1])) & np.uint64(fields[key, 2]))
                total[key] += hidden[one] * costs[first[key] + group]
    return total


@numba.njit(cache=True, nogil=True)
def crowded_out(
    start: IntArray,
    value: IntArray,
    records: IntArray,
    shares: FloatArray,
    factor: float,
    least: float,
    asked: BoolArray,
) -> IntArray:
    """Shape (c,): how many records of each class that is asked about go, whatever others of it go with them.

    Of those that stay, N, the values have `least` N or more together when none counts for more than `factor` times its
    share of N. What they have so is concave in N, so that the N at which they have enough are all those up to one.

    shares : of the values in the file; the others as a Histogram
    """
    out = np.zeros(len(asked), np.int64)
    for one in range(len(asked)):
        if not asked[one]:
            continue
        total = 0
        for pair in range(start[one], start[one + 1]):
            total += records[pair]
        enough, most = 0.0, float(total)
        while most - enough > 0.25:
            middle = (enough + most) / 2
            counted = 0.0
            for pair in range(start[one], start[one + 1]):
                counted += min(float(records[pair]), factor * shares[value[pair]] * middle)
            if counted >= least * middle * (1 - 1e-9):  # rounding keeps a record too many, never one too few
                enough = middle
            else:
                most = middle
        out[one] = total - np.int64(np.floor(most))
    return out
