"""Paired share: how often an attack succeeds, beside how often it would without what the method tells.

Both are counted on the same people, so that chance moves them together: only the people in whom they differ make the
excess uncertain.
"""

from math import sqrt

from sluice.ground.arrays import FloatArray
from sluice.risk.attacks.attack_success import LEVEL, quantile
from sluice.risk.measurement import Measurement


def paired_share(success: FloatArray, without: FloatArray, of: int) -> Measurement:
    """Mean success, with that `without` as its baseline.

    success, without : shape (completed,), 0 to 1 each
    of               : cases in the file; when fewer were examined, those were drawn at random
    returns          : exact when all cases were examined, else with a 95 % interval of the excess around the value; a
                       difference that was not seen may be that of the next person
    cost             : O(completed)
    """
    completed = len(success)
    if completed == 0:
        return Measurement(value=float("nan"), attempted=of, completed=0, baseline=0.0)
    value, baseline = float(success.mean()), float(without.mean())
    interval = None
    if completed < of:
        half = quantile(LEVEL) * sqrt(float((success - without).var()) / completed) + 1 / completed
        interval = (value - half, value + half)
    return Measurement(value, attempted=completed, completed=completed, interval=interval, baseline=baseline)
