"""Inference: how well whoever knows some facts about a person guesses a secret one from the file.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023), the inference attack. Differs from it: the original's ranges scale
every file; a missing known value equals a missing one; equally near records share the guess; a guess of a number is
right within a share of the true value, whatever its sign; the success of a random guess is worked out, not drawn; and
there is nothing to infer of a person whose secret is missing, nor from a released record that does not tell it.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.ground.variables import Variables
from sluice.risk.attacks.attack_success import AttackSuccess, ControlledAttack, Units
from sluice.risk.distances.gower import GowerPoints, gower_points


def inference(
    original: pd.DataFrame,
    released: pd.DataFrame,
    control: pd.DataFrame,
    variables: Variables,
    known: Sequence[str],
    secret: str,
    tolerance: float,
    attacks: int,
    rng: np.random.Generator,
    units: Units | None = None,
) -> ControlledAttack:
    """Look for each person's nearest released record by the known columns, and guess that its secret is theirs.

    original, released, control : typed by `variables`, any index
    known     : columns that the intruder knows; not the secret
    secret    : a category is guessed right when it is equal, a number when it is within `tolerance`
    tolerance : share of the true number, at least 0; used for integer and continuous secrets alone
    attacks   : people of the original and of the control whose secret is guessed; all with a secret, where they are
                fewer
    units     : who belongs together in `original` and in `control`; None: everybody is alone
    returns   : successes with a fraction, where only some of equally near records are right
    raises    : DataError for a secret among the known columns, a file in which nobody has the secret, or columns that
                `gower_points` refuses
    cost      : O(attacks x released records x columns) time at worst, O(released records) memory
    """
    if secret in known:
        raise DataError(f"the secret '{secret}' is among the known columns; take it out of one of the two")
    if tolerance < 0:
        raise DataError(f"tolerance of inference must be at least 0, a share of the true value; got {tolerance}")
    all_points = gower_points([*known, secret], variables, original, released, control)
    secrets = _secrets(secret, variables, original, released, control)
    if not variables[secret].kind.is_numeric:
        tolerance = 0.0
    there = [~np.isnan(values) for values in secrets]
    if not all(present.any() for present in there):
        raise DataError(f"inference needs records with a value of '{secret}' in every file; one has none")
    points = gower_points(known, variables, original, released, control)
    file, guesses = points[1].take(np.flatnonzero(there[1])), secrets[1][there[1]]
    sides, expected = [], 0.0
    for at, of in zip((0, 2), units or (None, None), strict=True):
        order = all_points[at].in_random_order(rng)
        rows = order[there[at][order]][:attacks]
        right = _right_guesses(points[at].take(rows), secrets[at][rows], file, guesses, tolerance)
        sides.append(AttackSuccess.of(attacks, right, None if of is None else of[rows]))
        if at == 0:
            expected = float(random_guesses(secrets[at][rows], guesses, tolerance).mean())
    return ControlledAttack(sides[0], sides[1], expected)


def random_guesses(secrets: FloatArray, guesses: FloatArray, tolerance: float) -> FloatArray:
    """Shape (n,): for each secret, the share of all released values that would be a right guess."""
    ordered, reach = np.sort(guesses), tolerance * np.abs(secrets)
    above = np.searchsorted(ordered, secrets + reach, side="right")
    return np.asarray((above - np.searchsorted(ordered, secrets - reach, side="left")) / len(ordered))


def _secrets(secret: str, variables: Variables, *files: pd.DataFrame) -> list[FloatArray]:
    """The secret as numbers, NaN where missing; a category as its code, for which only equality counts."""
    if variables[secret].kind.is_numeric:
        return [file[secret].to_numpy(np.float64, na_value=np.nan) for file in files]
    columns = []
    for points in gower_points([secret], variables, files[0], *files[1:]):
        codes = points.categories.astype(np.float64)
        columns.append(np.where(codes < 0, np.nan, codes)[:, 0] if codes.shape[1] else points.numbers[:, 0])
    return columns


def _right_guesses(
    people: GowerPoints, secrets: FloatArray, file: GowerPoints, guesses: FloatArray, tolerance: float
) -> FloatArray:
    from sluice.risk.distances.gower_kernel import right_among_nearest  # compiled code, loaded where it is needed

    right = right_among_nearest(
        people.numbers, people.categories, secrets, file.numbers, file.categories, guesses, tolerance
    )
    return np.asarray(right, dtype=np.float64)
