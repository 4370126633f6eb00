"""The loops over people and released records, for all sets of a few variables at once, and for one."""

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
SingleArray = npt.NDArray[np.float32]
CodeArray = npt.NDArray[np.int32]
IntArray = npt.NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def read_by_subsets(
    codes: CodeArray, first: CodeArray, last: CodeArray, equal: CodeArray, units: IntArray, own: IntArray
) -> SingleArray:
    """Shape (p, 2^p): summed over the people, the chance to read variable t rightly by the variables of set S.

    codes       : (p, m), of each record; at most 16 variables
    first, last : (p, q), of each person the codes that are near, both included
    equal       : (p, q), the code of the person's own value, -1 where no record has it
    units       : (m,), to whom each record belongs
    own         : (q,), the person's unit, whose records are passed over; -1 for none
    returns     : column S is the set of the bits of S; nothing of use where t is among them. Where no record is near in
                  the set, its last variable is let go, and so on
    cost        : O(q p (m + 2^p)) time, O(m + p 2^p) memory
    """
    p, m = codes.shape
    sets = 1 << p
    total = np.zeros((p, sets), np.float32)
    near = np.empty(m, np.uint16)
    held = np.empty(sets, np.float32)
    share = np.empty(sets, np.float32)
    nobody = np.empty(sets, np.float32)
    chance = np.zeros(sets, np.float32)
    for person in range(len(own)):
        near[:] = 0
        for c in range(p):
            mark = np.uint16(1 << c)
            row, lowest, highest, same = codes[c], first[c, person], last[c, person], equal[c, person]
            for j in range(m):
                if ((row[j] >= lowest) & (row[j] <= highest)) | (row[j] == same):
                    near[j] |= mark
        held[:] = 0
        mine = own[person]
        for j in range(m):
            held[near[j]] += units[j] != mine
        for c in range(p):  # of each set, the records that are near in it and maybe in others
            bit = 1 << c
            for start in range(0, sets, 2 * bit):
                without, beside = held[start : start + bit], held[start + bit : start + 2 * bit]
                for s in range(bit):
                    without[s] += beside[s]
        for s in range(sets):
            share[s] = np.float32(1) / max(np.float32(1), held[s])
            nobody[s] = np.float32(held[s] == 0)
        for t in range(p):
            bit = 1 << t
            for start in range(0, sets, 2 * bit):
                part, beside = chance[start : start + bit], held[start + bit : start + 2 * bit]
                of = share[start : start + bit]
                for s in range(bit):
                    part[s] = beside[s] * of[s]
                chance[start + bit : start + 2 * bit] = 0
            total[t, 0] += chance[0]
            for c in range(p):
                bit = 1 << c
                before, part = chance[:bit], chance[bit : 2 * bit]
                gone, summed = nobody[bit : 2 * bit], total[t, bit : 2 * bit]
                for s in range(bit):
                    part[s] += gone[s] * before[s]
                    summed[s] += part[s]
    return total


@numba.njit(cache=True, nogil=True)
def read_by_all(
    codes: CodeArray, first: CodeArray, last: CodeArray, equal: CodeArray, units: IntArray, own: IntArray
) -> FloatArray:
    """Shape (q,): of each person, the chance to read the last variable rightly by all before it.

    As `read_by_subsets` has it. cost : O(q p m)
    """
    p, m = codes.shape
    chance = np.zeros(len(own))
    near = np.empty(m, np.bool_)
    hit = np.empty(m, np.bool_)
    for person in range(len(own)):
        row, lowest, highest, same = codes[p - 1], first[p - 1, person], last[p - 1, person], equal[p - 1, person]
        for j in range(m):
            hit[j] = ((row[j] >= lowest) & (row[j] <= highest)) | (row[j] == same)
        near[:] = units != own[person]
        for c in range(p):
            found, right = 0, 0
            for j in range(m):
                found += near[j]
                right += near[j] & hit[j]
            if not found:
                break
            chance[person] = right / found
            row, lowest, highest, same = codes[c], first[c, person], last[c, person], equal[c, person]
            for j in range(m):
                near[j] &= ((row[j] >= lowest) & (row[j] <= highest)) | (row[j] == same)
    return chance
