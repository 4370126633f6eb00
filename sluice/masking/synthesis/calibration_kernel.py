"""The loop of calibration: two records exchange their values where that brings the score equations nearer."""

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@numba.njit(cache=True)
def exchanged_where_nearer(
    one: IntArray, other: IntArray, effects: FloatArray, responses: FloatArray, apart: FloatArray
) -> BoolArray:
    """Which pairs exchange their responses, one pair after another; changes `responses` and `apart`.

    one, other : shape (p,), records; none twice
    effects    : shape (m, q)
    responses  : shape (m, k)
    apart      : shape (q, k), what effects' @ responses lack; its sum of squares falls with each exchange
    returns    : shape (p,)
    cost       : O(p q k)
    """
    done = np.zeros(len(one), np.bool_)
    gains = np.empty(responses.shape[1])
    for pair in range(len(one)):
        first, second = one[pair], other[pair]
        gains[:] = responses[second] - responses[first]
        size = (gains * gains).sum()
        if size == 0.0:
            continue
        nearer = 0.0
        for effect in range(len(apart)):
            moves = effects[first, effect] - effects[second, effect]
            nearer -= moves * moves * size
            for response in range(len(gains)):
                nearer += 2 * moves * gains[response] * apart[effect, response]
        if nearer <= 0.0:
            continue
        done[pair] = True
        responses[first] += gains
        responses[second] -= gains
        for effect in range(len(apart)):
            moves = effects[first, effect] - effects[second, effect]
            for response in range(len(gains)):
                apart[effect, response] -= moves * gains[response]
    return done


@numba.njit(cache=True)
def taken_where_nearer(moves: FloatArray, apart: FloatArray) -> BoolArray:
    """Which moves are made, one after another, where that brings what they add up to nearer; changes `apart`.

    moves   : shape (p, k)
    apart   : shape (k,), what the sums lack; its sum of squares falls with each move
    returns : shape (p,)
    cost    : O(p k)
    """
    taken = np.zeros(len(moves), np.bool_)
    for record in range(len(moves)):
        nearer = 0.0
        for moment in range(len(apart)):
            nearer += moves[record, moment] * (2 * apart[moment] - moves[record, moment])
        if nearer > 0.0:
            taken[record] = True
            apart -= moves[record]
    return taken
